//! Traces of a thread: which iterations are traced, the ids of spans, and the way spans leave the thread.
//!
//! Whether an iteration is traced is decided when it makes its first request, and holds for all of it. Nothing of this exists in a run that
//! is not traced.

use std::cell::{Cell, RefCell};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::trace::{Span, SpanId, SpanSink, SpanValue, TraceId};

use crate::vu::Vu;

/// How a run is traced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceSettings {
    /// This part of iterations is, 0 to 1.
    pub sampling: f64,
    /// What requests carry, so that the system under test can go on with the trace.
    pub propagator: Propagator,
}

/// Headers that carry a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Propagator {
    /// `traceparent`, of the W3C.
    W3c,
    /// `b3`, of Zipkin.
    B3,
    /// `X-B3-TraceId` and others, of Zipkin.
    B3Multi,
    /// `uber-trace-id`, of Jaeger.
    Jaeger,
    /// None.
    None,
}

/// The traces of a thread.
pub struct Tracer {
    settings: TraceSettings,
    sink: RefCell<Box<dyn SpanSink>>,
    batch: RefCell<Vec<Span>>,
    random: Cell<u64>,
}

/// The trace of an iteration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IterationTrace {
    pub(crate) trace: TraceId,
    pub(crate) root: SpanId,
    pub(crate) is_sampled: bool,
}

/// Spans that are handed over at a time.
const BATCH_MAX: usize = 512;

impl Tracer {
    /// Hands spans to `sink`. `seed` is a random number: threads of all agents must not give out the same ids.
    pub fn new(settings: TraceSettings, sink: Box<dyn SpanSink>, seed: u64) -> Self {
        Self { settings, sink: RefCell::new(sink), batch: RefCell::default(), random: Cell::new(seed) }
    }

    pub(crate) fn propagator(&self) -> Propagator {
        self.settings.propagator
    }

    /// A trace that begins now.
    pub(crate) fn begin(&self) -> IterationTrace {
        let trace = u128::from(self.random()) << 64 | u128::from(self.random());
        IterationTrace {
            trace: TraceId(trace.max(1).to_be_bytes()),
            root: self.span_id(),
            // 53 bits are a fraction.
            is_sampled: ((self.random() >> 11) as f64) < self.settings.sampling * (1_u64 << 53) as f64,
        }
    }

    pub(crate) fn span_id(&self) -> SpanId {
        SpanId(self.random().max(1).to_be_bytes())
    }

    /// Notes a span that has ended.
    pub(crate) fn note(&self, span: Span) {
        let is_full = {
            let mut batch = self.batch.borrow_mut();
            batch.push(span);
            batch.len() >= BATCH_MAX
        };
        if is_full {
            self.hand_over();
        }
    }

    /// Hands over the spans since the last time.
    pub(crate) fn hand_over(&self) {
        let batch = self.batch.take();
        if !batch.is_empty() {
            self.sink.borrow_mut().accept(batch);
        }
    }

    /// `SplitMix64`: ids have to differ, not to be secret.
    fn random(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl std::fmt::Debug for Tracer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tracer").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Vu {
    /// The trace of the iteration under way, which begins with its first request; outside of iterations each request has its own.
    pub(crate) fn trace(&self, tracer: &Tracer) -> (IterationTrace, Option<SpanId>) {
        if !self.is_iterating() {
            return (tracer.begin(), None);
        }
        let trace = self.trace.get().unwrap_or_else(|| tracer.begin());
        self.trace.set(Some(trace));
        (trace, Some(trace.root))
    }

    /// What spans say of whoever made them.
    pub(crate) fn trace_attributes(&self) -> Vec<(&'static str, SpanValue)> {
        let integer = |number: u64| SpanValue::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let mut attributes = vec![("test.vu", integer(self.id_in_test))];
        if let Some(iteration) = self.iteration.get().filter(|_| self.is_iterating()) {
            attributes.push(("test.iteration.number", integer(iteration)));
        }
        if let Some((_, scenario)) = &*self.scenario.borrow() {
            attributes.push(("test.scenario", SpanValue::Text(scenario.name.as_str().into())));
        }
        attributes
    }

    /// An iteration has ended: its span, if it made a request and is traced.
    pub(crate) fn end_trace(&self, start: Nanos, end: Nanos, error: Option<&str>) {
        let Some(tracer) = self.thread.tracer.get() else { return };
        let Some(IterationTrace { trace, root, is_sampled: true }) = self.trace.take() else { return };
        tracer.note(Span {
            trace,
            id: root,
            parent: None,
            name: "iteration".into(),
            is_client: false,
            start_ns: start.0,
            end_ns: end.0,
            attributes: self.trace_attributes(),
            error: error.map(shortened),
        });
    }
}

/// A text of a script or a server.
pub(crate) fn shortened(text: &str) -> Box<str> {
    /// Bytes of a value.
    const VALUE_BYTES_MAX: usize = 2_048;
    text[..text.floor_char_boundary(VALUE_BYTES_MAX)].into()
}

/// When a span that ends now ends.
pub(crate) fn now_ns() -> u64 {
    Clock::now().0
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, sync::mpsc::channel};

    use super::*;

    struct Into(std::sync::mpsc::Sender<usize>);

    impl SpanSink for Into {
        fn accept(&mut self, spans: Vec<Span>) {
            self.0.send(spans.len()).expect("somebody listens");
        }
    }

    fn tracer(sampling: f64) -> (Tracer, std::sync::mpsc::Receiver<usize>) {
        let (sender, batches) = channel();
        let settings = TraceSettings { sampling, propagator: Propagator::W3c };
        (Tracer::new(settings, Box::new(Into(sender)), 7), batches)
    }

    #[test]
    fn a_part_is_traced() {
        for (sampling, expect) in [(0.0, 0..=0), (0.25, 2_300..=2_700), (1.0, 10_000..=10_000)] {
            let (tracer, _) = tracer(sampling);
            let traces: Vec<_> = (0..10_000).map(|_| tracer.begin()).collect();
            let sampled = traces.iter().filter(|trace| trace.is_sampled).count();
            assert!(expect.contains(&sampled), "{sampling}: {sampled}");
            let ids: HashSet<_> = traces.iter().map(|trace| trace.trace).collect();
            assert_eq!(ids.len(), traces.len());
        }
    }

    #[test]
    fn spans_leave_in_batches() {
        let (tracer, batches) = tracer(1.0);
        for _ in 0..BATCH_MAX + 3 {
            let IterationTrace { trace, root: id, .. } = tracer.begin();
            let (name, attributes) = ("x".into(), Vec::new());
            let times = (1, 2);
            tracer.note(Span {
                trace,
                id,
                parent: None,
                name,
                is_client: false,
                start_ns: times.0,
                end_ns: times.1,
                attributes,
                error: None,
            });
        }
        tracer.hand_over();
        tracer.hand_over();
        drop(tracer);
        assert_eq!(batches.iter().collect::<Vec<_>>(), [BATCH_MAX, 3]);
    }
}
