//! A server of skills: the skills extension, resources, tools and prompts, over pipes and
//! over HTTP, for clients that begin with a handshake and for those that do not.
//!
//! [`Server::new`] looks at a library for the first time, and [`Server::serve_pipes`] or
//! [`Server::serve_http`] serves it until the client goes away or [`Server::close`] is
//! called. What the protocol's library lacks or gets wrong is mended in `pipes.rs`.

mod address;
mod entry;
mod handler;
mod http;
mod index;
mod manner;
mod mime;
mod news;
mod notify;
mod pipes;
mod state;
#[cfg(test)]
mod tests;
mod tool;
mod view;

use std::io;
use std::sync::Arc;

use portcullis_model::extension::{ExtensionError, LibrarySource};
use portcullis_model::product;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;

pub use self::http::{BODY_MAX, CONNECTIONS_MAX, HttpSettings, PATH};
pub use self::manner::{Manner, Transport};
pub use self::pipes::LINE_MAX;
use self::state::State;

/// The name that the server gives itself, and that clients are configured with.
#[must_use]
pub fn server_name() -> String {
    format!("{}-skills", product::NAME)
}

/// A server of one library. It is cheap to clone, and its clones are one server.
#[derive(Debug, Clone)]
pub struct Server {
    state: Arc<State>,
}

impl Server {
    /// Looks at `source`, and follows its changes from then on. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the first look fails.
    pub async fn new(source: Arc<dyn LibrarySource>, manner: Manner) -> Result<Self, ExtensionError> {
        let state = Arc::new(State::new(source, manner));
        // What changes while the first look is under way is looked at again.
        let changes = state.source.changes();
        state.begin().await?;
        if let Some(changes) = changes {
            let follower = Arc::clone(&state);
            tokio::spawn(async move { follower.follow(changes).await });
        }
        Ok(Self { state })
    }

    /// Serves one client until it closes its end.
    ///
    /// # Errors
    /// When what the client sends first is no beginning of a session.
    pub async fn serve_pipes<R, W>(&self, read: R, write: W) -> io::Result<()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        pipes::serve(&self.state, read, write).await
    }

    /// Serves every client that reaches `listener`, at [`PATH`], until the server closes.
    ///
    /// # Errors
    /// When the listener has no address.
    pub async fn serve_http(&self, listener: TcpListener, settings: HttpSettings) -> io::Result<()> {
        http::serve(&self.state, listener, settings).await
    }

    /// Ends every subscription and every service.
    pub fn close(&self) {
        self.state.closing.cancel();
    }
}
