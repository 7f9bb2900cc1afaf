//! What a call needs for itself while it runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use portcullis_model::call::{Claims, Effect, EffectKind};
use portcullis_model::extension::Extension;
use portcullis_runtime::CallView as _;
use portcullis_schedule::{Access, Claim, ClaimError, Place};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::disk::Volumes;
use super::script::only_reads;
use crate::admission::Owner;
use crate::gate::JudgedCall;

/// How long all plugins together may take to say what the calls of one batch claim. What
/// they have not said by then is exclusive.
pub(crate) const CLAIMS_TIME: Duration = Duration::from_secs(5);

/// The canonical name of the tool by which an agent hands work to another one.
const TASK: &str = "task";

/// What a call claims.
#[derive(Debug, Clone)]
pub(crate) struct Need {
    pub(crate) claim: Claim,
    /// Why it claims everything, when it does.
    pub(crate) because: Option<String>,
}

impl Need {
    const fn of(claim: Claim) -> Self {
        Self { claim, because: None }
    }

    fn exclusive(because: impl Into<String>) -> Self {
        Self { claim: Claim::exclusive(), because: Some(because.into()) }
    }

    fn and(self, other: Self) -> Self {
        Self { claim: self.claim.and(other.claim), because: self.because.or(other.because) }
    }
}

impl From<Result<Claim, ClaimError>> for Need {
    fn from(claim: Result<Claim, ClaimError>) -> Self {
        claim.map_or_else(|error| Self::exclusive(error.to_string()), Self::of)
    }
}

/// What `call` claims: what its effects say, and where they say nothing, what whoever brings
/// the tool says. Nobody is asked after `deadline`.
pub(crate) async fn need(
    call: &Arc<JudgedCall>,
    owner: Option<Owner<'_>>,
    disk: &Volumes,
    deadline: Instant,
) -> Need {
    let place = Place { cwd: call.cwd(), disk };
    if call.canonical() == TASK {
        return declared(&task(call.input_value()), place);
    }
    let mut need = Need::of(Claim::none());
    let mut is_unknown = false;
    for effect in call.effects() {
        match of_effect(effect, call, place) {
            Some(own) => need = need.and(own),
            None => is_unknown = true,
        }
    }
    if is_unknown { need.and(asked(call, owner, place, deadline).await) } else { need }
}

/// What an effect claims; none when it says nothing of files.
fn of_effect(effect: &Effect, call: &JudgedCall, place: Place<'_>) -> Option<Need> {
    let path = |access| Some(Need::from(place.path(&effect.target).map(|paths| Claim::of(access, paths))));
    match effect.kind {
        EffectKind::Write | EffectKind::Delete => path(Access::Write),
        // What is read may be a pattern, and the name of a file as well.
        EffectKind::Read => {
            let pattern = place.pattern(&effect.target).map(|paths| Claim::of(Access::Read, paths));
            path(Access::Read).map(|need| need.and(pattern.into()))
        }
        EffectKind::Run => {
            let reads =
                call.scripts().iter().any(|script| script.source == effect.target && only_reads(script));
            Some(if reads {
                Need::of(Claim::reads_everything())
            } else {
                Need::exclusive("the script may change any file")
            })
        }
        EffectKind::Fetch => Some(Need::of(Claim::none())),
        EffectKind::Mcp | EffectKind::Opaque => None,
    }
}

/// What whoever brings the tool says that a call of it claims.
async fn asked(
    call: &Arc<JudgedCall>,
    owner: Option<Owner<'_>>,
    place: Place<'_>,
    deadline: Instant,
) -> Need {
    match owner {
        None => Need::exclusive("nobody says which files the tool touches"),
        Some(Owner::Finder | Owner::Front { .. }) => Need::of(Claim::none()),
        Some(Owner::Extension(extension, tool)) => of_extension(&**extension, &tool.entry.name, call, place),
        Some(Owner::Server(extension, tool)) => of_extension(&**extension, tool, call, place),
        Some(Owner::Plugin(plugin, _)) => {
            let name = &plugin.info.name;
            let fault = match timeout_at(deadline, plugin.guest.claims_of(Arc::clone(call) as _)).await {
                Ok(Ok(claims)) => return declared(&claims, place),
                Ok(Err(fault)) => fault.to_string(),
                Err(_) => "it did not answer in time".to_owned(),
            };
            tracing::warn!(plugin = %name, "it failed to say what a call claims: {fault}");
            Need::exclusive(format!("the {name} plugin failed to say which files the tool touches"))
        }
    }
}

/// What an extension says that a call of its tool claims.
fn of_extension(extension: &dyn Extension, tool: &str, call: &JudgedCall, place: Place<'_>) -> Need {
    let claims = catch_unwind(AssertUnwindSafe(|| extension.tools()?.claims(tool, call.input_value())));
    match claims {
        Ok(Some(claims)) => declared(&claims, place),
        Ok(None) => Need::exclusive("nobody says which files the tool touches"),
        Err(_) => {
            tracing::warn!(
                extension = extension.name(),
                "it panicked where it should say what a call claims"
            );
            Need::exclusive(format!("`{}` failed to say which files the tool touches", extension.name()))
        }
    }
}

/// What somebody says that a call claims. What makes no sense is exclusive.
fn declared(claims: &Claims, place: Place<'_>) -> Need {
    let Claims { exclusive, read_only, paths } = claims;
    if *exclusive && *read_only {
        return Need::exclusive("it says both that it writes nothing and that it needs everything");
    }
    if *exclusive {
        return Need::exclusive("it says that it needs everything");
    }
    if paths.is_empty() {
        return if *read_only {
            Need::of(Claim::read_only())
        } else {
            Need::exclusive("it says that it writes, and not where")
        };
    }
    let access = if *read_only { Access::Read } else { Access::Write };
    let mut claim = Claim::none();
    for path in paths {
        match place.pattern(path) {
            Ok(patterns) => claim = claim.and(Claim::of(access, patterns)),
            Err(error) => return Need::exclusive(error.to_string()),
        }
    }
    if claim.is_exclusive() { Need::exclusive("it names too many paths") } else { Need::of(claim) }
}

/// What the arguments of a task say: `readonly`, or the `paths` that it may write.
fn task(arguments: &Value) -> Claims {
    let read_only =
        ["readonly", "read_only"].iter().any(|key| arguments.get(key) == Some(&Value::Bool(true)));
    let listed = arguments.get("paths").and_then(Value::as_array);
    let texts: Option<Vec<String>> = listed
        .map(|paths| paths.iter().map(|path| path.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    Claims { exclusive: !read_only && texts.is_none(), read_only, paths: texts.unwrap_or_default() }
}
