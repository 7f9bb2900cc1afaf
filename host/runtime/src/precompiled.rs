//! Components that were compiled when the program was built, and lie in it.
//!
//! Who can change them can change the program, so they are trusted as its own code is,
//! and run where they lie: nothing is copied, hashed, or looked for on the disk.

use std::ptr::NonNull;
use std::sync::Arc;

use rustix::mm::{MprotectFlags, mprotect};
use rustix::param::page_size;
use wasmtime::component::Component;
use wasmtime::{Config, CustomCodeMemory, Engine};

use crate::digest::Digest;

/// A compiled component that is a part of the program.
#[derive(Clone, Copy)]
pub struct Precompiled {
    /// Of the component that it was compiled from.
    pub component: Digest,
    /// Machine code for every machine of this kind. Begins at a page.
    pub artifact: &'static [u8],
}

impl std::fmt::Debug for Precompiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Precompiled").field(&self.component).finish()
    }
}

impl Precompiled {
    /// Runs it where it lies. The engine must have been made [`able to`](allow).
    #[allow(
        unsafe_code,
        reason = "machine code of our own compiler, as much ours as the rest of the program"
    )]
    pub(crate) fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        if !self.artifact.as_ptr().addr().is_multiple_of(page_size()) {
            return Err(wasmtime::Error::msg("it does not begin at a page"));
        }
        // SAFETY: `artifact` was made by `Engine::precompile_component` when this program
        // was built, lives as long as the program does, and is never written.
        unsafe { Component::deserialize_raw(engine, NonNull::from(self.artifact)) }
    }
}

/// Lets engines of `config` run code that they have not mapped themselves.
pub(crate) fn allow(config: &mut Config) {
    config.with_custom_code_memory(Some(Arc::new(Pages)));
}

/// Makes pages of code executable, wherever they lie.
struct Pages;

impl CustomCodeMemory for Pages {
    fn required_alignment(&self) -> usize {
        page_size()
    }

    fn publish_executable(&self, code: *const u8, length: usize) -> wasmtime::Result<()> {
        Ok(protect(code, length, MprotectFlags::READ | MprotectFlags::EXEC)?)
    }

    fn unpublish_executable(&self, code: *const u8, length: usize) -> wasmtime::Result<()> {
        // Nothing runs it any more. That it could is no reason to end the process.
        if let Err(error) = protect(code, length, MprotectFlags::READ) {
            tracing::warn!("code that is not needed any more stays executable: {error}");
        }
        Ok(())
    }
}

#[allow(unsafe_code, reason = "the engine asks for what it does by itself to memory of its own")]
fn protect(code: *const u8, length: usize, may: MprotectFlags) -> rustix::io::Result<()> {
    // SAFETY: the engine hands over whole pages of the code of one artifact, which nobody
    // writes, and takes the right to run them back only after their last call.
    unsafe { mprotect(code.cast_mut().cast(), length, may) }
}
