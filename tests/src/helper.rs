//! The compile helper of the tests: what `portcullis` itself is at run time.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    portcullis_runtime::helper_main(&arguments)
}
