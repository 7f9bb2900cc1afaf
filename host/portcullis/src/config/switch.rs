//! One script hook switched on or off, in the file that defines it. Not a byte of the
//! rest changes.

use std::path::Path;

use portcullis_model::config::key::Kind;
use portcullis_model::config::{FailureMode, HookConfig};
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::problem::{ConfigError, Layer};
use super::walk;
use crate::hook::ScriptHook;
use crate::install::{InstallError, Snapshot};

/// Why no hook is switched. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// The file cannot be read or written, or somebody changed it meanwhile.
    #[error(transparent)]
    File(#[from] InstallError),
    /// The file is no configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// None of its hooks has the name.
    #[error("`{file}` has no hook `{name}`{known}")]
    Unknown {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// The names that it has, as the end of the sentence.
        known: String,
    },
    /// Several have it.
    #[error("`{file}` has {count} hooks `{name}`; write `enabled` into the one that is meant")]
    Ambiguous {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// How many.
        count: usize,
    },
    /// It is written in a way that is not changed safely.
    #[error(
        "`{0}` is left as it is, because its hook is written in an unusual way; write `enabled` into it by hand"
    )]
    Unusual(String),
}

/// Switches the script hook `name` of the file at `path` on or off. The answer is whether
/// that changed anything. The whole list stays: a hook that is off is still in it.
///
/// # Errors
/// When there is no such hook, or the file cannot be changed; it is as it was then.
pub fn switch_hook(path: &Path, is_project: bool, name: &str, on: bool) -> Result<bool, SwitchError> {
    let layer = if is_project { Layer::Project } else { Layer::User };
    let file = path.display().to_string();
    let snapshot = Snapshot::read(path)?;
    let text = snapshot.text().unwrap_or_default();
    let hooks = defined(layer, path, text)?;
    // A name does not depend on what follows when the hook fails.
    let own = |hook: &HookConfig| ScriptHook::new(hook, FailureMode::Open).ok().map(|hook| hook.name());
    let names: Vec<_> = hooks.iter().map(own).collect();
    let found: Vec<_> = names.iter().enumerate().filter(|(_, own)| own.as_deref() == Some(name)).collect();
    let at = match found.as_slice() {
        [(at, _)] => *at,
        [] => {
            let names: Vec<_> = names.iter().flatten().map(|name| format!("`{name}`")).collect();
            let known =
                if names.is_empty() { String::new() } else { format!("; it has {}", names.join(", ")) };
            return Err(SwitchError::Unknown { file, name: name.to_owned(), known });
        }
        several => {
            return Err(SwitchError::Ambiguous { file, name: name.to_owned(), count: several.len() });
        }
    };
    let mut wanted = hooks.clone();
    match wanted.get_mut(at) {
        Some(hook) if hook.enabled.unwrap_or(true) != on => hook.enabled = Some(on),
        Some(_) | None => return Ok(false),
    }
    let new = edited(text, at, on).ok_or_else(|| SwitchError::Unusual(file.clone()))?;
    // The same reader has the last word: the one hook is switched, and the rest is as it was.
    if defined(layer, path, &new).ok().as_ref() != Some(&wanted) {
        return Err(SwitchError::Unusual(file));
    }
    snapshot.replace(Some(&new), false)?;
    Ok(true)
}

/// Every hook that `text` defines, in order.
fn defined(layer: Layer, path: &Path, text: &str) -> Result<Vec<HookConfig>, ConfigError> {
    let said = walk::read(layer, path, text).map_err(ConfigError::new)?;
    let hooks = said.into_iter().find(|said| said.key.kind == Kind::Hooks).map(|said| said.value);
    let hooks = hooks.as_ref().and_then(Value::as_array).into_iter().flatten();
    Ok(hooks.filter_map(|hook| serde_json::from_value(hook.clone()).ok()).collect())
}

/// The text with `enabled` of hook number `at` changed, or put before its first key.
fn edited(text: &str, at: usize, on: bool) -> Option<String> {
    let (table, _) = DeTable::parse_recoverable(text);
    let hooks = table.get_ref().iter().find(|(name, _)| name.get_ref() == "hooks")?.1;
    let DeValue::Array(items) = hooks.get_ref() else { return None };
    let hook = items.get(at)?.get_ref().as_table()?;
    if let Some((_, value)) = hook.iter().find(|(name, _)| name.get_ref() == "enabled") {
        let span = value.span();
        return Some(format!("{}{on}{}", text.get(..span.start)?, text.get(span.end..)?));
    }
    let first = hook.iter().map(|(name, _)| name.span().start).min()?;
    let (before, behind) = (text.get(..first)?, text.get(first..)?);
    let indent = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let stands_alone = indent.chars().all(|c| c == ' ' || c == '\t');
    let end = if stands_alone { format!("\n{indent}") } else { ", ".to_owned() };
    Some(format!("{before}enabled = {on}{end}{behind}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{SwitchError, switch_hook};

    const FILE: &str = "# mine\n[plugins]\nrequired = [\"guard\"] # always\n\n[[hooks]]\n  event = \"stop\"\n  \
                        command = \"/bin/a\"\n\n[[hooks]]\nevent = \"stop\"\nenabled = false # for now\n\
                        command = \"/bin/b\"\n";

    #[test]
    fn a_hook_is_switched_and_not_a_byte_of_the_rest_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, FILE).unwrap();
        let switch = |name: &str, on| switch_hook(&path, false, name, on);
        let text = || fs::read_to_string(&path).unwrap();
        assert!(!switch("stop b", false).unwrap() && !switch("stop a", true).unwrap());
        assert_eq!(text(), FILE);
        assert!(switch("stop a", false).unwrap());
        assert_eq!(text(), FILE.replacen("  event", "  enabled = false\n  event", 1));
        assert!(switch("stop b", true).unwrap() && switch("stop a", true).unwrap());
        let expected = FILE.replacen("  event", "  enabled = true\n  event", 1);
        assert_eq!(text(), expected.replacen("enabled = false", "enabled = true", 1));
        assert!(switch("stop b", false).unwrap());
        assert_eq!(text(), expected, "it is as it was, in its place, with its comment");
    }

    #[test]
    fn what_cannot_be_switched_is_left_alone_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let wrong = |text: &str, name: &str| {
            fs::write(&path, text).unwrap();
            let error = switch_hook(&path, false, name, false).unwrap_err();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            error
        };
        let unknown = wrong(FILE, "stop c").to_string();
        assert!(unknown.contains("it has `stop a`, `stop b`"), "{unknown}");
        let twice = "[[hooks]]\nevent = \"stop\"\ncommand = \"/bin/a\"\n".repeat(2);
        assert!(matches!(wrong(&twice, "stop a"), SwitchError::Ambiguous { count: 2, .. }));
        assert!(matches!(wrong("[[hooks]]\nevnt = 1\n", "stop a"), SwitchError::Config(_)));
        assert!(matches!(wrong("", "stop a"), SwitchError::Unknown { .. }));
        let inline = "hooks = [{ event = \"stop\", command = \"/bin/a\" }]\n";
        fs::write(&path, inline).unwrap();
        assert!(switch_hook(&path, false, "stop a", false).unwrap());
        let expected = inline.replacen("{ event", "{ enabled = false, event", 1);
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }
}
