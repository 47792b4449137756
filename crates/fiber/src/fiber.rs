//! What a fiber is: its identity, its record and what surrounds its runs.
//!
//! The record is what a suspended fiber costs beside its saved stack; keep it small.

use std::{ffi::c_void, fmt};

use crate::{
    clock::Nanos,
    stack::{SavedStack, StackIdx},
};

/// Names a fiber of one reactor. It stays distinguishable after the fiber's end: operations on an id whose fiber is
/// gone do nothing. It means nothing to another thread's reactor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FiberId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl FiberId {
    /// No fiber: an index that is never given out.
    pub(crate) const NONE: FiberId = FiberId { index: u32::MAX, generation: 0 };
}

impl fmt::Debug for FiberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fiber {}.{}", self.index, self.generation)
    }
}

/// Why a suspended fiber runs again.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woke {
    /// Somebody unparked it (or it only yielded).
    Ready,
    /// Its deadline passed.
    Timeout,
    /// It was cancelled. Sticky: every further wait returns this until the fiber clears it.
    Cancelled,
}

/// Functions the reactor calls, on its own stack, right before each switch into a fiber and right after each switch out
/// of it: the place to swap per-fiber state of an embedded C library.
///
/// They must neither panic nor park, spawn or unpark.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    pub(crate) data: *mut c_void,
    pub(crate) enter: unsafe fn(*mut c_void, StackRange),
    pub(crate) leave: unsafe fn(*mut c_void),
    /// Called one switch ahead.
    pub(crate) approach: unsafe fn(*mut c_void),
    /// How much of what `data` points to is worth having near.
    pub(crate) data_bytes: usize,
}

impl Hooks {
    /// Describes a fiber's hooks.
    ///
    /// # Safety
    ///
    /// Both functions may be called with `data`, on the thread that spawns the fiber, at any time until the fiber has
    /// ended and `leave` was called for the last time.
    #[expect(unsafe_code, reason = "the caller vouches for the functions and the pointer")]
    #[must_use]
    pub const unsafe fn new(
        data: *mut c_void,
        enter: unsafe fn(*mut c_void, StackRange),
        leave: unsafe fn(*mut c_void),
    ) -> Hooks {
        Hooks { data, enter, leave, approach: |_| {}, data_bytes: 0 }
    }

    /// Adds a function that is called while the fiber before this one runs, to [`prefetch`](crate::prefetch) what is
    /// about to be used. The first `data_bytes` behind the data pointer are asked for one switch earlier.
    ///
    /// # Safety
    ///
    /// As for [`Hooks::new`]; and `approach` changes nothing.
    #[expect(unsafe_code, reason = "the caller vouches for the function")]
    #[must_use]
    pub const unsafe fn approached(self, data_bytes: usize, approach: unsafe fn(*mut c_void)) -> Hooks {
        Hooks { approach, data_bytes, ..self }
    }
}

/// The stack a fiber runs on: what a library that checks its stack depth needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackRange {
    /// The lowest usable address.
    pub low: usize,
    /// The address just above the stack.
    pub top: usize,
}

/// A panic that ended a fiber, or a function posted by [`Remote::post`](crate::Remote::post). It stops there: other
/// fibers and the thread go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiberPanic {
    /// The fiber, gone by now; `None` for a posted function.
    pub fiber: Option<FiberId>,
    /// What it panicked with, if that was text.
    pub message: String,
}

/// The states of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No fiber.
    Free,
    /// In the ready queue.
    Ready,
    /// On the stack.
    Running,
    /// Waiting for unpark, deadline or cancel.
    Parked,
    /// Waiting for deadline or cancel; unpark only leaves a permit.
    Sleeping,
}

/// Why a fiber is in the ready queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Start,
    Unpark,
    Timeout,
    Cancel,
    Yield,
}

/// A fiber's record.
pub(crate) struct Fiber {
    /// What it will run; taken when it starts.
    pub(crate) entry: Option<Box<dyn FnOnce()>>,
    pub(crate) hooks: Option<Hooks>,
    /// Where its frames go when somebody else needs its stack.
    pub(crate) saved: SavedStack,
    /// Where its stack pointer was left; 0 before it started.
    pub(crate) sp: usize,
    pub(crate) stack: StackIdx,
    /// What it waits for at most; `Nanos::MAX` without a deadline. The timer wheel's entry may be
    /// earlier (see `sched`).
    pub(crate) deadline: Nanos,
    pub(crate) generation: u32,
    pub(crate) state: State,
    pub(crate) reason: Reason,
    pub(crate) permit: bool,
    pub(crate) cancelled: bool,
    /// Whether it said that its wait may be long; see [`crate::expect_rest`].
    pub(crate) rests: bool,
}

// A fiber at rest is its record, its timer node (24 bytes) and its saved stack.
const _: () = assert!(size_of::<Fiber>() <= 120);
