//! The `rps` option: at most so many requests a second, over all VUs of this process.

use std::sync::atomic::{AtomicU64, Ordering};

use onrush_fiber::{Clock, Nanos, Woke};

use crate::{
    RunConfig,
    embed::{JsResult, Throw},
};

/// The moment before which no further request may start; shared by all threads. 0: none has started.
static NEXT_FREE: AtomicU64 = AtomicU64::new(0);

/// Waits for this request's turn.
///
/// k6 uses a token bucket with burst 1; handing out the next free slot by an atomic addition gives the same spacing
/// without a lock, and VUs queue in the order they asked.
pub(crate) fn wait(config: &RunConfig) -> JsResult<()> {
    let rps = config.state.rps(config.http.rps);
    if rps == 0 {
        return Ok(());
    }
    let spacing = (1_000_000_000 / rps).max(1);
    let now = Clock::now().0;
    let slot = NEXT_FREE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| Some(next.max(now) + spacing));
    let slot = slot.unwrap_or_else(|next| next).max(now);
    if slot > now && onrush_fiber::sleep_until(Nanos(slot)) == Woke::Cancelled {
        return Err(Throw::Interrupted);
    }
    Ok(())
}
