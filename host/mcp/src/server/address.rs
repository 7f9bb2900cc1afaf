//! Addresses of what is served. All of them are looked up, and none is put together with
//! a path: what is not in a list is not there.

use portcullis_model::extension;
use portcullis_model::product;

/// The scheme of a skill's files.
pub(super) const SKILL_SCHEME: &str = "skill://";

/// The longest address that is looked at, in bytes.
const LENGTH_MAX: usize = 4096;

/// An address of the server's own, such as that of the index.
pub(super) fn own(path: &str) -> String {
    format!("{}://{path}", product::NAME)
}

/// The address of the index of all skills.
pub(super) fn index() -> String {
    own("skills")
}

/// The address of a prompt as a resource.
pub(super) fn prompt(name: &str) -> String {
    own(&format!("prompts/{name}"))
}

/// The name of the prompt at an address.
pub(super) fn prompt_name(uri: &str) -> Option<&str> {
    uri.strip_prefix(product::NAME)?.strip_prefix("://prompts/")
}

/// The address of a file by its path.
pub(super) fn file_uri(path: &str) -> String {
    format!("file://{}", encoded(path))
}

/// The directory that the file or directory at an address lies in; none for what is at
/// the top.
pub(super) fn parent(uri: &str) -> Option<String> {
    let path = uri.strip_prefix(SKILL_SCHEME)?;
    let (parent, _) = path.rsplit_once('/')?;
    Some(format!("{SKILL_SCHEME}{parent}"))
}

/// The last part of an address, decoded.
pub(super) fn last(uri: &str) -> String {
    let last = uri.rsplit('/').next().unwrap_or_default();
    decoded(last).unwrap_or_else(|| last.to_owned())
}

/// A skill's address as it is listed, when another encoding of it was asked for. None:
/// it is none, whatever it may mean to a file system.
pub(super) fn normal(uri: &str) -> Option<String> {
    if uri.len() > LENGTH_MAX {
        return None;
    }
    let (scheme, path) = uri.split_at_checked(SKILL_SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SKILL_SCHEME) {
        return None;
    }
    let path = decoded(path)?;
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    let is_odd = |c: char| c.is_control() || matches!(c, '\\' | '?' | '#');
    if path.chars().any(is_odd) || !path.split('/').all(is_plain) {
        return None;
    }
    Some(format!("{SKILL_SCHEME}{}", encoded(&path)))
}

fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Decoded once. An encoded `/` would be another path than it looks like.
fn decoded(text: &str) -> Option<String> {
    let hides_a_slash = text.to_ascii_lowercase().contains("%2f");
    (!hides_a_slash).then(|| extension::decoded(text)).flatten()
}

#[cfg(test)]
mod tests {
    use super::{file_uri, last, normal, parent};

    #[test]
    fn an_address_that_is_encoded_in_another_way_is_the_same_one() {
        for same in ["skill://a/x y.md", "skill://a/x%20y.md", "SKILL://%61/x%20y%2Emd"] {
            assert_eq!(normal(same).as_deref(), Some("skill://a/x%20y.md"), "{same}");
        }
        for none in [
            "skill://a/../x",
            "skill://a/%2e%2e/x",
            "skill://a%2fx",
            "skill://a/%2Fetc",
            "skill://a//x",
            "skill:///etc/passwd",
            "skill://a/./x",
            "skill://a/x?y",
            "skill://a/x%23y",
            "skill://a/%00",
            "skill://a\\x",
            "skill://a/%5cx",
            "skill://a/%zz",
            "skill://a/%ff",
            "skill://",
            "file:///a",
            "s",
        ] {
            assert_eq!(normal(none), None, "{none}");
        }
        assert_eq!(normal(&format!("skill://{}", "a".repeat(5000))), None);
    }

    #[test]
    fn an_address_has_a_parent_until_the_top() {
        assert_eq!(parent("skill://a/b/c").as_deref(), Some("skill://a/b"));
        assert_eq!(parent("skill://a/b").as_deref(), Some("skill://a"));
        assert_eq!(parent("skill://a"), None);
        assert_eq!(last("skill://a/x%20y.md"), "x y.md");
        assert_eq!(file_uri("/a b/é"), "file:///a%20b/%C3%A9");
    }
}
