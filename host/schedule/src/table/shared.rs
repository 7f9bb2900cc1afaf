//! A table for many tasks at once.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::{ClaimRefused, Gauge, Table, Ticket};
use crate::Claim;

/// A lock around a [`Table`]. Tests put one in its place that explores what can happen
/// between two tasks.
pub trait Lock: Send + Sync + 'static {
    /// Does `work` while nobody else does.
    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T;
}

impl Lock for Mutex<Table> {
    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T {
        // No panic leaves a table half changed: its work runs no code of others but `clone`
        // and `drop` of wakers.
        work(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The claims of a workspace, for all its sessions. Cheap to clone.
pub struct ClaimTable<L: Lock = Mutex<Table>> {
    lock: Arc<L>,
}

impl Default for ClaimTable {
    fn default() -> Self {
        Self::new(Mutex::new(Table::new()))
    }
}

impl<L: Lock> Clone for ClaimTable<L> {
    fn clone(&self) -> Self {
        Self { lock: Arc::clone(&self.lock) }
    }
}

impl<L: Lock> ClaimTable<L> {
    /// A table behind this lock.
    pub fn new(lock: L) -> Self {
        Self { lock: Arc::new(lock) }
    }

    /// Takes `claim`, within `parent` when it is a part of what that holds: a future that
    /// is ready when it is held. Its place in the queue is taken now. Dropping the future
    /// gives it up.
    ///
    /// # Errors
    /// When it could never be held; nobody has to wait to be told.
    pub fn take(&self, claim: Claim, parent: Option<Ticket>) -> Result<Waiting<L>, ClaimRefused> {
        let ticket = self.lock.with(|table| table.submit(claim, parent))?;
        Ok(Waiting { place: Some(Place { table: self.clone(), ticket }) })
    }

    /// Takes a claim from whoever holds it or waits for it, and all that were taken within
    /// it. [`Held::is_current`] tells them.
    pub fn revoke(&self, ticket: Ticket) {
        wake(self.lock.with(|table| table.revoke(ticket)));
    }

    /// How many claims there are.
    #[must_use]
    pub fn gauge(&self) -> Gauge {
        self.lock.with(|table| table.gauge())
    }
}

/// Outside the lock, which whoever is woken may want at once.
fn wake(woken: Vec<Waker>) {
    woken.into_iter().for_each(Waker::wake);
}

/// A place in the table, given back when it is dropped.
struct Place<L: Lock> {
    table: ClaimTable<L>,
    ticket: Ticket,
}

impl<L: Lock> Drop for Place<L> {
    fn drop(&mut self) {
        wake(self.table.lock.with(|table| table.release(self.ticket)));
    }
}

/// Waits for a claim.
#[must_use = "a claim is held only once it was waited for"]
pub struct Waiting<L: Lock = Mutex<Table>> {
    /// None once it was handed over.
    place: Option<Place<L>>,
}

impl<L: Lock> Waiting<L> {
    /// Its number.
    #[must_use]
    pub fn ticket(&self) -> Option<Ticket> {
        self.place.as_ref().map(|place| place.ticket)
    }

    /// What is in its way now, as words.
    #[must_use]
    pub fn behind(&self) -> Option<String> {
        let place = self.place.as_ref()?;
        place.table.lock.with(|table| table.waits_for(place.ticket).map(|(_, claim)| claim.to_string()))
    }
}

impl<L: Lock> Future for Waiting<L> {
    type Output = Result<Held<L>, ClaimRefused>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(place) = self.place.take() else { return Poll::Ready(Err(ClaimRefused::Revoked)) };
        let (waits, held) = place
            .table
            .lock
            .with(|table| (table.wake(place.ticket, context.waker()), table.is_held(place.ticket)));
        if waits {
            self.place = Some(place);
            return Poll::Pending;
        }
        Poll::Ready(if held { Ok(Held { place }) } else { Err(ClaimRefused::Revoked) })
    }
}

/// A claim that is held, until this is dropped.
#[must_use = "a claim is given back when this is dropped"]
pub struct Held<L: Lock = Mutex<Table>> {
    place: Place<L>,
}

impl<L: Lock> Held<L> {
    /// Its number, for claims within it. It also tells this holder from every later one.
    #[must_use]
    pub const fn ticket(&self) -> Ticket {
        self.place.ticket
    }

    /// False when it was taken back: somebody else may hold the same by now, so nothing may
    /// be written any more.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.place.table.lock.with(|table| table.is_held(self.place.ticket))
    }
}

impl<L: Lock> fmt::Debug for ClaimTable<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimTable").finish_non_exhaustive()
    }
}

impl<L: Lock> fmt::Debug for Waiting<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("ticket", &self.ticket()).finish()
    }
}

impl<L: Lock> fmt::Debug for Held<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("ticket", &self.ticket()).finish()
    }
}
