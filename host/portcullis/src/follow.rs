//! Follows the configuration files of a host that runs: whole or not at all, and never
//! to less than what was strict.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_model::config::Config;
use portcullis_runtime::Digest;

use crate::config::{self, Files, Loaded};
use crate::local::Local;
use crate::plugin::{Beside, Loader, PluginSet};
use crate::protect::Places;
use crate::record::Recorder;
use crate::rules::{Rules, Snapshot};
use crate::trust::Warrant;
use crate::world::World;

/// How the configuration of a host stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigReport {
    /// The digest of the configuration that serves.
    pub digest: Option<String>,
    /// Why the files, as they are now, are not taken over.
    pub kept: Option<String>,
    /// What would be lost with them, each as it is written in a file.
    pub lost: Vec<String>,
}

/// What a host and the thread that follows its files share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) world: World,
    pub(crate) snapshot: RwLock<Snapshot>,
    pub(crate) report: Mutex<ConfigReport>,
    /// The configuration that the operator takes over although something is lost.
    pub(crate) accepted: Mutex<Option<Digest>>,
    /// The one that waits for that.
    pub(crate) pending: Mutex<Option<Digest>>,
}

/// Follows the files.
pub(crate) struct Follower {
    pub(crate) shared: Arc<Shared>,
    pub(crate) recorder: Arc<Recorder>,
    /// The files; none for a host whose configuration is its embedder's.
    pub(crate) files: Option<Files>,
    pub(crate) warrant: Option<Arc<Warrant>>,
    pub(crate) local: Option<Local>,
    pub(crate) trust_file: Option<PathBuf>,
    pub(crate) places: Places,
    pub(crate) config: Arc<Config>,
    pub(crate) rules: Arc<Rules>,
    /// How long a file that is wrong may still be in the making.
    pub(crate) quiet: Duration,
    pub(crate) looking: Looking,
}

/// The looks at the extensions, on a thread of their own that lives as long as this.
#[derive(Debug, Default)]
pub(crate) struct Looking {
    asks: Option<SyncSender<()>>,
    /// When the one that runs has begun.
    since: Arc<Mutex<Option<Instant>>>,
    /// Who follows the directories, and has to hear of other ones.
    follower: Arc<Mutex<Option<Waker>>>,
}

/// A look that takes longer than this is late.
const LOOK_TIME: Duration = Duration::from_secs(30);

impl Looking {
    /// Asks for one more look.
    fn begin(&mut self, shared: &Arc<Shared>) {
        if self.asks.is_none() {
            let (since, follower) = (Arc::clone(&self.since), Arc::clone(&self.follower));
            let started = Self::start(Arc::clone(shared), since, follower);
            self.asks = started.inspect_err(|e| tracing::error!("the extensions cannot be asked: {e}")).ok();
        }
        if let Some(asks) = &self.asks {
            // One that waits already is enough.
            let _ = asks.try_send(());
        }
    }

    fn start(
        shared: Arc<Shared>,
        since: Arc<Mutex<Option<Instant>>>,
        follower: Arc<Mutex<Option<Waker>>>,
    ) -> io::Result<SyncSender<()>> {
        let (asks, asked) = mpsc::sync_channel(1);
        let executor = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let look = move || {
            for () in asked {
                *lock(&since) = Some(Instant::now());
                let before = shared.world.places();
                let looked = catch_unwind(AssertUnwindSafe(|| {
                    executor.block_on(shared.world.look());
                    shared.world.publish(&shared.snapshot.read().unwrap_or_else(PoisonError::into_inner));
                }));
                if looked.is_err() {
                    tracing::error!("looking at the extensions failed inside; what they said serves on");
                }
                *lock(&since) = None;
                // What happened in a directory before it was followed is seen then.
                if shared.world.places() != before
                    && let Some(follower) = lock(&follower).take()
                {
                    follower.wake();
                }
            }
        };
        thread::Builder::new().name("portcullis-look".to_owned()).spawn(look)?;
        Ok(asks)
    }

    /// Why the last look is not over, when it should be.
    fn is_late(&self) -> Option<String> {
        let since = (*lock(&self.since)).filter(|since| since.elapsed() > LOOK_TIME)?;
        let took = since.elapsed().as_secs();
        Some(format!("the extensions were asked {took} s ago, and one of them has not answered"))
    }
}

/// What a look at the files came to.
enum Found {
    Same,
    Other(Box<(Loaded, Rules)>),
    /// They are not taken over: why, what would be lost, and which configuration it is.
    Kept(String, Vec<String>, Option<Digest>),
}

impl Follower {
    fn find(&self, files: &Files) -> Found {
        let loaded = match config::load(files) {
            Ok(loaded) => loaded,
            Err(error) => return Found::Kept(error.to_string(), Vec::new(), None),
        };
        if loaded.config == *self.config {
            return Found::Same;
        }
        let digest = loaded.digest();
        let mut lost = self.lost(&loaded, files);
        if loaded.says_nothing() && self.says_something() {
            lost.push("everything that it said".to_owned());
        }
        let accepted = lock(&self.shared.accepted).is_some_and(|accepted| accepted == digest);
        if !lost.is_empty() && !accepted {
            let why = format!(
                "it would lose {}; hint: start the host anew when that is meant, or mend the file",
                lost.join(", ")
            );
            return Found::Kept(why, lost, Some(digest));
        }
        if let Some(Err(error)) = self.local.as_ref().map(|local| local.check(&loaded.config)) {
            return Found::Kept(error.to_string(), Vec::new(), None);
        }
        match Rules::new(&loaded.config, self.places.clone(), self.warrant.as_ref(), Some(digest.to_string()))
        {
            Ok(rules) => Found::Other(Box::new((loaded, rules))),
            Err(error) => Found::Kept(error.to_string(), Vec::new(), None),
        }
    }

    /// What is strict now and would not be. What a project brought by the user's trust is
    /// no loss when the user takes the trust back.
    fn lost(&self, loaded: &Loaded, files: &Files) -> Vec<String> {
        let mut before = Config::clone(&self.config);
        let mut after = loaded.config.clone();
        let own = &before.of_project;
        let covers = |files: &Files| {
            let file = config::covered(files)?;
            files.trust.as_ref().map(|trust| trust.covers(&file, &own.digest))
        };
        if covers(files) != Some(true) {
            before.of_project.hooks.clear();
            after.of_project.hooks.clear();
        }
        config::lost(&before, &after)
    }

    fn says_something(&self) -> bool {
        let empty = Loaded::default().digest().to_string();
        self.rules.configured.as_ref().is_some_and(|configured| configured.digest != empty)
    }

    /// May it be that somebody is still writing one of the files?
    fn is_young(&self, files: &Files) -> bool {
        let young = |path: &PathBuf| {
            let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file);
            let modified = meta.and_then(|meta| meta.modified().ok());
            modified.and_then(|modified| modified.elapsed().ok()).is_some_and(|age| age < self.quiet)
        };
        files.user.iter().chain(&files.project).any(young)
    }

    fn keep(&self, why: String, lost: Vec<String>, digest: Option<Digest>) {
        *lock(&self.shared.pending) = digest;
        let mut report = lock(&self.shared.report);
        if report.kept.as_ref() != Some(&why) {
            tracing::error!(
                "a change of the configuration is not taken over, the last good one serves: {why}"
            );
            self.recorder.kept_configuration(&why, report.digest.clone());
            report.kept = Some(why);
            report.lost = lost;
        }
    }
}

impl Beside for Follower {
    fn directories(&self) -> Vec<PathBuf> {
        let files = self.files.iter().flat_map(|files| files.user.iter().chain(&files.project));
        let real = files.clone().filter_map(|file| fs::canonicalize(file).ok());
        let files = files.cloned().chain(real).chain(self.trust_file.clone());
        let own = files.filter_map(|file| file.parent().map(Path::to_path_buf));
        own.chain(self.shared.world.places()).collect()
    }

    fn look(&mut self, loader: &mut Loader) -> bool {
        let Some(mut files) = self.files.clone() else { return false };
        files.trust = self.warrant.as_ref().and_then(|warrant| warrant.now());
        match self.find(&files) {
            Found::Same => {
                *lock(&self.shared.pending) = None;
                let mut report = lock(&self.shared.report);
                (report.kept, report.lost) = (None, Vec::new());
                false
            }
            Found::Kept(..) if self.is_young(&files) => true,
            Found::Kept(why, lost, digest) => {
                self.keep(why, lost, digest);
                false
            }
            Found::Other(other) => {
                let (loaded, rules) = *other;
                self.config = Arc::new(loaded.config);
                self.rules = Arc::new(rules);
                loader.reconfigure(Arc::clone(&self.config));
                if let Some(local) = &self.local {
                    local.follow(&self.config);
                }
                self.recorder.keep_as(self.config.audit);
                *lock(&self.shared.pending) = None;
                let mut report = lock(&self.shared.report);
                (report.kept, report.lost) = (None, Vec::new());
                false
            }
        }
    }

    fn ask(&mut self) {
        if self.shared.world.extensions().places() > 0 {
            self.looking.begin(&self.shared);
        }
    }

    fn is_told(&self, context: &mut Context<'_>) -> bool {
        *lock(&self.looking.follower) = Some(context.waker().clone());
        self.shared.world.poll_news(context)
    }

    fn looked(&self, failed: Option<String>, late: Option<String>) {
        let kept = lock(&self.shared.report).kept.clone();
        let kept = kept.map(|why| format!("a change of the configuration is not taken over: {why}"));
        let failed = failed.or(kept).or_else(|| self.looking.is_late());
        let mut health = self.shared.world.health();
        health.looked(failed);
        health.late = late;
    }

    fn found(&mut self, set: PluginSet) {
        let plugins = Arc::new(set);
        let snapshot = Snapshot { plugins: Arc::clone(&plugins), rules: Arc::clone(&self.rules) };
        {
            // A turn that begins binds plugins and capabilities of one moment.
            let mut current = self.shared.snapshot.write().unwrap_or_else(PoisonError::into_inner);
            self.shared.world.publish(&snapshot);
            *current = snapshot;
        }
        lock(&self.shared.report).digest =
            self.rules.configured.as_ref().map(|configured| configured.digest.clone());
        self.recorder.follow(&plugins.report, self.rules.configured.as_ref());
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
