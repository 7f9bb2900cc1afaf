//! Where in the arguments a command, a path or a URL may stand.
//!
//! A field's name is compared without case, `_` and `-`, so `filePath`,
//! `file_path` and `FilePath` are one entry here. Every field of a role that a
//! call carries gives its effect, at whatever depth: one that a tool ignores
//! must not hide the one that it obeys.

use portcullis_model::input::strict_value;
use serde_json::{Map, Value};

use super::Malformed;
use super::text::shown;

/// What a field's value means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Role {
    /// The word for it in messages and in the reference.
    pub(super) name: &'static str,
    /// The fields, folded.
    pub(super) fields: &'static [&'static str],
    /// The code for a value of the wrong type.
    pub(super) code: &'static str,
}

pub(super) const COMMAND: Role = Role {
    name: "command",
    fields: &[
        "command",
        "cmd",
        "commandline",
        "shellcommand",
        "bashcommand",
        "script",
        "commands",
        "cmds",
        "scripts",
    ],
    code: "input/no-command",
};

pub(super) const CODE: Role = Role {
    name: "code",
    fields: &["code", "source", "script", "input", "command", "cell"],
    code: "input/no-command",
};

pub(super) const KEYS: Role = Role {
    name: "keys",
    fields: &["chars", "input", "text", "keys", "command", "data"],
    code: "input/no-command",
};

pub(super) const PATH: Role = Role {
    name: "path",
    fields: &[
        "path",
        "filepath",
        "absolutepath",
        "absolutefilepath",
        "relativepath",
        "targetfile",
        "targetpath",
        "target",
        "notebookpath",
        "targetnotebook",
        "notebook",
        "filename",
        "file",
        "dirpath",
        "directorypath",
        "directory",
        "dir",
        "folder",
        "relativeworkspacepath",
        "targetdirectory",
        "searchpath",
        "searchdirectory",
        "outputpath",
        "savepath",
        "destination",
        "imagepath",
        "uri",
        "fileuri",
        "paths",
        "files",
        "filepaths",
        "filenames",
        "targetfiles",
        "imagepaths",
        "referencefiles",
        "directories",
    ],
    code: "input/no-path",
};

pub(super) const INCLUDE: Role =
    Role { name: "inclusion pattern", fields: &["include", "patterns", "globs"], code: "input/no-path" };

pub(super) const SOURCE: Role = Role {
    name: "source",
    fields: &["source", "src", "from", "sourcepath", "sourcefile", "oldpath", "oldname", "sources"],
    code: "input/no-path",
};

pub(super) const DESTINATION: Role = Role {
    name: "destination",
    fields: &[
        "destination",
        "dest",
        "dst",
        "to",
        "destinationpath",
        "destpath",
        "destinationfile",
        "newpath",
        "newname",
        "target",
        "targetpath",
    ],
    code: "input/no-path",
};

pub(super) const PATTERN: Role =
    Role { name: "pattern", fields: &["pattern", "patterns", "globpattern", "query"], code: "input/no-path" };

pub(super) const PATCH: Role = Role {
    name: "patch",
    fields: &["patch", "patchtext", "input", "command", "diff", "patches", "content", "text"],
    code: "input/no-path",
};

pub(super) const URL: Role = Role {
    name: "URL",
    fields: &["url", "uri", "urls", "uris", "link", "links", "href"],
    code: "input/no-url",
};

/// Looked at only when no field of [`URL`] is there.
pub(super) const PROMPT: Role = Role { name: "prompt", fields: &["prompt", "query"], code: "input/no-url" };

/// Looked for at the top of the arguments only.
pub(super) const DIRECTORY: Role = Role {
    name: "working directory",
    fields: &["workdir", "cwd", "workingdirectory", "workingdir", "dirpath", "directory"],
    code: "input/cwd",
};

pub(super) const SERVER: Role =
    Role { name: "server", fields: &["server", "servername", "mcpserver"], code: "input/no-mcp-tool" };

pub(super) const SERVER_TOOL: Role =
    Role { name: "tool", fields: &["tool", "toolname"], code: "input/no-mcp-tool" };

pub(super) const CALLS: Role =
    Role { name: "calls", fields: &["toolcalls", "tooluses", "calls", "invocations"], code: "input/batch" };

pub(super) const CALL_NAME: Role =
    Role { name: "tool", fields: &["tool", "toolname", "name", "recipientname"], code: "input/batch" };

pub(super) const CALL_INPUT: Role = Role {
    name: "parameters",
    fields: &["parameters", "params", "input", "toolinput", "args", "arguments"],
    code: "input/batch",
};

/// Every role, for the reference and for tests.
pub(super) const ROLES: [Role; 16] = [
    COMMAND,
    CODE,
    KEYS,
    DIRECTORY,
    PATH,
    INCLUDE,
    PATTERN,
    SOURCE,
    DESTINATION,
    PATCH,
    URL,
    PROMPT,
    SERVER,
    SERVER_TOOL,
    CALLS,
    CALL_INPUT,
];

/// Fields that hold text to be written, or an environment: what looks like a
/// path inside is none.
const CONTENT: &[&str] = &[
    "content",
    "contents",
    "filetext",
    "newstring",
    "oldstring",
    "newstr",
    "oldstr",
    "newsource",
    "metadata",
    "env",
    "headers",
];

/// Fields that some agents send as JSON within a string.
const LISTS: &[&str] = &[
    "edits",
    "files",
    "paths",
    "filepaths",
    "operations",
    "requests",
    "changes",
    "replacements",
    "replacementchunks",
    "commands",
    "urls",
    "toolcalls",
    "tooluses",
];

/// A field's name without case, `_` and `-`.
pub(super) fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).collect()
}

impl Role {
    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.contains(&fold(field).as_str())
    }
}

pub(super) fn is_content(field: &str) -> bool {
    CONTENT.contains(&fold(field).as_str())
}

/// The list that `text` spells in JSON, when `field` is one that holds lists.
pub(super) fn embedded(field: &str, text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['[', '{']) || !LISTS.contains(&fold(field).as_str()) {
        return None;
    }
    strict_value(text).ok()
}

/// A text that stands in a field of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Which of the roles asked for.
    pub(super) role: usize,
    pub(super) text: String,
}

/// Every text of `roles` in `input`, in source order, empty ones left out. A
/// field that two roles have counts for the first.
///
/// # Errors
/// When a field of a role holds a number or a truth value.
pub(super) fn find(tool: &str, input: &Map<String, Value>, roles: &[Role]) -> Result<Vec<Found>, Malformed> {
    let mut walk = Walk { tool, roles, found: Vec::new(), embedded: true };
    walk.object(input)?;
    Ok(walk.found)
}

/// The texts of `find`, whatever their role.
pub(super) fn texts(
    tool: &str,
    input: &Map<String, Value>,
    roles: &[Role],
) -> Result<Vec<String>, Malformed> {
    Ok(find(tool, input, roles)?.into_iter().map(|found| found.text).collect())
}

/// The texts of one role.
pub(super) fn of_role(found: &[Found], role: usize) -> impl Iterator<Item = &str> {
    found.iter().filter(move |found| found.role == role).map(|found| found.text.as_str())
}

struct Walk<'a> {
    tool: &'a str,
    roles: &'a [Role],
    found: Vec<Found>,
    /// False inside a list that came as a string, so that strings do not nest.
    embedded: bool,
}

impl Walk<'_> {
    fn role(&self, field: &str) -> Option<(usize, Role)> {
        self.roles.iter().copied().enumerate().find(|(_, role)| role.has(field))
    }

    fn push(&mut self, role: usize, text: &str) {
        if !text.is_empty() {
            self.found.push(Found { role, text: text.to_owned() });
        }
    }

    fn object(&mut self, object: &Map<String, Value>) -> Result<(), Malformed> {
        for (field, value) in object {
            match self.role(field) {
                Some(role) => self.value(role, field, value)?,
                None if is_content(field) => {}
                None => self.below(field, value)?,
            }
        }
        Ok(())
    }

    /// Looks for fields inside a value that is not of a role itself.
    fn below(&mut self, field: &str, value: &Value) -> Result<(), Malformed> {
        match value {
            Value::Object(object) => self.object(object),
            Value::Array(items) => items.iter().try_for_each(|item| self.below(field, item)),
            Value::String(text) => self.list(field, text).map_or(Ok(()), |list| {
                self.embedded = false;
                let done = self.below(field, &list);
                self.embedded = true;
                done
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn value(&mut self, role: (usize, Role), field: &str, value: &Value) -> Result<(), Malformed> {
        match value {
            Value::Null => Ok(()),
            Value::String(text) => match self.list(field, text) {
                Some(list) => {
                    self.embedded = false;
                    let done = self.value(role, field, &list);
                    self.embedded = true;
                    done
                }
                None => {
                    self.push(role.0, text);
                    Ok(())
                }
            },
            Value::Array(items) => items.iter().try_for_each(|item| self.value(role, field, item)),
            Value::Object(object) => {
                let before = self.found.len();
                self.object(object)?;
                // A map from path to content.
                if self.found.len() == before && matches!(fold(field).as_str(), "files" | "paths") {
                    object.keys().for_each(|key| self.push(role.0, key));
                }
                Ok(())
            }
            Value::Bool(_) | Value::Number(_) => Err(wrong_type(self.tool, role.1, field)),
        }
    }

    fn list(&self, field: &str, text: &str) -> Option<Value> {
        self.embedded.then(|| embedded(field, text)).flatten()
    }
}

/// A field of `role` that is not text.
pub(super) fn wrong_type(tool: &str, role: Role, field: &str) -> Malformed {
    Malformed::new(
        role.code,
        format!("the field `{}` of the tool `{tool}` must be text: it is the {}", shown(field), role.name),
    )
}

#[cfg(test)]
mod tests {
    use super::{CALL_NAME, CONTENT, LISTS, ROLES, fold};

    #[test]
    fn the_lists_of_fields_are_folded() {
        let roles = ROLES.iter().chain([&CALL_NAME]).flat_map(|role| role.fields);
        for field in roles.chain(CONTENT).chain(LISTS) {
            assert_eq!(&fold(field), field);
        }
    }
}
