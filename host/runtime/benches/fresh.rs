//! A guard's call in a fresh instance, side by side with the engine alone doing
//! the least that a fresh call can be, and with the same guard as a warm core module.
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

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use measure::{Case, print, ratio, side_by_side};
use portcullis_model::call::{Effect, EffectKind};
use portcullis_model::config::GrantConfig;
use portcullis_model::limits::Limits;
use portcullis_model::script::Script;
use portcullis_runtime::{CallView, Compiler, Guest, GuestSetup, Runtime, RuntimeOptions, Store, Terminal};
use wasmtime::{Caller, Config, Enabled, Engine, Memory, Module, PoolingAllocationConfig, TypedFunc};

/// A bundled guard, built with the SDK, that reads the call's effects.
const GUARD: &[u8] = include_bytes!("../../../plugins/dist/no-secrets.wasm");

/// A component that does nothing: the least that a fresh call can be.
const NOTHING: &str = r#"(component
  (core module $m (memory (export "memory") 1) (func (export "f") (param i32 i32) (result i32) (i32.load8_u (local.get 0)))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $i (instantiate $m))
  (func (export "f") (param "input" string) (result u32)
    (canon lift (core func $i "f") (memory $i "memory") (realloc (func $i "realloc")))))"#;

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

    let warm = RefCell::new(WarmCore::new(&engine));
    let mut cases = [
        Case::new("our guard, fresh instance, limits and deadline on", 10, || judge(&guest)),
        Case {
            // Between two calls an agent thinks, and the executor has the time to
            // make the next instance.
            before: Box::new(|| executor.block_on(tokio::task::yield_now())),
            ..Case::new("our guard, fresh instance that was made ready before", 1, || judge(&spared))
        },
        Case::new("bare engine, fresh instance of an empty component", 10, bare),
        Case {
            // The guest frees nothing, as it lives for one call, so a sample begins
            // with a new instance.
            before: Box::new(|| warm.borrow_mut().renew()),
            ..Case::new("the same guard as a core module, warm, hand-written ABI", 50, || {
                warm.borrow_mut().judge()
            })
        },
    ];
    let figures = side_by_side(2000, &mut cases);
    print("one guard's call, side by side", &cases, &figures);
    println!(
        "goal: p50 at most 10 µs, p99 at most 25 µs, and at most 15 times a warm core call, on the call's own path\n\
         ratio: {:.2} times a bare fresh call; {:.2} times when the instance was made ready before\n\
         ratio: {:.1} times a warm core call; {:.1} times when the instance was made ready before",
        ratio(figures[0], figures[2]),
        ratio(figures[1], figures[2]),
        ratio(figures[0], figures[3]),
        ratio(figures[1], figures[3]),
    );
}

/// The guard's own core module without the component around it: an instance that
/// is asked again and again, whose host functions write into its memory by hand.
struct WarmCore {
    pre: wasmtime::InstancePre<Option<Asked>>,
    store: wasmtime::Store<Option<Asked>>,
    call: TypedFunc<i32, i32>,
}

/// What the host functions of the core module use.
#[derive(Clone)]
struct Asked {
    memory: Memory,
    realloc: TypedFunc<(i32, i32, i32, i32), i32>,
}

impl WarmCore {
    fn new(engine: &Engine) -> Self {
        let module = Module::new(engine, main_module(GUARD)).unwrap();
        let mut linker = wasmtime::Linker::new(engine);
        let host = "portcullis:host/call@0.1.1";
        linker.func_wrap(host, "[method]tool-call.effects", effects).unwrap();
        linker.func_wrap(host, "[method]tool-call.scripts", no_scripts).unwrap();
        linker.func_wrap(host, "[resource-drop]tool-call", |_: i32| {}).unwrap();
        linker.func_wrap("portcullis:host/settings@0.1.1", "settings", no_settings).unwrap();
        linker.define_unknown_imports_as_traps(&module).unwrap();
        let pre = linker.instantiate_pre(&module).unwrap();
        let (store, call) = Self::instantiate(&pre);
        Self { pre, store, call }
    }

    fn renew(&mut self) {
        (self.store, self.call) = Self::instantiate(&self.pre);
    }

    fn instantiate(
        pre: &wasmtime::InstancePre<Option<Asked>>,
    ) -> (wasmtime::Store<Option<Asked>>, TypedFunc<i32, i32>) {
        let mut store = wasmtime::Store::new(pre.module().engine(), None);
        store.set_epoch_deadline(u64::MAX / 2);
        let instance = pre.instantiate(&mut store).unwrap();
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        let realloc = instance.get_typed_func(&mut store, "cabi_realloc").unwrap();
        *store.data_mut() = Some(Asked { memory, realloc });
        let name = "portcullis:guard/guard@0.1.0#before-tool-call";
        let call = instance.get_typed_func(&mut store, name).unwrap();
        (store, call)
    }

    fn judge(&mut self) {
        let answer = usize::try_from(self.call.call(&mut self.store, 1).unwrap()).unwrap();
        let memory = self.store.data().as_ref().unwrap().memory;
        // An answer, and no refusal in it.
        assert_eq!(memory.data(&self.store)[answer], 0);
    }
}

/// Hands the guest one effect: a list of one record of two texts.
fn effects(mut caller: Caller<'_, Option<Asked>>, _: i32, answer: i32) {
    let Asked { memory, realloc } = caller.data().clone().unwrap();
    let list = realloc.call(&mut caller, (0, 0, 4, 16)).unwrap();
    let mut record = Vec::with_capacity(16);
    for text in ["run", "cargo test --workspace"] {
        let size = i32::try_from(text.len()).unwrap();
        let at = realloc.call(&mut caller, (0, 0, 1, size)).unwrap();
        memory.write(&mut caller, usize::try_from(at).unwrap(), text.as_bytes()).unwrap();
        record.extend(at.to_le_bytes());
        record.extend(size.to_le_bytes());
    }
    memory.write(&mut caller, usize::try_from(list).unwrap(), &record).unwrap();
    let answer = usize::try_from(answer).unwrap();
    memory.write(&mut caller, answer, &list.to_le_bytes()).unwrap();
    memory.write(&mut caller, answer + 4, &1_i32.to_le_bytes()).unwrap();
}

/// Hands the guest the settings that it has when nobody sets any.
fn no_settings(mut caller: Caller<'_, Option<Asked>>, answer: i32) {
    let Asked { memory, realloc } = caller.data().clone().unwrap();
    let at = realloc.call(&mut caller, (0, 0, 1, 2)).unwrap();
    memory.write(&mut caller, usize::try_from(at).unwrap(), b"{}").unwrap();
    let answer = usize::try_from(answer).unwrap();
    memory.write(&mut caller, answer, &at.to_le_bytes()).unwrap();
    memory.write(&mut caller, answer + 4, &2_i32.to_le_bytes()).unwrap();
}

/// Hands the guest an empty list.
fn no_scripts(mut caller: Caller<'_, Option<Asked>>, _: i32, answer: i32) {
    let memory = caller.data().as_ref().unwrap().memory;
    memory.write(&mut caller, usize::try_from(answer).unwrap(), &[4, 0, 0, 0, 0, 0, 0, 0]).unwrap();
}

/// The core module that holds a component's own code: the first in it.
fn main_module(component: &[u8]) -> &[u8] {
    let module = wasmparser::Parser::new(0).parse_all(component).find_map(|payload| {
        let wasmparser::Payload::ModuleSection { unchecked_range, .. } = payload.unwrap() else {
            return None;
        };
        Some(unchecked_range)
    });
    &component[module.unwrap()]
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
