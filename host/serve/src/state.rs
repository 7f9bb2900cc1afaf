//! What one connection has opened: sessions, turns, and permits that wait to be used.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portcullis::surface::Reading;
use portcullis::{Permit, Session, Turn};
use tokio::sync::{Notify, SetOnce};

use crate::error::WireError;
use crate::limits::ServeLimits;

const SESSION: &str = "session";
const TURN: &str = "turn";
const PERMIT: &str = "permit";

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that others wait for. It is over however whoever does it ends.
#[derive(Debug, Default)]
pub(crate) struct Step(SetOnce<()>);

impl Step {
    pub(crate) async fn wait(&self) {
        self.0.wait().await;
    }

    fn end(&self) {
        // It may be over already.
        drop(self.0.set(()));
    }
}

/// Ends a step when it is dropped.
#[derive(Debug)]
pub(crate) struct Ending<T: AsRef<Step>>(pub(crate) Arc<T>);

impl<T: AsRef<Step>> Drop for Ending<T> {
    fn drop(&mut self) {
        (*self.0).as_ref().end();
    }
}

/// An open session.
#[derive(Debug)]
pub(crate) struct SessionSlot {
    pub(crate) session: Session,
    /// Where its calls run that do not say it.
    pub(crate) cwd: String,
    started: Step,
}

impl AsRef<Step> for SessionSlot {
    fn as_ref(&self) -> &Step {
        &self.started
    }
}

/// An open turn.
#[derive(Debug)]
pub(crate) struct TurnSlot {
    pub(crate) id: String,
    pub(crate) session: Arc<SessionSlot>,
    begun: Step,
    ended: Step,
    running: Mutex<Running>,
    idle: Notify,
}

impl AsRef<Step> for TurnSlot {
    fn as_ref(&self) -> &Step {
        &self.begun
    }
}

#[derive(Debug)]
struct Running {
    /// None when it has ended.
    turn: Option<Arc<Turn>>,
    /// No more calls while it ends.
    is_ending: bool,
    calls: usize,
}

/// A call of a turn. The turn does not end before it.
#[derive(Debug)]
pub(crate) struct TurnCall {
    slot: Arc<TurnSlot>,
    turn: Option<Arc<Turn>>,
}

impl TurnCall {
    /// The turn, once the hooks have heard its prompt.
    pub(crate) async fn turn(&self) -> Result<&Turn, WireError> {
        self.slot.begun.wait().await;
        self.unbegun()
    }

    /// The turn, for its prompt.
    pub(crate) fn unbegun(&self) -> Result<&Turn, WireError> {
        self.turn.as_deref().ok_or(WireError::Internal)
    }

    pub(crate) fn slot(&self) -> &Arc<TurnSlot> {
        &self.slot
    }
}

impl Drop for TurnCall {
    fn drop(&mut self) {
        // Whoever waits for the last call takes the turn for themselves.
        self.turn = None;
        locked(&self.slot.running).calls -= 1;
        self.slot.idle.notify_waiters();
    }
}

impl TurnSlot {
    fn ended(&self) -> WireError {
        WireError::Ended { what: TURN, name: self.id.clone() }
    }

    /// A call begins.
    pub(crate) fn call(self: &Arc<Self>) -> Result<TurnCall, WireError> {
        let mut running = locked(&self.running);
        let turn = running.turn.clone().filter(|_| !running.is_ending).ok_or_else(|| self.ended())?;
        running.calls += 1;
        Ok(TurnCall { slot: Arc::clone(self), turn: Some(turn) })
    }

    /// No call begins from now on, until [`goes_on`](Self::goes_on).
    pub(crate) fn begin_to_end(&self) -> Result<(), WireError> {
        let mut running = locked(&self.running);
        if running.turn.is_none() || running.is_ending {
            return Err(self.ended());
        }
        running.is_ending = true;
        Ok(())
    }

    pub(crate) fn goes_on(&self) {
        locked(&self.running).is_ending = false;
    }

    /// The turn, once its calls have ended.
    pub(crate) async fn quiet(&self) -> Option<Arc<Turn>> {
        self.begun.wait().await;
        loop {
            let idle = self.idle.notified();
            {
                let running = locked(&self.running);
                if running.calls == 0 {
                    return running.turn.clone();
                }
            }
            idle.await;
        }
    }

    /// The turn, for its end. It has no calls, and nobody else holds it.
    pub(crate) fn take(&self) -> Option<Turn> {
        locked(&self.running).turn.take().and_then(Arc::into_inner)
    }

    pub(crate) fn has_ended(&self) {
        self.ended.end();
    }

    /// Until whoever ends it has done so.
    pub(crate) async fn end(&self) {
        self.ended.wait().await;
    }
}

/// What one connection has opened.
#[derive(Debug, Default)]
pub(crate) struct State {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// In the order in which they were opened.
    sessions: Vec<Arc<SessionSlot>>,
    turns: Vec<Arc<TurnSlot>>,
    shelf: Shelf,
    named: u64,
}

impl Inner {
    fn next(&mut self, prefix: &str) -> String {
        self.named += 1;
        format!("{prefix}{}", self.named)
    }
}

impl State {
    /// Opens a session. `own` is the name that the client wants.
    pub(crate) fn open(
        &self,
        own: Option<String>,
        cwd: String,
        limits: &ServeLimits,
        make: impl FnOnce(&str) -> Session,
    ) -> Result<Arc<SessionSlot>, WireError> {
        let mut inner = locked(&self.inner);
        if inner.sessions.len() >= limits.sessions {
            return Err(WireError::TooMany { what: "open sessions", max: limits.sessions });
        }
        let name = own.unwrap_or_else(|| inner.next("session-"));
        if inner.sessions.iter().any(|slot| slot.session.id() == name) {
            return Err(WireError::Taken { what: SESSION, name });
        }
        let slot = Arc::new(SessionSlot { session: make(&name), cwd, started: Step::default() });
        inner.sessions.push(Arc::clone(&slot));
        Ok(slot)
    }

    pub(crate) fn session(&self, name: &str) -> Result<Arc<SessionSlot>, WireError> {
        let inner = locked(&self.inner);
        let found = inner.sessions.iter().find(|slot| slot.session.id() == name);
        found.cloned().ok_or_else(|| WireError::Unknown { what: SESSION, name: name.to_owned() })
    }

    /// Begins a turn, which binds what there is now.
    pub(crate) fn begin(
        &self,
        own: Option<String>,
        session: Arc<SessionSlot>,
        reading: Option<Reading>,
        limits: &ServeLimits,
    ) -> Result<Arc<TurnSlot>, WireError> {
        let mut inner = locked(&self.inner);
        if inner.turns.len() >= limits.turns {
            return Err(WireError::TooMany { what: "open turns", max: limits.turns });
        }
        let id = own.unwrap_or_else(|| inner.next("turn-"));
        if inner.turns.iter().any(|slot| slot.id == id) {
            return Err(WireError::Taken { what: TURN, name: id });
        }
        let turn = session.session.turn();
        let turn = Arc::new(match reading {
            Some(reading) => turn.about(reading),
            None => turn,
        });
        let running = Running { turn: Some(turn), is_ending: false, calls: 0 };
        let slot = Arc::new(TurnSlot {
            id,
            session,
            begun: Step::default(),
            ended: Step::default(),
            running: Mutex::new(running),
            idle: Notify::new(),
        });
        inner.turns.push(Arc::clone(&slot));
        Ok(slot)
    }

    pub(crate) fn turn(&self, id: &str) -> Result<Arc<TurnSlot>, WireError> {
        let inner = locked(&self.inner);
        let found = inner.turns.iter().find(|slot| slot.id == id);
        found.cloned().ok_or_else(|| WireError::Unknown { what: TURN, name: id.to_owned() })
    }

    /// Nobody has closed the session.
    pub(crate) fn is_open(&self, session: &Arc<SessionSlot>) -> bool {
        locked(&self.inner).sessions.iter().any(|slot| Arc::ptr_eq(slot, session))
    }

    /// The turns of a session, the last one first.
    pub(crate) fn turns_of(&self, session: &Arc<SessionSlot>) -> Vec<Arc<TurnSlot>> {
        let inner = locked(&self.inner);
        let own = inner.turns.iter().rev().filter(|slot| Arc::ptr_eq(&slot.session, session));
        own.cloned().collect()
    }

    /// The sessions, the last one first.
    pub(crate) fn sessions(&self) -> Vec<Arc<SessionSlot>> {
        locked(&self.inner).sessions.iter().rev().cloned().collect()
    }

    /// The turn has ended; so have the permits that nobody used.
    pub(crate) fn forget_turn(&self, turn: &Arc<TurnSlot>) {
        let mut inner = locked(&self.inner);
        inner.turns.retain(|slot| !Arc::ptr_eq(slot, turn));
        inner.shelf.drop_turn(&turn.id);
    }

    /// The session ends: nothing begins in it any more.
    pub(crate) fn forget_session(&self, session: &Arc<SessionSlot>) {
        locked(&self.inner).sessions.retain(|slot| !Arc::ptr_eq(slot, session));
    }

    /// Keeps a permit, under a name that works once.
    pub(crate) fn keep(&self, turn: &str, permit: Permit, limits: &ServeLimits) -> String {
        let mut inner = locked(&self.inner);
        let name = inner.next("permit-");
        inner.shelf.put(name.clone(), turn, permit, limits);
        name
    }

    /// Does `work` with the permits of these names, which stay where they are.
    pub(crate) fn with_permits<T>(
        &self,
        turn: &str,
        names: &[String],
        work: impl FnOnce(&[&Permit]) -> T,
    ) -> Result<T, WireError> {
        let inner = locked(&self.inner);
        let found = names.iter().map(|name| {
            let permit = inner.shelf.permits.get(name).filter(|(of, _)| of == turn);
            permit
                .map(|(_, permit)| permit)
                .ok_or_else(|| WireError::Unknown { what: PERMIT, name: name.clone() })
        });
        Ok(work(&found.collect::<Result<Vec<_>, _>>()?))
    }

    /// The permit of this name, which nobody else gets.
    pub(crate) fn redeem(&self, turn: &str, name: &str) -> Result<Permit, WireError> {
        let found = locked(&self.inner).shelf.take(turn, name);
        found.ok_or_else(|| WireError::Unknown { what: PERMIT, name: name.to_owned() })
    }
}

/// Permits that nobody has used yet.
#[derive(Debug, Default)]
struct Shelf {
    permits: BTreeMap<String, (String, Permit)>,
    /// Their names, the oldest first; also some that were used meanwhile.
    order: VecDeque<String>,
    bytes: usize,
}

impl Shelf {
    fn put(&mut self, name: String, turn: &str, permit: Permit, limits: &ServeLimits) {
        self.bytes += permit.input().len();
        self.order.push_back(name.clone());
        self.permits.insert(name, (turn.to_owned(), permit));
        while self.permits.len() > limits.permits || self.bytes > limits.permit_bytes {
            let Some(oldest) = self.order.pop_front() else { return };
            self.forget(&oldest);
        }
        if self.order.len() > limits.permits.saturating_mul(2) {
            let permits = &self.permits;
            self.order.retain(|name| permits.contains_key(name));
        }
    }

    fn forget(&mut self, name: &str) -> Option<Permit> {
        let (_, permit) = self.permits.remove(name)?;
        self.bytes = self.bytes.saturating_sub(permit.input().len());
        Some(permit)
    }

    fn take(&mut self, turn: &str, name: &str) -> Option<Permit> {
        let (of, _) = self.permits.get(name)?;
        if of == turn { self.forget(name) } else { None }
    }

    fn drop_turn(&mut self, turn: &str) {
        self.permits.retain(|_, (of, _)| of != turn);
        self.bytes = self.permits.values().map(|(_, permit)| permit.input().len()).sum();
    }
}
