//! What is measured of a WebSocket.

use std::{cell::Cell, net::SocketAddr};

use onrush_metrics::{MetricId, SeriesIdx, SystemTag, TagNode, builtin};

use super::params::Style;
use crate::vu::Vu;

/// The tags of a WebSocket's samples, and the series of those there are many of.
pub(super) struct Samples {
    node: TagNode,
    sent: Cell<Option<SeriesIdx>>,
    received: Cell<Option<SeriesIdx>>,
}

/// What the tags tell.
pub(super) struct Facts<'a> {
    /// The URL the script gave.
    pub(super) url: &'a str,
    /// The tag `name` it gave.
    pub(super) name: Option<&'a str>,
    /// The status of the answer, if there was one.
    pub(super) status: Option<u16>,
    /// The protocol the server chose.
    pub(super) protocol: &'a str,
    pub(super) remote: Option<SocketAddr>,
}

impl Samples {
    /// The tags in `node`, and those that tell `facts`.
    pub(super) fn new(vu: &Vu, node: TagNode, style: Style, facts: &Facts<'_>) -> Self {
        let subscriptions = &vu.thread.config.subscriptions;
        let mut shard = vu.thread.shard.borrow_mut();
        let mut node = node;
        let mut tag = |tag: SystemTag, value: &str| {
            if subscriptions.wants(tag) {
                node = shard.with_system(node, tag, value);
            }
        };
        match style {
            Style::Legacy => tag(SystemTag::Url, facts.url),
            Style::Events => vu.with_given_name(|given| {
                let name = facts.name.or(given).unwrap_or(facts.url);
                tag(SystemTag::Name, name);
                tag(SystemTag::Url, name);
            }),
        }
        if let Some(status) = facts.status {
            tag(SystemTag::Status, &status.to_string());
            tag(SystemTag::Subproto, facts.protocol);
        }
        if let Some(remote) = facts.remote {
            tag(SystemTag::Ip, &remote.ip().to_string());
        }
        Self { node, sent: Cell::new(None), received: Cell::new(None) }
    }

    /// Adds a sample.
    pub(super) fn add(&self, vu: &Vu, metric: MetricId, value: f64) {
        let mut shard = vu.thread.shard.borrow_mut();
        let series = shard.series(metric, self.node);
        vu.annotate(&mut shard);
        shard.add(series, value);
    }

    /// Counts something sent.
    pub(super) fn count_sent(&self, vu: &Vu) {
        self.count(vu, builtin::WS_MSGS_SENT, &self.sent);
    }

    /// Counts a message received.
    pub(super) fn count_received(&self, vu: &Vu) {
        self.count(vu, builtin::WS_MSGS_RECEIVED, &self.received);
    }

    fn count(&self, vu: &Vu, metric: MetricId, known: &Cell<Option<SeriesIdx>>) {
        let mut shard = vu.thread.shard.borrow_mut();
        let series = known.get().unwrap_or_else(|| shard.series(metric, self.node));
        known.set(Some(series));
        vu.annotate(&mut shard);
        shard.add(series, 1.0);
    }
}
