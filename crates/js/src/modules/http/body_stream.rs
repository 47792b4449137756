//! Bodies that the script reads as they arrive, `responseType: 'stream'`: what of them was read, when, and how they end. No
//! JavaScript runs here; `stream_object` is what scripts see.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use onrush_fiber::{Clock, FiberId, Nanos};
use onrush_metrics::{Contains, MetricId, MetricKind, TagNode};
use onrush_net::{NetError, Timings, encoding};
use onrush_script::Program;

use super::{
    arguments::Prepared,
    send::{self, Exchange},
    streamed::{self, Streamed, Unanswered},
};
use crate::{
    embed::{Charge, Ctx, JsResult, Throw},
    log::Level,
    modules::own_metrics::{self, OwnMetric},
    vu::{Vu, event_loop::Source},
};

/// Chunks of bodies that arrived.
const CHUNKS: OwnMetric = ("http_stream_chunks", MetricKind::Counter, Contains::Default);
/// From the request to the first chunk of its body.
const FIRST_CHUNK: OwnMetric = ("http_stream_time_to_first_chunk", MetricKind::Trend, Contains::Time);
/// From one chunk to the next.
const INTERVAL: OwnMetric = ("http_stream_chunk_interval", MetricKind::Trend, Contains::Time);

/// A body that is read as it arrives, by one fiber at a time.
pub(super) struct BodyStream {
    state: RefCell<State>,
    /// The fiber that reads now.
    reader: Cell<Option<FiberId>>,
    /// Nobody wants more of it.
    is_given_up: Cell<bool>,
    /// The call it belongs to was cut: as for requests that are cut, there are no samples.
    is_cut: Cell<bool>,
    /// The call it belongs to ended before it.
    is_left: Cell<bool>,
    /// The phases of the request, once it is over.
    timings: Cell<Option<Timings>>,
}

enum State {
    Open(Box<Open>),
    /// A fiber has it, and brings it back.
    Busy,
    Over,
}

struct Open {
    streamed: Streamed,
    deadline: Option<Nanos>,
    decoder: Option<encoding::Decoder>,
    /// What has arrived, decoded up to `at`.
    piece: Vec<u8>,
    at: usize,
    is_complete: bool,
    arrivals: Arrivals,
}

/// When chunks arrived, and the samples of that.
struct Arrivals {
    /// Where samples go, if their metrics are declared.
    samples: Option<([MetricId; 3], TagNode)>,
    start: Nanos,
    last: Option<Nanos>,
}

/// The bodies of a VU that are not over.
#[derive(Default)]
pub(super) struct OpenBodies {
    list: RefCell<Vec<(Rc<BodyStream>, Charge)>>,
    /// The event loop ends them with the call.
    is_watched: Cell<bool>,
    /// When there are so many, it is worth looking for those that the script has forgotten.
    swept_from: Cell<usize>,
}

/// Declares the metrics of these bodies where the script may ask for such.
pub(super) fn declare_metrics() -> JsResult<()> {
    own_metrics::declare_where("k6/http", &[CHUNKS, FIRST_CHUNK, INTERVAL], names_streams)
}

/// Whether some module of the script has the word that asks for them.
fn names_streams(program: &Program) -> bool {
    let names = |code: &str| ["'stream'", "\"stream\"", "`stream`"].iter().any(|word| code.contains(word));
    program.modules.iter().any(|module| names(&module.code))
}

/// Sends a request as [`send::send`] does, as far as the head of its response. Suspends the fiber.
pub(super) fn send(vu: &Vu, prepared: &Rc<Prepared>) -> JsResult<Rc<Exchange>> {
    let start = Clock::now();
    let timeout = Some(Nanos(start.0.saturating_add(prepared.params.timeout_ns)));
    let mut sent_cookies = String::new();
    Ok(match streamed::answer(vu, prepared.clone(), &[], timeout, &mut sent_cookies)? {
        Ok(streamed) => {
            // Without a timeout of its own a body may take as long as the iteration.
            let deadline = timeout.filter(|_| prepared.params.has_timeout);
            let (head, url) = (streamed.head(), streamed.shown_url());
            let stream = BodyStream::new(vu, streamed, start, deadline);
            Exchange::streaming(prepared.clone(), head, url, Rc::new(stream), sent_cookies)
        }
        Err(Unanswered { hop, failure }) => send::failed(vu, prepared, &hop, failure, sent_cookies),
    })
}

impl BodyStream {
    fn new(vu: &Vu, streamed: Streamed, start: Nanos, deadline: Option<Nanos>) -> Self {
        let arrivals = Arrivals { samples: samples(vu, &streamed), start, last: None };
        let open = Open { streamed, deadline, decoder: None, piece: Vec::new(), at: 0, is_complete: false, arrivals };
        Self {
            state: RefCell::new(State::Open(Box::new(open))),
            reader: Cell::default(),
            is_given_up: Cell::default(),
            is_cut: Cell::default(),
            is_left: Cell::default(),
            timings: Cell::default(),
        }
    }

    /// The phases of the request, once it is over.
    pub(super) fn timings(&self) -> Option<Timings> {
        self.timings.get()
    }

    /// Waits for the next chunk, decoded; `None` at the end. Suspends the fiber.
    ///
    /// # Errors
    /// When the call was cut; the inner one is what is wrong with the body. It is over then.
    pub(super) fn read(&self, vu: &Vu) -> JsResult<Result<Option<Vec<u8>>, NetError>> {
        let mut open = match self.state.replace(State::Busy) {
            State::Open(open) => open,
            State::Over => {
                self.state.replace(State::Over);
                if self.is_left.get() {
                    return Err(Throw::type_error("the body ended with the iteration of its request: read it there"));
                }
                return Ok(Ok(None));
            }
            State::Busy => return Err(Throw::type_error("the body is being read already: await that first")),
        };
        self.reader.set(onrush_fiber::current());
        let read = open.read(vu);
        self.reader.set(None);
        if self.is_given_up.get() {
            self.end(vu, open, None);
            return Ok(Ok(None));
        }
        if onrush_fiber::is_cancelled() {
            self.is_cut.set(true);
            self.end(vu, open, None);
            return Err(Throw::Interrupted);
        }
        match &read {
            Ok(Some(_)) => drop(self.state.replace(State::Open(open))),
            Ok(None) => self.end(vu, open, None),
            Err(error) => self.end(vu, open, Some(error)),
        }
        Ok(read)
    }

    /// Nobody wants more of it: it is over, or soon is if a fiber is reading.
    pub(super) fn give_up(&self, vu: &Vu) {
        self.is_given_up.set(true);
        match self.state.replace(State::Over) {
            State::Open(mut open) => {
                if !self.is_cut.get() {
                    open.streamed.drain();
                }
                self.end(vu, open, None);
            }
            State::Busy => {
                self.state.replace(State::Busy);
                if let Some(fiber) = self.reader.get() {
                    onrush_fiber::cancel(fiber);
                }
            }
            State::Over => {}
        }
    }

    #[expect(clippy::boxed_local, reason = "it is boxed everywhere")]
    fn end(&self, vu: &Vu, open: Box<Open>, error: Option<&NetError>) {
        self.timings.set(Some(open.streamed.timings()));
        self.state.replace(State::Over);
        if self.is_cut.get() {
            open.streamed.interrupted(vu);
        } else {
            open.streamed.end(vu, error);
        }
    }
}

impl Open {
    /// The next chunk.
    fn read(&mut self, vu: &Vu) -> Result<Option<Vec<u8>>, NetError> {
        if self.arrivals.last.is_none() {
            self.decoder = self.streamed.decoder()?;
        }
        let mut out = Vec::new();
        for round in 1_u32.. {
            while self.at < self.piece.len() && out.len() < CHUNK_BYTES {
                let step = &self.piece[self.at..self.piece.len().min(self.at + STEP_BYTES)];
                self.at += step.len();
                match &mut self.decoder {
                    Some(decoder) => decoder.feed(step, keep(&mut out))?,
                    None => out.extend_from_slice(step),
                }
            }
            if !out.is_empty() || self.is_complete {
                break;
            }
            // What unfolds to nothing may come as fast as the network is.
            if round.is_multiple_of(ROUNDS_AT_A_TIME) {
                let _ = onrush_fiber::yield_now();
            }
            self.piece.clear();
            self.at = 0;
            if self.streamed.read(&mut self.piece, self.deadline)? {
                self.arrivals.note(vu, Clock::now());
            } else {
                self.is_complete = true;
                if let Some(decoder) = &mut self.decoder {
                    decoder.finish(keep(&mut out))?;
                }
            }
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }
}

/// Adds what a decoder hands out.
fn keep(out: &mut Vec<u8>) -> impl FnMut(&[u8]) -> Result<(), NetError> + '_ {
    |bytes| {
        out.extend_from_slice(bytes);
        Ok(())
    }
}

impl Arrivals {
    fn note(&mut self, vu: &Vu, now: Nanos) {
        let before = self.last.replace(now);
        let Some(([chunks, first, interval], node)) = self.samples else { return };
        own_metrics::add(vu, chunks, node, 1.0);
        let (metric, since) = before.map_or((first, self.start), |last| (interval, last));
        own_metrics::add(vu, metric, node, Nanos(now.0.saturating_sub(since.0)).as_millis_f64());
    }
}

/// Where the samples of its chunks go, if their metrics are declared.
fn samples(vu: &Vu, streamed: &Streamed) -> Option<([MetricId; 3], TagNode)> {
    #[derive(Default)]
    struct Warned(Cell<bool>);
    let ids = [CHUNKS, FIRST_CHUNK, INTERVAL].map(|(name, ..)| vu.thread.registry.borrow().lookup(name));
    if let [Some(chunks), Some(first), Some(interval)] = ids {
        return Some(([chunks, first, interval], streamed.node(vu)));
    }
    if !vu.thread.slots.of::<Warned>().0.replace(true) {
        let text = "the http_stream_* metrics are missing: they are declared for scripts with the text 'stream' in them, as in { responseType: 'stream' }";
        vu.log(Level::Warn, text.to_owned());
    }
    None
}

impl OpenBodies {
    /// Has a body end with the call, at the latest. On the VU's own fiber.
    ///
    /// # Errors
    /// Throws where so many do not fit the VU's heap limit.
    pub(super) fn keep(vu: &Vu, stream: &Rc<BodyStream>) -> JsResult<()> {
        let open = vu.slots.of::<Rc<Self>>();
        if open.list.borrow().len() >= open.swept_from.get() {
            open.sweep(vu);
        }
        let charge = Charge::take(OPEN_BYTES)?;
        if !open.is_watched.replace(true) {
            vu.event_loop.add_source(open.clone());
        }
        open.list.borrow_mut().push((stream.clone(), charge));
        Ok(())
    }

    /// A body is over. On the VU's own fiber, as its charge goes back to the VU.
    pub(super) fn forget(vu: &Vu, stream: &Rc<BodyStream>) {
        let mut list = vu.slots.of::<Rc<Self>>().list.borrow_mut();
        if let Some(index) = list.iter().position(|(open, _)| Rc::ptr_eq(open, stream)) {
            list.swap_remove(index);
        }
    }

    /// Ends those that the script cannot read any more.
    fn sweep(&self, vu: &Vu) {
        let (kept, forgotten): (Vec<_>, Vec<_>) =
            self.list.take().into_iter().partition(|(stream, _)| Rc::strong_count(stream) > 1);
        self.list.replace(kept);
        for (stream, _charge) in forgotten {
            stream.give_up(vu);
        }
        self.swept_from.set((self.list.borrow().len() * 2).max(OPEN_COUNT_SWEPT));
    }
}

impl Source for OpenBodies {
    fn turn(self: Rc<Self>, _: Ctx, _: &Vu) -> JsResult<bool> {
        Ok(false)
    }

    fn abandon(&self, vu: &Vu) {
        self.is_watched.set(false);
        let is_cut = vu.is_halted.get() || onrush_fiber::is_cancelled();
        for (stream, _charge) in self.list.take() {
            stream.is_cut.set(is_cut);
            stream.is_left.set(!matches!(*stream.state.borrow(), State::Over));
            stream.give_up(vu);
        }
    }

    fn holds_call(&self) -> bool {
        false
    }
}

/// A chunk that the script gets is about so long at most, or what so much of a compressed body unfolds to.
const CHUNK_BYTES: usize = 64 << 10;
const STEP_BYTES: usize = 1 << 10;
/// Rounds of reading that lead to nothing before others have their turn.
const ROUNDS_AT_A_TIME: u32 = 16;
/// What an open body is charged: about a read's worth of what has arrived, and as much for its decoder.
const OPEN_BYTES: usize = 128 << 10;
/// Bodies are looked through for forgotten ones from so many on.
const OPEN_COUNT_SWEPT: usize = 8;
