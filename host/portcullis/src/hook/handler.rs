//! Whoever is asked at an event: a component of a plugin, or a program of the user's.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use portcullis_model::config::FailureMode;
use portcullis_model::fault::FaultKind;
use portcullis_model::name::PluginName;
use portcullis_runtime::{Cancel, Decision, Guest, Process};

use super::answer::Answer;
use super::{Event, Listening, Occasion, ScriptHook};

/// The most bytes of a script's answer that are read.
const OUTPUT_MAX: u64 = 1 << 20;

/// How many hooks deep a process may be that asks hooks itself.
const DEPTH_MAX: u32 = 3;
/// Tells a program how many hooks deep it runs.
pub const DEPTH: &str = "PORTCULLIS_HOOK_DEPTH";

/// The hook of a plugin: a component, which is always closed.
#[derive(Debug, Clone)]
pub(crate) struct ComponentHook {
    pub(crate) plugin: PluginName,
    pub(crate) guest: Guest,
    pub(crate) listens: Vec<Listening>,
}

/// Whoever is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Handler<'a> {
    Component(&'a ComponentHook),
    Script(&'a ScriptHook),
}

/// What programs are started with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    variables: BTreeMap<String, String>,
    depth: u32,
}

impl Surroundings {
    /// With these variables, and the depth that they tell.
    pub(crate) fn new(mut variables: BTreeMap<String, String>) -> Self {
        // What is no number was not written by a host, and is as deep as it gets.
        let depth = variables.get(DEPTH).map_or(0, |text| text.parse().unwrap_or(DEPTH_MAX));
        variables.insert(DEPTH.to_owned(), depth.saturating_add(1).to_string());
        Self { variables, depth }
    }

    /// This process was started by hooks that start one another.
    fn is_too_deep(&self) -> bool {
        self.depth >= DEPTH_MAX
    }
}

impl Handler<'_> {
    /// Its name, for people.
    pub(crate) fn name(&self, event: Event) -> String {
        match self {
            Self::Component(hook) => format!("{event} {}", hook.plugin),
            Self::Script(hook) => hook.name(),
        }
    }

    /// The plugin that it belongs to.
    pub(crate) fn plugin(&self) -> Option<&PluginName> {
        match self {
            Self::Component(hook) => Some(&hook.plugin),
            Self::Script(_) => None,
        }
    }

    /// Whether it listens to `event`, of whatever calls.
    pub(crate) fn listens_to(&self, event: Event) -> bool {
        match self {
            Self::Component(hook) => hook.listens.iter().any(|listening| listening.event == event),
            Self::Script(hook) => hook.enabled && hook.listening.event == event,
        }
    }

    pub(super) fn is_about(&self, occasion: &Occasion) -> bool {
        match self {
            // However often it subscribes, it is asked once.
            Self::Component(hook) => hook.listens.iter().any(|listening| listening.is_about(occasion)),
            Self::Script(hook) => hook.enabled && hook.listening.is_about(occasion),
        }
    }

    pub(crate) fn failure_mode(&self) -> FailureMode {
        match self {
            Self::Component(_) => FailureMode::Closed,
            Self::Script(hook) => hook.failure_mode,
        }
    }

    /// How long it may take.
    pub(super) fn time(&self) -> Duration {
        match self {
            Self::Component(hook) => hook.guest.limits().hook_time,
            Self::Script(hook) => hook.time,
        }
    }

    /// Asks it, whatever it is about, for at most `time`. Dropping the future ends a
    /// program and everything that it started.
    pub(super) async fn ask(
        &self,
        occasion: &Occasion,
        surroundings: &Surroundings,
        time: Duration,
    ) -> Answer {
        match self {
            Self::Component(hook) => hook.ask(occasion, time).await,
            Self::Script(hook) => hook.ask(occasion, surroundings, time).await,
        }
    }
}

impl ComponentHook {
    async fn ask(&self, occasion: &Occasion, time: Duration) -> Answer {
        let asked = AssertUnwindSafe(self.guest.on_event(Arc::new(occasion.clone()))).catch_unwind();
        match tokio::time::timeout(time, asked).await {
            Ok(Ok(Ok(Decision::NoOpinion))) => Answer::NoOpinion,
            Ok(Ok(Ok(Decision::Approve))) => Answer::Approve,
            Ok(Ok(Ok(Decision::Block(reason)))) => Answer::block(&reason),
            Ok(Ok(Err(fault))) => Answer::Failed(fault.kind, fault.detail),
            Ok(Err(_)) => Answer::Failed(FaultKind::Internal, "the host failed inside".to_owned()),
            Err(_) => Answer::Failed(FaultKind::Timeout, LATE.to_owned()),
        }
    }
}

const LATE: &str = "it gave no answer in time";

/// Ends the program when whoever asked has gone.
struct Guard(Arc<Cancel>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl ScriptHook {
    async fn ask(&self, occasion: &Occasion, surroundings: &Surroundings, time: Duration) -> Answer {
        if surroundings.is_too_deep() {
            return Answer::TooDeep(format!("hooks have started one another, {DEPTH_MAX} deep"));
        }
        let cancel = Arc::new(Cancel::default());
        let _guard = Guard(Arc::clone(&cancel));
        let (own, occasion, surroundings) = (self.clone(), occasion.clone(), surroundings.clone());
        let work = tokio::task::spawn_blocking(move || {
            let mut payload = occasion.payload().to_string().into_bytes();
            payload.push(b'\n');
            let process = Process {
                program: &own.program,
                arguments: own.arguments.iter().map(AsRef::as_ref).collect(),
                directory: &safe_directory(&occasion.cwd),
                variables: surroundings
                    .variables
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect(),
                input: &payload,
                time,
                output_max: OUTPUT_MAX,
            };
            process.run_until(&cancel)
        });
        match work.await {
            Ok(Ok(ended)) if ended.late => Answer::Failed(FaultKind::Timeout, LATE.to_owned()),
            Ok(Ok(ended)) => Answer::read(&ended),
            Ok(Err(error)) => Answer::Failed(FaultKind::Load, format!("it cannot be run: {error}")),
            Err(_) => Answer::Failed(FaultKind::Internal, "the host failed inside".to_owned()),
        }
    }
}

/// The agent's directory, or the root when that is gone: a hook is asked all the same.
fn safe_directory(cwd: &str) -> PathBuf {
    let cwd = Path::new(cwd);
    if cwd.is_absolute() && cwd.is_dir() { cwd.to_owned() } else { PathBuf::from("/") }
}
