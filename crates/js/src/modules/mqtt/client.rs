//! A client of the event loop: connecting, connected, over; and its messages on their way.

use std::{
    cell::{Cell, RefCell},
    rc::{Rc, Weak},
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_metrics::TagNode;
use onrush_mqtt::{Connect, Packet};

use super::{
    CALLS, ERRORS, RECEIVED, SENT,
    dial::{Dialled, dial},
    line::{Line, Waiting},
    object::{keep_alive, reason},
    options::{ClientOptions, ConnectOptions},
};
use crate::{
    embed::{Ctx, Handle, JsResult, Val},
    modules::{
        handlers::{Handlers, call_all},
        own_metrics::{self, OwnMetric},
    },
    vu::{
        Vu,
        context::{self, with_named},
        event_loop::{self, Source},
    },
};

/// A client and the handlers of its script. They, and the object that scripts see, are let go of when it ends, because what
/// a host object holds is hidden from the cycle collector.
pub(super) struct Client {
    own: Weak<Self>,
    pub(super) options: ClientOptions,
    state: Cell<State>,
    /// For timers, and so that it lives as long as it is connected.
    object: RefCell<Option<Val>>,
    handlers: Handlers<On>,
    goal: RefCell<Option<ConnectOptions>>,
    line: RefCell<Option<Rc<Line>>>,
    node: Cell<Option<TagNode>>,
    timer: Cell<Option<u32>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Connecting,
    Connected,
    Ended,
}

/// What a handler is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    Connect,
    Message,
    End,
    Reconnect,
    Error,
}

impl On {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "connect" => Self::Connect,
            "message" => Self::Message,
            "end" => Self::End,
            "reconnect" => Self::Reconnect,
            "error" => Self::Error,
            _ => return None,
        })
    }
}

impl Client {
    pub(super) fn new(options: ClientOptions) -> Rc<Self> {
        Rc::new_cyclic(|own| Self {
            own: own.clone(),
            options,
            state: Cell::new(State::Idle),
            object: RefCell::default(),
            handlers: Handlers::default(),
            goal: RefCell::default(),
            line: RefCell::default(),
            node: Cell::new(None),
            timer: Cell::new(None),
        })
    }

    pub(super) fn is_connected(&self) -> bool {
        self.state.get() == State::Connected
    }

    pub(super) fn add_handler(&self, on: On, handler: Val) -> JsResult<()> {
        if self.state.get() == State::Ended {
            return Ok(());
        }
        self.handlers.add(on, handler, "a client", "handlers")
    }

    /// Begins to connect, on a child fiber; events tell what comes of it.
    pub(super) fn connect(&self, ctx: Ctx, vu: &Vu, object: Val, goal: ConnectOptions) -> JsResult<()> {
        self.node.set(Some(self.tagged(vu, vu.node.get(), &goal)));
        self.count_call(vu, "connect", &[]);
        let problem = match self.state.get() {
            State::Idle => None,
            State::Connecting | State::Connected => Some("already connected"),
            State::Ended => Some("the client has ended; create a new one"),
        };
        if let Some(text) = problem {
            return self.fail(ctx, vu, "connect", text);
        }
        let mut hello = Connect {
            client_id: self.options.client_id.clone(),
            clean_session: goal.clean_session,
            keep_alive_s: goal.keep_alive_s,
            will: self.options.will.clone(),
            username: self.options.username.clone(),
            password: self.options.password.clone(),
        };
        if let Some(provider) = &self.options.credentials_provider
            && !credentials(ctx, provider, &mut hello)?
        {
            return self.fail(ctx, vu, "connect", "credentials provider failed");
        }
        if hello.client_id.is_empty() && !hello.clean_session {
            return self.fail(ctx, vu, "connect", "a session that is kept needs a client_id");
        }
        self.state.set(State::Connecting);
        *self.object.borrow_mut() = Some(object);
        let (servers, timeout_ms) = (goal.servers.clone(), goal.timeout_ms);
        let keep_alive_s = goal.keep_alive_s;
        *self.goal.borrow_mut() = Some(goal);
        let Some(own) = self.own.upgrade() else { return Ok(()) };
        event_loop::start(
            move |vu| dial(vu, servers, &hello, timeout_ms),
            move |ctx, outcome| {
                let vu = context::vu();
                match outcome? {
                    Ok(dialled) => own.connected(ctx, vu, dialled, keep_alive_s),
                    // The script has ended it meanwhile.
                    Err(_) if own.state.get() != State::Connecting => Ok(()),
                    Err(text) => {
                        own.give_up(vu, State::Idle);
                        own.fail(ctx, vu, "connect", &text)
                    }
                }
            },
        );
        Ok(())
    }

    /// Connects again as before.
    pub(super) fn reconnect(self: &Rc<Self>, ctx: Ctx, vu: &Vu, object: Val) -> JsResult<()> {
        let goal = self.goal.borrow().clone();
        let Some(goal) = goal else { return self.fail(ctx, vu, "reconnect", "not connected before") };
        if self.is_connected() {
            self.give_up(vu, State::Idle);
        }
        self.emit(ctx, On::Reconnect, &[])?;
        self.connect(ctx, vu, object, goal)
    }

    fn connected(self: Rc<Self>, ctx: Ctx, vu: &Vu, dialled: Dialled, keep_alive_s: u16) -> JsResult<()> {
        if self.state.get() != State::Connecting {
            // The script has ended it meanwhile.
            return Ok(());
        }
        let Dialled { wire, decoder, server } = dialled;
        if let Some(node) = self.node.get() {
            self.node.set(Some(with_named(&mut vu.thread.shard.borrow_mut(), node, "url", &server.shown)));
        }
        // The VU's fiber runs this, and waits for nothing else of this wire.
        if let Err(error) = wire.notify_readable() {
            self.give_up(vu, State::Idle);
            return self.fail(ctx, vu, "connect", &error.detail);
        }
        *self.line.borrow_mut() = Some(Rc::new(Line::new(wire, decoder)));
        self.state.set(State::Connected);
        vu.event_loop.add_source(self.clone());
        if keep_alive_s > 0 {
            let object = self.object.borrow().as_ref().map(|object| object.dup());
            if let Some(object) = object {
                // A ping well before the server would give us up.
                let callback = ctx.function("keepAlive", 1, keep_alive)?;
                let every_ms = f64::from(keep_alive_s) * 750.0;
                self.timer.set(Some(vu.event_loop.add_timer(callback, Box::new([object]), every_ms, true)?));
            }
        }
        self.emit(ctx, On::Connect, &[])
    }

    /// The time for a ping has come.
    pub(super) fn ping(self: &Rc<Self>, ctx: Ctx, vu: &Vu) -> JsResult<()> {
        let Some(line) = self.line() else { return Ok(()) };
        if line.awaits_pong.replace(true) {
            return self.lost(ctx, vu, "the server does not answer pings");
        }
        match line.send(&Packet::Ping) {
            Ok(()) => Ok(()),
            Err(text) => self.lost(ctx, vu, &text),
        }
    }

    /// Sends something that the server answers, unless `packet` needs no number. What is wrong is the inner error.
    pub(super) fn ask(
        &self,
        make: impl FnOnce(u16) -> Packet,
        waiting: Option<Waiting>,
    ) -> JsResult<Result<u16, String>> {
        let Some(line) = self.line().filter(|_| self.is_connected()) else {
            return Ok(Err("not connected".to_owned()));
        };
        let id = match &waiting {
            Some(_) => match line.free_id() {
                Some(id) => id,
                None => return Ok(Err("too many messages wait for the server's answer".to_owned())),
            },
            None => 0,
        };
        if let Err(text) = line.send(&make(id)) {
            return Ok(Err(text));
        }
        if let Some(waiting) = waiting {
            line.pending.borrow_mut().insert(id, waiting);
        }
        line.account()?;
        Ok(Ok(id))
    }

    /// Waits until what [`Client::ask`] sent is answered, or sent where it needs no answer; events wait meanwhile.
    pub(super) fn await_answer(&self, id: u16) -> JsResult<Result<(), String>> {
        let Some(line) = self.line() else { return Ok(Err("not connected".to_owned())) };
        if id == 0 {
            if line.wire.unsent_bytes() > 0 {
                // A failure is the writing fiber's to report.
                let _ = line.wire.finish_writes(None);
            }
            return context::alive().map(Ok);
        }
        let deadline = Clock::now() + ANSWER_TIMEOUT;
        let outcome = loop {
            let answer = match line.pending.borrow_mut().get_mut(&id) {
                Some(Waiting::Call(answer)) => answer.take(),
                _ => Some(Err("the answer is lost".to_owned())),
            };
            if let Some(answer) = answer {
                break answer;
            }
            match line.step() {
                Ok(true) => {
                    line.account()?;
                    context::pause()?;
                }
                Ok(false) if Clock::now() >= deadline => break Err("the server does not answer".to_owned()),
                Ok(false) => {
                    // Whatever ends the wait, the loop looks again.
                    let _ = line.wire.wait_readable(Some(deadline));
                    context::alive()?;
                }
                Err(text) => {
                    line.note_fault(text.clone());
                    break Err(text);
                }
            }
        };
        line.pending.borrow_mut().remove(&id);
        // Others may come while nobody asks; one that cannot be waited for is found at the next turn.
        if let Err(error) = line.wire.notify_readable() {
            line.note_fault(error.detail);
        }
        Ok(outcome)
    }

    /// Says good-bye.
    pub(super) fn end(self: &Rc<Self>, ctx: Ctx, vu: &Vu) -> JsResult<()> {
        self.count_call(vu, "end", &[]);
        if self.state.get() == State::Ended {
            return Ok(());
        }
        if let Some(line) = self.line() {
            // It ends whether that arrives or not.
            let sent = line.send(&Packet::Disconnect);
            if sent.is_ok() && line.wire.unsent_bytes() > 0 {
                let _ = line.wire.finish_writes(Some(Clock::now() + GOODBYE_TIMEOUT));
                context::alive()?;
            }
        }
        let unanswered = self.give_up(vu, State::Ended);
        let handlers = self.handlers.take_of(On::End);
        reject_all(ctx, unanswered, "the client has ended")?;
        call_all(ctx, &handlers, &[])
    }

    /// The connection is gone.
    fn lost(self: &Rc<Self>, ctx: Ctx, vu: &Vu, text: &str) -> JsResult<()> {
        let unanswered = self.give_up(vu, State::Idle);
        reject_all(ctx, unanswered, text)?;
        let told = self.fail(ctx, vu, "connection", text);
        if self.state.get() == State::Idle {
            // It may be connected again by one of them.
            self.emit(ctx, On::End, &[])?;
        }
        told
    }

    /// Lets go of the connection; what was not answered.
    fn give_up(&self, vu: &Vu, state: State) -> Vec<Waiting> {
        self.state.set(state);
        if let Some(timer) = self.timer.take() {
            vu.event_loop.clear_timer(timer);
        }
        drop(self.object.take());
        if let Some(own) = self.own.upgrade() {
            let source: Rc<dyn Source> = own;
            vu.event_loop.remove_source(&source);
        }
        let Some(line) = self.line.take() else { return Vec::new() };
        if line.wire.unsent_bytes() > 0 {
            line.wire.shut_down();
        }
        let pending = line.pending.take().into_values();
        let settled = line.settled.take().into_iter().map(|(waiting, _)| waiting);
        pending.chain(settled).collect()
    }

    /// Tells the script about something that failed: an event, or an exception where nobody listens.
    pub(super) fn fail(&self, ctx: Ctx, vu: &Vu, method: &str, text: &str) -> JsResult<()> {
        self.sample(vu, &ERRORS, &[("method", method)]);
        let error = reason(ctx, method, text)?;
        if self.handlers.has(On::Error) {
            return self.emit(ctx, On::Error, &[&error]);
        }
        Err(ctx.throw_value(error))
    }

    fn emit(&self, ctx: Ctx, on: On, args: &[&Handle]) -> JsResult<()> {
        // A copy: handlers may add others, or end the client.
        call_all(ctx, &self.handlers.of(on), args)
    }

    fn line(&self) -> Option<Rc<Line>> {
        self.line.borrow().clone()
    }

    fn tagged(&self, vu: &Vu, node: TagNode, goal: &ConnectOptions) -> TagNode {
        let mut shard = vu.thread.shard.borrow_mut();
        let mut node = with_named(&mut shard, node, "proto", "MQTT/3.1.1");
        node = with_named(&mut shard, node, "client_id", &self.options.client_id);
        for (name, value) in self.options.tags.iter().chain(&goal.tags) {
            node = with_named(&mut shard, node, name, value);
        }
        node
    }

    /// Adds 1 to a counter, with tags of its own.
    pub(super) fn sample(&self, vu: &Vu, metric: &OwnMetric, tags: &[(&str, &str)]) {
        let Ok(metric) = own_metrics::id(metric) else { return };
        let mut node = self.node.get().unwrap_or_else(|| vu.node.get());
        for (name, value) in tags {
            node = with_named(&mut vu.thread.shard.borrow_mut(), node, name, value);
        }
        own_metrics::add(vu, metric, node, 1.0);
    }

    pub(super) fn count_call(&self, vu: &Vu, method: &str, tags: &[(String, String)]) {
        let own = tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let tags: Vec<(&str, &str)> = [("method", method)].into_iter().chain(own).collect();
        self.sample(vu, &CALLS, &tags);
    }

    pub(super) fn count_sent(&self, vu: &Vu, topic: &str, tags: &[(String, String)]) {
        let own = tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let tags: Vec<(&str, &str)> = [("topic", topic)].into_iter().chain(own).collect();
        self.sample(vu, &SENT, &tags);
    }
}

impl Source for Client {
    fn turn(self: Rc<Self>, ctx: Ctx, vu: &Vu) -> JsResult<bool> {
        let Some(line) = self.line() else { return Ok(false) };
        let settled = line.settled.borrow_mut().pop_front();
        if let Some((waiting, outcome)) = settled {
            settle(ctx, waiting, outcome)?;
            return Ok(true);
        }
        if let Some(message) = line.next_message() {
            self.sample(vu, &RECEIVED, &[("topic", &message.topic)]);
            let (topic, payload) = (Val::string(ctx, &message.topic)?, ctx.array_buffer(&message.payload)?);
            self.emit(ctx, On::Message, &[&topic, &payload])?;
            return Ok(true);
        }
        if let Some(text) = line.fault.take() {
            self.lost(ctx, vu, &text)?;
            return Ok(true);
        }
        match line.step() {
            Ok(has_moved) => {
                line.account()?;
                Ok(has_moved)
            }
            Err(text) => {
                self.lost(ctx, vu, &text)?;
                Ok(true)
            }
        }
    }

    fn abandon(&self, _: &Vu) {
        self.state.set(State::Ended);
        if let Some(line) = &*self.line.borrow() {
            line.wire.shut_down();
            line.release();
        }
        self.handlers.forget();
        drop((self.line.take(), self.object.take()));
    }
}

/// Puts what the script's provider says into the first packet; false if that is nothing.
fn credentials(ctx: Ctx, provider: &Handle, hello: &mut Connect) -> JsResult<bool> {
    let given = match ctx.call(provider, Handle::UNDEFINED, &[]) {
        Ok(given) => given,
        Err(throw) if context::is_cut(&throw) => return Err(throw),
        Err(throw) => {
            ctx.raise(throw);
            drop(ctx.take_exception_value());
            return Ok(false);
        }
    };
    if !given.is_object() || given.is_promise() {
        return Ok(false);
    }
    for (name, place) in [("username", &mut hello.username), ("password", &mut hello.password)] {
        let text = given.get(ctx, name)?;
        if text.is_set() {
            *place = Some(text.to_text(ctx)?);
        }
    }
    Ok(true)
}

fn settle(ctx: Ctx, waiting: Waiting, outcome: Result<(), String>) -> JsResult<()> {
    let Waiting::Promise(resolve, reject, method) = waiting else { return Ok(()) };
    match outcome {
        Ok(()) => ctx.call(&resolve, Handle::UNDEFINED, &[]).map(drop),
        Err(text) => {
            let reason = reason(ctx, method, &text)?;
            ctx.call(&reject, Handle::UNDEFINED, &[&reason]).map(drop)
        }
    }
}

fn reject_all(ctx: Ctx, unanswered: Vec<Waiting>, text: &str) -> JsResult<()> {
    unanswered.into_iter().try_for_each(|waiting| settle(ctx, waiting, Err(text.to_owned())))
}

/// How long a call waits for the server's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the last packet may take.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(1);
