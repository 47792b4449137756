//! The events of a stream: `data`, `error`, `end`.

use onrush_fiber::{Clock, Nanos};
use onrush_grpc::{Code, Status};

use super::{
    decode,
    response::{self, object, unreadable},
    stream::State,
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Val},
    log::Level,
    vu::Vu,
};

/// What a handler is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Data,
    Error,
    End,
    /// k6 takes handlers for it and never calls them.
    Status,
}

impl Event {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "data" => Self::Data,
            "error" => Self::Error,
            "end" => Self::End,
            "status" => Self::Status,
            _ => return None,
        })
    }
}

/// A message has come; `Err` if it is none of its type.
pub(super) fn data(ctx: Ctx, state: &State, bytes: &[u8], at: Nanos) -> JsResult<Result<(), Status>> {
    let value = if state.discards_message {
        ctx.object()?
    } else {
        let (schema, of) = (&state.method.schema, state.method.get().output);
        match decode::read(schema, of, bytes, |message| object(ctx, &state.schemas, schema, message))? {
            Ok(value) => value?,
            Err(error) => return Ok(Err(unreadable(&error))),
        }
    };
    emit(ctx, state, Event::Data, &value, at).map(Ok)
}

/// It is over: an error if there is one, then the end.
pub(super) fn end(ctx: Ctx, vu: &Vu, state: &State, status: &Status, at: Nanos) -> JsResult<()> {
    if !status.is_ok() {
        let has_handler = state.handlers.borrow().iter().any(|(event, _)| *event == Event::Error);
        if has_handler {
            let error = error(ctx, state, status)?;
            emit(ctx, state, Event::Error, &error, at)?;
        } else {
            let text = format!("no handlers for error registered, but an error happened: {}", described(status));
            vu.log(Level::Warn, text);
        }
    }
    emit(ctx, state, Event::End, &*ctx.object()?, at)
}

/// `{code, details, message}` with a method that says both.
fn error(ctx: Ctx, state: &State, status: &Status) -> JsResult {
    let status = &shown(status);
    let error = ctx.object()?;
    error.define(ctx, "code", Val::number(f64::from(status.code.0)))?;
    let details = response::details(ctx, &state.schemas, status)?;
    error.define(ctx, "details", details.map_or_else(|| ctx.array(), Ok)?)?;
    error.define(ctx, "message", Val::string(ctx, &status.message)?)?;
    let describe = ctx.function("error", 0, |ctx, this: &Handle, _: Args<'_>| {
        let code = this.get(ctx, "code")?.to_text(ctx)?;
        let message = this.get(ctx, "message")?.to_text(ctx)?;
        Val::string(ctx, &format!("code: {code}, message: {message}"))
    })?;
    error.define_hidden(ctx, "toString", describe.dup())?;
    error.define(ctx, "error", describe)?;
    Ok(error)
}

fn described(status: &Status) -> String {
    let status = shown(status);
    format!("code: {}, message: {}", status.code.0, status.message)
}

/// k6: whoever cancelled, it was the client, and that is an error without a code of its own.
fn shown(status: &Status) -> Status {
    if status.code == Code::CANCELED {
        return Status::new(Code::UNKNOWN, "canceled by client (k6)");
    }
    status.clone()
}

/// Calls the handlers of an event, in the order they were given.
fn emit(ctx: Ctx, state: &State, event: Event, value: &Handle, at: Nanos) -> JsResult<()> {
    let mut next = 0;
    loop {
        let handler = {
            let handlers = state.handlers.borrow();
            let rest = handlers.iter().enumerate().skip(next);
            rest.filter(|(_, (of, _))| *of == event).map(|(index, (_, handler))| (index, handler.clone())).next()
        };
        let Some((index, handler)) = handler else { return Ok(()) };
        next = index + 1;
        let metadata = ctx.object()?;
        // k6: seconds.
        metadata.define(ctx, "ts", Val::number((Clock::unix_ms(at) / 1000.0).floor()))?;
        ctx.call(&handler, Handle::UNDEFINED, &[value, &metadata])?;
    }
}
