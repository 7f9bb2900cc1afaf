//! Refuses irreversible shell commands outright. Approval alone is a weak
//! defence here: a user who waves through a batch of edits approves one of these
//! without reading it.
//!
//! The host has taken every script apart; each module here knows one family of
//! commands and answers with a [`Finding`].

mod category;
mod chmod;
mod device;
mod download;
mod finding;
mod fork_bomb;
mod git;
mod options;
mod power;
mod program;
mod rm;
mod settings;
mod sql;

use portcullis_sdk::{Call, Command, Guard, Info, Pipeline, Plugin, Script, Verdict, export_plugin};

use crate::category::Category;
use crate::finding::Finding;
use crate::settings::Settings;

const APPENDIX: &str = "The guard plugin refuses irreversible shell commands: recursive or forced `rm`, \
`git reset --hard`, `git clean -f`, forced `git push`, `git branch -D`, `DROP` and `TRUNCATE` in a database, \
writes to a raw device, `chmod 777`, shutting the machine down, and running a download in a shell. When it \
refuses a command, give the user the exact command and ask them to run it themselves. Do not work around the \
refusal with another command, another tool, or a script.";

/// The guard. Public for the fuzz target, which judges with it natively.
pub struct Irreversible;

impl Plugin for Irreversible {
    fn describe() -> Info {
        Info::new("guard", "Refuses irreversible shell commands.")
            .version(env!("CARGO_PKG_VERSION"))
            .appendix(APPENDIX)
    }
}

impl Guard for Irreversible {
    fn before_tool_call(call: &Call<'_>) -> Verdict {
        let settings = Settings::read()?;
        let blocked = |finding: &Finding| settings.blocks(finding.category());
        let mut suspect = None;
        for script in call.scripts() {
            if let Some(finding) = findings(script).find(blocked) {
                return Ok(Some(finding.refusal()));
            }
            if !script.is_complete() {
                suspect = suspect.or(Some(Finding::new(Category::Suspect, script.source())));
            }
        }
        let query = sql::queries(call).filter(blocked);
        Ok(query.or(suspect.filter(blocked)).map(Finding::refusal))
    }
}

export_plugin!(Irreversible: guard);

/// Everything in a script that a category may refuse, in source order.
fn findings(script: &Script) -> impl Iterator<Item = Finding> {
    let pipelines = script.pipelines().iter().flat_map(move |pipeline| in_pipeline(script, pipeline));
    pipelines.map(|finding| finding.or_quote(script.source()))
}

fn in_pipeline<'a>(script: &'a Script, pipeline: &'a Pipeline) -> impl Iterator<Item = Finding> {
    let commands = pipeline.commands.iter().filter_map(in_command);
    let whole = [download::check, sql::check].into_iter().filter_map(|check| check(pipeline));
    commands.chain(whole).chain(fork_bomb::check(script, pipeline))
}

fn in_command(command: &Command) -> Option<Finding> {
    let found = [program::check, rm::check, git::check, device::check, chmod::check, power::check]
        .into_iter()
        .find_map(|check| check(command))?;
    Some(Finding::new(found, &command.source))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::{CallBuilder, script, set_settings};
    use portcullis_sdk::{Guard, Plugin, Script};

    use super::{APPENDIX, Irreversible};

    fn code(script: Script) -> Option<String> {
        let call = CallBuilder::new("bash").script(script).build();
        let refusal = Irreversible::before_tool_call(&call).unwrap();
        refusal.map(|refusal| refusal.code_word().to_owned())
    }

    #[test]
    fn a_refusal_quotes_the_command_and_says_why_and_what_next() {
        let call = CallBuilder::new("bash").script(script("ls; rm -rf build")).build();
        let refusal = Irreversible::before_tool_call(&call).unwrap().unwrap();
        assert_eq!(
            refusal.reason(),
            "refusing \"rm -rf build\" (recursive or forced delete). \
             Ask the user to run it themselves if it is really needed."
        );
        assert_eq!(refusal.code_word(), "rm");
    }

    #[test]
    fn ordinary_work_passes() {
        for text in ["rm build/one-file.js", "git push origin feature", "git commit -m x", "npm test"] {
            assert_eq!(code(script(text)), None, "{text}");
        }
    }

    #[test]
    fn a_script_that_is_not_understood_is_suspect() {
        let odd = Script::new("odd (", false, Vec::new());
        assert_eq!(code(odd).as_deref(), Some("suspect"));
    }

    #[test]
    fn what_is_certain_is_said_before_what_is_suspect() {
        let script = Script::new("rm -rf x; odd (", false, script("rm -rf x").pipelines().to_vec());
        assert_eq!(code(script).as_deref(), Some("rm"));
    }

    #[test]
    fn a_category_can_be_turned_off_and_the_others_still_hold() {
        set_settings(r#"{"categories":{"rm":"allow"}}"#);
        assert_eq!(code(script("rm -rf build")), None);
        assert_eq!(code(script("rm -rf build; git reset --hard")).as_deref(), Some("git-reset"));
    }

    #[test]
    fn a_lease_passes_until_the_operator_says_otherwise() {
        assert_eq!(code(script("git push --force-with-lease")), None);
        set_settings(r#"{"categories":{"force-with-lease":"block"}}"#);
        assert_eq!(code(script("git push --force-with-lease")).as_deref(), Some("force-with-lease"));
    }

    #[test]
    fn settings_that_make_no_sense_refuse_every_call_and_name_the_key() {
        for (settings, key) in [
            (r#"{"category":{}}"#, "category"),
            (r#"{"categories":{"rmm":"allow"}}"#, "rmm"),
            (r#"{"categories":{"rm":"alow"}}"#, "alow"),
        ] {
            set_settings(settings);
            let error = Irreversible::before_tool_call(&CallBuilder::new("read").build()).unwrap_err();
            assert!(error.to_string().contains(key), "{error}");
        }
    }

    #[test]
    fn a_query_to_a_database_server_is_judged_too() {
        for (tool, input, refused) in [
            ("mcp:postgres/query", r#"{"sql":"DROP TABLE users;"}"#, true),
            ("mcp:postgres/query", r#"{"sql":"SELECT 1 AS drop, truncate FROM settings"}"#, false),
            ("write", r#"{"sql":"DROP TABLE users;"}"#, false),
        ] {
            let call = CallBuilder::new(tool).input(input).build();
            assert_eq!(Irreversible::before_tool_call(&call).unwrap().is_some(), refused, "{input}");
        }
    }

    #[test]
    fn the_appendix_fits() {
        assert!(APPENDIX.len() < 4096);
        let _ = Irreversible::describe();
    }
}
