//! SQL that destroys data, in front of a program that runs it.

use portcullis_sdk::{Call, Command, Pipeline, Word};

use crate::category::Category;
use crate::finding::Finding;
use crate::program;

const EXECUTORS: [&str; 26] = [
    "psql",
    "pgcli",
    "mysql",
    "mariadb",
    "mycli",
    "sqlite",
    "sqlite3",
    "litecli",
    "duckdb",
    "clickhouse",
    "clickhouse-client",
    "clickhouse-local",
    "cockroach",
    "sqlcmd",
    "mssql-cli",
    "usql",
    "bq",
    "snowsql",
    "sqlplus",
    "cqlsh",
    "trino",
    "presto",
    "hive",
    "beeline",
    "spark-sql",
    "impala-shell",
];

pub(crate) fn check(pipeline: &Pipeline) -> Option<Finding> {
    let is_executor =
        |command: &Command| program::name(command).is_some_and(|name| EXECUTORS.contains(&name.as_str()));
    let at = pipeline.commands.iter().position(is_executor)?;
    let (before, from) = pipeline.commands.split_at_checked(at)?;
    let executor = from.first()?;
    let own = texts(executor).any(destroys);
    // What `echo` prints or `cat` has from a heredoc reaches it through the pipe.
    let fed = before.iter().find(|command| texts(command).any(destroys));
    match (own, fed) {
        (true, _) => Some(Finding::new(Category::Sql, &executor.source)),
        (false, Some(feeder)) => {
            let command = format!("{} | {}", feeder.source, executor.source);
            Some(Finding::new(Category::Sql, &command))
        }
        (false, None) => None,
    }
}

/// A query that goes to a database through an MCP server.
pub(crate) fn queries(call: &Call<'_>) -> Option<Finding> {
    if !call.tool().starts_with("mcp:") {
        return None;
    }
    ["/sql", "/query", "/statement"]
        .into_iter()
        .filter_map(|pointer| call.text(pointer))
        .find(|text| destroys(text))
        .map(|text| Finding::new(Category::Sql, &text))
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

/// Whether a statement drops a table, a schema or a database, or truncates a table.
fn destroys(sql: &str) -> bool {
    // The two tokens before the current one; a text begins as a statement does.
    let (mut second, mut first) = (Token::End, Token::End);
    for token in (Tokens { rest: sql }) {
        let dropped = token.is(&["TABLE", "TABLES", "SCHEMA", "DATABASE", "KEYSPACE", "OWNED"]);
        let modified = first.is(&["TEMPORARY", "FOREIGN", "EXTERNAL", "DYNAMIC", "SHARED"]);
        if dropped && (first.is(&["DROP"]) || (modified && second.is(&["DROP"]))) {
            return true;
        }
        // Elsewhere `TRUNCATE` is a function or a name.
        let begins = second == Token::End || second.is(&["BEGIN", "THEN", "ELSE", "DO"]);
        let named = matches!(token, Token::Word(_) | Token::Name);
        if first.is(&["TRUNCATE"]) && (token.is(&["TABLE"]) || (begins && named)) {
            return true;
        }
        (second, first) = (first, token);
    }
    false
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A bare word.
    Word(&'a str),
    /// A quoted name.
    Name,
    /// The end of a statement, or the start of a block.
    End,
    /// A string, a number's sign, a bracket.
    Other,
}

impl Token<'_> {
    fn is(self, words: &[&str]) -> bool {
        matches!(self, Token::Word(text) if words.iter().any(|word| word.eq_ignore_ascii_case(text)))
    }
}

/// The tokens of a text, without its comments. A `$$` block is a program and is
/// read as one; so is MySQL's `/*! … */`, which is a comment that runs.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let text = self.rest;
            let first = text.chars().next()?;
            let after = text.get(first.len_utf8()..).unwrap_or_default();
            let (token, rest) = match first {
                '-' if after.starts_with('-') => (None, behind(after, "\n")),
                '#' => (None, behind(after, "\n")),
                '/' if after.starts_with("*!") => {
                    (None, after.get(2..).unwrap_or_default().trim_start_matches(is_digit))
                }
                '/' if after.starts_with('*') => (None, behind(after.get(1..).unwrap_or_default(), "*/")),
                '\'' => (Some(Token::Other), behind(after, "'")),
                '"' => (Some(Token::Name), behind(after, "\"")),
                '`' => (Some(Token::Name), behind(after, "`")),
                ';' | '$' | '\\' => (Some(Token::End), after),
                _ if is_word(first) => {
                    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
                    let (word, rest) = text.split_at_checked(end).unwrap_or((text, ""));
                    (Some(Token::Word(word)), rest)
                }
                _ if first.is_whitespace() => (None, after),
                _ => (Some(Token::Other), after),
            };
            self.rest = rest;
            if token.is_some() {
                return token;
            }
        }
    }
}

fn behind<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::{command, script};
    use portcullis_sdk::{Pipeline, Word};

    use super::{check, destroys};

    /// A command whose last word is SQL.
    fn refused(program: &str, sql: &str) -> bool {
        let mut command = command(program);
        command.words.push(Word::Literal(sql.to_owned()));
        check(&Pipeline::new(vec![command])).is_some()
    }

    #[test]
    fn destruction_is_known_in_any_case_and_spacing() {
        for sql in [
            "drop table t",
            "DROP TABLE IF EXISTS t",
            "select 1; Drop\n/* note */ Table t",
            "TRUNCATE t",
            "truncate table t",
            "TRUNCATE db1.events",
            "begin; truncate \"t\"",
            "DROP SCHEMA public CASCADE",
            "DROP DATABASE shop",
            "DROP TEMPORARY TABLE t",
            "/*!50000 DROP TABLE t */",
            "DO $$ BEGIN DROP TABLE t; END $$",
            "-- tidy up\nDROP TABLE t",
        ] {
            assert!(destroys(sql), "{sql}");
        }
    }

    #[test]
    fn a_name_a_text_or_a_comment_destroys_nothing() {
        for sql in [
            "SELECT 1 AS drop, truncate FROM settings",
            "SELECT truncate(1.5, 1)",
            "SELECT 'DROP TABLE t'",
            "SELECT 1 -- DROP TABLE t",
            "/* DROP TABLE t */ SELECT 1",
            "ALTER TABLE t DROP COLUMN c",
            "SELECT \"drop table\" FROM t",
            "drop index i",
            "truncate",
        ] {
            assert!(!destroys(sql), "{sql}");
        }
    }

    #[test]
    fn an_executor_with_such_sql_is_refused() {
        for program in
            ["psql -c", "psql -d shop -c", "mysql -e", "sqlite3 app.db", "clickhouse-client --query"]
        {
            assert!(refused(program, "DROP TABLE users"), "{program}");
        }
        assert!(refused("psql", "--command=drop table t"));
        assert!(refused("mysql", "-edrop table t"));
        assert!(refused("mysql", "--execute=TRUNCATE t"));
    }

    #[test]
    fn what_is_fed_to_an_executor_counts() {
        let mut psql = command("psql shop");
        psql.stdin = Some(Word::Literal("drop table users".to_owned()));
        assert!(check(&Pipeline::new(vec![psql])).is_some());
        let mut echo = command("echo");
        echo.words.push(Word::Literal("DROP TABLE t".to_owned()));
        assert!(check(&Pipeline::new(vec![echo, command("mysql shop")])).is_some());
    }

    #[test]
    fn a_text_in_front_of_no_executor_passes() {
        for program in ["echo", "git commit -m", "grep -rn", "git log -S", "gh issue create --title"] {
            assert!(!refused(program, "DROP TABLE users"), "{program}");
        }
        for text in ["cat truncate x", "truncate -s 0 debug.log", "psql -c SELECT", "mysql truncate"] {
            assert!(script(text).pipelines().iter().all(|pipeline| check(pipeline).is_none()), "{text}");
        }
    }
}
