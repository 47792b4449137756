//! `k6/timers`: the global timer functions as a module.

use super::export::export;
use crate::{
    embed::{Ctx, JsResult},
    realm::globals::{clear_timer, set_timer},
};

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "setTimeout", 2, |ctx, _, args| set_timer(ctx, args, "setTimeout"))?;
    export(ctx, &exports, "setInterval", 2, |ctx, _, args| set_timer(ctx, args, "setInterval"))?;
    export(ctx, &exports, "clearTimeout", 1, clear_timer)?;
    export(ctx, &exports, "clearInterval", 1, clear_timer)?;
    Ok(exports)
}
