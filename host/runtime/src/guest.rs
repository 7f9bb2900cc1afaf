//! A plugin that is ready to run: each call in a fresh instance, dropped after it.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use portcullis_model::call::Claims;
use portcullis_model::fault::{Fault, FaultKind};
use portcullis_model::limits::Limits;
use tokio::sync::{OwnedSemaphorePermit, SemaphorePermit};
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre, Linker, Resource};

use crate::answer::{self, CommandDefinition, Decision, GuardRefusal, PluginInfo, Subscription};
use crate::answer::{ToolDefinition, ToolOutput};
use crate::bindings::exports;
use crate::component::{Component, Known};
use crate::contract::{Contract, Kind};
use crate::digest::Digest;
use crate::engine::Engines;
use crate::error::LoadError;
use crate::fault::{Phase, caught, classify};
use crate::handle::{CallHandle, InvocationHandle, OccurrenceHandle};
use crate::instance::{Fresh, Spare, instantiate};
use crate::offer;
use crate::setup::{CallView, GuestSetup, InvocationView, OccurrenceView};
use crate::state::CallState;
use crate::ticker::Running;
use crate::wasi;

/// All that a guard or a hook may hand to the host at once, in bytes: a reason,
/// a log line, or a value for its store.
const SHORT_ANSWER: usize = 256 << 10;

/// A plugin that is ready to run. Cheap to clone.
#[derive(Clone)]
pub struct Guest {
    shared: Arc<Shared>,
}

struct Shared {
    runtime: Arc<Engines>,
    setup: Arc<GuestSetup>,
    contract: Contract,
    digest: Digest,
    linked: OnceLock<Linked>,
    /// What it is linked from at its first call, if it is not linked yet.
    later: Option<Later>,
    spare: Spare,
}

/// A component with everything that it imports, and where in it its exports are.
struct Linked {
    pre: InstancePre<CallState>,
    plugin: exports::plugin::plugin::GuestIndices,
    guard: Option<exports::guard::guard::GuestIndices>,
    hook: Option<exports::hook::hook::GuestIndices>,
    tool: Option<exports::tool::tool::GuestIndices>,
    command: Option<exports::command::command::GuestIndices>,
}

type Later = Box<dyn Fn() -> Result<Component, LoadError> + Send + Sync>;

impl Linked {
    fn new(engines: &Engines, component: &Component) -> Result<Self, LoadError> {
        let contract = &component.contract;
        let mut linker = Linker::new(&engines.engine);
        let (wasi, ours): (Vec<_>, Vec<_>) =
            contract.imports.iter().map(String::as_str).partition(|import| wasi::is_wasi(import));
        wasi.into_iter().try_for_each(|import| wasi::link(&mut linker, import))?;
        offer::link(&mut linker, &ours)?;
        let fits = |e: wasmtime::Error| LoadError::Link(format!("{e:#}"));
        let pre = linker.instantiate_pre(&component.inner).map_err(fits)?;
        let has = |kind| contract.is(kind);
        Ok(Self {
            plugin: exports::plugin::plugin::GuestIndices::new(&pre).map_err(fits)?,
            guard: has(Kind::Guard)
                .then(|| exports::guard::guard::GuestIndices::new(&pre))
                .transpose()
                .map_err(fits)?,
            hook: has(Kind::Hook)
                .then(|| exports::hook::hook::GuestIndices::new(&pre))
                .transpose()
                .map_err(fits)?,
            tool: has(Kind::Tool)
                .then(|| exports::tool::tool::GuestIndices::new(&pre))
                .transpose()
                .map_err(fits)?,
            command: has(Kind::Command)
                .then(|| exports::command::command::GuestIndices::new(&pre))
                .transpose()
                .map_err(fits)?,
            pre,
        })
    }
}

/// One call: its instance, and what keeps it within bounds while it runs.
struct Run<'a> {
    fresh: Fresh,
    deadline: Instant,
    _slot: SemaphorePermit<'a>,
    _running: Option<Running<'a>>,
}

impl Guest {
    pub(crate) fn link(
        runtime: Arc<Engines>,
        component: &Component,
        setup: GuestSetup,
    ) -> Result<Self, LoadError> {
        let linked = OnceLock::from(Linked::new(&runtime, component)?);
        let known = Known { digest: component.digest, contract: component.contract.clone() };
        Ok(Self::of(runtime, known, setup, linked, None))
    }

    /// A guest of which all is known but its code. That is loaded at its first call.
    pub(crate) fn later(engines: Arc<Engines>, known: Known, setup: GuestSetup, load: Later) -> Self {
        Self::of(engines, known, setup, OnceLock::new(), Some(load))
    }

    fn of(
        runtime: Arc<Engines>,
        known: Known,
        setup: GuestSetup,
        linked: OnceLock<Linked>,
        later: Option<Later>,
    ) -> Self {
        let Known { digest, contract } = known;
        let setup = Arc::new(setup);
        let spare = Spare::default();
        Self { shared: Arc::new(Shared { runtime, setup, contract, digest, linked, later, spare }) }
    }

    fn linked(&self) -> Result<&Linked, Fault> {
        self.shared.linked()
    }

    /// What it is, and what it wishes.
    #[must_use]
    pub fn contract(&self) -> &Contract {
        &self.shared.contract
    }

    /// The digest of its component.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.shared.digest
    }

    /// Its limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.shared.setup.limits
    }

    /// What it was given.
    #[must_use]
    pub fn setup(&self) -> &GuestSetup {
        &self.shared.setup
    }

    /// Asks who it is.
    ///
    /// # Errors
    /// A [`Fault`] when it does not answer, or answers with a name or a text
    /// that is not allowed.
    pub async fn describe(&self) -> Result<PluginInfo, Fault> {
        let limits = self.limits();
        let linked = self.linked()?;
        let mut run = self.start("", limits.describe_time, limits.answer).await?;
        let guest = run.load(|store, instance| linked.plugin.load(store, instance))?;
        let info = bounded(run.deadline, guest.call_describe(&mut run.fresh.store)).await?;
        answer::plugin_info(info, limits)
    }

    /// Asks whether it refuses `call`. None is no objection.
    ///
    /// # Errors
    /// A [`Fault`] when there is no verdict within the guard's time, or before
    /// `deadline` when that is earlier.
    pub async fn before_tool_call(
        &self,
        call: Arc<dyn CallView>,
        deadline: Instant,
    ) -> Result<Option<GuardRefusal>, Fault> {
        let limits = self.limits();
        let deadline = deadline.min(Instant::now() + limits.guard_time);
        let spare = Some(&self.shared.spare);
        let mut run = self.start_before(call.session_id(), deadline, SHORT_ANSWER, spare).await?;
        let guest =
            run.load_kind(self.linked()?.guard.as_ref(), Kind::Guard, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(CallHandle(call))?;
        let answer = bounded(run.deadline, guest.call_before_tool_call(&mut run.fresh.store, handle)).await?;
        self.prepare_spare(run.fresh);
        answer::guard_refusal(answer, limits)
    }

    /// The events that it wants to follow.
    ///
    /// # Errors
    /// A [`Fault`] when it does not answer.
    pub async fn subscriptions(&self) -> Result<Vec<Subscription>, Fault> {
        let limits = self.limits();
        let mut run = self.start("", limits.describe_time, limits.answer).await?;
        let guest = run.load_kind(self.linked()?.hook.as_ref(), Kind::Hook, |kind, s, i| kind.load(s, i))?;
        bounded(run.deadline, guest.call_subscriptions(&mut run.fresh.store)).await.map(answer::subscriptions)
    }

    /// Tells it of an event.
    ///
    /// # Errors
    /// A [`Fault`] when there is no decision within the hook's time.
    pub async fn on_event(&self, occurrence: Arc<dyn OccurrenceView>) -> Result<Decision, Fault> {
        let limits = self.limits();
        let mut run = self.start(occurrence.session_id(), limits.hook_time, SHORT_ANSWER).await?;
        let guest = run.load_kind(self.linked()?.hook.as_ref(), Kind::Hook, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(OccurrenceHandle(occurrence))?;
        let answer = bounded(run.deadline, guest.call_on_event(&mut run.fresh.store, handle)).await?;
        answer::decision(answer, limits)
    }

    /// Tells it that a turn of `session` has ended.
    ///
    /// # Errors
    /// A [`Fault`] when it fails.
    pub async fn after_turn(&self, session: &str) -> Result<(), Fault> {
        let mut run = self.start(session, self.limits().hook_time, SHORT_ANSWER).await?;
        let guest = run.load_kind(self.linked()?.hook.as_ref(), Kind::Hook, |kind, s, i| kind.load(s, i))?;
        bounded(run.deadline, guest.call_after_turn(&mut run.fresh.store, session))
            .await?
            .map_err(answer::gave_an_error)
    }

    /// The tools that it brings.
    ///
    /// # Errors
    /// A [`Fault`] when it does not answer, or brings more than it may.
    pub async fn list_tools(&self) -> Result<Vec<ToolDefinition>, Fault> {
        let limits = self.limits();
        let mut run = self.start("", limits.describe_time, limits.answer).await?;
        let guest = run.load_kind(self.linked()?.tool.as_ref(), Kind::Tool, |kind, s, i| kind.load(s, i))?;
        let tools = bounded(run.deadline, guest.call_list_tools(&mut run.fresh.store)).await?;
        answer::tool_definitions(tools, limits)
    }

    /// What a call of its tool needs for itself while it runs.
    ///
    /// # Errors
    /// A [`Fault`] when it does not answer.
    pub async fn claims_of(&self, call: Arc<dyn CallView>) -> Result<Claims, Fault> {
        let limits = self.limits();
        let mut run = self.start(call.session_id(), limits.describe_time, limits.answer).await?;
        let guest = run.load_kind(self.linked()?.tool.as_ref(), Kind::Tool, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(CallHandle(call))?;
        bounded(run.deadline, guest.call_claims_of(&mut run.fresh.store, handle)).await.map(answer::claims)
    }

    /// Runs its tool. The inner error is the tool's own.
    ///
    /// # Errors
    /// A [`Fault`] when the tool does not answer within its time.
    pub async fn call_tool(&self, call: Arc<dyn CallView>) -> Result<Result<ToolOutput, String>, Fault> {
        let limits = self.limits();
        let mut run = self.start(call.session_id(), limits.tool_time, limits.answer).await?;
        let guest = run.load_kind(self.linked()?.tool.as_ref(), Kind::Tool, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(CallHandle(call))?;
        let output = bounded(run.deadline, guest.call_call_tool(&mut run.fresh.store, handle)).await?;
        Ok(output.map(answer::tool_output))
    }

    /// The slash commands that it brings.
    ///
    /// # Errors
    /// A [`Fault`] when it does not answer.
    pub async fn list_commands(&self) -> Result<Vec<CommandDefinition>, Fault> {
        let limits = self.limits();
        let mut run = self.start("", limits.describe_time, limits.answer).await?;
        let guest =
            run.load_kind(self.linked()?.command.as_ref(), Kind::Command, |kind, s, i| kind.load(s, i))?;
        bounded(run.deadline, guest.call_list_commands(&mut run.fresh.store))
            .await
            .map(answer::command_definitions)
    }

    /// Expands a slash command to a prompt. The inner error is the command's own.
    ///
    /// # Errors
    /// A [`Fault`] when the command does not answer within its time.
    pub async fn expand(&self, invocation: Arc<dyn InvocationView>) -> Result<Result<String, String>, Fault> {
        let limits = self.limits();
        let mut run = self.start(invocation.session_id(), limits.command_time, limits.answer).await?;
        let guest =
            run.load_kind(self.linked()?.command.as_ref(), Kind::Command, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(InvocationHandle(invocation))?;
        bounded(run.deadline, guest.call_expand(&mut run.fresh.store, handle)).await
    }

    /// A fresh instance, within `time`.
    async fn start(&self, session: &str, time: Duration, answer: usize) -> Result<Run<'_>, Fault> {
        self.start_before(session, Instant::now() + time, answer, None).await
    }

    /// A fresh instance, before `deadline`; the one of `spare` when it waits.
    /// Waiting for a free slot counts.
    async fn start_before(
        &self,
        session: &str,
        deadline: Instant,
        answer: usize,
        spare: Option<&Spare>,
    ) -> Result<Run<'_>, Fault> {
        let runtime = &self.shared.runtime;
        let slot = match runtime.slots.try_acquire() {
            Ok(slot) => slot,
            Err(_) => tokio::time::timeout_at(deadline.into(), runtime.slots.acquire())
                .await
                .map_err(|_| Fault::new(FaultKind::Timeout, "no instance came free within its deadline"))?
                .map_err(|e| Fault::new(FaultKind::Internal, e.to_string()))?,
        };
        let running = runtime.running();
        let mut fresh = match spare.and_then(|spare| spare.take(session, deadline)) {
            Some(fresh) => fresh,
            None => instantiate(runtime, &self.linked()?.pre, &self.shared.setup, session, deadline).await?,
        };
        fresh.store.set_hostcall_fuel(answer);
        Ok(Run { fresh, deadline, _slot: slot, _running: running })
    }

    /// Drops the instance of a call that was answered, and makes the one of the next
    /// call, both behind the answer. Only where instances are cheap to keep, and only
    /// so many in all; elsewhere the old one is dropped at once.
    fn prepare_spare(&self, used: Fresh) {
        let runtime = &self.shared.runtime;
        if !runtime.pooled {
            return;
        }
        let permit = Arc::clone(&runtime.spares).try_acquire_owned();
        let (Ok(executor), Ok(permit)) = (tokio::runtime::Handle::try_current(), permit) else { return };
        if self.shared.spare.promise(used) {
            executor.spawn(Promise(Arc::downgrade(&self.shared)).keep(permit));
        }
    }
}

impl Shared {
    fn linked(&self) -> Result<&Linked, Fault> {
        if let Some(linked) = self.linked.get() {
            return Ok(linked);
        }
        let cannot = |why: &dyn fmt::Display| Fault::new(FaultKind::Load, why.to_string());
        let load = self.later.as_ref().ok_or_else(|| cannot(&"it is not linked"))?;
        let component = load().map_err(|e| cannot(&e))?;
        if component.contract != self.contract {
            return Err(cannot(&"it is not what was known of it"));
        }
        let linked = Linked::new(&self.runtime, &component).map_err(|e| cannot(&e))?;
        Ok(self.linked.get_or_init(|| linked))
    }
}

/// The promise to make the instance of a guest's next call. Kept or not, when it is
/// dropped another one can be made.
struct Promise(Weak<Shared>);

impl Promise {
    async fn keep(self, permit: OwnedSemaphorePermit) {
        let Some(shared) = self.0.upgrade() else { return };
        let Shared { runtime, linked, setup, spare, .. } = &*shared;
        let Some(Linked { pre, .. }) = linked.get() else { return };
        spare.begin();
        let _running = runtime.running();
        let deadline = Instant::now() + setup.limits.guard_time;
        // When it cannot be made, the next call makes its own and sees why.
        if let Ok(fresh) = instantiate(runtime, pre, setup, "", deadline).await {
            spare.keep(fresh, permit);
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.spare.give_up();
        }
    }
}

impl Run<'_> {
    fn load<G>(
        &mut self,
        load: impl FnOnce(&mut Store<CallState>, &Instance) -> wasmtime::Result<G>,
    ) -> Result<G, Fault> {
        load(&mut self.fresh.store, &self.fresh.instance)
            .map_err(|e| Fault::new(FaultKind::Load, format!("{e:#}")))
    }

    fn load_kind<K, G>(
        &mut self,
        kind: Option<&K>,
        name: Kind,
        load: impl FnOnce(&K, &mut Store<CallState>, &Instance) -> wasmtime::Result<G>,
    ) -> Result<G, Fault> {
        let kind =
            kind.ok_or_else(|| Fault::new(FaultKind::Load, format!("it exports no `{}`", name.interface())))?;
        self.load(|store, instance| load(kind, store, instance))
    }

    /// Lends `value` to the guest for this one call.
    fn push<T: Send + 'static>(&mut self, value: T) -> Result<Resource<T>, Fault> {
        let own = self
            .fresh
            .store
            .data_mut()
            .table
            .push(value)
            .map_err(|e| Fault::new(FaultKind::Resource, format!("host handles: {e}")))?;
        Ok(Resource::new_borrow(own.rep()))
    }
}

/// Waits for a guest's answer, and makes a fault of everything else.
async fn bounded<R>(deadline: Instant, call: impl Future<Output = wasmtime::Result<R>>) -> Result<R, Fault> {
    caught(deadline, call).await?.map_err(|e| classify(&e, Phase::Call))
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest")
            .field("name", &self.shared.setup.name)
            .field("digest", &self.shared.digest)
            .field("kinds", &self.shared.contract.kinds)
            .finish_non_exhaustive()
    }
}
