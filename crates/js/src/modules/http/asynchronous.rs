//! `http.asyncRequest`: a promise, and a child fiber that sends the request.

use super::{
    arguments,
    call::{finish, in_vu_context},
    send,
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    vu::context,
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
    vu.event_loop.begin();
    let own = context::vu_rc();
    let fiber = onrush_fiber::spawn(None, move || {
        let throttled = crate::realm::throttle::wait(own.thread.config.http.rps);
        let result = throttled.and_then(|()| send::send(&own, &prepared));
        let target = own.clone();
        own.event_loop.complete(Box::new(move |ctx| {
            let response = result.and_then(|exchange| finish(ctx, &target, exchange));
            settle(ctx, response, &resolve, &reject)
        }));
        own.children.borrow_mut().retain(|child| Some(*child) != onrush_fiber::current());
        if let Some(fiber) = own.fiber.get() {
            onrush_fiber::unpark(fiber);
        }
    });
    vu.children.borrow_mut().push(fiber);
    Ok(promise)
}

fn settle(ctx: Ctx, result: JsResult, resolve: &Handle, reject: &Handle) -> JsResult<()> {
    match result {
        Ok(response) => ctx.call(resolve, Handle::UNDEFINED, &[&response]).map(drop),
        Err(Throw::Interrupted) => Err(Throw::Interrupted),
        Err(throw) => {
            ctx.raise(throw);
            let reason: Val = ctx.take_exception_value();
            ctx.call(reject, Handle::UNDEFINED, &[&reason]).map(drop)
        }
    }
}
