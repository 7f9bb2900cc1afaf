//! The texts that a shell tool runs, however its agent spells them.

use serde_json::{Map, Value};

use super::Malformed;
use super::field::{self, COMMAND};
use super::text;

/// One thing that a shell tool is told to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Run {
    /// A script.
    Script(String),
    /// A patch: the argument list was `["apply_patch", …]`, which agents apply
    /// themselves.
    Patch(String),
}

/// Everything that the call runs, in source order.
///
/// A text is a script. A list is a program with its arguments, except in a field
/// that is a plural, where every item is a script or such a list of its own. A
/// list of one is a script, since no program has the name of a whole command. If
/// there are `args` beside a command, both readings count: with them and without.
///
/// # Errors
/// When a field that holds a command holds neither text nor a list of texts.
pub(super) fn runs(tool: &str, input: &Map<String, Value>) -> Result<Vec<Run>, Malformed> {
    let mut walk = Walk { tool, runs: Vec::new() };
    walk.object(input)?;
    Ok(walk.runs)
}

struct Walk<'a> {
    tool: &'a str,
    runs: Vec<Run>,
}

impl Walk<'_> {
    fn object(&mut self, object: &Map<String, Value>) -> Result<(), Malformed> {
        let arguments = self.arguments(object)?;
        for (field, value) in object {
            if COMMAND.has(field) {
                self.command(field, value, arguments.as_deref())?;
            } else if !field::is_content(field) {
                self.below(value)?;
            }
        }
        Ok(())
    }

    fn below(&mut self, value: &Value) -> Result<(), Malformed> {
        match value {
            Value::Object(object) => self.object(object),
            Value::Array(items) => items.iter().try_for_each(|item| self.below(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn command(&mut self, field: &str, value: &Value, arguments: Option<&str>) -> Result<(), Malformed> {
        match value {
            Value::Null => Ok(()),
            Value::String(text) => {
                if let Some(list @ Value::Array(_)) = field::embedded(field, text) {
                    return self.command(field, &list, arguments);
                }
                self.runs.push(Run::Script(text.clone()));
                if let Some(arguments) = arguments {
                    self.runs.push(Run::Script(format!("{text} {arguments}")));
                }
                Ok(())
            }
            Value::Array(items) if field::fold(field).ends_with('s') => {
                items.iter().try_for_each(|item| match item {
                    Value::String(text) => {
                        self.runs.push(Run::Script(text.clone()));
                        Ok(())
                    }
                    Value::Array(items) => self.list(field, items),
                    Value::Object(object) => self.nested(field, object),
                    Value::Null | Value::Bool(_) | Value::Number(_) => Err(self.wrong(field)),
                })
            }
            Value::Array(items) => self.list(field, items),
            Value::Object(object) => self.nested(field, object),
            Value::Bool(_) | Value::Number(_) => Err(self.wrong(field)),
        }
    }

    fn nested(&mut self, field: &str, object: &Map<String, Value>) -> Result<(), Malformed> {
        let before = self.runs.len();
        self.object(object)?;
        if self.runs.len() == before { Err(self.wrong(field)) } else { Ok(()) }
    }

    /// A program with its arguments.
    fn list(&mut self, field: &str, items: &[Value]) -> Result<(), Malformed> {
        let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let words = words.ok_or_else(|| self.wrong(field))?;
        match words.as_slice() {
            [] => return Err(self.wrong(field)),
            [only] => self.runs.push(Run::Script((*only).to_owned())),
            [program, patch @ ..] if is_patch_program(program) => {
                self.runs.push(Run::Patch(patch.join("\n")));
            }
            [program, flag, script] if is_shell(program) && is_script_flag(flag) => {
                self.runs.push(Run::Script((*script).to_owned()));
            }
            [program, ..] => {
                self.runs.push(Run::Script(quoted(&words)));
                // No program is called like a command: it is a list of scripts.
                if !is_bare(program) {
                    self.runs.extend(words.iter().map(|word| Run::Script((*word).to_owned())));
                }
            }
        }
        Ok(())
    }

    /// What stands in `args` beside a command, as a shell would need it.
    fn arguments(&self, object: &Map<String, Value>) -> Result<Option<String>, Malformed> {
        let mut found = object.iter().filter(|(field, value)| is_arguments(field) && !value.is_null());
        let Some((field, value)) = found.next() else { return Ok(None) };
        let commands = object.iter().filter(|(field, value)| COMMAND.has(field) && !value.is_null()).count();
        if commands > 0 && (commands > 1 || found.next().is_some()) {
            let reason = format!(
                "the tool `{}` has `{}` and more than one command for them: give one command",
                self.tool,
                text::shown(field),
            );
            return Err(Malformed::new(COMMAND.code, reason));
        }
        Ok(match value {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Array(items) if !items.is_empty() => {
                let words: Vec<String> = items
                    .iter()
                    .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                    .collect();
                Some(quoted(&words.iter().map(String::as_str).collect::<Vec<_>>()))
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        })
    }

    fn wrong(&self, field: &str) -> Malformed {
        field::wrong_type(self.tool, COMMAND, field)
    }
}

fn base_name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

fn is_arguments(field: &str) -> bool {
    matches!(field::fold(field).as_str(), "args" | "arguments" | "argv")
}

fn is_patch_program(program: &str) -> bool {
    matches!(base_name(program), "apply_patch" | "applypatch")
}

fn is_shell(program: &str) -> bool {
    matches!(base_name(program), "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash")
}

/// `-c`, or a bundle such as `-lc` that changes nothing about the text.
fn is_script_flag(flag: &str) -> bool {
    matches!(flag, "-c" | "-lc" | "-cl" | "-ic" | "-lic" | "-ilc" | "-ec" | "-xc" | "-euc")
}

fn is_bare(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|c| {
            c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':' | '=' | ',' | '@' | '%')
        })
}

/// `words` as one line for a POSIX shell.
fn quoted(words: &[&str]) -> String {
    let quote = |word: &&str| {
        if is_bare(word) { (*word).to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The directory that a script changes to before it calls `apply_patch`, for the
/// one form that agents take apart themselves: `cd DIR && apply_patch <<'EOF'`.
pub(super) fn patch_directory(script: &str) -> Option<String> {
    let rest = script.trim_start().strip_prefix("cd")?.strip_prefix(char::is_whitespace)?.trim_start();
    let (directory, rest) = match rest.chars().next()? {
        quote @ ('\'' | '"') => rest.get(1..)?.split_once(quote)?,
        _ => rest.split_at_checked(rest.find(|c: char| c.is_whitespace() || matches!(c, '&' | ';'))?)?,
    };
    rest.trim_start().starts_with(['&', ';', '\n']).then(|| directory.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Run, patch_directory, quoted, runs};
    use serde_json::json;

    fn of(input: &serde_json::Value) -> Vec<String> {
        let runs = runs("bash", input.as_object().unwrap()).unwrap();
        runs.into_iter()
            .map(|run| match run {
                Run::Script(text) => text,
                Run::Patch(text) => format!("patch {text}"),
            })
            .collect()
    }

    #[test]
    fn a_list_is_a_program_with_its_arguments() {
        assert_eq!(of(&json!({"command": ["rm", "-rf", "a b"]})), ["rm -rf 'a b'"]);
        assert_eq!(of(&json!({"command": ["bash", "-lc", "rm -rf x"]})), ["rm -rf x"]);
        assert_eq!(of(&json!({"command": ["bash", "-c", "rm $1", "sh", "x"]})), ["bash -c 'rm $1' sh x"]);
        assert_eq!(of(&json!({"command": ["ls; rm -rf x"]})), ["ls; rm -rf x"]);
        assert_eq!(
            of(&json!({"command": ["git status", "rm x"]})),
            ["'git status' 'rm x'", "git status", "rm x"]
        );
        assert_eq!(of(&json!({"command": ["apply_patch", "P"]})), ["patch P"]);
    }

    #[test]
    fn a_plural_is_a_list_of_commands() {
        assert_eq!(of(&json!({"commands": ["ls", "rm -rf x"]})), ["ls", "rm -rf x"]);
        assert_eq!(of(&json!({"commands": "[\"ls\", \"rm -rf x\"]"})), ["ls", "rm -rf x"]);
        assert_eq!(of(&json!({"commands": [["rm", "-rf", "x"], {"command": "ls"}]})), ["rm -rf x", "ls"]);
    }

    #[test]
    fn arguments_beside_a_command_count_both_ways() {
        assert_eq!(of(&json!({"command": "rm", "args": ["-rf", "a b"]})), ["rm", "rm -rf 'a b'"]);
        assert_eq!(of(&json!({"task": {"command": "rm", "args": "-rf x"}})), ["rm", "rm -rf x"]);
    }

    #[test]
    fn what_is_no_text_is_malformed() {
        for input in
            [json!({"command": 1}), json!({"cmd": [1]}), json!({"command": []}), json!({"commands": [{}]})]
        {
            assert_eq!(runs("bash", input.as_object().unwrap()).unwrap_err().code, "input/no-command");
        }
    }

    #[test]
    fn quoting_keeps_quotes() {
        assert_eq!(quoted(&["echo", "it's", ""]), r"echo 'it'\''s' ''");
    }

    #[test]
    fn the_directory_of_a_patch_is_seen() {
        assert_eq!(patch_directory("cd /x && apply_patch <<'E'").as_deref(), Some("/x"));
        assert_eq!(patch_directory("cd '/a b' && apply_patch").as_deref(), Some("/a b"));
        assert_eq!(patch_directory("apply_patch <<'E'"), None);
    }
}
