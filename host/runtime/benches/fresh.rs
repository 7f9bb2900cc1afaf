//! A guard's call in a fresh instance, side by side with the engine alone doing
//! the least that a fresh call can be, and with a warm call of a core module.
//!
//! Goal: at most 10 µs at the median and 25 µs at p99, and at most 15 times a warm
//! core call. The last lines are the ratios.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and ends when anything is wrong"
)]

#[path = "../../../tests/benches/measure/mod.rs"]
mod measure;

use std::sync::Arc;
use std::time::{Duration, Instant};

use measure::{Case, print, ratio, side_by_side};
use portcullis_model::call::{Effect, EffectKind};
use portcullis_model::config::GrantConfig;
use portcullis_model::limits::Limits;
use portcullis_model::script::Script;
use portcullis_runtime::{CallView, Compiler, Guest, GuestSetup, Runtime, RuntimeOptions, Store, Terminal};
use wasmtime::{Config, Enabled, Engine, Instance, Module, PoolingAllocationConfig};

/// A bundled guard, built with the SDK, that reads the call's effects.
const GUARD: &[u8] = include_bytes!("../../../plugins/dist/no-secrets.wasm");

/// A component that does nothing: the least that a fresh call can be.
const NOTHING: &str = r#"(component
  (core module $m (memory (export "memory") 1) (func (export "f") (param i32 i32) (result i32) (i32.load8_u (local.get 0)))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $i (instantiate $m))
  (func (export "f") (param "input" string) (result u32)
    (canon lift (core func $i "f") (memory $i "memory") (realloc (func $i "realloc")))))"#;

/// A core module as a guard with an ABI of its own would be: it is asked for room,
/// is handed a text of 100 bytes, scans it, and answers with where its verdict lies.
const WARM: &str = r#"(module (memory (export "memory") 1)
  (func (export "room") (param $size i32) (result i32) (i32.const 1024))
  (func (export "scan") (param $at i32) (param $size i32) (result i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $at) (local.get $size)))
    (loop $next
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0)) (then (i32.store (i32.const 64) (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (i32.const 64)))"#;

const INPUT: &str =
    r#"{"command":"cargo test --workspace --no-fail-fast --locked","description":"run every test"}"#;

fn main() {
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    // The component is our own, so it may be compiled in this process.
    let runtime = Runtime::new(RuntimeOptions::new(Compiler::InProcess)).unwrap();
    let guest = runtime.link(&runtime.load(GUARD).unwrap(), setup()).unwrap();
    let call: Arc<dyn CallView> = Arc::new(Call([Effect::new(EffectKind::Run, "cargo test --workspace")]));
    let spared = runtime.link(&runtime.load(GUARD).unwrap(), setup()).unwrap();
    let judge = |guest: &Guest| {
        let deadline = Instant::now() + Duration::from_secs(5);
        assert_eq!(executor.block_on(guest.before_tool_call(Arc::clone(&call), deadline)).unwrap(), None);
    };

    let engine = engine();
    let nothing = wasmtime::component::Component::new(&engine, wat::parse_str(NOTHING).unwrap()).unwrap();
    let pre = wasmtime::component::Linker::<()>::new(&engine).instantiate_pre(&nothing).unwrap();
    let index = nothing.get_export_index(None, "f").unwrap();
    let bare = || {
        let mut store = wasmtime::Store::new(&engine, ());
        store.set_epoch_deadline(1_000_000);
        let instance = pre.instantiate(&mut store).unwrap();
        let f = instance.get_typed_func::<(&str,), (u32,)>(&mut store, index).unwrap();
        assert!(f.call(&mut store, (INPUT,)).is_ok());
    };

    let module = Module::new(&engine, wat::parse_str(WARM).unwrap()).unwrap();
    let mut store = wasmtime::Store::new(&engine, ());
    store.set_epoch_deadline(u64::MAX / 2);
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let memory = instance.get_memory(&mut store, "memory").unwrap();
    let room = instance.get_typed_func::<i32, i32>(&mut store, "room").unwrap();
    let scan = instance.get_typed_func::<(i32, i32), i32>(&mut store, "scan").unwrap();
    let size = i32::try_from(INPUT.len()).unwrap();
    let warm = move || {
        let at = room.call(&mut store, size).unwrap();
        memory.write(&mut store, usize::try_from(at).unwrap(), INPUT.as_bytes()).unwrap();
        let answer = usize::try_from(scan.call(&mut store, (at, size)).unwrap()).unwrap();
        let mut verdict = [0; 8];
        memory.read(&store, answer, &mut verdict).unwrap();
        assert_eq!(verdict, [0; 8]);
    };

    let mut cases = [
        Case::new("our guard, fresh instance, limits and deadline on", 10, || judge(&guest)),
        Case {
            // Between two calls an agent thinks, and the executor has the time to
            // make the next instance.
            before: Box::new(|| executor.block_on(tokio::task::yield_now())),
            ..Case::new("our guard, fresh instance that was made ready before", 1, || judge(&spared))
        },
        Case::new("bare engine, fresh instance of an empty component", 10, bare),
        Case::new("bare engine, warm core module", 100, warm),
    ];
    let figures = side_by_side(2000, &mut cases);
    print("one guard's call, side by side", &cases, &figures);
    println!(
        "goal: p50 at most 10 µs, p99 at most 25 µs, and at most 15 times a warm core call on the call's own path\nratio: \
         {:.2} times a bare fresh call\nratio: {:.1} times a warm core call; {:.1} times when the instance was made ready \
         before",
        ratio(figures[0], figures[2]),
        ratio(figures[0], figures[3]),
        ratio(figures[1], figures[3]),
    );
}

/// The engine of the peers: the same allocator and the same interruption.
fn engine() -> Engine {
    let mut pool = PoolingAllocationConfig::new();
    pool.linear_memory_keep_resident(1 << 20).table_keep_resident(1 << 20).pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config.concurrency_support(false).epoch_interruption(true).allocation_strategy(pool);
    Engine::new(&config).unwrap()
}

fn setup() -> GuestSetup {
    GuestSetup {
        name: "no-secrets".to_owned(),
        settings: "{}".to_owned(),
        limits: Limits::new(),
        grant: GrantConfig::default(),
        env: Vec::new(),
        store: Arc::new(Nothing),
        terminal: Arc::new(Nothing),
    }
}

#[derive(Debug)]
struct Nothing;

impl Store for Nothing {
    fn get(&self, _: &str, _: &str, _: &str) -> Option<String> {
        None
    }

    fn set(&self, _: &str, _: &str, _: &str, _: &str) -> Result<(), String> {
        Err("there is no store".to_owned())
    }

    fn remove(&self, _: &str, _: &str, _: &str) {}
}

impl Terminal for Nothing {
    fn bell(&self) {}
}

struct Call([Effect; 1]);

impl CallView for Call {
    fn id(&self) -> &str {
        "c1"
    }

    fn tool(&self) -> &str {
        "bash"
    }

    fn input(&self) -> &str {
        INPUT
    }

    fn field(&self, _: &str) -> Option<String> {
        None
    }

    fn cwd(&self) -> &str {
        "/home/dev/app"
    }

    fn session_id(&self) -> &str {
        "bench"
    }

    fn effects(&self) -> &[Effect] {
        &self.0
    }

    fn scripts(&self) -> &[Script] {
        &[]
    }
}
