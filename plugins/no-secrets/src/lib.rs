//! Refuses to write files that look like credentials. It asks what a call
//! writes and not what the tool is called, so no batch tool slips by.

use portcullis_sdk::{Call, Guard, Info, Plugin, Refusal, Verdict, Word, export_plugin};

struct NoSecrets;

impl Plugin for NoSecrets {
    fn describe() -> Info {
        Info::new("no-secrets", "Refuses to write files that look like credentials.")
            .version(env!("CARGO_PKG_VERSION"))
            .appendix(
                "The no-secrets plugin refuses writes to `.env` files, to `.pem` files and to files named after \
                 credentials. Ask the user to add secrets themselves rather than working around it.",
            )
    }
}

impl Guard for NoSecrets {
    fn before_tool_call(call: &Call<'_>) -> Verdict {
        let redirected = call.commands().flat_map(|command| &command.writes).filter_map(Word::literal);
        let path = call.writes().chain(redirected).find(|path| is_secret(path));
        Ok(path.map(|path| {
            Refusal::new(format!("refusing to write {path}; ask the user to add secrets themselves"))
                .code("write")
        }))
    }
}

export_plugin!(NoSecrets: guard);

/// `.env` and its variants, anything named after credentials, and keys. Case is
/// ignored, as some file systems ignore it.
fn is_secret(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.starts_with(".env") || path.contains("credentials") || name.ends_with(".pem")
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::{CallBuilder, script};
    use portcullis_sdk::{EffectKind, Guard, Word};

    use super::{NoSecrets, is_secret};

    #[test]
    fn a_credential_is_known_by_its_path() {
        for path in [
            "/a/.env",
            ".env",
            "/a/.env.local",
            "/a/.envrc",
            "/home/u/.aws/credentials",
            "/a/Credentials.json",
            "/a/k.PEM",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in ["/a/env.rs", "/a/.environment/readme.md/x", "/a/pem.rs", "/a/my.env", ""] {
            assert!(!is_secret(path), "{path}");
        }
    }

    #[test]
    fn one_secret_among_many_files_of_a_batch_is_refused() {
        let call = CallBuilder::new("multi_edit")
            .effect(EffectKind::Write, "/a/x.rs")
            .effect(EffectKind::Write, "/a/.env")
            .effect(EffectKind::Write, "/a/y.rs")
            .build();
        let refusal = NoSecrets::before_tool_call(&call).unwrap().unwrap();
        assert_eq!(refusal.reason(), "refusing to write /a/.env; ask the user to add secrets themselves");
    }

    #[test]
    fn a_redirection_into_a_secret_is_refused() {
        let mut printed = script("echo KEY=1").pipelines().to_vec();
        printed[0].commands[0].writes.push(Word::Literal(".env".to_owned()));
        let call = CallBuilder::new("bash").script(portcullis_sdk::Script::new("x", true, printed)).build();
        assert!(NoSecrets::before_tool_call(&call).unwrap().is_some());
    }

    #[test]
    fn reading_a_secret_and_a_null_input_pass() {
        let read = CallBuilder::new("read").effect(EffectKind::Read, "/a/.env").build();
        assert_eq!(NoSecrets::before_tool_call(&read).unwrap(), None);
        let null = CallBuilder::new("write").input("null").build();
        assert_eq!(NoSecrets::before_tool_call(&null).unwrap(), None);
    }
}
