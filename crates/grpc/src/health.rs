//! `grpc.health.v1`: whether a server, or one of its services, is there.

use std::sync::LazyLock;

use bytes::Bytes;
use onrush_net::Connections;

use crate::{
    call::{Call, HEAD_BYTES, finish},
    channel::{Channel, Request},
    message::{Decoder, Writer},
    metadata::Metadata,
    schema::Schema,
    status::{Code, Status},
};

/// The method.
pub const PATH: &str = "/grpc.health.v1.Health/Check";

/// Asks for a service, or with an empty name for the whole server: the number of its serving status.
///
/// # Errors
/// The status of the call.
pub fn check(channel: &std::rc::Rc<Channel>, connections: &Connections, service: &str) -> Result<i32, Status> {
    let request = Request { path: PATH, metadata: &Metadata::default(), deadline: None, is_unary: true };
    let call = channel.start(connections, &request)?;
    let mut writer = Writer::with_room(HEAD_BYTES);
    if !service.is_empty() {
        writer.bytes_field(1, service.as_bytes());
    }
    let answer = exchange(&call, writer)?;
    let id = SCHEMA.message_named("grpc.health.v1.HealthCheckResponse").ok_or_else(no_schema)?;
    let mut pause = || true;
    let message = Decoder::new(&SCHEMA, TREE_BYTES_MAX, &mut pause).message(id, &answer).map_err(|error| {
        Status::new(Code::INTERNAL, format!("grpc: failed to unmarshal the received message: {error}"))
    })?;
    Ok(message.integer(&SCHEMA, 1) as i32)
}

/// Sends the only message and gives the only answer.
fn exchange(call: &Call, writer: Writer) -> Result<Bytes, Status> {
    let mut frame = writer.into_bytes();
    finish(&mut frame);
    call.send(frame.into(), true)?;
    let answer = call.receive()?.unwrap_or_default();
    call.receive()?;
    Ok(answer)
}

fn no_schema() -> Status {
    Status::new(Code::INTERNAL, "the schema of health checks is not complete")
}

static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| super::schema::built_in("health.proto", include_str!("health.proto")));
/// An answer is one number.
const TREE_BYTES_MAX: usize = 64 << 10;
