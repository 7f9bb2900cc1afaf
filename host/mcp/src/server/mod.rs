//! A server of whatever an extension brings.
