//! A guard, a hook, a tool and a command in one component. Each answer tells
//! what it was asked, so a test can see that nothing got lost on the way.

use portcullis_sdk::{
    Call, Claims, CommandDefinition, CommandExpander, Decision, Error, Guard, Hook, Info, Invocation,
    Occurrence, Output, Plugin, Refusal, Subscription, Tool, ToolDefinition, Verdict, export_plugin,
    settings, store,
};

struct EveryKind;

impl Plugin for EveryKind {
    fn describe() -> Info {
        Info::new("every-kind", "A guard, a hook, a tool and a command.")
            .version(env!("CARGO_PKG_VERSION"))
            .appendix("The every-kind plugin refuses commands that hold the word `every-kind`.")
            .serves("tests")
    }
}

impl Guard for EveryKind {
    fn before_tool_call(call: &Call<'_>) -> Verdict {
        let effects: Vec<_> = call.effects().iter().map(|e| format!("{} {}", e.kind, e.target)).collect();
        let asked = call.text("/command").is_some_and(|command| command.contains("every-kind"));
        let commands = call.commands().count();
        let told = || {
            let (tool, input, cwd) = (call.tool(), call.input(), call.cwd());
            format!("{tool} in {cwd}: {input}; effects: {}; commands: {commands}", effects.join(", "))
        };
        Ok(asked.then(|| Refusal::new(told()).code("asked")))
    }
}

impl Hook for EveryKind {
    fn subscriptions() -> Vec<Subscription> {
        vec![Subscription::to("stop"), Subscription::to("pre-tool-use").matching("bash(git push *)")]
    }

    fn on_event(occurrence: &Occurrence<'_>) -> Result<Decision, Error> {
        let tool = occurrence.call().map_or("nothing", Call::tool);
        Ok(match occurrence.text() {
            Some("block") => Decision::Block(format!("{} of {tool}", occurrence.name())),
            Some("approve") => Decision::Approve,
            _ => Decision::NoOpinion,
        })
    }

    fn after_turn(session_id: &str) -> Result<(), Error> {
        let turns: u32 = store::get("turns").map_or(Ok(0), |turns| turns.parse())?;
        if session_id == "fails" {
            return Err(Error::new("asked to fail"));
        }
        store::set("turns", &(turns + 1).to_string())
    }
}

impl Tool for EveryKind {
    fn list_tools() -> Vec<ToolDefinition> {
        let schema = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
        vec![
            ToolDefinition::new("echo", "Says the text again.", schema).auto_approve().serves("tests"),
            ToolDefinition::new(
                "turns",
                "How many turns have ended, and the settings.",
                r#"{"type":"object"}"#,
            )
            .always_loaded(),
        ]
    }

    fn claims_of(call: &Call<'_>) -> Claims {
        if call.tool().ends_with("echo") { Claims::paths(["echo/**"]) } else { Claims::read_only() }
    }

    fn call_tool(call: &Call<'_>) -> Result<Output, Error> {
        if call.tool().ends_with("turns") {
            let turns = store::get("turns").unwrap_or_else(|| "0".to_owned());
            return Ok(Output::text(format!("{turns} {}", settings::text())));
        }
        Ok(call.text("/text").map_or_else(|| Output::error("there is no text"), Output::text))
    }
}

impl CommandExpander for EveryKind {
    fn list_commands() -> Vec<CommandDefinition> {
        vec![CommandDefinition::new("again", "Says the arguments again.").argument_hint("[text]")]
    }

    fn expand(invocation: &Invocation<'_>) -> Result<String, Error> {
        let (name, arguments) = (invocation.name(), invocation.arguments());
        if arguments.is_empty() {
            return Err(Error::new("say what"));
        }
        Ok(format!("{name} in {}: {arguments}", invocation.cwd()))
    }
}

export_plugin!(EveryKind: guard, hook, tool, command);
