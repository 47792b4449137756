//! A call from a script's values to its end.

use std::rc::Rc;

use bytes::Bytes;
use onrush_fiber::{Clock, Nanos, is_cancelled};
use onrush_grpc::{Channel, Metadata, Request, Status, call::finish};
use onrush_metrics::TagNode;

use super::{
    client::Client,
    encode::{self, Specials},
    params,
    response::{self, Ended},
    sample,
    schemas::{MethodRef, Schemas},
};
use crate::{
    embed::{Args, Charge, Ctx, Handle, JsResult, Throw},
    modules::promise::settle,
    vu::{Vu, context, event_loop},
};

/// A call that can be made: it owns all it needs.
pub(super) struct Prepared {
    pub(super) channel: Rc<Channel>,
    pub(super) schemas: Schemas,
    pub(super) method: MethodRef,
    frame: Bytes,
    metadata: Metadata,
    timeout_ns: u64,
    pub(super) discards_message: bool,
    node: TagNode,
}

/// `client.invoke(method, request, params?)`
pub(super) fn invoke(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let vu = context::vu();
    let prepared = prepare(ctx, vu, this, args)?;
    let ended = exchange(vu, &prepared)?;
    conclude(ctx, vu, &prepared, ended)
}

/// `client.asyncInvoke(method, request, params?)`. k6: what is wrong with its arguments rejects the promise.
pub(super) fn async_invoke(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let vu = context::vu();
    let (promise, resolve, reject) = ctx.promise()?;
    let prepared = match prepare(ctx, vu, this, args) {
        Ok(prepared) => prepared,
        Err(throw) => {
            settle(ctx, Err(throw), &resolve, &reject)?;
            return Ok(promise);
        }
    };
    // A script may begin any number of calls without waiting for one.
    let charge = Charge::take(prepared.frame.len())?;
    let prepared = Rc::new(prepared);
    let sent = prepared.clone();
    event_loop::start(
        move |vu| exchange(vu, &sent),
        move |ctx, outcome| {
            drop(charge);
            let response = outcome.and_then(|ended| conclude(ctx, context::vu(), &prepared, ended));
            settle(ctx, response, &resolve, &reject)
        },
    );
    Ok(promise)
}

/// k6's order of checks.
fn prepare(ctx: Ctx, vu: &Vu, this: &Handle, args: Args<'_>) -> JsResult<Prepared> {
    let client = Client::expect(this)?;
    if vu.in_init() {
        return Err(Throw::error("invoking RPC methods in the init context is not supported"));
    }
    let channel = client.channel().ok_or_else(|| Throw::error(NO_CONNECTION))?;
    let method = method_text(ctx, args.at(0))?;
    let schemas = client.schemas();
    let method = find(&schemas, &method).map_err(Throw::error)?;
    let params = params::parse(ctx, vu, args.at(2))
        .map_err(|problem| problem.throw("invalid GRPC's client.invoke() parameters: "))?;
    if args.len() < 2 {
        return Err(Throw::error("request cannot be nil"));
    }
    if !args.at(1).is_set() {
        return Err(Throw::type_error("Cannot convert undefined or null to object"));
    }
    let of = method.get().input;
    let encoded = encode::encode(ctx, &schemas, &method.schema, of, args.at(1), Specials::Text);
    let mut frame = encoded.map_err(|throw| explain(ctx, throw))?.map_err(|text| {
        Throw::error(format!("unable to serialise request object to protocol buffer: proto:\u{a0}{text}"))
    })?;
    finish(&mut frame);
    let node =
        sample::tags(vu, params.node, &channel.options().address, method.get(), params.name.as_deref(), channel.peer());
    Ok(Prepared {
        channel,
        schemas,
        method,
        frame: frame.into(),
        metadata: params.metadata,
        timeout_ns: params.timeout_ns.unwrap_or(TIMEOUT_NS),
        discards_message: params.discards_message,
        node,
    })
}

/// k6 has its own words for objects that JSON cannot hold.
fn explain(ctx: Ctx, throw: Throw) -> Throw {
    if !matches!(throw, Throw::Pending) {
        return throw;
    }
    let thrown = ctx.take_exception_value();
    if ctx.is_uncatchable(&thrown) {
        return ctx.throw_value(thrown);
    }
    match thrown.get(ctx, "message").and_then(|message| message.to_text(ctx)) {
        Ok(text) if text.contains("circular") => {
            Throw::error("unable to normalize number strings: cyclic reference to an object found")
        }
        Ok(_) => ctx.throw_value(thrown),
        Err(throw) => throw,
    }
}

/// The name of a method as scripts give it.
fn method_text(ctx: Ctx, value: &Handle) -> JsResult<String> {
    if value.is_set() { value.to_text(ctx) } else { Ok(String::new()) }
}

/// A method by its name, with or without a slash in front.
pub(super) fn find(schemas: &Schemas, name: &str) -> Result<MethodRef, String> {
    if name.is_empty() {
        return Err("method to invoke cannot be empty".to_owned());
    }
    let path = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
    schemas.method(&path).ok_or_else(|| format!("method \"{path}\" not found in file descriptors"))
}

/// Sends the message and waits for the answer. No JavaScript runs here.
fn exchange(vu: &Vu, prepared: &Prepared) -> JsResult<Ended> {
    let start = Clock::now();
    let deadline = Nanos(start.0.saturating_add(prepared.timeout_ns));
    let request = Request {
        path: &prepared.method.get().path,
        metadata: &prepared.metadata,
        deadline: Some(deadline),
        is_unary: !prepared.method.get().is_server_stream,
    };
    let mut ended = Ended {
        status: Status::OK,
        message: None,
        headers: Metadata::default(),
        trailers: Metadata::default(),
        took: Nanos(0),
    };
    match prepared.channel.start(&vu.connections, &request) {
        Err(status) => ended.status = status,
        Ok(call) => {
            let outcome = call.send(prepared.frame.clone(), true).and_then(|()| {
                ended.message = call.receive()?;
                // The status comes behind the message.
                while call.receive()?.is_some() {}
                Ok(())
            });
            ended.headers = call.headers().clone();
            ended.trailers = call.trailers().clone();
            ended.status = outcome.err().unwrap_or(Status::OK);
        }
    }
    if is_cancelled() {
        return Err(Throw::Interrupted);
    }
    ended.took = Clock::now() - start;
    Ok(ended)
}

/// The Response, and the call's sample.
fn conclude(ctx: Ctx, vu: &Vu, prepared: &Prepared, mut ended: Ended) -> JsResult {
    let Prepared { schemas, method, discards_message, .. } = prepared;
    let response = response::create(ctx, schemas, method, *discards_message, &mut ended);
    sample::duration(vu, prepared.node, ended.took, ended.status.code);
    response
}

pub(super) const NO_CONNECTION: &str = "no gRPC connection, you must call connect first";
/// k6's default for calls.
const TIMEOUT_NS: u64 = 120_000_000_000;
