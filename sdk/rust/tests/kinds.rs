//! One plugin of every kind, asked without a host.

use portcullis_sdk::testing::{CallBuilder, invocation, occurrence, set_settings};
use portcullis_sdk::{
    Call, CommandDefinition, CommandExpander, Decision, Error, Guard, Hook, Info, Invocation, Occurrence,
    Output, Plugin, Refusal, Subscription, Tool, ToolDefinition, Verdict, export_plugin, log, settings,
    store, testing,
};

struct All;

impl Plugin for All {
    fn describe() -> Info {
        Info::new("all", "Every kind at once.").version("1.0.0").serves("tests")
    }
}

impl Guard for All {
    fn before_tool_call(call: &Call<'_>) -> Verdict {
        let judged: u32 = store::get("judged").map_or(Ok(0), |count| count.parse())?;
        store::set("judged", &(judged + 1).to_string())?;
        log::info(call.tool());
        Ok((call.tool() == "bash").then(|| Refusal::new(format!("call {judged}")).code("no")))
    }
}

impl Hook for All {
    fn subscriptions() -> Vec<Subscription> {
        vec![Subscription::to("stop"), Subscription::to("pre-tool-use").matching("bash(git push *)")]
    }

    fn on_event(occurrence: &Occurrence<'_>) -> Result<Decision, Error> {
        Ok(match (occurrence.name(), occurrence.call()) {
            ("pre-tool-use", Some(call)) if call.tool() == "bash" => Decision::Block("no".to_owned()),
            _ => Decision::NoOpinion,
        })
    }
}

impl Tool for All {
    fn list_tools() -> Vec<ToolDefinition> {
        vec![ToolDefinition::new("echo", "Says it again.", r#"{"type":"object"}"#)]
    }

    fn call_tool(call: &Call<'_>) -> Result<Output, Error> {
        Ok(match call.text("/text") {
            Some(text) => Output::text(text),
            None => Output::error("no text"),
        })
    }
}

impl CommandExpander for All {
    fn list_commands() -> Vec<CommandDefinition> {
        vec![CommandDefinition::new("review", "Reviews a branch.").argument_hint("[branch]")]
    }

    fn expand(invocation: &Invocation<'_>) -> Result<String, Error> {
        if invocation.arguments().is_empty() {
            return Err(Error::new("which branch?"));
        }
        Ok(format!("Review the branch {}.", invocation.arguments()))
    }
}

export_plugin!(All: guard, hook, tool, command);

#[test]
fn a_guard_remembers_through_the_store() {
    let call = CallBuilder::new("bash").build();
    let reason = || All::before_tool_call(&call).unwrap().unwrap().reason().to_owned();
    assert_eq!((reason(), reason()), ("call 0".to_owned(), "call 1".to_owned()));
    assert_eq!(testing::logged().len(), 2);
}

#[test]
fn an_error_of_a_library_is_an_error_of_the_guard() {
    store::set("judged", "many").unwrap();
    let error = All::before_tool_call(&CallBuilder::new("read").build()).unwrap_err();
    assert!(error.to_string().contains("invalid digit"), "{error}");
}

#[test]
fn a_hook_sees_the_call_of_its_event() {
    let call = CallBuilder::new("bash").build();
    let block = All::on_event(&occurrence("pre-tool-use", Some(call), None)).unwrap();
    assert_eq!(block, Decision::Block("no".to_owned()));
    assert_eq!(All::on_event(&occurrence("stop", None, Some("done"))).unwrap(), Decision::NoOpinion);
}

#[test]
fn a_tool_reads_its_input() {
    let call = CallBuilder::new("echo").input(r#"{"text":"α"}"#).build();
    assert_eq!(All::call_tool(&call).unwrap(), Output::text("α"));
    assert!(All::call_tool(&CallBuilder::new("echo").build()).unwrap().is_error);
}

#[test]
fn a_command_expands_or_says_what_it_lacks() {
    assert_eq!(All::expand(&invocation("review", "main")).unwrap(), "Review the branch main.");
    assert_eq!(All::expand(&invocation("review", "")).unwrap_err().to_string(), "which branch?");
}

#[test]
fn settings_are_a_type_of_the_author_and_an_unknown_key_is_an_error() {
    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Settings {
        hosts: Vec<String>,
    }
    assert_eq!(settings::read::<Settings>().unwrap(), Settings::default());
    set_settings(r#"{"hosts":["a"]}"#);
    assert_eq!(settings::read::<Settings>().unwrap().hosts, ["a"]);
    set_settings(r#"{"host":["a"]}"#);
    assert!(settings::read::<Settings>().unwrap_err().to_string().contains("`host`"));
}
