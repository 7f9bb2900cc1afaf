//! Lines for the operator. The model never sees them; a line is cut at 4 KiB.

/// For the plugin's author.
pub fn debug(message: &str) {
    line("debug", message);
}

/// What happened.
pub fn info(message: &str) {
    line("info", message);
}

/// What the operator should look at.
pub fn warn(message: &str) {
    line("warn", message);
}

/// What went wrong.
pub fn error(message: &str) {
    line("error", message);
}

fn line(level: &str, message: &str) {
    #[cfg(target_family = "wasm")]
    crate::bindings::host::log::log(level, message);
    #[cfg(not(target_family = "wasm"))]
    crate::testing::with(|host| host.log.push((level.to_owned(), message.to_owned())));
}
