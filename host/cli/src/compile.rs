//! Who compiles components, and which are compiled already.
//!
//! A program that a developer builds is its own helper. The shipped one carries the
//! helper, which is most of the code and of what has to be relocated at each start, and
//! the compiled plugins that come with it; `cargo xtask dist` makes both and says where
//! they are.

#[cfg(feature = "compiler")]
mod own {
    use std::path::Path;
    use std::process::ExitCode;

    use portcullis::runtime::{Compiler, Precompiled, helper_main};

    /// The first argument of the process that compiles components. It is not for
    /// people, so it is no verb of the command line.
    const COMPILE: &str = "compile-helper";

    pub(crate) fn run_if_asked(arguments: &[String]) -> Option<ExitCode> {
        match arguments {
            [_, verb, limits @ ..] if verb == COMPILE => Some(helper_main(limits)),
            _ => None,
        }
    }

    pub(crate) fn compiler(program: &Path) -> Compiler {
        Compiler::Helper { program: program.to_owned(), arguments: vec![COMPILE.to_owned()] }
    }

    pub(crate) fn precompiled() -> Vec<Precompiled> {
        Vec::new()
    }
}

#[cfg(not(feature = "compiler"))]
mod carried {
    use std::path::Path;
    use std::process::ExitCode;

    use portcullis::runtime::{CarriedCompiler, Compiler, Digest, Precompiled};

    /// Machine code begins at a page, so that no other data becomes executable with it.
    #[repr(C, align(4096))]
    struct Pages<T: ?Sized>(T);

    /// A file that `cargo xtask dist` has made.
    macro_rules! file {
        ($take:ident, $name:expr) => {
            $take!(concat!(env!("PORTCULLIS_CARRIED", "use `cargo xtask dist`"), "/", $name))
        };
    }

    macro_rules! artifact {
        ($name:literal) => {{
            static ARTIFACT: &Pages<[u8]> = &Pages(*file!(include_bytes, concat!($name, ".cwasm")));
            (file!(include_str, concat!($name, ".sha256")), &ARTIFACT.0)
        }};
    }

    pub(crate) fn run_if_asked(_: &[String]) -> Option<ExitCode> {
        None
    }

    pub(crate) fn compiler(_: &Path) -> Compiler {
        static PROGRAM: &[u8] = file!(include_bytes, "portcullis-compile");
        let identity = file!(include_str, "portcullis-compile.sha256");
        Compiler::Carried(CarriedCompiler { program: PROGRAM, identity })
    }

    pub(crate) fn precompiled() -> Vec<Precompiled> {
        let all = [artifact!("guard"), artifact!("time"), artifact!("bell"), artifact!("no-secrets")];
        let of = |(digest, artifact)| Some(Precompiled { component: Digest::parse(digest)?, artifact });
        all.into_iter().filter_map(of).collect()
    }
}

#[cfg(not(feature = "compiler"))]
pub(crate) use carried::{compiler, precompiled, run_if_asked};
#[cfg(feature = "compiler")]
pub(crate) use own::{compiler, precompiled, run_if_asked};
