//! How samples of all agents get to a folded output, and when, by the clock on the wall, they were measured.

use onrush_output::{Began, Feed};
use onrush_session::{
    DeltaSink,
    protocol::{AgentId, ThreadDelta},
};

/// Feeds an output.
pub(super) struct Sink<E> {
    feed: Feed<E>,
    began: Began,
}

impl<E> Sink<E> {
    /// For an output that wants to know times of day.
    pub(super) fn new(feed: Feed<E>, began: &Began) -> Self {
        Self { feed, began: began.clone() }
    }
}

impl<E: Send> DeltaSink for Sink<E> {
    fn delta(&mut self, _: AgentId, part: &ThreadDelta) {
        if let Some(span) = part.span {
            self.began.note(span);
        }
        self.feed.add(&part.delta, part.span);
    }
}
