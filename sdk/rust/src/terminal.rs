//! The terminal of the person behind the agent. The operator grants it with
//! `terminal = true`.

/// Rings the bell.
pub fn bell() {
    #[cfg(target_family = "wasm")]
    crate::bindings::host::terminal::bell();
    #[cfg(not(target_family = "wasm"))]
    crate::testing::with(|host| host.bells += 1);
}
