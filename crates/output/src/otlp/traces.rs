//! Spans on their way to a receiver: a bounded queue, and one thread that sends.
//!
//! A VU's thread hands spans over and never waits. Spans that find the queue full, and those that the receiver does not take, are counted and
//! told. While the receiver is away, what is in the queue stays there.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver as Outlet, RecvTimeoutError, Sender as Queue, channel, sync_channel},
    },
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::trace::{Span, SpanSink, SpanValue};
use prost::Message as _;

use super::{
    exporter::{Exporter, MESSAGE_BYTES, Receiver, Rejected, Signal},
    metrics::News,
    wire::{
        AnyValue, KeyValue, Resource, Scope, Value,
        trace::{CLIENT, ERROR, INTERNAL, Request, ResourceSpans, ScopeSpans, Span as WireSpan, Status},
    },
};
use crate::{
    Ending, Patience,
    pauses::Pauses,
    post::{Refused, last_tries},
    told::Teller,
};

/// Spans on their way.
pub struct Traces {
    inlets: Inlets,
    ended: Outlet<()>,
    ending: Ending,
}

/// What became of spans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Those that arrived.
    pub sent: u64,
    /// Those that came faster than they could be sent.
    pub overrun: u64,
    /// Those that the receiver did not take.
    pub refused: u64,
    /// The receiver took nothing until the end: those that were left then.
    pub left: u64,
}

#[derive(Clone)]
struct Inlets {
    queue: Queue<Vec<Span>>,
    counts: Arc<Counts>,
}

/// What both ends of the queue know.
#[derive(Debug, Default)]
struct Counts {
    /// Spans of which it is not known yet what becomes of them.
    waiting: AtomicU64,
    /// Spans that arrived.
    sent: AtomicU64,
    /// Spans that found the queue full.
    overrun: AtomicU64,
    /// Spans that the receiver did not take.
    refused: AtomicU64,
    is_ending: AtomicBool,
}

/// Spans that may wait: of half a kilobyte each, 64 MiB.
const WAITING_MAX: u64 = 131_072;
/// Spans of a message.
const SPANS_MAX: usize = 2_048;
/// How long spans are collected.
const COLLECTS: Duration = Duration::from_secs(1);
/// The name of the instrumentation.
const SCOPE: &str = "k6";

impl Traces {
    /// Starts the thread.
    ///
    /// # Errors
    /// When it or its network side cannot be set up.
    pub fn start(
        receiver: Receiver,
        resource: &[(String, String)],
        tell: impl Fn(News) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (queue, outlet) = channel();
        let inlets = Inlets { queue, counts: Arc::default() };
        let (done, ended) = sync_channel(1);
        let tell: Arc<dyn Fn(News) + Send + Sync> = Arc::new(tell);
        let (of_way, ending) = (tell.clone(), Ending::default());
        let mut sender = Sender {
            exporter: Exporter::new(receiver, Signal::Traces, ending.clone())?,
            ending: ending.clone(),
            resource: Resource::of(resource),
            outlet,
            counts: inlets.counts.clone(),
            collected: Vec::new(),
            remark: String::new(),
            teller: Teller::new(move |told| of_way(News::Way(told))),
            pause: Duration::ZERO,
            pauses: Pauses::default(),
            tell,
        };
        let body = move || {
            sender.run();
            // Whoever waited may have lost patience.
            let _ = done.send(());
        };
        std::thread::Builder::new().name("traces".to_owned()).spawn(body)?;
        Ok(Self { inlets, ended, ending })
    }

    /// Makes the end that takes the spans of a thread.
    pub fn sinks(&self) -> impl Fn() -> Box<dyn SpanSink> + Send + Sync + 'static {
        let inlets = self.inlets.clone();
        move || Box::new(inlets.clone())
    }

    /// Waits until everything is sent, or patience runs out.
    pub fn finish(self, patience: &Patience) -> Outcome {
        let counts = &self.inlets.counts;
        counts.is_ending.store(true, Ordering::Release);
        // What it has not sent by then is left.
        let _ = self.ending.wait(&self.ended, patience, || counts.sent.load(Ordering::Relaxed));
        Outcome {
            sent: counts.sent.load(Ordering::Relaxed),
            overrun: counts.overrun.load(Ordering::Relaxed),
            refused: counts.refused.load(Ordering::Relaxed),
            left: counts.waiting.load(Ordering::Relaxed),
        }
    }
}

impl SpanSink for Inlets {
    fn accept(&mut self, spans: Vec<Span>) {
        let (counts, count) = (&self.counts, spans.len() as u64);
        if counts.waiting.fetch_add(count, Ordering::Relaxed) + count > WAITING_MAX {
            counts.waiting.fetch_sub(count, Ordering::Relaxed);
            counts.overrun.fetch_add(count, Ordering::Relaxed);
        } else if self.queue.send(spans).is_err() {
            // It is over: what comes now belongs to no run.
            counts.waiting.fetch_sub(count, Ordering::Relaxed);
        }
    }
}

/// The thread.
struct Sender {
    exporter: Exporter,
    ending: Ending,
    resource: Resource,
    outlet: Outlet<Vec<Span>>,
    counts: Arc<Counts>,
    /// Those of the next message.
    collected: Vec<WireSpan>,
    remark: String,
    teller: Teller,
    /// How long the receiver is left alone, as it took nothing.
    pause: Duration,
    pauses: Pauses,
    tell: Arc<dyn Fn(News) + Send + Sync>,
}

impl Sender {
    /// How often it is looked whether the run is over.
    const LOOKS: Duration = Duration::from_millis(100);

    fn run(&mut self) {
        let (mut due, mut has_told) = (Clock::now() + COLLECTS, false);
        while !self.counts.is_ending.load(Ordering::Acquire) {
            // While nothing is taken, spans wait in the queue, which has an end.
            if self.collected.len() < SPANS_MAX {
                match self.outlet.recv_timeout(Self::LOOKS) {
                    Ok(spans) => self.collect(spans),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            if self.counts.overrun.load(Ordering::Relaxed) > 0 && !std::mem::replace(&mut has_told, true) {
                (self.tell)(News::Overrun);
            }
            if self.collected.len() >= SPANS_MAX || Clock::now() >= due {
                self.flush();
                due = Clock::now() + COLLECTS;
            }
        }
        while let Ok(spans) = self.outlet.try_recv() {
            self.collect(spans);
        }
        // What is left then is counted as waiting.
        let ending = self.ending.clone();
        let _ = last_tries(&ending, |after| {
            let mut after = after.max(std::mem::take(&mut self.pause));
            while !self.collected.is_empty() {
                self.send(std::mem::take(&mut after))?;
            }
            Ok(())
        });
    }

    fn collect(&mut self, spans: Vec<Span>) {
        self.collected.extend(spans.into_iter().map(wire));
    }

    /// Sends what was collected, as long as it is taken.
    fn flush(&mut self) {
        while !self.collected.is_empty() {
            let after = std::mem::take(&mut self.pause);
            if self.send(after).is_err() {
                self.pause = self.pauses.after_failure();
                return;
            }
            self.pauses = Pauses::default();
        }
    }

    /// Sends as much of it as fits a message, after a while. What the receiver will never take is counted, and is gone.
    ///
    /// # Errors
    /// Why it was not taken, although it may be later: it is still there.
    fn send(&mut self, after: Duration) -> Result<(), Refused> {
        let mut bytes = 0;
        let fits = self.collected.iter().take(SPANS_MAX).take_while(|span| {
            bytes += span.encoded_len();
            bytes <= MESSAGE_BYTES
        });
        // One alone is sent however large it is.
        let count = fits.count().max(1);
        let spans = self.collected.drain(..count).collect();
        let scope = Some(Scope { name: SCOPE.to_owned(), version: String::new() });
        let (resource, scope_spans) = (Some(self.resource.clone()), vec![ScopeSpans { scope, spans }]);
        let mut request = Request { resource_spans: vec![ResourceSpans { resource, scope_spans }] };
        let result = self.exporter.send(&request, count as u64, after);
        self.teller.note(&result);
        let settle = |refused: u64| {
            self.counts.waiting.fetch_sub(count as u64, Ordering::Relaxed);
            self.counts.refused.fetch_add(refused, Ordering::Relaxed);
            self.counts.sent.fetch_add(count as u64 - refused, Ordering::Relaxed);
        };
        match result {
            Ok(Rejected { count: rejected, why }) => {
                settle(rejected);
                if rejected > 0 && self.remark != why {
                    self.remark.clone_from(&why);
                    (self.tell)(News::Rejected { count: rejected, why });
                }
                Ok(())
            }
            Err(refused) if !refused.may_be_taken_later => {
                settle(count as u64);
                Ok(())
            }
            Err(refused) => {
                let back = request.resource_spans.iter_mut().flat_map(|all| &mut all.scope_spans);
                let back: Vec<WireSpan> = back.flat_map(|all| std::mem::take(&mut all.spans)).collect();
                self.collected.splice(..0, back);
                Err(refused)
            }
        }
    }
}

fn wire(span: Span) -> WireSpan {
    let attribute = |(name, value): (&'static str, SpanValue)| KeyValue {
        key: name.to_owned(),
        value: Some(AnyValue {
            value: Some(match value {
                SpanValue::Text(text) => Value::Text(text.into()),
                SpanValue::Integer(number) => Value::Integer(number),
            }),
        }),
    };
    let unix = |ns: u64| u64::try_from(Clock::unix_nanos(Nanos(ns))).unwrap_or(0);
    WireSpan {
        trace_id: span.trace.0.to_vec(),
        span_id: span.id.0.to_vec(),
        parent_span_id: span.parent.map(|parent| parent.0.to_vec()).unwrap_or_default(),
        name: span.name.into(),
        kind: if span.is_client { CLIENT } else { INTERNAL },
        start_ns: unix(span.start_ns),
        end_ns: unix(span.end_ns),
        attributes: span.attributes.into_iter().map(attribute).collect(),
        status: span.error.map(|message| Status { message: message.into(), code: ERROR }),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use onrush_metrics::trace::{SpanId, TraceId};
    use onrush_net::{ClientOptions, Url};

    use super::{super::exporter::Way, *};

    fn span() -> Span {
        Span {
            trace: TraceId([1; 16]),
            id: SpanId([1; 8]),
            parent: None,
            name: "x".into(),
            is_client: true,
            start_ns: 1,
            end_ns: 2,
            attributes: Vec::new(),
            error: None,
        }
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        // It accepts no connection, but the system does: nothing is answered.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/v1/traces", listener.local_addr().expect("bound"));
        let receiver = Receiver {
            way: Way::Http(Url::parse(&url).expect("a URL")),
            headers: Vec::new(),
            basic: None,
            is_gzipped: false,
            timeout: Duration::from_secs(60),
            network: ClientOptions::default(),
        };
        let traces = Traces::start(receiver, &[], |_| {}).expect("it starts");
        let sinks = traces.sinks();
        let mut sink = sinks();
        let batches = WAITING_MAX / 512;
        for _ in 0..batches + 3 {
            sink.accept(vec![span(); 512]);
        }
        let outcome = traces.finish(&Patience::of(Duration::ZERO));
        assert_eq!(outcome, Outcome { sent: 0, overrun: 3 * 512, refused: 0, left: WAITING_MAX });
    }
}
