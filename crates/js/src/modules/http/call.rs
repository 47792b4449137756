//! Calls that send one request and wait for its response.

use std::rc::Rc;

use super::{
    arguments::{self, Prepared, Refused},
    response, send,
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw},
    log::{Level, Line},
    realm::throttle,
    vu::{Vu, context::vu},
};

pub(super) fn bodiless(ctx: Ctx, method: &'static str, name: &str, args: Args<'_>) -> JsResult {
    let vu = in_vu_context()?;
    if args.len() > 2 {
        vu.log(
            Level::Warn,
            format!(
                "http.{name} only accepts a url and a params argument (2 arguments), but {} were given",
                args.len()
            ),
        );
    }
    synchronous(ctx, vu, arguments::prepare(ctx, vu, method.into(), args.at(0), Handle::UNDEFINED, args.at(1)))
}

pub(super) fn with_body(ctx: Ctx, method: &'static str, args: Args<'_>) -> JsResult {
    let vu = in_vu_context()?;
    synchronous(ctx, vu, arguments::prepare(ctx, vu, method.into(), args.at(0), args.at(1), args.at(2)))
}

pub(super) fn request(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = in_vu_context()?;
    let method = arguments::method(ctx, args.at(0))?;
    synchronous(ctx, vu, arguments::prepare(ctx, vu, method, args.at(1), args.at(2), args.at(3)))
}

pub(super) fn in_vu_context() -> JsResult<&'static Vu> {
    let vu = vu();
    if vu.in_init() { Err(Throw::error("Making http requests in the init context is not supported")) } else { Ok(vu) }
}

/// Sends a request on the VU's own fiber.
pub(super) fn synchronous(ctx: Ctx, vu: &Vu, prepared: JsResult<Result<Rc<Prepared>, Refused>>) -> JsResult {
    let prepared = match prepared? {
        Ok(prepared) => prepared,
        Err(refused) => return finish(ctx, vu, send::Exchange::refused(refused)),
    };
    throttle::wait(&vu.thread.config)?;
    let exchange = send::send(vu, &prepared)?;
    finish(ctx, vu, exchange)
}

/// Turns an ended exchange into a Response, or into an exception where the script asked for that.
pub(super) fn finish(ctx: Ctx, vu: &Vu, exchange: Rc<send::Exchange>) -> JsResult {
    if let Some(failure) = exchange.failure() {
        if exchange.is_thrown() {
            return Err(Throw::error(failure.to_owned()));
        }
        log_failure(vu, failure);
    }
    if exchange.status() == send::SWITCHING_PROTOCOLS {
        return Err(Throw::error(format!("unsupported response status: {}", exchange.status_text())));
    }
    response::create(ctx, vu, exchange)
}

/// k6's warning for a request that failed without throwing.
fn log_failure(vu: &Vu, error: &str) {
    vu.script().log.line(Line {
        level: Level::Warn,
        message: "Request Failed".to_owned(),
        fields: vec![("error".into(), error.to_owned())],
    });
}
