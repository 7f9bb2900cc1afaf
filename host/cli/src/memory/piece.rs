//! One piece of memory, and the blocks that are taken from it. For one thread.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// Bytes of the piece.
const SIZE: usize = 1 << 20;
/// So much of it is asked for at once: what a hook uses.
#[cfg(target_os = "linux")]
const MOST: usize = 160 << 10;
/// Blocks up to here have sizes that are multiples of [`STEP`], larger ones powers of two.
const FINE: usize = 1 << 10;
const STEP: usize = 16;
const FINE_CLASSES: usize = FINE / STEP;
/// The largest block.
const LARGEST: usize = 32 << 10;
const CLASSES: usize = FINE_CLASSES + (LARGEST / FINE).ilog2() as usize;

/// One piece of memory.
#[repr(C, align(4096))]
pub(super) struct Piece {
    bytes: UnsafeCell<[MaybeUninit<u8>; SIZE]>,
    blocks: UnsafeCell<Blocks>,
}

struct Blocks {
    /// Where what was never taken begins.
    next: usize,
    /// The first block of each class that was given back. It begins with the address of
    /// the next one.
    free: [*mut u8; CLASSES],
}

// SAFETY: every method that touches the blocks says that one thread alone may call it.
unsafe impl Sync for Piece {}

/// The class of a block, and the bytes that blocks of it have.
fn class(layout: Layout) -> Option<(usize, usize)> {
    if layout.align() > STEP || layout.size() > LARGEST {
        return None;
    }
    let steps = layout.size().div_ceil(STEP).max(1);
    if steps <= FINE_CLASSES {
        return Some((steps - 1, steps * STEP));
    }
    let size = layout.size().next_power_of_two();
    Some((FINE_CLASSES + (size / FINE).ilog2() as usize - 1, size))
}

impl Piece {
    pub(super) const fn new() -> Self {
        Self {
            bytes: UnsafeCell::new([MaybeUninit::uninit(); SIZE]),
            blocks: UnsafeCell::new(Blocks { next: 0, free: [ptr::null_mut(); CLASSES] }),
        }
    }

    /// Asks the system for the beginning at once, which is faster than page by page. It
    /// gives them one by one if it cannot.
    pub(super) fn ask_for_most(&self) {
        #[cfg(target_os = "linux")]
        {
            use rustix::mm::{Advice, madvise};
            // SAFETY: nothing but the presence of these pages changes.
            let _ = unsafe { madvise(self.bytes.get().cast(), MOST, Advice::LinuxPopulateWrite) };
        }
    }

    /// Is this a block of the piece?
    pub(super) fn holds(&self, block: *mut u8) -> bool {
        block.addr().wrapping_sub(self.bytes.get().addr()) < SIZE
    }

    /// Does a block of one layout serve for the other?
    pub(super) fn is_same(one: Layout, other: Layout) -> bool {
        class(one).is_some_and(|one| class(other) == Some(one))
    }

    /// A block, when the piece has room for it.
    ///
    /// # Safety
    /// One thread alone may call this and [`Piece::give_back`].
    pub(super) unsafe fn take(&self, layout: Layout) -> Option<NonNull<u8>> {
        let (class, size) = class(layout)?;
        // SAFETY: no other thread is here.
        let blocks = unsafe { &mut *self.blocks.get() };
        let free = blocks.free.get_mut(class)?;
        if let Some(block) = NonNull::new(*free) {
            // SAFETY: a block that was given back begins with the address of the next one.
            *free = unsafe { block.cast::<*mut u8>().read() };
            return Some(block);
        }
        let end = blocks.next.checked_add(size).filter(|end| *end <= SIZE)?;
        // SAFETY: the block ends within the piece.
        let block = unsafe { self.bytes.get().cast::<u8>().add(blocks.next) };
        blocks.next = end;
        NonNull::new(block)
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// As for [`Piece::take`], which must have given this block for this layout.
    pub(super) unsafe fn give_back(&self, block: *mut u8, layout: Layout) {
        let Some((class, _)) = class(layout) else { return };
        // SAFETY: no other thread is here.
        let blocks = unsafe { &mut *self.blocks.get() };
        if let Some(free) = blocks.free.get_mut(class) {
            // SAFETY: every block has room for an address, at a place where one may stand.
            unsafe { block.cast::<*mut u8>().write(*free) };
            *free = block;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;
    use std::slice;

    use super::{LARGEST, Piece, SIZE, class};

    fn of(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    /// A new one, which is too large for the stack.
    fn piece() -> Box<Piece> {
        // SAFETY: it is all zeros, as `Piece::new` says.
        unsafe { Box::new_zeroed().assume_init() }
    }

    #[test]
    fn every_size_has_a_class_of_its_own_bytes() {
        let mut last = (0, 0);
        for size in 0..=LARGEST {
            let (at, bytes) = class(of(size, 16)).unwrap();
            assert!(bytes >= size.max(16) && bytes.is_multiple_of(16), "{size}");
            // A class has one number of bytes, and the classes have no gap.
            assert!((at, bytes) == last || (at == last.0 + 1 || last.1 == 0) && bytes > last.1, "{size}");
            last = (at, bytes);
        }
        assert_eq!(last.0 + 1, super::CLASSES);
        assert!(class(of(LARGEST + 1, 1)).is_none() && class(of(16, 32)).is_none());
    }

    #[test]
    fn blocks_never_overlap_and_come_again_when_they_were_given_back() {
        let piece = piece();
        let mut held: Vec<(*mut u8, Layout, u8)> = Vec::new();
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed % u64::try_from(below).unwrap()).unwrap()
        };
        let whole = |(block, layout, mark): &(*mut u8, Layout, u8)| {
            let bytes = unsafe { slice::from_raw_parts(*block, layout.size()) };
            bytes.iter().all(|byte| byte == mark)
        };
        let mut refused = 0;
        for round in 0..200_000_usize {
            if held.len() > 200 || (random(3) == 0 && !held.is_empty()) {
                let one = held.swap_remove(random(held.len()));
                assert!(whole(&one));
                unsafe { piece.give_back(one.0, one.1) };
                continue;
            }
            let size = if random(20) == 0 { random(LARGEST) } else { random(300) };
            let layout = of(size, 1 << random(5));
            let Some(block) = (unsafe { piece.take(layout) }) else {
                refused += 1;
                continue;
            };
            assert!(piece.holds(block.as_ptr()) && block.addr().get().is_multiple_of(layout.align()));
            let mark = u8::try_from(round % 251).unwrap();
            unsafe { block.write_bytes(mark, size) };
            held.push((block.as_ptr(), layout, mark));
        }
        assert!(held.iter().all(whole));
        assert!(refused < 20_000, "blocks that were given back are used again: {refused}");
    }

    #[test]
    fn a_full_piece_says_so() {
        let piece = piece();
        let layout = of(LARGEST, 8);
        let blocks: Vec<_> = std::iter::from_fn(|| unsafe { piece.take(layout) }).collect();
        assert_eq!(blocks.len(), SIZE / LARGEST);
        assert!(unsafe { piece.take(of(1, 1)) }.is_none());
        unsafe { piece.give_back(blocks[3].as_ptr(), layout) };
        assert_eq!(unsafe { piece.take(layout) }, Some(blocks[3]));
        let mut outside = 0_u8;
        assert!(!piece.holds(&raw mut outside));
    }
}
