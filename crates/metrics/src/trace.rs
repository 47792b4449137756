//! Spans: what a trace says of one request, or of the iteration that made it.
//!
//! They are no samples and are never folded: where somebody wants traces, threads hand them over in batches and forget them.

/// A part of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The trace it belongs to.
    pub trace: TraceId,
    /// Its own id.
    pub id: SpanId,
    /// The span it is a part of.
    pub parent: Option<SpanId>,
    /// What it is called.
    pub name: Box<str>,
    /// Whether something else was asked, and may have a span of its own below this one.
    pub is_client: bool,
    /// When it began, nanoseconds of the process's clock.
    pub start_ns: u64,
    /// When it ended, nanoseconds of the process's clock.
    pub end_ns: u64,
    /// What is known about it.
    pub attributes: Vec<(&'static str, SpanValue)>,
    /// It failed: why, which may be empty.
    pub error: Option<Box<str>>,
}

/// The id of a trace; never all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(pub [u8; 16]);

/// The id of a span; never all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId(pub [u8; 8]);

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanValue {
    /// A text.
    Text(Box<str>),
    /// A number.
    Integer(i64),
}

/// Takes batches of one thread's spans.
pub trait SpanSink: Send {
    /// Takes a batch. It never waits: what finds no room is the sink's to count.
    fn accept(&mut self, spans: Vec<Span>);
}
