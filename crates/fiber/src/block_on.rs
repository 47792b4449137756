//! Driving a future from a fiber: how libraries written for async Rust (DNS, HTTP/2) are used.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use crate::{
    clock::Nanos,
    fiber::{FiberId, Woke},
    local,
    remote::Remote,
};

/// Polls `fut` on the current fiber until it is done, suspending in between.
///
/// The future is boxed because the fiber's stack moves away while it waits: a pinned future must not. Its waker may be
/// called from any thread.
///
/// # Errors
///
/// [`Woke::Timeout`] when `deadline` passes, [`Woke::Cancelled`] when the fiber is cancelled; the
/// future is dropped in both cases.
///
/// # Panics
///
/// Outside of a fiber, and when the future panics.
pub fn block_on<T: 'static>(mut fut: Pin<Box<dyn Future<Output = T>>>, deadline: Option<Nanos>) -> Result<T, Woke> {
    let fiber = local::current().expect("block_on is called on a fiber");
    let remote = local::remote().expect("a fiber has a reactor");
    let waker = Waker::from(Arc::new(FiberWaker { remote, fiber }));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = fut.as_mut().poll(&mut context) {
            return Ok(output);
        }
        match local::park(deadline) {
            // Perhaps for another reason than the future's: polling once too often is harmless.
            Woke::Ready => {}
            woke => return Err(woke),
        }
    }
}

struct FiberWaker {
    remote: Remote,
    fiber: FiberId,
}

impl Wake for FiberWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.remote.unpark(self.fiber);
    }
}
