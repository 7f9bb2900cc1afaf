//! A shell script that a call runs, taken apart by the host.

use core::cell::OnceCell;

use crate::bindings::host::call as wire;
use crate::packed;
use crate::pipeline::{Command, Pipeline};

/// One script and everything that it can run.
#[derive(Debug)]
pub struct Script {
    handle: Option<wire::Script>,
    source: OnceCell<String>,
    complete: OnceCell<bool>,
    pipelines: OnceCell<Vec<Pipeline>>,
}

impl Script {
    /// A script as data, for tests.
    #[must_use]
    pub fn new(source: impl Into<String>, complete: bool, pipelines: Vec<Pipeline>) -> Self {
        Self {
            handle: None,
            source: OnceCell::from(source.into()),
            complete: OnceCell::from(complete),
            pipelines: OnceCell::from(pipelines),
        }
    }

    /// The text as the agent sent it.
    #[must_use]
    pub fn source(&self) -> &str {
        self.source.get_or_init(|| self.handle.as_ref().map(wire::Script::source).unwrap_or_default())
    }

    /// False when a part could not be understood. A guard that must be sure
    /// treats such a script as suspect.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        *self.complete.get_or_init(|| self.handle.as_ref().is_some_and(wire::Script::complete))
    }

    /// Every pipeline that can run, in source order, wherever it hides: behind
    /// `;` or `&&`, in `$(...)`, in `sh -c`, in a heredoc fed to a shell.
    #[must_use]
    pub fn pipelines(&self) -> &[Pipeline] {
        self.pipelines.get_or_init(|| {
            let Some(handle) = &self.handle else { return Vec::new() };
            // One value crosses far more cheaply than thousands of lists; those are
            // asked for when it is not understood, so that nothing is overlooked.
            packed::unpack(&handle.packed())
                .unwrap_or_else(|| handle.pipelines().into_iter().map(Pipeline::from).collect())
        })
    }

    /// Every command of every pipeline.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.pipelines().iter().flat_map(|pipeline| &pipeline.commands)
    }
}

impl From<wire::Script> for Script {
    fn from(handle: wire::Script) -> Self {
        Self {
            handle: Some(handle),
            source: OnceCell::new(),
            complete: OnceCell::new(),
            pipelines: OnceCell::new(),
        }
    }
}
