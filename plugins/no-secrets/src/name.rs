//! Files that hold secrets, by their names.

use crate::touch::Deed;

/// The last component of a path of any system.
pub(crate) fn of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// `.env` and its variants, private keys, and what is named after credentials.
/// Case is ignored, as some file systems ignore it.
pub(crate) fn is_secret(path: &str, deed: Deed) -> bool {
    let name = of(path);
    // Templates hold placeholders, and are there to be edited and committed.
    if ends_in(name, &["example", "sample", "template", "dist", "pub"]) {
        return false;
    }
    starts_with(name, ".env")
        || holds(name, "credentials")
        || has_component(path, "credentials")
        || is(name, &[".netrc", "_netrc", ".pypirc", ".pgpass", ".htpasswd", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"])
        || ends_in(name, &["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx"])
        || lies_in(path, ".kube", "config")
        || lies_in(path, ".docker", "config.json")
        // A project's own settings are written there too; only reading it tells tokens.
        || (deed == Deed::Read && is(name, &[".npmrc"]))
}

fn is(name: &str, known: &[&str]) -> bool {
    known.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn starts_with(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn ends_in(name: &str, endings: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| is(ending, endings))
}

fn holds(name: &str, part: &str) -> bool {
    name.len() >= part.len()
        && name.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

fn has_component(path: &str, component: &str) -> bool {
    path.split(['/', '\\']).any(|part| part.eq_ignore_ascii_case(component))
}

fn lies_in(path: &str, directory: &str, name: &str) -> bool {
    let mut parts = path.rsplit(['/', '\\']);
    parts.next().is_some_and(|last| last.eq_ignore_ascii_case(name))
        && parts.next().is_some_and(|parent| parent.eq_ignore_ascii_case(directory))
}

/// Whether all of `name` is what `glob` stands for, without ASCII case. A
/// mismatch falls back to the last `*` alone, so the time is bounded by the
/// product of both lengths.
pub(crate) fn matches(glob: &str, name: &str) -> bool {
    let (glob, name) = (glob.as_bytes(), name.as_bytes());
    let (mut g, mut n) = (0, 0);
    let mut fallback = None;
    loop {
        match (glob.get(g), name.get(n)) {
            (None, None) => return true,
            (Some(b'*'), _) => {
                fallback = Some((g, n));
                g += 1;
            }
            (Some(wanted), Some(byte)) if *wanted == b'?' || wanted.eq_ignore_ascii_case(byte) => {
                g += 1;
                n += 1;
            }
            (Some(_), None) => return false,
            (_, Some(_)) => {
                let Some((at, from)) = fallback else { return false };
                fallback = Some((at, from + 1));
                (g, n) = (at + 1, from + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_secret, matches};
    use crate::touch::Deed;

    #[test]
    fn a_credential_is_known_by_its_path() {
        for path in [
            "/a/.env",
            ".env",
            "/a/.env.local",
            "/a/.envrc",
            "/home/u/.aws/credentials",
            "/a/Credentials.json",
            "/a/config/credentials/production.yml",
            "/a/k.PEM",
            "~/.ssh/id_ed25519",
            "server.key",
            "store.p12",
            "/home/u/.kube/config",
            "/home/u/.docker/config.json",
            r"C:\Users\u\.netrc",
        ] {
            assert!(is_secret(path, Deed::Write), "{path}");
        }
    }

    #[test]
    fn an_ordinary_file_is_none() {
        for path in [
            "/a/env.rs",
            "/a/.environment/readme.md/x",
            "/a/pem.rs",
            "/a/my.env",
            "",
            "/a/.env.example",
            "/a/.env.sample",
            "/a/.env.template",
            "~/.ssh/id_rsa.pub",
            "/a/config",
            "/a/keys.rs",
            "/home/u/credentials-service/src/main.rs",
        ] {
            assert!(!is_secret(path, Deed::Write), "{path}");
        }
    }

    #[test]
    fn a_projects_npm_settings_may_be_written_and_not_read() {
        assert!(is_secret("/a/.npmrc", Deed::Read) && !is_secret("/a/.npmrc", Deed::Write));
    }

    #[test]
    fn a_glob_is_matched_whole() {
        for (glob, name) in [("*.vault", "a.vault"), ("token-?", "TOKEN-1"), ("*", ""), ("a*b*c", "axbxbc")] {
            assert!(matches(glob, name), "{glob} {name}");
        }
        for (glob, name) in [("*.vault", "vault"), ("a?", "a"), ("a*b", "abc"), ("", "a")] {
            assert!(!matches(glob, name), "{glob} {name}");
        }
    }
}
