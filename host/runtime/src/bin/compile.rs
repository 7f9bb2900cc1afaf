//! The compile helper as a program of its own. The shipped `portcullis` carries it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    portcullis_runtime::helper_main(&arguments)
}
