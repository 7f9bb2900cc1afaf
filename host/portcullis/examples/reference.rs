//! Prints a page of `docs/reference` that is made from code: `cargo xtask
//! codegen` runs this for each of them.

use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    io::stdout().write_all(portcullis::tool::reference_page().as_bytes())
}
