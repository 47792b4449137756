//! The socket that `ws.connect()` hands to its callback, and the loop that runs until it is closed.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::builtin;
use onrush_net::websocket::{CloseError, Event, Lost, Opcode, Socket, Step};

use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    modules::{
        export::export,
        handlers::Handlers,
        text_error,
        websocket::{
            line::{Line, MESSAGES_PER_TURN, SendError, pause},
            pings::Pings,
            samples::Samples,
        },
    },
    vu::{
        Vu,
        context::{self, vu},
    },
};

/// A connection and the callbacks of its script. They are forgotten when the connection is over, because what a host
/// object holds is hidden from the cycle collector.
pub(super) struct Session {
    line: Rc<Line>,
    handlers: Handlers<On>,
    timers: RefCell<Vec<Timer>>,
    pings: Pings,
    /// The close is sent, or was tried.
    is_closed: Cell<bool>,
    /// `connect()` has returned.
    is_over: Cell<bool>,
}

struct Timer {
    due: Nanos,
    /// An interval's.
    period: Option<Nanos>,
    callback: Val,
}

/// What a callback is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Open,
    Message,
    BinaryMessage,
    Ping,
    Pong,
    Close,
    Error,
}

impl On {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "open" => Self::Open,
            "message" => Self::Message,
            "binaryMessage" => Self::BinaryMessage,
            "ping" => Self::Ping,
            "pong" => Self::Pong,
            "close" => Self::Close,
            "error" => Self::Error,
            _ => return None,
        })
    }
}

impl Session {
    pub(super) fn new(socket: Socket, samples: Samples) -> Rc<Self> {
        Rc::new(Self {
            line: Line::new(socket, samples),
            handlers: Handlers::default(),
            timers: RefCell::default(),
            pings: Pings::default(),
            is_closed: Cell::new(false),
            is_over: Cell::new(false),
        })
    }

    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Calls `setup`, then what comes, until the connection is closed.
    ///
    /// # Errors
    /// What a callback throws, and when the VU is cancelled.
    pub(super) fn run(self: &Rc<Self>, ctx: Ctx, vu: &Vu, setup: &Handle) -> JsResult<()> {
        let result = self.run_until_closed(ctx, vu, setup);
        let result = match result {
            Ok(()) => Ok(()),
            Err(throw) if context::is_cut(&throw) => Err(throw),
            // The exception waits while the close is told.
            Err(throw) => {
                ctx.raise(throw);
                let thrown = ctx.take_exception_value();
                let told = self.close(ctx, GOING_AWAY);
                if told.is_err() {
                    drop(ctx.take_exception_value());
                }
                Err(ctx.throw_value(thrown))
            }
        };
        if result.as_ref().is_err_and(context::is_cut) || vu.is_halted.get() {
            self.line.send_last_close(GOING_AWAY as u16);
        } else {
            self.line.finish();
        }
        self.is_over.set(true);
        self.handlers.forget();
        drop(self.timers.take());
        result
    }

    fn run_until_closed(self: &Rc<Self>, ctx: Ctx, vu: &Vu, setup: &Handle) -> JsResult<()> {
        let object = HostClass::create(ctx, LegacySocket(self.clone()))?;
        ctx.call(setup, Handle::UNDEFINED, &[&object])?;
        self.handlers.emit(ctx, On::Open, &[])?;
        let mut messages = 0;
        while !self.is_closed.get() {
            vu.not_halted()?;
            context::alive()?;
            if let Some(error) = self.line.take_fault() {
                self.emit_error(ctx, &error)?;
            }
            let due = self.next_due();
            if let Some(callback) = due.and_then(|due| self.take_due(due)) {
                ctx.call(&callback, Handle::UNDEFINED, &[])?;
                if self.is_closed.get() {
                    break;
                }
            }
            match self.line.socket.step() {
                Ok(Step::Event(event)) => {
                    self.line.account()?;
                    self.handle(ctx, vu, event)?;
                    messages += 1;
                    if messages % MESSAGES_PER_TURN == 0 {
                        pause()?;
                    }
                }
                Ok(Step::Busy) => pause()?,
                Ok(Step::Hungry) => {
                    self.line.account()?;
                    onrush_fiber::expect_rest();
                    // Whatever ends the wait, the loop looks again.
                    let _ = self.line.socket.wait(self.next_due());
                }
                Err(lost) => self.lost(ctx, &lost)?,
            }
        }
        Ok(())
    }

    fn handle(self: &Rc<Self>, ctx: Ctx, vu: &Vu, event: Event) -> JsResult<()> {
        match event {
            Event::Text(text) => {
                self.line.samples.count_received(vu);
                if self.handlers.has(On::Message) {
                    let text = Val::text(ctx, &text)?;
                    self.handlers.emit(ctx, On::Message, &[&text])?;
                }
            }
            Event::Binary(bytes) => {
                self.line.samples.count_received(vu);
                if self.handlers.has(On::BinaryMessage) {
                    let buffer = ctx.array_buffer(&bytes)?;
                    self.handlers.emit(ctx, On::BinaryMessage, &[&buffer])?;
                }
            }
            Event::Ping(payload) => {
                let _ = self.line.send_pong(&payload)?;
                self.handlers.emit(ctx, On::Ping, &[])?;
            }
            Event::Pong(payload) => {
                if let Some(took_ms) = self.pings.end(&payload) {
                    self.line.samples.add(vu, builtin::WS_PING, took_ms);
                }
                self.handlers.emit(ctx, On::Pong, &[])?;
            }
            Event::Close(close) => self.closed_by_server(ctx, &close)?,
        }
        Ok(())
    }

    fn closed_by_server(self: &Rc<Self>, ctx: Ctx, close: &CloseError) -> JsResult<()> {
        if !matches!(close.code, 1000 | 1001) && self.handlers.has(On::Error) {
            let error = text_error::create(ctx, &close.to_string())?;
            error.define(ctx, "code", Val::int(i32::from(close.code)))?;
            error.define(ctx, "text", Val::string(ctx, &close.reason)?)?;
            self.handlers.emit(ctx, On::Error, &[&error])?;
        }
        self.close(ctx, i64::from(close.code))
    }

    /// Nothing more can be read.
    fn lost(self: &Rc<Self>, ctx: Ctx, lost: &Lost) -> JsResult<()> {
        match lost {
            Lost::End(close) => self.closed_by_server(ctx, close),
            // k6: the codec has told the server, so that the close below cannot be sent.
            Lost::Nonsense(error) if error.is_protocol() => {
                let _ = self.line.send_close(error.close_code, error.close_reason())?;
                self.close(ctx, GOING_AWAY)
            }
            Lost::Nonsense(error) => {
                self.emit_error(ctx, &error.to_string())?;
                self.close(ctx, i64::from(error.close_code))
            }
            Lost::Broken(_) => self.close(ctx, GOING_AWAY),
        }
    }

    /// Sends a close and tells the script; the first time only.
    fn close(self: &Rc<Self>, ctx: Ctx, code: i64) -> JsResult<()> {
        if self.is_closed.replace(true) {
            return Ok(());
        }
        let sent = self.line.send_close(code as u16, "")?;
        self.report(ctx, sent)?;
        self.handlers.emit(ctx, On::Close, &[&Val::number(code as f64)])
    }

    /// Tells the script what could not be sent.
    fn report(&self, ctx: Ctx, sent: Result<(), SendError>) -> JsResult<()> {
        match sent {
            Ok(()) => Ok(()),
            Err(error) => self.emit_error(ctx, &error),
        }
    }

    fn emit_error(&self, ctx: Ctx, text: &str) -> JsResult<()> {
        if !self.handlers.has(On::Error) {
            return Ok(());
        }
        let error = text_error::create(ctx, text)?;
        self.handlers.emit(ctx, On::Error, &[&error])
    }

    fn next_due(&self) -> Option<Nanos> {
        self.timers.borrow().iter().map(|timer| timer.due).min()
    }

    /// The callback of a timer that is due at `due`, if that has come.
    fn take_due(&self, due: Nanos) -> Option<Val> {
        let now = Clock::now();
        if due > now {
            return None;
        }
        let mut timers = self.timers.borrow_mut();
        let index = timers.iter().position(|timer| timer.due == due)?;
        match timers[index].period {
            Some(period) => {
                timers[index].due = Nanos(now.0.saturating_add(period.0.max(1)));
                Some(timers[index].callback.clone())
            }
            None => Some(timers.remove(index).callback),
        }
    }

    fn add_timer(&self, ctx: Ctx, name: &str, args: Args<'_>, repeats: bool) -> JsResult {
        let callback = args.at(0);
        if !callback.is_function(ctx) {
            return Err(Throw::type_error(format!("{name}'s first argument isn't a callable function")));
        }
        let delay_ms = if args.at(1).is_undefined() { 0.0 } else { args.at(1).to_number(ctx)? };
        if delay_ms.is_nan() || delay_ms <= 0.0 {
            return Err(Throw::error(format!("{name} requires a >0 timeout parameter, received {delay_ms:.2}")));
        }
        if self.is_over.get() {
            return Ok(Val::undefined());
        }
        let mut timers = self.timers.borrow_mut();
        if timers.len() >= TIMERS_MAX {
            return Err(Throw::Range(format!("a socket cannot have more than {TIMERS_MAX} timers")));
        }
        let delay = Nanos((delay_ms * 1e6).min(3e18) as u64);
        timers.push(Timer {
            due: Nanos(Clock::now().0.saturating_add(delay.0)),
            period: repeats.then_some(delay),
            callback: callback.dup(),
        });
        Ok(Val::undefined())
    }
}

/// The socket as scripts see it.
struct LegacySocket(Rc<Session>);

impl HostObject for LegacySocket {
    const NAME: &'static str = "Socket";
}

pub(in crate::modules) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    export(ctx, &prototype, "close", 1, close)?;
    export(ctx, &prototype, "on", 2, on)?;
    export(ctx, &prototype, "ping", 0, ping)?;
    export(ctx, &prototype, "send", 1, send)?;
    export(ctx, &prototype, "sendBinary", 1, send_binary)?;
    export(ctx, &prototype, "setInterval", 2, |ctx, this, args| {
        session(this)?.add_timer(ctx, "setInterval", args, true)
    })?;
    export(ctx, &prototype, "setTimeout", 2, |ctx, this, args| {
        session(this)?.add_timer(ctx, "setTimeout", args, false)
    })?;
    HostClass::<LegacySocket>::set_prototype(ctx, prototype);
    Ok(())
}

fn session(this: &Handle) -> JsResult<&Rc<Session>> {
    HostClass::<LegacySocket>::expect(this).map(|socket| &socket.0)
}

fn on(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let session = session(this)?;
    let kind = On::of(&args.at(0).to_text(ctx)?);
    // k6 accepts unknown events, and ignores what is no function.
    if let (Some(kind), true, false) = (kind, args.at(1).is_function(ctx), session.is_over.get()) {
        session.handlers.add(kind, args.at(1).dup(), "a socket", "callbacks")?;
    }
    Ok(Val::undefined())
}

fn send(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let session = session(this)?;
    let value = args.at(0);
    // k6: nothing is an empty text.
    if value.is_set() {
        match value.ascii() {
            Some(text) => transmit(ctx, session, true, text.as_bytes())?,
            None => transmit(ctx, session, true, value.to_js_string(ctx)?.bytes())?,
        }
    } else {
        transmit(ctx, session, true, b"")?;
    }
    Ok(Val::undefined())
}

fn send_binary(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let session = session(this)?;
    if args.len() == 0 {
        return Err(Throw::error("missing argument, expected ArrayBuffer"));
    }
    let Some(bytes) = args.at(0).array_buffer(ctx) else {
        let kind = kind_of(ctx, args.at(0))?;
        return Err(Throw::error(format!("expected ArrayBuffer as argument, received: {kind}")));
    };
    transmit(ctx, session, false, bytes)?;
    Ok(Val::undefined())
}

/// The name of a value's constructor, as k6's text has it.
fn kind_of(ctx: Ctx, value: &Handle) -> JsResult<String> {
    if value.is_undefined() {
        return Ok("undefined".to_owned());
    }
    if value.is_null() {
        return Ok("null".to_owned());
    }
    value.get(ctx, "constructor")?.get(ctx, "name")?.to_text(ctx)
}

fn transmit(ctx: Ctx, session: &Rc<Session>, is_text: bool, payload: &[u8]) -> JsResult<()> {
    let vu = vu();
    // k6: counted whether it can be sent or not.
    session.line.samples.count_sent(vu);
    let sent = session.line.send(is_text, payload)?;
    // k6: a send returns when it is done; what a socket's buffers hold may be underway.
    session.line.await_sent(BACKLOG_BYTES)?;
    session.report(ctx, sent)
}

fn ping(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let session = session(this)?;
    let payload = session.pings.begin();
    let sent = session.line.send_control(Opcode::Ping, payload.as_bytes())?;
    session.report(ctx, sent)?;
    Ok(Val::undefined())
}

fn close(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let session = session(this)?;
    let code = if args.len() == 0 { GOING_AWAY } else { args.at(0).to_i64(ctx)? };
    session.close(ctx, code)?;
    Ok(Val::undefined())
}

/// k6's code where the script gives none, and where it is at fault.
const GOING_AWAY: i64 = 1001;
/// Timers of a socket.
const TIMERS_MAX: usize = 10_000;
/// What may be unsent when `send()` returns.
const BACKLOG_BYTES: usize = 1 << 20;
