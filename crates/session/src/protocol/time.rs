//! Moments that both sides mean the same by.

use std::{ops::Add, time::Duration};

use serde::{Deserialize, Serialize};

/// What the coordinator's clock is ahead of an agent's. The default is that of an agent in the coordinator's process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// Nanoseconds; negative where it is behind.
    pub ahead_ns: i64,
    /// By how much that may be wrong.
    pub error: Duration,
}

/// Nanoseconds of the coordinator's clock. A transport between machines turns them into those of the agent's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub u64);

impl Time {
    /// The time since an earlier moment; zero if that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)))
    }
}
