//! Asking hooks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_model::config::FailureMode;
use portcullis_model::fault::FaultKind;
use portcullis_runtime::{Cancel, Process};

use super::{Answer, Occasion, ScriptHook};

/// The most bytes of a hook's answer that are read.
const OUTPUT_MAX: u64 = 1 << 20;

/// Ends the hook when whoever asked has gone.
struct Guard(Arc<Cancel>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl ScriptHook {
    /// Whether it is to be asked.
    #[must_use]
    pub fn is_about(&self, occasion: &Occasion<'_>) -> bool {
        self.event == occasion.event
            && match (&self.rule, &occasion.call) {
                (None, _) => true,
                (Some(rule), Some(call)) => rule.touches(call),
                // A rule says which calls are meant, and here is none.
                (Some(_), None) => false,
            }
    }

    /// Asks it, whatever it is about. Dropping the future ends the hook and everything
    /// that it started.
    pub async fn ask(&self, occasion: &Occasion<'_>, variables: &BTreeMap<String, String>) -> Answer {
        let cancel = Arc::new(Cancel::default());
        let _guard = Guard(Arc::clone(&cancel));
        let mut payload = occasion.payload().to_string().into_bytes();
        payload.push(b'\n');
        let (own, variables) = (self.clone(), variables.clone());
        let directory = safe_directory(occasion.cwd);
        let work = tokio::task::spawn_blocking(move || {
            let process = Process {
                program: &own.program,
                arguments: own.arguments.iter().map(AsRef::as_ref).collect(),
                directory: &directory,
                variables: variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
                input: &payload,
                time: own.time,
                output_max: OUTPUT_MAX,
            };
            process.run_until(&cancel)
        });
        match work.await {
            Ok(Ok(ended)) => Answer::read(&ended, self.failure_mode),
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

/// What all hooks say together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Who blocked first.
    pub blocked: Option<Blocked>,
    /// Who failed without blocking, and how.
    pub failed: Vec<(String, String)>,
}

/// A hook that blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The hook's name.
    pub hook: String,
    /// Its reason, or how it failed.
    pub reason: String,
    /// How it failed to answer, when it did not decide.
    pub fault: Option<FaultKind>,
}

/// Asks those of `hooks` that `occasion` is for, in order, up to the first that blocks.
pub async fn ask_all(
    hooks: &[ScriptHook],
    occasion: &Occasion<'_>,
    variables: &BTreeMap<String, String>,
) -> Outcome {
    let mut outcome = Outcome::default();
    for hook in hooks.iter().filter(|hook| hook.is_about(occasion)) {
        let (reason, fault) = match hook.ask(occasion, variables).await {
            Answer::NoOpinion | Answer::Approve => continue,
            Answer::Block(reason) => (reason, None),
            Answer::Failed(kind, how) if hook.failure_mode == FailureMode::Closed => (how, Some(kind)),
            Answer::Failed(_, how) => {
                outcome.failed.push((hook.name(), how));
                continue;
            }
        };
        outcome.blocked = Some(Blocked { hook: hook.name(), reason, fault });
        break;
    }
    outcome
}
