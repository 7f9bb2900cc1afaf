//! Prints the JSON schema of a configuration file.

use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    io::stdout().write_all(format!("{:#}", portcullis::config::schema()).as_bytes())
}
