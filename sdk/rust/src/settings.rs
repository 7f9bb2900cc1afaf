//! The plugin's own `[plugin.NAME.settings]` table.

/// The settings as a JSON object; `{}` when the operator wrote none.
#[must_use]
pub fn text() -> String {
    #[cfg(target_family = "wasm")]
    return crate::bindings::host::settings::settings();
    #[cfg(not(target_family = "wasm"))]
    return crate::testing::with(|host| host.settings.clone());
}

/// The settings as a type of the author's own. With `#[serde(default,
/// deny_unknown_fields)]` on it, an operator's typing error is an error here,
/// and so a refusal that names the key, and not a setting that does nothing.
///
/// # Errors
///
/// When the settings have another shape.
#[cfg(feature = "json")]
pub fn read<T: serde::de::DeserializeOwned>() -> Result<T, crate::Error> {
    let text = text();
    serde_json::from_str(&text).map_err(|error| crate::Error::new(format!("the settings are wrong: {error}")))
}
