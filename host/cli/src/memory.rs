//! The program's memory.
//!
//! Taking a script apart makes and drops many small texts, which the C library's
//! allocator is slow at, so mimalloc is behind this. It gives each size of blocks pages of
//! its own, and a hook, which ends after one call, waits longer for those pages than for
//! all that it does with them. So the first thread takes its blocks from one piece
//! first, of which the system gives a hook the beginning at once.

#![allow(unsafe_code, reason = "an allocator hands out memory of which nobody else may know")]

mod piece;

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

use mimalloc::MiMalloc;

use piece::Piece;

/// The program's allocator.
#[derive(Debug)]
pub(crate) struct Memory;

static PIECE: Piece = Piece::new();

/// The thread that takes from the piece, by the address of its [`HERE`]; 0 before it has.
static OWNER: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static HERE: u8 = const { 0 };
}

/// Asks the system at once for what a hook will use.
pub(crate) fn expect_a_hook() {
    PIECE.ask_for_most();
}

/// The thread that asks first is the main one, before `main`.
fn is_owner() -> bool {
    let Ok(own) = HERE.try_with(|here| ptr::from_ref(here).addr()) else { return false };
    match OWNER.load(Ordering::Relaxed) {
        0 => OWNER.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed).is_ok(),
        owner => owner == own,
    }
}

// SAFETY: a block is the piece's or mimalloc's, which its address tells. The piece is
// touched by its owner alone; another thread leaves a block of it where it is.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: this is the owner.
        let taken = if is_owner() { unsafe { PIECE.take(layout) } } else { None };
        // SAFETY: the caller's promise about the layout.
        taken.map_or_else(|| unsafe { MiMalloc.alloc(layout) }, NonNull::as_ptr)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: this is the owner.
        let taken = if is_owner() { unsafe { PIECE.take(layout) } } else { None };
        let Some(taken) = taken else {
            // SAFETY: the caller's promise about the layout.
            return unsafe { MiMalloc.alloc_zeroed(layout) };
        };
        // SAFETY: the block has so many bytes.
        unsafe { taken.write_bytes(0, layout.size()) };
        taken.as_ptr()
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !PIECE.holds(block) {
            // SAFETY: it is not the piece's, so it is mimalloc's.
            unsafe { MiMalloc.dealloc(block, layout) };
        } else if is_owner() {
            // SAFETY: this is the owner, and the block was taken with this layout.
            unsafe { PIECE.give_back(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !PIECE.holds(block) {
            // SAFETY: it is not the piece's, so it is mimalloc's.
            return unsafe { MiMalloc.realloc(block, layout, size) };
        }
        // SAFETY: the caller's promise about the size.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if Piece::is_same(layout, new) {
            return block;
        }
        // SAFETY: both blocks have so many bytes, and nobody else knows of the new one.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}
