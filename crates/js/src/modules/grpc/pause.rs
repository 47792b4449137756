//! Pauses of natives that work through long messages: other VUs run meanwhile.

use onrush_fiber::{Clock, Nanos, Woke, yield_now};

use crate::embed::{JsResult, Throw};

/// Lets others run where a native has held the thread for long.
pub(super) fn pause(slice_start: &mut Nanos) -> JsResult<()> {
    if Clock::now().0.saturating_sub(slice_start.0) < SLICE_NS {
        return Ok(());
    }
    if onrush_fiber::current().is_some() && yield_now() == Woke::Cancelled {
        return Err(Throw::Interrupted);
    }
    *slice_start = Clock::now();
    Ok(())
}

/// Half of what a VU may compute before others run.
const SLICE_NS: u64 = 5_000_000;
