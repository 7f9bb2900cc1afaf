//! Guards written by hand in the text format, each of which allows, denies, or
//! does one chosen wrong thing, as the call asks.
//!
//! The call's `/command` decides: `allow…` is allowed, `deny…` is denied, and
//! everything else runs the fault. So one component has all three arms.

use std::path::PathBuf;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, WorldId};

/// What the fault arm may call, and the bytes that it may return.
///
/// `$call` is the call's handle, `ALLOW` and `DENY` are answers in memory, and
/// `(call $err …)`, `(call $refuse …)` make others.
const ALLOW: usize = 1024;
const DENY: usize = 1056;
const DENY_REASON: &str = "the guest says no";

/// A guard to be built.
#[derive(Debug, Clone)]
pub struct Guard {
    name: String,
    appendix: Option<String>,
    fault: String,
    fields: String,
    pages: u32,
    world: String,
    guard_version: &'static str,
}

impl Guard {
    /// A guard called `name` whose fault arm allows.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            appendix: Some("A guard of the tests.".to_owned()),
            fault: String::new(),
            fields: String::new(),
            pages: 2,
            world: String::new(),
            guard_version: "0.1.0",
        }
    }

    /// What the fault arm does, in the text format. It falls through to allow.
    #[must_use]
    pub fn fault(mut self, body: &str) -> Self {
        body.clone_into(&mut self.fault);
        self
    }

    /// More imports, functions, tables and globals of the module.
    #[must_use]
    pub fn fields(mut self, fields: &str) -> Self {
        self.fields.push_str(fields);
        self
    }

    /// More lines of the world, such as imports.
    #[must_use]
    pub fn world(mut self, lines: &str) -> Self {
        self.world.push_str(lines);
        self
    }

    /// Initial pages of memory.
    #[must_use]
    pub const fn pages(mut self, pages: u32) -> Self {
        self.pages = pages;
        self
    }

    /// Leaves the appendix out.
    #[must_use]
    pub fn without_appendix(mut self) -> Self {
        self.appendix = None;
        self
    }

    /// Exports the guard interface in another version.
    #[must_use]
    pub const fn guard_version(mut self, version: &'static str) -> Self {
        self.guard_version = version;
        self
    }

    /// The component.
    ///
    /// # Errors
    /// When the text does not parse, or does not fit the contract.
    pub fn build(&self) -> Result<Vec<u8>, String> {
        let module = wat::parse_str(self.text()).map_err(|e| e.to_string())?;
        let mut packages = Vec::new();
        if self.guard_version != "0.1.0" {
            packages.push(GUARD_WIT.replace("VERSION", self.guard_version));
        }
        let world = format!(
            "package portcullis:tests;\nworld guest {{\n  include portcullis:plugin/platform@0.1.0;\n  {}\n  export \
             portcullis:plugin/plugin@0.1.0;\n  export portcullis:guard/guard@{};\n}}\n",
            self.world, self.guard_version
        );
        lift(module, &packages, &world)
    }

    fn text(&self) -> String {
        let Self { name, appendix, fault, fields, pages, guard_version, .. } = self;
        let mut data = Data::default();
        data.put(16, b"/command");
        let name = data.text(name);
        let description = data.text("a guard of the tests");
        let version = data.text("0.0.1");
        let appendix = appendix.as_deref().map(|text| data.text(text));
        let code = data.text("no");
        let reason = data.text(DENY_REASON);
        let mut info = Vec::new();
        for (at, length) in [name, description, version] {
            info.extend(words(&[at, length]));
        }
        let (at, length) = appendix.unwrap_or((0, 0));
        info.extend(words(&[usize::from(appendix.is_some()), at, length, 0, 0]));
        data.put(256, &info);
        data.put(DENY, &words(&[0, 1, code.0, code.1, reason.0, reason.1]));
        let data = data.segments();
        format!(
            r#"(module
  (import "portcullis:host/call@0.1.0" "[method]tool-call.field" (func $field (param i32 i32 i32 i32)))
  (import "portcullis:host/call@0.1.0" "[resource-drop]tool-call" (func $drop (param i32)))
  {fields}
  (memory (export "memory") {pages})
  (global $next (mut i32) (i32.const 65536))
  {data}
  (func $realloc (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func $err (param $at i32) (param $length i32) (result i32)
    (i32.store (i32.const 1088) (i32.const 1))
    (i32.store (i32.const 1092) (local.get $at))
    (i32.store (i32.const 1096) (local.get $length))
    (i32.const 1088))
  (func $refuse (param $at i32) (param $length i32) (result i32)
    (i32.store (i32.const 1088) (i32.const 0))
    (i32.store (i32.const 1092) (i32.const 1))
    (i32.store (i32.const 1096) (i32.const 0))
    (i32.store (i32.const 1100) (i32.const 0))
    (i32.store (i32.const 1104) (local.get $at))
    (i32.store (i32.const 1108) (local.get $length))
    (i32.const 1088))
  (func (export "portcullis:plugin/plugin@0.1.0#describe") (result i32) (i32.const 256))
  (func (export "portcullis:guard/guard@{guard_version}#before-tool-call") (param $call i32) (result i32)
    (local $first i32)
    (call $field (local.get $call) (i32.const 16) (i32.const 8) (i32.const 512))
    (local.set $first
      (if (result i32) (i32.load8_u (i32.const 512))
        (then (i32.load8_u offset=1 (i32.load (i32.const 516))))
        (else (i32.const 97))))
    (if (i32.eq (local.get $first) (i32.const 97))
      (then (call $drop (local.get $call)) (return (i32.const {ALLOW}))))
    (if (i32.eq (local.get $first) (i32.const 100))
      (then (call $drop (local.get $call)) (return (i32.const {DENY}))))
    {fault}
    (call $drop (local.get $call))
    (i32.const {ALLOW})))
"#
        )
    }
}

/// A component that exports `plugin` and nothing else.
///
/// # Errors
/// When the contract cannot be read.
pub fn only_a_name() -> Result<Vec<u8>, String> {
    dummy("package portcullis:tests;\nworld guest { export portcullis:plugin/plugin@0.1.0; }")
}

/// A dummy component of the world that `text` declares: it has the right shape,
/// and every function of it traps.
///
/// # Errors
/// When the text does not parse.
pub fn dummy(text: &str) -> Result<Vec<u8>, String> {
    dummy_with(&[], text)
}

/// As [`dummy`], of a world that needs other packages beside the contract's.
///
/// # Errors
/// When a text does not parse.
pub fn dummy_with(packages: &[String], text: &str) -> Result<Vec<u8>, String> {
    let (resolve, world) = resolve(packages, text)?;
    let abi = wit_parser::ManglingAndAbi::Legacy(wit_parser::LiftLowerAbi::Sync);
    encode(wit_component::dummy_module(&resolve, world, abi), &resolve, world)
}

/// Makes a component of `module` for the world that `text` declares.
pub(crate) fn lift(module: Vec<u8>, packages: &[String], text: &str) -> Result<Vec<u8>, String> {
    let (resolve, world) = resolve(packages, text)?;
    encode(module, &resolve, world)
}

/// The world that `text` declares, over the contract, some of WASI, and `packages`.
fn resolve(packages: &[String], text: &str) -> Result<(Resolve, WorldId), String> {
    let mut resolve = Resolve::default();
    let shown = |e: &dyn std::fmt::Display| format!("{e:#}");
    resolve.push_path(wit()).map_err(|e| shown(&e))?;
    let wasi = [IO_WIT, CLI_WIT, CLOCKS_WIT, SOCKETS_WIT].into_iter();
    for (at, package) in wasi.chain(packages.iter().map(String::as_str)).enumerate() {
        resolve.push_str(format!("{at}.wit"), package).map_err(|e| shown(&e))?;
    }
    let package = resolve.push_str("world.wit", text).map_err(|e| shown(&e))?;
    let world = resolve.select_world(&[package], None).map_err(|e| shown(&e))?;
    Ok((resolve, world))
}

fn encode(mut module: Vec<u8>, resolve: &Resolve, world: WorldId) -> Result<Vec<u8>, String> {
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8).map_err(|e| e.to_string())?;
    ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .map_err(|e| format!("{e:#}"))
}

/// The folder with the contract.
#[must_use]
pub fn wit() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../wit")
}

const GUARD_WIT: &str = "package portcullis:guard@VERSION;
interface guard {
  use portcullis:host/call@0.1.0.{tool-call};
  record refusal { code: string, reason: string }
  before-tool-call: func(call: borrow<tool-call>) -> result<option<refusal>, string>;
}";

/// As much of WASI as the guests need, in our own words.
const IO_WIT: &str = "package wasi:io@0.2.0;
interface poll { resource pollable { block: func(); } }
interface error { resource error; }
interface streams {
  use error.{error};
  variant stream-error { last-operation-failed(error), closed }
  resource output-stream { blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>; }
}";
const CLI_WIT: &str = "package wasi:cli@0.2.0;
interface stdout {
  use wasi:io/streams@0.2.0.{output-stream};
  get-stdout: func() -> output-stream;
}";
const CLOCKS_WIT: &str = "package wasi:clocks@0.2.0;
interface monotonic-clock {
  use wasi:io/poll@0.2.0.{pollable};
  subscribe-duration: func(when: u64) -> pollable;
}
interface wall-clock {
  record datetime { seconds: u64, nanoseconds: u32 }
  now: func() -> datetime;
}";
const SOCKETS_WIT: &str = "package wasi:sockets@0.2.0;
interface instance-network { resource network; instance-network: func() -> network; }";

#[derive(Default)]
struct Data {
    parts: Vec<(usize, Vec<u8>)>,
    next: usize,
}

impl Data {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.parts.push((at, bytes.to_vec()));
    }

    /// Puts a text behind the others.
    fn text(&mut self, text: &str) -> (usize, usize) {
        const TEXTS: usize = 2048;
        let at = TEXTS + self.next;
        self.next += text.len();
        self.put(at, text.as_bytes());
        (at, text.len())
    }

    fn segments(&self) -> String {
        let segment = |(at, bytes): &(usize, Vec<u8>)| {
            let bytes: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
            format!("(data (i32.const {at}) \"{bytes}\")\n  ")
        };
        self.parts.iter().map(segment).collect()
    }
}

fn words(values: &[usize]) -> Vec<u8> {
    values.iter().flat_map(|value| u32::try_from(*value).unwrap_or(u32::MAX).to_le_bytes()).collect()
}
