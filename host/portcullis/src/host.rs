//! The whole of Portcullis in one process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use portcullis_model::config::Config;
use portcullis_runtime::{Allocation, CacheDir, Compiler, Runtime, RuntimeOptions, Terminal};

use crate::error::HostError;
use crate::hook::{HookRow, Memory, ScriptHook, Surroundings};
use crate::ledger::{Ledger, LedgerOptions};
use crate::lift::Lifts;
use crate::plugin::{Inspection, Loader, Maker, Pass, PluginSet, Report, SmallStore, Sources, Watch};
use crate::policy::{Approver, Channel, Policy};
use crate::protect::{Code, Places, Protection};
use crate::record::Recorder;

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
    /// The operator's configuration.
    pub config: Config,
    /// The user's plugin directory.
    pub plugin_dir: Option<PathBuf>,
    /// The project's plugin directory. What lies there may refuse, and no more.
    pub project_plugin_dir: Option<PathBuf>,
    /// Plugin files behind the others.
    pub plugins: Vec<PathBuf>,
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
    /// Follow the plugin directories while the host runs.
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
            config: Config::default(),
            plugin_dir: None,
            project_plugin_dir: None,
            plugins: Vec::new(),
            no_plugins: false,
            store_dir: None,
            ledger: None,
            lifts: None,
            own: OwnFiles::default(),
            approver: None,
            approval_time: Duration::from_secs(300),
            env: BTreeMap::new(),
            terminal: Arc::new(NoTerminal),
            watch: false,
            quiet: Duration::from_millis(500),
        }
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
struct NoTerminal;

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
    plugins: Arc<RwLock<Arc<PluginSet>>>,
    known_tools: Vec<String>,
    home: Option<String>,
    protection: Option<Protection>,
    recorder: Option<Arc<Recorder>>,
    lifts: Option<Lifts>,
    hooks: Vec<ScriptHook>,
    surroundings: Surroundings,
    memory: Memory,
    max_turns: u32,
    channel: Channel,
    policy: Policy,
    project: Option<PathBuf>,
    approver: Option<(Arc<dyn Approver>, Duration)>,
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
        let protection = options.config.protect.own_files.then(|| Protection::new(places(&options)));
        let recorder = recorder(&options).map(Arc::new);
        let lifts = options.lifts;
        let channel = Channel::new(&options.config.channels)?;
        let policy = Policy::new(&options.config)?;
        let approver = options.approver.map(|approver| (approver, options.approval_time));
        let defaults = options.config.hook_defaults;
        let hooks = options.config.hooks.iter().map(|hook| ScriptHook::new(hook, defaults.failure_mode));
        let hooks = hooks.collect::<Result<Vec<_>, _>>().map_err(HostError::Hook)?;
        let variables = if hooks.is_empty() { BTreeMap::new() } else { options.env.clone() };
        let memory = Memory::new(options.store_dir.clone());
        let mut runtime = RuntimeOptions::new(options.compiler);
        runtime.allocation = options.allocation;
        runtime.cache = options.cache;
        let known_tools = options.config.tools.known.clone();
        let home = options.env.get("HOME").filter(|home| home.starts_with('/')).cloned();
        let maker = Maker {
            runtime: Runtime::new(runtime)?,
            config: Arc::new(options.config),
            env: Arc::new(options.env),
            store: Arc::new(SmallStore::new(options.store_dir)),
            terminal: options.terminal,
        };
        let sources =
            Sources { user: options.plugin_dir, project: options.project_plugin_dir, named: options.plugins };
        let mut loader = Loader::new(maker, sources, options.no_plugins, options.quiet);
        let first = settled(&mut loader).await;
        if let Some(recorder) = &recorder {
            recorder.opened(&first.report, options.no_plugins);
        }
        let plugins = Arc::new(RwLock::new(Arc::new(first)));
        let follower = recorder.clone();
        let changed = move |set: &PluginSet| {
            if let Some(recorder) = &follower {
                recorder.follow(&set.report);
            }
        };
        let watch = options
            .watch
            .then(|| Watch::start(loader, Arc::clone(&plugins), changed))
            .transpose()
            .map_err(HostError::Watch)?;
        Ok(Self {
            inner: Arc::new(Inner {
                plugins,
                known_tools,
                home,
                protection,
                recorder,
                lifts,
                hooks,
                surroundings: Surroundings::new(variables),
                memory,
                max_turns: defaults.max_turns.get(),
                channel,
                policy,
                project: options.own.project,
                approver,
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

    pub(crate) fn plugins(&self) -> Arc<PluginSet> {
        Arc::clone(&self.inner.plugins.read().unwrap_or_else(PoisonError::into_inner))
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
    pub fn hooks(&self) -> &[ScriptHook] {
        &self.inner.hooks
    }

    /// Every hook in the order in which they are asked: those of plugins, then scripts.
    #[must_use]
    pub fn all_hooks(&self) -> Vec<HookRow> {
        let plugins = self.plugins();
        let components = plugins.hooks().flat_map(|(_, hook)| hook.rows());
        let rows = components.chain(self.inner.hooks.iter().map(ScriptHook::row));
        rows.map(|row| HookRow { denied: !self.channel().has_hook(&row.name), ..row }).collect()
    }

    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.inner.surroundings
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.inner.memory
    }

    pub(crate) fn max_turns(&self) -> u32 {
        self.inner.max_turns
    }

    pub(crate) fn home(&self) -> Option<&str> {
        self.inner.home.as_deref()
    }

    pub(crate) fn protection(&self) -> Option<&Protection> {
        self.inner.protection.as_ref()
    }

    pub(crate) fn channel(&self) -> &Channel {
        &self.inner.channel
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.inner.policy
    }

    /// The workspace's root, where the host was told it.
    pub(crate) fn project(&self) -> Option<&Path> {
        self.inner.project.as_deref()
    }

    /// Who is asked for consent, and how long an answer is waited for.
    pub(crate) fn approver(&self) -> Option<(&dyn Approver, Duration)> {
        self.inner.approver.as_ref().map(|(approver, time)| (&**approver, *time))
    }

    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.inner.recorder.as_deref()
    }

    pub(crate) fn known_tools(&self) -> &[String] {
        &self.inner.known_tools
    }
}

/// What writes down what a host with these options decides.
fn recorder(options: &HostOptions) -> Option<Recorder> {
    let audit = options.config.audit;
    let ledger = options.ledger.clone().map(|own| Ledger::new(own, audit, &options.env));
    let sources = [&options.own.config, &options.plugin_dir, &options.project_plugin_dir];
    let place = sources.into_iter().flatten().chain(&options.plugins);
    let place: Vec<_> = place.map(|path| path.to_string_lossy()).collect();
    Recorder::new(ledger, audit, place.join("\n"))
}

/// Where Portcullis's own files are, by these options.
fn places(options: &HostOptions) -> Places {
    const CONFIG: &str = "the configuration of Portcullis";
    const PLUGIN: &str = "a plugin of Portcullis";
    const STATE: &str = "the state of Portcullis";
    let own = &options.own;
    let replaced = options.config.plugin.values().filter_map(|plugin| plugin.path.as_ref());
    let plugins = options.plugin_dir.iter().chain(&options.project_plugin_dir).chain(&options.plugins);
    let plugins = plugins.chain(replaced).map(|path| (Code::Plugins, PLUGIN, path));
    let config = own.config.iter().map(|path| (Code::Config, CONFIG, path));
    let key = options.cache.iter().map(|cache| &cache.key);
    let ledger = options.ledger.iter().map(|ledger| &ledger.dir);
    let state = own.state.iter().chain(&options.store_dir).chain(key).chain(ledger);
    let state = state.map(|path| (Code::State, STATE, path));
    let cache = options.cache.iter().map(|cache| (Code::Cache, "the cache of Portcullis", &cache.dir));
    let files = config.chain(plugins).chain(state).chain(cache);
    Places {
        files: files.map(|(code, what, path)| (code, what, path.clone())).collect(),
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
