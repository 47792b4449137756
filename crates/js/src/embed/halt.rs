//! The mark of a call that has ended for good: cut from outside, or the one that aborted the test.
//!
//! Whoever lets VUs run says where the running one's mark is; natives and exceptions only look at it.
#![expect(unsafe_code, reason = "a thread-local pointer to the mark of the running VU")]

use std::{cell::Cell, ptr};

use super::{Asked, flag};

thread_local! {
    /// The running VU's mark; null while none runs.
    static MARK: Cell<*const Cell<bool>> = const { Cell::new(ptr::null()) };
}

/// Has the functions here look at `mark`, or at none.
///
/// # Safety
///
/// `mark` stays where it is until the next call of this function on this thread.
pub(crate) unsafe fn look_at(mark: Option<&Cell<bool>>) {
    MARK.set(mark.map_or(ptr::null(), ptr::from_ref));
}

/// Whether the call that runs has ended for good: no more of its code may have an effect.
pub(crate) fn is_halted() -> bool {
    // SAFETY: alive, as `look_at` demands.
    unsafe { MARK.get().as_ref() }.is_some_and(Cell::get)
}

/// Ends the running call for good.
pub(crate) fn halt() {
    // SAFETY: alive, as `look_at` demands.
    if let Some(mark) = unsafe { MARK.get().as_ref() } {
        mark.set(true);
        // Script code that gets to run on is stopped at its next poll.
        Asked::Halt.of(flag());
    }
}
