//! What a component is given when it is run without a host around it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_model::call::Effect;
use portcullis_model::config::GrantConfig;
use portcullis_model::limits::Limits;
use portcullis_model::script::Script;
use portcullis_runtime::{
    CallView, Component, Guest, GuestSetup, InvocationView, LoadError, OccurrenceView, Runtime, Store,
    Terminal,
};

/// Links `component` with default limits and no grants.
pub(crate) fn link(runtime: &Runtime, component: &Component) -> Result<Guest, LoadError> {
    runtime.link(component, setup())
}

/// Default limits and no grants.
pub(crate) fn setup() -> GuestSetup {
    GuestSetup {
        name: "stub".to_owned(),
        settings: "{}".to_owned(),
        limits: Limits::new(),
        grant: GrantConfig::default(),
        env: Vec::new(),
        store: Arc::new(Nothing),
        terminal: Arc::new(Nothing),
    }
}

/// A deadline that no test reaches.
pub(crate) fn far() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Everything that a guest can be shown, and empty.
#[derive(Debug)]
pub(crate) struct Nothing;

impl Store for Nothing {
    fn get(&self, _: &str, _: &str, _: &str) -> Option<String> {
        None
    }
    fn set(&self, _: &str, _: &str, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }
    fn remove(&self, _: &str, _: &str, _: &str) {}
}

impl Terminal for Nothing {
    fn bell(&self) {}
}

impl CallView for Nothing {
    fn id(&self) -> &str {
        ""
    }
    fn tool(&self) -> &str {
        "bash"
    }
    fn input(&self) -> &str {
        "{}"
    }
    fn field(&self, _: &str) -> Option<String> {
        None
    }
    fn cwd(&self) -> &str {
        "/"
    }
    fn session_id(&self) -> &str {
        ""
    }
    fn effects(&self) -> &[Effect] {
        &[]
    }
    fn scripts(&self) -> &[Script] {
        &[]
    }
}

impl OccurrenceView for Nothing {
    fn name(&self) -> &str {
        "stop"
    }
    fn session_id(&self) -> &str {
        ""
    }
    fn cwd(&self) -> &str {
        "/"
    }
    fn call(&self) -> Option<Arc<dyn CallView>> {
        None
    }
    fn text(&self) -> Option<&str> {
        None
    }
}

impl InvocationView for Nothing {
    fn name(&self) -> &str {
        "greet"
    }
    fn arguments(&self) -> &str {
        ""
    }
    fn session_id(&self) -> &str {
        ""
    }
    fn cwd(&self) -> &str {
        "/"
    }
}
