//! A socket of the event loop: connecting, open, closing, closed.

use std::{
    cell::{Cell, RefCell},
    rc::{Rc, Weak},
};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::builtin;
use onrush_net::websocket::{CloseError, Event, Lost, Opcode, Step};

use super::{
    event::{Kind, event},
    object::invalid_state,
};
use crate::{
    embed::{Ctx, Exception, Handle, JsResult, Throw, Val},
    log::Level,
    modules::websocket::{
        blob::Blob,
        dial::{Dial, Dialled},
        line::{Line, pause},
        params::{Params, Style},
        pings::Pings,
        samples::{Facts, Samples},
    },
    vu::{
        Vu, context,
        event_loop::{self, Source},
    },
};

/// A socket and the handlers of its script. They, and the object that scripts see, are let go of when it is closed,
/// because what a host object holds is hidden from the cycle collector.
pub(super) struct WebSocket {
    /// For the event loop, which owns it while it is open.
    own: Weak<Self>,
    url: String,
    ready: Cell<Ready>,
    gives_array_buffers: Cell<bool>,
    /// What events name as their target; there until the socket is closed.
    object: RefCell<Option<Val>>,
    handlers: RefCell<Vec<Handler>>,
    line: RefCell<Option<Rc<Line>>>,
    /// Bytes of messages given to `send()` since the event loop last found everything sent.
    buffered: Cell<usize>,
    /// A handler has thrown.
    has_failed: Cell<bool>,
    pings: Pings,
    agreed: RefCell<Agreed>,
    start: Nanos,
}

/// The numbers scripts see as `readyState`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ready {
    Connecting = 0,
    Open = 1,
    Closing = 2,
    Closed = 3,
}

struct Handler {
    kind: Kind,
    /// Set as a property: there is one of each kind, and it comes first.
    is_property: bool,
    function: Val,
}

/// What the handshake has led to.
#[derive(Default)]
struct Agreed {
    protocol: String,
    extensions: Vec<String>,
}

impl WebSocket {
    pub(super) fn new(_: &Vu, url: String) -> Rc<Self> {
        Rc::new_cyclic(|own| Self {
            own: own.clone(),
            url,
            ready: Cell::new(Ready::Connecting),
            gives_array_buffers: Cell::new(false),
            object: RefCell::new(None),
            handlers: RefCell::default(),
            line: RefCell::default(),
            buffered: Cell::new(0),
            has_failed: Cell::new(false),
            pings: Pings::default(),
            agreed: RefCell::default(),
            start: Clock::now(),
        })
    }

    /// Begins to connect, on a child fiber.
    pub(super) fn connect(self: &Rc<Self>, vu: &Vu, object: Val, params: Params, protocols: &[String]) {
        *self.object.borrow_mut() = Some(object);
        let dial = Dial::new(vu, &self.url, &params, protocols);
        let (connecting, socket, start) = (Connecting(self.clone()), self.clone(), self.start);
        event_loop::start(
            move |vu| {
                let dialled = match dial {
                    Ok(dial) => dial.run(vu),
                    Err(text) => Dialled::refused(start, text),
                };
                let samples = socket.measured(vu, &params, &dialled);
                Ok((dialled, samples))
            },
            move |ctx, made| {
                let (dialled, samples) = made?;
                connecting.0.connected(ctx, context::vu(), dialled, samples)
            },
        );
    }

    /// Counts the session when it begins: the iteration may end before the script hears of it.
    fn measured(&self, vu: &Vu, params: &Params, dialled: &Dialled) -> Samples {
        let protocol = dialled.protocol();
        let facts = Facts {
            url: &self.url,
            name: params.name.as_deref(),
            status: dialled.response.as_ref().map(|response| response.status),
            protocol: &protocol,
            remote: dialled.remote,
        };
        let samples = Samples::new(vu, params.node, Style::Events, &facts);
        // A VU that is cut while it waits makes no sample.
        if !onrush_fiber::is_cancelled() {
            samples.add(vu, builtin::WS_SESSIONS, 1.0);
            samples.add(vu, builtin::WS_CONNECTING, dialled.took_ms());
        }
        samples
    }

    /// The handshake is over. Runs on the VU's fiber.
    fn connected(self: &Rc<Self>, ctx: Ctx, vu: &Vu, dialled: Dialled, samples: Samples) -> JsResult<()> {
        if let Some(response) = &dialled.response {
            let values = response.headers.get_all("sec-websocket-extensions");
            let extensions = values.map(|value| String::from_utf8_lossy(value).into_owned()).collect();
            *self.agreed.borrow_mut() = Agreed { protocol: dialled.protocol(), extensions };
        }
        let is_wanted = self.ready.get() == Ready::Connecting;
        match dialled.outcome {
            Ok(socket) if is_wanted => {
                let line = Line::new(socket, samples);
                // The VU's fiber runs this, and waits for nothing else of this wire.
                let noticed = line.socket.notify();
                *self.line.borrow_mut() = Some(line);
                self.ready.set(Ready::Open);
                vu.event_loop.add_source(self.clone());
                if let Err(error) = noticed {
                    return self.fail(ctx, vu, &error.detail);
                }
                self.emit_guarded(ctx, vu, Kind::Open, |_| Ok(()))
            }
            // The script has closed it before it was open.
            Ok(_) => self.ended(ctx, vu, Some("WebSocket is closed before the connection is established"), None),
            Err(text) => self.ended(ctx, vu, Some(&text), None),
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn ready(&self) -> Ready {
        self.ready.get()
    }

    pub(super) fn buffered_bytes(&self) -> usize {
        self.buffered.get()
    }

    pub(super) fn protocol(&self) -> String {
        self.agreed.borrow().protocol.clone()
    }

    pub(super) fn extensions(&self) -> Vec<String> {
        self.agreed.borrow().extensions.clone()
    }

    pub(super) fn binary_type(&self) -> &'static str {
        if self.gives_array_buffers.get() { "arraybuffer" } else { "blob" }
    }

    pub(super) fn set_array_buffers(&self, given: bool) {
        self.gives_array_buffers.set(given);
    }

    /// The handler of a property; null if there is none.
    pub(super) fn handler(&self, kind: Kind) -> Val {
        let handlers = self.handlers.borrow();
        let set = handlers.iter().find(|handler| handler.is_property && handler.kind == kind);
        set.map_or_else(Val::null, |handler| handler.function.clone())
    }

    pub(super) fn set_handler(&self, kind: Kind, function: Option<Val>) {
        let mut handlers = self.handlers.borrow_mut();
        let set = handlers.iter().position(|handler| handler.is_property && handler.kind == kind);
        let removed = set.map(|index| handlers.remove(index));
        if let Some(function) = function.filter(|_| self.ready.get() != Ready::Closed) {
            handlers.push(Handler { kind, is_property: true, function });
        }
        drop(handlers);
        drop(removed);
    }

    pub(super) fn add_handler(&self, kind: Kind, function: Val) -> JsResult<()> {
        if self.ready.get() == Ready::Closed {
            return Ok(());
        }
        let mut handlers = self.handlers.borrow_mut();
        if handlers.len() >= HANDLERS_MAX {
            return Err(Throw::Range(format!("a WebSocket cannot have more than {HANDLERS_MAX} handlers")));
        }
        handlers.push(Handler { kind, is_property: false, function });
        Ok(())
    }

    /// Sends a message. What goes wrong is an event.
    pub(super) fn send(&self, vu: &Vu, is_text: bool, payload: &[u8]) -> JsResult<()> {
        let Some(line) = self.line() else { return Err(invalid_state()) };
        self.buffered.set(self.buffered.get() + payload.len());
        line.samples.count_sent(vu);
        let sent = line.send(is_text, payload)?;
        line.note_fault(sent);
        Ok(())
    }

    pub(super) fn ping(&self, _: Ctx, vu: &Vu) -> JsResult {
        let line = self.line().filter(|_| self.ready.get() == Ready::Open).ok_or_else(invalid_state)?;
        let payload = self.pings.begin();
        // k6 counts it with the messages.
        line.samples.count_sent(vu);
        let sent = line.send_control(Opcode::Ping, payload.as_bytes())?;
        line.note_fault(sent);
        Ok(Val::undefined())
    }

    /// Asks for the end; it has come when the server answers.
    pub(super) fn close(&self, vu: &Vu, code: u16, reason: &str) -> JsResult<()> {
        self.ready.set(Ready::Closing);
        let Some(line) = self.line() else { return Ok(()) };
        // k6 counts it with the messages.
        line.samples.count_sent(vu);
        let sent = line.send_close(code, reason)?;
        line.note_fault(sent);
        Ok(())
    }

    fn line(&self) -> Option<Rc<Line>> {
        self.line.borrow().clone()
    }

    fn handle(&self, ctx: Ctx, vu: &Vu, line: &Rc<Line>, incoming: Event) -> JsResult<()> {
        match incoming {
            Event::Text(payload) => self.message(ctx, vu, line, |ctx| Val::text(ctx, &payload)),
            Event::Binary(payload) => self.message(ctx, vu, line, |ctx| {
                if self.gives_array_buffers.get() {
                    ctx.array_buffer(&payload)
                } else {
                    Blob::create(ctx, payload.clone().into(), String::new())
                }
            }),
            Event::Ping(payload) => {
                if !line.is_close_sent() {
                    let sent = line.send_pong(&payload)?;
                    line.note_fault(sent);
                }
                self.emit(ctx, Kind::Ping, |_| Ok(()))
            }
            Event::Pong(payload) => {
                match self.pings.end(&payload) {
                    Some(took_ms) => line.samples.add(vu, builtin::WS_PING, took_ms),
                    None => {
                        let shown = String::from_utf8_lossy(&payload);
                        vu.log(Level::Warn, format!("received pong for unknown ping ID {shown}"));
                    }
                }
                self.emit(ctx, Kind::Pong, |_| Ok(()))
            }
            Event::Close(close) => self.closed(ctx, vu, &close),
        }
    }

    fn message(&self, ctx: Ctx, vu: &Vu, line: &Line, data: impl FnOnce(Ctx) -> JsResult) -> JsResult<()> {
        // k6: what comes while the script waits for the end is dropped.
        if self.ready.get() != Ready::Open {
            return Ok(());
        }
        line.samples.count_received(vu);
        if !self.has(Kind::Message) {
            return Ok(());
        }
        self.emit_guarded(ctx, vu, Kind::Message, |event| {
            event.define(ctx, "data", data(ctx)?)?;
            event.define(ctx, "origin", Val::string(ctx, &self.url)?)
        })
    }

    /// The server has closed the connection, or it is gone.
    fn closed(&self, ctx: Ctx, vu: &Vu, close: &CloseError) -> JsResult<()> {
        if let Some(line) = self.line() {
            // It is told what it has said; whether that arrives does not matter any more.
            let _ = line.send_close(close.code, "")?;
        }
        let text = (!matches!(close.code, 1000 | 1001)).then(|| close.to_string());
        self.ended(ctx, vu, text.as_deref(), Some((close.code, &close.reason)))
    }

    fn lost(&self, ctx: Ctx, vu: &Vu, lost: &Lost) -> JsResult<()> {
        match lost {
            Lost::End(close) => self.closed(ctx, vu, close),
            Lost::Nonsense(error) => {
                if let Some(line) = self.line() {
                    let _ = line.send_close(error.close_code, error.close_reason())?;
                }
                // k6 says nothing about what breaks the protocol.
                let text = (!error.is_protocol()).then(|| error.to_string());
                self.ended(ctx, vu, text.as_deref(), None)
            }
            Lost::Broken(_) => self.ended(ctx, vu, None, None),
        }
    }

    /// Something could not be sent.
    fn fail(&self, ctx: Ctx, vu: &Vu, text: &str) -> JsResult<()> {
        self.ended(ctx, vu, Some(text), None)
    }

    /// It is over: tells the script, and lets go of everything.
    fn ended(&self, ctx: Ctx, vu: &Vu, error: Option<&str>, close: Option<(u16, &str)>) -> JsResult<()> {
        self.ready.set(Ready::Closed);
        let told = self.tell_end(ctx, error, close);
        // k6: an iteration that fails makes no sample any more.
        if let (Some(line), Ok(()), false) = (self.line(), &told, self.has_failed.get()) {
            line.samples.add(vu, builtin::WS_SESSION_DURATION, (Clock::now() - self.start).as_millis_f64());
        }
        self.forget();
        if let Some(own) = self.own.upgrade() {
            let source: Rc<dyn Source> = own;
            vu.event_loop.remove_source(&source);
        }
        told
    }

    fn tell_end(&self, ctx: Ctx, error: Option<&str>, close: Option<(u16, &str)>) -> JsResult<()> {
        if let Some(text) = error {
            self.emit(ctx, Kind::Error, |event| event.define(ctx, "error", Val::string(ctx, text)?))?;
        }
        self.emit(ctx, Kind::Close, |event| {
            if let Some((code, _)) = close {
                event.define(ctx, "code", Val::int(i32::from(code)))?;
            }
            event.define(ctx, "reason", Val::string(ctx, close.map_or("", |(_, reason)| reason))?)
        })
    }

    /// Lets go of the connection and of what belongs to the script.
    fn forget(&self) {
        if let Some(line) = self.line.take() {
            line.release();
        }
        drop((self.handlers.take(), self.object.take()));
    }

    fn has(&self, kind: Kind) -> bool {
        self.handlers.borrow().iter().any(|handler| handler.kind == kind)
    }

    /// Calls the handlers of something: the property's first, then the others in the order they were added. `fill` adds
    /// to the event what its kind has.
    fn emit(&self, ctx: Ctx, kind: Kind, fill: impl FnOnce(&Handle) -> JsResult<()>) -> JsResult<()> {
        if !self.has(kind) {
            return Ok(());
        }
        let functions: Vec<Val> = {
            let handlers = self.handlers.borrow();
            let of = |is_property| {
                handlers.iter().filter(move |handler| handler.kind == kind && handler.is_property == is_property)
            };
            of(true).chain(of(false)).map(|handler| handler.function.clone()).collect()
        };
        let object = self.object.borrow().as_ref().map_or_else(Val::undefined, Val::clone);
        let event = event(ctx, kind, &object)?;
        fill(&event)?;
        for function in functions {
            ctx.call(&function, Handle::UNDEFINED, &[&event])?;
        }
        Ok(())
    }

    /// The same for handlers whose exceptions end the connection as well as the iteration.
    fn emit_guarded(&self, ctx: Ctx, vu: &Vu, kind: Kind, fill: impl FnOnce(&Handle) -> JsResult<()>) -> JsResult<()> {
        let Err(throw) = self.emit(ctx, kind, fill) else { return Ok(()) };
        if vu.is_halted.get() || context::is_cut(&throw) {
            return Err(throw);
        }
        self.has_failed.set(true);
        ctx.raise(throw);
        let thrown = ctx.take_exception_value();
        if let Some(line) = self.line() {
            line.send_last_close(CLOSE_AFTER_EXCEPTION);
        }
        let text = Exception::describe(ctx, &thrown).message;
        if self.ended(ctx, vu, Some(&text), None).is_err() {
            drop(ctx.take_exception_value());
        }
        Err(ctx.throw_value(thrown))
    }
}

/// A socket whose handshake is under way. If the call ends before that has, the socket is let go of: it refers to itself.
struct Connecting(Rc<WebSocket>);

impl Drop for Connecting {
    fn drop(&mut self) {
        let socket = &self.0;
        if socket.line.borrow().is_none() {
            socket.ready.set(Ready::Closed);
            socket.forget();
        }
    }
}

impl Source for WebSocket {
    fn turn(self: Rc<Self>, ctx: Ctx, vu: &Vu) -> JsResult<bool> {
        let Some(line) = self.line() else { return Ok(false) };
        if let Some(text) = line.take_fault() {
            self.fail(ctx, vu, &text)?;
            return Ok(true);
        }
        if self.buffered.get() > 0 && line.socket.unsent_bytes() == 0 {
            self.buffered.set(0);
        }
        if !line.socket.is_ready() {
            return Ok(false);
        }
        match line.socket.step() {
            Ok(Step::Event(event)) => {
                line.account()?;
                self.handle(ctx, vu, &line, event)?;
            }
            Ok(Step::Busy) => pause()?,
            Ok(Step::Hungry) => {
                line.account()?;
                return Ok(false);
            }
            Err(lost) => self.lost(ctx, vu, &lost)?,
        }
        Ok(true)
    }

    fn abandon(&self, _: &Vu) {
        self.ready.set(Ready::Closed);
        if let Some(line) = self.line() {
            line.send_last_close(CLOSE_OF_ABANDONED);
        }
        self.forget();
    }
}

/// k6's code for a connection that the end of its iteration cuts.
const CLOSE_OF_ABANDONED: u16 = 1000;
/// The code for one whose script has failed.
const CLOSE_AFTER_EXCEPTION: u16 = 1000;
/// Handlers of a socket; each keeps a closure alive.
const HANDLERS_MAX: usize = 10_000;
