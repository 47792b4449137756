//! The object a call gives back.

use std::sync::Arc;

use bytes::Bytes;
use onrush_fiber::Nanos;
use onrush_grpc::{
    Code, Metadata, Schema, Status,
    message::{Message, Value},
    schema::MessageId,
};

use super::{
    decode,
    problem::Problem,
    schemas::{MethodRef, Schemas},
};
use crate::embed::{Ctx, JsResult, Throw, Val};

/// How a call ended.
pub(super) struct Ended {
    pub(super) status: Status,
    pub(super) message: Option<Bytes>,
    pub(super) headers: Metadata,
    pub(super) trailers: Metadata,
    pub(super) took: Nanos,
}

/// A Response. Where the answer is no message of its type, that becomes the status.
pub(super) fn create(
    ctx: Ctx,
    schemas: &Schemas,
    method: &MethodRef,
    discards_message: bool,
    ended: &mut Ended,
) -> JsResult {
    let (schema, of) = (&method.schema, method.get().output);
    let message = if discards_message {
        Val::null()
    } else {
        match message(ctx, schemas, schema, of, ended)? {
            Some(message) => message,
            // k6: what failed has a message all the same, one without anything in it.
            None => object(ctx, schemas, schema, &Message::empty(of))?,
        }
    };
    let response = ctx.object()?;
    response.define(ctx, "message", message)?;
    response.define(ctx, "error", error(ctx, schemas, &ended.status)?)?;
    response.define(ctx, "headers", metadata(ctx, &ended.headers)?)?;
    response.define(ctx, "trailers", metadata(ctx, &ended.trailers)?)?;
    response.define(ctx, "status", Val::number(f64::from(ended.status.code.0)))?;
    Ok(response)
}

/// The answer of a call that went well, and still does when it is read.
fn message(
    ctx: Ctx,
    schemas: &Schemas,
    schema: &Arc<Schema>,
    of: MessageId,
    ended: &mut Ended,
) -> JsResult<Option<Val>> {
    let Some(bytes) = ended.message.take().filter(|_| ended.status.is_ok()) else { return Ok(None) };
    match decode::read(schema, of, &bytes, |message| object(ctx, schemas, schema, message))? {
        Ok(object) => object.map(Some),
        Err(error) => {
            ended.status = unreadable(&error);
            Ok(None)
        }
    }
}

/// What Go says of an answer that is no message.
pub(super) fn unreadable(error: &onrush_grpc::message::DecodeError) -> Status {
    Status::new(Code::INTERNAL, format!("grpc: failed to unmarshal the received message: {error}"))
}

/// A message as a script sees it.
pub(super) fn object(ctx: Ctx, schemas: &Schemas, schema: &Arc<Schema>, message: &Message<'_>) -> JsResult {
    decode::object(ctx, schemas, schema, message).map_err(|problem| match problem {
        Problem::Throw(throw) => throw,
        Problem::Text(text) => Throw::error(format!(
            "unable to convert response object to JSON: failed to marshal the message: proto:\u{a0}{text}"
        )),
    })
}

/// `{code, message, details}`, or `null` where all went well.
pub(super) fn error(ctx: Ctx, schemas: &Schemas, status: &Status) -> JsResult {
    if status.is_ok() {
        return Ok(Val::null());
    }
    let error = ctx.object()?;
    // k6: details of a type that is not loaded leave nothing of the error.
    let Some(details) = details(ctx, schemas, status)? else { return Ok(error) };
    error.define(ctx, "code", Val::number(f64::from(status.code.0)))?;
    error.define(ctx, "message", Val::string(ctx, &status.message)?)?;
    error.define(ctx, "details", details)?;
    Ok(error)
}

/// The details of a status, each with its type; `None` if one of them cannot be read.
pub(super) fn details(ctx: Ctx, schemas: &Schemas, status: &Status) -> JsResult<Option<Val>> {
    let list = ctx.array()?;
    let Some(bytes) = &status.details else { return Ok(Some(list)) };
    let schema = &*STATUS;
    let Some(of) = schema.message_named("google.rpc.Status") else { return Ok(Some(list)) };
    let filled = decode::read(schema, of, bytes, |status| -> Result<(), Problem> {
        let Some(Value::Many(details)) = status.numbered(schema, 3) else { return Ok(()) };
        for (index, detail) in (0..).zip(details) {
            let Value::Message(detail) = detail else { continue };
            list.define_index(ctx, index, decode::object(ctx, schemas, schema, detail)?)?;
        }
        Ok(())
    })?;
    match filled {
        Ok(Err(Problem::Throw(throw))) => Err(throw),
        Ok(Err(Problem::Text(_))) => Ok(None),
        Ok(Ok(())) | Err(_) => Ok(Some(list)),
    }
}

/// Names and lists of values.
fn metadata(ctx: Ctx, metadata: &Metadata) -> JsResult {
    let object = ctx.object()?;
    for (name, values) in metadata.iter() {
        let list = ctx.array()?;
        for (index, value) in (0..).zip(values) {
            list.define_index(ctx, index, Val::text(ctx, value)?)?;
        }
        object.define(ctx, name, list)?;
    }
    Ok(object)
}

static STATUS: std::sync::LazyLock<Arc<Schema>> = std::sync::LazyLock::new(|| Arc::new(onrush_grpc::status::schema()));
