//! The way of messages to a receiver: over gRPC or HTTP, compressed where that is asked for, and what the receiver says about them.

use std::{io, io::Write as _, time::Duration};

use flate2::{Compression, write::GzEncoder};
use onrush_grpc::Metadata;
use onrush_net::{ClientOptions, RequestHeaders, Url};
use prost::Message;
use serde_json::Value;

use super::wire::{ExportResponse, PartialSuccess};
use crate::{
    Ending,
    post::{Answer, Destination, Method, Poster, Refused, To, basic_auth},
};

/// Where messages go, and how.
#[derive(Clone)]
pub struct Receiver {
    /// By which protocol.
    pub way: Way,
    /// Names and values that go with every request.
    pub headers: Vec<(String, String)>,
    /// User and password, if it wants some; they replace what headers say of that.
    pub basic: Option<(String, String)>,
    /// Whether messages are compressed, with gzip.
    pub is_gzipped: bool,
    /// How long a request may take.
    pub timeout: Duration,
    /// TLS and proxies.
    pub network: ClientOptions,
}

/// A protocol, and an address.
#[derive(Debug, Clone)]
pub enum Way {
    /// gRPC, to `host:port`.
    Grpc {
        /// `host:port`
        address: String,
        /// Without TLS.
        is_plaintext: bool,
    },
    /// Protobuf over HTTP, to this URL.
    Http(Url),
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Signal {
    Metrics,
    Traces,
}

impl Signal {
    fn method(self) -> &'static str {
        match self {
            Self::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
            Self::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        }
    }
}

/// What a receiver left out of a request it took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rejected {
    /// So many data points or spans.
    pub(super) count: u64,
    /// What it says; it may say something although it took all.
    pub(super) why: String,
}

/// Sends messages.
pub(super) struct Exporter {
    poster: Poster,
    is_gzipped: bool,
}

/// Bytes of a message that is not split: gRPC servers take four million by default.
pub(super) const MESSAGE_BYTES: usize = 3_000_000;

impl Exporter {
    /// Sets up the network side. After the end nobody waits for an answer.
    ///
    /// # Errors
    /// What keeps it from that.
    pub(super) fn new(receiver: Receiver, signal: Signal, ending: Ending) -> io::Result<Self> {
        let Receiver { way, mut headers, basic, is_gzipped, timeout, network } = receiver;
        if let Some(basic) = &basic {
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
            headers.push(("Authorization".to_owned(), basic_auth(basic)));
        }
        let to = match way {
            Way::Grpc { address, is_plaintext } => {
                let mut metadata = Metadata::default();
                headers.iter().for_each(|(name, value)| metadata.add(name, value.clone().into_bytes()));
                let path = signal.method();
                To::Grpc(Method { address, is_plaintext, path, metadata, is_gzipped, deadline: timeout })
            }
            Way::Http(url) => {
                let mut all = RequestHeaders::default();
                headers.iter().for_each(|(name, value)| all.add(name, value));
                all.set("Content-Type", CONTENT_TYPE);
                if is_gzipped {
                    all.set("Content-Encoding", "gzip");
                }
                Destination::new(url, all, timeout).into()
            }
        };
        Ok(Self { poster: Poster::start(to, network, ending)?, is_gzipped })
    }

    /// Sends a message of so many data points or spans after a while.
    ///
    /// # Errors
    /// Why it was not taken.
    pub(super) fn send(&self, message: &impl Message, count: u64, after: Duration) -> Result<Rejected, Refused> {
        let mut bytes = message.encode_to_vec();
        if self.is_gzipped {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            let packed = packed.write_all(&bytes).and_then(|()| packed.finish());
            bytes = packed.map_err(|error| Refused::for_good(error.to_string()))?;
        }
        read(&self.poster.post(bytes, after)?, count)
    }
}

const CONTENT_TYPE: &str = "application/x-protobuf";

/// What a receiver says of a message of so many data points or spans.
fn read(answer: &Answer, count: u64) -> Result<Rejected, Refused> {
    let Answer { content_type, body } = answer;
    let wrong = |what: String| {
        let why = format!("it answered with {what}, which is no answer of OTLP: is this the address of a receiver?");
        Err(Refused::for_good(why))
    };
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let partial = if body.is_empty() {
        PartialSuccess::default()
    } else if kind.eq_ignore_ascii_case("application/json") {
        // A receiver may answer in JSON what it was told in Protobuf.
        match of_json(body) {
            Some(partial) => partial,
            None => return wrong("JSON that is none".to_owned()),
        }
    } else if !kind.is_empty() && !kind.eq_ignore_ascii_case(CONTENT_TYPE) {
        return wrong(format!("{kind:.60}"));
    } else {
        match ExportResponse::decode(body.clone()) {
            Ok(response) => response.partial_success.unwrap_or_default(),
            Err(_) => return wrong(format!("{} bytes", body.len())),
        }
    };
    // A sentence for people.
    const WHY_CHARACTERS_MAX: usize = 300;
    let why = partial.error_message.chars().filter(|sign| !sign.is_control()).take(WHY_CHARACTERS_MAX).collect();
    // Nobody rejects more than there was.
    Ok(Rejected { count: u64::try_from(partial.rejected).unwrap_or(0).min(count), why })
}

/// The same answer in JSON; none where it is something else. Numbers of 64 bits are texts there, and some write them as numbers.
fn of_json(body: &[u8]) -> Option<PartialSuccess> {
    let Value::Object(answer) = serde_json::from_slice(body).ok()? else { return None };
    let partial = match answer.get("partialSuccess") {
        None | Some(Value::Null) => return Some(PartialSuccess::default()),
        Some(partial) => partial.as_object()?,
    };
    let rejected = match ["rejectedDataPoints", "rejectedSpans"].into_iter().find_map(|name| partial.get(name)) {
        None | Some(Value::Null) => 0,
        Some(Value::String(text)) => text.parse().ok()?,
        Some(number) => number.as_i64().or_else(|| number.is_u64().then_some(i64::MAX))?,
    };
    let error_message = match partial.get("errorMessage") {
        None | Some(Value::Null) => String::new(),
        Some(text) => text.as_str()?.to_owned(),
    };
    Some(PartialSuccess { rejected, error_message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood() {
        let check = |content_type: &str, body: &'static [u8], expect: Result<(u64, &str), &str>| {
            let found = read(&Answer { content_type: content_type.to_owned(), body: body.into() }, 9);
            let found =
                found.as_ref().map(|rejected| (rejected.count, &*rejected.why)).map_err(|refused| &*refused.why);
            assert_eq!(found, expect, "{content_type} {body:?}");
        };
        check("application/x-protobuf", b"", Ok((0, "")));
        check("", b"", Ok((0, "")));
        check("text/html", b"", Ok((0, "")));
        let json = "application/json; charset=utf-8";
        check(json, b"", Ok((0, "")));
        check(json, b"{}", Ok((0, "")));
        check(json, b"{\"partialSuccess\":null}", Ok((0, "")));
        let text = b"{\"partialSuccess\":{\"rejectedDataPoints\":\"5\",\"errorMessage\":\"no\"}}";
        check(json, text, Ok((5, "no")));
        check("Application/JSON", b"{\"partialSuccess\":{\"rejectedSpans\":3}}", Ok((3, "")));
        check(json, b"{\"partialSuccess\":{\"errorMessage\":\"slow down\"}}", Ok((0, "slow down")));
        check(json, b"{\"partialSuccess\":{\"rejectedSpans\":18446744073709551615}}", Ok((9, "")));
        let wrong =
            "it answered with JSON that is none, which is no answer of OTLP: is this the address of a receiver?";
        for body in [&b"<h1>"[..], b"[]", b"{\"partialSuccess\":7}", b"{\"partialSuccess\":{\"rejectedSpans\":\"x\"}}"]
        {
            check(json, body, Err(wrong));
        }
        // More than was sent: 2^63-1.
        check("", b"\x0a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f", Ok((9, "")));
        check("", b"\x0a\x08\x08\x05\x12\x04\x1b[m!", Ok((5, "[m!")));
        // A negative number.
        check("", b"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", Ok((0, "")));
        let wrong = "it answered with text/html, which is no answer of OTLP: is this the address of a receiver?";
        check("text/html; charset=utf-8", b"<h1>hello</h1>", Err(wrong));
        let wrong = "it answered with 2 bytes, which is no answer of OTLP: is this the address of a receiver?";
        check("application/x-protobuf", b"\x0a\xff", Err(wrong));
    }
}
