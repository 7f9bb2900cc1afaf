//! The page `docs/reference/tools.md`, made from the table.

use std::fmt::Write as _;

use portcullis_model::call::EffectKind;

use super::CODES;
use super::field::{self, Role};
use super::table::{Language, Rule, TOOLS};

const HEAD: &str = "\
<!-- Made from host/portcullis/src/tool/table.rs. Do not edit. -->

# Tools

A guard sees one name for each tool, whatever its agent calls it, and what the call does as effects. Agents' names are compared as they stand, and then without case. A name that only looks like one of these is refused; any other is `opaque`.

An effect's target is the script of a `run`, the absolute path of a `read`, `write` or `delete`, the URL of a `fetch`, `SERVER/TOOL` of an `mcp`, and the name of an `opaque` tool.

";

const PATHS: &str = "
## Paths

- A relative path is joined to the call's directory; `.`, `..` and repeated slashes are folded. Links are not followed.
- `~/x` counts twice, below the call's directory and below the user's home, because tools differ. So does a path with white space around it, with and without.
- A `file:` URI is decoded.
- When the call's directory is a Windows path, both slashes separate, results have forward slashes (`C:/x`), and trailing dots, trailing spaces and streams (`x::$DATA`) are taken off. Otherwise a back-slash is a character like any other.

## MCP

- `mcp__SERVER__TOOL` and `mcp_SERVER_TOOL` are split at the first separator behind the server's first character. A server whose own name holds the separator is ambiguous, for its agent as well.
- `MCP:TOOL` (Cursor) does not tell the server: it is `?`.
- A tool of a server has one effect, whatever its arguments: `mcp`.

## Patches

Every file in a `*** Begin Patch` envelope and in a unified diff has its effect: `delete` if it is removed or moved away, else `write`. A shell tool that is told to run `apply_patch` has them beside its `run`.

## Batches

A batch has the effects of all its calls: at most 1000, nested at most 4 deep, in one directory.

";

/// The text of `docs/reference/tools.md`.
#[must_use]
pub fn reference_page() -> String {
    let mut page = HEAD.to_owned();
    page.push_str("| tool | agents call it | effects | looked for in |\n| --- | --- | --- | --- |\n");
    for tool in TOOLS {
        let aliases: Vec<String> = tool.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let roles: Vec<&str> = roles(tool.rule).iter().map(|role| role.name).collect();
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            tool.name,
            aliases.join(", "),
            effects(tool.rule),
            roles.join(", "),
        );
    }
    page.push_str(
        "| `mcp:SERVER/TOOL` | `mcp__SERVER__TOOL`, `mcp_SERVER_TOOL`, `MCP:TOOL`, `@SERVER/TOOL` | one `mcp` | |\n",
    );
    page.push_str("\n## Fields\n\n");
    page.push_str(
        "Fields are compared without case, `_` and `-`, so `filePath` and `file_path` are `filepath`. They are looked \
         for at any depth, and each that is there gives its effect.\n\n| role | fields |\n| --- | --- |\n",
    );
    for role in field::ROLES {
        let fields: Vec<String> = role.fields.iter().map(|field| format!("`{field}`")).collect();
        let _ = writeln!(page, "| {} | {} |", role.name, fields.join(", "));
    }
    page.push_str(PATHS);
    page.push_str("## Refusals\n\n| code | when |\n| --- | --- |\n");
    for (code, meaning) in CODES {
        let _ = writeln!(page, "| `{code}` | {meaning} |");
    }
    page
}

fn effects(rule: Rule) -> String {
    match rule {
        Rule::Run(Language::Posix) => "a `run` for each command; its script is taken apart".to_owned(),
        Rule::Run(Language::PowerShell | Language::Other) => "a `run` for each command".to_owned(),
        Rule::Type => "a `run` for each text that is typed; its script is taken apart".to_owned(),
        Rule::Paths(kind) => each_path(kind),
        Rule::ReadMany => each_path(EffectKind::Read),
        Rule::ReadOrHere => "a `read` for each path, or of the call's directory".to_owned(),
        Rule::Glob => {
            "a `read` for each path, or of the call's directory, and of where a pattern leads".to_owned()
        }
        Rule::Transfer(kind) => format!("a `{kind}` for each source, a `write` for each destination"),
        Rule::Patch => "a `write` or a `delete` for each file of the patch".to_owned(),
        Rule::Editor => "by its verb: becomes `read`, `write`, `edit`, `delete` or `move`".to_owned(),
        Rule::Fetch => "a `fetch` for each URL".to_owned(),
        Rule::Visit => "a `fetch` for each URL, if there is one".to_owned(),
        Rule::Download => "a `fetch` for each URL, a `write` for each path".to_owned(),
        Rule::McpCall => "becomes `mcp:SERVER/TOOL`: one `mcp`".to_owned(),
        Rule::Batch => "those of its calls".to_owned(),
        Rule::Nothing => "none".to_owned(),
    }
}

fn each_path(kind: EffectKind) -> String {
    format!("a `{kind}` for each path")
}

/// Where a rule looks.
pub(super) fn roles(rule: Rule) -> &'static [Role] {
    match rule {
        Rule::Run(Language::Posix | Language::PowerShell) => &[field::COMMAND, field::DIRECTORY],
        Rule::Run(Language::Other) => &[field::CODE, field::DIRECTORY],
        Rule::Type => &[field::KEYS],
        Rule::Paths(_) | Rule::ReadOrHere | Rule::Editor => &[field::PATH],
        Rule::ReadMany => &[field::PATH, field::INCLUDE],
        Rule::Glob => &[field::PATH, field::PATTERN],
        Rule::Transfer(_) => &[field::SOURCE, field::PATH, field::DESTINATION],
        Rule::Patch => &[field::PATCH, field::PATH, field::DIRECTORY],
        Rule::Fetch | Rule::Visit => &[field::URL, field::PROMPT],
        Rule::Download => &[field::URL, field::PATH],
        Rule::McpCall => &[field::SERVER, field::SERVER_TOOL],
        Rule::Batch => &[field::CALLS, field::CALL_INPUT],
        Rule::Nothing => &[],
    }
}
