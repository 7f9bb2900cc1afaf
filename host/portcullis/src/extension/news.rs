//! The news of many extensions as one stream.

use std::fmt;
use std::future::poll_fn;
use std::task::Poll;

use portcullis_model::extension::{Change, Changes};

/// The news of many extensions, as they arrive. It does nothing unless it is asked, and
/// holds no task: dropping it is all that it takes to end it.
#[derive(Default)]
pub struct News {
    sources: Vec<(String, Box<dyn Changes>)>,
    /// Which source is looked at first: every one gets its turn.
    first: usize,
}

impl News {
    pub(super) fn new(sources: Vec<(String, Box<dyn Changes>)>) -> Self {
        Self { sources, first: 0 }
    }

    /// How many extensions are still followed.
    #[must_use]
    pub fn followed(&self) -> usize {
        self.sources.len()
    }

    /// The next change; none when there can be no more. A source that fails is told of
    /// in the log and left out, and the others go on.
    pub async fn next(&mut self) -> Option<Change> {
        poll_fn(|context| {
            let mut at = 0;
            while at < self.sources.len() {
                let index = (self.first + at) % self.sources.len();
                let Some((name, source)) = self.sources.get_mut(index) else { break };
                match source.poll_next(context) {
                    Poll::Pending => at += 1,
                    Poll::Ready(Some(Ok(change))) => {
                        self.first = index + 1;
                        return Poll::Ready(Some(change));
                    }
                    Poll::Ready(Some(Err(error))) => {
                        tracing::warn!(extension = %name, "it tells of no more changes: {error}");
                        self.leave_out(index);
                    }
                    Poll::Ready(None) => self.leave_out(index),
                }
            }
            if self.sources.is_empty() { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }

    fn leave_out(&mut self, index: usize) {
        drop(self.sources.remove(index));
        if index < self.first {
            self.first -= 1;
        }
    }
}

impl fmt::Debug for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.sources.iter().map(|(name, _)| name);
        f.debug_tuple("News").field(&names.collect::<Vec<_>>()).finish()
    }
}
