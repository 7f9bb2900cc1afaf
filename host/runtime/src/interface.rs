//! The host's side of the contract: what a guest may call.
//!
//! None of these functions waits for anything, and each of them returns an error
//! (which ends the call as a fault) rather than panic.

use std::sync::Arc;

use portcullis_model::limits::STORE_VALUE_MAX;
use portcullis_model::script;
use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::host::{call, clock, event, invocation, log, settings, store, terminal};
use crate::fault::NotGranted;
use crate::handle::{CallHandle, InvocationHandle, OccurrenceHandle, ScriptHandle};
use crate::packed;
use crate::setup::CallView;
use crate::state::CallState;

/// A log message is cut here, in bytes.
const MESSAGE_MAX: usize = 4 << 10;

impl log::Host for CallState {
    fn log(&mut self, level: String, message: String) -> Result<()> {
        let plugin = self.setup.name.as_str();
        let message = cut(&message, MESSAGE_MAX);
        match level.as_str() {
            "debug" => tracing::debug!(target: "portcullis::plugin", plugin, "{message}"),
            "warn" => tracing::warn!(target: "portcullis::plugin", plugin, "{message}"),
            "error" => tracing::error!(target: "portcullis::plugin", plugin, "{message}"),
            _ => tracing::info!(target: "portcullis::plugin", plugin, "{message}"),
        }
        Ok(())
    }
}

impl settings::Host for CallState {
    fn settings(&mut self) -> Result<String> {
        Ok(self.setup.settings.clone())
    }
}

impl store::Host for CallState {
    fn get(&mut self, key: String) -> Result<Option<String>> {
        Ok(self.setup.store.get(&self.setup.name, &self.session, &key))
    }

    fn set(&mut self, key: String, value: String) -> Result<Result<(), String>> {
        if value.len() > STORE_VALUE_MAX || key.len() > STORE_VALUE_MAX {
            return Ok(Err(format!("a key or a value may have {STORE_VALUE_MAX} bytes")));
        }
        Ok(self.setup.store.set(&self.setup.name, &self.session, &key, &value))
    }

    fn remove(&mut self, key: String) -> Result<()> {
        self.setup.store.remove(&self.setup.name, &self.session, &key);
        Ok(())
    }
}

impl clock::Host for CallState {
    fn now(&mut self) -> Result<clock::Moment> {
        if !self.setup.grant.clock {
            return Err(self.not_granted("clock"));
        }
        let now = crate::clock::now();
        Ok(clock::Moment {
            seconds: now.seconds,
            nanoseconds: now.nanoseconds,
            offset_seconds: now.offset_seconds,
            zone: now.zone,
        })
    }
}

impl terminal::Host for CallState {
    fn bell(&mut self) -> Result<()> {
        if !self.setup.grant.terminal {
            return Err(self.not_granted("terminal"));
        }
        self.setup.terminal.bell();
        Ok(())
    }
}

impl CallState {
    fn not_granted(&self, what: &'static str) -> wasmtime::Error {
        NotGranted { what, plugin: self.setup.name.clone() }.into()
    }

    fn call(&self, handle: &Resource<CallHandle>) -> Result<&Arc<dyn CallView>> {
        Ok(&self.table.get(handle)?.0)
    }

    fn script(&self, handle: &Resource<ScriptHandle>) -> Result<&script::Script> {
        let ScriptHandle(call, index) = self.table.get(handle)?;
        call.scripts().get(*index).ok_or_else(|| wasmtime::format_err!("a script that is gone"))
    }
}

impl call::Host for CallState {}

impl call::HostToolCall for CallState {
    fn id(&mut self, this: Resource<CallHandle>) -> Result<String> {
        Ok(self.call(&this)?.id().to_owned())
    }

    fn tool(&mut self, this: Resource<CallHandle>) -> Result<String> {
        Ok(self.call(&this)?.tool().to_owned())
    }

    fn input(&mut self, this: Resource<CallHandle>) -> Result<String> {
        Ok(self.call(&this)?.input().to_owned())
    }

    fn field(&mut self, this: Resource<CallHandle>, pointer: String) -> Result<Option<String>> {
        Ok(self.call(&this)?.field(&pointer))
    }

    fn cwd(&mut self, this: Resource<CallHandle>) -> Result<String> {
        Ok(self.call(&this)?.cwd().to_owned())
    }

    fn session_id(&mut self, this: Resource<CallHandle>) -> Result<String> {
        Ok(self.call(&this)?.session_id().to_owned())
    }

    fn effects(&mut self, this: Resource<CallHandle>) -> Result<Vec<call::Effect>> {
        let effects = self.call(&this)?.effects();
        Ok(effects
            .iter()
            .map(|effect| call::Effect {
                kind: effect.kind.as_str().to_owned(),
                target: effect.target.clone(),
            })
            .collect())
    }

    fn scripts(&mut self, this: Resource<CallHandle>) -> Result<Vec<Resource<ScriptHandle>>> {
        let call = Arc::clone(self.call(&this)?);
        let count = call.scripts().len();
        (0..count).map(|index| Ok(self.table.push(ScriptHandle(Arc::clone(&call), index))?)).collect()
    }

    fn drop(&mut self, this: Resource<CallHandle>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

impl call::HostScript for CallState {
    fn source(&mut self, this: Resource<ScriptHandle>) -> Result<String> {
        Ok(self.script(&this)?.source.clone())
    }

    fn complete(&mut self, this: Resource<ScriptHandle>) -> Result<bool> {
        Ok(self.script(&this)?.complete)
    }

    fn pipelines(&mut self, this: Resource<ScriptHandle>) -> Result<Vec<call::Pipeline>> {
        let pipelines = &self.script(&this)?.pipelines;
        Ok(pipelines
            .iter()
            .map(|pipeline| call::Pipeline { commands: pipeline.commands.iter().map(command).collect() })
            .collect())
    }

    fn packed(&mut self, this: Resource<ScriptHandle>) -> Result<Vec<u8>> {
        packed::pack(&self.script(&this)?.pipelines)
            .ok_or_else(|| wasmtime::format_err!("a script with a text of 2 GiB cannot be packed"))
    }

    fn drop(&mut self, this: Resource<ScriptHandle>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

impl event::Host for CallState {}

impl event::HostOccurrence for CallState {
    fn name(&mut self, this: Resource<OccurrenceHandle>) -> Result<String> {
        Ok(self.table.get(&this)?.0.name().to_owned())
    }

    fn session_id(&mut self, this: Resource<OccurrenceHandle>) -> Result<String> {
        Ok(self.table.get(&this)?.0.session_id().to_owned())
    }

    fn cwd(&mut self, this: Resource<OccurrenceHandle>) -> Result<String> {
        Ok(self.table.get(&this)?.0.cwd().to_owned())
    }

    fn call(&mut self, this: Resource<OccurrenceHandle>) -> Result<Option<Resource<CallHandle>>> {
        let call = self.table.get(&this)?.0.call();
        call.map(|call| Ok(self.table.push(CallHandle(call))?)).transpose()
    }

    fn text(&mut self, this: Resource<OccurrenceHandle>) -> Result<Option<String>> {
        Ok(self.table.get(&this)?.0.text().map(str::to_owned))
    }

    fn drop(&mut self, this: Resource<OccurrenceHandle>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

impl invocation::Host for CallState {}

impl invocation::HostInvocation for CallState {
    fn name(&mut self, this: Resource<InvocationHandle>) -> Result<String> {
        Ok(self.table.get(&this)?.0.name().to_owned())
    }

    fn arguments(&mut self, this: Resource<InvocationHandle>) -> Result<String> {
        Ok(self.table.get(&this)?.0.arguments().to_owned())
    }

    fn session_id(&mut self, this: Resource<InvocationHandle>) -> Result<String> {
        Ok(self.table.get(&this)?.0.session_id().to_owned())
    }

    fn cwd(&mut self, this: Resource<InvocationHandle>) -> Result<String> {
        Ok(self.table.get(&this)?.0.cwd().to_owned())
    }

    fn drop(&mut self, this: Resource<InvocationHandle>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

fn command(command: &script::Command) -> call::Command {
    call::Command {
        words: command.words.iter().map(word).collect(),
        assignments: command
            .assignments
            .iter()
            .map(|assignment| call::Assignment {
                name: assignment.name.clone(),
                value: word(&assignment.value),
            })
            .collect(),
        reads: command.reads.iter().map(word).collect(),
        writes: command.writes.iter().map(word).collect(),
        stdin: command.stdin.as_ref().map(word),
        via: command.via.clone(),
        source: command.source.clone(),
    }
}

fn word(word: &script::Word) -> call::Word {
    match word {
        script::Word::Literal(text) => call::Word::Literal(text.clone()),
        script::Word::Computed(source) => call::Word::Computed(source.clone()),
    }
}

/// The longest start of `text` that has at most `max` bytes.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}
