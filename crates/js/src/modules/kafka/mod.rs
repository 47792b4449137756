//! `k6/x/kafka`: writers, readers and administration of Apache Kafka, whose calls wait, as in the extension of k6.
//!
//! `onrush_kafka` speaks the protocol; connections are [`onrush_net::Wire`]s (`world`), kept by the objects of a VU: nothing
//! is shared between VUs but settings of TLS and schemas that were read. `writer`, `reader` and `connection` are what scripts
//! see, under the names of both generations of the extension; `registry` has schemas and turns values into bytes.

mod config;
mod connection;
mod constants;
mod held;
mod message;
mod reader;
mod registry;
mod sample;
mod serdes;
mod world;
mod writer;

use super::{export::export_class, own_metrics};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw},
    modules::export::export,
};

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    writer::install_class(ctx)?;
    reader::install_class(ctx)?;
    connection::install_class(ctx)?;
    registry::install_class(ctx)
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    own_metrics::declare("k6/x/kafka", &sample::ALL)?;
    let exports = ctx.object()?;
    export_class(ctx, &exports, "Producer", &writer::prototype(ctx), writer::construct)?;
    export_class(ctx, &exports, "Writer", &writer::prototype(ctx), writer::construct)?;
    export_class(ctx, &exports, "Consumer", &reader::prototype(ctx), reader::construct)?;
    export_class(ctx, &exports, "Reader", &reader::prototype(ctx), reader::construct)?;
    export_class(ctx, &exports, "AdminClient", &connection::prototype(ctx), connection::construct)?;
    export_class(ctx, &exports, "Connection", &connection::prototype(ctx), connection::construct_named)?;
    export_class(ctx, &exports, "SchemaRegistry", &registry::prototype(ctx), registry::construct)?;
    export(ctx, &exports, "LoadJKS", 1, load_jks)?;
    constants::export_all(ctx, &exports)?;
    Ok(exports)
}

fn load_jks(_: Ctx, _: &Handle, _: Args<'_>) -> JsResult {
    Err(Throw::error(
        "LoadJKS is not available in Onrush: convert the key store with `keytool -importkeystore -deststoretype PKCS12` and `openssl pkcs12`, and name the PEM files in tls",
    ))
}
