//! How a guest in C is compiled: bindings are generated from the contract, and
//! clang and lld make a module of them and the guest's own sources. There is no C
//! library but what the guest brings.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::{Resolve, WorldId};

use crate::process;

const TARGET: &str = "--target=wasm32-unknown-unknown";
const WORLD: &str = "guard-plugin";
/// Of what is generated for [`WORLD`].
const BINDINGS: &str = "guard_plugin.c";
const COMPONENT_TYPE: &str = "guard_plugin_component_type.o";

const COMPILE: &[&str] = &[
    TARGET,
    "-std=c11",
    "-Os",
    "-ffreestanding",
    "-fno-builtin",
    "-nostdlibinc",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-c",
];

/// The same stack as the SDK's guests have.
const LINK: &[&str] = &["--no-entry", "--gc-sections", "--strip-all", "-zstack-size=32768"];

pub(super) const REMEDY: &str = "\
hint: either install Debian's clang and linker:
        apt-get install clang-19 lld-19
      or put `clang` and `wasm-ld` of a release of LLVM on the path";

/// A C compiler and a linker for WebAssembly.
#[derive(Debug)]
pub(super) struct Clang {
    version: String,
    clang: PathBuf,
    linker: PathBuf,
}

impl Clang {
    /// Debian's, and what is on the path without a version in its name.
    pub(super) fn available() -> Vec<Self> {
        [("clang-19", "wasm-ld-19"), ("clang", "wasm-ld")].into_iter().filter_map(Self::of).collect()
    }

    fn of((clang, linker): (&str, &str)) -> Option<Self> {
        let (clang, linker) = (process::which(clang)?, process::which(linker)?);
        let first_line = |program: &Path| {
            let said = process::output(program, &["--version"]).ok()?;
            Some(said.lines().next()?.trim().to_owned())
        };
        let version = format!("{}; {}", first_line(&clang)?, first_line(&linker)?);
        Some(Self { version, clang, linker })
    }

    /// As `clang --version` and `wasm-ld --version` print them.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Builds the guest whose sources are `folder/src`; answers its module.
    pub(super) fn build(&self, root: &Path, folder: &Path, target: &Path) -> anyhow::Result<PathBuf> {
        let name = folder.file_name().context("a guest has a folder")?;
        let out = target.join("c").join(name);
        fs::create_dir_all(&out)?;
        generate(&root.join("wit"), &out)?;

        let sources = folder.join("src");
        let mut files = vec![out.join(BINDINGS)];
        for entry in fs::read_dir(&sources)? {
            files.push(entry?.path());
        }
        files.retain(|file| file.extension().is_some_and(|kind| kind == "c"));
        // The order of the objects is the order of the functions.
        files.sort_by_key(|file| file.file_name().map(ToOwned::to_owned));

        let mut link = words(LINK);
        link.push(out.join(COMPONENT_TYPE).into());
        for file in &files {
            let object = out.join(file.file_name().context("a source has a name")?).with_extension("o");
            let mut compile = words(COMPILE);
            compile.extend([prefix_map(root, "/portcullis"), prefix_map(&out, "/bindings")]);
            compile.extend(["-isystem".into(), sources.join("include").into()]);
            compile.extend(["-I".into(), out.clone().into(), "-I".into(), sources.clone().into()]);
            compile.extend([file.into(), "-o".into(), object.clone().into()]);
            run(&self.clang, &compile)?;
            link.push(object.into());
        }
        let module = out.join("module.wasm");
        link.extend(["-o".into(), module.clone().into()]);
        run(&self.linker, &link)?;
        Ok(module)
    }
}

/// Writes the C bindings of the contract into `out`.
fn generate(wit: &Path, out: &Path) -> anyhow::Result<()> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit)?;
    let world = resolve.select_world(&[package], Some(WORLD))?;
    let mut files = Files::default();
    let options = wit_bindgen_c::Opts { rename: plain_names(&resolve, world), ..Default::default() };
    options.build().generate(&mut resolve, world, &mut files)?;
    for (name, bytes) in files.iter() {
        fs::write(out.join(name), bytes)?;
    }
    Ok(())
}

/// Interfaces by their names in C without a version. A generator puts the version into
/// them once another one lies beside it, and then no released guest would compile.
fn plain_names(resolve: &Resolve, world: WorldId) -> Vec<(String, String)> {
    let imports = resolve.worlds.get(world).into_iter().flat_map(|world| world.imports.keys());
    imports
        .map(|key| {
            let name = resolve.name_world_key(key);
            let plain = name.split('@').next().unwrap_or(&name).replace([':', '/', '-'], "_");
            (name, plain)
        })
        .collect()
}

fn words(flags: &[&str]) -> Vec<OsString> {
    flags.iter().map(OsString::from).collect()
}

fn prefix_map(from: &Path, to: &str) -> OsString {
    let mut flag = OsString::from("-ffile-prefix-map=");
    flag.push(from);
    flag.push("=");
    flag.push(to);
    flag
}

fn run(program: &Path, args: &[OsString]) -> anyhow::Result<()> {
    if process::passes(program, args)? { Ok(()) } else { bail!("`{}` failed", program.display()) }
}
