//! `k6/net/grpc`: clients, streams, statuses.
//!
//! A call goes through `call` (script values to a `Prepared` call that owns all it needs), `onrush_grpc` (no JavaScript, so
//! it can wait on a child fiber) and `response`. `encode` writes a script's object as a message without JSON in between,
//! `decode` makes an object of one; `complaint` finds the words k6 has for an object that is no message.

mod call;
mod client;
mod complaint;
mod connect;
mod decode;
mod encode;
mod fuzz;
mod go_value;
mod health;
mod load;
mod params;
mod problem;
mod response;
mod sample;
mod schemas;
mod stream;
mod stream_events;

use super::export::export_class;
use crate::embed::{Ctx, HostClass, JsResult, Val};

pub(crate) use fuzz::fuzz;
pub(crate) use schemas::SchemaCache;

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    client::install_class(ctx)?;
    stream::install_class(ctx)
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export_class(ctx, &exports, "Client", &HostClass::<client::Client>::prototype(ctx), client::construct)?;
    export_class(ctx, &exports, "Stream", &HostClass::<stream::Stream>::prototype(ctx), stream::construct)?;
    for (name, value) in CONSTANTS {
        exports.define(ctx, *name, Val::int(*value))?;
    }
    Ok(exports)
}

const CONSTANTS: &[(&str, i32)] = &[
    ("StatusOK", 0),
    ("StatusCanceled", 1),
    ("StatusUnknown", 2),
    ("StatusInvalidArgument", 3),
    ("StatusDeadlineExceeded", 4),
    ("StatusNotFound", 5),
    ("StatusAlreadyExists", 6),
    ("StatusPermissionDenied", 7),
    ("StatusResourceExhausted", 8),
    ("StatusFailedPrecondition", 9),
    ("StatusAborted", 10),
    ("StatusOutOfRange", 11),
    ("StatusUnimplemented", 12),
    ("StatusInternal", 13),
    ("StatusUnavailable", 14),
    ("StatusDataLoss", 15),
    ("StatusUnauthenticated", 16),
    ("HealthCheckUnknown", 0),
    ("HealthCheckServing", 1),
    ("HealthCheckNotServing", 2),
    // k6: so it is spelt.
    ("HealthCheckServiceUnkown", 3),
];
