//! `k6/ws`: `ws.connect()` returns when the connection is over.

mod socket;

use std::rc::Rc;

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::builtin;
use onrush_net::Response;

use self::socket::Session;
use super::{
    dial::{Dial, Dialled},
    params::{Params, Style},
    samples::{Facts, Samples},
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    modules::export::export,
    vu::{
        Vu,
        context::{self, vu},
    },
};

pub(in crate::modules) use socket::install_classes;

pub(in crate::modules) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "connect", 3, connect)?;
    Ok(exports)
}

/// `ws.connect(url, params?, setup)`.
fn connect(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    if vu.in_init() {
        return Err(Throw::error("using websockets in the init context is not supported"));
    }
    if !(2..=3).contains(&args.len()) {
        return Err(Throw::error("invalid number of arguments to ws.connect"));
    }
    let setup = args.at(args.len() - 1);
    if !setup.is_function(ctx) {
        return Err(Throw::error("last argument to ws.connect must be a function"));
    }
    let (session, response, start) = match open(ctx, vu, args)? {
        Ok(opened) => opened,
        Err(refused) => return Ok(refused),
    };
    let ran = session.run(ctx, vu, setup);
    ended(ctx, vu, args, &session, &response, start, ran)
}

/// A session, the response that opened it, and when it was asked for.
type Opened = (Rc<Session>, Box<Response>, Nanos);

/// Asks for the connection; the inner error is what `connect()` returns where there is none.
///
/// What is needed for that only is gone while the session runs: the fiber's stack is copied whenever it waits.
#[inline(never)]
fn open(ctx: Ctx, vu: &Vu, args: Args<'_>) -> JsResult<Result<Opened, Val>> {
    let given = if args.len() == 3 { args.at(1) } else { Handle::UNDEFINED };
    let params = Params::read(ctx, vu, given, Style::Legacy)?;
    let url = args.at(0).to_text(ctx)?;
    let dialled = dial(vu, &url, &params);
    // A VU that is cut while it waits makes no sample.
    context::alive()?;
    let samples = samples(vu, &url, &params, &dialled);
    samples.add(vu, builtin::WS_SESSIONS, 1.0);
    samples.add(vu, builtin::WS_CONNECTING, dialled.took_ms());
    let Dialled { outcome, response, start, .. } = dialled;
    let error = match (outcome, response) {
        (Ok(socket), Some(response)) => return Ok(Ok((Session::new(socket, samples), response, start))),
        (outcome, response) => {
            samples.add(vu, builtin::WS_SESSION_DURATION, (Clock::now() - start).as_millis_f64());
            let error = outcome.err().unwrap_or_default();
            if vu.thread.config.http.throw {
                return Err(Throw::error(error));
            }
            let error = if response.is_some() { "" } else { &error };
            result(ctx, "", response.as_deref(), error)
        }
    };
    error.map(Err)
}

/// After the session: its length, and what `connect()` returns.
#[inline(never)]
fn ended(
    ctx: Ctx,
    vu: &Vu,
    args: Args<'_>,
    session: &Session,
    response: &Response,
    start: Nanos,
    ran: JsResult<()>,
) -> JsResult {
    // k6: a session that is cut has no length.
    if !ran.as_ref().is_err_and(context::is_cut) {
        session.line().samples.add(vu, builtin::WS_SESSION_DURATION, (Clock::now() - start).as_millis_f64());
    }
    ran?;
    let url = args.at(0).to_text(ctx)?;
    result(ctx, &url, Some(response), "")
}

fn dial(vu: &Vu, url: &str, params: &Params) -> Dialled {
    let start = Clock::now();
    match Dial::new(vu, url, params, &[]) {
        Ok(dial) => dial.run(vu),
        Err(text) => Dialled::refused(start, text),
    }
}

fn samples(vu: &Vu, url: &str, params: &Params, dialled: &Dialled) -> Samples {
    let protocol = dialled.protocol();
    let facts = Facts {
        url,
        name: None,
        status: dialled.response.as_ref().map(|response| response.status),
        protocol: &protocol,
        remote: dialled.remote,
    };
    Samples::new(vu, params.node, Style::Legacy, &facts)
}

/// What `connect()` returns.
fn result(ctx: Ctx, url: &str, response: Option<&Response>, error: &str) -> JsResult {
    let object = ctx.object()?;
    object.define(ctx, "url", Val::string(ctx, url)?)?;
    object.define(ctx, "status", Val::int(response.map_or(0, |response| i32::from(response.status))))?;
    let headers = ctx.object()?;
    for (name, value) in response.map(|response| response.headers.joined()).unwrap_or_default() {
        headers.define(ctx, &name, Val::string(ctx, &value)?)?;
    }
    object.define(ctx, "headers", headers)?;
    // k6: the body's beginning, of a refusal.
    let body = response.filter(|_| url.is_empty()).map_or(&[][..], |response| &response.body);
    object.define(ctx, "body", Val::text(ctx, &body[..body.len().min(BODY_BYTES_MAX)])?)?;
    object.define(ctx, "error", Val::string(ctx, error)?)?;
    Ok(object)
}

/// Bytes of a refusal's body that scripts see.
const BODY_BYTES_MAX: usize = 1024;
