//! A guest's standard output and error: captured, capped, and logged under its
//! name. They never reach ours, which may carry a protocol.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Bytes kept of each stream of one call. What is over is dropped, so that a
/// guest that prints a lot is not ended for it.
const KEPT: usize = 16 << 10;

/// One stream of one call.
#[derive(Debug, Clone)]
pub(crate) struct Capture(Arc<Mutex<Buffer>>);

#[derive(Debug)]
struct Buffer {
    plugin: String,
    stream: &'static str,
    bytes: Vec<u8>,
    dropped: usize,
}

impl Capture {
    pub(crate) fn new(plugin: &str, stream: &'static str) -> Self {
        Self(Arc::new(Mutex::new(Buffer {
            plugin: plugin.to_owned(),
            stream,
            bytes: Vec::new(),
            dropped: 0,
        })))
    }

    fn take(&self, bytes: &[u8]) {
        if let Ok(mut buffer) = self.0.lock() {
            let room = KEPT.saturating_sub(buffer.bytes.len());
            let (kept, over) = bytes.split_at(room.min(bytes.len()));
            buffer.bytes.extend_from_slice(kept);
            buffer.dropped += over.len();
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        for line in String::from_utf8_lossy(&self.bytes).lines() {
            tracing::info!(target: "portcullis::plugin", plugin = %self.plugin, stream = self.stream, "{line}");
        }
        if self.dropped > 0 {
            tracing::warn!(
                target: "portcullis::plugin", plugin = %self.plugin, stream = self.stream,
                "{} bytes more were dropped", self.dropped
            );
        }
    }
}

impl IsTerminal for Capture {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Capture {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for Capture {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Capture {
    async fn ready(&mut self) {}
}

impl OutputStream for Capture {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.take(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(KEPT)
    }
}
