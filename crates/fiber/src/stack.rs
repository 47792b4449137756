//! The one stack all fibers of a thread run on, and the copies of those that wait.
//!
//! A suspended fiber's bytes, from its stack pointer to the top, live in its [`SavedStack`]; to
//! run, they are copied back *to the same addresses*, so pointers within the stack stay valid.
#![expect(unsafe_code, reason = "maps memory, copies live stacks")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::{io, ptr};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use crate::switch::{Entry, FIRST_FRAME_WORDS, first_frame};

/// Unmapped space below the stack. Larger than a page because C code compiled without stack
/// probes may step over a single one.
const GUARD_BYTES: usize = 64 << 10;
/// The smallest stack worth having.
const STACK_BYTES_MIN: usize = 64 << 10;
/// Saved lengths are stored in 32 bits.
const STACK_BYTES_MAX: usize = 1 << 30;
/// Copies are allocated in steps of this size, so that a fiber whose depth varies a little keeps
/// its buffer, and the allocator sees few sizes.
const SAVED_STEP_BYTES: usize = 256;
/// A copy's buffer is given back when less than a quarter of it was used ...
const SAVED_SLACK_FACTOR: usize = 4;
/// ... this many times in a row, so that a fiber alternating between deep and shallow keeps it.
const SAVED_SLACK_TIMES: u8 = 8;
/// Whole cache lines are copied, from and to line boundaries. Measured: 2.1 KiB out and in take
/// 52 ns so; unaligned 50 to 95 ns, and up to 10 times as long where source and destination are a
/// few bytes apart modulo 4 KiB (the processor then mistakes loads for dependent on stores).
const LINE_BYTES: usize = 64;

/// The stack of a thread's fibers.
pub(crate) struct SharedStack {
    mapping: *mut u8,
    mapping_bytes: usize,
    stack_bytes: usize,
}

impl SharedStack {
    /// Maps a stack of (at least) `stack_bytes` with a guard below it. The memory is not reserved:
    /// pages count only once touched.
    pub(crate) fn new(stack_bytes: usize) -> io::Result<SharedStack> {
        let page = rustix::param::page_size();
        let stack_bytes = stack_bytes.clamp(STACK_BYTES_MIN, STACK_BYTES_MAX).next_multiple_of(page);
        let guard_bytes = GUARD_BYTES.next_multiple_of(page);
        let mapping_bytes = stack_bytes + guard_bytes;
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
        let mapping = unsafe { mmap_anonymous(ptr::null_mut(), mapping_bytes, prot, flags) }?;
        let stack = SharedStack { mapping: mapping.cast(), mapping_bytes, stack_bytes };
        // SAFETY: the guard lies within the mapping just made, which nobody uses yet.
        unsafe { mprotect(mapping, guard_bytes, MprotectFlags::empty()) }?;
        Ok(stack)
    }

    /// The address just above the stack; 16-byte aligned.
    pub(crate) fn top(&self) -> usize {
        self.mapping as usize + self.mapping_bytes
    }

    pub(crate) fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// Lays out a new fiber's first frame; returns the stack pointer to switch to.
    ///
    /// # Safety
    ///
    /// No fiber's live bytes are on the stack: the last one that ran was saved, or is done.
    pub(crate) unsafe fn start(&self, entry: Entry) -> usize {
        let sp = self.top() - FIRST_FRAME_WORDS * size_of::<usize>();
        // SAFETY: the words below the top belong to the mapping and to nobody else (caller).
        unsafe { ptr::write(sp as *mut [usize; FIRST_FRAME_WORDS], first_frame(entry)) };
        sp
    }

    /// Copies a suspended fiber back; returns the stack pointer to switch to.
    ///
    /// # Safety
    ///
    /// As for [`SharedStack::start`], and `saved` was filled by [`SharedStack::save`].
    #[inline]
    pub(crate) unsafe fn load(&self, saved: &SavedStack) -> usize {
        let low = self.top() - saved.len as usize;
        // SAFETY: `saved` holds `len` bytes, the stack has as many below its top (they came from
        // there), and a heap block does not overlap the mapping.
        unsafe { ptr::copy_nonoverlapping(saved.data, low as *mut u8, saved.len as usize) };
        low + saved.below as usize
    }

    /// Copies the bytes from `sp` to the top out into `saved`, whose buffer is cut to size if
    /// `tightly` (the fiber will not run for a while). Returns by how many bytes the buffer grew
    /// (negative: shrank).
    ///
    /// # Safety
    ///
    /// `sp` is the stack pointer the fiber was left with by `switch`.
    #[inline]
    pub(crate) unsafe fn save(&self, sp: usize, saved: &mut SavedStack, tightly: bool) -> isize {
        let low = sp & !(LINE_BYTES - 1);
        let len = self.top() - low;
        let grown = if tightly { saved.fit_tightly(len) } else { saved.fit(len) };
        // SAFETY: [low, top) is the fiber's live stack (caller) and less than a line below it,
        // within the mapping, whose start is page-aligned; `fit` made room for `len` bytes; a heap
        // block does not overlap the mapping.
        unsafe { ptr::copy_nonoverlapping(low as *const u8, saved.data, len) };
        // `len` is at most STACK_BYTES_MAX, below 2^32; `below` is less than LINE_BYTES.
        saved.len = len as u32;
        saved.below = (sp - low) as u8;
        grown
    }
}

impl Drop for SharedStack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no code runs on it: a `Reactor` is dropped on the
        // thread's own stack. An error is impossible for a whole mapping, and harmless.
        let _ = unsafe { munmap(self.mapping.cast(), self.mapping_bytes) };
    }
}

/// The bytes of a suspended fiber. Empty while the fiber has not started.
///
/// It has no `Drop`: freeing a live stack's bytes would leave whatever points into them (there
/// should be nothing, but leaking is the safe mistake). [`SavedStack::release`] frees them when the
/// fiber is done.
pub(crate) struct SavedStack {
    data: *mut u8,
    len: u32,
    cap: u32,
    /// Bytes copied below the stack pointer, to begin at a line.
    below: u8,
    /// How many saves in a row used little of the buffer.
    slack: u8,
}

impl SavedStack {
    pub(crate) const EMPTY: SavedStack = SavedStack { data: ptr::null_mut(), len: 0, cap: 0, below: 0, slack: 0 };

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes in use.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Frees the buffer; returns its size.
    pub(crate) fn release(&mut self) -> usize {
        let cap = self.cap as usize;
        self.free();
        *self = SavedStack::EMPTY;
        cap
    }

    /// Makes room for `len` bytes, whose former content is not needed any more.
    #[inline]
    fn fit(&mut self, len: usize) -> isize {
        let cap = self.cap as usize;
        if len > cap {
            return self.resize(grown(cap, len));
        }
        if cap > SAVED_SLACK_FACTOR * len.max(SAVED_STEP_BYTES) {
            self.slack += 1;
            if self.slack == SAVED_SLACK_TIMES {
                return self.resize(len.next_multiple_of(SAVED_STEP_BYTES));
            }
        } else {
            self.slack = 0;
        }
        0
    }

    /// Makes room for `len` bytes in a buffer that is hardly larger. A VU waits for a response
    /// deep in its request and sleeps much higher up: thousands of sleeping VUs would keep the
    /// depth of their requests.
    #[inline]
    fn fit_tightly(&mut self, len: usize) -> isize {
        let tight = len.next_multiple_of(SAVED_STEP_BYTES);
        if self.cap as usize > tight + SAVED_STEP_BYTES { self.resize(tight) } else { self.fit(len) }
    }

    #[cold]
    fn resize(&mut self, cap: usize) -> isize {
        let before = self.cap as isize;
        self.free();
        let layout = layout(cap);
        // SAFETY: the layout is not empty: `cap` is a positive multiple of SAVED_STEP_BYTES.
        self.data = unsafe { alloc(layout) };
        if self.data.is_null() {
            handle_alloc_error(layout);
        }
        // At most STACK_BYTES_MAX * 5/4 + a step, below 2^32.
        self.cap = cap as u32;
        self.slack = 0;
        cap as isize - before
    }

    fn free(&mut self) {
        if !self.data.is_null() {
            // SAFETY: allocated by `resize` with this very layout.
            unsafe { dealloc(self.data, layout(self.cap as usize)) };
            self.data = ptr::null_mut();
        }
    }
}

/// The next size of a buffer of `cap` bytes that must hold `len`: exact for the first save, which
/// is all most fibers ever need; a quarter more than before when it grows again.
fn grown(cap: usize, len: usize) -> usize {
    len.max(cap + cap / 4).next_multiple_of(SAVED_STEP_BYTES)
}

fn layout(cap: usize) -> Layout {
    Layout::from_size_align(cap, LINE_BYTES)
        .expect("a saved stack is far smaller than isize::MAX and its alignment a power of two")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_grow_in_steps_and_shrink_when_much_too_large() {
        let mut saved = SavedStack::EMPTY;
        let mut check = |len: usize, expect: usize| {
            saved.fit(len);
            assert_eq!(saved.cap as usize, expect, "after {len}");
        };
        check(1, 256);
        check(2300, 2304);
        check(2305, 3072); // a quarter more, rounded up
        check(300_000, 300_032);
        for _ in 0..SAVED_SLACK_TIMES - 1 {
            check(2300, 300_032);
        }
        check(290_000, 300_032); // used again: start counting anew
        for _ in 0..SAVED_SLACK_TIMES - 1 {
            check(2300, 300_032);
        }
        check(2300, 2304);
        check(5000, 5120);
        saved.fit_tightly(4900);
        assert_eq!(saved.cap, 5120, "one step too large is left alone");
        saved.fit_tightly(2300);
        assert_eq!(saved.cap, 2304);
        assert_eq!(saved.release(), 2304);
    }

    #[test]
    fn a_stack_is_page_aligned_and_writable_to_its_last_byte() {
        let stack = SharedStack::new(1).expect("mapping 64 KiB");
        assert_eq!(stack.stack_bytes(), STACK_BYTES_MIN);
        assert_eq!(stack.top() % 4096, 0);
        let lowest = (stack.top() - stack.stack_bytes()) as *mut u8;
        // SAFETY: both addresses lie in the stack's writable part.
        unsafe {
            lowest.write(1);
            lowest.add(stack.stack_bytes() - 1).write(2);
        }
    }
}
