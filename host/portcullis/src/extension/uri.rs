//! Addresses of what extensions bring.

use std::borrow::Cow;

use portcullis_model::extension::decoded;

/// The longest address, in bytes.
const LENGTH_MAX: usize = 4096;

/// How often an address may be encoded in itself.
const DECODES_MAX: usize = 4;

/// An address that means nothing, or that tries to leave its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the address `{uri}` {reason}")]
pub struct UriError {
    /// The address, cut to 200 characters.
    pub uri: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// The scheme of `uri`, in lower case. A skill's address cannot leave the skill, in
/// whatever encoding.
pub(super) fn scheme_of(uri: &str) -> Result<String, UriError> {
    let wrong = |reason| UriError { uri: uri.chars().take(200).collect(), reason };
    if uri.len() > LENGTH_MAX {
        return Err(wrong("is longer than 4096 bytes"));
    }
    if uri.chars().any(char::is_control) {
        return Err(wrong("holds control characters"));
    }
    let (scheme, rest) = uri.split_once("://").ok_or_else(|| wrong("has no scheme such as `skill://`"))?;
    if !is_scheme(scheme) {
        return Err(wrong("has a scheme that is none"));
    }
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "skill" {
        stays_inside(rest).map_err(wrong)?;
    }
    Ok(scheme)
}

pub(super) fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

fn stays_inside(path: &str) -> Result<(), &'static str> {
    let mut path = Cow::Borrowed(path);
    for _ in 0..DECODES_MAX {
        plain(&path)?;
        if !path.contains('%') {
            return Ok(());
        }
        path = Cow::Owned(decoded(&path).ok_or("holds a `%` that encodes nothing")?);
    }
    Err("is encoded in itself too often")
}

fn plain(path: &str) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("names nothing");
    }
    if path.starts_with('/') {
        return Err("is absolute");
    }
    if path.contains(['\\', '\0', '?', '#']) || path.chars().any(char::is_control) {
        return Err("holds a character that no skill's file has");
    }
    let is_drive = |part: &str| part.len() == 2 && part.ends_with(':');
    if path.split('/').any(|part| matches!(part, "." | "..") || is_drive(part)) {
        return Err("leaves the skill's directory");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::scheme_of;

    #[test]
    fn a_skills_address_stays_inside_the_skill() {
        for good in ["skill://pdf/SKILL.md", "SKILL://a/b/c.md", "skill://a/with%20blank.md", "skill://a/..b"]
        {
            assert_eq!(scheme_of(good).as_deref(), Ok("skill"), "{good}");
        }
        for bad in [
            "skill://",
            "skill:///etc/passwd",
            "skill://pdf/../../x",
            "skill://pdf/..",
            "skill://pdf/./x",
            "skill://pdf/%2e%2e/x",
            "skill://pdf/%252e%252e/x",
            "skill://pdf/%25252e%25252e/x",
            "skill://pdf/%2525252525252e/x",
            "skill://pdf%2f..%2fx",
            "skill://pdf/..%5cx",
            "skill://pdf\\..\\x",
            "skill://pdf/%00",
            "skill://pdf/\0",
            "skill://%2fetc/passwd",
            "skill://C:/x",
            "skill://pdf/%zz",
            "skill://pdf/%ff",
            "skill://pdf/a%0ab",
            "skill://pdf/x?y",
            "pdf/SKILL.md",
            "://x",
            "1a://x",
        ] {
            assert!(scheme_of(bad).is_err(), "{bad}");
        }
        assert!(scheme_of(&format!("skill://{}", "a".repeat(5000))).is_err());
        assert_eq!(scheme_of("mcp://server/file:///a/../b").as_deref(), Ok("mcp"), "its server knows");
    }
}
