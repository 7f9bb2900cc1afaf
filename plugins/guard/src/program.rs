//! Which program a command runs.

use std::borrow::Cow;

use portcullis_sdk::{Command, Word};

use crate::computed;

/// The program's name in lower case, as file systems that ignore case find it,
/// and without `.exe`.
pub(crate) fn name(command: &Command) -> Option<Cow<'_, str>> {
    let name = match command.words.first()? {
        Word::Literal(_) => command.program().filter(|name| !is_pattern(name))?,
        Word::Computed(source) => computed_name(source)?,
    };
    Some(bare(name))
}

/// `/bin/r?` is whichever program fits. `[` alone is a program.
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?']) || (name.len() > 1 && name.contains('['))
}

pub(crate) fn bare(name: &str) -> Cow<'_, str> {
    let stem = name.len().checked_sub(4).and_then(|at| name.split_at_checked(at));
    let name = stem.filter(|(_, ending)| ending.eq_ignore_ascii_case(".exe")).map_or(name, |(stem, _)| stem);
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// The name where a computed word still tells it: `$(npm bin)/eslint`,
/// `$(which rm)`, `${RM:-rm}`.
fn computed_name(source: &str) -> Option<&str> {
    let source = source.trim_matches('"');
    let inner = source.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(inner) = inner {
        let name = ["which ", "command -v ", "type -p "].iter().find_map(|finder| inner.strip_prefix(finder));
        return name.map(str::trim).filter(|name| is_plain(name)).and_then(|path| path.rsplit('/').next());
    }
    if let Some(fallback) = computed::fallback(source).filter(|name| is_plain(name)) {
        return fallback.rsplit('/').next();
    }
    let (_, name) = source.rsplit_once('/')?;
    is_plain(name).then_some(name)
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./+".contains(&byte))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::{Command, Word, testing};

    use super::name;

    fn computed(source: &str, rest: &str) -> Command {
        let mut command = testing::command(&format!("x {rest}"));
        command.words[0] = Word::Computed(source.to_owned());
        command
    }

    #[test]
    fn a_name_is_lower_case_and_bare() {
        assert_eq!(name(&testing::command("/bin/RM -rf x")).as_deref(), Some("rm"));
        assert_eq!(name(&testing::command("Git.EXE status")).as_deref(), Some("git"));
        assert_eq!(name(&computed("$(which rm)", "")).as_deref(), Some("rm"));
        assert_eq!(name(&computed("\"$(npm bin)/eslint\"", "")).as_deref(), Some("eslint"));
        assert_eq!(name(&computed("${RM:-/bin/rm}", "")).as_deref(), Some("rm"));
        assert_eq!(name(&computed("$X", "")), None);
        assert_eq!(name(&testing::command("/bin/r? -rf x")), None);
        assert_eq!(name(&testing::command("[ -f x ]")).as_deref(), Some("["));
    }
}
