//! One core's reactor: stackful fibers, timers, sockets and the clock.
//!
//! A [`Reactor`] owns a thread. Code on a fiber reads as if it blocked ([`sleep_until`],
//! [`TcpStream::read`], [`block_on`]); underneath, the fiber is set aside and another one runs.
//! A fiber that waits costs its record (about 120 bytes) and a copy of the part of its stack that
//! is in use: all fibers of a thread run on *one* stack, and a suspended fiber's bytes are copied
//! out of it and back (see `docs/design/002-fibers.md` for why and at what price).
//!
//! **The one rule this imposes:** while a fiber is suspended, nothing outside of it may hold a
//! pointer into its stack. Values shared with other fibers, threads, callbacks or intrusive lists
//! live on the heap; futures are boxed, never pinned on the stack.
//!
//! What this crate is not: a general async runtime (it drives a boxed future on a fiber, and that is all), a
//! multi-threaded scheduler (a fiber never leaves its thread), or a protocol stack (that is `onrush-net`).
//!
//! ```
//! use std::{cell::Cell, rc::Rc, time::Duration};
//! use onrush_fiber::{Clock, Reactor, ReactorConfig, Woke, sleep_until, spawn};
//!
//! let reactor = Reactor::new(ReactorConfig::default())?;
//! let done = Rc::new(Cell::new(0));
//! for _ in 0..100 {
//!     let done = Rc::clone(&done);
//!     spawn(None, move || {
//!         let woke = sleep_until(Clock::now() + Duration::from_millis(5));
//!         assert_eq!(woke, Woke::Timeout);
//!         done.set(done.get() + 1);
//!     });
//! }
//! reactor.run();
//! assert_eq!(done.get(), 100);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Read next: `reactor` for the loop, `sched` for the states a fiber goes through, `switch` and
//! `stack` for the unsafe part.

mod arrival;
mod block_on;
mod clock;
mod copies;
mod fiber;
mod huge_pages;
mod limits;
mod local;
mod pages;
mod poller;
mod prefetch;
mod reactor;
mod readiness;
mod remote;
mod sched;
mod slice;
mod stack;
mod stats;
mod switch;
mod tcp;
mod wheel;

pub use arrival::has_arrival_times;
pub use block_on::block_on;
pub use clock::{Clock, Nanos};
pub use fiber::{FiberId, FiberPanic, Hooks, StackRange, Woke};
pub use huge_pages::collapse_heap;
pub use limits::{FdLimit, Shortages, raise_fd_limit};
pub use local::{
    ask_arrivals, cancel, clear_cancel, current, expect_rest, is_alive, is_cancelled, park, remote, sleep_until, spawn,
    stack_range, stats, unpark, yield_now,
};
pub use prefetch::prefetch;
pub use reactor::{Reactor, ReactorConfig};
pub use remote::{Hold, Remote};
pub use slice::ask_for_short_slices;
pub use stats::{Lag, Stats};
pub use tcp::{IoFailure, TcpStream};
