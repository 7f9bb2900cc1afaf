//! What is registered where, and who sees it.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use portcullis_model::extension::Extension;

use super::close::{self, Closed};
use super::news::News;
use super::scope::{Key, Level, Scope};
use super::uri::is_scheme;

/// How extensions may be put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensionOptions {
    /// How deep extensions may bring extensions, the first one counted. Default: 3.
    pub depth_max: usize,
    /// Deeper ones are an error. Default: no, they are registered with a warning.
    pub enforce_depth: bool,
}

impl Default for ExtensionOptions {
    fn default() -> Self {
        Self { depth_max: 3, enforce_depth: false }
    }
}

/// The depth at which registering gives up, whatever the options say.
const DEPTH_LIMIT: usize = 64;

/// Why something is not registered, or is not taken away.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The scope skips the level.
    #[error("the scope has no {0}, so nothing can be registered for one")]
    NoSuchPlace(Level),
    /// Another one of that name is registered there.
    #[error("`{name}` is already registered for {place}; take that one away first")]
    AlreadyThere {
        /// The name.
        name: String,
        /// Where.
        place: String,
    },
    /// It brings itself, by whatever way.
    #[error("`{0}` brings itself: an extension cannot be within itself")]
    Cycle(String),
    /// It brings too much within one another.
    #[error("`{name}` brings extensions {depth} deep, and {most} is the most")]
    TooDeep {
        /// Its name.
        name: String,
        /// How deep.
        depth: usize,
        /// The most.
        most: usize,
    },
    /// The scheme is no scheme.
    #[error("`{0}` is no scheme: letters, digits, `+`, `-` and `.` behind a letter")]
    Scheme(String),
    /// Nothing of that name is registered there.
    #[error("`{name}` is not registered for {place}")]
    NotThere {
        /// The name.
        name: String,
        /// Where.
        place: String,
    },
}

/// Every extension that is registered. Cheap to clone: clones are the same registry.
#[derive(Debug, Clone, Default)]
pub struct Extensions {
    state: Arc<RwLock<State>>,
    options: ExtensionOptions,
}

#[derive(Debug, Default)]
struct State {
    places: HashMap<Key, Vec<Registered>>,
    count: u64,
}

#[derive(Debug, Clone)]
struct Registered {
    extension: Arc<dyn Extension>,
    scheme: Option<String>,
    /// Its place in the order of registration.
    order: u64,
    warning: Option<String>,
}

/// An extension as it is seen from some place.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The extension.
    pub extension: Arc<dyn Extension>,
    /// How wide it is registered.
    pub level: Level,
    /// Who brings it, when it is not registered itself.
    pub parent: Option<String>,
    /// The scheme that it answers for besides those of its roles.
    pub(super) scheme: Option<String>,
    /// What is odd about it.
    pub warning: Option<String>,
    /// Another one of that name is registered narrower, and is seen in its place.
    pub is_shadowed: bool,
}

impl Extensions {
    /// Without any.
    #[must_use]
    pub fn new(options: ExtensionOptions) -> Self {
        Self { state: Arc::default(), options }
    }

    /// Registers `extension` for the scope's pool, session, agent or turn. `scheme` is one
    /// that it answers for besides `skill` and `mcp`, which go by roles. Nothing of it is
    /// asked but its name and its children.
    ///
    /// # Errors
    /// When it cannot be registered there; nothing is changed then.
    pub fn register(
        &self,
        extension: Arc<dyn Extension>,
        level: Level,
        scope: &Scope,
        scheme: Option<&str>,
    ) -> Result<(), RegisterError> {
        let key = scope.key(level).ok_or(RegisterError::NoSuchPlace(level))?;
        if let Some(scheme) = scheme.filter(|scheme| !is_scheme(scheme)) {
            return Err(RegisterError::Scheme(scheme.to_owned()));
        }
        let name = extension.name().to_owned();
        let depth = depth(&*extension, &mut Vec::new())?;
        let most = self.options.depth_max;
        let warning = (depth > most).then(|| format!("it brings extensions {depth} deep, more than {most}"));
        if let Some(warning) = &warning {
            if self.options.enforce_depth {
                return Err(RegisterError::TooDeep { name, depth, most });
            }
            tracing::warn!(extension = %name, "{warning}");
        }
        let scheme = scheme.map(str::to_ascii_lowercase);
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut there = state.places.get(&key).into_iter().flatten();
        if there.any(|other| other.extension.name() == name) {
            return Err(RegisterError::AlreadyThere { name, place: key.to_string() });
        }
        state.count += 1;
        let order = state.count;
        state.places.entry(key).or_default().push(Registered { extension, scheme, order, warning });
        Ok(())
    }

    /// Takes `name` away from where it was registered, and closes it.
    ///
    /// # Errors
    /// When it is not registered there.
    pub async fn unregister(&self, name: &str, level: Level, scope: &Scope) -> Result<Closed, RegisterError> {
        let key = scope.key(level).ok_or(RegisterError::NoSuchPlace(level))?;
        let gone = {
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            let there = state.places.get_mut(&key);
            let at = there.as_ref().and_then(|all| all.iter().position(|own| own.extension.name() == name));
            let gone = there.zip(at).map(|(all, at)| all.remove(at));
            state.places.retain(|_, all| !all.is_empty());
            gone
        };
        let gone =
            gone.ok_or_else(|| RegisterError::NotThere { name: name.to_owned(), place: key.to_string() })?;
        Ok(close::all(vec![gone.extension]).await)
    }

    /// Ends the scope's pool, session, agent or turn: all that was registered for it and
    /// for what is within it is gone at once, and closed: turns before agents before
    /// sessions before the pool, the last registered first, each within
    /// [`CLOSE_TIME`](super::CLOSE_TIME).
    ///
    /// # Errors
    /// When the scope skips the level.
    pub async fn end(&self, level: Level, scope: &Scope) -> Result<Closed, RegisterError> {
        let ended = scope.key(level).ok_or(RegisterError::NoSuchPlace(level))?;
        let mut gone: Vec<(Level, Registered)> = Vec::new();
        {
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            state.places.retain(|key, all| {
                let goes = key.is_within(&ended);
                if goes {
                    gone.extend(all.drain(..).map(|own| (key.level, own)));
                }
                !goes
            });
        }
        gone.sort_by(|(one, own), (other, theirs)| other.cmp(one).then_with(|| theirs.order.cmp(&own.order)));
        Ok(close::all(gone.into_iter().map(|(_, own)| own.extension).collect()).await)
    }

    /// Takes away what was registered for the scope and for what is within it, and closes
    /// nothing: for whoever ends without being able to wait.
    pub(crate) fn forget(&self, level: Level, scope: &Scope) {
        let Some(ended) = scope.key(level).filter(|_| self.places() > 0) else { return };
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.places.retain(|key, _| !key.is_within(&ended));
    }

    /// Every extension that is seen from `scope`: the narrowest first, at one place local
    /// ones before those of other programs, and otherwise in the order in which they were
    /// registered. What an extension brings follows it.
    #[must_use]
    pub fn seen(&self, scope: &Scope) -> Vec<Seen> {
        self.inventory(scope).into_iter().filter(|seen| !seen.is_shadowed).collect()
    }

    /// The same, with those whose name is taken by a narrower one.
    #[must_use]
    pub fn inventory(&self, scope: &Scope) -> Vec<Seen> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut names = BTreeSet::new();
        let mut seen = Vec::new();
        for key in scope.seen() {
            let mut here: Vec<&Registered> = state.places.get(&key).into_iter().flatten().collect();
            here.sort_by_key(|own| (!own.extension.is_local(), own.order));
            for own in here {
                let is_shadowed = !names.insert(own.extension.name().to_owned());
                seen.push(Seen {
                    extension: Arc::clone(&own.extension),
                    level: key.level,
                    parent: None,
                    scheme: own.scheme.clone(),
                    warning: own.warning.clone(),
                    is_shadowed,
                });
                children(&own.extension, key.level, is_shadowed, &mut seen);
            }
        }
        seen
    }

    /// Every extension that is registered anywhere, and what they bring.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<dyn Extension>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut seen = Vec::new();
        for own in state.places.values().flatten() {
            seen.push(Arc::clone(&own.extension));
            let mut within = Vec::new();
            children(&own.extension, Level::Pool, false, &mut within);
            seen.extend(within.into_iter().map(|child| child.extension));
        }
        seen
    }

    /// The news of all that is seen from `scope` now, as one stream.
    #[must_use]
    pub fn news(&self, scope: &Scope) -> News {
        let seen = self.seen(scope);
        let source = |seen: &Seen| Some((seen.extension.name().to_owned(), seen.extension.changes()?));
        News::new(seen.iter().filter_map(source).collect())
    }

    /// How many places hold something, for those who look for leaks.
    #[must_use]
    pub fn places(&self) -> usize {
        self.state.read().unwrap_or_else(PoisonError::into_inner).places.len()
    }
}

/// What `parent` brings, each behind whoever brings it.
fn children(parent: &Arc<dyn Extension>, level: Level, is_shadowed: bool, seen: &mut Vec<Seen>) {
    for child in parent.children() {
        seen.push(Seen {
            extension: Arc::clone(&child),
            level,
            parent: Some(parent.name().to_owned()),
            scheme: None,
            warning: None,
            is_shadowed,
        });
        children(&child, level, is_shadowed, seen);
    }
}

/// How deep `extension` goes, itself counted. `above` holds those that bring it.
fn depth(extension: &dyn Extension, above: &mut Vec<String>) -> Result<usize, RegisterError> {
    let name = extension.name().to_owned();
    if above.contains(&name) {
        return Err(RegisterError::Cycle(name));
    }
    // Nobody means this, and the stack has an end.
    if above.len() >= DEPTH_LIMIT {
        return Err(RegisterError::TooDeep { name, depth: above.len() + 1, most: DEPTH_LIMIT });
    }
    above.push(name);
    let mut deepest = 0;
    for child in extension.children() {
        deepest = deepest.max(depth(&*child, above)?);
    }
    above.pop();
    Ok(deepest + 1)
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.extension.name())
    }
}
