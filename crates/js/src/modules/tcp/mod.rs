//! `k6/x/tcp`: sockets whose events the VU's event loop hands to the script.
//!
//! `object` is what scripts see, `socket` what is behind it: an [`onrush_net::Wire`], made over the same path as the
//! connections of requests.

mod object;
mod socket;

use onrush_metrics::{Contains, MetricKind};

use super::{
    export::export_class,
    own_metrics::{self, OwnMetric},
};
use crate::embed::{Ctx, JsResult};

pub(super) use object::install_classes;

const SOCKETS: OwnMetric = ("tcp_sockets", MetricKind::Counter, Contains::Default);
const READS: OwnMetric = ("tcp_reads", MetricKind::Counter, Contains::Default);
const WRITES: OwnMetric = ("tcp_writes", MetricKind::Counter, Contains::Default);
const ERRORS: OwnMetric = ("tcp_errors", MetricKind::Counter, Contains::Default);
const TIMEOUTS: OwnMetric = ("tcp_timeouts", MetricKind::Counter, Contains::Default);
const PARTIAL_WRITES: OwnMetric = ("tcp_partial_writes", MetricKind::Counter, Contains::Default);
const RESOLVING: OwnMetric = ("tcp_socket_resolving", MetricKind::Trend, Contains::Time);
const CONNECTING: OwnMetric = ("tcp_socket_connecting", MetricKind::Trend, Contains::Time);
const DURATION: OwnMetric = ("tcp_socket_duration", MetricKind::Trend, Contains::Time);

pub(super) fn build(ctx: Ctx) -> JsResult {
    own_metrics::declare(
        "k6/x/tcp",
        &[SOCKETS, READS, WRITES, ERRORS, TIMEOUTS, PARTIAL_WRITES, RESOLVING, CONNECTING, DURATION],
    )?;
    let exports = ctx.object()?;
    export_class(ctx, &exports, "Socket", &object::prototype(ctx), object::construct)?;
    Ok(exports)
}
