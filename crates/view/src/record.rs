//! A record: its name, its number and its JSON, which is packed where it is large and old.

use std::{
    borrow::Cow,
    io::{Read as _, Write as _},
    sync::Arc,
};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};

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

/// The JSON of a record. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Plain(Arc<str>),
    Packed(Arc<[u8]>),
}

impl Body {
    /// Shorter ones are not worth packing.
    const PACKED_BYTES_MIN: usize = 512;

    pub(crate) fn new(text: String) -> Self {
        Self::Plain(text.into())
    }

    /// One that is rarely looked at.
    pub(crate) fn packed(text: &str) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        // Memory takes everything.
        match encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()) {
            Ok(bytes) if text.len() >= Self::PACKED_BYTES_MIN => Self::Packed(bytes.into()),
            _ => Self::Plain(text.into()),
        }
    }

    /// Bytes it takes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Packed(bytes) => bytes.len(),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Plain(text) => Cow::Borrowed(text),
            Self::Packed(bytes) => {
                let mut text = String::new();
                // It was packed here.
                let _ = DeflateDecoder::new(&**bytes).read_to_string(&mut text);
                Cow::Owned(text)
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
