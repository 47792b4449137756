//! When the scenarios began by the clock on the wall, as far as is known: steps have times of the scenarios, receivers want dates. And
//! how long the run was, once it is over.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicI64, Ordering},
};

use onrush_fiber::Clock;
use onrush_metrics::Span;

/// Whoever feeds an output notes spans as they end, so a pause moves it on.
#[derive(Debug, Clone, Default)]
pub struct Began(Arc<Known>);

/// What is known.
#[derive(Debug, Default)]
struct Known {
    /// Nanoseconds since 1970.
    unix_ns: AtomicI64,
    /// How long the run was.
    duration_ns: OnceLock<u64>,
}

impl Began {
    /// This span of the scenarios has just ended.
    pub fn note(&self, span: Span) {
        let began = Clock::unix_nanos(Clock::now()) - i128::from(span.until_ns);
        self.0.unix_ns.store(i64::try_from(began).unwrap_or(0), Ordering::Relaxed);
    }

    /// The run is over and took so long. Whoever feeds an output says so before it has it end: the last steps are all there
    /// is to come.
    pub fn over(&self, duration_ns: u64) {
        // It ends once.
        let _ = self.0.duration_ns.set(duration_ns);
    }

    /// How long the run was; `None` while it lasts.
    pub(crate) fn duration_ns(&self) -> Option<u64> {
        self.0.duration_ns.get().copied()
    }

    /// Whether any span was noted.
    pub(crate) fn is_known(&self) -> bool {
        self.0.unix_ns.load(Ordering::Relaxed) != 0
    }

    /// A time of the scenarios in nanoseconds since 1970. The last step ends before its second does: no time is in the future.
    pub fn unix_ns(&self, scenarios_ns: u64) -> i64 {
        let at = i64::try_from(scenarios_ns).unwrap_or(i64::MAX);
        self.0.unix_ns.load(Ordering::Relaxed).saturating_add(at).min(now_ns())
    }
}

/// Now, in nanoseconds since 1970.
pub(crate) fn now_ns() -> i64 {
    i64::try_from(Clock::unix_nanos(Clock::now())).unwrap_or(i64::MAX)
}
