//! From the command line to an open host.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use portcullis::agent::HookInputError;
use portcullis::command::CommandPlaces;
use portcullis::config::{self, Files, Loaded};
use portcullis::ledger::{Entry, EntryKind, Ledger, LedgerOptions};
use portcullis::model::fault::FaultKind;
use portcullis::model::judgement::Verdict;
use portcullis::runtime::{Allocation, CacheDir, Terminal};
use portcullis::skill::SkillPlaces;
use portcullis::trust::{Held, TrustStore, Workspace, root_of};
use portcullis::{ConfigError, Host, HostError, HostOptions, Lifts, LocalPlaces, OwnFiles};

use crate::args::Common;
use crate::compile;
use crate::environment::{Environment, project_config, project_plugins};
use crate::printer::Printer;

/// What the host is opened with. `cwd` is the directory that the agent works in,
/// where it says so.
pub(crate) fn options(
    common: &Common,
    environment: &Environment,
    cwd: Option<&str>,
) -> anyhow::Result<HostOptions> {
    let program = environment.program.clone().context("this program's own path cannot be had")?;
    let mut options = HostOptions::new(compile::compiler(&program));
    options.allocation = Allocation::OnDemand;
    options.precompiled = compile::precompiled();
    options.plugins = common.plugins.iter().map(|path| absolute(path, environment)).collect();
    options.no_plugins = common.no_plugins;
    options.plugin_dir = common.plugin_dir.clone();
    let work = cwd.map(PathBuf::from).filter(|cwd| cwd.is_absolute());
    let work = work.or_else(|| workspace(common, environment));
    // The directories above `a/..` are not those above `a`.
    let work = work.map(|work| std::fs::canonicalize(&work).unwrap_or(work));
    let files = files(common, environment, work.as_deref())?;
    options.configure(files.clone(), said(&files)?);
    options.trust = trust(common, environment);
    options.config.permissions.mode = common.mode.or(options.config.permissions.mode);
    options.own = OwnFiles {
        config: common
            .config
            .as_ref()
            .map(|path| absolute(path, environment))
            .or_else(|| environment.config.clone()),
        state: environment.state.clone(),
        program: Some(program),
        project: work.clone(),
    };
    if !common.isolated {
        options.plugin_dir = options.plugin_dir.or_else(|| environment.plugins.clone());
        options.project_plugin_dir = work.and_then(|work| project_plugins(&work));
    }
    options.cache = cache(environment);
    if let (Some(_), Some(state)) = (&environment.cache, &environment.state) {
        options.store_dir = Some(state.join("store"));
    }
    options.server_dir =
        environment.state.as_ref().filter(|_| !common.isolated).map(|state| state.join("servers"));
    options.lifts = lifts(common, environment);
    options.env = environment.variables.clone();
    options.terminal = Arc::new(Bell);
    Ok(options)
}

/// Where the skills and the commands of this workspace and of this user are.
pub(crate) fn local(common: &Common, environment: &Environment) -> LocalPlaces {
    let mut places = LocalPlaces::default();
    places.skills.trust = trust(common, environment);
    places.commands.trust = trust(common, environment);
    if !common.isolated {
        let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
        let home = environment.home.clone().map(real);
        let work = workspace(common, environment).map(real);
        let (skills, commands) = (&mut places.skills, &mut places.commands);
        skills.project = work.as_deref().and_then(|work| SkillPlaces::project_of(work, home.as_deref()));
        skills.user.clone_from(&environment.skills);
        skills.home.clone_from(&home);
        commands.project = work.as_deref().and_then(|work| CommandPlaces::project_of(work, home.as_deref()));
        commands.user.clone_from(&environment.commands);
        commands.plugins = common.plugin_dir.clone().or_else(|| environment.plugins.clone());
        commands.home = home;
    }
    places
}

/// The options of a host that is not for judging: the machine's alone, without any file of
/// the user's or the project's.
pub(crate) fn bare(environment: &Environment) -> anyhow::Result<HostOptions> {
    let program = environment.program.clone().context("this program's own path cannot be had")?;
    let mut options = HostOptions::new(compile::compiler(&program));
    options.allocation = Allocation::OnDemand;
    options.precompiled = compile::precompiled();
    options.cache = cache(environment);
    Ok(options)
}

fn cache(environment: &Environment) -> Option<CacheDir> {
    let (cache, state) = (environment.cache.as_ref()?, environment.state.as_ref()?);
    Some(CacheDir { dir: cache.join("components"), key: state.join("cache.key") })
}

/// How long a process that has already answered waits for other writers.
const LATE_WAIT: Duration = Duration::from_millis(500);

/// The standing refusals that are lifted for a while.
pub(crate) fn lifts(common: &Common, environment: &Environment) -> Option<Lifts> {
    let state = environment.state.as_ref().filter(|_| !common.isolated)?;
    Some(Lifts::new(state.join("lifted.json")))
}

/// Which projects are trusted.
pub(crate) fn trust(common: &Common, environment: &Environment) -> Option<TrustStore> {
    let state = environment.state.as_ref().filter(|_| !common.isolated)?;
    Some(TrustStore::new(&state.join("trust")))
}

/// Where what is decided is written down. `--isolated` leaves no trace.
pub(crate) fn ledger(
    common: &Common,
    environment: &Environment,
    agent: Option<&str>,
) -> Option<LedgerOptions> {
    let dir = environment.ledger().filter(|_| !common.isolated)?;
    Some(LedgerOptions { agent: agent.map(str::to_owned), ..LedgerOptions::new(dir) })
}

/// Writes down that a call was refused without having reached the gate. It is
/// refused, so nothing hangs on this.
pub(crate) fn note_fault(
    common: &Common,
    environment: &Environment,
    agent: Option<&str>,
    fault: FaultKind,
    what: &str,
) {
    let Some(options) = ledger(common, environment, agent) else { return };
    // A configuration that cannot be read may be why.
    let audit = loaded(common, environment, None).map(|loaded| loaded.config.audit).unwrap_or_default();
    let options = LedgerOptions { lock_wait: LATE_WAIT, ..options };
    let entry = Entry {
        verdict: Some(Verdict::Block),
        code: Some(format!("fault/{fault}")),
        fault: Some(fault),
        ..Entry::new(EntryKind::Fault, format!("Portcullis could not judge this call: {what}."))
    };
    if let Err(error) = Ledger::new(options, audit, &environment.variables).append(entry) {
        tracing::warn!("a refusal is not written down: {error}");
    }
}

/// The workspace: `-C`, or the current directory.
pub(crate) fn workspace(common: &Common, environment: &Environment) -> Option<PathBuf> {
    match (&common.directory, &environment.current) {
        (Some(named), Some(current)) => Some(current.join(named)),
        (Some(named), None) => Some(named.clone()),
        (None, current) => current.clone(),
    }
}

/// Runs `work` on an executor of this thread.
pub(crate) fn block_on<R>(work: impl Future<Output = R>) -> anyhow::Result<R> {
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    Ok(executor.block_on(work))
}

/// Opens a host with `options`.
pub(crate) fn open(options: HostOptions) -> anyhow::Result<Host> {
    Ok(block_on(Host::open(options))??)
}

/// What a model is told of an error: its own payload's fault in full, the
/// operator's settings and paths not at all.
pub(crate) fn for_model(error: &anyhow::Error) -> String {
    if let Some(payload) = error.downcast_ref::<HookInputError>() {
        return payload.to_string();
    }
    match error.downcast_ref::<ConfigError>() {
        // An agent may show its model what its hook writes down.
        Some(error) => tracing::error!("{}", error.without_words_of_the_project()),
        None => tracing::error!("{error:#}"),
    }
    let what = if error.is::<ConfigError>() {
        "its configuration cannot be used"
    } else if error.is::<HostError>() {
        "its host could not start"
    } else {
        "it could not read the call or its own files"
    };
    what.to_owned()
}

/// The command with which the user finds out more of an error.
pub(crate) fn way_out(error: &anyhow::Error) -> &'static str {
    if error.is::<ConfigError>() { "portcullis config validate" } else { "portcullis plugin list" }
}

/// The configuration files that these options name, or the user's, and that of the
/// project that `work` lies in.
pub(crate) fn files(
    common: &Common,
    environment: &Environment,
    work: Option<&Path>,
) -> anyhow::Result<Files> {
    if let Some(named) = &common.config {
        anyhow::ensure!(named.is_file(), "the configuration `{}` is not there", named.display());
    }
    let user = environment.config.clone().filter(|_| !common.isolated);
    let project = work.filter(|_| !common.isolated).and_then(|work| {
        // The directories above `a/..` are not those above `a`.
        project_config(&std::fs::canonicalize(work).unwrap_or_else(|_| work.to_owned()))
    });
    let trust = project.as_deref().and_then(|project| trusted(common, environment, root_of(project)?));
    Ok(Files { user: common.config.clone().or(user), project, trust })
}

/// What is trusted of the project at `root`; nothing when that cannot be known.
fn trusted(common: &Common, environment: &Environment, root: &Path) -> Option<Arc<Workspace>> {
    match trust(common, environment)?.workspace(root) {
        Ok(Held::Trusted(workspace)) => Some(Arc::new(workspace)),
        Ok(Held::Nothing | Held::Replaced(_)) => None,
        Err(error) => {
            tracing::warn!("{error}");
            None
        }
    }
}

/// What these files say.
pub(crate) fn loaded(
    common: &Common,
    environment: &Environment,
    work: Option<&Path>,
) -> anyhow::Result<Loaded> {
    said(&files(common, environment, work)?)
}

fn said(files: &Files) -> anyhow::Result<Loaded> {
    let loaded = config::load(files)?;
    for ignored in &loaded.ignored {
        tracing::warn!("{ignored}");
    }
    Ok(loaded)
}

fn absolute(path: &std::path::Path, environment: &Environment) -> PathBuf {
    environment.current.as_ref().map_or_else(|| path.to_owned(), |current| current.join(path))
}

#[derive(Debug)]
struct Bell;

impl Terminal for Bell {
    fn bell(&self) {
        Printer::new().bell();
    }
}
