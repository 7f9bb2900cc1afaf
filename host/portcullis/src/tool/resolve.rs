//! From a call to its effects.

use std::collections::HashSet;

use portcullis_model::call::{Effect, EffectKind, ToolCall};
use portcullis_model::input::strict_value;
use serde_json::{Map, Value};

use super::field::{self, Role};
use super::malformed::{Malformed, bad_path, no_command, no_path, no_url};
use super::name::{self, Named};
use super::path::{Directory, file_uri};
use super::script::{self, Run};
use super::table::{Language, Rule};
use super::text::{self, shown};
use super::{Resolved, mcp, patch};

/// Batches within batches.
const DEPTH_MAX: usize = 4;

/// Calls of a batch, nested ones included.
const CALLS_MAX: usize = 1000;

/// Effects of one call, repeated ones included. What is judged must be small
/// enough to be judged in time.
const EFFECTS_MAX: usize = 10_000;

pub(super) fn resolve(call: &ToolCall, home: Option<&str>) -> Result<Resolved, Malformed> {
    // The model has not sent this path, so it is not told it.
    let cwd = Directory::new(&call.cwd).map_err(|_| {
        Malformed::new("input/cwd", "the directory that the call runs in is not an absolute path")
    })?;
    let mut work = Work {
        cwd,
        home,
        effects: Vec::new(),
        seen: HashSet::new(),
        scripts: Vec::new(),
        powershell: Vec::new(),
        runs_in: None,
        own_directory: false,
        unknown: false,
        inner: Vec::new(),
        calls: 0,
        spent: 0,
    };
    let tool = work.call(&call.tool, call.input.value(), 0)?;
    let cwd = work.own_directory.then(|| work.runs_in.map(|directory| directory.text())).flatten();
    Ok(Resolved {
        tool,
        effects: work.effects,
        scripts: work.scripts,
        powershell: work.powershell,
        cwd,
        inner: work.inner,
        known: !work.unknown,
    })
}

struct Work<'h> {
    cwd: Directory,
    home: Option<&'h str>,
    effects: Vec<Effect>,
    seen: HashSet<Effect>,
    scripts: Vec<String>,
    powershell: Vec<String>,
    /// Where the scripts run, once there are any.
    runs_in: Option<Directory>,
    own_directory: bool,
    unknown: bool,
    inner: Vec<String>,
    calls: usize,
    spent: usize,
}

impl Work<'_> {
    /// Adds the effects of one call, and returns its canonical name.
    fn call(&mut self, name: &str, input: &Value, depth: usize) -> Result<String, Malformed> {
        let named = name::look_up(name)?;
        let Value::Object(input) = input else {
            let reason = format!("the arguments of the tool `{}` are not a JSON object", shown(name));
            return Err(Malformed::new("input/not-an-object", reason));
        };
        match named {
            Named::Known(tool) => {
                let other = self.known(name, tool.rule, input, depth)?;
                Ok(other.unwrap_or_else(|| tool.name.to_owned()))
            }
            Named::Mcp { server, tool } => {
                self.mcp_scripts(server, tool, input)?;
                self.mcp(server, tool)
            }
            Named::Unknown => {
                self.unknown = true;
                self.add(EffectKind::Opaque, name.to_owned())?;
                Ok(name.to_owned())
            }
        }
    }

    /// Applies a rule. Returns the canonical name when it is not the row's own.
    fn known(
        &mut self,
        name: &str,
        rule: Rule,
        input: &Map<String, Value>,
        depth: usize,
    ) -> Result<Option<String>, Malformed> {
        match rule {
            Rule::Run(Language::Posix) => return self.posix(name, input),
            Rule::Run(Language::PowerShell) => self.power_shell(name, input)?,
            Rule::Run(Language::Other) => self.code(name, input)?,
            Rule::Type => {
                self.settle(name, input)?;
                for text in field::texts(name, input, &[field::KEYS])? {
                    self.script(text)?;
                }
            }
            Rule::Paths(kind) => self.paths(name, kind, input, &[field::PATH])?,
            Rule::ReadMany => self.paths(name, EffectKind::Read, input, &[field::PATH, field::INCLUDE])?,
            Rule::ReadOrHere => {
                self.here(name, input)?;
            }
            Rule::Glob => self.glob(name, input)?,
            Rule::Transfer(kind) => self.transfer(name, kind, input)?,
            Rule::Patch => self.patch(name, input)?,
            Rule::Editor => return self.editor(name, input).map(|tool| Some(tool.to_owned())),
            Rule::Fetch => {
                if !self.urls(name, input)? {
                    return Err(no_url(name));
                }
            }
            Rule::Visit => {
                self.urls(name, input)?;
            }
            Rule::Download => {
                if !self.urls(name, input)? {
                    return Err(no_url(name));
                }
                // The first role that has a field takes it: `uri` is a URL here.
                let found = field::find(name, input, &[field::URL, field::PATH])?;
                let paths: Vec<&str> = field::of_role(&found, 1).collect();
                self.each_path(name, EffectKind::Write, &paths)?;
            }
            Rule::McpCall => return self.mcp_call(name, input),
            Rule::Batch => self.batch(name, input, depth)?,
            Rule::Nothing => {}
        }
        Ok(None)
    }

    fn spend(&mut self) -> Result<(), Malformed> {
        self.spent = self.spent.saturating_add(1);
        if self.spent <= EFFECTS_MAX {
            return Ok(());
        }
        let reason = "the call does more than 10000 things at once: split it into smaller calls";
        Err(Malformed::new("input/too-many", reason))
    }

    fn add(&mut self, kind: EffectKind, target: String) -> Result<(), Malformed> {
        self.spend()?;
        let effect = Effect { kind, target };
        if self.seen.insert(effect.clone()) {
            self.effects.push(effect);
        }
        Ok(())
    }

    fn add_path(
        &mut self,
        name: &str,
        kind: EffectKind,
        from: &Directory,
        path: &str,
    ) -> Result<(), Malformed> {
        for path in from.readings(path, self.home).map_err(|e| bad_path(name, path, e))? {
            self.add(kind, path)?;
        }
        Ok(())
    }

    fn script(&mut self, text: String) -> Result<(), Malformed> {
        self.add(EffectKind::Run, text.clone())?;
        self.scripts.push(text);
        Ok(())
    }

    /// Notes the directory that a call runs in: its own, or the session's.
    fn settle(&mut self, name: &str, input: &Map<String, Value>) -> Result<Directory, Malformed> {
        let mut own: Option<Directory> = None;
        for (field, value) in input.iter().filter(|(field, _)| field::DIRECTORY.has(field)) {
            self.spend()?;
            let directory = match value {
                Value::Null => continue,
                Value::String(directory) if directory.is_empty() => continue,
                Value::String(directory) => directory,
                Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    return Err(field::wrong_type(name, field::DIRECTORY, field));
                }
            };
            let expanded = self.home.and_then(|home| text::below_home(directory, home));
            let directory = expanded.as_ref().unwrap_or(directory);
            let directory = self.cwd.join(directory).map_err(|e| bad_path(name, directory, e))?;
            if own.as_ref().is_some_and(|own| *own != directory) {
                let reason = format!("the tool `{name}` is told to run in more than one directory: give one");
                return Err(Malformed::new("input/cwd", reason));
            }
            own = Some(directory);
        }
        self.own_directory |= own.is_some();
        let directory = own.unwrap_or_else(|| self.cwd.clone());
        if self.runs_in.as_ref().is_some_and(|runs_in| *runs_in != directory) {
            let reason = "the calls of a batch run in different directories: make them separate calls";
            return Err(Malformed::new("input/cwd", reason));
        }
        self.runs_in = Some(directory.clone());
        Ok(directory)
    }

    fn posix(&mut self, name: &str, input: &Map<String, Value>) -> Result<Option<String>, Malformed> {
        let directory = self.settle(name, input)?;
        let runs = script::runs(name, input)?;
        if runs.is_empty() {
            return Err(no_command(name));
        }
        let only_patches = runs.iter().all(|run| matches!(run, Run::Patch(_)));
        for run in runs {
            match run {
                Run::Script(text) => {
                    let patch = text.contains("apply_patch") || text.contains("applypatch");
                    let changes = if patch { patch::changes(&text) } else { Vec::new() };
                    let from = script::patch_directory(&text)
                        .and_then(|path| directory.join(&path).ok())
                        .unwrap_or_else(|| directory.clone());
                    self.script(text)?;
                    for change in changes {
                        self.add_path(name, change.kind, &from, &change.path)?;
                    }
                }
                Run::Patch(text) => {
                    let changes = patch::changes(&text);
                    if changes.is_empty() {
                        return Err(no_path(name));
                    }
                    for change in changes {
                        self.add_path(name, change.kind, &directory, &change.path)?;
                    }
                }
            }
        }
        Ok(only_patches.then(|| "patch".to_owned()))
    }

    fn power_shell(&mut self, name: &str, input: &Map<String, Value>) -> Result<(), Malformed> {
        self.settle(name, input)?;
        let runs = script::runs(name, input)?;
        if runs.is_empty() {
            return Err(no_command(name));
        }
        for run in runs {
            let (Run::Script(text) | Run::Patch(text)) = run;
            self.add(EffectKind::Run, text.clone())?;
            self.powershell.push(text);
        }
        Ok(())
    }

    fn code(&mut self, name: &str, input: &Map<String, Value>) -> Result<(), Malformed> {
        self.settle(name, input)?;
        let texts = field::texts(name, input, &[field::CODE])?;
        if texts.is_empty() {
            return Err(no_command(name));
        }
        for text in texts {
            self.add(EffectKind::Run, text)?;
        }
        Ok(())
    }

    fn paths(
        &mut self,
        name: &str,
        kind: EffectKind,
        input: &Map<String, Value>,
        roles: &[Role],
    ) -> Result<(), Malformed> {
        let paths = field::texts(name, input, roles)?;
        self.each_path(name, kind, &paths.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn each_path(&mut self, name: &str, kind: EffectKind, paths: &[&str]) -> Result<(), Malformed> {
        if paths.is_empty() {
            return Err(no_path(name));
        }
        let cwd = self.cwd.clone();
        paths.iter().try_for_each(|path| self.add_path(name, kind, &cwd, path))
    }

    /// Reads what the call names, or the call's own directory. Returns where.
    fn here(&mut self, name: &str, input: &Map<String, Value>) -> Result<Vec<String>, Malformed> {
        let mut paths = field::texts(name, input, &[field::PATH])?;
        if paths.is_empty() {
            paths.push(".".to_owned());
        }
        let cwd = self.cwd.clone();
        for path in &paths {
            self.add_path(name, EffectKind::Read, &cwd, path)?;
        }
        Ok(paths)
    }

    fn glob(&mut self, name: &str, input: &Map<String, Value>) -> Result<(), Malformed> {
        let bases = self.here(name, input)?;
        for pattern in field::texts(name, input, &[field::PATTERN])? {
            if !self.cwd.leaves(&pattern) {
                continue;
            }
            for base in &bases {
                let base = self.cwd.join(base).map_err(|e| bad_path(name, base, e))?;
                self.add_path(name, EffectKind::Read, &base, text::literal_part(&pattern))?;
            }
        }
        Ok(())
    }

    fn transfer(
        &mut self,
        name: &str,
        kind: EffectKind,
        input: &Map<String, Value>,
    ) -> Result<(), Malformed> {
        let found = field::find(name, input, &[field::DESTINATION, field::SOURCE, field::PATH])?;
        let (to, from): (Vec<_>, Vec<_>) = found.iter().partition(|found| found.role == 0);
        if to.is_empty() || from.is_empty() {
            let reason = format!("the tool `{name}` needs a source and a destination, each as text");
            return Err(Malformed::new("input/no-path", reason));
        }
        let cwd = self.cwd.clone();
        for found in &found {
            let kind = if found.role == 0 { EffectKind::Write } else { kind };
            self.add_path(name, kind, &cwd, &found.text)?;
        }
        Ok(())
    }

    fn patch(&mut self, name: &str, input: &Map<String, Value>) -> Result<(), Malformed> {
        let directory = self.settle(name, input)?;
        // `directory` is where the patch applies, and no file of it.
        let mut touches = false;
        for found in field::find(name, input, &[field::DIRECTORY, field::PATCH, field::PATH])? {
            match found.role {
                0 => {}
                1 => {
                    for change in patch::changes(&found.text) {
                        touches = true;
                        self.add_path(name, change.kind, &directory, &change.path)?;
                    }
                }
                _ => {
                    touches = true;
                    self.add_path(name, EffectKind::Write, &directory, &found.text)?;
                }
            }
        }
        if touches { Ok(()) } else { Err(no_path(name)) }
    }

    /// The tool whose field `command` is a verb. A verb that is not known to
    /// leave the file alone changes it.
    fn editor(&mut self, name: &str, input: &Map<String, Value>) -> Result<&'static str, Malformed> {
        let mut tool = None;
        for (_, verb) in input.iter().filter(|(field, _)| field::fold(field) == "command") {
            let verb = match verb.as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
                "view" | "read" => "read",
                "create" | "write" => "write",
                "delete" | "remove" => "delete",
                "rename" | "move" => "move",
                _ => "edit",
            };
            // Two spellings of the field: whichever the tool obeys is no view.
            tool = Some(if tool.is_some_and(|other| other != verb) { "edit" } else { verb });
        }
        let tool = tool.unwrap_or("edit");
        match tool {
            "read" => self.paths(name, EffectKind::Read, input, &[field::PATH])?,
            "delete" => self.paths(name, EffectKind::Delete, input, &[field::PATH])?,
            "move" => self.transfer(name, EffectKind::Delete, input)?,
            _ => self.paths(name, EffectKind::Write, input, &[field::PATH])?,
        }
        Ok(tool)
    }

    /// Adds every URL, and says whether there was one.
    fn urls(&mut self, name: &str, input: &Map<String, Value>) -> Result<bool, Malformed> {
        let mut urls = field::texts(name, input, &[field::URL])?;
        if urls.is_empty() {
            // Gemini's `web_fetch` has its URLs in the prompt.
            for prompt in field::texts(name, input, &[field::PROMPT])? {
                urls.extend(text::urls(&prompt).map(str::to_owned));
            }
        }
        for url in &urls {
            self.add(EffectKind::Fetch, url.clone())?;
            if file_uri(url).is_some() {
                let cwd = self.cwd.clone();
                self.add_path(name, EffectKind::Read, &cwd, url)?;
            }
        }
        Ok(!urls.is_empty())
    }

    fn mcp(&mut self, server: &str, tool: &str) -> Result<String, Malformed> {
        self.add(EffectKind::Mcp, format!("{server}/{tool}"))?;
        Ok(format!("mcp:{server}/{tool}"))
    }

    /// A server may offer a shell. Then its commands are scripts, like those of any shell tool.
    fn mcp_scripts(&mut self, server: &str, tool: &str, input: &Map<String, Value>) -> Result<(), Malformed> {
        if !mcp::names_a_shell(server) && !mcp::names_a_shell(tool) {
            return Ok(());
        }
        // Nobody knows what this tool expects, so what is no command is no error.
        for run in script::runs(tool, input).unwrap_or_default() {
            let (Run::Script(text) | Run::Patch(text)) = run;
            self.script(text)?;
        }
        Ok(())
    }

    fn mcp_call(&mut self, name: &str, input: &Map<String, Value>) -> Result<Option<String>, Malformed> {
        // Only the top counts: what lies below is the arguments of the tool.
        let texts = |role: Role| -> Option<Vec<&str>> {
            input.iter().filter(|(field, _)| role.has(field)).map(|(_, value)| value.as_str()).collect()
        };
        let only = |role| match texts(role).as_deref() {
            Some([first, rest @ ..]) if rest.iter().all(|other| other == first) => Some(*first),
            _ => None,
        };
        let action = input.get("action").and_then(Value::as_str);
        if matches!(action, Some("list" | "search"))
            && texts(field::SERVER_TOOL).is_some_and(|tools| tools.is_empty())
        {
            return Ok(None);
        }
        match (only(field::SERVER), only(field::SERVER_TOOL)) {
            (Some(server), Some(tool)) if mcp::is_server(server) && mcp::is_tool(tool) => {
                for (_, value) in input.iter().filter(|(field, _)| field::CALL_INPUT.has(field)) {
                    let parsed = value.as_str().and_then(|text| strict_value(text).ok());
                    if let Value::Object(arguments) = parsed.as_ref().unwrap_or(value) {
                        self.mcp_scripts(server, tool, arguments)?;
                    }
                }
                self.mcp(server, tool).map(Some)
            }
            _ => {
                let reason = format!("the tool `{name}` must name one `server` and one `tool` of it");
                Err(Malformed::new("input/no-mcp-tool", reason))
            }
        }
    }

    fn batch(&mut self, name: &str, input: &Map<String, Value>, depth: usize) -> Result<(), Malformed> {
        let malformed = |what: &str| Malformed::new("input/batch", format!("the tool `{name}` {what}"));
        if depth >= DEPTH_MAX {
            return Err(malformed("holds batches that are nested more than 4 deep"));
        }
        let mut found = false;
        for (field, value) in input.iter().filter(|(field, _)| field::CALLS.has(field)) {
            let parsed = value.as_str().and_then(|text| field::embedded(field, text));
            let Value::Array(calls) = parsed.as_ref().unwrap_or(value) else {
                return Err(malformed(&format!("needs a list of calls in `{}`", shown(field))));
            };
            for call in calls {
                found = true;
                self.calls = self.calls.saturating_add(1);
                if self.calls > CALLS_MAX {
                    return Err(malformed("holds more than 1000 calls"));
                }
                let call = call.as_object().ok_or_else(|| malformed("holds a call that is not an object"))?;
                let inner = only(call, field::CALL_NAME).and_then(Value::as_str);
                let inner = inner.ok_or_else(|| malformed("holds a call that does not name one tool"))?;
                let inner = inner.strip_prefix("functions.").unwrap_or(inner);
                let arguments = only(call, field::CALL_INPUT)
                    .ok_or_else(|| malformed("holds a call without `parameters`, or with two"))?;
                let parsed = arguments.as_str().and_then(|text| strict_value(text).ok());
                let tool = self.call(inner, parsed.as_ref().unwrap_or(arguments), depth.saturating_add(1))?;
                if !self.inner.contains(&tool) {
                    self.inner.push(tool);
                }
            }
        }
        if found { Ok(()) } else { Err(malformed("holds no calls: expected a list in `tool_calls`")) }
    }
}

/// The value of the one field of `role`; none when there is none or several.
fn only(object: &Map<String, Value>, role: Role) -> Option<&Value> {
    let mut found = object.iter().filter(|(field, _)| role.has(field)).map(|(_, value)| value);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}
