//! Telling clients of news, each exactly of what it wants to hear.

use std::sync::Arc;

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer, SubscriptionSendError, SubscriptionSink};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::news::News;

/// Tells a client of a revision in which nobody asks. Ends with the client.
pub(super) async fn unasked(
    peer: Peer<RoleServer>,
    mut news: Receiver<Arc<News>>,
    closing: CancellationToken,
) {
    loop {
        let received = tokio::select! {
            () = closing.cancelled() => return,
            received = news.recv() => received,
        };
        let told = match received {
            Ok(news) => tell_all(&peer, &news).await,
            Err(RecvError::Lagged(_)) => tell_lists(&peer).await,
            Err(RecvError::Closed) => return,
        };
        if told.is_none() {
            return;
        }
    }
}

/// None: the client has gone.
async fn tell_all(peer: &Peer<RoleServer>, news: &News) -> Option<()> {
    for uri in &news.updated {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.ok()?;
    }
    peer.notify_resource_list_changed().await.ok()?;
    if !news.prompts.is_empty() {
        peer.notify_prompt_list_changed().await.ok()?;
    }
    Some(())
}

/// The client was told too little, so it hears that anything may have changed.
async fn tell_lists(peer: &Peer<RoleServer>) -> Option<()> {
    peer.notify_resource_list_changed().await.ok()?;
    peer.notify_prompt_list_changed().await.ok()
}

/// Tells a subscriber of what it asked for. Ends with the subscription.
pub(super) async fn asked(sink: &SubscriptionSink, mut news: Receiver<Arc<News>>) {
    loop {
        let told = match news.recv().await {
            Ok(news) => tell_asked(sink, &news).await,
            Err(RecvError::Lagged(_)) => tell_anything(sink).await,
            Err(RecvError::Closed) => return,
        };
        if told.is_err() {
            return;
        }
    }
}

async fn tell_asked(sink: &SubscriptionSink, news: &News) -> Result<(), SubscriptionSendError> {
    let accepted = sink.accepted();
    for uri in accepted.resource_subscriptions.iter().flatten() {
        if news.updated.contains(uri) {
            sink.notify_resource_updated(uri).await?;
        }
    }
    if accepted.resources_list_changed == Some(true) {
        sink.notify_resource_list_changed().await?;
    }
    if accepted.prompts_list_changed == Some(true) && !news.prompts.is_empty() {
        sink.notify_prompt_list_changed().await?;
    }
    Ok(())
}

async fn tell_anything(sink: &SubscriptionSink) -> Result<(), SubscriptionSendError> {
    let accepted = sink.accepted();
    for uri in accepted.resource_subscriptions.iter().flatten() {
        sink.notify_resource_updated(uri).await?;
    }
    if accepted.resources_list_changed == Some(true) {
        sink.notify_resource_list_changed().await?;
    }
    if accepted.prompts_list_changed == Some(true) {
        sink.notify_prompt_list_changed().await?;
    }
    Ok(())
}
