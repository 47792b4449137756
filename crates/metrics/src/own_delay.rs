//! How much of the reported latencies was the generator's own doing.

use serde::{Deserialize, Serialize};

use crate::Histogram;

/// Requests whose response the kernel timed, all in milliseconds. Adding up parts is exact and independent of their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnDelay {
    /// How long each request waited for the generator: before its first byte was handed to the kernel, and after the
    /// kernel had the last byte of its response.
    pub own: Histogram,
    /// What was reported of the same requests.
    pub reported: Histogram,
    /// What was reported without the own delay.
    pub without: Histogram,
}

impl OwnDelay {
    /// Samples that must lie above a quantile for an error of it to be more than chance.
    const ABOVE_MIN: f64 = 10.0;

    /// Adds a request.
    pub fn note(&mut self, own_ms: f64, reported_ms: f64) {
        self.own.record(own_ms);
        self.reported.record(reported_ms);
        self.without.record((reported_ms - own_ms).max(0.0));
    }

    /// Adds those of another one.
    pub fn merge(&mut self, other: &Self) {
        self.own.merge(&other.own);
        self.reported.merge(&other.reported);
        self.without.merge(&other.without);
    }

    /// Whether there was no request.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// What the own delay added to a quantile of the latencies, and what was reported, milliseconds. `None` with fewer than
    /// 10 requests above it.
    pub fn excess(&self, q: f64) -> Option<(f64, f64)> {
        let is_known = self.reported.count() as f64 * (1.0 - q) >= Self::ABOVE_MIN;
        let reported = self.reported.quantile(q);
        is_known.then(|| ((reported - self.without.quantile(q)).max(0.0), reported))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_of_some_moves_only_the_quantiles_that_they_reach() {
        let mut delay = OwnDelay::default();
        for number in 0..1_000_u32 {
            let own = if number % 20 == 0 { 30.0 } else { 0.0 };
            delay.note(own, 10.0 + own);
        }
        let excess = |q| delay.excess(q).map(|(excess, reported)| (excess.round(), reported.round()));
        assert_eq!(excess(0.5), Some((0.0, 10.0)));
        assert_eq!(excess(0.9), Some((0.0, 10.0)));
        assert_eq!(excess(0.98), Some((30.0, 40.0)));
        // One request is above it.
        assert_eq!(excess(0.999), None);
    }

    #[test]
    fn more_delay_than_latency_leaves_none() {
        let mut delay = OwnDelay::default();
        delay.note(5.0, 4.0);
        assert_eq!(delay.without.max(), 0.0);
    }
}
