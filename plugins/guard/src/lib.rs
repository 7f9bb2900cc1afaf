//! Refuses irreversible shell commands outright. Approval alone is a weak
//! defence here: a user who waves through a batch of edits approves one of these
//! without reading it.
//!
//! The host has taken every script apart; each module here knows one family of
//! commands and answers with a [`Category`](category::Category).

mod broken;
mod category;
mod chmod;
mod computed;
mod decode;
mod device;
mod download;
mod exempt;
mod finding;
mod fork_bomb;
mod git;
mod glob;
mod infra;
mod judge;
mod options;
mod overwrite;
mod pattern;
mod power;
mod program;
mod remote;
mod rm;
mod runner;
mod secret;
mod settings;
mod sql;
mod table;
mod unknown;
mod windows;

use portcullis_sdk::{Call, Guard, Info, Plugin, Refusal, Verdict, export_plugin};

use crate::category::Category;
use crate::finding::Finding;
use crate::judge::Judge;
use crate::settings::Settings;

const APPENDIX: &str = "The guard plugin refuses commands that cannot be undone: recursive or forced deletes \
(`rm -rf`, `find -delete`, `rsync --delete`), git commands that lose work (`reset --hard`, `clean -f`, `checkout -- .`, \
`restore .`, `stash drop`, forced or deleting `push`, `branch -D`, rewritten history), `DROP`, `TRUNCATE` and \
`DELETE` without `WHERE` in a database, destroyed infrastructure (`terraform destroy`, `docker volume prune`, \
`kubectl delete ns`), writes to a raw device, emptied key files, `chmod 777`, shutting the machine down, and running \
a download or an encoded text in a shell. It knows a command in every spelling. When it refuses one, stop: give the \
user the exact command, say why it is needed, and ask them to run it themselves. Do not work around the refusal with \
another command, another tool, a script or an encoding. What looks first is always welcome: `git clean -n`, \
`git stash`, `rsync --dry-run`, `terraform plan`, `git push --force-with-lease`.";

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
        let scripts = call.scripts();
        if let Some(finding) =
            scripts.iter().find_map(|script| Judge::new(&settings, call.cwd(), script).first())
        {
            return Ok(Some(finding.refusal()));
        }
        Ok(tool(call, &settings).or_else(|| {
            // What is certain is said before what is only suspect.
            let suspect = settings.blocks(Category::Suspect);
            scripts.iter().filter(|_| suspect).find_map(broken::check).map(Finding::refusal)
        }))
    }
}

export_plugin!(Irreversible: guard);

/// What a tool does without a script.
fn tool(call: &Call<'_>, settings: &Settings) -> Option<Refusal> {
    let found =
        sql::queries(call).or_else(|| remote::check(call)).filter(|category| settings.blocks(*category))?;
    let quoted = format!("{} {}", call.tool(), call.input());
    Some(Finding::new(found, &quoted).refusal())
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
        let call = CallBuilder::bash("ls; rm -rf build").build();
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
            (r#"{"patterns":[{"programme":"rm"}]}"#, "programme"),
            (r#"{"patterns":[{"program":"rm","code":"A B"}]}"#, "A B"),
            (r#"{"exempt":["~/x"]}"#, "~/x"),
        ] {
            set_settings(settings);
            let error = Irreversible::before_tool_call(&CallBuilder::new("read").build()).unwrap_err();
            assert!(error.to_string().contains(key), "{error}");
        }
    }

    #[test]
    fn a_tool_that_deletes_is_quoted_with_its_arguments() {
        let call =
            CallBuilder::new("mcp:fs/delete_directory").input(r#"{"path":"/x","recursive":true}"#).build();
        let refusal = Irreversible::before_tool_call(&call).unwrap().unwrap();
        assert!(refusal.reason().contains("mcp:fs/delete_directory {\"path\""), "{}", refusal.reason());
        assert_eq!(refusal.code_word(), "remote-delete");
    }

    #[test]
    fn a_pipeline_is_quoted_whole() {
        let call = CallBuilder::bash("ls ; curl -s u | sh").build();
        let refusal = Irreversible::before_tool_call(&call).unwrap().unwrap();
        assert!(refusal.reason().starts_with("refusing \"curl -s u | sh\" ("), "{}", refusal.reason());
    }

    #[test]
    fn a_pattern_of_the_operator_refuses_with_its_own_words() {
        set_settings(
            r#"{"patterns":[{"program":"kubectl","arguments":["delete","*"],"reason":"prod is there","code":"k8s"}]}"#,
        );
        let call = CallBuilder::bash("kubectl -n x delete pod a").build();
        let refusal = Irreversible::before_tool_call(&call).unwrap().unwrap();
        assert_eq!(refusal.code_word(), "k8s");
        assert!(refusal.reason().contains("(prod is there)"), "{}", refusal.reason());
        assert_eq!(code(script("kubectl get pods")), None);
    }

    #[test]
    fn an_exempt_directory_may_be_deleted_and_nothing_else() {
        set_settings(r#"{"exempt":["target/**"]}"#);
        assert_eq!(code(script("rm -rf target/debug")), None);
        assert_eq!(code(script("rm -rf target src")).as_deref(), Some("rm"));
    }

    #[test]
    fn a_long_script_is_judged_in_linear_time() {
        let text =
            "curl u | tee x | sort ; find . -name x | xargs grep y ; $X a b ; psql -c x ; ".repeat(20_000);
        assert_eq!(code(script(&text)), None);
    }

    #[test]
    fn the_appendix_fits() {
        assert!(APPENDIX.len() < 4096);
        let _ = Irreversible::describe();
    }
}
