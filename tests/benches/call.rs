//! The call that the benchmarks judge.

use portcullis_model::call::ToolCall;
use portcullis_model::input::Input;

/// A call of the shell tool.
pub(crate) fn call(command: &str) -> ToolCall {
    ToolCall {
        id: "c1".to_owned(),
        tool: "Bash".to_owned(),
        input: Input::from_value(serde_json::json!({ "command": command })).unwrap(),
        cwd: "/home/dev/app".to_owned(),
        session_id: "bench".to_owned(),
    }
}
