//! Which program a command runs.

use portcullis_sdk::{Command, Word};

use crate::category::Category;

/// The program's name in lower case, as file systems that ignore case find it,
/// and without `.exe`.
pub(crate) fn name(command: &Command) -> Option<String> {
    let name = match command.words.first()? {
        Word::Literal(_) => command.program()?,
        Word::Computed(source) => computed_name(source)?,
    };
    let name = name.to_ascii_lowercase();
    Some(name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name))
}

/// The name where a computed word still tells it: `$(npm bin)/eslint`,
/// `$(which rm)`.
fn computed_name(source: &str) -> Option<&str> {
    let source = source.trim_matches('"');
    let inner = source.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(inner) = inner {
        let name = ["which ", "command -v ", "type -p "].iter().find_map(|finder| inner.strip_prefix(finder));
        return name.map(str::trim).filter(|name| is_plain(name)).and_then(|path| path.rsplit('/').next());
    }
    let (_, name) = source.rsplit_once('/')?;
    is_plain(name).then_some(name)
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./+".contains(&byte))
}

/// A program whose name another command prints could be any. A variable is left
/// alone: `$CC -c x.c` is everyday work, and the host has already put in what
/// the script itself says.
pub(crate) fn check(command: &Command) -> Option<Category> {
    let Word::Computed(source) = command.words.first()? else { return None };
    let printed = source.contains("$(") || source.contains('`');
    (printed && computed_name(source).is_none()).then_some(Category::Suspect)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::{Command, Word, testing};

    use super::{check, name};
    use crate::category::Category;

    fn computed(source: &str) -> Command {
        let mut command = testing::command("x -rf src");
        command.words[0] = Word::Computed(source.to_owned());
        command
    }

    #[test]
    fn a_name_is_lower_case_and_bare() {
        assert_eq!(name(&testing::command("/bin/RM -rf x")).as_deref(), Some("rm"));
        assert_eq!(name(&testing::command("git.exe status")).as_deref(), Some("git"));
        assert_eq!(name(&computed("$(which rm)")).as_deref(), Some("rm"));
        assert_eq!(name(&computed("\"$(npm bin)/eslint\"")).as_deref(), Some("eslint"));
        assert_eq!(name(&computed("$X")), None);
    }

    #[test]
    fn a_name_that_another_command_prints_is_suspect() {
        assert_eq!(check(&computed("$(printf r)m")), Some(Category::Suspect));
        assert_eq!(check(&computed("`echo rm`")), Some(Category::Suspect));
        for plain in ["$CC", "\"$PYTHON\"", "${EDITOR:-vi}", "$(npm bin)/eslint", "$(command -v node)"] {
            assert_eq!(check(&computed(plain)), None, "{plain}");
        }
    }
}
