//! Calls that wait for one another: what a call claims, and how long it holds it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use portcullis_runtime::CallView as _;
use portcullis_schedule::{Held, Ticket};
use tokio::time::{Instant, timeout};

use super::{Turn, locked};
use crate::error::RunError;
use crate::gate::{self, JudgedCall, Permit};
use crate::schedule::{CLAIM_WAIT, CLAIMS_TIME, Glance, Need, Volumes, Within, need};

/// What a call claims, held while it runs. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Claimed {
    held: Held,
    /// What it looks at, when the session remembers that.
    glance: Option<Glance>,
}

impl Claimed {
    pub(super) const fn within(&self) -> Within {
        Within::new(self.held.ticket())
    }

    /// The call has run: the session knows what it read and wrote, before anybody else can
    /// change it.
    pub(super) async fn done(self) {
        if let Some(glance) = self.glance {
            // What cannot be looked at is not known, and is checked as it was.
            drop(tokio::task::spawn_blocking(|| glance.done()).await);
        }
    }
}

/// What a call claims, held for a loop that runs the tool itself: no other session of the
/// host runs what conflicts with it meanwhile. Ends with [`done`](Self::done), when it is
/// dropped, or with its turn.
#[derive(Debug)]
pub struct Hold {
    claimed: Claimed,
    registered: Registered,
}

/// Among the holds of its turn.
#[derive(Debug)]
struct Registered {
    holds: Arc<Mutex<BTreeSet<Ticket>>>,
    ticket: Ticket,
}

impl Drop for Registered {
    fn drop(&mut self) {
        locked(&self.holds).remove(&self.ticket);
    }
}

impl Hold {
    /// False when the turn has ended: somebody else may hold the same by now. A tool that
    /// asks this before it writes overwrites nobody.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.claimed.held.is_current()
    }

    /// The claim, for sessions that work for this call.
    #[must_use]
    pub const fn within(&self) -> Within {
        self.claimed.within()
    }

    /// The tool has run to its end. Of a call that was broken off, drop the hold instead:
    /// nobody has seen what it left.
    pub async fn done(self) {
        let Self { claimed, registered } = self;
        claimed.done().await;
        drop(registered);
    }
}

impl Turn {
    /// Waits until nothing that runs conflicts with this call, and keeps it so: for a loop
    /// that runs its tools itself. [`run`](Self::run) does the same by itself.
    ///
    /// # Errors
    /// When what it claims cannot be had within [`CLAIM_WAIT`], or never; when it is refused
    /// after all; or when it would overwrite what the session has not seen.
    pub async fn hold(&self, permit: &Permit) -> Result<Hold, RunError> {
        let call = permit.call();
        let need = self.need(call).await;
        let claimed = self.claimed(call, need, false).await?;
        let ticket = claimed.held.ticket();
        locked(&self.holds).insert(ticket);
        Ok(Hold { claimed, registered: Registered { holds: Arc::clone(&self.holds), ticket } })
    }

    /// What one call claims.
    pub(super) async fn need(&self, call: &Arc<JudgedCall>) -> Need {
        let owner = gate::owner(&self.admitted, call);
        need(call, owner, &Volumes::default(), Instant::now() + CLAIMS_TIME).await
    }

    /// Waits for what a call claims, and looks once more at what may have changed meanwhile.
    pub(super) async fn claimed(
        &self,
        call: &Arc<JudgedCall>,
        need: Need,
        again: bool,
    ) -> Result<Claimed, RunError> {
        let outer = self.session.outer_claim().map(Within::ticket);
        let claim = need.claim.to_string();
        let waiting = self.host.claims().take(need.claim, outer)?;
        let waits = waiting.behind();
        if let Some(behind) = &waits {
            tracing::debug!(tool = call.canonical(), claim, behind, "the call waits for another one");
        }
        let Ok(held) = timeout(CLAIM_WAIT, waiting).await else {
            return Err(RunError::Busy { tool: call.agent_tool().to_owned(), claim, time: CLAIM_WAIT });
        };
        let held = held?;
        let has_waited = again || waits.is_some();
        if has_waited && let Some(refusal) = self.objection_now(call).await {
            return Err(RunError::Refused(refusal));
        }
        let checks = self.host.snapshot().rules.checks_writes;
        let glance = if checks { Some(self.glance(call).await?) } else { None };
        Ok(Claimed { held, glance })
    }

    async fn glance(&self, call: &Arc<JudgedCall>) -> Result<Glance, RunError> {
        let (seen, call) = (self.session.seen().clone(), Arc::clone(call));
        let tool = call.agent_tool().to_owned();
        let looked = tokio::task::spawn_blocking(move || seen.look(call.effects())).await;
        // Who cannot look overwrites nothing.
        looked.unwrap_or(Err(tool)).map_err(RunError::Stale)
    }
}
