//! What somebody may have meant who wrote a key that is none.

use portcullis_model::config::key::{ANY, KEYS, Key, Node};
use portcullis_model::name::PluginName;

/// Words of other programs, and of nobody's, for a key of ours.
const MEANT: &[(&str, &str)] = &[
    ("timeout", "limits.guard_ms"),
    ("timeout_ms", "limits.guard_ms"),
    ("guard_timeout", "limits.guard_ms"),
    ("memory", "limits.memory_mib"),
    ("memory_mb", "limits.memory_mib"),
    ("mode", "failure_mode"),
    ("file", "path"),
    ("permissions", "grant"),
    ("grants", "grant"),
    ("config", "settings"),
    ("disabled", "enabled"),
];

/// The hint for a key that is not known.
pub(super) fn unknown(path: &[String], is_table: bool) -> String {
    let Some((name, table)) = path.split_last() else { return String::new() };
    let names = Node::names(table);
    if let Some(near) = near(name, &names) {
        return format!("did you mean `{near}`?");
    }
    if table == ["plugins"] && is_table {
        return "a plugin has its own table: `[plugin.NAME]`".to_owned();
    }
    // It may belong to another table, and be spelt right.
    if let Some(key) = KEYS.iter().find(|key| key.name() == name) {
        return format!("did you mean `{}`?", written(key, path));
    }
    if let Some((_, meant)) = MEANT.iter().find(|(word, _)| *word == name)
        && let Some(key) = KEYS.iter().find(|key| key.path.ends_with(meant))
    {
        return format!("did you mean `{}`?", written(key, path));
    }
    if names.is_empty() {
        return "take it out".to_owned();
    }
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("known here: {}", names.join(", "))
}

/// The key as it is written where `path` stands.
fn written(key: &Key, path: &[String]) -> String {
    let plugin = match path.first().map(String::as_str) {
        Some("plugin") => path.get(1),
        Some("mcp") => path.get(2),
        _ => None,
    };
    let plugin = plugin.filter(|name| PluginName::new(name.as_str()).is_ok());
    key.path.replace(ANY, plugin.map_or("NAME", String::as_str))
}

/// The name that `word` may be a slip of: one slip for each three letters, and one
/// at least.
pub(super) fn near<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase().replace('-', "_");
    let slips = |name: &str| strsim::damerau_levenshtein(&lower, name);
    let best = names.iter().min_by_key(|name| slips(name))?;
    (lower.len() <= 40 && slips(best) <= (best.len() / 3).max(1)).then_some(*best)
}

#[cfg(test)]
mod tests {
    use super::{MEANT, near, unknown};

    fn hint(path: &str) -> String {
        unknown(&path.split('.').map(str::to_owned).collect::<Vec<_>>(), false)
    }

    #[test]
    fn a_slip_finds_the_key() {
        assert_eq!(hint("plugins.enabeld"), "did you mean `enabled`?");
        assert_eq!(hint("plugin.a.failure-mode"), "did you mean `failure_mode`?");
        assert_eq!(hint("audit.Required"), "did you mean `required`?");
        assert_eq!(near("x", &["enabled"]), None);
    }

    #[test]
    fn a_key_of_another_table_is_told() {
        assert_eq!(hint("enabled"), "did you mean `plugins.enabled`?");
        assert_eq!(hint("plugin.a.guard_ms"), "did you mean `plugin.a.limits.guard_ms`?");
    }

    #[test]
    fn a_word_of_another_program_is_understood() {
        for (word, meant) in MEANT {
            let told = hint(&format!("plugin.a.{word}"));
            assert!(told.contains(meant) || told.contains("did you mean"), "{word}: {told}");
        }
    }

    #[test]
    fn what_nobody_can_have_meant_is_told_what_there_is() {
        assert_eq!(hint("tools.colour"), "known here: `known`");
    }
}
