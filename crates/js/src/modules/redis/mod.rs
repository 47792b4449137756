//! `k6/x/redis`, and `k6/experimental/redis` of k6 1.x: a client whose commands are promises.
//!
//! `onrush_redis` speaks the protocol; connections are [`onrush_net::Wire`]s, made over the same path as those of
//! requests. `options` reads what a client is made of, `pool` has its connections, `commands` the table of its methods.

mod commands;
mod options;
mod pool;

use std::{cell::Cell, rc::Rc};

use self::{options::Options, pool::Pool};
use super::export::export_class;
use crate::embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw};

/// A client: nothing is connected before its first command.
struct Client {
    pool: Rc<Pool>,
    has_issued: Cell<bool>,
}

impl HostObject for Client {
    const NAME: &'static str = "Client";
}

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    commands::define(ctx, &prototype)?;
    HostClass::<Client>::set_prototype(ctx, prototype);
    Ok(())
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export_class(ctx, &exports, "Client", &HostClass::<Client>::prototype(ctx), construct)?;
    Ok(exports)
}

fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    if args.len() != 1 {
        return Err(Throw::error("must specify one argument"));
    }
    let options = Options::read(ctx, args.at(0))?;
    HostClass::create(ctx, Client { pool: Rc::new(Pool::new(options)), has_issued: Cell::new(false) })
}
