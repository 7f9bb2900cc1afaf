//! Prints the page of the reference with every key of a configuration file.

use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    io::stdout().write_all(portcullis::config::reference_page().trim_end().as_bytes())
}
