//! A record: its name, its number and its JSON. Steps are packed, since a run has many large ones.

use std::{
    borrow::Cow,
    io::{Read as _, Write as _},
    sync::Arc,
};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use onrush_metrics::{Delta, Span};

use crate::{health::HealthStep, step};

/// The names of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Head,
    Series,
    Step,
    Open,
    Health,
    State,
    Log,
    End,
}

impl Event {
    fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Series => "series",
            Self::Step => "step",
            Self::Open => "open",
            Self::Health => "health",
            Self::State => "state",
            Self::Log => "log",
            Self::End => "end",
        }
    }
}

/// The JSON of a record, or what it is made from. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// JSON.
    Plain(Arc<str>),
    /// A step: packed, so that it can be added to others, and its JSON as long as many ask for it.
    Step { span: Option<Span>, packed: Arc<[u8]>, text: Option<Arc<str>> },
}

impl Body {
    pub(crate) fn new(text: String) -> Self {
        Self::Plain(text.into())
    }

    /// A step whose series are called by their numbers.
    pub(crate) fn step(span: Option<Span>, numbered: &Delta, has_text: bool) -> Self {
        let text = has_text.then(|| step::record(span, numbered).into());
        let bytes = postcard::to_allocvec(numbered).unwrap_or_default();
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        // Memory takes everything.
        let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish()).unwrap_or_default();
        Self::Step { span, packed: packed.into(), text }
    }

    /// The step, if it is one.
    pub(crate) fn unpacked(&self) -> Option<(Option<Span>, Delta)> {
        let Self::Step { span, packed, .. } = self else { return None };
        let mut bytes = Vec::new();
        // It was packed here.
        DeflateDecoder::new(&**packed).read_to_end(&mut bytes).ok()?;
        Some((*span, postcard::from_bytes(&bytes).ok()?))
    }

    /// The health of the generators, if it is that.
    pub(crate) fn health(&self) -> Option<HealthStep> {
        let Self::Plain(text) = self else { return None };
        serde_json::from_str(text).ok()
    }

    /// The time of the scenarios it covers, if it is a step that does.
    pub(crate) fn span(&self) -> Option<Span> {
        match self {
            Self::Step { span, .. } => *span,
            Self::Plain(_) => None,
        }
    }

    /// From now on few ask for it.
    pub(crate) fn drop_text(&mut self) {
        if let Self::Step { text, .. } = self {
            *text = None;
        }
    }

    /// Bytes it takes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Step { packed, text, .. } => packed.len() + text.as_ref().map_or(0, |text| text.len()),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Plain(text) | Self::Step { text: Some(text), .. } => Cow::Borrowed(text),
            Self::Step { .. } => {
                Cow::Owned(self.unpacked().map(|(span, delta)| step::record(span, &delta)).unwrap_or_default())
            }
        }
    }
}

/// A record as a reader gets it.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) event: Event,
    pub(crate) number: u64,
    pub(crate) body: Body,
}

impl Record {
    /// As a server-sent event. JSON has no line breaks.
    pub(crate) fn push_event(&self, text: &mut String, run: &str) {
        let (name, number) = (self.event.name(), self.number);
        text.push_str(&format!("event: {name}\nid: {run}-{number}\ndata: "));
        text.push_str(&self.body.text());
        text.push_str("\n\n");
    }

    /// As a line of JSON.
    pub(crate) fn push_line(&self, text: &mut String) {
        text.push_str(&format!("{{\"event\":\"{}\",\"data\":", self.event.name()));
        text.push_str(&self.body.text());
        text.push_str("}\n");
    }
}
