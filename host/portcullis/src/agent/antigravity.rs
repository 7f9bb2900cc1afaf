//! Antigravity. Its payloads do not name their event, and an answer with a field
//! too many is dropped whole.

use serde_json::{Map, Value, json};

use super::answer::{HookAnswer, presentable};
use super::dialect::{Call, Dialect, Names, SHORT};
use super::error::HookInputError;
use super::event::{HookEvent, Moment};
use super::fields::Fields;

pub(super) static DIALECT: Dialect = Dialect {
    name: "antigravity",
    waits: SHORT,
    events: &[
        ("toolCall", Moment::PreToolUse),
        ("terminationReason", Moment::Stop),
        ("fullyIdle", Moment::Stop),
    ],
    names: Names {
        event: "",
        session: "conversationId",
        cwd: "workspacePaths",
        id: "stepIdx",
        tool: "toolCall.name",
        input: "toolCall.args",
        prompt: "",
        output: &[],
        words: "",
    },
    event: |_, fields| event(fields),
    cwd: |names, fields| fields.first_directory(names.cwd),
    call: |names, fields, _| call(names, fields),
    pass,
    block,
    failure: block,
    ..Dialect::CLAUDE
};

/// The field that tells what the event is. A payload without any of them is
/// refused: it could be a call in words that nobody knows.
fn event(fields: &Fields) -> Result<String, HookInputError> {
    ["toolCall", "terminationReason", "fullyIdle", "invocationNum", "error"]
        .into_iter()
        .find(|field| fields.get(field).is_some())
        .map(str::to_owned)
        .ok_or_else(|| HookInputError::Missing { field: "toolCall".into() })
}

fn call(names: &Names, fields: &mut Fields) -> Result<Call, HookInputError> {
    Ok(Call {
        id: fields.get(names.id).map(Value::to_string).unwrap_or_default(),
        tool: fields.text(names.tool)?,
        input: fields.arguments(names.input)?,
    })
}

/// It has no word for having no opinion, and `allow` would skip the user's own
/// rules. Whether its `ask` reaches the user in every mode is not known, so a
/// call that needs the user's consent is blocked.
fn pass(event: &HookEvent) -> HookAnswer {
    let call = matches!(event, HookEvent::PreToolUse(_));
    HookAnswer::json(&if call { json!({"decision": "ask"}) } else { Value::Object(Map::new()) })
}

fn block(reason: &str) -> HookAnswer {
    HookAnswer::json(&json!({"decision": "deny", "reason": presentable(reason)}))
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent, HookInputError, HookRequest};
    use serde_json::{Value, json};

    fn request(fields: &Value) -> Result<HookRequest, HookInputError> {
        let mut payload = json!({"stepIdx": 3, "conversationId": "c", "workspacePaths": ["/w"], "transcriptPath": "/t", "artifactDirectoryPath": "/a"});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Agent::Antigravity.read(payload.to_string().as_bytes())
    }

    #[test]
    fn a_call_is_read_whole() {
        let args = json!({"CommandLine": "ls", "Cwd": "/w/sub", "SafeToAutoRun": true});
        let request = request(&json!({"toolCall": {"name": "run_command", "args": args}})).unwrap();
        let HookEvent::PreToolUse(call) = &request.event else { panic!() };
        assert_eq!((call.id.as_str(), call.tool.as_str(), call.cwd.as_str()), ("3", "run_command", "/w"));
        assert_eq!(call.input.value(), &args);
        assert_eq!(request.no_objection().stdout, "{\"decision\":\"ask\"}\n");
    }

    #[test]
    fn what_could_be_a_call_is_never_an_event_of_no_interest() {
        for (fields, field) in [
            (json!({}), "toolCall"),
            (json!({"toolcall": {"name": "run_command"}}), "toolCall"),
            (json!({"toolCall": null}), "toolCall.name"),
            (json!({"toolCall": {}, "error": "x"}), "toolCall.name"),
            (json!({"toolCall": {"name": "x", "args": {}}, "workspacePaths": []}), "workspacePaths"),
            (json!({"toolCall": {"name": "x", "args": {}}, "conversationId": 7}), "conversationId"),
        ] {
            let error = request(&fields).unwrap_err().to_string();
            assert!(error.contains(&format!("`{field}`")), "{fields}: {error}");
        }
    }

    #[test]
    fn other_events_are_answered_with_nothing_that_it_could_misread() {
        let stop = request(&json!({"terminationReason": "done", "fullyIdle": true})).unwrap();
        assert!(matches!(stop.event, HookEvent::Stop(_)));
        let other = request(&json!({"invocationNum": 1})).unwrap();
        assert!(matches!(other.event, HookEvent::Other(_)));
        assert_eq!([stop, other].map(|request| request.no_objection().stdout), ["{}\n", "{}\n"]);
        assert_eq!(Agent::Antigravity.failure("no").stdout, "{\"decision\":\"deny\",\"reason\":\"no\"}\n");
    }
}
