//! The thread's reactor, and what code on (or beside) a fiber calls.
#![expect(unsafe_code, reason = "the thread's reactor is reached through a pointer")]

use std::{cell::Cell, ptr};

use crate::{
    arrival::Sampling,
    clock::Nanos,
    fiber::{FiberId, Hooks, StackRange, Woke},
    reactor::Inner,
    remote::Remote,
    sched::Wait,
    stats::Stats,
};

thread_local! {
    /// The thread's reactor; null without one.
    static CURRENT: Cell<*const Inner> = const { Cell::new(ptr::null()) };
}

const NO_REACTOR: &str = "this thread has no reactor";
const NO_FIBER: &str = "this is not a fiber: only fibers can wait";

/// Makes a fiber that will run `f` on one of the next turns of this thread's reactor. May be called on or off a fiber.
///
/// # Panics
///
/// On a thread without a [`Reactor`](crate::Reactor).
pub fn spawn(hooks: Option<Hooks>, f: impl FnOnce() + 'static) -> FiberId {
    let inner = inner().expect(NO_REACTOR);
    let entry = Box::new(f);
    inner.sched.borrow_mut().spawn(hooks, entry)
}

/// The fiber this code runs on; `None` on the reactor's own stack and on other threads.
#[must_use]
pub fn current() -> Option<FiberId> {
    inner().and_then(Inner::current)
}

/// Suspends the current fiber until it is [`unpark`]ed, `deadline` passes or it is cancelled.
///
/// An `unpark` that came before makes it return at once (there is one such permit, as with
/// [`std::thread::park`]). So, as there, the caller checks its own condition in a loop.
///
/// A fiber that is unwinding from a panic does not suspend: it gets [`Woke::Cancelled`].
///
/// # Panics
///
/// Outside of a fiber.
#[inline]
pub fn park(deadline: Option<Nanos>) -> Woke {
    inner().expect(NO_FIBER).wait(Wait::Park, deadline.unwrap_or(Nanos::MAX))
}

/// Says that the current fiber's next wait may be a long one, as a server's next message may be: the copy of its stack is
/// cut to size then, which takes the allocator a moment and may give kilobytes back. For waits that are usually short, as
/// for a response, it would be a waste. Does nothing outside of a fiber.
pub fn expect_rest() {
    if let Some(inner) = inner() {
        inner.expect_rest();
    }
}

/// Makes a parked fiber of this thread ready to run; leaves it a permit if it is not parked. Does nothing if it is
/// gone, or on a thread without a reactor.
#[inline]
pub fn unpark(id: FiberId) {
    if let Some(inner) = inner() {
        inner.sched.borrow_mut().unpark(id);
    }
}

/// Suspends the current fiber until `at`: [`Woke::Timeout`], or [`Woke::Cancelled`] before that.
/// `unpark` does not end it. An instant in the past still lets other fibers run.
///
/// # Panics
///
/// Outside of a fiber.
pub fn sleep_until(at: Nanos) -> Woke {
    inner().expect(NO_FIBER).wait(Wait::Sleep, at)
}

/// Goes to the back of the ready queue, so that other fibers, sockets and timers have their turn.
///
/// # Panics
///
/// Outside of a fiber.
pub fn yield_now() -> Woke {
    inner().expect(NO_FIBER).wait(Wait::Yield, Nanos::MAX)
}

/// Cancels a fiber: its current wait, if any, and all further ones return [`Woke::Cancelled`] until
/// it calls [`clear_cancel`]. It goes on running; it is up to its code to end.
pub fn cancel(id: FiberId) {
    if let Some(inner) = inner() {
        inner.sched.borrow_mut().cancel(id);
    }
}

/// Whether the current fiber is cancelled. False outside of a fiber.
#[must_use]
pub fn is_cancelled() -> bool {
    inner().is_some_and(|inner| inner.current_index().is_some_and(|index| inner.sched.borrow().is_cancelled(index)))
}

/// Makes the current fiber able to wait again after it was cancelled.
pub fn clear_cancel() {
    if let Some(inner) = inner()
        && let Some(index) = inner.current_index()
    {
        inner.sched.borrow_mut().clear_cancel(index);
    }
}

/// Whether a fiber of this thread has not ended yet.
#[must_use]
pub fn is_alive(id: FiberId) -> bool {
    inner().is_some_and(|inner| inner.sched.borrow().is_alive(id))
}

/// A handle to this thread's reactor, for other threads.
#[must_use]
pub fn remote() -> Option<Remote> {
    inner().map(|inner| inner.remote.clone())
}

/// Has the kernel say when bytes arrive, on one of `every` TCP connections that this thread makes from now on, among them
/// the first ([`crate::TcpStream::arrived`]). 0: on none. Does nothing on a thread without a reactor.
pub fn ask_arrivals(every: u32) {
    if let Some(inner) = inner() {
        *inner.arrivals.borrow_mut() = Sampling::one_of(every);
    }
}

/// A snapshot of this thread's reactor; restarts its peaks and its lag.
#[must_use]
pub fn stats() -> Option<Stats> {
    inner().map(Inner::stats)
}

/// The stack the current fiber runs on; `None` outside of a fiber.
#[must_use]
pub fn stack_range() -> Option<StackRange> {
    inner().and_then(Inner::stack_range)
}

/// Whether `remote` leads to this thread's reactor.
pub(crate) fn is_on(remote: &Remote) -> bool {
    inner().is_some_and(|inner| inner.remote.same(remote))
}

/// Unparks directly if `remote` leads to this thread's reactor.
pub(crate) fn unpark_if_on(remote: &Remote, fiber: FiberId) -> bool {
    let on = inner().filter(|inner| inner.remote.same(remote));
    if let Some(inner) = on {
        inner.sched.borrow_mut().unpark(fiber);
    }
    on.is_some()
}

/// The thread's reactor.
///
/// The lifetime is a promise of the callers in this crate: they use the reference within one call, or on a fiber of
/// that reactor.
#[inline]
pub(crate) fn inner<'a>() -> Option<&'a Inner> {
    let current = CURRENT.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: `install` was given a live `Inner` and its `Reactor` calls `uninstall` before it
    // drops it. A fiber's frames run only within `Reactor::run`, which borrows the reactor, so a
    // reference held there across a suspension is never used after the reactor is gone.
    unsafe { current.as_ref() }
}

/// Makes `inner` the thread's reactor. False if it has one.
pub(crate) fn install(inner: &Inner) -> bool {
    let vacant = CURRENT.get().is_null();
    if vacant {
        CURRENT.set(inner);
    }
    vacant
}

pub(crate) fn uninstall() {
    // While the thread is going away there is nothing left to reset.
    let _ = CURRENT.try_with(|current| current.set(ptr::null()));
}
