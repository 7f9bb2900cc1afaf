//! SQL that destroys data, in front of a program that runs it.

mod statement;

use portcullis_sdk::{Call, Command, Pipeline, Word};

use crate::category::Category;

pub(crate) use statement::destroys;

/// Whether a program runs the SQL in its arguments or on its input.
fn is_executor(name: &str) -> bool {
    matches!(
        name,
        "psql"
            | "pgcli"
            | "mysql"
            | "mariadb"
            | "mycli"
            | "sqlite"
            | "sqlite3"
            | "litecli"
            | "duckdb"
            | "clickhouse"
            | "clickhouse-client"
            | "clickhouse-local"
            | "cockroach"
            | "sqlcmd"
            | "mssql-cli"
            | "usql"
            | "bq"
            | "snowsql"
            | "snow"
            | "sqlplus"
            | "cqlsh"
            | "trino"
            | "presto"
            | "hive"
            | "beeline"
            | "spark-sql"
            | "impala-shell"
            | "turso"
            | "wrangler"
            | "invoke-sqlcmd"
    )
}

/// Judges the command at `at`. What `echo` prints or `cat` has from a heredoc
/// reaches the first executor of a pipeline through the pipe.
pub(crate) fn check(name: &str, pipeline: &Pipeline, at: usize, fed: &mut bool) -> Option<Category> {
    let command = pipeline.commands.get(at)?;
    if !is_executor(name) {
        return database(name, command).then_some(Category::Sql);
    }
    let before = pipeline.commands.get(..at).filter(|_| !std::mem::replace(fed, true)).unwrap_or_default();
    (before.iter().any(destroys_data) || destroys_data(command)).then_some(Category::Sql)
}

fn destroys_data(command: &Command) -> bool {
    texts(command).any(destroys)
}

/// A query that goes to a database through an MCP server.
pub(crate) fn queries(call: &Call<'_>) -> Option<Category> {
    let tool = call.tool().strip_prefix("mcp:")?.to_ascii_lowercase();
    let fields: &[&str] = if of_database(&tool) {
        &[
            "/sql",
            "/query",
            "/statement",
            "/sql_query",
            "/command",
            "/text",
            "/q",
            "/queries/0",
            "/statements/0",
        ]
    } else {
        &["/sql", "/statement", "/sql_query"]
    };
    fields
        .iter()
        .filter_map(|pointer| call.text(pointer))
        .any(|text| destroys(&text))
        .then_some(Category::Sql)
}

/// Whether a server or tool is called like a database. A search for the words
/// is none.
fn of_database(tool: &str) -> bool {
    !["search", "docs", "grep"].iter().any(|word| tool.contains(word))
        && [
            "sql",
            "postgres",
            "maria",
            "db",
            "database",
            "clickhouse",
            "snowflake",
            "bigquery",
            "redshift",
            "supabase",
            "neon",
            "oracle",
            "query",
            "execute",
        ]
        .iter()
        .any(|word| tool.contains(word))
}

/// Every text of a command that may hold SQL: its words, the values of
/// `--command=…` and `-c…`, and what a heredoc feeds it.
fn texts(command: &Command) -> impl Iterator<Item = &str> {
    let words = command.args().iter().map(Word::text).flat_map(|text| {
        let value = match text.strip_prefix("--") {
            Some(long) => long.split_once('=').map(|(_, value)| value),
            None => text.strip_prefix('-').and_then(|bundle| bundle.get(1..)),
        };
        [Some(text.trim_matches('"')), value].into_iter().flatten()
    });
    words.chain(command.stdin.as_ref().map(Word::text))
}

/// Programs that empty a database without a statement.
fn database(name: &str, command: &Command) -> bool {
    let has =
        |wanted: &[&str]| command.literals().any(|word| wanted.iter().any(|w| w.eq_ignore_ascii_case(word)));
    match name {
        "dropdb" | "dropuser" => !command.args().is_empty() && !has(&["--help", "--version"]),
        "mysqladmin" | "mariadb-admin" => has(&["drop"]),
        "redis-cli" | "valkey-cli" => has(&["flushall", "flushdb"]),
        "mongo" | "mongosh" => {
            let texts = command.literals().chain(command.stdin.as_ref().and_then(Word::literal));
            let mut texts = texts;
            texts.any(|text| {
                ["dropDatabase(", ".drop(", "deleteMany({})", "remove({})"]
                    .iter()
                    .any(|call| text.contains(call))
            })
        }
        "rails" | "rake" => {
            has(&["db:drop", "db:reset", "db:migrate:reset", "db:drop:all", "db:truncate_all"])
        }
        "php" | "artisan" | "sail" => has(&["migrate:fresh", "migrate:reset", "migrate:refresh", "db:wipe"]),
        "prisma" => (has(&["migrate"]) && has(&["reset"])) || has(&["--force-reset", "--accept-data-loss"]),
        "supabase" => has(&["db"]) && has(&["reset"]),
        _ if name.starts_with("python") => has(&["manage.py", "./manage.py"]) && has(&["flush", "reset_db"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::{CallBuilder, command, script};
    use portcullis_sdk::{Pipeline, Word};

    use super::{check, queries};

    fn refused(pipeline: &Pipeline) -> bool {
        let mut fed = false;
        (0..pipeline.commands.len()).any(|at| {
            let name = pipeline.commands[at].program().unwrap_or_default();
            check(name, pipeline, at, &mut fed).is_some()
        })
    }

    /// A command whose last word is SQL.
    fn runs(program: &str, sql: &str) -> bool {
        let mut command = command(program);
        command.words.push(Word::Literal(sql.to_owned()));
        refused(&Pipeline::new(vec![command]))
    }

    #[test]
    fn an_executor_with_such_sql_is_refused() {
        for program in
            ["psql -c", "psql -d shop -c", "mysql -e", "sqlite3 app.db", "clickhouse-client --query"]
        {
            assert!(runs(program, "DROP TABLE users"), "{program}");
        }
        assert!(runs("psql", "--command=drop table t"));
        assert!(runs("mysql", "-edrop table t"));
        assert!(runs("mysql", "--execute=TRUNCATE t"));
        assert!(runs("mysql -e", "DELETE FROM orders"));
    }

    #[test]
    fn what_is_fed_to_an_executor_counts() {
        let mut psql = command("psql shop");
        psql.stdin = Some(Word::Literal("drop table users".to_owned()));
        assert!(refused(&Pipeline::new(vec![psql])));
        let mut echo = command("echo");
        echo.words.push(Word::Literal("DROP TABLE t".to_owned()));
        assert!(refused(&Pipeline::new(vec![echo, command("mysql shop")])));
    }

    #[test]
    fn a_text_in_front_of_no_executor_passes() {
        for program in ["echo", "git commit -m", "grep -rn", "git log -S", "gh issue create --title"] {
            assert!(!runs(program, "DROP TABLE users"), "{program}");
        }
        for text in ["cat truncate x", "truncate -s 0 debug.log", "psql -c SELECT", "mysql truncate"] {
            assert!(!script(text).pipelines().iter().any(refused), "{text}");
        }
    }

    #[test]
    fn a_program_that_empties_a_database_is_refused() {
        for text in [
            "dropdb shop",
            "mysqladmin -f drop shop",
            "redis-cli -h x FLUSHALL",
            "mongosh shop --eval db.dropDatabase()",
            "rails db:drop",
            "php artisan migrate:fresh --seed",
            "prisma migrate reset",
            "python3 manage.py flush --no-input",
        ] {
            assert!(script(text).pipelines().iter().any(refused), "{text}");
        }
        for text in
            ["redis-cli get x", "rails db:migrate", "php artisan migrate", "prisma migrate dev", "createdb x"]
        {
            assert!(!script(text).pipelines().iter().any(refused), "{text}");
        }
    }

    #[test]
    fn a_query_to_a_database_server_is_judged_too() {
        for (tool, input, refused) in [
            ("mcp:postgres/query", r#"{"sql":"DROP TABLE users;"}"#, true),
            ("mcp:mydb/run", r#"{"query":"truncate t"}"#, true),
            ("mcp:x/y", r#"{"sql":"DROP TABLE users;"}"#, true),
            ("mcp:postgres/query", r#"{"sql":"SELECT 1 AS drop, truncate FROM settings"}"#, false),
            ("mcp:github/search_code", r#"{"query":"DROP TABLE users"}"#, false),
            ("write", r#"{"sql":"DROP TABLE users;"}"#, false),
        ] {
            let call = CallBuilder::new(tool).input(input).build();
            assert_eq!(queries(&call).is_some(), refused, "{input}");
        }
    }
}
