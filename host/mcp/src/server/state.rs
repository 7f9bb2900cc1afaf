//! What all clients of a server share: the library as it was seen last, and the news.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, PoisonError, RwLock};

use portcullis_model::extension::{Changes, ExtensionError, LibrarySource};
use tokio::sync::{Mutex, broadcast};
use tokio_util::sync::CancellationToken;

use super::manner::Manner;
use super::news::News;
use super::view::View;

/// How much news a client may be behind before it is told that anything may have changed.
const NEWS_MAX: usize = 64;

/// What all clients share.
pub(super) struct State {
    pub(super) source: Arc<dyn LibrarySource>,
    pub(super) manner: Manner,
    /// Nobody is served any longer.
    pub(super) closing: CancellationToken,
    view: RwLock<Arc<View>>,
    news: broadcast::Sender<Arc<News>>,
    /// One look at a time, so that news comes in order.
    looking: Mutex<()>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("source", &self.source).field("manner", &self.manner).finish()
    }
}

impl State {
    pub(super) fn new(source: Arc<dyn LibrarySource>, manner: Manner) -> Self {
        let (news, _) = broadcast::channel(NEWS_MAX);
        let (view, looking, closing) = (RwLock::default(), Mutex::default(), CancellationToken::new());
        Self { source, manner, closing, view, news, looking }
    }

    /// The library as it was seen last.
    pub(super) fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The news from now on.
    pub(super) fn news(&self) -> broadcast::Receiver<Arc<News>> {
        self.news.subscribe()
    }

    /// Looks for the first time: there is nothing yet that anything could differ from.
    pub(super) async fn begin(&self) -> Result<(), ExtensionError> {
        let _one = self.looking.lock().await;
        let library = self.source.look().await?;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(View::new(library, self.manner));
        Ok(())
    }

    /// Looks now, and tells every client what differs. When the look fails, what was seen
    /// last serves on.
    pub(super) async fn refresh(&self) -> Result<Arc<News>, ExtensionError> {
        let _one = self.looking.lock().await;
        let library = self.source.look().await?;
        let before = self.view();
        if Arc::ptr_eq(&library, &before.library) {
            return Ok(Arc::default());
        }
        let after = Arc::new(View::new(library, self.manner));
        let news = Arc::new(News::between(&before, &after));
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = after;
        if !news.is_empty() {
            // Nobody may be listening.
            let _ = self.news.send(Arc::clone(&news));
        }
        Ok(news)
    }

    /// Follows the source until the server closes.
    pub(super) async fn follow(&self, mut changes: Box<dyn Changes>) {
        loop {
            let change = tokio::select! {
                () = self.closing.cancelled() => return,
                change = poll_fn(|context| changes.poll_next(context)) => change,
            };
            match change {
                Some(Ok(_)) => {
                    if let Err(error) = self.refresh().await {
                        tracing::error!("the skills cannot be looked at; those of before serve on: {error}");
                    }
                }
                Some(Err(error)) => {
                    tracing::error!("changes of the skills are no longer seen: {error}");
                    return;
                }
                None => return,
            }
        }
    }
}
