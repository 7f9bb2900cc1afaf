//! The servers of a workspace: started when somebody needs them, shared by all who do, and
//! ended when nobody does.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use portcullis_mcp::client::{Client, Heard, Stdio, Times};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};

use super::error::ServerError;
use super::memory::{Found, Memory, Remembered};
use super::settings::{Bounds, Settings};
use super::slot::{Backoff, Live, Slot, Used};

/// All servers of one workspace.
#[derive(Debug)]
pub(crate) struct Pool {
    ambient: Arc<BTreeMap<String, String>>,
    pub(super) bounds: Bounds,
    pub(super) memory: Memory,
    permits: Arc<Semaphore>,
    /// A server is not busy any more.
    freed: Arc<Notify>,
    /// By what tells a server from others.
    slots: Mutex<BTreeMap<String, Arc<Slot>>>,
}

impl Pool {
    /// Without any. `ambient` is this process's environment. This does no work.
    pub(crate) fn new(ambient: Arc<BTreeMap<String, String>>, bounds: Bounds, memory: Memory) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(bounds.clients));
        Arc::new(Self { ambient, bounds, memory, permits, freed: Arc::default(), slots: Mutex::default() })
    }

    /// The place of the server that these settings mean, whoever asks.
    pub(super) fn slot(&self, settings: Settings) -> Arc<Slot> {
        let mut slots = self.slots();
        let new = |settings| Arc::new(Slot::new(settings, Arc::clone(&self.freed)));
        let slot = slots.entry(settings.digest.clone()).or_insert_with(|| new(settings));
        Arc::clone(slot)
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server, running. It is started when it does not run, once for all who wait. One
    /// that has failed is not tried before its time.
    pub(super) async fn client(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<Used, ServerError> {
        loop {
            let connecting = {
                let mut state = slot.state();
                if let Some(used) = state.used(slot) {
                    return Ok(used);
                }
                match &state.connecting {
                    Some(connecting) => connecting.clone(),
                    None => {
                        if let Some(refused) = state.backoff.as_ref().and_then(Backoff::refuses) {
                            return Err(refused);
                        }
                        let connecting = connect(Arc::clone(self), Arc::clone(slot)).boxed().shared();
                        state.connecting = Some(connecting.clone());
                        // It goes on when nobody waits for it any more.
                        tokio::spawn(connecting.clone());
                        connecting
                    }
                }
            };
            connecting.await?;
        }
    }

    /// One of the few servers that may run at once. Who is idle longest makes room; when
    /// all are busy, the first that is not any more.
    async fn permit(&self, time: Duration) -> Result<OwnedSemaphorePermit, ServerError> {
        let room = async {
            loop {
                if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
                    return Some(permit);
                }
                if let Some(idle) = self.idle_longest() {
                    idle.client.close().await;
                    continue;
                }
                let released = pin!(Arc::clone(&self.permits).acquire_owned());
                let freed = pin!(self.freed.notified());
                if let Either::Left((permit, _)) = select(released, freed).await {
                    return permit.ok();
                }
            }
        };
        tokio::time::timeout(time, room).await.ok().flatten().ok_or_else(|| {
            let reason = format!("{} servers run already, and all of them are busy", self.bounds.clients);
            ServerError::new("server/busy", reason, "try again, or allow more with `mcp.max_clients`")
        })
    }

    /// Takes the one away that nobody has used for the longest time.
    fn idle_longest(&self) -> Option<Arc<Live>> {
        let slots: Vec<_> = self.slots().values().map(Arc::clone).collect();
        let idle = slots.iter().filter_map(|slot| Some((slot.state().idle_since()?, slot)));
        let (_, slot) = idle.min_by_key(|(since, _)| *since)?;
        slot.state().take_idle()
    }

    /// Ends the server, and forgets what is known of it when `all` is.
    pub(super) async fn end(&self, slot: &Slot, all: bool) {
        let live = {
            let mut state = slot.state();
            state.backoff = None;
            if all {
                state.catalogue = None;
                state.remembered = Some(Remembered::default());
                state.unreadable = false;
            }
            state.live.take()
        };
        if all {
            self.memory.forget(&slot.settings.digest);
        }
        if let Some(live) = live {
            live.client.close().await;
        }
        slot.tell();
    }

    /// What was kept of the server is read, once.
    pub(super) fn recall(&self, slot: &Slot) {
        let mut state = slot.state();
        if state.remembered.is_some() {
            return;
        }
        let found = self.memory.read(&slot.settings.digest);
        state.unreadable = found == Found::Unreadable;
        state.remembered = Some(match found {
            Found::Known(known) => *known,
            Found::Nothing | Found::Unreadable => Remembered::default(),
        });
    }
}

/// Starts the server and settles the version.
async fn connect(pool: Arc<Pool>, slot: Arc<Slot>) -> Result<(), ServerError> {
    let outcome = opened(&pool, &slot).await;
    let mut state = slot.state();
    state.connecting = None;
    match outcome {
        Ok(live) => {
            let known = state.remembered.get_or_insert_default();
            let era = Some(live.client.peer().era);
            if known.era != era {
                known.era = era;
                pool.memory.write(&slot.settings.digest, known);
            }
            state.live = Some(Arc::clone(&live));
            drop(state);
            tokio::spawn(look_after(Arc::downgrade(&slot), Arc::downgrade(&live), pool.bounds.idle));
            Ok(())
        }
        Err(error) => {
            tracing::warn!("a server cannot be used: {}", error.told());
            state.failed(&error, &pool.bounds);
            drop(state);
            slot.tell();
            Err(error)
        }
    }
}

async fn opened(pool: &Pool, slot: &Slot) -> Result<Arc<Live>, ServerError> {
    let settings = &slot.settings;
    pool.recall(slot);
    // What can be refused without starting anything is.
    let program = settings.program(&pool.ambient, pool.bounds.allowed.as_deref())?;
    let permit = pool.permit(settings.start().saturating_add(settings.time())).await?;
    let era = slot.state().remembered.as_ref().and_then(|known| known.era);
    let times = Times { initialize: settings.start(), ..Times::new() };
    let client = Client::open(&Stdio::new(program), era, times).await?;
    Ok(Arc::new(Live::new(client, permit)))
}

/// Ends the server when nobody has used it for long enough, and hears what it tells of
/// changes. Neither keeps it.
async fn look_after(slot: Weak<Slot>, live: Weak<Live>, idle: Duration) {
    let Some(mut heard) = live.upgrade().map(|live| live.client.heard()) else { return };
    loop {
        let wait = match live.upgrade() {
            Some(live) => live.idle_for().map_or(idle, |already| idle.saturating_sub(already)),
            None => return,
        };
        if wait.is_zero() {
            let Some(slot) = slot.upgrade() else { return };
            let ended = slot.state().take_unused(idle);
            if let Some(ended) = ended {
                ended.client.close().await;
                return;
            }
        }
        // A server that is in use is looked at again later.
        let wait = wait.max(Duration::from_millis(10));
        if changed(&mut heard, wait).await {
            let Some(slot) = slot.upgrade() else { return };
            slot.tell();
        }
    }
}

/// True when the server has told of a change before `wait` is over.
async fn changed(heard: &mut watch::Receiver<Heard>, wait: Duration) -> bool {
    let deadline = tokio::time::Instant::from_std(Instant::now() + wait);
    match tokio::time::timeout_at(deadline, heard.changed()).await {
        Ok(Ok(())) => {
            heard.borrow_and_update();
            true
        }
        Ok(Err(_)) => {
            tokio::time::sleep_until(deadline).await;
            false
        }
        Err(_) => false,
    }
}
