//! Calls within a call: whoever works for a task works within what it claims.

use portcullis_schedule::Ticket;

tokio::task_local! {
    static HELD: Ticket;
}

/// The claim of a call that is running. A session that works for this call takes its own
/// claims within it, with [`Session::within`](crate::Session::within), and so never waits
/// for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Within(Ticket);

impl Within {
    pub(crate) const fn new(ticket: Ticket) -> Self {
        Self(ticket)
    }

    pub(crate) const fn ticket(self) -> Ticket {
        self.0
    }

    /// The claim of the call that this is asked in: from within the `call` of an extension's
    /// tool, before it hands its work to another task. None elsewhere.
    #[must_use]
    pub fn current() -> Option<Self> {
        HELD.try_with(|ticket| Self(*ticket)).ok()
    }

    /// Does the work of the call.
    pub(crate) async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        HELD.scope(self.0, work).await
    }
}
