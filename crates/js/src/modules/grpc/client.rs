//! `Client`: what a script knows of a server, and its connection to it.

use std::{cell::RefCell, rc::Rc};

use onrush_grpc::Channel;

use super::{call, connect, health, load, schemas::Schemas};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::context::vu,
};

/// A client.
#[derive(Default)]
pub(super) struct Client {
    schemas: RefCell<Schemas>,
    channel: RefCell<Option<Rc<Channel>>>,
}

impl HostObject for Client {
    const NAME: &'static str = "Client";
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "load", 2, load_files)?;
    prototype.method(ctx, "loadProtoset", 1, load_protoset)?;
    prototype.method(ctx, "connect", 2, connect::connect)?;
    prototype.method(ctx, "invoke", 3, call::invoke)?;
    prototype.method(ctx, "asyncInvoke", 3, call::async_invoke)?;
    prototype.method(ctx, "healthCheck", 1, health::health_check)?;
    prototype.method(ctx, "close", 0, close)?;
    HostClass::<Client>::set_prototype(ctx, prototype);
    Ok(())
}

/// `new Client()`
pub(super) fn construct(ctx: Ctx, _: &Handle, _: Args<'_>) -> JsResult {
    HostClass::create(ctx, Client::default())
}

impl Client {
    pub(super) fn expect(this: &Handle) -> JsResult<&Self> {
        HostClass::<Self>::expect(this)
    }

    pub(super) fn schemas(&self) -> Schemas {
        self.schemas.borrow().clone()
    }

    pub(super) fn learn(&self, schema: std::sync::Arc<onrush_grpc::Schema>) {
        self.schemas.borrow_mut().add(schema);
    }

    /// Its connection, if it has one.
    pub(super) fn channel(&self) -> Option<Rc<Channel>> {
        self.channel.borrow().clone()
    }

    /// Gives it another connection.
    pub(super) fn set_channel(&self, channel: Rc<Channel>) {
        // k6: calls of the one before go on.
        drop(self.channel.replace(Some(channel)));
    }
}

fn load_files(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let (vu, client) = (vu(), Client::expect(this)?);
    if !vu.in_init() {
        return Err(Throw::error("load must be called in the init context"));
    }
    let schema = load::files(ctx, vu, args)?;
    client.learn(schema.clone());
    load::described(ctx, &schema)
}

fn load_protoset(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let (vu, client) = (vu(), Client::expect(this)?);
    if !vu.in_init() {
        return Err(Throw::error("load must be called in the init context"));
    }
    let schema = load::protoset(ctx, vu, args.at(0))?;
    client.learn(schema.clone());
    load::described(ctx, &schema)
}

/// Ends the connection and what is under way on it. Without one it does nothing.
fn close(_: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let channel = Client::expect(this)?.channel.take();
    if let Some(channel) = channel {
        channel.close();
    }
    Ok(Val::undefined())
}
