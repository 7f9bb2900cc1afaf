//! WASI, linked interface by interface over a closed context.
//!
//! Toolchains of most languages import WASI whatever the plugin does. What is
//! not granted is there, and empty: no directories, no environment, a clock that
//! stands still, random numbers that are always the same. Sockets are never
//! there, and a component that imports them is not loaded.

use std::time::Duration;

use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliView as _};
use wasmtime_wasi::clocks::{HostMonotonicClock, HostWallClock, WasiClocks, WasiClocksView as _};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random};
use wasmtime_wasi::random::{Deterministic, WasiRandom};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_io::bindings::wasi::io;

use crate::capture::Capture;
use crate::error::LoadError;
use crate::setup::GuestSetup;
use crate::state::CallState;

/// The most random bytes that one host call gives.
const RANDOM_MAX: u64 = 64 << 10;

struct HasIo;

impl HasData for HasIo {
    type Data<'a> = &'a mut ResourceTable;
}

type Link = fn(&mut Linker<CallState>) -> wasmtime::Result<()>;

/// Every WASI interface that a plugin may import.
const INTERFACES: &[(&str, Link)] = &[
    ("wasi:io/error", |l| io::error::add_to_linker::<CallState, HasIo>(l, |s| s.ctx().table)),
    ("wasi:io/poll", |l| io::poll::add_to_linker::<CallState, HasIo>(l, |s| s.ctx().table)),
    ("wasi:io/streams", |l| io::streams::add_to_linker::<CallState, HasIo>(l, |s| s.ctx().table)),
    ("wasi:clocks/wall-clock", |l| {
        clocks::wall_clock::add_to_linker::<CallState, WasiClocks>(l, CallState::clocks)
    }),
    ("wasi:clocks/monotonic-clock", |l| {
        clocks::monotonic_clock::add_to_linker::<CallState, WasiClocks>(l, CallState::clocks)
    }),
    ("wasi:random/random", |l| {
        random::random::add_to_linker::<CallState, WasiRandom>(l, |s| s.ctx().ctx.random())
    }),
    ("wasi:random/insecure", |l| {
        random::insecure::add_to_linker::<CallState, WasiRandom>(l, |s| s.ctx().ctx.random())
    }),
    ("wasi:random/insecure-seed", |l| {
        random::insecure_seed::add_to_linker::<CallState, WasiRandom>(l, |s| s.ctx().ctx.random())
    }),
    ("wasi:cli/exit", |l| cli::exit::add_to_linker::<CallState, WasiCli>(l, CallState::cli)),
    ("wasi:cli/environment", |l| cli::environment::add_to_linker::<CallState, WasiCli>(l, CallState::cli)),
    ("wasi:cli/stdin", |l| cli::stdin::add_to_linker::<CallState, WasiCli>(l, CallState::cli)),
    ("wasi:cli/stdout", |l| cli::stdout::add_to_linker::<CallState, WasiCli>(l, CallState::cli)),
    ("wasi:cli/stderr", |l| cli::stderr::add_to_linker::<CallState, WasiCli>(l, CallState::cli)),
    ("wasi:cli/terminal-input", |l| {
        cli::terminal_input::add_to_linker::<CallState, WasiCli>(l, CallState::cli)
    }),
    ("wasi:cli/terminal-output", |l| {
        cli::terminal_output::add_to_linker::<CallState, WasiCli>(l, CallState::cli)
    }),
    ("wasi:cli/terminal-stdin", |l| {
        cli::terminal_stdin::add_to_linker::<CallState, WasiCli>(l, CallState::cli)
    }),
    ("wasi:cli/terminal-stdout", |l| {
        cli::terminal_stdout::add_to_linker::<CallState, WasiCli>(l, CallState::cli)
    }),
    ("wasi:cli/terminal-stderr", |l| {
        cli::terminal_stderr::add_to_linker::<CallState, WasiCli>(l, CallState::cli)
    }),
    ("wasi:filesystem/types", |l| {
        filesystem::types::add_to_linker::<CallState, WasiFilesystem>(l, CallState::filesystem)
    }),
    ("wasi:filesystem/preopens", |l| {
        filesystem::preopens::add_to_linker::<CallState, WasiFilesystem>(l, CallState::filesystem)
    }),
];

/// True for a name in WASI's namespace.
pub(crate) fn is_wasi(import: &str) -> bool {
    import.starts_with("wasi:")
}

/// Links the one interface that `import` names.
pub(crate) fn link(linker: &mut Linker<CallState>, import: &str) -> Result<(), LoadError> {
    let name = import.split('@').next().unwrap_or(import);
    let refused = |why| LoadError::Import { import: import.to_owned(), why };
    if name.starts_with("wasi:sockets/") {
        return Err(refused("no plugin is ever given"));
    }
    let (_, add) = INTERFACES
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| refused("this host does not offer to plugins"))?;
    add(linker).map_err(|e| LoadError::Link(format!("`{import}`: {e:#}")))
}

/// The context of one call: closed, but for what `setup` grants.
pub(crate) fn context(setup: &GuestSetup) -> WasiCtx {
    let mut builder = WasiCtx::builder();
    builder.stdout(Capture::new(&setup.name, "stdout")).stderr(Capture::new(&setup.name, "stderr"));
    builder.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false).max_random_size(RANDOM_MAX);
    if !setup.grant.clock {
        builder.wall_clock(Still).monotonic_clock(Still);
    }
    if !setup.grant.random {
        builder.secure_random(zeros()).insecure_random(zeros()).insecure_random_seed(0);
    }
    builder.envs(&setup.env);
    let grants = [(&setup.grant.read, FsPerms::ReadOnly), (&setup.grant.write, FsPerms::ReadWrite)];
    for (directories, perms) in grants {
        for directory in directories {
            let name = directory.to_string_lossy();
            if let Err(error) = builder.preopened_dir(directory, &name, perms) {
                tracing::warn!(plugin = %setup.name, "the granted directory `{name}` cannot be opened: {error:#}");
            }
        }
    }
    builder.build()
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let setup = &self.setup;
        WasiCtxView { ctx: self.wasi.get_or_insert_with(|| context(setup)), table: &mut self.table }
    }
}

fn zeros() -> Deterministic {
    Deterministic::new(vec![0])
}

/// A clock that stands still, for plugins that were not granted one.
struct Still;

impl HostWallClock for Still {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for Still {
    fn resolution(&self) -> u64 {
        1_000_000_000
    }

    fn now(&self) -> u64 {
        0
    }
}
