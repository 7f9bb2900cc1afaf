//! Who the plugin is.

use crate::bindings::plugin::exports::portcullis::plugin::plugin as wire;

/// Every plugin is one of these, and of the kinds that it lists in
/// [`export_plugin!`](crate::export_plugin).
pub trait Plugin {
    /// Who the plugin is. Must give the same answer every time.
    fn describe() -> Info;
}

/// Who a plugin is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    name: String,
    description: String,
    version: String,
    appendix: Option<String>,
    serves: Vec<String>,
}

impl Info {
    /// A plugin of this name (lowercase kebab-case, 1 to 64 characters) and
    /// description (one line, 1 to 1024 characters).
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            version: "0.0.0".to_owned(),
            appendix: None,
            serves: Vec::new(),
        }
    }

    /// The plugin's version, as a rule `env!("CARGO_PKG_VERSION")`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// What the model is told about the plugin, at most 4 KiB. A plugin that can
    /// refuse a call says so here, or the model will try to route around it.
    #[must_use]
    pub fn appendix(mut self, appendix: impl Into<String>) -> Self {
        self.appendix = Some(appendix.into());
        self
    }

    /// One of the domains that it serves, such as `vcs`.
    #[must_use]
    pub fn serves(mut self, domain: impl Into<String>) -> Self {
        self.serves.push(domain.into());
        self
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub struct Adapter<P>(core::marker::PhantomData<P>);

impl<P: Plugin> wire::Guest for Adapter<P> {
    fn describe() -> wire::Info {
        let Info { name, description, version, appendix, serves } = P::describe();
        wire::Info { name, description, version, appendix, serves }
    }
}
