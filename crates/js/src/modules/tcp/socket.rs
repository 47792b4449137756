//! A socket of the event loop: opening, open, and over.

use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    rc::{Rc, Weak},
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::TagNode;
use onrush_net::{Http2Route, NetError, Timings, Url, Wire};

use super::{
    CONNECTING, DURATION, ERRORS, PARTIAL_WRITES, READS, RESOLVING, SOCKETS, TIMEOUTS, WRITES,
    object::{reason, timed_out},
};
use crate::{
    embed::{Charge, Ctx, Handle, JsResult, Val},
    modules::{
        handlers::{Handlers, call_all},
        own_metrics::{self, OwnMetric},
        promise::settled_later,
    },
    vu::{
        Vu, context,
        context::with_named,
        event_loop::{self, Source},
    },
};

/// A socket and the handlers of its script. They, and the object that scripts see, are let go of when it is closed,
/// because what a host object holds is hidden from the cycle collector.
pub(super) struct Socket {
    own: Weak<Self>,
    tags: Vec<(String, String)>,
    ready: Cell<Ready>,
    /// Scripts see it as long as it is open, whether they keep it or not.
    object: RefCell<Option<Val>>,
    handlers: Handlers<On>,
    wire: RefCell<Option<Rc<Wire>>>,
    node: Cell<Option<TagNode>>,
    ends: Cell<(Option<SocketAddr>, Option<SocketAddr>)>,
    bytes_read: Cell<u64>,
    bytes_written: Cell<u64>,
    opened: Cell<Nanos>,
    /// When something was read or written last.
    active: Cell<Nanos>,
    timeout: Cell<Option<Nanos>>,
    timer: Cell<Option<u32>>,
}

/// Where to, and the tags of its samples.
pub(super) struct Goal {
    pub(super) url: Url,
    pub(super) node: TagNode,
}

/// What a handler is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    Connect,
    Data,
    Close,
    Error,
    Timeout,
}

impl On {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "connect" => Self::Connect,
            "data" => Self::Data,
            "close" => Self::Close,
            "error" => Self::Error,
            "timeout" => Self::Timeout,
            _ => return None,
        })
    }
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ready {
    New,
    Opening,
    Open,
    /// The server has ended it, or it could not be reached.
    Disconnected,
    Destroyed,
}

impl Ready {
    /// What scripts see.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::New | Self::Disconnected => "disconnected",
            Self::Opening => "opening",
            Self::Open => "open",
            Self::Destroyed => "destroyed",
        }
    }
}

impl Socket {
    pub(super) fn new(_: &Vu, tags: Vec<(String, String)>) -> Rc<Self> {
        Rc::new_cyclic(|own| Self {
            own: own.clone(),
            tags,
            ready: Cell::new(Ready::New),
            object: RefCell::default(),
            handlers: Handlers::default(),
            wire: RefCell::default(),
            node: Cell::new(None),
            ends: Cell::new((None, None)),
            bytes_read: Cell::new(0),
            bytes_written: Cell::new(0),
            opened: Cell::new(Nanos(0)),
            active: Cell::new(Nanos(0)),
            timeout: Cell::new(None),
            timer: Cell::new(None),
        })
    }

    pub(super) fn tags(&self) -> &[(String, String)] {
        &self.tags
    }

    pub(super) fn ready(&self) -> Ready {
        self.ready.get()
    }

    pub(super) fn is_new(&self) -> bool {
        self.ready.get() == Ready::New
    }

    pub(super) fn is_open(&self) -> bool {
        self.ready.get() == Ready::Open
    }

    fn is_over(&self) -> bool {
        matches!(self.ready.get(), Ready::Disconnected | Ready::Destroyed)
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }

    pub(super) fn bytes_written(&self) -> u64 {
        self.bytes_written.get()
    }

    /// Our address and the peer's.
    pub(super) fn ends(&self) -> (Option<SocketAddr>, Option<SocketAddr>) {
        self.ends.get()
    }

    pub(super) fn add_handler(&self, on: On, handler: Val) -> JsResult<()> {
        if self.is_over() {
            return Ok(());
        }
        self.handlers.add(on, handler, "a socket", "handlers")
    }

    /// Begins to connect, on a child fiber; what comes of it is a promise.
    pub(super) fn connect(&self, ctx: Ctx, object: Val, goal: Goal) -> JsResult {
        self.ready.set(Ready::Opening);
        self.node.set(Some(goal.node));
        self.opened.set(Clock::now());
        *self.object.borrow_mut() = Some(object);
        let (promise, resolve, reject) = ctx.promise()?;
        let Some(own) = self.own.upgrade() else { return Ok(promise) };
        event_loop::start(
            move |vu| {
                let deadline = Clock::now() + CONNECT_TIMEOUT;
                let way = Http2Route { is_direct: true, ..Http2Route::default() };
                Ok(vu.connections.connect_wire_measured(&goal.url, &way, Some(deadline)))
            },
            move |ctx, outcome| {
                let vu = context::vu();
                let settled = match own.connected(vu, outcome?) {
                    Ok(()) => {
                        ctx.call(&resolve, Handle::UNDEFINED, &[])?;
                        return own.emit(ctx, On::Connect, &[]);
                    }
                    Err(text) => reason(ctx, "connect", &text)?,
                };
                ctx.call(&reject, Handle::UNDEFINED, &[&settled])?;
                // A script that destroys it has been told enough.
                if own.ready.get() == Ready::Destroyed { Ok(()) } else { own.fail(ctx, vu, "connect", &settled) }
            },
        );
        Ok(promise)
    }

    /// The connection is there, or is not. The error is for the script.
    fn connected(self: &Rc<Self>, vu: &Vu, outcome: Result<(Wire, Timings), NetError>) -> Result<(), String> {
        self.sample(vu, &SOCKETS, 1.0);
        let (wire, timings) = outcome.map_err(|error| error.detail.clone())?;
        let peer = wire.peer();
        if let Some(node) = self.node.get() {
            let ip = peer.ip().to_string();
            self.node.set(Some(with_named(&mut vu.thread.shard.borrow_mut(), node, "ip", &ip)));
        }
        let resolving = timings.blocked - timings.connecting - timings.tls_handshaking;
        self.sample(vu, &RESOLVING, resolving.max(0.0));
        self.sample(vu, &CONNECTING, timings.connecting);
        if self.ready.get() != Ready::Opening {
            return Err("the socket was destroyed before it was connected".to_owned());
        }
        // The VU's fiber runs this, and waits for nothing else of this wire.
        wire.notify_readable().map_err(|error| error.detail.clone())?;
        self.ends.set((wire.local(), Some(peer)));
        *self.wire.borrow_mut() = Some(Rc::new(wire));
        self.ready.set(Ready::Open);
        self.active.set(Clock::now());
        vu.event_loop.add_source(self.clone());
        self.arm(vu);
        Ok(())
    }

    /// Sends bytes; the promise is fulfilled when they are handed over to the system. `tagged` adds tags of the call.
    pub(super) fn write(
        self: &Rc<Self>,
        ctx: Ctx,
        bytes: Vec<u8>,
        tagged: &dyn Fn(&Vu, TagNode) -> TagNode,
    ) -> JsResult {
        let vu = context::vu();
        let wire = self.wire.borrow().clone();
        let (Some(wire), Some(node), Ready::Open) = (wire, self.node.get(), self.ready.get()) else {
            let reason = reason(ctx, "write", "the socket is not connected")?;
            return settled_later(ctx, Err(reason));
        };
        let node = tagged(vu, node);
        own_metrics::add(vu, own_metrics::id(&WRITES)?, node, 1.0);
        self.active.set(Clock::now());
        self.arm(vu);
        let count = bytes.len() as u64;
        match wire.try_write(&bytes) {
            Ok(true) => {
                self.bytes_written.set(self.bytes_written.get() + count);
                settled_later(ctx, Ok(Val::undefined()))
            }
            Ok(false) => {
                own_metrics::add(vu, own_metrics::id(&PARTIAL_WRITES)?, node, 1.0);
                let charge = Charge::take(bytes.len().min(wire.unsent_bytes()))?;
                self.finish_write(ctx, wire, count, charge)
            }
            Err(error) => {
                let reason = reason(ctx, "write", &error.detail)?;
                self.fail(ctx, vu, "write", &reason)?;
                settled_later(ctx, Err(reason))
            }
        }
    }

    /// Waits on a child fiber until the server takes what is left.
    fn finish_write(self: &Rc<Self>, ctx: Ctx, wire: Rc<Wire>, count: u64, charge: Charge) -> JsResult {
        let (promise, resolve, reject) = ctx.promise()?;
        let own = self.clone();
        event_loop::start(
            move |_| Ok(wire.finish_writes(None)),
            move |ctx, outcome| {
                drop(charge);
                let written = outcome?;
                let vu = context::vu();
                match written {
                    Ok(()) => {
                        own.bytes_written.set(own.bytes_written.get() + count);
                        own.active.set(Clock::now());
                        ctx.call(&resolve, Handle::UNDEFINED, &[]).map(drop)
                    }
                    Err(error) => {
                        let is_open = own.is_open();
                        let text = if is_open { error.detail.as_str() } else { "the socket was closed" };
                        let reason = reason(ctx, "write", text)?;
                        ctx.call(&reject, Handle::UNDEFINED, &[&reason])?;
                        if is_open { own.fail(ctx, vu, "write", &reason) } else { Ok(()) }
                    }
                }
            },
        );
        Ok(promise)
    }

    /// Ends it.
    pub(super) fn destroy(self: &Rc<Self>, vu: &Vu) {
        if self.is_over() {
            return;
        }
        let was_open = self.is_open();
        let handlers = self.end(vu, Ready::Destroyed);
        if was_open {
            // Handlers run after the code that runs now, as they do for what the server does.
            event_loop::later(move |ctx| call_all(ctx, &handlers, &[]));
        }
    }

    /// An event after so many milliseconds without data; none for 0.
    pub(super) fn set_timeout(self: &Rc<Self>, ctx: Ctx, vu: &Vu, object: &Handle, ms: f64) -> JsResult<()> {
        self.stop_timer(vu);
        self.timeout.set((ms > 0.0).then(|| Nanos((ms * 1e6).min(3e18) as u64)));
        self.active.set(Clock::now());
        if self.is_open() { self.start_timer(ctx, vu, object) } else { Ok(()) }
    }

    /// Starts the timer unless it runs.
    fn arm(&self, vu: &Vu) {
        if self.timer.get().is_some() || self.timeout.get().is_none() {
            return;
        }
        let object = self.object.borrow().as_ref().map(|object| object.dup());
        if let Some(object) = object
            && self.start_timer(vu.ctx(), vu, &object).is_err()
        {
            // No memory for a timer: the next use of the socket fails as well.
            drop(vu.ctx().take_exception_value());
        }
    }

    fn start_timer(&self, ctx: Ctx, vu: &Vu, object: &Handle) -> JsResult<()> {
        let Some(timeout) = self.timeout.get() else { return Ok(()) };
        let due = Nanos(self.active.get().0.saturating_add(timeout.0));
        let left = Nanos(due.0.saturating_sub(Clock::now().0)).as_millis_f64();
        let callback = ctx.function("timeout", 1, timed_out)?;
        let timer = vu.event_loop.add_timer(callback, Box::new([object.dup()]), left, false)?;
        self.timer.set(Some(timer));
        Ok(())
    }

    fn stop_timer(&self, vu: &Vu) {
        if let Some(timer) = self.timer.take() {
            vu.event_loop.clear_timer(timer);
        }
    }

    /// The timer has run out: so has the time, unless something has happened since it was started.
    pub(super) fn timer_is_due(self: &Rc<Self>, ctx: Ctx, vu: &Vu, object: &Handle) -> JsResult<()> {
        self.timer.set(None);
        let (Some(timeout), true) = (self.timeout.get(), self.is_open()) else { return Ok(()) };
        if Clock::now().0 < self.active.get().0.saturating_add(timeout.0) {
            return self.start_timer(ctx, vu, object);
        }
        self.sample(vu, &TIMEOUTS, 1.0);
        self.emit(ctx, On::Timeout, &[])
    }

    fn sample(&self, vu: &Vu, metric: &OwnMetric, value: f64) {
        if let (Some(node), Ok(metric)) = (self.node.get(), own_metrics::id(metric)) {
            own_metrics::add(vu, metric, node, value);
        }
    }

    /// Something failed: tells the script, then that it is over.
    fn fail(self: &Rc<Self>, ctx: Ctx, vu: &Vu, method: &str, reason: &Handle) -> JsResult<()> {
        self.sample(vu, &ERRORS, 1.0);
        let told = self.emit(ctx, On::Error, &[reason]);
        if self.is_over() {
            return told;
        }
        let handlers = self.end(vu, Ready::Disconnected);
        told?;
        // One that was never connected is not closed.
        if method == "connect" { Ok(()) } else { call_all(ctx, &handlers, &[]) }
    }

    /// It is over: lets go of everything. The handlers of its close, for who has to tell them.
    fn end(&self, vu: &Vu, ready: Ready) -> Vec<Val> {
        if self.is_open() {
            self.sample(vu, &DURATION, (Clock::now() - self.opened.get()).as_millis_f64());
        }
        self.ready.set(ready);
        self.stop_timer(vu);
        let wire = self.wire.take();
        if let Some(wire) = wire.filter(|wire| wire.unsent_bytes() > 0) {
            // Who waits to write need not wait for a peer that does not read.
            wire.shut_down();
        }
        drop(self.object.take());
        if let Some(own) = self.own.upgrade() {
            let source: Rc<dyn Source> = own;
            vu.event_loop.remove_source(&source);
        }
        self.handlers.take_of(On::Close)
    }

    fn emit(&self, ctx: Ctx, on: On, args: &[&Handle]) -> JsResult<()> {
        // A copy: handlers may add others, or end the socket.
        call_all(ctx, &self.handlers.of(on), args)
    }

    fn receive(self: &Rc<Self>, ctx: Ctx, vu: &Vu, wire: &Wire) -> JsResult<bool> {
        let mut bytes = Vec::new();
        let read = wire.try_read(&mut bytes);
        if !bytes.is_empty() {
            self.bytes_read.set(self.bytes_read.get() + bytes.len() as u64);
            self.active.set(Clock::now());
            self.arm(vu);
            self.sample(vu, &READS, 1.0);
            if self.handlers.has(On::Data) {
                let array = ctx.uint8_array(&bytes)?;
                drop(bytes);
                self.emit(ctx, On::Data, &[&array])?;
            }
            return Ok(true);
        }
        match read {
            Ok(None) => Ok(false),
            Ok(Some(true)) => Ok(true),
            Ok(Some(false)) => {
                let handlers = self.end(vu, Ready::Disconnected);
                call_all(ctx, &handlers, &[])?;
                Ok(true)
            }
            Err(error) => {
                let reason = reason(ctx, "read", &error.detail)?;
                self.fail(ctx, vu, "read", &reason)?;
                Ok(true)
            }
        }
    }
}

impl Source for Socket {
    fn turn(self: Rc<Self>, ctx: Ctx, vu: &Vu) -> JsResult<bool> {
        let wire = self.wire.borrow().clone();
        match wire {
            Some(wire) if wire.is_readable() => self.receive(ctx, vu, &wire),
            _ => Ok(false),
        }
    }

    fn abandon(&self, _: &Vu) {
        self.ready.set(Ready::Destroyed);
        if let Some(wire) = &*self.wire.borrow() {
            wire.shut_down();
        }
        self.handlers.forget();
        drop((self.wire.take(), self.object.take()));
    }
}

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
