//! Files whose content has no copy as a rule: keys and credentials.

/// Whether a path is called like a file that holds secrets.
pub(crate) fn holds(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let has_ending = |endings: &[&str]| {
        name.rsplit_once('.')
            .is_some_and(|(_, ending)| endings.iter().any(|e| e.eq_ignore_ascii_case(ending)))
    };
    if has_ending(&["example", "sample", "template", "pub", "dist"]) {
        return false;
    }
    let name_is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let starts = |start: &str| name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    name_is(&[
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".env",
        "credentials",
        "authorized_keys",
        ".git-credentials",
    ]) || starts(".env.")
        || starts("credentials.")
        || starts("id_rsa")
        || starts("id_ed25519")
        || starts("id_ecdsa")
        || has_ending(&["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "asc", "gpg"])
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn a_key_is_known_by_its_name() {
        for path in [
            ".env",
            "/a/.env.local",
            "production.key",
            "tls/server.PEM",
            "~/.ssh/id_ed25519",
            "~/.aws/credentials",
        ] {
            assert!(holds(path), "{path}");
        }
        for path in [".env.example", "key", "debug.log", ".environment", "id_rsa.pub", "keyboard.rs", ""] {
            assert!(!holds(path), "{path}");
        }
    }
}
