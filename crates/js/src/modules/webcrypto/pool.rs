//! The threads for long operations.

use std::{num::NonZero, thread};

use onrush_crypto::web::WebError;

use crate::modules::pool::{Pool, Waited};

/// The most threads. They compete with the worker threads, so that more would not finish sooner.
const THREADS_MAX: usize = 4;

static POOL: Pool =
    Pool::new("crypto", || thread::available_parallelism().map_or(1, NonZero::get).div_ceil(2).min(THREADS_MAX));

/// Has a thread of the pool do the work while this fiber waits; `None` if the fiber was cancelled meanwhile. Work that
/// has begun then goes on without anybody waiting for it.
pub(super) fn wait<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WebError> + Send + 'static,
) -> Option<Result<T, WebError>> {
    match POOL.begin(work).wait(None) {
        Waited::Done(result) => Some(result),
        Waited::Panicked => Some(Err(WebError::operation("internal error in Onrush (please report it): panic"))),
        Waited::Timeout | Waited::Cancelled => None,
    }
}
