//! Why a plugin could not answer.

use core::fmt;

/// Why a plugin could not answer. For a guard, the host refuses the call and
/// says that the guard failed; any error of a library becomes one through `?`.
pub struct Error(String);

impl Error {
    /// An error with this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, as the host gets it.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}

// As `Error` is no `std::error::Error` itself, it can take in every one.
impl<E: core::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
