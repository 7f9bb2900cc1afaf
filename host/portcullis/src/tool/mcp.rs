//! The names that agents give to tools of MCP servers.

/// What a name turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed<'n> {
    /// A tool of a server.
    Tool { server: &'n str, tool: &'n str },
    /// It claims to be one and is not.
    Broken,
    /// It does not claim to be one.
    Other,
}

/// Stands for the server when an agent does not tell it.
pub(super) const UNKNOWN_SERVER: &str = "?";

/// Takes a name apart.
///
/// `mcp__SERVER__TOOL` is split at the first `__` behind the server's first
/// character, and Gemini's `mcp_SERVER_TOOL` at the first `_` there: Claude Code
/// and Gemini split so too, and a server whose own name holds the separator is
/// ambiguous to them as well. Cursor's `MCP:TOOL` does not tell the server, which
/// then is `?`; Kiro's is `@SERVER/TOOL`, and `mcp:SERVER/TOOL` is our own form.
pub(super) fn parse(name: &str) -> Parsed<'_> {
    let parts = if let Some(rest) = strip_prefix(name, "mcp__") {
        split(rest, "__")
    } else if let Some(rest) = strip_prefix(name, "mcp:") {
        rest.split_once('/').or(Some((UNKNOWN_SERVER, rest)))
    } else if let Some(rest) = name.strip_prefix('@') {
        rest.split_once('/')
    } else if let Some(rest) = strip_prefix(name, "mcp_") {
        split(rest, "_")
    } else {
        return Parsed::Other;
    };
    match parts {
        Some((server, tool)) if is_server(server) && is_tool(tool) => Parsed::Tool { server, tool },
        _ => Parsed::Broken,
    }
}

/// Can this be the name of a server? It holds no `/`, so that `SERVER/TOOL` can
/// be taken apart again.
pub(super) fn is_server(text: &str) -> bool {
    is_tool(text) && !text.contains('/')
}

/// Can this be the name of a server's tool?
pub(super) fn is_tool(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic())
}

fn strip_prefix<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let (head, rest) = name.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Splits at the first `separator` that leaves something before it.
fn split<'n>(text: &'n str, separator: &str) -> Option<(&'n str, &'n str)> {
    let first = text.chars().next()?.len_utf8();
    let at = text.get(first..)?.find(separator)?.checked_add(first)?;
    let (server, rest) = text.split_at_checked(at)?;
    Some((server, rest.strip_prefix(separator)?))
}

/// Whether a name of a server or a tool says that it runs commands.
pub(super) fn names_a_shell(name: &str) -> bool {
    let low = name.to_ascii_lowercase();
    ["shell", "bash", "terminal", "exec", "command", "console"].iter().any(|part| low.contains(part))
        || low
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| matches!(word, "run" | "sh" | "zsh" | "cmd" | "ssh" | "process" | "spawn"))
}

#[cfg(test)]
mod tests {
    use super::{Parsed, parse};

    fn of(name: &str) -> Option<(&str, &str)> {
        match parse(name) {
            Parsed::Tool { server, tool } => Some((server, tool)),
            Parsed::Broken | Parsed::Other => None,
        }
    }

    #[test]
    fn every_agents_form_is_taken_apart() {
        assert_eq!(of("mcp__github__create_issue"), Some(("github", "create_issue")));
        assert_eq!(of("mcp__a__b__c"), Some(("a", "b__c")));
        assert_eq!(of("mcp__a___b"), Some(("a", "_b")));
        assert_eq!(of("mcp___a__b"), Some(("_a", "b")));
        assert_eq!(of("mcp_github_create_issue"), Some(("github", "create_issue")));
        assert_eq!(of("MCP:create_issue"), Some(("?", "create_issue")));
        assert_eq!(of("mcp:github/create_issue"), Some(("github", "create_issue")));
        assert_eq!(of("@github/create_issue"), Some(("github", "create_issue")));
    }

    #[test]
    fn a_part_that_is_missing_is_broken() {
        for name in [
            "mcp__x", "mcp__", "mcp__x__", "mcp____x", "mcp_x", "mcp_x_", "mcp:", "mcp:/x", "mcp:x/", "@x",
            "@/x", "@x/",
        ] {
            assert_eq!(parse(name), Parsed::Broken, "{name}");
        }
        assert_eq!(parse("bash"), Parsed::Other);
    }
}
