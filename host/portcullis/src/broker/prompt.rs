//! Prompts of a server, as commands that a person types.

use portcullis_mcp::client::Listed;
use portcullis_model::extension::CommandEntry;
use portcullis_runtime::Digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::ServerError;
use crate::frontmatter::one_line;
use crate::typed::words;

/// Prompts of one server that are kept. The others are left out.
const PROMPTS_MAX: usize = 1000;
/// Arguments of one.
const ARGUMENTS_MAX: usize = 50;
/// Bytes of the text that one comes to.
const TEXT_MAX: usize = 1 << 20;
/// Characters of a name, and of a description.
const NAME_MAX: usize = 128;
const DESCRIPTION_MAX: usize = 200;

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Prompt {
    pub(super) name: String,
    description: String,
    arguments: Vec<Argument>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Argument {
    name: String,
    is_required: bool,
}

/// The prompts of a list. One that cannot be typed is left out.
pub(super) fn prompts(listed: &Listed) -> Vec<Prompt> {
    listed.entries.iter().filter_map(Prompt::read).take(PROMPTS_MAX).collect()
}

impl Prompt {
    fn read(prompt: &Value) -> Option<Self> {
        let name = prompt.get("name")?.as_str().filter(|name| is_name(name))?;
        let text = |key| prompt.get(key).and_then(Value::as_str).map(one_line).unwrap_or_default();
        let description = Some(text("description")).filter(|own| !own.is_empty());
        let description = description.unwrap_or_else(|| text("title"));
        let argument = |argument: &Value| {
            let is_required = argument.get("required").and_then(Value::as_bool) == Some(true);
            let name = argument.get("name")?.as_str().filter(|name| is_name(name))?;
            Some(Argument { name: name.to_owned(), is_required })
        };
        let arguments = prompt.get("arguments").and_then(Value::as_array);
        let arguments = arguments.into_iter().flatten().filter_map(argument).take(ARGUMENTS_MAX);
        Some(Self {
            name: name.to_owned(),
            description: description.chars().take(DESCRIPTION_MAX).collect(),
            arguments: arguments.collect(),
        })
    }

    /// The command that stands for it: whose it is stands in its name.
    pub(super) fn entry(&self, server: &str) -> CommandEntry {
        let hints = self
            .arguments
            .iter()
            .map(|own| if own.is_required { format!("<{}>", own.name) } else { format!("[{}]", own.name) });
        let arguments = hints.collect::<Vec<_>>().join(" ");
        let name = format!("{server}:{}", self.name);
        let digest = Digest::of(format!("{name}\0{}\0{arguments}", self.description).as_bytes());
        CommandEntry {
            arguments,
            from: format!("server:{server}"),
            digest: Some(digest.to_string()),
            ..CommandEntry::new(name, self.description.clone())
        }
    }

    /// What was typed, by the names of the arguments: a word each, and the last one takes
    /// what is left.
    pub(super) fn arguments(&self, typed: &str) -> Result<Map<String, Value>, ServerError> {
        let words = words(typed);
        let mut all = Map::new();
        for (nth, own) in self.arguments.iter().enumerate() {
            let is_last = nth + 1 == self.arguments.len();
            let value = match words.get(nth..) {
                // One argument is the line, as it was typed.
                Some([_, ..]) if is_last && nth == 0 => typed.trim().to_owned(),
                Some([_, ..]) if is_last => words.get(nth..).unwrap_or_default().join(" "),
                Some([word, ..]) => word.clone(),
                Some([]) | None if own.is_required => {
                    let hint = self.entry("").arguments;
                    return Err(refused(format!("`{}` is missing", own.name), format!("type {hint}")));
                }
                Some([]) | None => continue,
            };
            all.insert(own.name.clone(), Value::String(value));
        }
        Ok(all)
    }
}

/// The text of a prompt's messages. What is no text is named in its place.
pub(super) fn text(result: &Value) -> Result<String, ServerError> {
    let messages = result.get("messages").and_then(Value::as_array);
    let messages = messages.ok_or_else(|| refused("the prompt has no messages", "tell its makers"))?;
    let parts: Vec<String> = messages.iter().map(|message| part(message.get("content"))).collect();
    let text = parts.join("\n\n");
    if text.len() > TEXT_MAX {
        return Err(refused(format!("the prompt has more than {TEXT_MAX} bytes"), "ask for less"));
    }
    Ok(text)
}

fn refused(reason: impl Into<String>, remedy: impl Into<String>) -> ServerError {
    ServerError::new("server/prompt", reason, remedy)
}

fn part(content: Option<&Value>) -> String {
    let of = |pointer| content.and_then(|content| content.pointer(pointer)).and_then(Value::as_str);
    let kind = of("/type").unwrap_or("unknown");
    let text = match kind {
        "text" => of("/text"),
        "resource" => of("/resource/text"),
        _ => None,
    };
    text.map_or_else(|| format!("(a part of the kind `{}` is left out)", one_line(kind)), str::to_owned)
}

/// Letters, digits, and what people put between them.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':');
    (1..=NAME_MAX).contains(&name.chars().count()) && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Prompt, text};

    fn prompt() -> Prompt {
        let arguments = json!([{ "name": "issue", "required": true }, { "name": "branch" }, { "name": 7 }]);
        Prompt::read(&json!({ "name": "fix", "title": "Fix  it", "arguments": arguments })).unwrap()
    }

    #[test]
    fn a_prompt_is_a_command_with_its_servers_name() {
        let entry = prompt().entry("github");
        assert_eq!((entry.name.as_str(), entry.from.as_str()), ("github:fix", "server:github"));
        assert_eq!((entry.arguments.as_str(), entry.description.as_str()), ("<issue> [branch]", "Fix it"));
        for name in
            [json!("a b"), json!(""), json!("a\u{1b}[31m"), json!("n".repeat(129)), json!(7), Value::Null]
        {
            assert_eq!(Prompt::read(&json!({ "name": name })), None, "{name}");
        }
    }

    #[test]
    fn what_was_typed_is_given_by_the_names_of_the_arguments() {
        let given = |typed| prompt().arguments(typed).map(Value::Object);
        assert_eq!(given("42").unwrap(), json!({ "issue": "42" }));
        assert_eq!(given("'4 2' the main one").unwrap(), json!({ "issue": "4 2", "branch": "the main one" }));
        let error = given(" ").unwrap_err().told();
        assert!(error.contains("`issue` is missing; type <issue> [branch]"), "{error}");
        let one = Prompt::read(&json!({ "name": "ask", "arguments": [{ "name": "question" }] })).unwrap();
        assert_eq!(Value::Object(one.arguments("why \"so\"").unwrap()), json!({ "question": "why \"so\"" }));
        let none = Prompt::read(&json!({ "name": "none" })).unwrap();
        assert!(none.arguments("anything").unwrap().is_empty());
    }

    #[test]
    fn the_text_is_that_of_all_messages_and_what_is_no_text_is_named() {
        let say = |content: Value| json!({ "role": "user", "content": content });
        let result = json!({ "messages": [
            say(json!({ "type": "text", "text": "one" })),
            say(json!({ "type": "resource", "resource": { "uri": "x://y", "text": "two" } })),
            say(json!({ "type": "image", "data": "…" })),
            say(json!("odd")),
        ] });
        let expected = "one\n\ntwo\n\n(a part of the kind `image` is left out)\n\n(a part of the kind `unknown` is left out)";
        assert_eq!(text(&result).unwrap(), expected);
        assert!(text(&json!({ "messages": "none" })).is_err());
        let long = say(json!({ "type": "text", "text": "a".repeat(super::TEXT_MAX + 1) }));
        assert!(text(&json!({ "messages": [long] })).is_err());
    }
}
