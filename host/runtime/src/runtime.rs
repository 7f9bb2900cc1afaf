//! The way from bytes to a [`Guest`].

use std::fmt;
use std::sync::{Arc, OnceLock};

use portcullis_model::limits::COMPONENT_MAX;

use crate::cache::{self, Cache, CacheDir};
use crate::compile::{self, CompileLimits, Compiler};
use crate::component::{Component, Known};
use crate::contract::{Contract, check_header};
use crate::digest::Digest;
use crate::engine::{Allocation, Engines};
use crate::error::{LoadError, RuntimeError};
use crate::guest::Guest;
use crate::precompiled::Precompiled;
use crate::setup::GuestSetup;
use crate::ticker::Pulse;

/// How a [`Runtime`] is set up.
#[derive(Debug, Clone)]
pub struct RuntimeOptions {
    /// Where instances come from.
    pub allocation: Allocation,
    /// Who compiles.
    pub compiler: Compiler,
    /// How much a compilation may take.
    pub compile_limits: CompileLimits,
    /// Where compiled components are kept.
    pub cache: Option<CacheDir>,
    /// Those that are a part of the program.
    pub precompiled: Vec<Precompiled>,
    /// What stops guests at their deadlines, instead of a thread of the runtime's own.
    pub pulse: Option<Pulse>,
}

impl RuntimeOptions {
    /// The defaults: a pool, a ticker, no cache, compile limits as in [`CompileLimits::new`].
    #[must_use]
    pub const fn new(compiler: Compiler) -> Self {
        Self {
            allocation: Allocation::Pool,
            compiler,
            compile_limits: CompileLimits::new(),
            cache: None,
            precompiled: Vec::new(),
            pulse: None,
        }
    }
}

/// Loads components and runs them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Runtime {
    inner: Arc<Inner>,
}

struct Inner {
    engines: Arc<Engines>,
    compiler: Compiler,
    compile_limits: CompileLimits,
    cache_dir: Option<CacheDir>,
    /// Opened when it is asked first.
    cache: OnceLock<Option<Cache>>,
    precompiled: Vec<Precompiled>,
}

impl Runtime {
    /// Starts an engine and its ticker.
    ///
    /// # Errors
    /// When the engine or its thread cannot start. A cache that cannot be used
    /// is left out with a warning: it only makes things faster.
    pub fn new(options: RuntimeOptions) -> Result<Self, RuntimeError> {
        let engines = Arc::new(Engines::start(
            options.allocation,
            options.pulse.as_ref(),
            !options.precompiled.is_empty(),
        )?);
        Ok(Self {
            inner: Arc::new(Inner {
                engines,
                compiler: options.compiler,
                compile_limits: options.compile_limits,
                cache_dir: options.cache,
                cache: OnceLock::new(),
                precompiled: options.precompiled,
            }),
        })
    }

    /// True when instances come from a pool.
    #[must_use]
    pub fn is_pooled(&self) -> bool {
        self.inner.engines.pooled
    }

    /// Reads a component, and compiles it unless the cache has it. Blocks for as
    /// long as that takes; never call it on the path of a judgement.
    ///
    /// # Errors
    /// When the bytes are no component of ours, or do not compile within the limits.
    pub fn load(&self, bytes: &[u8]) -> Result<Component, LoadError> {
        if bytes.len() > COMPONENT_MAX {
            return Err(LoadError::TooBig { size: bytes.len(), max: COMPONENT_MAX });
        }
        check_header(bytes)?;
        self.load_known(bytes, Digest::of(bytes))
    }

    /// The same for bytes whose digest is known, such as those in the program itself.
    ///
    /// # Errors
    /// As [`Runtime::load`].
    pub fn load_known(&self, bytes: &[u8], digest: Digest) -> Result<Component, LoadError> {
        let Inner { engines, compiler, compile_limits, precompiled, .. } = &*self.inner;
        let engine = &engines.engine;
        let mut ours = precompiled.iter().filter(|ours| ours.component == digest);
        let ours = ours.find_map(|ours| {
            let loaded = ours.load(engine);
            loaded
                .inspect_err(|e| tracing::warn!("a plugin's code in this program cannot be used: {e:#}"))
                .ok()
        });
        let cached = ours.or_else(|| self.inner.cache()?.load(engine, &digest));
        let inner = match cached {
            Some(inner) => inner,
            None => {
                let artifact = compile::compile(engine, compiler, compile_limits, bytes)?;
                let inner = cache::deserialize(engine, &artifact)
                    .map_err(|e| LoadError::Helper(format!("its answer is for another engine: {e:#}")))?;
                if let Some(cache) = self.inner.cache() {
                    cache.store(&digest, &artifact);
                }
                inner
            }
        };
        let contract = Contract::read(&inner)?;
        Ok(Component { inner, contract, digest })
    }

    /// Gives a component its limits and its grants, and makes it ready to run.
    ///
    /// # Errors
    /// When it imports what no plugin is given, or does not fit the contract.
    pub fn link(&self, component: &Component, setup: GuestSetup) -> Result<Guest, LoadError> {
        Guest::link(Arc::clone(&self.inner.engines), component, setup)
    }

    /// The same for a component of which everything is known, and whose code is
    /// loaded when it is called first. That call fails when it cannot be loaded, so
    /// this is not for guards.
    #[must_use]
    pub fn link_later(&self, bytes: &'static [u8], known: Known, setup: GuestSetup) -> Guest {
        let (runtime, digest) = (self.clone(), known.digest);
        let load = Box::new(move || runtime.load_known(bytes, digest));
        Guest::later(Arc::clone(&self.inner.engines), known, setup, load)
    }
}

impl Inner {
    fn cache(&self) -> Option<&Cache> {
        let open = || {
            Cache::open(self.cache_dir.clone()?, &self.engines.engine, &self.compiler)
                .inspect_err(|e| tracing::warn!("every component is compiled again in each process: {e}"))
                .ok()
        };
        self.cache.get_or_init(open).as_ref()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("pooled", &self.engines.pooled)
            .field("compiler", &self.compiler)
            .finish_non_exhaustive()
    }
}
