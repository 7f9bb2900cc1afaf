//! Learning what a server offers, on demand and once for all who want to know.

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use portcullis_model::extension::SkillEntry;

use super::catalogue::{Catalogue, compare, tools};
use super::error::ServerError;
use super::pool::Pool;
use super::prompt;
use super::skill;
use super::slot::Slot;

impl Pool {
    /// What the server offers. It is asked when that is not known, or may have changed. A
    /// list that cannot be had leaves what was known before.
    pub(super) async fn learned(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<Arc<Catalogue>, ServerError> {
        self.recall(slot);
        // A list that changes while it is read is read once more, and not for ever.
        if let Some(catalogue) = self.believed(slot) {
            return Ok(catalogue);
        }
        let catalogue = self.refreshed(slot).await?;
        if self.believed(slot).is_some() {
            return Ok(catalogue);
        }
        self.refreshed(slot).await
    }

    /// What is known, when it can be believed.
    pub(super) fn believed(&self, slot: &Slot) -> Option<Arc<Catalogue>> {
        let state = slot.state();
        let catalogue = state.catalogue.as_ref()?;
        let live = state.live.as_ref().filter(|live| live.client.is_alive());
        let told = live.filter(|live| live.client.peer().tools_change);
        let holds = match told {
            Some(live) => {
                let heard = *live.client.heard().borrow();
                (heard.tools, heard.prompts) == catalogue.heard
            }
            // Of one that is silent, or does not run, nobody knows.
            None => catalogue.learned.is_some_and(|when| when.elapsed() < self.bounds.fresh),
        };
        holds.then(|| Arc::clone(catalogue))
    }

    /// Asks the server, or waits for the one who does.
    async fn refreshed(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<Arc<Catalogue>, ServerError> {
        let refreshing = {
            let mut state = slot.state();
            match &state.refreshing {
                Some(refreshing) => refreshing.clone(),
                None => {
                    let refreshing = refresh(Arc::clone(self), Arc::clone(slot)).boxed().shared();
                    state.refreshing = Some(refreshing.clone());
                    tokio::spawn(refreshing.clone());
                    refreshing
                }
            }
        };
        refreshing.await
    }
}

async fn refresh(pool: Arc<Pool>, slot: Arc<Slot>) -> Result<Arc<Catalogue>, ServerError> {
    let asked = ask(&pool, &slot).await;
    let mut state = slot.state();
    state.refreshing = None;
    state.trouble = asked.as_ref().err().map(ServerError::told);
    let answer = asked.map(|mut catalogue| {
        let unreadable = state.unreadable;
        let known = state.remembered.get_or_insert_default();
        catalogue.changed = compare(&catalogue.tools, &mut known.pins);
        if unreadable {
            // Nobody knows how they looked before.
            catalogue.changed = catalogue.tools.iter().map(|tool| tool.entry.name.clone()).collect();
        } else {
            known.tools = Some(catalogue.tools.clone());
            known.skills.clone_from(&catalogue.skills);
            known.prompts.clone_from(&catalogue.prompts);
            pool.memory.write(&slot.settings.digest, known);
        }
        let catalogue = Arc::new(catalogue);
        state.catalogue = Some(Arc::clone(&catalogue));
        catalogue
    });
    drop(state);
    slot.tell();
    answer
}

async fn ask(pool: &Arc<Pool>, slot: &Arc<Slot>) -> Result<Catalogue, ServerError> {
    let used = pool.client(slot).await?;
    let client = used.client();
    // Whatever changes from here on is not in the list.
    let heard = *client.heard().borrow();
    let heard = (heard.tools, heard.prompts);
    let listed = client.tools().await?;
    for warning in &listed.warnings {
        tracing::warn!("the list of a server's tools: {warning}");
    }
    // A server whose skills cannot be listed has its tools all the same.
    let skills: Vec<SkillEntry> = match client.skills().await {
        Ok(skills) => skill::entries(&skills),
        Err(error) => {
            tracing::warn!("the skills of a server cannot be listed: {error}");
            Vec::new()
        }
    };
    let prompts = match client.prompts().await {
        Ok(listed) => prompt::prompts(&listed),
        Err(error) => {
            tracing::warn!("the prompts of a server cannot be listed: {error}");
            Vec::new()
        }
    };
    Ok(Catalogue {
        tools: tools(&listed),
        skills,
        prompts,
        learned: Some(Instant::now()),
        heard,
        ..Catalogue::default()
    })
}
