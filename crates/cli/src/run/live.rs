//! The summary of a run under way, for those who ask for it again and again.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use onrush_session::{
    Coordinator, DeltaSink,
    protocol::{AgentId, ThreadDelta, Time},
};
use serde_json::Value;

use super::summary;

/// What `handleSummary()` would get now, made anew only when something was measured since.
#[derive(Default)]
pub(super) struct LiveSummary {
    /// Deltas so far.
    deltas: Arc<AtomicU64>,
    /// What was made last, and of how many deltas.
    made: Option<(u64, Value)>,
}

struct Counter(Arc<AtomicU64>);

impl DeltaSink for Counter {
    fn delta(&mut self, _: AgentId, _: &ThreadDelta) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl LiveSummary {
    /// Learns of what is measured.
    pub(super) fn sink(&self) -> Box<dyn DeltaSink> {
        Box::new(Counter(self.deltas.clone()))
    }

    pub(super) fn data(&mut self, coordinator: &Coordinator, now: Time) -> &Value {
        let deltas = self.deltas.load(Ordering::Relaxed);
        if self.made.as_ref().is_none_or(|(of, _)| *of != deltas) {
            let elapsed = coordinator.moment(now).test;
            self.made = Some((deltas, summary::live(coordinator.merged(), coordinator.thresholds(), elapsed)));
        }
        // It was made just now if it was not there.
        self.made.as_ref().map_or(&Value::Null, |(_, data)| data)
    }
}
