//! A response that is read until it ends or the script has enough, and the events in it.

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::{MetricId, TagNode};
use onrush_net::{
    HeaderBlock, NetError,
    event_stream::{Event, EventDecoder},
};

use super::{
    EVENTS, FIRST_EVENT, INTERVAL,
    client::{Client, On},
};
use crate::{
    embed::{Ctx, FollowingCharge, Handle, JsResult, Throw, Val},
    modules::{http::Streamed, own_metrics},
    vu::{Vu, context},
};

/// A stream that is open.
pub(super) struct Stream {
    response: Streamed,
    deadline: Option<Nanos>,
    events: EventDecoder,
    clock: Marks,
    charge: FollowingCharge,
    /// What went wrong, for the script and for the samples.
    fault: Option<Fault>,
}

struct Fault {
    text: String,
    error: Option<NetError>,
}

/// When events came, and where that goes.
struct Marks {
    node: TagNode,
    metrics: [MetricId; 3],
    start: Nanos,
    last: Option<Nanos>,
}

/// Why reading stops.
enum Stop {
    /// What came is wrong.
    Wrong(NetError),
    /// A callback threw, or the VU is cut.
    Thrown(Throw),
}

impl From<NetError> for Stop {
    fn from(error: NetError) -> Self {
        Self::Wrong(error)
    }
}

impl From<Throw> for Stop {
    fn from(throw: Throw) -> Self {
        Self::Thrown(throw)
    }
}

impl Stream {
    pub(super) fn new(vu: &Vu, response: Streamed, start: Nanos, deadline: Option<Nanos>) -> JsResult<Self> {
        let metrics = [own_metrics::id(&EVENTS)?, own_metrics::id(&FIRST_EVENT)?, own_metrics::id(&INTERVAL)?];
        let clock = Marks { node: response.node(vu), metrics, start, last: None };
        let events = EventDecoder::new(EVENT_BYTES_MAX);
        Ok(Self { response, deadline, events, clock, charge: FollowingCharge::default(), fault: None })
    }

    pub(super) fn status(&self) -> u16 {
        self.response.status()
    }

    pub(super) fn headers(&self) -> &HeaderBlock {
        self.response.headers()
    }

    /// Calls `setup`, then what comes, until the stream is over.
    ///
    /// # Errors
    /// What a callback throws, and when the VU is cancelled.
    pub(super) fn run(&mut self, ctx: Ctx, vu: &Vu, setup: &Handle, client: &Client, object: &Handle) -> JsResult<()> {
        ctx.call(setup, Handle::UNDEFINED, &[object])?;
        if !(200..300).contains(&self.status()) {
            let text = format!("unexpected status {}", self.headers().status_text());
            self.fault = Some(Fault { text: text.clone(), error: None });
            return client.emit_error(ctx, &text);
        }
        client.handlers.emit(ctx, On::Open, &[])?;
        let read = self.read_all(ctx, vu, client);
        match read {
            Ok(()) => Ok(()),
            Err(Stop::Thrown(throw)) => Err(throw),
            Err(Stop::Wrong(_)) if onrush_fiber::is_cancelled() => Err(Throw::Interrupted),
            Err(Stop::Wrong(error)) => {
                let text = error.detail.clone();
                self.fault = Some(Fault { text: text.clone(), error: Some(error) });
                client.emit_error(ctx, &text)
            }
        }
    }

    fn read_all(&mut self, ctx: Ctx, vu: &Vu, client: &Client) -> Result<(), Stop> {
        let mut decoder = self.response.decoder()?;
        let mut piece = Vec::new();
        while !client.is_closed() {
            vu.not_halted()?;
            context::pause()?;
            piece.clear();
            let is_more = self.response.read(&mut piece, self.deadline)?;
            let now = Clock::now();
            match (&mut decoder, is_more) {
                (None, true) => self.take(ctx, vu, client, now, &piece)?,
                (None, false) => return Ok(()),
                (Some(decoder), true) => decoder.feed(&piece, |bytes| self.take(ctx, vu, client, now, bytes))?,
                (Some(decoder), false) => return decoder.finish(|bytes| self.take(ctx, vu, client, now, bytes)),
            }
        }
        Ok(())
    }

    /// A piece of the body has come.
    fn take(&mut self, ctx: Ctx, vu: &Vu, client: &Client, now: Nanos, bytes: &[u8]) -> Result<(), Stop> {
        context::pause()?;
        if client.handlers.has(On::Chunk) && !client.is_closed() {
            let chunk = ctx.array_buffer(bytes)?;
            client.handlers.emit(ctx, On::Chunk, &[&chunk])?;
        }
        let mut rest = bytes;
        while !rest.is_empty() && !client.is_closed() {
            let (used, event) = self.events.feed(rest)?;
            rest = &rest[used..];
            if let Some(event) = event {
                // What came in time and was not looked at in time is late as well.
                if self.deadline.is_some_and(|deadline| Clock::now() >= deadline) {
                    return Err(NetError::timeout().into());
                }
                if event.has_data {
                    self.clock.note(vu, now);
                }
                if client.handlers.has(On::Event) {
                    let event = object(ctx, &event)?;
                    client.handlers.emit(ctx, On::Event, &[&event])?;
                }
                vu.not_halted()?;
                context::pause()?;
            }
        }
        self.account()?;
        Ok(())
    }

    /// Has the VU's account show what an event holds that is not complete.
    fn account(&self) -> JsResult<()> {
        self.charge.follow(self.events.held_bytes())
    }

    /// It is over: makes the samples of its request. What went wrong, for the script.
    pub(super) fn end(self: Box<Self>, vu: &Vu, ran: &JsResult<()>) -> String {
        let Self { response, fault, .. } = *self;
        if ran.as_ref().is_err_and(context::is_cut) {
            // As with requests that are cut: no samples.
            response.interrupted(vu);
            return String::new();
        }
        let (text, error) = fault.map(|fault| (fault.text, fault.error)).unwrap_or_default();
        response.end(vu, error.as_ref());
        text
    }
}

impl Marks {
    fn note(&mut self, vu: &Vu, now: Nanos) {
        let [events, first, interval] = self.metrics;
        own_metrics::add(vu, events, self.node, 1.0);
        let (metric, since) = match self.last {
            None => (first, self.start),
            Some(last) => (interval, last),
        };
        own_metrics::add(vu, metric, self.node, Nanos(now.0.saturating_sub(since.0)).as_millis_f64());
        self.last = Some(now);
    }
}

/// An event as scripts see it.
fn object(ctx: Ctx, event: &Event) -> JsResult {
    let object = ctx.object()?;
    object.define(ctx, "id", Val::string(ctx, &event.id)?)?;
    object.define(ctx, "name", Val::string(ctx, &event.name)?)?;
    object.define(ctx, "data", Val::string(ctx, &event.data)?)?;
    object.define(ctx, "comment", Val::string(ctx, &event.comment)?)?;
    Ok(object)
}

/// Most bytes of one event.
const EVENT_BYTES_MAX: usize = 16 << 20;
