//! `k6/x/redis`, and `k6/experimental/redis` of k6 1.x: a client whose commands are promises.
//!
//! `onrush_redis` speaks the protocol; connections are [`onrush_net::Wire`]s, made over the same path as those of
//! requests. `options` reads what a client is made of, `servers` whom a command goes to (`cluster`, `sentinel`), `pool` has
//! the connections to one server, `commands` the table of methods.

mod cluster;
mod commands;
mod fields;
mod options;
mod pool;
mod sentinel;
mod servers;
mod tls;

use std::{cell::Cell, rc::Rc};

use self::{options::Wanted, servers::Servers};
use super::export::export_class;
use crate::embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw};

/// A client: nothing is connected before its first command.
struct Client {
    servers: Rc<Servers>,
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
    let servers = Rc::new(Servers::new(Wanted::read(ctx, args.at(0))?));
    HostClass::create(ctx, Client { servers, has_issued: Cell::new(false) })
}
