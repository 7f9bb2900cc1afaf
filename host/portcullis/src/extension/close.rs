//! The end of an extension.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use portcullis_model::extension::Extension;

/// How long one extension may take to close. Then it is left alone.
pub const CLOSE_TIME: Duration = Duration::from_secs(5);

/// How extensions ended, each by its name, in the order in which they were closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closed {
    /// Those that gave back what they held.
    pub closed: Vec<String>,
    /// Those that did not, and why.
    pub failed: Vec<(String, String)>,
}

impl Closed {
    /// Nothing was there to close.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.closed.is_empty() && self.failed.is_empty()
    }
}

/// Closes them one after the other, what they bring before themselves. One that fails or
/// is late keeps no other from its end.
pub(super) async fn all(extensions: Vec<Arc<dyn Extension>>) -> Closed {
    let mut closed = Closed::default();
    let mut order = Vec::new();
    for extension in extensions {
        behind_its_children(extension, &mut order);
    }
    for extension in order {
        let name = extension.name().to_owned();
        let ended =
            tokio::time::timeout(CLOSE_TIME, AssertUnwindSafe(extension.close()).catch_unwind()).await;
        let failed = match ended {
            Ok(Ok(Ok(()))) => None,
            Ok(Ok(Err(error))) => Some(error.to_string()),
            Ok(Err(_)) => Some("it failed inside".to_owned()),
            Err(_) => Some(format!("it took more than {} s and was left alone", CLOSE_TIME.as_secs())),
        };
        match failed {
            None => closed.closed.push(name),
            Some(why) => {
                tracing::warn!(extension = %name, "it was not closed: {why}");
                closed.failed.push((name, why));
            }
        }
    }
    closed
}

fn behind_its_children(extension: Arc<dyn Extension>, order: &mut Vec<Arc<dyn Extension>>) {
    for child in extension.children().into_iter().rev() {
        behind_its_children(child, order);
    }
    order.push(extension);
}
