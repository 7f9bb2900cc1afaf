//! Refuses a call whose command or script holds the word `forbidden`.

wit_bindgen::generate!({ path: "../../../wit", world: "guard-plugin", generate_all });

use exports::portcullis::guard::guard::{Guest as Guard, Refusal, ToolCall};
use exports::portcullis::plugin::plugin::{Guest as Plugin, Info};

struct Plain;

impl Plugin for Plain {
    fn describe() -> Info {
        Info {
            name: "plain-guard".to_owned(),
            description: "Built with wit-bindgen alone.".to_owned(),
            version: "0.1.0".to_owned(),
            appendix: Some("The plain-guard plugin refuses what is forbidden.".to_owned()),
            serves: Vec::new(),
        }
    }
}

impl Guard for Plain {
    fn before_tool_call(call: &ToolCall) -> Result<Option<Refusal>, String> {
        let said = call.field("/command").is_some_and(|command| command.contains("forbidden"));
        let run = call
            .scripts()
            .iter()
            .flat_map(|script| script.pipelines())
            .any(|pipeline| pipeline.commands.iter().any(|command| command.source.contains("forbidden")));
        let refusal = Refusal { code: "forbidden".to_owned(), reason: "that is forbidden".to_owned() };
        Ok((said || run).then_some(refusal))
    }
}

export!(Plain);
