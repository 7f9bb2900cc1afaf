//! From bytes to a plugin that has said who it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_model::config::{Config, GrantConfig, PluginConfig};
use portcullis_model::fault::Fault;
use portcullis_model::limits::Limits;
use portcullis_model::name::PluginName;
use portcullis_runtime::{Component, Contract, Guest, GuestSetup, Kind, LoadError, Runtime, Store, Terminal};

use crate::hook::{ComponentHook, Listening};
use crate::plugin::bundled::About;
use crate::plugin::tool;
use crate::plugin::{BUNDLED, Bundled, Origin, Plugin, Trusted};
use crate::trust::Warrant;

/// What every plugin is made with.
#[derive(Debug, Clone)]
pub(crate) struct Maker {
    pub(crate) runtime: Runtime,
    pub(crate) config: Arc<Config>,
    pub(crate) env: Arc<BTreeMap<String, String>>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) terminal: Arc<dyn Terminal>,
    /// The process ends after one call.
    pub(crate) one_call: bool,
}

/// Why a plugin cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// A stable word.
    pub(crate) code: String,
    /// For the operator. May hold the component's own words.
    pub(crate) reason: String,
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Self {
        Self { code: error.code().to_owned(), reason: error.to_string() }
    }
}

impl Problem {
    /// True when the same bytes may load at another time.
    pub(crate) fn may_pass(&self) -> bool {
        ["load/helper", "load/compile-time", "load/timeout", "load/resource"].contains(&self.code.as_str())
    }

    fn of(doing: &str, fault: &Fault) -> Self {
        Self { code: format!("load/{}", fault.kind), reason: format!("{doing}: {fault}") }
    }
}

impl Maker {
    /// Loads `bytes`, and asks the plugin who it is and what it brings. `warrant` is there
    /// when it came with a project in which these very bytes are trusted.
    pub(crate) async fn make(
        &self,
        bytes: &[u8],
        hint: &str,
        origin: Origin,
        warrant: Option<Arc<Warrant>>,
    ) -> Result<Plugin, Problem> {
        self.introduce(&self.runtime.load(bytes)?, hint, origin, warrant).await
    }

    /// A plugin that comes with the host. For one call it is not asked what is known,
    /// and its code is loaded only when it is a guard or is called.
    pub(crate) async fn make_bundled(&self, bundled: &'static Bundled) -> Result<Plugin, Problem> {
        let (origin, component) = (Origin::Bundled, bundled.component);
        let about = bundled.about().and_then(|about| Some((about.known()?, about)));
        let Some((known, About { contract, info, tools, .. })) = about else {
            return self.make(component, bundled.name, origin, None).await;
        };
        let is_set = self.config.plugin.get(&info.name).is_some_and(|own| !own.settings.is_empty());
        // Its settings may change what it brings, and what a hook follows is asked.
        let is_asked = contract.is(Kind::Hook) || (contract.is(Kind::Tool) && is_set);
        if !self.one_call || is_asked {
            let component = self.runtime.load_known(component, known.digest)?;
            return self.introduce(&component, bundled.name, origin, None).await;
        }
        let setup = self.setup(&info.name, &origin, false);
        let guest = if contract.is(Kind::Guard) {
            self.runtime.link(&self.runtime.load_known(component, known.digest)?, setup)?
        } else {
            self.runtime.link_later(component, known, setup)
        };
        let warnings = warnings(&contract, info.appendix.as_deref(), true);
        let (tools, left_out) = tool::sorted(tools, true);
        let commands = Vec::new();
        Ok(Plugin { info, guest, origin, tools, left_out, commands, hook: None, warnings, trusted: None })
    }

    /// Asks a component who it is and what it brings.
    async fn introduce(
        &self,
        component: &Component,
        hint: &str,
        origin: Origin,
        warrant: Option<Arc<Warrant>>,
    ) -> Result<Plugin, Problem> {
        let is_trusted = origin.is_trusted() || warrant.is_some();
        // Who it is is not known yet; the operator may have meant it by its file's name.
        let own = PluginName::new(hint).ok().filter(|_| origin.is_trusted());
        let own = own.and_then(|name| self.config.plugin.get(&name));
        let stranger = GuestSetup {
            name: hint.to_owned(),
            settings: "{}".to_owned(),
            limits: own.map_or_else(Limits::new, |own| own.limits.resolve()),
            grant: GrantConfig::default(),
            env: Vec::new(),
            store: Arc::clone(&self.store),
            terminal: Arc::clone(&self.terminal),
        };
        let info = self
            .runtime
            .link(component, stranger)?
            .describe()
            .await
            .map_err(|fault| Problem::of("`describe` failed", &fault))?;
        let guest = self.runtime.link(component, self.setup(&info.name, &origin, warrant.is_some()))?;
        let trusted = match warrant {
            Some(warrant) => {
                let bare = self.runtime.link(component, self.setup(&info.name, &origin, false))?;
                Some(Trusted { warrant, bare })
            }
            None => None,
        };
        let mut warnings = warnings(component.contract(), info.appendix.as_deref(), is_trusted);
        let (mut tools, mut left_out) = (Vec::new(), Vec::new());
        if is_trusted && component.contract().is(Kind::Tool) {
            let listed = guest.list_tools().await;
            let listed = listed.map_err(|fault| Problem::of("`list-tools` failed", &fault))?;
            (tools, left_out) = tool::sorted(listed, self.one_call);
            warnings.extend(left_out.iter().map(tool::LeftOut::warning));
        }
        let mut commands = Vec::new();
        if is_trusted && component.contract().is(Kind::Command) {
            let listed = guest.list_commands().await;
            commands = listed.map_err(|fault| Problem::of("`list-commands` failed", &fault))?;
        }
        let mut hook = None;
        if is_trusted && component.contract().is(Kind::Hook) {
            hook = Some(follows(&info.name, &guest).await?);
        }
        Ok(Plugin { info, guest, origin, tools, left_out, commands, hook, warnings, trusted })
    }

    /// The setup of the plugin `name`. What came with a project has the settings and
    /// grants of the project's own file once that is trusted, and never the user's: the
    /// user meant another plugin of that name.
    fn setup(&self, name: &PluginName, origin: &Origin, by_trust: bool) -> GuestSetup {
        let own = if origin.is_trusted() {
            self.config.plugin.get(name)
        } else {
            self.config.of_project.plugin.get(name).filter(|_| by_trust)
        };
        let default = PluginConfig::default();
        let own = own.unwrap_or(&default);
        let bundled = BUNDLED.iter().find(|b| *origin == Origin::Bundled && b.name == name.as_str());
        let given = bundled.map(|b| b.grant()).unwrap_or_default();
        let mut grant = own.grant.clone();
        grant.clock |= given.clock;
        grant.terminal |= given.terminal;
        let env =
            grant.env.iter().filter_map(|name| Some((name.clone(), self.env.get(name)?.clone()))).collect();
        GuestSetup {
            name: name.to_string(),
            settings: serde_json::Value::Object(own.settings.clone()).to_string(),
            limits: own.limits.resolve(),
            grant,
            env,
            store: Arc::clone(&self.store),
            terminal: Arc::clone(&self.terminal),
        }
    }
}

/// What a hook follows. One that asks for what cannot be had would not be asked, so it
/// is not used at all.
async fn follows(name: &PluginName, guest: &Guest) -> Result<ComponentHook, Problem> {
    let wanted =
        guest.subscriptions().await.map_err(|fault| Problem::of("`subscriptions` failed", &fault))?;
    let listens = Listening::read_all(&wanted).map_err(|wrong| Problem {
        code: "load/subscription".to_owned(),
        reason: format!("it subscribes to what cannot be followed: {wrong}"),
    })?;
    Ok(ComponentHook { plugin: name.clone(), guest: guest.clone(), listens })
}

fn warnings(contract: &Contract, appendix: Option<&str>, is_trusted: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if contract.is(Kind::Guard) && appendix.is_none() {
        warnings.push(
            "it can refuse calls and has no appendix, so the model is not told of it and will try to route around it"
                .to_owned(),
        );
    }
    if !is_trusted && contract.kinds.iter().any(|kind| *kind != Kind::Guard) {
        warnings.push("it came with the project: only its guard acts, the rest waits for trust".to_owned());
    }
    warnings
}
