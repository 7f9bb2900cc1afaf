//! The whole of Portcullis in one process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use portcullis_model::config::Config;
use portcullis_runtime::{
    Allocation, CacheDir, Compiler, Precompiled, Pulse, Runtime, RuntimeOptions, Terminal,
};
use portcullis_schedule::ClaimTable;

use crate::config::{Files, Loaded};
use crate::error::HostError;
use crate::extension::{ExtensionOptions, Extensions};
use crate::follow::{ConfigReport, Follower, Looking, Shared, lock};
use crate::hook::{HookRow, Memory, ScriptHook, Surroundings};
use crate::ledger::{Ledger, LedgerOptions};
use crate::lift::Lifts;
use crate::local::{Local, LocalPlaces};
use crate::plugin::{Inspection, Loader, Maker, Pass, PluginSet, Report, SmallStore, Sources, Watch};
use crate::policy::Approver;
use crate::protect::{Code, PLUGIN, Places};
use crate::record::Recorder;
use crate::rules::{Rules, Snapshot};
use crate::servers::Servers;
use crate::trust::{TrustStore, Warrant, root_of};
use crate::world::World;

/// How long [`Host::open`] waits for files that are still being written.
const SETTLE: Duration = Duration::from_secs(2);
/// And how often it looks at them.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How a [`Host`] is set up.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Who compiles components.
    pub compiler: Compiler,
    /// Where instances come from.
    pub allocation: Allocation,
    /// Where compiled components are kept.
    pub cache: Option<CacheDir>,
    /// Compiled components that are a part of the program.
    pub precompiled: Vec<Precompiled>,
    /// The operator's configuration.
    pub config: Config,
    /// The digest of all that it says, so that the ledger can tell of another one.
    pub config_digest: Option<String>,
    /// The files that it was read from. A host that watches follows them.
    pub config_files: Option<Files>,
    /// Which projects are trusted. Without it none is.
    pub trust: Option<TrustStore>,
    /// The user's plugin directory.
    pub plugin_dir: Option<PathBuf>,
    /// The project's plugin directory. What lies there may refuse, and no more before the
    /// project is trusted.
    pub project_plugin_dir: Option<PathBuf>,
    /// Plugin files behind the others.
    pub plugins: Vec<PathBuf>,
    /// Where skills and commands are looked for. None: nowhere. Not asked in a process for
    /// one call.
    pub local: Option<LocalPlaces>,
    /// Turns every plugin off.
    pub no_plugins: bool,
    /// Where plugins' small values outlive the process.
    pub store_dir: Option<PathBuf>,
    /// Where what was decided is written down. None writes nothing; when the
    /// configuration requires a ledger, every call is refused then.
    pub ledger: Option<LedgerOptions>,
    /// The standing refusals that the operator has lifted for a while.
    pub lifts: Option<Lifts>,
    /// Files that no call may change, and that nothing else here names.
    pub own: OwnFiles,
    /// Who is asked for consent. None: a call that needs it is refused, and its
    /// judgement says that it [wants consent](crate::Judgement::wants_consent).
    pub approver: Option<Arc<dyn Approver>>,
    /// How long an answer of the approver is waited for.
    pub approval_time: Duration,
    /// The environment: granted variables are taken from it, and `HOME` tells
    /// where a path such as `~/.ssh/config` leads.
    pub env: BTreeMap<String, String>,
    /// The user's terminal.
    pub terminal: Arc<dyn Terminal>,
    /// The process ends after one call, and somebody watches it who ticks with this: the
    /// bundled plugins are not asked what is known of them, and those that are no guards
    /// are loaded when they are called.
    pub one_call: Option<Pulse>,
    /// Where what is known of MCP servers is kept, with answers that were too long. None:
    /// nothing of it outlives the host.
    pub server_dir: Option<PathBuf>,
    /// Follow the plugin directories, the configuration files and what is trusted while
    /// the host runs.
    pub watch: bool,
    /// A file that cannot be used is given this long without a change before that
    /// counts: it may still be being written.
    pub quiet: Duration,
}

impl HostOptions {
    /// The defaults: the bundled plugins `guard` and `time`, no directories, no
    /// cache, no ledger, nobody to ask for consent (and 5 min for an answer), a pool of
    /// instances, an empty environment, no terminal, no watch, 500 ms of quiet.
    #[must_use]
    pub fn new(compiler: Compiler) -> Self {
        Self {
            compiler,
            allocation: Allocation::Pool,
            cache: None,
            precompiled: Vec::new(),
            config: Config::default(),
            config_digest: None,
            config_files: None,
            trust: None,
            plugin_dir: None,
            project_plugin_dir: None,
            plugins: Vec::new(),
            local: None,
            no_plugins: false,
            store_dir: None,
            ledger: None,
            lifts: None,
            own: OwnFiles::default(),
            approver: None,
            approval_time: Duration::from_secs(300),
            env: BTreeMap::new(),
            terminal: Arc::new(NoTerminal),
            one_call: None,
            server_dir: None,
            watch: false,
            quiet: Duration::from_millis(500),
        }
    }
}

impl HostOptions {
    /// Takes over the configuration that was read from `files`.
    pub fn configure(&mut self, files: Files, loaded: Loaded) {
        self.config_digest = Some(loaded.digest().to_string());
        self.config_files = Some(files);
        self.config = loaded.config;
    }

    /// The trust in the project that `path` is a file or a directory of.
    fn warrant(&self, path: Option<&PathBuf>) -> Option<Arc<Warrant>> {
        let root = path.and_then(|path| root_of(path))?;
        let store = self.trust.clone()?;
        Some(Arc::new(Warrant::new(store, root.to_owned())))
    }
}

/// Portcullis's own files, so that the host can refuse calls that would change
/// them. Directories of plugins, of the cache and of the store are known already, and
/// so are the default places below `HOME` and the `XDG_` variables.
#[derive(Debug, Clone, Default)]
pub struct OwnFiles {
    /// The configuration file.
    pub config: Option<PathBuf>,
    /// The directory of what must last.
    pub state: Option<PathBuf>,
    /// The program that agents call as their hook.
    pub program: Option<PathBuf>,
    /// The project's root: files such as `opencode.json` hold hooks there, and
    /// nowhere else.
    pub project: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct NoTerminal;

impl Terminal for NoTerminal {
    fn bell(&self) {}
}

/// The gate, with its plugins. Cheap to clone; the last clone ends its threads.
#[derive(Debug, Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    home: Option<String>,
    recorder: Arc<Recorder>,
    lifts: Option<Lifts>,
    surroundings: Surroundings,
    memory: Memory,
    project: Option<PathBuf>,
    approver: Option<(Arc<dyn Approver>, Duration)>,
    /// How many turns have begun.
    turns: AtomicU64,
    /// What the calls of all sessions claim.
    claims: ClaimTable,
    runs_tools: bool,
    servers: Servers,
    watch: Option<Watch>,
}

impl Host {
    /// Loads every plugin, which compiles those that the cache does not have.
    /// Needs a tokio runtime with its timers on.
    ///
    /// A plugin that cannot be used does not keep the host from opening: it
    /// refuses every call, with its reason, until that is mended.
    ///
    /// # Errors
    /// When the engine or the watch cannot start, or when plugins are turned off
    /// against the operator's word.
    pub async fn open(options: HostOptions) -> Result<Self, HostError> {
        if options.no_plugins && options.config.plugins.locked {
            return Err(HostError::Locked);
        }
        let places = places(&options);
        let files = options.config_files.clone().filter(|_| options.watch);
        let project = options.config_files.as_ref().and_then(|files| files.project.as_ref());
        let (for_config, for_plugins) =
            (options.warrant(project), options.warrant(options.project_plugin_dir.as_ref()));
        let kept_places = options.watch.then(|| places.clone());
        let digest = options.config_digest.clone();
        let composition = ExtensionOptions {
            depth_max: options.config.extensions.max_composition_depth.get(),
            ..ExtensionOptions::default()
        };
        let rules = Arc::new(Rules::new(&options.config, places, for_config.as_ref(), digest)?);
        let recorder = Arc::new(recorder(&options));
        let lifts = options.lifts;
        let approver = options.approver.map(|approver| (approver, options.approval_time));
        let needs_variables = files.is_some() || !rules.hooks().is_empty();
        let variables = if needs_variables { options.env.clone() } else { BTreeMap::new() };
        let memory = Memory::new(options.store_dir.clone(), options.one_call.is_some());
        let mut runtime = RuntimeOptions::new(options.compiler);
        runtime.allocation = options.allocation;
        runtime.cache = options.cache;
        runtime.precompiled = options.precompiled;
        let one_call = options.one_call.is_some();
        runtime.pulse = options.one_call;
        let local = options.local.filter(|_| !one_call);
        let local = local.map(|places| Local::new(places, &options.config)).transpose()?;
        let home = options.env.get("HOME").filter(|home| home.starts_with('/')).cloned();
        let config = Arc::new(options.config);
        let env = Arc::new(options.env);
        let workspace = options.own.project.clone().unwrap_or_else(|| PathBuf::from("/"));
        let servers = Servers::new(&config.mcp, &workspace, Arc::clone(&env), options.server_dir);
        let maker = Maker {
            runtime: Runtime::new(runtime)?,
            config: Arc::clone(&config),
            env,
            store: Arc::new(SmallStore::new(options.store_dir)),
            terminal: options.terminal,
            one_call,
        };
        let sources =
            Sources { user: options.plugin_dir, project: options.project_plugin_dir, named: options.plugins };
        let mut loader = Loader::new(maker, sources, for_plugins, options.no_plugins, options.quiet);
        let first = settled(&mut loader).await;
        recorder.opened(&first.report, rules.configured.as_ref(), options.no_plugins);
        let snapshot = Snapshot { plugins: Arc::new(first), rules: Arc::clone(&rules) };
        let report = ConfigReport { digest: options.config_digest, ..ConfigReport::default() };
        let world = World::new(Extensions::new(composition));
        if let Some(local) = &local {
            local.register(&world).await?;
        }
        let servers = if one_call { Servers::default() } else { servers };
        servers.register(&world).await;
        world.publish(&snapshot);
        let shared = Arc::new(Shared {
            world,
            snapshot: RwLock::new(snapshot),
            report: Mutex::new(report),
            accepted: Mutex::default(),
            pending: Mutex::default(),
        });
        let follower = kept_places.map(|places| Follower {
            shared: Arc::clone(&shared),
            recorder: Arc::clone(&recorder),
            files,
            warrant: for_config,
            local,
            trust_file: options.trust.map(|trust| trust.file().to_owned()),
            places,
            config,
            rules,
            quiet: options.quiet,
            looking: Looking::default(),
        });
        let watch = follower.map(|follower| Watch::start(loader, follower));
        let watch = watch.transpose().map_err(HostError::Watch)?;
        Ok(Self {
            inner: Arc::new(Inner {
                shared,
                home,
                recorder,
                lifts,
                surroundings: Surroundings::new(variables),
                memory,
                project: options.own.project,
                approver,
                turns: AtomicU64::new(0),
                claims: ClaimTable::default(),
                runs_tools: !one_call,
                servers,
                watch,
            }),
        })
    }

    /// Every plugin that the host knows of, and how it stands.
    #[must_use]
    pub fn report(&self) -> Report {
        self.plugins().report.clone()
    }

    /// All that is known of the active plugin `name`.
    #[must_use]
    pub fn inspect(&self, name: &str) -> Option<Inspection> {
        self.plugins().inspect(name)
    }

    /// Looks at the plugin directories now, and waits until the result serves.
    /// Does nothing for a host that does not watch.
    pub fn refresh(&self) {
        if let Some(watch) = &self.inner.watch {
            watch.refresh();
        }
    }

    /// How the configuration stands. A change of the files that is wrong, or that would
    /// lose what is strict, is not taken over.
    #[must_use]
    pub fn config_report(&self) -> ConfigReport {
        lock(&self.inner.shared.report).clone()
    }

    /// Takes over the configuration that waits because something would be lost with it.
    /// This is the operator's word: no agent and no file may say it. True when one waited.
    pub fn accept_config(&self) -> bool {
        let waits = *lock(&self.inner.shared.pending);
        if waits.is_some() {
            *lock(&self.inner.shared.accepted) = waits;
            self.refresh();
        }
        waits.is_some()
    }

    pub(crate) fn plugins(&self) -> Arc<PluginSet> {
        self.snapshot().plugins
    }

    /// What a call is judged by, from its start to its end.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.inner.shared.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The standing refusals of `set` that are lifted now. The file is only looked
    /// at when there is something to lift.
    pub(crate) fn lifted(&self, set: &PluginSet) -> Vec<String> {
        let Some(lifts) = self.inner.lifts.as_ref().filter(|_| !set.standing().is_empty()) else {
            return Vec::new();
        };
        lifts.active().into_iter().map(|lift| lift.name).collect()
    }

    /// The script hooks of the configuration, in order; also those that are off.
    #[must_use]
    pub fn hooks(&self) -> Vec<ScriptHook> {
        self.snapshot().rules.hooks().to_vec()
    }

    /// Every hook in the order in which they are asked: those of plugins, then scripts.
    #[must_use]
    pub fn all_hooks(&self) -> Vec<HookRow> {
        let Snapshot { plugins, rules } = self.snapshot();
        let components = plugins.hooks().flat_map(|(_, hook)| hook.rows());
        let rows = components.chain(rules.hooks().iter().map(ScriptHook::row));
        rows.map(|row| HookRow { denied: !rules.channel.has_hook(&row.name), ..row }).collect()
    }

    pub(crate) fn mcp(&self) -> &Servers {
        &self.inner.servers
    }

    /// What there is for agents.
    pub(crate) fn world(&self) -> &World {
        &self.inner.shared.world
    }

    /// An id that no other turn of this host has.
    pub(crate) fn next_turn(&self) -> String {
        format!("t{}", self.inner.turns.fetch_add(1, Ordering::Relaxed))
    }

    /// The table in which the calls of all sessions wait for one another.
    pub(crate) fn claims(&self) -> &ClaimTable {
        &self.inner.claims
    }

    /// False for a process that judges one call and ends.
    pub(crate) fn runs_tools(&self) -> bool {
        self.inner.runs_tools
    }

    /// Does `work` while neither plugins, rules nor capabilities change.
    pub(crate) fn at_one_moment<T>(&self, work: impl FnOnce(&Snapshot) -> T) -> T {
        work(&self.inner.shared.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.inner.surroundings
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.inner.memory
    }

    pub(crate) fn home(&self) -> Option<&str> {
        self.inner.home.as_deref()
    }

    /// The workspace's root, where the host was told it.
    pub(crate) fn project(&self) -> Option<&Path> {
        self.inner.project.as_deref()
    }

    /// Who is asked for consent, and how long an answer is waited for.
    pub(crate) fn approver(&self) -> Option<(&dyn Approver, Duration)> {
        self.inner.approver.as_ref().map(|(approver, time)| (&**approver, *time))
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.inner.recorder
    }
}

/// What writes down what a host with these options decides.
fn recorder(options: &HostOptions) -> Recorder {
    let audit = options.config.audit;
    let ledger = options.ledger.clone().map(|own| Ledger::new(own, audit, &options.env));
    let sources = [&options.own.config, &options.plugin_dir, &options.project_plugin_dir];
    let project = options.config_files.as_ref().and_then(|files| files.project.as_ref());
    let place = sources.into_iter().flatten().chain(&options.plugins).chain(project);
    let place: Vec<_> = place.map(|path| path.to_string_lossy()).collect();
    Recorder::new(ledger, place.join("\n"))
}

/// Where Portcullis's own files are, by these options; not those that a configuration names.
fn places(options: &HostOptions) -> Places {
    const CONFIG: &str = "the configuration of Portcullis";
    const STATE: &str = "the state of Portcullis";
    let own = &options.own;
    let plugins = options.plugin_dir.iter().chain(&options.project_plugin_dir).chain(&options.plugins);
    let plugins = plugins.map(|path| (Code::Plugins, PLUGIN, path));
    let config = own.config.iter().map(|path| (Code::Config, CONFIG, path));
    let key = options.cache.iter().map(|cache| &cache.key);
    let ledger = options.ledger.iter().map(|ledger| &ledger.dir);
    let trust = options.trust.iter().map(TrustStore::directory);
    let state = own.state.iter().chain(&options.store_dir).chain(key).chain(ledger);
    let state = state.map(PathBuf::as_path).chain(trust);
    let state = state.map(|path| (Code::State, STATE, path));
    let cache = options.cache.iter().map(|cache| (Code::Cache, "the cache of Portcullis", &cache.dir));
    let files = config.chain(plugins).chain(cache).map(|(code, what, path)| (code, what, path.as_path()));
    Places {
        files: files.chain(state).map(|(code, what, path)| (code, what, path.to_owned())).collect(),
        program: own.program.clone(),
        project: own.project.clone(),
        variables: options.env.clone(),
    }
}

/// The first set. A file that is still being written is waited for, because a
/// guard that is skipped while it is copied would be a hole.
async fn settled(loader: &mut Loader) -> PluginSet {
    let start = tokio::time::Instant::now();
    loop {
        let Pass { set, settling } = loader.pass().await;
        if !settling {
            return set;
        }
        if start.elapsed() > SETTLE {
            return loader.last_pass().await;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
