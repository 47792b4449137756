//! `k6/x/mqtt`: clients of MQTT 3.1.1 whose messages the VU's event loop hands to the script.
//!
//! `onrush_mqtt` speaks the protocol; connections are made over the same path as those of requests, and
//! `way` is one of them, or a WebSocket over it.
//! `object` is what scripts see, `options` reads what they say, `client` is the state machine behind it, over a
//! connection (`line`) that `dial` has made.

mod client;
mod dial;
mod line;
mod object;
mod options;
mod way;

use onrush_metrics::{Contains, MetricKind};

use super::{
    export::export_class,
    own_metrics::{self, OwnMetric},
};
use crate::embed::{Ctx, JsResult, Val};

pub(super) use object::install_classes;

const CALLS: OwnMetric = ("mqtt_calls", MetricKind::Counter, Contains::Default);
const ERRORS: OwnMetric = ("mqtt_errors", MetricKind::Counter, Contains::Default);
const SENT: OwnMetric = ("mqtt_messages_sent", MetricKind::Counter, Contains::Default);
const RECEIVED: OwnMetric = ("mqtt_messages_received", MetricKind::Counter, Contains::Default);

pub(super) fn build(ctx: Ctx) -> JsResult {
    own_metrics::declare("k6/x/mqtt", &[CALLS, ERRORS, SENT, RECEIVED])?;
    let exports = ctx.object()?;
    export_class(ctx, &exports, "Client", &object::prototype(ctx), object::construct)?;
    let levels = ctx.object()?;
    for (name, level) in [("AtMostOnce", 0), ("AtLeastOnce", 1), ("ExactlyOnce", 2)] {
        levels.define(ctx, name, Val::int(level))?;
    }
    exports.define(ctx, "QoS", levels)?;
    Ok(exports)
}
