//! The memory layout of a guest that lives for one call.
//!
//! A fresh instance costs the host what it touches. So memory starts large
//! enough that an ordinary call never grows it (a growth costs two system
//! calls), the heap starts right behind the data, and nothing is given back but
//! the newest block: the instance is thrown away whole.

#![allow(unsafe_code, reason = "an allocator cannot be written without it, and this is the only one")]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::cell::Cell;
use core::ptr;

const PAGE: usize = 64 * 1024;

unsafe extern "C" {
    /// Where the linker says that the heap begins.
    static __heap_base: u8;
}

struct Bump {
    /// First free address; 0 before the first use.
    next: Cell<usize>,
    /// End of the memory that there is.
    end: Cell<usize>,
}

// SAFETY: a component's instance has one thread.
unsafe impl Sync for Bump {}

#[global_allocator]
static HEAP: Bump = Bump { next: Cell::new(0), end: Cell::new(0) };

impl Bump {
    /// Makes everything below `end` usable, growing memory when there is too little.
    fn reserve(&self, end: usize) -> bool {
        if end <= self.end.get() {
            return true;
        }
        let missing = (end - self.end.get()).div_ceil(PAGE);
        // A growth costs the host far more than a page, so it is a quarter of what
        // there is; not more than 4 MiB, because one past the limit ends the call.
        let ahead = (wasm32::memory_size::<0>() / 4).min(64);
        if wasm32::memory_grow::<0>(missing.max(ahead)) == usize::MAX {
            return false;
        }
        self.end.set(wasm32::memory_size::<0>() * PAGE);
        true
    }

    fn start(&self) -> usize {
        if self.next.get() == 0 {
            self.next.set(&raw const __heap_base as usize);
            self.end.set(wasm32::memory_size::<0>() * PAGE);
        }
        self.next.get()
    }
}

// SAFETY: every block lies between `next` and the end of memory when it is given
// out, `next` only ever moves past it, and goes back only over the newest block.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(block) = self.start().checked_next_multiple_of(layout.align()) else {
            return ptr::null_mut();
        };
        let Some(end) = block.checked_add(layout.size()) else {
            return ptr::null_mut();
        };
        if !self.reserve(end) {
            return ptr::null_mut();
        }
        self.next.set(end);
        block as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if block as usize + layout.size() == self.next.get() {
            self.next.set(block as usize);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size <= layout.size() {
            return block;
        }
        if block as usize + layout.size() == self.next.get() {
            let Some(end) = (block as usize).checked_add(size) else {
                return ptr::null_mut();
            };
            if !self.reserve(end) {
                return ptr::null_mut();
            }
            self.next.set(end);
            return block;
        }
        // SAFETY: the caller's size is at least 1 and its alignment is the block's.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                ptr::copy_nonoverlapping(block, moved, layout.size());
            }
            moved
        }
    }
}
