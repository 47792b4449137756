//! `Stream`: messages both ways, told by events.
//!
//! Two fibers of the VU serve a stream. One waits for messages for as long as the stream lives and hands each to the event
//! loop; it waits while the script is behind. The other one exists while there is something to send. Neither runs
//! JavaScript.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use bytes::Bytes;
use onrush_fiber::{Clock, FiberId, Nanos, Woke, current, park, unpark};
use onrush_grpc::{Call, Code, Request, Status, call::finish};
use onrush_metrics::{TagNode, builtin};

use super::{
    call::{NO_CONNECTION, find},
    client::Client,
    encode::{self, Specials},
    params, sample,
    schemas::{MethodRef, Schemas},
    stream_events as events,
};
use crate::{
    embed::{Args, Charge, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    log::Level,
    vu::{Vu, context, event_loop},
};

/// A stream as scripts hold it.
pub(super) struct Stream(Rc<State>);

impl HostObject for Stream {
    const NAME: &'static str = "Stream";
}

/// What the object, the fibers and the events under way share.
pub(super) struct State {
    call: Rc<Call>,
    pub(super) schemas: Schemas,
    pub(super) method: MethodRef,
    pub(super) discards_message: bool,
    pub(super) node: TagNode,
    pub(super) start: Nanos,
    deadline: Option<Nanos>,
    /// In the order they were given; forgotten when the stream is over.
    pub(super) handlers: RefCell<Vec<(events::Event, Val)>>,
    outbox: RefCell<VecDeque<Outgoing>>,
    /// Charges of what was sent, to be given back by the VU's own fiber.
    spent: RefCell<Vec<Charge>>,
    is_writing: Cell<bool>,
    /// The script has sent a message.
    has_written: Cell<bool>,
    /// The script sends nothing more.
    is_ended: Cell<bool>,
    pub(super) is_over: Cell<bool>,
    /// Events the script has not seen yet, and their bytes.
    behind: Cell<usize>,
    behind_bytes: Cell<usize>,
    waits_for_script: Cell<Option<FiberId>>,
}

/// A stream under way. When it is over, however that came about, its handlers are forgotten: they refer to the stream.
struct Open(Rc<State>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.is_over.set(true);
        self.0.forget();
    }
}

enum Outgoing {
    Message(Bytes, Charge),
    End,
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "on", 2, on)?;
    prototype.method(ctx, "write", 1, write)?;
    prototype.method(ctx, "end", 0, end)?;
    HostClass::<Stream>::set_prototype(ctx, prototype);
    Ok(())
}

/// `new Stream(client, method, params?)`
pub(super) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = context::vu();
    let invalid = |what: &str, text: &str| Throw::error(format!("invalid GRPC Stream's {what}: {text}"));
    if !args.at(0).is_set() {
        return Err(invalid("client", "empty gRPC client"));
    }
    let client = HostClass::<Client>::of(args.at(0)).ok_or_else(|| invalid("client", "not a gRPC client"))?;
    let channel = client.channel().ok_or_else(|| invalid("client", NO_CONNECTION))?;
    // k6: nothing is a text here.
    let method = args.at(1).to_text(ctx)?;
    let schemas = client.schemas();
    let method = find(&schemas, &method).map_err(|text| invalid("method", &text))?;
    let params =
        params::parse(ctx, vu, args.at(2)).map_err(|problem| problem.throw("invalid GRPC Stream's parameters: "))?;
    if params.timeout_ns == Some(0) {
        let text = "failed to create a new stream: rpc error: code = DeadlineExceeded desc = context deadline exceeded";
        return Err(Throw::error(text));
    }
    let described = method.get();
    let start = Clock::now();
    let deadline = params.timeout_ns.map(|ns| Nanos(start.0.saturating_add(ns)));
    let request =
        Request { path: &described.path, metadata: &params.metadata, deadline, is_unary: !described.is_server_stream };
    let call = channel.start(&vu.connections, &request);
    if onrush_fiber::is_cancelled() {
        return Err(Throw::Interrupted);
    }
    let call = call.map_err(|status| Throw::error(format!("failed to create a new stream: {status}")))?;
    let node =
        sample::tags(vu, params.node, &channel.options().address, described, params.name.as_deref(), channel.peer());
    sample::count(vu, node, builtin::GRPC_STREAMS);
    let state = Rc::new(State {
        call,
        schemas,
        method,
        discards_message: params.discards_message,
        node,
        start,
        deadline,
        handlers: RefCell::default(),
        outbox: RefCell::default(),
        spent: RefCell::default(),
        is_writing: Cell::new(false),
        has_written: Cell::new(false),
        is_ended: Cell::new(false),
        is_over: Cell::new(false),
        behind: Cell::new(0),
        behind_bytes: Cell::new(0),
        waits_for_script: Cell::new(None),
    });
    let object = HostClass::create(ctx, Stream(state.clone()))?;
    let ended = Open(state.clone());
    event_loop::start(
        move |vu| Ok(state.receive_all(vu)),
        move |ctx, outcome| {
            let (status, at) = outcome?;
            ended.0.finish(ctx, context::vu(), &status, at)
        },
    );
    Ok(object)
}

/// `stream.on(event, handler)`
fn on(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let state = &HostClass::<Stream>::expect(this)?.0;
    let name = args.at(0).to_text(ctx)?;
    if args.at(1).is_set() && !args.at(1).is_function(ctx) {
        let shown = args.at(1).to_text(ctx)?;
        return Err(Throw::type_error(format!(
            "could not convert function call parameter 1: could not convert {shown} to func(sobek.Value, sobek.Value) (sobek.Value, error)"
        )));
    }
    if !args.at(1).is_set() {
        return Err(Throw::error(format!("handler for \"{name}\" event isn't a callable function")));
    }
    match events::Event::named(&name) {
        Some(event) if !state.is_over.get() => state.handlers.borrow_mut().push((event, args.at(1).dup())),
        Some(_) => {}
        None => context::vu()
            .log(Level::Warn, format!("can't register {name} event handler: unknown GRPC stream's event type: {name}")),
    }
    Ok(Val::undefined())
}

/// `stream.write(message)`: it is sent later.
fn write(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let (vu, state) = (context::vu(), &HostClass::<Stream>::expect(this)?.0);
    if state.is_ended.get() || state.is_over.get() {
        return Ok(Val::undefined());
    }
    if !args.at(0).is_set() {
        vu.log(Level::Warn, "can't send empty message".to_owned());
        return Ok(Val::undefined());
    }
    drop(state.spent.take());
    let method = &state.method;
    if state.takes_no_more() {
        // k6: its text, which is that of Go's library.
        state.call.abort(Status::new(Code::INTERNAL, "SendMsg called after CloseSend".to_owned()));
        return Ok(Val::undefined());
    }
    let encoded = encode::encode(ctx, &state.schemas, &method.schema, method.get().input, args.at(0), Specials::Null)?;
    match encoded {
        Ok(mut frame) => {
            finish(&mut frame);
            let charge = Charge::take(frame.len() + size_of::<Outgoing>())?;
            // k6: what is written to a stream that is over goes nowhere, and does not count as sent.
            if !state.call.is_over() {
                state.outbox.borrow_mut().push_back(Outgoing::Message(frame.into(), charge));
            }
            state.has_written.set(true);
            if !method.get().is_client_stream {
                // That was all: the server waits for the end before it answers.
                state.outbox.borrow_mut().push_back(Outgoing::End);
            }
            state.send_out();
        }
        Err(text) => {
            let text = format!("can't serialise request object to protocol buffer: proto:\u{a0}{text}");
            state.call.abort(Status::new(Code::UNKNOWN, text));
        }
    }
    Ok(Val::undefined())
}

/// `stream.end()`: the script sends nothing more.
fn end(_: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let state = &HostClass::<Stream>::expect(this)?.0;
    if !state.is_ended.replace(true) && !state.is_over.get() && !state.takes_no_more() {
        state.outbox.borrow_mut().push_back(Outgoing::End);
        state.send_out();
    }
    Ok(Val::undefined())
}

impl State {
    /// Whether the method takes a single message, and has it.
    fn takes_no_more(&self) -> bool {
        self.has_written.get() && !self.method.get().is_client_stream
    }

    /// Waits for messages until there are no more, and takes the sample; how it ended, and when.
    fn receive_all(self: &Rc<Self>, vu: &Vu) -> (Status, Nanos) {
        let status = if self.method.get().is_server_stream { self.receive_many(vu) } else { self.receive_one(vu) };
        let at = Clock::now();
        // k6: a stream that its own timeout ends has no duration, and this status whatever the server says to that; nor has
        // one that is cut off before its server has ended it.
        if status.code == Code::DEADLINE_EXCEEDED && self.deadline.is_some_and(|deadline| deadline <= at) {
            return (Status::deadline_exceeded(), at);
        }
        if !onrush_fiber::is_cancelled() {
            sample::duration(vu, self.node, at - self.start, status.code);
        }
        (status, at)
    }

    fn receive_many(self: &Rc<Self>, vu: &Vu) -> Status {
        loop {
            // The server may say nothing for long.
            onrush_fiber::expect_rest();
            match self.call.receive() {
                Ok(Some(message)) => {
                    sample::count(vu, self.node, builtin::GRPC_STREAMS_MSGS_RECEIVED);
                    self.hand_over(vu, message);
                    if !self.wait_for_script() {
                        self.call.abort(Status::canceled());
                    }
                }
                Ok(None) => return Status::OK,
                Err(status) => return status,
            }
        }
    }

    /// A single message: as with Go's library, the script gets it when the status is known, and its sample has that.
    fn receive_one(self: &Rc<Self>, vu: &Vu) -> Status {
        onrush_fiber::expect_rest();
        let message = match self.call.receive() {
            Ok(Some(message)) => message,
            Ok(None) => return Status::OK,
            Err(status) => return status,
        };
        let status = self.call.receive().err().unwrap_or(Status::OK);
        let node = sample::with_status(vu, self.node, status.code);
        sample::count(vu, node, builtin::GRPC_STREAMS_MSGS_RECEIVED);
        if status.is_ok() {
            self.hand_over(vu, message);
        }
        status
    }

    /// Gives the script a message.
    fn hand_over(self: &Rc<Self>, vu: &Vu, message: Bytes) {
        let at = Clock::now();
        self.behind.set(self.behind.get() + 1);
        self.behind_bytes.set(self.behind_bytes.get() + message.len());
        let own = self.clone();
        event_loop::post(vu, move |ctx| {
            own.behind.set(own.behind.get() - 1);
            own.behind_bytes.set(own.behind_bytes.get() - message.len());
            if let Some(fiber) = own.waits_for_script.take() {
                unpark(fiber);
            }
            if own.is_over.get() {
                return Ok(());
            }
            if let Err(status) = events::data(ctx, &own, &message, at)? {
                own.call.abort(status);
            }
            Ok(())
        });
    }

    /// Waits until the script has caught up; false if the fiber was cancelled.
    fn wait_for_script(&self) -> bool {
        while self.behind.get() >= BEHIND_MAX || self.behind_bytes.get() >= BEHIND_BYTES_MAX {
            self.waits_for_script.set(current());
            if park(None) == Woke::Cancelled {
                return false;
            }
        }
        true
    }

    /// The last events.
    fn finish(&self, ctx: Ctx, vu: &Vu, status: &Status, at: Nanos) -> JsResult<()> {
        self.is_over.set(true);
        events::end(ctx, vu, self, status, at)
    }

    /// Lets go of what belongs to the VU's heap.
    fn forget(&self) {
        drop(self.handlers.take());
        drop(self.outbox.take());
        drop(self.spent.take());
    }

    /// Has a fiber send what waits, unless one does.
    fn send_out(self: &Rc<Self>) {
        if self.is_writing.replace(true) {
            return;
        }
        let own = self.clone();
        let sent = self.clone();
        event_loop::start(
            move |vu| {
                own.send_all(vu);
                own.is_writing.set(false);
                Ok(())
            },
            move |_, _| {
                drop(sent.spent.take());
                Ok(())
            },
        );
    }

    fn send_all(&self, vu: &Vu) {
        loop {
            let next = self.outbox.borrow_mut().pop_front();
            match next {
                None => return,
                Some(Outgoing::End) => self.call.end(),
                Some(Outgoing::Message(frame, charge)) => {
                    self.spent.borrow_mut().push(charge);
                    let is_last = matches!(self.outbox.borrow().front(), Some(Outgoing::End));
                    if is_last {
                        self.outbox.borrow_mut().pop_front();
                    }
                    // Receiving tells what went wrong.
                    if self.call.send(frame, is_last).is_ok() {
                        sample::count(vu, self.node, builtin::GRPC_STREAMS_MSGS_SENT);
                    }
                }
            }
        }
    }
}

/// Messages that wait for the script: enough that neither side waits for each.
const BEHIND_MAX: usize = 64;
const BEHIND_BYTES_MAX: usize = 1 << 20;
