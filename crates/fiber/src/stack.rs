//! The stacks the fibers of a thread run on, and the copies of those that wait.
//!
//! Where a thread has few fibers, each has a stack of its own and switching to it copies nothing. All others share one
//! stack, which costs a waiting fiber only as much memory as it uses: when another fiber needs the stack, the bytes of
//! the one that waits, from its stack pointer to the top, move to its [`SavedStack`]; to run, they are copied back *to
//! the same addresses*, so pointers within the stack stay valid.
//!
//! Whole cache lines are copied, from and to line boundaries. Measured: 2.1 KiB out and in take 52 ns so; unaligned 50
//! to 95 ns, and up to 10 times as long where source and destination are a few bytes apart modulo 4 KiB (the processor
//! then mistakes loads for dependent on stores).
#![expect(unsafe_code, reason = "maps memory, copies live stacks")]

use std::{
    cell::{Cell, RefCell},
    ffi::c_void,
    io,
    ptr::{self, NonNull},
};

use rustix::mm::{Advice, MprotectFlags, madvise, mprotect, munmap};

use crate::{
    copies::{Copies, LINE_BYTES},
    fiber::StackRange,
    pages,
    prefetch::prefetch,
    switch::{Entry, FIRST_FRAME_WORDS, first_frame},
};

/// Unmapped space below the stack. Larger than a page because C code compiled without stack probes may step over a
/// single one.
const GUARD_BYTES: usize = 64 << 10;
/// The smallest stack worth having.
const STACK_BYTES_MIN: usize = 64 << 10;
/// Saved lengths are stored in 32 bits.
const STACK_BYTES_MAX: usize = 1 << 30;
/// Stacks of fibers' own are numbered in 16 bits; the limit is for their address space.
pub(crate) const OWN_STACKS_MAX: usize = 1024;
/// A copy's buffer that is larger than needed by no more than this is kept, whatever its fiber waits for: the depth of
/// most varies a little.
const SAVED_SLACK_BYTES: usize = 256;
/// A copy's buffer is given back when less than a quarter of it was used ...
const SAVED_SLACK_FACTOR: usize = 4;
/// ... this many times in a row, so that a fiber alternating between deep and shallow keeps it.
const SAVED_SLACK_TIMES: u8 = 8;

/// The stacks of a thread's fibers.
///
/// The first is shared by all fibers that have none of their own; it always exists. A fiber stays on the stack it
/// started on for its life, because pointers into its frames do. While nobody else needs the stack, a suspended
/// fiber's frames stay where they are.
pub(crate) struct Stacks {
    mapping: *mut u8,
    mapping_bytes: usize,
    /// From one stack's top to the next one's.
    stride: usize,
    stack_bytes: usize,
    /// Whose frames lie on each stack.
    occupants: Box<[Cell<u32>]>,
    /// Stacks without a fiber; never the shared one.
    vacant: RefCell<Vec<StackIdx>>,
    /// The next stack to look at.
    next_look: Cell<usize>,
}

/// Which of a thread's stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackIdx(u16);

impl StackIdx {
    pub(crate) const SHARED: StackIdx = StackIdx(0);
}

/// A stack of which more than this is in memory, and not in use, gives the rest back: it recursed.
const KEPT_BYTES: usize = 256 << 10;
/// Stacks looked at in a row. Each takes a system call.
const LOOKED_AT: usize = 32;

/// Nobody's frames are on a stack.
pub(crate) const NO_OCCUPANT: u32 = u32::MAX;

impl Stacks {
    /// Maps a shared stack and `own` further ones, each of (at least) `stack_bytes` with a guard below it. The memory
    /// is not reserved: pages count only once touched. Where the system refuses that much address space, there are
    /// fewer stacks, the shared one at least.
    pub(crate) fn new(stack_bytes: usize, own: usize) -> io::Result<Stacks> {
        let page = rustix::param::page_size();
        let stack_bytes = stack_bytes.clamp(STACK_BYTES_MIN, STACK_BYTES_MAX).next_multiple_of(page);
        let guard_bytes = GUARD_BYTES.next_multiple_of(page);
        let stride = stack_bytes + guard_bytes;
        let count = own.min(OWN_STACKS_MAX) + 1;
        let (mapping, count) = match map(stride * count) {
            Ok(mapping) => (mapping, count),
            Err(_) => (map(stride)?, 1),
        };
        let stacks = Stacks {
            mapping,
            mapping_bytes: stride * count,
            stride,
            stack_bytes,
            occupants: (0..count).map(|_| Cell::new(NO_OCCUPANT)).collect(),
            // OWN_STACKS_MAX fits. The last is handed out first: take them in order.
            vacant: RefCell::new((1..count).rev().map(|index| StackIdx(index as u16)).collect()),
            next_look: Cell::new(0),
        };
        for index in 0..count {
            // SAFETY: the guard lies within the mapping just made, which nobody uses yet.
            unsafe { mprotect(mapping.add(index * stride).cast(), guard_bytes, MprotectFlags::empty()) }?;
        }
        Ok(stacks)
    }

    /// A stack for a fiber that starts: one of its own, or the shared one.
    pub(crate) fn assign(&self) -> StackIdx {
        self.vacant.borrow_mut().pop().unwrap_or(StackIdx::SHARED)
    }

    /// Takes back the stack of a fiber that ended.
    pub(crate) fn vacate(&self, stack: StackIdx) {
        self.occupants[stack.0 as usize].set(NO_OCCUPANT);
        if stack != StackIdx::SHARED {
            self.vacant.borrow_mut().push(stack);
        }
    }

    /// Looks at the next few stacks, and gives back to the system what the first has that recursed deep and does not need
    /// it any more. `sp_of` tells where a fiber, none of which runs, was left.
    pub(crate) fn give_depth_back(&self, sp_of: impl Fn(u32) -> usize) {
        for _ in 0..self.occupants.len().min(LOOKED_AT) {
            let index = self.next_look.get();
            self.next_look.set((index + 1) % self.occupants.len());
            // There are at most OWN_STACKS_MAX and one.
            let stack = StackIdx(index as u16);
            let in_use = match self.occupant(stack) {
                NO_OCCUPANT => self.top(stack),
                fiber => sp_of(fiber),
            };
            if self.give_below(stack, in_use) {
                return;
            }
        }
    }

    /// Gives back what lies below both `in_use` and what is kept anyway, if any of it next to that is in memory.
    fn give_below(&self, stack: StackIdx, in_use: usize) -> bool {
        let (page, low) = (rustix::param::page_size(), self.range(stack).low);
        let end = in_use.min(self.top(stack)).min((self.top(stack) - KEPT_BYTES).max(low));
        // Leaves room for what a function keeps below its stack pointer.
        let end = (end - (end - low).min(page)) & !(page - 1);
        if end <= low || pages::resident(end - page, page) == 0 {
            return false;
        }
        // SAFETY: below `in_use` are no live frames: no fiber runs, and the occupant was left there. Whoever goes deeper
        // finds zeros. A refusal leaves the memory where it is.
        unsafe { madvise(low as *mut c_void, end - low, Advice::LinuxDontNeed) }.is_ok()
    }

    /// Whose frames are on the stack.
    #[inline]
    pub(crate) fn occupant(&self, stack: StackIdx) -> u32 {
        self.occupants[stack.0 as usize].get()
    }

    #[inline]
    pub(crate) fn occupy(&self, stack: StackIdx, fiber: u32) {
        self.occupants[stack.0 as usize].set(fiber);
    }

    /// The address just above the stack; 16-byte aligned.
    #[inline]
    pub(crate) fn top(&self, stack: StackIdx) -> usize {
        self.mapping as usize + (stack.0 as usize + 1) * self.stride
    }

    #[inline]
    pub(crate) fn range(&self, stack: StackIdx) -> StackRange {
        let top = self.top(stack);
        StackRange { low: top - self.stack_bytes, top }
    }

    /// Lays out a new fiber's first frame; returns the stack pointer to switch to.
    ///
    /// # Safety
    ///
    /// No fiber's live bytes are on the stack: its last occupant was saved, or is done.
    pub(crate) unsafe fn start(&self, stack: StackIdx, entry: Entry) -> usize {
        let sp = self.top(stack) - FIRST_FRAME_WORDS * size_of::<usize>();
        // SAFETY: the words below the top belong to the mapping and to nobody else (caller).
        unsafe { ptr::write(sp as *mut [usize; FIRST_FRAME_WORDS], first_frame(entry)) };
        sp
    }

    /// Copies a suspended fiber back to the stack pointer `sp` it had.
    ///
    /// # Safety
    ///
    /// As for [`Stacks::start`], and `saved` was filled by [`Stacks::save`] with the same `stack` and `sp`.
    #[inline]
    pub(crate) unsafe fn load(&self, stack: StackIdx, sp: usize, saved: &SavedStack) {
        let low = sp & !(LINE_BYTES - 1);
        let len = self.top(stack) - low;
        debug_assert!(len <= saved.cap as usize);
        // SAFETY: `saved` holds `len` bytes, the stack has as many below its top (they came from
        // there), and a heap block does not overlap the mapping.
        unsafe { ptr::copy_nonoverlapping(saved.data, low as *mut u8, len) };
    }

    /// Has the copy of a suspended fiber brought near that will be loaded soon.
    #[inline]
    pub(crate) fn prefetch(&self, stack: StackIdx, sp: usize, saved: &SavedStack) {
        if stack == StackIdx::SHARED && sp != 0 {
            prefetch(saved.data, self.top(stack) - (sp & !(LINE_BYTES - 1)));
        }
    }

    /// Copies the bytes from `sp` to the top out into `saved`, whose buffer is cut to size if
    /// `tightly` (the fiber will not run for a while). Returns how many bytes they are, and by how many bytes the
    /// buffer grew (negative: shrank).
    ///
    /// # Safety
    ///
    /// `sp` is the stack pointer the stack's occupant was left with by `switch`.
    #[inline]
    pub(crate) unsafe fn save(
        &self,
        stack: StackIdx,
        sp: usize,
        saved: &mut SavedStack,
        copies: &mut Copies,
        tightly: bool,
    ) -> (usize, isize) {
        let low = sp & !(LINE_BYTES - 1);
        let len = self.top(stack) - low;
        let grown = if tightly { saved.fit_tightly(len, copies) } else { saved.fit(len, copies) };
        // SAFETY: [low, top) is the fiber's live stack (caller) and less than a line below it,
        // within the mapping, whose start is page-aligned; `fit` made room for `len` bytes; a heap
        // block does not overlap the mapping.
        unsafe { ptr::copy_nonoverlapping(low as *const u8, saved.data, len) };
        (len, grown)
    }
}

/// Address space for stacks, unreserved.
fn map(bytes: usize) -> io::Result<*mut u8> {
    let mapping = pages::map(bytes, 0)?;
    // A huge page would make 2 MiB of a stack resident of which a few KiB are used. Where the kernel has none, it refuses.
    // SAFETY: the mapping just made; the advice changes nothing that it holds.
    let _ = unsafe { madvise(mapping.cast(), bytes, Advice::LinuxNoHugepage) };
    Ok(mapping)
}

impl Drop for Stacks {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no code runs on it: a `Reactor` is dropped on the
        // thread's own stack. An error is impossible for a whole mapping, and harmless.
        let _ = unsafe { munmap(self.mapping.cast(), self.mapping_bytes) };
    }
}

/// The bytes of a suspended fiber. Empty while the fiber has not started.
///
/// It has no `Drop`: freeing a live stack's bytes would leave whatever points into them (there should be nothing, but
/// leaking is the safe mistake). [`SavedStack::release`] frees them when the fiber is done.
pub(crate) struct SavedStack {
    data: *mut u8,
    cap: u32,
    /// How many saves in a row used little of the buffer.
    slack: u8,
}

impl SavedStack {
    pub(crate) const EMPTY: SavedStack = SavedStack { data: ptr::null_mut(), cap: 0, slack: 0 };

    /// Frees the buffer; returns its size. `copies` is what all its buffers came from.
    pub(crate) fn release(&mut self, copies: &mut Copies) -> usize {
        let cap = self.cap as usize;
        self.free(copies);
        *self = SavedStack::EMPTY;
        cap
    }

    /// Makes room for `len` bytes, whose former content is not needed any more.
    #[inline]
    fn fit(&mut self, len: usize, copies: &mut Copies) -> isize {
        let cap = self.cap as usize;
        if len > cap {
            return self.resize(grown(cap, len), copies);
        }
        if cap > SAVED_SLACK_FACTOR * len.max(SAVED_SLACK_BYTES) {
            self.slack += 1;
            if self.slack == SAVED_SLACK_TIMES {
                return self.resize(len.next_multiple_of(LINE_BYTES), copies);
            }
        } else {
            self.slack = 0;
        }
        0
    }

    /// Makes room for `len` bytes in a buffer that is hardly larger. A VU waits for a response deep in its request and
    /// sleeps much higher up: thousands of sleeping VUs would keep the depth of their requests.
    #[inline]
    fn fit_tightly(&mut self, len: usize, copies: &mut Copies) -> isize {
        let tight = len.next_multiple_of(LINE_BYTES);
        if self.cap as usize > tight + SAVED_SLACK_BYTES { self.resize(tight, copies) } else { self.fit(len, copies) }
    }

    #[cold]
    fn resize(&mut self, cap: usize, copies: &mut Copies) -> isize {
        let before = self.cap as isize;
        self.free(copies);
        self.data = copies.allocate(cap).as_ptr();
        // At most STACK_BYTES_MAX * 5/4 + a line, below 2^32.
        self.cap = cap as u32;
        self.slack = 0;
        cap as isize - before
    }

    fn free(&mut self, copies: &mut Copies) {
        if let Some(data) = NonNull::new(self.data) {
            // SAFETY: allocated by `resize` with this very size, from the one `Copies` of the thread.
            unsafe { copies.free(data, self.cap as usize) };
            self.data = ptr::null_mut();
        }
    }
}

/// The next size of a buffer of `cap` bytes that must hold `len`: exact for the first save, which is all most fibers
/// ever need; a quarter more than before when it grows again.
fn grown(cap: usize, len: usize) -> usize {
    len.max(cap + cap / 4).next_multiple_of(LINE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_grow_in_steps_and_shrink_when_much_too_large() {
        let mut saved = SavedStack::EMPTY;
        let mut copies = Copies::new();
        let mut check = |len: usize, expect: usize| {
            saved.fit(len, &mut copies);
            assert_eq!(saved.cap as usize, expect, "after {len}");
        };
        check(1, 64);
        check(2300, 2304);
        check(2305, 2880); // a quarter more
        check(2881, 3648); // and rounded up
        check(300_000, 300_032);
        for _ in 0..SAVED_SLACK_TIMES - 1 {
            check(2300, 300_032);
        }
        check(290_000, 300_032); // used again: start counting anew
        for _ in 0..SAVED_SLACK_TIMES - 1 {
            check(2300, 300_032);
        }
        check(2300, 2304);
        check(5000, 5056);
        saved.fit_tightly(4800, &mut copies);
        assert_eq!(saved.cap, 5056, "a little too large is left alone");
        saved.fit_tightly(2300, &mut copies);
        assert_eq!(saved.cap, 2304);
        assert_eq!(saved.release(&mut copies), 2304);
    }

    #[test]
    fn a_stack_is_page_aligned_and_writable_to_its_last_byte() {
        let stacks = Stacks::new(1, 2).expect("mapping three times 64 KiB");
        assert_eq!(stacks.stack_bytes, STACK_BYTES_MIN);
        let own = [stacks.assign(), stacks.assign()];
        assert_eq!(stacks.assign(), StackIdx::SHARED);
        for stack in [StackIdx::SHARED, own[0], own[1]] {
            assert_eq!(stacks.top(stack) % 4096, 0);
            let lowest = stacks.range(stack).low as *mut u8;
            // SAFETY: both addresses lie in the stack's writable part.
            unsafe {
                lowest.write(1);
                lowest.add(stacks.stack_bytes - 1).write(2);
            }
        }
        stacks.vacate(own[0]);
        stacks.vacate(StackIdx::SHARED);
        assert_eq!(stacks.assign(), own[0]);
        assert_eq!(stacks.assign(), StackIdx::SHARED, "the shared stack is nobody's own");
    }
}
