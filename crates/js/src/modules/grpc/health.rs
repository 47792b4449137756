//! `client.healthCheck()`.

use onrush_fiber::{Clock, is_cancelled};
use onrush_grpc::{Code, health};

use super::{call::NO_CONNECTION, client::Client, sample};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    vu::context::vu,
};

/// `client.healthCheck(service?)`: `{status}`. Unlike a call it throws where the call fails.
pub(super) fn health_check(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let (vu, client) = (vu(), Client::expect(this)?);
    let channel = client.channel().ok_or_else(|| Throw::error(NO_CONNECTION))?;
    let service = if args.at(0).is_set() { args.at(0).to_text(ctx)? } else { String::new() };
    let start = Clock::now();
    let outcome = health::check(&channel, &vu.connections, &service);
    if is_cancelled() {
        return Err(Throw::Interrupted);
    }
    let code = outcome.as_ref().err().map_or(Code::OK, |status| status.code);
    sample::duration(vu, vu.node.get(), Clock::now() - start, code);
    let serving = outcome.map_err(|status| Throw::error(status.to_string()))?;
    let response = ctx.object()?;
    response.define(ctx, "status", Val::int(serving))?;
    Ok(response)
}
