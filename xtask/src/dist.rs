//! `cargo xtask dist` builds the program as it is shipped: optimised as a whole, and
//! on Linux in one piece with its C library, which saves each hook the search for
//! shared libraries. It stays relocatable, so that its addresses cannot be guessed.
//!
//! On Linux the C library is musl, which asks the processor nothing when it starts, and the
//! compiler is a program of its own, which the shipped one carries inside itself
//! together with the compiled plugins that come with it: a hook starts without both.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

use crate::process;

const BUILD: &[&str] = &["rustc", "--locked", "--profile", "dist"];
const PROGRAM: &[&str] = &["--package", "portcullis-cli", "--bin", "portcullis"];
const COMPILER: &[&str] = &["--package", "portcullis-runtime", "--bin", COMPILE];
const COMPILE: &str = "portcullis-compile";
/// For the compiler alone, which nobody waits for.
const STATIC: &[&str] = &["--", "-C", "target-feature=+crt-static"];
const TARGET: &str = "x86_64-unknown-linux-musl";
/// `start.rs` of the program says what it begins with. What it relocates then is packed, and
/// so read sooner.
const START: &[&str] = &["--", "-C", "link-arg=-Wl,-e,portcullis_start,-z,pack-relative-relocs"];
/// The allocator takes no orders from the environment, and does not look there for any.
const FLAGS: [(&str, &str); 1] = [("TARGET_CFLAGS", "-DMI_NO_GETENV")];
/// What the compiler may use: bytes of memory, and seconds.
const LIMITS: [&str; 2] = ["4294967296", "60"];

pub(crate) fn run() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let cargo = |arguments: &[&[&str]], variables: &[(String, OsString)]| {
        process::run(Path::new("cargo"), &[&[BUILD], arguments].concat().concat(), root, variables)
    };
    // Elsewhere a program in memory cannot be started, or code not be run where it lies.
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return cargo(&[PROGRAM], &[]);
    }
    let target = process::variable("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let target = root.join(target);
    let dist = target.join("dist");
    cargo(&[COMPILER, STATIC], &[])?;
    let carried = dist.join("carried");
    carry(&dist.join(COMPILE), &root.join("plugins/dist"), &carried)?;
    let mut variables: Vec<_> = FLAGS.map(|(name, value)| (name.to_owned(), OsString::from(value))).into();
    variables.push(("PORTCULLIS_CARRIED".to_owned(), carried.into_os_string()));
    cargo(&[PROGRAM, &["--target", TARGET, "--no-default-features"], START], &variables).context(NEEDED)?;
    let built = target.join(TARGET).join("dist/portcullis");
    let program = dist.join("portcullis");
    // A copy in the place of one that runs would be refused.
    let new = program.with_extension("new");
    fs::copy(&built, &new).with_context(|| format!("copying `{}`", built.display()))?;
    fs::rename(&new, &program).with_context(|| format!("writing `{}`", program.display()))
}

const NEEDED: &str = "the shipped program needs `rustup target add x86_64-unknown-linux-musl`, and musl's C \
                      compiler (Debian's `musl-tools`)";

/// Lays out what the program carries in the directory `to`.
fn carry(compiler: &Path, plugins: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    let program = fs::read(compiler)?;
    keep(&to.join(format!("{COMPILE}.sha256")), digest(&program).as_bytes())?;
    keep(&to.join(COMPILE), &program)?;
    for plugin in fs::read_dir(plugins)? {
        let plugin = plugin?.path();
        if plugin.extension().is_none_or(|end| end != "wasm") {
            continue;
        }
        let name = plugin.file_stem().unwrap_or_default().to_string_lossy();
        let component = fs::read(&plugin)?;
        let [memory, seconds] = LIMITS;
        let artifact = process::filtered(compiler, &[memory, seconds, "portable"], &plugin)
            .with_context(|| format!("compiling `{}`", plugin.display()))?;
        keep(&to.join(format!("{name}.cwasm")), &artifact)?;
        keep(&to.join(format!("{name}.sha256")), digest(&component).as_bytes())?;
    }
    Ok(())
}

/// Writes what differs, so that nothing is built again for the same.
fn keep(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).with_context(|| format!("writing `{}`", path.display()))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
