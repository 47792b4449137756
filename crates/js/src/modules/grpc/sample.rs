//! What a call leaves in the metrics.

use std::net::SocketAddr;

use onrush_fiber::Nanos;
use onrush_grpc::{Code, schema::Method};
use onrush_metrics::{MetricId, SystemTag, TagNode, builtin};

use crate::vu::{Vu, context::with_named};

/// The tags of a call's samples: those in `node`, and what it goes to.
pub(super) fn tags(
    vu: &Vu,
    node: TagNode,
    address: &str,
    method: &Method,
    name: Option<&str>,
    peer: Option<SocketAddr>,
) -> TagNode {
    let wants = |tag| vu.thread.config.subscriptions.wants(tag);
    let mut shard = vu.thread.shard.borrow_mut();
    let mut node = node;
    if let Some(name) = name.filter(|_| !wants(SystemTag::Name)) {
        node = with_named(&mut shard, node, SystemTag::Name.as_str(), name);
    }
    if wants(SystemTag::Url) {
        node = shard.with_system(node, SystemTag::Url, &format!("{address}{}", method.path));
    }
    if wants(SystemTag::Service) {
        let service = method.path[1..].rsplit_once('/').map_or("", |(service, _)| service);
        node = shard.with_system(node, SystemTag::Service, service);
    }
    if wants(SystemTag::Method) {
        node = shard.with_system(node, SystemTag::Method, &method.name);
    }
    if wants(SystemTag::Name) {
        node = vu
            .with_given_name(|given| shard.with_system(node, SystemTag::Name, name.or(given).unwrap_or(&method.path)));
    }
    if let Some(peer) = peer.filter(|_| wants(SystemTag::Ip)) {
        node = shard.with_system(node, SystemTag::Ip, &peer.ip().to_string());
    }
    node
}

/// `grpc_req_duration`: a call is over.
pub(super) fn duration(vu: &Vu, node: TagNode, took: Nanos, code: Code) {
    let node = with_status(vu, node, code);
    let mut shard = vu.thread.shard.borrow_mut();
    vu.annotate(&mut shard);
    let series = shard.series(builtin::GRPC_REQ_DURATION, node);
    shard.add(series, took.as_millis_f64());
}

/// The tags of what is known after the end.
pub(super) fn with_status(vu: &Vu, node: TagNode, code: Code) -> TagNode {
    if !vu.thread.config.subscriptions.wants(SystemTag::Status) {
        return node;
    }
    vu.thread.shard.borrow_mut().with_system(node, SystemTag::Status, &code.0.to_string())
}

/// One more of something.
pub(super) fn count(vu: &Vu, node: TagNode, metric: MetricId) {
    let mut shard = vu.thread.shard.borrow_mut();
    vu.annotate(&mut shard);
    let series = shard.series(metric, node);
    shard.add(series, 1.0);
}
