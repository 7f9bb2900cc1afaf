//! A plugin that is ready to run: each call in a fresh instance, dropped after it.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use portcullis_model::fault::{Fault, FaultKind};
use portcullis_model::limits::Limits;
use tokio::sync::SemaphorePermit;
use wasmtime::component::{HasSelf, Instance, InstancePre, Linker, Resource};
use wasmtime::{Store, UpdateDeadline};

use crate::answer::{self, Claims, CommandDefinition, Decision, GuardRefusal, PluginInfo, Subscription};
use crate::answer::{ToolDefinition, ToolOutput};
use crate::bindings::exports::portcullis as exports;
use crate::bindings::portcullis::host;
use crate::component::Component;
use crate::contract::{Contract, Kind};
use crate::digest::Digest;
use crate::engine::Engines;
use crate::error::LoadError;
use crate::fault::{Phase, classify};
use crate::handle::{CallHandle, InvocationHandle, OccurrenceHandle};
use crate::setup::{CallView, GuestSetup, InvocationView, OccurrenceView};
use crate::state::CallState;
use crate::ticker::Running;
use crate::wasi;

/// All that a guard or a hook may hand to the host at once, in bytes: a reason,
/// a log line, or a value for its store.
const SHORT_ANSWER: usize = 256 << 10;

/// How long a host call may outlive the deadline before the whole call is
/// abandoned from outside. The guest's own code is stopped by the ticker before.
const GRACE: Duration = Duration::from_millis(20);

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
    pre: InstancePre<CallState>,
    plugin: exports::plugin::plugin::GuestIndices,
    guard: Option<exports::guard::guard::GuestIndices>,
    hook: Option<exports::hook::hook::GuestIndices>,
    tool: Option<exports::tool::tool::GuestIndices>,
    command: Option<exports::command::command::GuestIndices>,
}

/// One call: its instance, and what keeps it within bounds while it runs.
struct Run<'a> {
    store: Store<CallState>,
    instance: Instance,
    deadline: Instant,
    _slot: SemaphorePermit<'a>,
    _running: Running<'a>,
}

impl Guest {
    pub(crate) fn link(
        runtime: Arc<Engines>,
        component: &Component,
        setup: GuestSetup,
    ) -> Result<Self, LoadError> {
        let contract = component.contract.clone();
        let mut linker = Linker::new(&runtime.engine);
        for import in &contract.imports {
            if wasi::is_wasi(import) {
                wasi::link(&mut linker, import)?;
            } else {
                link_ours(&mut linker, import)?;
            }
        }
        let fits = |e: wasmtime::Error| LoadError::Link(format!("{e:#}"));
        let pre = linker.instantiate_pre(&component.inner).map_err(fits)?;
        let has = |kind| contract.is(kind);
        let shared = Shared {
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
            digest: component.digest,
            setup: Arc::new(setup),
            runtime,
            contract,
            pre,
        };
        Ok(Self { shared: Arc::new(shared) })
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
        let mut run = self.start("", limits.describe_time, None, limits.answer).await?;
        let guest = run.load(|store, instance| self.shared.plugin.load(store, instance))?;
        let info = bounded(run.deadline, guest.call_describe(&mut run.store)).await?;
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
        let mut run = self.start(call.session_id(), limits.guard_time, Some(deadline), SHORT_ANSWER).await?;
        let guest = run.load_kind(self.shared.guard.as_ref(), Kind::Guard, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(CallHandle(call))?;
        let answer = bounded(run.deadline, guest.call_before_tool_call(&mut run.store, handle)).await?;
        answer::guard_refusal(answer, limits)
    }

    /// The events that it wants to follow.
    ///
    /// # Errors
    /// A [`Fault`] when it does not answer.
    pub async fn subscriptions(&self) -> Result<Vec<Subscription>, Fault> {
        let limits = self.limits();
        let mut run = self.start("", limits.describe_time, None, limits.answer).await?;
        let guest = run.load_kind(self.shared.hook.as_ref(), Kind::Hook, |kind, s, i| kind.load(s, i))?;
        bounded(run.deadline, guest.call_subscriptions(&mut run.store)).await.map(answer::subscriptions)
    }

    /// Tells it of an event.
    ///
    /// # Errors
    /// A [`Fault`] when there is no decision within the hook's time.
    pub async fn on_event(&self, occurrence: Arc<dyn OccurrenceView>) -> Result<Decision, Fault> {
        let limits = self.limits();
        let mut run = self.start(occurrence.session_id(), limits.hook_time, None, SHORT_ANSWER).await?;
        let guest = run.load_kind(self.shared.hook.as_ref(), Kind::Hook, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(OccurrenceHandle(occurrence))?;
        let answer = bounded(run.deadline, guest.call_on_event(&mut run.store, handle)).await?;
        answer::decision(answer, limits)
    }

    /// Tells it that a turn of `session` has ended.
    ///
    /// # Errors
    /// A [`Fault`] when it fails.
    pub async fn after_turn(&self, session: &str) -> Result<(), Fault> {
        let mut run = self.start(session, self.limits().hook_time, None, SHORT_ANSWER).await?;
        let guest = run.load_kind(self.shared.hook.as_ref(), Kind::Hook, |kind, s, i| kind.load(s, i))?;
        bounded(run.deadline, guest.call_after_turn(&mut run.store, session))
            .await?
            .map_err(answer::gave_an_error)
    }

    /// The tools that it brings.
    ///
    /// # Errors
    /// A [`Fault`] when it does not answer, or brings more than it may.
    pub async fn list_tools(&self) -> Result<Vec<ToolDefinition>, Fault> {
        let limits = self.limits();
        let mut run = self.start("", limits.describe_time, None, limits.answer).await?;
        let guest = run.load_kind(self.shared.tool.as_ref(), Kind::Tool, |kind, s, i| kind.load(s, i))?;
        let tools = bounded(run.deadline, guest.call_list_tools(&mut run.store)).await?;
        answer::tool_definitions(tools, limits)
    }

    /// What a call of its tool needs for itself while it runs.
    ///
    /// # Errors
    /// A [`Fault`] when it does not answer.
    pub async fn claims_of(&self, call: Arc<dyn CallView>) -> Result<Claims, Fault> {
        let limits = self.limits();
        let mut run = self.start(call.session_id(), limits.describe_time, None, limits.answer).await?;
        let guest = run.load_kind(self.shared.tool.as_ref(), Kind::Tool, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(CallHandle(call))?;
        bounded(run.deadline, guest.call_claims_of(&mut run.store, handle)).await.map(answer::claims)
    }

    /// Runs its tool. The inner error is the tool's own.
    ///
    /// # Errors
    /// A [`Fault`] when the tool does not answer within its time.
    pub async fn call_tool(&self, call: Arc<dyn CallView>) -> Result<Result<ToolOutput, String>, Fault> {
        let limits = self.limits();
        let mut run = self.start(call.session_id(), limits.tool_time, None, limits.answer).await?;
        let guest = run.load_kind(self.shared.tool.as_ref(), Kind::Tool, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(CallHandle(call))?;
        let output = bounded(run.deadline, guest.call_call_tool(&mut run.store, handle)).await?;
        Ok(output.map(answer::tool_output))
    }

    /// The slash commands that it brings.
    ///
    /// # Errors
    /// A [`Fault`] when it does not answer.
    pub async fn list_commands(&self) -> Result<Vec<CommandDefinition>, Fault> {
        let limits = self.limits();
        let mut run = self.start("", limits.describe_time, None, limits.answer).await?;
        let guest =
            run.load_kind(self.shared.command.as_ref(), Kind::Command, |kind, s, i| kind.load(s, i))?;
        bounded(run.deadline, guest.call_list_commands(&mut run.store)).await.map(answer::command_definitions)
    }

    /// Expands a slash command to a prompt. The inner error is the command's own.
    ///
    /// # Errors
    /// A [`Fault`] when the command does not answer within its time.
    pub async fn expand(&self, invocation: Arc<dyn InvocationView>) -> Result<Result<String, String>, Fault> {
        let limits = self.limits();
        let mut run = self.start(invocation.session_id(), limits.command_time, None, limits.answer).await?;
        let guest =
            run.load_kind(self.shared.command.as_ref(), Kind::Command, |kind, s, i| kind.load(s, i))?;
        let handle = run.push(InvocationHandle(invocation))?;
        bounded(run.deadline, guest.call_expand(&mut run.store, handle)).await
    }

    /// A fresh instance, within `time` and before `latest`. Waiting for a free
    /// slot counts.
    async fn start(
        &self,
        session: &str,
        time: Duration,
        latest: Option<Instant>,
        answer: usize,
    ) -> Result<Run<'_>, Fault> {
        let runtime = &self.shared.runtime;
        let deadline = Instant::now() + time;
        let deadline = latest.map_or(deadline, |latest| latest.min(deadline));
        let slot = match runtime.slots.try_acquire() {
            Ok(slot) => slot,
            Err(_) => tokio::time::timeout_at(deadline.into(), runtime.slots.acquire())
                .await
                .map_err(|_| Fault::new(FaultKind::Timeout, "no instance came free within its deadline"))?
                .map_err(|e| Fault::new(FaultKind::Internal, e.to_string()))?,
        };
        let running = runtime.ticker.run();
        let mut store = Store::new(&runtime.engine, CallState::new(&self.shared.setup, session, deadline));
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(answer);
        // At every tick the guest gives way to other tasks of the executor, and
        // is ended when its time is over.
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            let over = Instant::now() >= store.data().deadline;
            Ok(if over { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
        });
        let instance = caught(deadline, self.shared.pre.instantiate_async(&mut store))
            .await?
            .map_err(|e| classify(&e, Phase::Instantiate))?;
        Ok(Run { store, instance, deadline, _slot: slot, _running: running })
    }
}

impl Run<'_> {
    fn load<G>(
        &mut self,
        load: impl FnOnce(&mut Store<CallState>, &Instance) -> wasmtime::Result<G>,
    ) -> Result<G, Fault> {
        load(&mut self.store, &self.instance).map_err(|e| Fault::new(FaultKind::Load, format!("{e:#}")))
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

/// Waits until `deadline`, and a little longer, and catches a panic of the host
/// functions that the guest calls.
async fn caught<R>(deadline: Instant, work: impl Future<Output = R>) -> Result<R, Fault> {
    let late = tokio::time::Instant::from_std(deadline + GRACE);
    match tokio::time::timeout_at(late, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(panic)) => {
            Err(Fault::new(FaultKind::Trap, format!("a host function panicked: {}", said(&*panic))))
        }
        Err(_) => Err(Fault::new(FaultKind::Timeout, "no answer within its deadline")),
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

type LinkOurs = fn(&mut Linker<CallState>) -> wasmtime::Result<()>;

/// Every interface of ours that a plugin may import.
const OURS: &[(&str, LinkOurs)] = &[
    ("portcullis:host/log@0.1.0", |l| host::log::add_to_linker::<CallState, HasSelf<CallState>>(l, |s| s)),
    ("portcullis:host/settings@0.1.0", |l| {
        host::settings::add_to_linker::<CallState, HasSelf<CallState>>(l, |s| s)
    }),
    ("portcullis:host/store@0.1.0", |l| {
        host::store::add_to_linker::<CallState, HasSelf<CallState>>(l, |s| s)
    }),
    ("portcullis:host/clock@0.1.0", |l| {
        host::clock::add_to_linker::<CallState, HasSelf<CallState>>(l, |s| s)
    }),
    ("portcullis:host/terminal@0.1.0", |l| {
        host::terminal::add_to_linker::<CallState, HasSelf<CallState>>(l, |s| s)
    }),
    ("portcullis:host/call@0.1.0", |l| host::call::add_to_linker::<CallState, HasSelf<CallState>>(l, |s| s)),
    ("portcullis:host/event@0.1.0", |l| {
        host::event::add_to_linker::<CallState, HasSelf<CallState>>(l, |s| s)
    }),
    ("portcullis:host/invocation@0.1.0", |l| {
        host::invocation::add_to_linker::<CallState, HasSelf<CallState>>(l, |s| s)
    }),
];

fn link_ours(linker: &mut Linker<CallState>, import: &str) -> Result<(), LoadError> {
    if let Some((_, add)) = OURS.iter().find(|(name, _)| *name == import) {
        return add(linker).map_err(|e| LoadError::Link(format!("`{import}`: {e:#}")));
    }
    let unversioned = |name: &str| name.split('@').next().unwrap_or_default().to_owned();
    match OURS.iter().find(|(name, _)| unversioned(name) == unversioned(import)) {
        Some((name, _)) => {
            Err(LoadError::OtherVersion { expected: (*name).to_owned(), found: import.to_owned() })
        }
        None => {
            Err(LoadError::Import { import: import.to_owned(), why: "this host does not offer to plugins" })
        }
    }
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
