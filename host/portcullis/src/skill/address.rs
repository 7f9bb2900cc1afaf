//! The address of a skill's file: `skill://PATH/FILE`, where `PATH` is the skill's path
//! below its root.

use portcullis_model::extension::decoded;

use super::catalog::{Catalog, Skill};
use super::document::SKILL_FILE;

const SCHEME: &str = "skill://";

/// The address of the `SKILL.md` at `slug`.
#[must_use]
pub fn address(slug: &str) -> String {
    address_of(slug, SKILL_FILE)
}

/// The address of the file at `path` of the skill at `slug`.
#[must_use]
pub fn address_of(slug: &str, path: &str) -> String {
    let mut address = SCHEME.to_owned();
    for byte in format!("{slug}/{path}").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// The skill that `address` lies in, and the path of the file in it. Of skills within one
/// another it is the innermost.
pub(super) fn find<'c>(catalog: &'c Catalog, address: &str) -> Option<(&'c Skill, String)> {
    let (scheme, rest) = address.split_at_checked(SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let path = decoded(rest)?;
    let ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
    ends.into_iter().rev().find_map(|end| {
        let skill = catalog.at(path.get(..end)?)?;
        Some((skill, path.get(end + 1..)?.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::{address, address_of, decoded};

    #[test]
    fn an_address_is_read_as_it_is_written() {
        assert_eq!(address("acme/refunds"), "skill://acme/refunds/SKILL.md");
        assert_eq!(address_of("a b", "x/50% é.md"), "skill://a%20b/x/50%25%20%C3%A9.md");
        assert_eq!(decoded("a%20b/x/50%25%20%C3%A9.md").as_deref(), Some("a b/x/50% é.md"));
        for wrong in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
