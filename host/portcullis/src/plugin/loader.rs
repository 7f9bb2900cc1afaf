//! Keeps the set of plugins true to the directories and the configuration.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use portcullis_model::config::{Config, FailureMode};
use portcullis_model::name::PluginName;
use portcullis_runtime::Digest;

use crate::plugin::load::{Maker, Problem};
use crate::plugin::source::{self, Fingerprint, Unreadable};
use crate::plugin::{
    BUNDLED, Bundled, Origin, Plugin, PluginRow, PluginSet, PluginState, Report, Sources, Standing,
};
use crate::trust::Warrant;

/// A change that is younger than this may be followed by one that the file's
/// times and size do not show.
const GRAIN: Duration = Duration::from_millis(500);

/// Makes each set of plugins from the one before.
#[derive(Debug)]
pub(crate) struct Loader {
    maker: Maker,
    sources: Sources,
    no_plugins: bool,
    /// The trust in the project whose plugins are looked at.
    warrant: Option<Arc<Warrant>>,
    /// How long a file that cannot be used is given.
    quiet: Duration,
    /// False once a file that is still being written counts as broken.
    patient: bool,
    bundled: HashMap<&'static str, BundledSlot>,
    files: HashMap<PathBuf, Slot>,
    /// The required plugins that were live in the last pass.
    live: BTreeMap<PluginName, Arc<Plugin>>,
}

/// A bundled plugin that was loaded.
#[derive(Debug)]
struct BundledSlot {
    plugin: Arc<Plugin>,
    /// It was made with the configuration that holds.
    is_current: bool,
}

/// What is known of one file.
#[derive(Debug)]
struct Slot {
    fingerprint: Option<Fingerprint>,
    digest: Option<Digest>,
    good: Option<Arc<Plugin>>,
    problem: Option<Problem>,
    /// It was read when its last change was so young that another one may not
    /// have shown.
    young: bool,
    /// Its problem counts: it is broken until it is good again.
    counts: bool,
    /// It came with a project, and was trusted when it was read.
    is_granted: bool,
}

/// What one pass found.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) set: PluginSet,
    /// A file is still being written: look again soon.
    pub(crate) settling: bool,
}

/// One plugin that could act, in the order in which they would.
#[derive(Debug)]
struct Candidate {
    /// The plugin's name; the file's, when it never said one.
    name: String,
    origin: Origin,
    plugin: Option<Arc<Plugin>>,
    problem: Option<Problem>,
    settling: bool,
}

impl Candidate {
    fn unloaded(name: &str, origin: Origin) -> Self {
        Self { name: name.to_owned(), origin, plugin: None, problem: None, settling: false }
    }
}

impl Loader {
    pub(crate) fn new(
        maker: Maker,
        sources: Sources,
        warrant: Option<Arc<Warrant>>,
        no_plugins: bool,
        quiet: Duration,
    ) -> Self {
        Self {
            maker,
            sources,
            warrant,
            no_plugins,
            quiet,
            patient: true,
            bundled: HashMap::new(),
            files: HashMap::new(),
            live: BTreeMap::new(),
        }
    }

    /// Looks at everything once, and takes files that are still being written for
    /// broken.
    pub(crate) async fn last_pass(&mut self) -> PluginSet {
        self.patient = false;
        let Pass { set, .. } = self.pass().await;
        self.patient = true;
        set
    }

    /// Goes by `config` from the next pass on. Plugins whose own table is another one are
    /// made anew; until that succeeds they act on as they were.
    pub(crate) fn reconfigure(&mut self, config: Arc<Config>) {
        let old = std::mem::replace(&mut self.maker.config, Arc::clone(&config));
        let same = |name: &str| {
            let own = |config: &Config| {
                let name = PluginName::new(name).ok()?;
                Some((config.plugin.get(&name).cloned(), config.of_project.plugin.get(&name).cloned()))
            };
            own(&old) == own(&config)
        };
        for (name, slot) in &mut self.bundled {
            slot.is_current &= same(name);
        }
        for (path, slot) in &mut self.files {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let name = slot.good.as_ref().map(|plugin| plugin.info.name.as_str());
            if !same(&stem) || name.is_some_and(|name| !same(name)) {
                slot.fingerprint = None;
                slot.digest = None;
            }
        }
    }

    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Looks at everything once. Files that did not change are not read again.
    pub(crate) async fn pass(&mut self) -> Pass {
        let config = Arc::clone(&self.maker.config);
        let (found, unreadable) = self.sources.files();
        if self.no_plugins {
            return Pass { set: nothing(found), settling: false };
        }
        let mut candidates = self.bundled(&config).await;
        for origin in found {
            candidates.push(self.file(origin).await);
        }
        let known: Vec<_> = candidates.iter().filter_map(|c| c.origin.path()).collect();
        if unreadable.is_empty() {
            self.files.retain(|path, _| known.contains(&path.as_path()));
        }
        let settling = candidates.iter().any(|candidate| candidate.settling);
        Pass { set: self.resolve(&config, candidates, &unreadable), settling }
    }

    /// The bundled plugins, and the files that the configuration puts in their place.
    async fn bundled(&mut self, config: &Config) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for bundled in &BUNDLED {
            let replaced =
                config.plugin.iter().any(|(name, own)| name.as_str() == bundled.name && own.path.is_some());
            if replaced {
                continue;
            }
            let mut candidate = Candidate::unloaded(bundled.name, Origin::Bundled);
            // Nothing is compiled for a plugin that is not on.
            if is_on(config, bundled) {
                candidate.problem = self.bundled_plugin(bundled).await.err();
                candidate.plugin = self.bundled.get(bundled.name).map(|slot| Arc::clone(&slot.plugin));
            }
            candidates.push(candidate);
        }
        for (name, own) in &config.plugin {
            if let Some(path) = &own.path {
                let mut candidate = self.file(Origin::Named(path.clone())).await;
                if candidate.plugin.as_ref().is_some_and(|plugin| plugin.info.name != *name) {
                    let reason = format!(
                        "`[plugin.{name}] path` names a file whose plugin is called `{}`",
                        candidate.name
                    );
                    candidate.plugin = None;
                    candidate.problem = Some(Problem { code: "load/other-name".to_owned(), reason });
                }
                candidate.name = name.to_string();
                // In the place of the bundled plugin of that name, so that the order holds.
                let at = BUNDLED.iter().position(|b| b.name == name.as_str()).unwrap_or(candidates.len());
                candidates.insert(at.min(candidates.len()), candidate);
            }
        }
        candidates
    }

    /// Loads a bundled plugin unless it is loaded. One that is there already stays when
    /// that fails.
    async fn bundled_plugin(&mut self, bundled: &'static Bundled) -> Result<(), Problem> {
        if self.bundled.get(bundled.name).is_some_and(|slot| slot.is_current) {
            return Ok(());
        }
        let made = self.maker.make_bundled(bundled).await?;
        self.bundled.insert(bundled.name, BundledSlot { plugin: Arc::new(made), is_current: true });
        Ok(())
    }

    /// One file, read again only when it changed.
    async fn file(&mut self, origin: Origin) -> Candidate {
        let path = origin.path().map(Path::to_path_buf).unwrap_or_default();
        let stem = file_stem(&origin);
        let slot = self.files.entry(path.clone()).or_insert(Slot {
            fingerprint: None,
            digest: None,
            good: None,
            problem: None,
            young: true,
            counts: false,
            is_granted: false,
        });
        let now = Fingerprint::of(&path).ok();
        let warrant = self.warrant.as_ref().filter(|_| !origin.is_trusted());
        // Only these very bytes are trusted: who changes them has to ask again.
        let granted =
            |digest: &Digest| warrant.filter(|warrant| warrant.covers(&path, &digest.to_string())).cloned();
        if slot.digest.is_some_and(|digest| granted(&digest).is_some() != slot.is_granted) {
            slot.digest = None;
            slot.fingerprint = None;
        }
        let unchanged = now.is_some() && slot.fingerprint == now && slot.problem.is_none() && !slot.young;
        if !unchanged {
            match source::read(&path) {
                Ok(bytes) => {
                    let digest = Digest::of(&bytes);
                    if slot.digest != Some(digest) {
                        slot.digest = Some(digest);
                        let warrant = granted(&digest);
                        slot.is_granted = warrant.is_some();
                        match self.maker.make(&bytes, &stem, origin.clone(), warrant).await {
                            Ok(plugin) => (slot.good, slot.problem) = (Some(Arc::new(plugin)), None),
                            Err(problem) => {
                                // What may be the machine's fault is tried again.
                                slot.digest = slot.digest.filter(|_| !problem.may_pass());
                                slot.problem = Some(problem);
                            }
                        }
                    }
                }
                Err(error) => {
                    slot.digest = None;
                    let reason = format!("it cannot be read: {error}");
                    slot.problem = Some(Problem { code: "load/read".to_owned(), reason });
                }
            }
            slot.fingerprint = now;
        }
        let age = slot.fingerprint.as_ref().and_then(Fingerprint::age);
        slot.young = age.is_none_or(|age| age < GRAIN);
        let quiet = age.is_none_or(|age| age >= self.quiet);
        // What is broken stays so while it is written again: a refusal must not
        // lift because somebody touched the file.
        slot.counts = slot.problem.is_some() && (slot.counts || !self.patient || quiet);
        let settling = slot.problem.is_some() && !slot.counts;
        Candidate {
            name: slot.good.as_ref().map_or(stem, |plugin| plugin.info.name.to_string()),
            origin,
            plugin: slot.good.clone(),
            problem: slot.problem.clone(),
            settling,
        }
    }

    /// Decides who acts, in which order, and whether anything refuses every call.
    fn resolve(
        &mut self,
        config: &Config,
        candidates: Vec<Candidate>,
        unreadable: &[Unreadable],
    ) -> PluginSet {
        let mut tally = Tally::default();
        let (chosen, rest) = choose(config, candidates, &mut tally);
        for candidate in chosen {
            let advisory = PluginName::new(candidate.name.clone())
                .ok()
                .and_then(|name| config.plugin.get(&name))
                .is_some_and(|own| own.failure_mode == FailureMode::Open && candidate.origin.is_trusted());
            tally.take(candidate, advisory);
        }
        for candidate in rest {
            tally.row(&candidate, PluginState::Inactive);
        }
        for gone in unreadable {
            tally.standing.push(Standing {
                name: "plugins".to_owned(),
                code: "load/directory".to_owned(),
                what: format!("a plugin directory cannot be listed ({})", gone.error),
                way_out: "to make the directory readable".to_owned(),
            });
            tracing::error!(
                "the plugin directory `{}` cannot be listed: {}",
                gone.directory.display(),
                gone.error
            );
        }
        self.require(config, &mut tally);
        PluginSet::new(
            tally.active,
            tally.standing,
            !config.plugins.required.is_empty() || !config.plugins.required_by_project.is_empty(),
            Report { rows: tally.rows, standing: Vec::new(), refusing: Vec::new() },
        )
    }

    /// A required plugin that was live acts on; one that never was refuses every call.
    fn require(&mut self, config: &Config, tally: &mut Tally) {
        let by_project = &config.plugins.required_by_project;
        for name in config.plugins.required.iter().chain(by_project) {
            // A file of the project's cannot stand in for what the operator requires.
            let live = |plugin: &&Arc<Plugin>| {
                plugin.info.name == *name
                    && (plugin.origin.is_trusted() || by_project.contains(name) && plugin.is_trusted())
            };
            if let Some(plugin) = tally.active.iter().find(live) {
                self.live.insert(name.clone(), Arc::clone(plugin));
            } else if let Some(plugin) = self.live.get(name) {
                tracing::error!(plugin = %name, "a required plugin is gone; its last version acts on");
                tally.rows.push(row(&plugin.origin, plugin, PluginState::Kept));
                tally.active.push(Arc::clone(plugin));
            } else if by_project.contains(name) {
                // The project chose the name, so it is shown to the operator alone.
                if !tally.rows.iter().any(|row| row.name == name.as_str()) {
                    tally.rows.push(unresolved(name.as_str()));
                }
                tally.standing.push(Standing {
                    name: "project".to_owned(),
                    code: "load/required".to_owned(),
                    what: "a plugin that this project requires is not live".to_owned(),
                    way_out:
                        "to put it in place, or to take it out of `[plugins] required` in the project's \
                              configuration"
                            .to_owned(),
                });
            } else {
                tally.standing.push(Standing {
                    name: name.to_string(),
                    code: "load/required".to_owned(),
                    what: format!("the required plugin `{name}` is not live"),
                    way_out: "to put it in place, or to take it out of `[plugins] required`".to_owned(),
                });
            }
        }
    }
}

/// The set of `--no-plugins`: everything is there, and nothing acts.
fn nothing(found: Vec<Origin>) -> PluginSet {
    let bundled = BUNDLED.iter().map(|bundled| (bundled.name.to_owned(), Origin::Bundled));
    let files = found.into_iter().map(|origin| (file_stem(&origin), origin));
    let rows = bundled.chain(files).map(|(name, origin)| PluginRow {
        origin: Some(origin),
        state: PluginState::Inactive,
        ..unresolved(&name)
    });
    PluginSet::new(
        Vec::new(),
        Vec::new(),
        false,
        Report { rows: rows.collect(), standing: Vec::new(), refusing: Vec::new() },
    )
}

fn file_stem(origin: &Origin) -> String {
    origin
        .path()
        .and_then(Path::file_stem)
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// True when a bundled plugin acts under `config`.
fn is_on(config: &Config, bundled: &Bundled) -> bool {
    match &config.plugins.enabled {
        None => bundled.default_on,
        Some(list) => list.iter().any(|name| name.as_str() == bundled.name),
    }
}

/// The candidates that act, in order, and the rest.
fn choose(
    config: &Config,
    mut candidates: Vec<Candidate>,
    tally: &mut Tally,
) -> (Vec<Candidate>, Vec<Candidate>) {
    let Some(list) = &config.plugins.enabled else {
        let off = |c: &Candidate| {
            c.origin == Origin::Bundled && BUNDLED.iter().any(|b| b.name == c.name && !b.default_on)
        };
        let (rest, chosen) = candidates.into_iter().partition(off);
        return (chosen, rest);
    };
    let mut chosen = Vec::new();
    let mut lost = false;
    for name in list {
        match candidates.iter().position(|candidate| candidate.name == name.as_str()) {
            Some(at) => chosen.push(candidates.remove(at)),
            None => {
                lost = true;
                tally.rows.push(unresolved(name.as_str()));
            }
        }
    }
    let asked = |c: &Candidate| {
        // A file that was named on the command line was asked for in this very run.
        let named = matches!(&c.origin, Origin::Named(path) if !config.plugin.values().any(|own| own.path.as_ref() == Some(path)));
        // A broken file cannot say its name, so it may be the one that is missing.
        named || (lost && c.plugin.is_none() && c.origin != Origin::Bundled)
    };
    let (asked, rest): (Vec<_>, Vec<_>) = candidates.into_iter().partition(asked);
    chosen.extend(asked);
    (chosen, rest)
}

/// What a pass adds up.
#[derive(Debug, Default)]
struct Tally {
    active: Vec<Arc<Plugin>>,
    standing: Vec<Standing>,
    rows: Vec<PluginRow>,
}

impl Tally {
    fn take(&mut self, candidate: Candidate, advisory: bool) {
        let taken = self.active.iter().any(|plugin| plugin.info.name.as_str() == candidate.name);
        let state = match (&candidate.plugin, &candidate.problem) {
            (Some(plugin), problem) if !taken => {
                self.active.push(Arc::clone(plugin));
                match problem {
                    Some(problem) if !candidate.settling => PluginState::Stale(problem.reason.clone()),
                    _ => PluginState::Active,
                }
            }
            (Some(_), _) => PluginState::Shadowed,
            (None, _) if candidate.settling => PluginState::Settling,
            (None, Some(problem)) => {
                if !advisory {
                    self.standing.push(standing(&candidate, problem));
                }
                PluginState::Broken { reason: problem.reason.clone(), code: problem.code.clone(), advisory }
            }
            (None, None) => PluginState::Settling,
        };
        self.row(&candidate, state);
    }

    fn row(&mut self, candidate: &Candidate, state: PluginState) {
        self.rows.push(match &candidate.plugin {
            Some(plugin) => row(&candidate.origin, plugin, state),
            None => {
                PluginRow { origin: Some(candidate.origin.clone()), state, ..unresolved(&candidate.name) }
            }
        });
    }
}

fn standing(candidate: &Candidate, problem: &Problem) -> Standing {
    let file =
        candidate.origin.path().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = file.unwrap_or_else(|| candidate.name.clone());
    // The file's name and the reason may hold words that the project chose, so
    // what came with it is described by our own.
    let (what, mut way_out) = if candidate.origin.is_trusted() {
        (
            format!("the plugin `{name}` cannot be used ({})", problem.reason),
            "to replace or remove it".to_owned(),
        )
    } else {
        let what = format!("a plugin file that came with this project cannot be used ({})", problem.code);
        (what, "to remove it".to_owned())
    };
    if candidate.origin.is_trusted() && PluginName::new(candidate.name.clone()).is_ok() {
        let name = &candidate.name;
        way_out.push_str(&format!("; `[plugin.{name}] failure_mode = \"open\"` would make it advisory"));
    }
    Standing { what, way_out, code: problem.code.clone(), name }
}

fn row(origin: &Origin, plugin: &Plugin, state: PluginState) -> PluginRow {
    PluginRow {
        name: plugin.info.name.to_string(),
        state,
        origin: Some(origin.clone()),
        version: Some(plugin.info.version.clone()),
        kinds: plugin.guest.contract().kinds.clone(),
        tools: plugin.tools.iter().map(|tool| tool.definition.name.clone()).collect(),
        digest: Some(plugin.guest.digest()),
        warnings: plugin.warnings.clone(),
    }
}

fn unresolved(name: &str) -> PluginRow {
    PluginRow {
        name: name.to_owned(),
        state: PluginState::Unresolved,
        origin: None,
        version: None,
        kinds: Vec::new(),
        tools: Vec::new(),
        digest: None,
        warnings: Vec::new(),
    }
}
