//! `new Client()` and what can be done with it.

use std::rc::Rc;

use onrush_mqtt::{Packet, Publish, QoS};

use super::{
    client::{Client, On},
    line::Waiting,
    options::{ClientOptions, ConnectOptions, SendOptions, payload, topics},
};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    modules::{
        export::export,
        promise::{named_reason, settled_later},
    },
    vu::context::vu,
};

/// A client as scripts see it.
struct ClientObject(Rc<Client>);

impl HostObject for ClientObject {
    const NAME: &'static str = "Client";
}

pub(super) fn prototype(ctx: Ctx) -> Val {
    HostClass::<ClientObject>::prototype(ctx)
}

pub(in crate::modules) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    export(ctx, &prototype, "connect", 2, connect)?;
    export(ctx, &prototype, "reconnect", 0, |ctx, this, _| {
        in_vu_code()?;
        client(this)?.reconnect(ctx, vu(), this.dup())?;
        Ok(Val::undefined())
    })?;
    export(ctx, &prototype, "end", 0, |ctx, this, _| {
        in_vu_code()?;
        client(this)?.end(ctx, vu())?;
        Ok(Val::undefined())
    })?;
    export(ctx, &prototype, "endAsync", 0, |ctx, this, _| {
        in_vu_code()?;
        client(this)?.end(ctx, vu())?;
        settled_later(ctx, Ok(Val::undefined()))
    })?;
    export(ctx, &prototype, "on", 2, on)?;
    export(ctx, &prototype, "publish", 3, |ctx, this, args| publish(ctx, this, args, "publish", false))?;
    export(ctx, &prototype, "publishAsync", 3, |ctx, this, args| publish(ctx, this, args, "publishAsync", true))?;
    export(ctx, &prototype, "subscribe", 2, |ctx, this, args| subscribe(ctx, this, args, "subscribe", false))?;
    export(ctx, &prototype, "subscribeAsync", 2, |ctx, this, args| subscribe(ctx, this, args, "subscribeAsync", true))?;
    export(ctx, &prototype, "unsubscribe", 2, |ctx, this, args| unsubscribe(ctx, this, args, "unsubscribe", false))?;
    export(ctx, &prototype, "unsubscribeAsync", 2, |ctx, this, args| {
        unsubscribe(ctx, this, args, "unsubscribeAsync", true)
    })?;
    prototype.define_getter(
        ctx,
        "connected",
        ctx.getter("connected", |_, this| Ok(Val::bool(client(this)?.is_connected())))?,
    )?;
    HostClass::<ClientObject>::set_prototype(ctx, prototype);
    Ok(())
}

fn client(this: &Handle) -> JsResult<&Rc<Client>> {
    HostClass::<ClientObject>::expect(this).map(|object| &object.0)
}

fn in_vu_code() -> JsResult<()> {
    if vu().in_init() { Err(Throw::error("using mqtt in the init context is not supported")) } else { Ok(()) }
}

/// `new Client(options?)`.
pub(super) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let options = ClientOptions::read(ctx, args.at(0))?;
    HostClass::create(ctx, ClientObject(Client::new(options)))
}

/// `connect(url, options?)` or `connect({servers, …})`.
fn connect(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    in_vu_code()?;
    let client = client(this)?;
    let goal = ConnectOptions::read(ctx, args.at(0), args.at(1))?;
    client.connect(ctx, vu(), this.dup(), goal)?;
    Ok(Val::undefined())
}

/// Called by the timer of a connection, with its client.
pub(super) fn keep_alive(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    client(args.at(0))?.ping(ctx, vu())?;
    Ok(Val::undefined())
}

fn on(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let client = client(this)?;
    let name = if args.at(0).is_set() { args.at(0).to_text(ctx)? } else { String::new() };
    let Some(kind) = On::of(&name) else { return Err(Throw::error(format!("unknown event: {name}"))) };
    if !args.at(1).is_function(ctx) {
        return Err(Throw::error(format!("the handler of {name:?} must be a function")));
    }
    client.add_handler(kind, args.at(1).dup())?;
    Ok(Val::undefined())
}

/// `publish(topic, payload, options?)`.
fn publish(ctx: Ctx, this: &Handle, args: Args<'_>, method: &'static str, is_async: bool) -> JsResult {
    in_vu_code()?;
    let client = client(this)?;
    let topic = args.at(0).to_text(ctx)?;
    if topic.is_empty() || topic.contains(['+', '#', '\0']) {
        return Err(Throw::error(format!("invalid topic {topic:?}")));
    }
    let payload = payload(ctx, args.at(1))?;
    let options = SendOptions::read(ctx, args.at(2))?;
    client.count_call(vu(), method, &options.tags);
    let (qos, retain) = (options.qos, options.retain);
    let shown = topic.clone();
    let make = move |id| Packet::Publish(Publish { duplicate: false, qos, retain, topic, id, payload });
    let sent = ask(ctx, client, method, is_async, qos > QoS::AtMostOnce, make)?;
    if sent.is_ok() {
        client.count_sent(vu(), &shown, &options.tags);
    }
    Ok(sent.unwrap_or_else(|told| told))
}

/// `subscribe(topics, options?)`.
fn subscribe(ctx: Ctx, this: &Handle, args: Args<'_>, method: &'static str, is_async: bool) -> JsResult {
    in_vu_code()?;
    let client = client(this)?;
    let topics = topics(ctx, args.at(0))?;
    let options = SendOptions::read(ctx, args.at(1))?;
    client.count_call(vu(), method, &options.tags);
    let filters = topics.into_iter().map(|topic| (topic, options.qos)).collect();
    let asked = ask(ctx, client, method, is_async, true, move |id| Packet::Subscribe { id, filters })?;
    Ok(asked.unwrap_or_else(|told| told))
}

/// `unsubscribe(topics, options?)`.
fn unsubscribe(ctx: Ctx, this: &Handle, args: Args<'_>, method: &'static str, is_async: bool) -> JsResult {
    in_vu_code()?;
    let client = client(this)?;
    let filters = topics(ctx, args.at(0))?;
    let options = SendOptions::read(ctx, args.at(1))?;
    client.count_call(vu(), method, &options.tags);
    let asked = ask(ctx, client, method, is_async, true, move |id| Packet::Unsubscribe { id, filters })?;
    Ok(asked.unwrap_or_else(|told| told))
}

/// Sends something and waits for its answer, or gives a promise of it. The inner error is what the script gets where it
/// could not be sent.
fn ask(
    ctx: Ctx,
    client: &Rc<Client>,
    method: &'static str,
    is_async: bool,
    is_answered: bool,
    make: impl FnOnce(u16) -> Packet,
) -> JsResult<Result<Val, Val>> {
    if !is_async {
        let asked = client.ask(make, is_answered.then_some(Waiting::Call(None)))?;
        let answer = match asked {
            Ok(id) => client.await_answer(id)?,
            Err(text) => Err(text),
        };
        return match answer {
            Ok(()) => Ok(Ok(Val::undefined())),
            Err(text) => {
                client.fail(ctx, vu(), method, &text)?;
                Ok(Err(Val::undefined()))
            }
        };
    }
    let (promise, resolve, reject) = ctx.promise()?;
    let asked = if is_answered {
        client.ask(make, Some(Waiting::Promise(resolve, reject, method)))?
    } else {
        let asked = client.ask(make, None)?;
        if asked.is_ok() {
            ctx.call(&resolve, Handle::UNDEFINED, &[])?;
        }
        asked
    };
    match asked {
        Ok(_) => Ok(Ok(promise)),
        Err(text) => {
            let reason = reason(ctx, method, &text)?;
            client.sample(vu(), &super::ERRORS, &[("method", method)]);
            settled_later(ctx, Err(reason)).map(Err)
        }
    }
}

/// What a script is told about something that failed.
pub(super) fn reason(ctx: Ctx, method: &str, text: &str) -> JsResult {
    let error = named_reason(ctx, "MQTTError", text)?;
    error.define(ctx, "method", Val::string(ctx, method)?)?;
    Ok(error)
}
