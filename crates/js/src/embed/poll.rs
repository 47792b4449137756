//! The engine's flag, at which all code that may take long looks: what the host asks of the code that runs.
#![expect(unsafe_code, reason = "the flag lies in QuickJS's runtime")]

use std::{
    cell::Cell,
    sync::atomic::{AtomicU32, Ordering},
};

use onrush_quickjs_sys as sys;

use super::runtime_ptr;

thread_local! {
    /// How many are at work that others must not run in the middle of.
    static UNDIVIDED: Cell<u32> = const { Cell::new(0) };
}

/// What the flag asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// To go on.
    Nothing,
    /// To end: the next poll throws what scripts cannot catch.
    Halt = sys::ONRUSH_POKE_HALT as isize,
    /// To let others of the thread run.
    Yield,
}

/// The flag of this thread's runtime. Any thread may set it.
pub(crate) fn flag() -> &'static AtomicU32 {
    // SAFETY: a number within the runtime, which is never freed; everybody uses it atomically.
    unsafe { AtomicU32::from_ptr(sys::onrush_rt_poke(runtime_ptr())) }
}

impl Asked {
    /// Raises or lowers a flag. Only this number goes from thread to thread, so nothing needs an order.
    pub(crate) fn of(self, flag: &AtomicU32) {
        flag.store(self as u32, Ordering::Relaxed);
    }

    /// What a flag asks for.
    pub(crate) fn by(flag: &AtomicU32) -> Self {
        match flag.load(Ordering::Relaxed) {
            0 => Self::Nothing,
            1 => Self::Halt,
            _ => Self::Yield,
        }
    }
}

/// Runs `body` in one slice, however long that takes: for work in the middle of which others must not run.
pub(crate) fn undivided<R>(body: impl FnOnce() -> R) -> R {
    struct Less;
    impl Drop for Less {
        fn drop(&mut self) {
            UNDIVIDED.set(UNDIVIDED.get() - 1);
        }
    }
    UNDIVIDED.set(UNDIVIDED.get() + 1);
    let _less = Less;
    body()
}

/// Whether such work is under way.
pub(crate) fn is_undivided() -> bool {
    UNDIVIDED.get() > 0
}
