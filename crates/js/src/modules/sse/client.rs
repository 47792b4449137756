//! The client that `sse.open()` hands to its callback: callbacks for events, and a way to end it.

use std::{cell::Cell, rc::Rc};

use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    modules::{export::export, handlers::Handlers, text_error},
};

/// The callbacks of a stream. They are forgotten when it is over, because what a host object holds is hidden from the cycle
/// collector.
#[derive(Default)]
pub(super) struct Client {
    pub(super) handlers: Handlers<On>,
    is_closed: Cell<bool>,
}

/// What a callback is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    Open,
    Event,
    /// A piece of the body, whatever is in it.
    Chunk,
    Error,
}

impl On {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "open" => Self::Open,
            "event" => Self::Event,
            "chunk" => Self::Chunk,
            "error" => Self::Error,
            _ => return None,
        })
    }
}

/// The client as scripts see it.
struct ClientObject(Rc<Client>);

impl HostObject for ClientObject {
    const NAME: &'static str = "Client";
}

impl Client {
    /// A client, and the object that scripts see.
    pub(super) fn create(ctx: Ctx) -> JsResult<(Rc<Self>, Val)> {
        let client = Rc::new(Self::default());
        let object = HostClass::create(ctx, ClientObject(client.clone()))?;
        Ok((client, object))
    }

    /// The script, or what it called, has ended the stream.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    pub(super) fn close(&self) {
        self.is_closed.set(true);
    }

    pub(super) fn emit_error(&self, ctx: Ctx, text: &str) -> JsResult<()> {
        if !self.handlers.has(On::Error) {
            return Ok(());
        }
        let error = text_error::create(ctx, text)?;
        self.handlers.emit(ctx, On::Error, &[&error])
    }
}

pub(in crate::modules) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    export(ctx, &prototype, "close", 0, |_, this, _| {
        client(this)?.close();
        Ok(Val::undefined())
    })?;
    export(ctx, &prototype, "on", 2, on)?;
    HostClass::<ClientObject>::set_prototype(ctx, prototype);
    Ok(())
}

fn client(this: &Handle) -> JsResult<&Rc<Client>> {
    HostClass::<ClientObject>::expect(this).map(|client| &client.0)
}

fn on(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let client = client(this)?;
    let name = if args.at(0).is_set() { args.at(0).to_text(ctx)? } else { String::new() };
    let Some(kind) = On::of(&name) else { return Err(Throw::error(format!("unknown event: {name}"))) };
    if args.at(1).is_function(ctx) && !client.is_closed() {
        client.handlers.add(kind, args.at(1).dup(), "a client", "callbacks")?;
    }
    Ok(Val::undefined())
}
