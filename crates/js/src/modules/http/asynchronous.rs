//! `http.asyncRequest`: a promise, and a child fiber that sends the request.

use super::{
    arguments,
    call::{finish, in_vu_context},
    send,
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult},
    modules::promise::settle,
    vu::{Vu, context, event_loop},
};

pub(super) fn async_request(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = in_vu_context()?;
    let method = arguments::method(ctx, args.at(0))?;
    let prepared = arguments::prepare(ctx, vu, method, args.at(1), args.at(2), args.at(3))?;
    let (promise, resolve, reject) = ctx.promise()?;
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(refused) => {
            settle(ctx, finish(ctx, vu, send::Exchange::refused(refused)), &resolve, &reject)?;
            return Ok(promise);
        }
    };
    // The last reference is dropped on the VU's own fiber: what it was charged goes back to this VU.
    let kept = prepared.clone();
    let work = move |vu: &Vu| {
        crate::realm::throttle::wait(&vu.thread.config)?;
        send::send(vu, &prepared)
    };
    event_loop::start(work, move |ctx, result| {
        let response = result.and_then(|exchange| finish(ctx, context::vu(), exchange));
        drop(kept);
        settle(ctx, response, &resolve, &reject)
    });
    Ok(promise)
}
