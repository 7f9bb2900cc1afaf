//! How the shipped program begins: what its C library leaves to it.
//!
//! A program whose addresses cannot be guessed writes them into its tables at each start,
//! and waits for every page of those tables while it does. Asking the system for all
//! of them at once takes a third of the time. A kernel that does not know the question says
//! no, and nothing is lost.

#![allow(unsafe_code, reason = "there is no stack frame, no allocator and no address yet")]

use std::ffi::c_void;
use std::{ptr, slice};

use libc::{PROT_READ, PT_GNU_RELRO, c_int, dl_iterate_phdr, dl_phdr_info, mprotect};

// The arguments of the process are where the stack begins, and stay there. What the C
// library is told in `rdx` is kept. 28 is `madvise`, and 23 `MADV_POPULATE_WRITE`.
std::arch::global_asm!(
    ".globl portcullis_start",
    ".hidden portcullis_start",
    ".type portcullis_start, @function",
    "portcullis_start:",
    "push rdx",
    "lea rdi, [rip + __init_array_start]",
    "and rdi, -4096",
    "lea rsi, [rip + _DYNAMIC]",
    "sub rsi, rdi",
    "mov edx, 23",
    "mov eax, 28",
    "syscall",
    "pop rdx",
    "jmp _start",
    ".size portcullis_start, . - portcullis_start",
);

const PAGE: usize = 4096;

/// Makes the tables that were relocated what they are from here on: read alone. musl
/// does that for libraries, and not for a program in one piece.
pub(crate) fn protect_tables() {
    // SAFETY: the function is called before this returns, with this program's headers.
    unsafe { dl_iterate_phdr(Some(protect), ptr::null_mut()) };
}

unsafe extern "C" fn protect(info: *mut dl_phdr_info, _size: usize, _data: *mut c_void) -> c_int {
    // SAFETY: the C library hands over what it knows of the program, which stays as it is.
    let (base, headers) = unsafe {
        let info = &*info;
        (info.dlpi_addr, slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)))
    };
    for header in headers.iter().filter(|header| header.p_type == PT_GNU_RELRO) {
        let start = usize::try_from(base.wrapping_add(header.p_vaddr)).unwrap_or(0);
        let end = start.saturating_add(usize::try_from(header.p_memsz).unwrap_or(0)) & !(PAGE - 1);
        let start = start & !(PAGE - 1);
        // SAFETY: the linker has put nothing else into these pages, and nobody writes them
        // after the start. A system that does not allow it takes away no more than a defence.
        unsafe { mprotect(ptr::with_exposed_provenance_mut(start), end.saturating_sub(start), PROT_READ) };
    }
    0
}
