//! What the shipped program carries: the compiler, and compiled components that run
//! where they lie.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod place;
mod stubs;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis::Host;
use portcullis_runtime::{
    Allocation, CacheDir, CarriedCompiler, Compiler, Digest, LoadError, Precompiled, Process, Runtime,
    RuntimeOptions,
};
use portcullis_tests::plugin::Plugin;
use tempfile::TempDir;

use crate::place::{Place, ls, standing};
use crate::stubs::{Nothing, far, link};

const PAGE: usize = 4096;

fn guard() -> Vec<u8> {
    Plugin::new("strict").refuses("no", "no").build().unwrap()
}

/// The compile helper that cargo built beside this test.
fn helper() -> PathBuf {
    let Compiler::Helper { program, .. } = place::compiler() else { unreachable!() };
    program
}

fn carried(program: Vec<u8>) -> Compiler {
    Compiler::Carried(CarriedCompiler { program: program.leak(), identity: "a test's" })
}

/// Nothing can be compiled with it.
fn nobody() -> Compiler {
    Compiler::Helper { program: PathBuf::from("/nowhere/helper"), arguments: Vec::new() }
}

#[tokio::test]
async fn a_carried_compiler_works_and_one_that_cannot_is_named_with_the_way_out() {
    let place = Place::new();
    let options = |compiler| {
        let mut options = place.options("[plugins]\nenabled = [\"strict\"]");
        options.cache = None;
        options.compiler = compiler;
        options
    };
    let works = || carried(fs::read(helper()).unwrap());
    place.put("strict.wasm", &Plugin::new("strict").build().unwrap());
    assert_eq!(ls(&Host::open(options(works())).await.unwrap()).await, "allow");
    place.put("strict.wasm", &guard());
    assert_eq!(ls(&Host::open(options(works())).await.unwrap()).await, "strict");
    for broken in [Vec::new(), b"no program".to_vec(), fs::read(helper()).unwrap()[..PAGE].to_vec()] {
        let host = Host::open(options(carried(broken))).await.unwrap();
        let (code, reason) = standing(&host).await;
        assert_eq!(code, "load/helper");
        for part in ["strict.wasm", "the compile helper failed", "to replace or remove it"] {
            assert!(reason.contains(part), "{reason}");
        }
    }
}

#[test]
fn what_one_compiler_has_compiled_is_not_taken_for_what_another_would() {
    let dir = tempfile::tempdir().unwrap();
    let program: &'static [u8] = fs::read(helper()).unwrap().leak();
    let compiled = |identity| {
        let mut options = RuntimeOptions::new(Compiler::Carried(CarriedCompiler { program, identity }));
        options.allocation = Allocation::OnDemand;
        options.cache = Some(cache(&dir));
        Runtime::new(options).unwrap().load(&guard()).unwrap();
        fs::read_dir(dir.path().join("components")).unwrap().count()
    };
    assert_eq!((compiled("one"), compiled("one"), compiled("two")), (1, 1, 2));
}

fn cache(dir: &TempDir) -> CacheDir {
    CacheDir { dir: dir.path().join("components"), key: dir.path().join("state/key") }
}

/// What `component` compiles to on every machine of this kind.
fn artifact(component: &[u8]) -> Vec<u8> {
    let helper = helper();
    let process = Process {
        program: &helper,
        arguments: ["4294967296", "60", "portable"].map(OsStr::new).to_vec(),
        directory: Path::new("/"),
        variables: Vec::new(),
        input: component,
        time: Duration::from_secs(60),
        output_max: 1 << 30,
    };
    let ended = process.run().unwrap();
    assert_eq!(ended.code, Some(0), "{}", ended.complaint());
    ended.stdout
}

/// `bytes`, so many behind the beginning of a page, until the process ends.
fn lying(bytes: &[u8], behind: usize) -> &'static [u8] {
    let room: &'static mut [u8] = vec![0; bytes.len() + 2 * PAGE].leak();
    let start = room.as_ptr().align_offset(PAGE) + behind;
    let place = &mut room[start..start + bytes.len()];
    place.copy_from_slice(bytes);
    place
}

fn load(precompiled: Precompiled, allocation: Allocation, compiler: Compiler) -> Result<String, LoadError> {
    let dir = tempfile::tempdir().unwrap();
    let mut options = RuntimeOptions::new(compiler);
    options.allocation = allocation;
    options.cache = Some(cache(&dir));
    options.precompiled = vec![precompiled];
    let runtime = Runtime::new(options).unwrap();
    let guest = link(&runtime, &runtime.load(&guard())?).unwrap();
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let said = || executor.block_on(guest.before_tool_call(std::sync::Arc::new(Nothing), far()));
    assert_eq!(said().unwrap(), said().unwrap());
    let asked = dir.path().join("components").exists();
    Ok(format!("{} {}", said().unwrap().unwrap().reason, if asked { "from the cache" } else { "at once" }))
}

#[test]
fn a_compiled_component_runs_where_it_lies_and_asks_neither_compiler_nor_cache() {
    let lying = Precompiled { component: Digest::of(&guard()), artifact: lying(&artifact(&guard()), 0) };
    for allocation in [Allocation::OnDemand, Allocation::Pool] {
        assert_eq!(load(lying, allocation, nobody()).unwrap(), "no at once");
    }
}

#[test]
fn one_that_cannot_be_run_where_it_lies_is_compiled_or_is_a_fault() {
    let (component, good) = (Digest::of(&guard()), artifact(&guard()));
    let not_ours = artifact(&Plugin::new("other").build().unwrap());
    let cut = &good[..good.len() / 2];
    for (why, component, artifact) in [
        ("not at a page", component, lying(&good, 8)),
        ("no artifact", component, lying(b"no artifact", 0)),
        ("nothing", component, lying(b"", 0)),
        ("half of one", component, lying(cut, 0)),
        ("another's", Digest::of(b"other"), lying(&not_ours, 0)),
    ] {
        let given = Precompiled { component, artifact };
        let compiled = load(given, Allocation::OnDemand, place::compiler());
        assert_eq!(compiled.unwrap(), "no from the cache", "{why}");
        let fault = load(given, Allocation::OnDemand, nobody()).unwrap_err();
        assert_eq!(fault.code(), "load/helper", "{why}: {fault}");
    }
}
