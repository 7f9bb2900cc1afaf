//! One server, as the pool knows it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, Shared};
use portcullis_mcp::client::Client;
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};

use super::catalogue::Catalogue;
use super::error::ServerError;
use super::memory::Remembered;
use super::settings::{Bounds, Settings};

/// What several wait for at once.
pub(super) type Joined<T> = Shared<BoxFuture<'static, Result<T, ServerError>>>;

/// A server that may run.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) settings: Settings,
    state: Mutex<State>,
    news: watch::Sender<u64>,
    /// Told when nobody uses it any more.
    freed: Arc<Notify>,
}

/// How a server stands.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) live: Option<Arc<Live>>,
    pub(super) connecting: Option<Joined<()>>,
    pub(super) refreshing: Option<Joined<Arc<Catalogue>>>,
    pub(super) backoff: Option<Backoff>,
    pub(super) catalogue: Option<Arc<Catalogue>>,
    /// What was kept of it; none before somebody has looked.
    pub(super) remembered: Option<Remembered>,
    /// Something was kept, and nobody can read it.
    pub(super) unreadable: bool,
    /// Why its list could not be had the last time.
    pub(super) trouble: Option<String>,
}

/// A failure that is remembered.
#[derive(Debug, Clone)]
pub(super) struct Backoff {
    pub(super) error: ServerError,
    /// How often it has failed in a row.
    pub(super) count: u32,
    pub(super) until: Instant,
}

impl Backoff {
    /// What is said while it is not tried.
    pub(super) fn refuses(&self) -> Option<ServerError> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        let remedy = format!("{}; it is tried again in {:.1} s", self.error.remedy, left.as_secs_f32());
        Some(ServerError { remedy, may_have_run: false, ..self.error.clone() })
    }
}

/// A server that runs.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) client: Client,
    usage: Mutex<Usage>,
    _permit: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct Usage {
    count: usize,
    last: Instant,
    /// It was started for somebody who has not come yet, and makes room for nobody before.
    awaited: bool,
}

impl Live {
    pub(super) fn new(client: Client, permit: OwnedSemaphorePermit) -> Self {
        let usage = Mutex::new(Usage { count: 0, last: Instant::now(), awaited: true });
        Self { client, usage, _permit: permit }
    }

    /// How long nobody has used it; none while somebody does.
    pub(super) fn idle_for(&self) -> Option<Duration> {
        let usage = self.usage();
        (usage.count == 0).then(|| usage.last.elapsed())
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server that is in use until this is dropped.
#[derive(Debug)]
pub(super) struct Used {
    live: Arc<Live>,
    slot: Arc<Slot>,
}

impl Used {
    pub(super) fn client(&self) -> &Client {
        &self.live.client
    }

    /// Nothing can come of it any more: who asks next gets another one.
    pub(super) fn lost(&self) {
        let mut state = self.slot.state();
        if state.live.as_ref().is_some_and(|live| Arc::ptr_eq(live, &self.live)) {
            state.live = None;
        }
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        let mut usage = self.live.usage();
        usage.count = usage.count.saturating_sub(1);
        usage.last = Instant::now();
        let is_free = usage.count == 0;
        drop(usage);
        if is_free {
            self.slot.freed.notify_one();
        }
    }
}

impl Slot {
    pub(super) fn new(settings: Settings, freed: Arc<Notify>) -> Self {
        Self { settings, state: Mutex::default(), news: watch::Sender::new(0), freed }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of it may have changed.
    pub(super) fn tell(&self) {
        self.news.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}

impl State {
    /// The one that runs. One that has died is gone.
    pub(super) fn used(&mut self, slot: &Arc<Slot>) -> Option<Used> {
        self.live = self.live.take().filter(|live| live.client.is_alive());
        let live = Arc::clone(self.live.as_ref()?);
        let mut usage = live.usage();
        usage.count = usage.count.saturating_add(1);
        usage.awaited = false;
        drop(usage);
        Some(Used { live, slot: Arc::clone(slot) })
    }

    pub(super) fn idle_since(&self) -> Option<Instant> {
        let usage = self.live.as_ref()?.usage();
        (usage.count == 0 && !usage.awaited).then_some(usage.last)
    }

    /// Takes it away, when it is idle.
    pub(super) fn take_idle(&mut self) -> Option<Arc<Live>> {
        self.idle_since()?;
        self.live.take()
    }

    /// Takes it away when nobody has used it for `time`, awaited or not.
    pub(super) fn take_unused(&mut self, time: Duration) -> Option<Arc<Live>> {
        self.live.as_ref()?.idle_for().filter(|idle| *idle >= time)?;
        self.live.take()
    }

    /// It has failed once more.
    pub(super) fn failed(&mut self, error: &ServerError, bounds: &Bounds) {
        let count = self.backoff.as_ref().map_or(0, |before| before.count).saturating_add(1);
        let until = Instant::now() + bounds.pause(count);
        self.backoff = Some(Backoff { error: error.clone(), count, until });
    }
}
