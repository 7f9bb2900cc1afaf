//! Refuses to write files that look like credentials, and to read them when the
//! operator says so. It asks what a call does and not what the tool is called, so
//! no batch tool slips by.

mod name;
mod settings;
mod touch;

use portcullis_sdk::{Call, EffectKind, Guard, Info, Plugin, Refusal, Verdict, export_plugin};

use crate::settings::Settings;
use crate::touch::{Deed, Touch};

/// How much of a path is quoted.
const QUOTED: usize = 200;

struct NoSecrets;

impl Plugin for NoSecrets {
    fn describe() -> Info {
        Info::new("no-secrets", "Refuses to write files that look like credentials.")
            .version(env!("CARGO_PKG_VERSION"))
            .appendix(
                "The no-secrets plugin refuses to write or delete `.env` files, private keys and files named after \
                 credentials, through any tool and any shell command; it may refuse to read them as well. Templates \
                 such as `.env.example` are yours to edit. Ask the user to add secrets themselves rather than \
                 working around it.",
            )
    }
}

impl Guard for NoSecrets {
    fn before_tool_call(call: &Call<'_>) -> Verdict {
        let settings = Settings::read()?;
        let of_kind = |deed: Deed, kind: EffectKind| {
            let effects = call.effects().iter().filter(move |effect| effect.kind == kind);
            effects.map(move |effect| Touch { deed, path: &effect.target })
        };
        let mut effects = of_kind(Deed::Write, EffectKind::Write)
            .chain(of_kind(Deed::Delete, EffectKind::Delete))
            .chain(of_kind(Deed::Read, EffectKind::Read));
        if let Some(touch) = effects.find(|touch| settings.refuses(touch)) {
            return Ok(Some(refusal(&touch)));
        }
        let mut found = None;
        for command in call.commands() {
            touch::each(command, &mut |touch| {
                if found.is_none() && settings.refuses(&touch) {
                    found = Some(refusal(&touch));
                }
            });
            if found.is_some() {
                break;
            }
        }
        Ok(found)
    }
}

export_plugin!(NoSecrets: guard);

fn refusal(touch: &Touch<'_>) -> Refusal {
    let (code, next) = match touch.deed {
        Deed::Write => ("write", "ask the user to add secrets themselves"),
        Deed::Delete => ("delete", "ask the user to do it themselves"),
        Deed::Read => ("read", "ask the user for what is needed from it"),
    };
    let mut letters = touch.path.chars();
    let mut path: String =
        letters.by_ref().take(QUOTED).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if letters.next().is_some() {
        path.push('…');
    }
    Refusal::new(format!("refusing to {code} {path}; {next}")).code(code)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::{CallBuilder, set_settings};
    use portcullis_sdk::{Call, EffectKind, Guard, Script, Word, testing};

    use super::NoSecrets;

    fn reason(call: &Call<'_>) -> Option<String> {
        NoSecrets::before_tool_call(call).unwrap().map(|refusal| refusal.reason().to_owned())
    }

    #[test]
    fn one_secret_among_many_files_of_a_batch_is_refused() {
        let call = CallBuilder::new("multi_edit")
            .effect(EffectKind::Write, "/a/x.rs")
            .effect(EffectKind::Write, "/a/.env")
            .effect(EffectKind::Write, "/a/y.rs")
            .build();
        let said = "refusing to write /a/.env; ask the user to add secrets themselves";
        assert_eq!(reason(&call).as_deref(), Some(said));
    }

    #[test]
    fn a_deleted_secret_is_refused() {
        let call = CallBuilder::new("delete").effect(EffectKind::Delete, "/a/server.pem").build();
        assert_eq!(
            reason(&call).as_deref(),
            Some("refusing to delete /a/server.pem; ask the user to do it themselves")
        );
    }

    #[test]
    fn a_redirection_into_a_secret_is_refused() {
        let mut printed = testing::script("echo KEY=1").pipelines().to_vec();
        printed[0].commands[0].writes.push(Word::Literal(".env".to_owned()));
        let call = CallBuilder::new("bash").script(Script::new("x", true, printed)).build();
        assert!(reason(&call).is_some());
    }

    #[test]
    fn reading_a_secret_and_a_null_input_pass() {
        let read = CallBuilder::new("read").effect(EffectKind::Read, "/a/.env").build();
        assert_eq!(reason(&read), None);
        assert_eq!(reason(&CallBuilder::bash("cat .env").build()), None);
        let null = CallBuilder::new("write").input("null").build();
        assert_eq!(reason(&null), None);
    }

    #[test]
    fn reads_are_refused_when_the_operator_says_so() {
        set_settings(r#"{"reads":"block"}"#);
        let read = CallBuilder::new("read").effect(EffectKind::Read, "/a/.env").build();
        assert_eq!(
            reason(&read).as_deref(),
            Some("refusing to read /a/.env; ask the user for what is needed from it")
        );
        assert!(reason(&CallBuilder::bash("head -1 .npmrc | wc").build()).is_some());
        assert_eq!(reason(&CallBuilder::bash("cat .env.example").build()), None);
    }

    #[test]
    fn names_of_the_operator_count_as_well() {
        set_settings(r#"{"names":["*.vault","token-?.txt"]}"#);
        assert!(reason(&CallBuilder::bash("tee ops/prod.VAULT").build()).is_some());
        assert!(reason(&CallBuilder::bash("tee token-1.txt").build()).is_some());
        assert_eq!(reason(&CallBuilder::bash("tee token-10.txt").build()), None);
    }

    #[test]
    fn settings_that_make_no_sense_refuse_every_call_and_name_the_key() {
        for (settings, key) in
            [(r#"{"read":"block"}"#, "read"), (r#"{"reads":"no"}"#, "no"), (r#"{"names":["a/b"]}"#, "a/b")]
        {
            set_settings(settings);
            let error = NoSecrets::before_tool_call(&CallBuilder::new("read").build()).unwrap_err();
            assert!(error.to_string().contains(key), "{error}");
        }
    }
}
