//! The time of day. The operator grants it with `clock = true`; asking without
//! the grant ends the plugin's call as a fault.

/// A moment, and the local zone at it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// Since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Within the second.
    pub nanoseconds: u32,
    /// The local zone's offset from UTC at that moment, in seconds east.
    pub offset_seconds: i32,
    /// The local zone's name, such as `Europe/Berlin`; empty when unknown.
    pub zone: String,
}

impl Moment {
    /// A whole second in a zone.
    #[must_use]
    pub fn new(seconds: i64, offset_seconds: i32, zone: impl Into<String>) -> Self {
        Self { seconds, nanoseconds: 0, offset_seconds, zone: zone.into() }
    }
}

/// Now.
#[must_use]
pub fn now() -> Moment {
    #[cfg(target_family = "wasm")]
    {
        let crate::bindings::host::clock::Moment { seconds, nanoseconds, offset_seconds, zone } =
            crate::bindings::host::clock::now();
        Moment { seconds, nanoseconds, offset_seconds, zone }
    }
    #[cfg(not(target_family = "wasm"))]
    crate::testing::with(|host| host.now.clone())
}
