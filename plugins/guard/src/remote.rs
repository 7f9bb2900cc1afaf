//! Tools that delete without a shell: an MCP server's, or the agent's own.

use portcullis_sdk::Call;

use crate::category::Category;

pub(crate) fn check(call: &Call<'_>) -> Option<Category> {
    let tool = call.tool();
    let name = match tool.strip_prefix("mcp:") {
        Some(rest) => rest.rsplit('/').next()?,
        None if tool == "delete" => tool,
        None => return None,
    };
    let mut deletes = false;
    let mut whole = false;
    for word in words(name) {
        deletes |=
            ["delete", "remove", "destroy", "drop", "purge", "wipe", "rm", "rmdir", "rmtree", "truncate"]
                .iter()
                .any(|verb| verb.eq_ignore_ascii_case(word));
        whole |= [
            "repository",
            "repo",
            "database",
            "schema",
            "table",
            "bucket",
            "namespace",
            "cluster",
            "volume",
            "tree",
            "rmtree",
            "recursive",
            "recursively",
        ]
        .iter()
        .any(|noun| noun.eq_ignore_ascii_case(word));
    }
    (deletes && (whole || is_recursive(call))).then_some(Category::RemoteDelete)
}

/// The words of `delete_directory`, `deleteDirectory` and `delete-directory`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        if rest.is_empty() {
            return None;
        }
        let mut letters = rest.char_indices().skip(1);
        let upper = rest.chars().next().is_some_and(|c| c.is_ascii_uppercase())
            && rest.chars().nth(1).is_some_and(|c| c.is_ascii_uppercase());
        let end = letters
            .find(|(_, c)| !c.is_ascii_alphanumeric() || (!upper && c.is_ascii_uppercase()))
            .map_or(rest.len(), |(at, _)| at);
        let (word, behind) = rest.split_at_checked(end)?;
        rest = behind;
        Some(word)
    })
}

fn is_recursive(call: &Call<'_>) -> bool {
    ["/recursive", "/recurse", "/force", "/options/recursive"]
        .iter()
        .any(|pointer| matches!(call.field(pointer).as_deref(), Some("true" | "\"true\"" | "1")))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::CallBuilder;

    use super::{check, words};

    #[test]
    fn a_name_is_taken_apart_in_every_convention() {
        for name in ["delete_directory", "deleteDirectory", "delete-directory", "DeleteDirectory"] {
            let words: Vec<_> = words(name).map(str::to_ascii_lowercase).collect();
            assert_eq!(words, ["delete", "directory"], "{name}");
        }
        assert_eq!(words("RM").collect::<Vec<_>>(), ["RM"]);
    }

    #[test]
    fn a_recursive_delete_is_refused() {
        for (tool, input) in [
            ("mcp:fs/delete_directory", r#"{"path":"/x","recursive":true}"#),
            ("mcp:fs/removePath", r#"{"path":"/x","force":true}"#),
            ("mcp:github/delete_repository", r#"{"owner":"a","repo":"b"}"#),
            ("mcp:db/drop_table", r#"{"name":"t"}"#),
            ("delete", r#"{"path":"/x","recursive":true}"#),
        ] {
            assert!(check(&CallBuilder::new(tool).input(input).build()).is_some(), "{tool}");
        }
    }

    #[test]
    fn a_delete_of_one_thing_passes() {
        for (tool, input) in [
            ("mcp:fs/delete_file", r#"{"path":"/x"}"#),
            ("mcp:fs/delete_directory", r#"{"path":"/x","recursive":false}"#),
            ("mcp:fs/list_directory", r#"{"path":"/x","recursive":true}"#),
            ("mcp:github/delete_label", r#"{"repo":"b"}"#),
            ("delete", r#"{"path":"/x"}"#),
            ("write", r#"{"recursive":true}"#),
        ] {
            assert!(check(&CallBuilder::new(tool).input(input).build()).is_none(), "{tool}");
        }
    }
}
