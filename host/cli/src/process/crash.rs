//! A crash that refuses.
//!
//! The standard library makes an abort of a stack that overflows only where it knows how
//! large the stack is, which is not everywhere. The engine's own handler is asked before
//! this one, and answers for its guests.

#![allow(unsafe_code, reason = "a handler of signals is a function of C's")]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::{SA_NODEFER, SA_ONSTACK, SIG_DFL, SIGBUS, SIGSEGV, STDERR_FILENO, c_int};

use super::ABORTED;

/// A crash counts as a refusal.
static REFUSES: AtomicBool = AtomicBool::new(false);

const SAID: &[u8] = b"Portcullis could not judge this call: it crashed. This is a fault and not a decision. \
                      Ask the user to run `portcullis plugin list`.\n";

/// From here on a crash ends the process as a refusal does.
pub(super) fn refuse() -> io::Result<()> {
    REFUSES.store(true, Ordering::SeqCst);
    set(SIGSEGV, crashed as *const () as usize)?;
    set(SIGBUS, crashed as *const () as usize)
}

/// From here on it ends as any program's would.
pub(super) fn let_be() {
    REFUSES.store(false, Ordering::SeqCst);
}

/// Does nothing but what a handler may do.
extern "C" fn crashed(signal: c_int) {
    if REFUSES.load(Ordering::SeqCst) {
        // SAFETY: both may be called by a handler, and the text lives for ever.
        unsafe {
            libc::write(STDERR_FILENO, SAID.as_ptr().cast(), SAID.len());
            libc::_exit(c_int::from(ABORTED));
        }
    }
    // What crashed is tried again, and ends the process. If this fails, so is it.
    drop(set(signal, SIG_DFL));
}

fn set(signal: c_int, handler: usize) -> io::Result<()> {
    // The stack may be what is used up, so it runs on the one that the standard library
    // has set aside.
    // SAFETY: every field of an action may be zero, and this one is whole.
    let set = unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        action.sa_sigaction = handler;
        action.sa_flags = SA_ONSTACK | SA_NODEFER;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, ptr::null_mut())
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
