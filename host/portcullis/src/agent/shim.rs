//! Agents that have plugins and no hook processes. Our plugin for each of them
//! asks `portcullis hook`, and refuses unless the answer is `{"block":false}`.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{HookAnswer, presentable};

/// As long as `TIMEOUT_MS` in the plugins says.
pub(super) const WAITS: Duration = Duration::from_secs(60);

const ASK: &str = include_str!("shim.js");
const OPENCODE: &str = include_str!("opencode_plugin.js");
const AMP: &str = include_str!("amp_plugin.js");
/// Amp loads no plugin without it while its plugins are an experiment.
const AMP_CONSENT: &str = "// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now";
const BINARY: &str = "\"@PORTCULLIS@\"";

pub(super) fn pass() -> HookAnswer {
    HookAnswer::json(&json!({"block": false}))
}

pub(super) fn block(reason: &str) -> HookAnswer {
    HookAnswer::json(&json!({"block": true, "reason": presentable(reason)}))
}

/// The source of the opencode plugin that asks the `portcullis` at `binary`, an
/// absolute path.
#[must_use]
pub fn opencode_plugin(binary: &str) -> String {
    plugin(binary, OPENCODE)
}

/// The source of the Amp plugin that asks the `portcullis` at `binary`, an
/// absolute path.
#[must_use]
pub fn amp_plugin(binary: &str) -> String {
    format!("{AMP_CONSENT}\n{}", plugin(binary, AMP))
}

/// A JSON text is a JavaScript text too.
fn plugin(binary: &str, own: &str) -> String {
    format!("{}\n{own}", ASK.replace(BINARY, &Value::from(binary).to_string()))
}

#[cfg(test)]
mod tests {
    use super::{AMP, ASK, BINARY, OPENCODE, WAITS, amp_plugin, opencode_plugin};

    #[test]
    fn a_plugin_waits_as_long_as_is_said_here() {
        let text = ASK.split_once("TIMEOUT_MS = ").unwrap().1.split_once(';').unwrap().0;
        assert_eq!(text.replace('_', "").parse(), Ok(WAITS.as_millis()));
    }

    #[test]
    fn a_plugin_names_the_binary_once_and_quoted() {
        assert_eq!([ASK, AMP, OPENCODE].map(|text| text.matches(BINARY).count()), [1, 0, 0]);
        for plugin in [opencode_plugin, amp_plugin] {
            let source = plugin("C:\\Program Files\\\"portcullis\".exe");
            assert!(source.contains(r#"const PORTCULLIS = "C:\\Program Files\\\"portcullis\".exe";"#));
            assert!(!source.contains("@PORTCULLIS@"));
        }
    }
}
