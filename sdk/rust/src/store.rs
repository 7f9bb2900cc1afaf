//! Small values that outlive a call. Every call gets a fresh instance, so this
//! is the only memory that a plugin has. Kept apart for each plugin and session:
//! 64 KiB a value, 1 MiB in all.

use crate::Error;

/// The value of a key.
#[must_use]
pub fn get(key: &str) -> Option<String> {
    #[cfg(target_family = "wasm")]
    return crate::bindings::host::store::get(key);
    #[cfg(not(target_family = "wasm"))]
    return crate::testing::with(|host| host.store.get(key).cloned());
}

/// Keeps a value.
///
/// # Errors
///
/// When it is too big, or the plugin has no more room.
pub fn set(key: &str, value: &str) -> Result<(), Error> {
    #[cfg(target_family = "wasm")]
    return crate::bindings::host::store::set(key, value).map_err(Error::new);
    #[cfg(not(target_family = "wasm"))]
    return crate::testing::with(|host| {
        if value.len() > 64 * 1024 {
            return Err(Error::new("a value has at most 64 KiB"));
        }
        host.store.insert(key.to_owned(), value.to_owned());
        Ok(())
    });
}

/// Forgets a key.
pub fn remove(key: &str) {
    #[cfg(target_family = "wasm")]
    crate::bindings::host::store::remove(key);
    #[cfg(not(target_family = "wasm"))]
    crate::testing::with(|host| host.store.remove(key));
}
