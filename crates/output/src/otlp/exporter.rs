//! The way of messages to a receiver: over gRPC or HTTP, compressed where that is asked for, and what the receiver says about them.

use std::{io, io::Write as _, time::Duration};

use flate2::{Compression, write::GzEncoder};
use onrush_grpc::Metadata;
use onrush_net::{ClientOptions, RequestHeaders, Url};
use prost::Message;

use super::wire::ExportResponse;
use crate::post::{Answer, Destination, Method, Poster, Refused, To, basic_auth};

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
    /// Sets up the network side.
    ///
    /// # Errors
    /// What keeps it from that.
    pub(super) fn new(receiver: Receiver, signal: Signal) -> io::Result<Self> {
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
        Ok(Self { poster: Poster::start(to, network)?, is_gzipped })
    }

    /// Sends a message after a while.
    ///
    /// # Errors
    /// Why it was not taken.
    pub(super) fn send(&self, message: &impl Message, after: Duration) -> Result<Rejected, Refused> {
        let mut bytes = message.encode_to_vec();
        if self.is_gzipped {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            let packed = packed.write_all(&bytes).and_then(|()| packed.finish());
            bytes = packed.map_err(|error| Refused::for_good(error.to_string()))?;
        }
        read(&self.poster.post(bytes, after)?)
    }
}

const CONTENT_TYPE: &str = "application/x-protobuf";

/// What a receiver says.
fn read(answer: &Answer) -> Result<Rejected, Refused> {
    let Answer { content_type, body } = answer;
    let wrong = |what: String| {
        let why = format!("it answered with {what}, which is no answer of OTLP: is this the address of a receiver?");
        Err(Refused::for_good(why))
    };
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    if !kind.is_empty() && kind != CONTENT_TYPE && !body.is_empty() {
        // A receiver may say in JSON that all is well.
        return if kind == "application/json" { Ok(Rejected::default()) } else { wrong(format!("{kind:.60}")) };
    }
    let Ok(response) = ExportResponse::decode(body.clone()) else {
        return wrong(format!("{} bytes", body.len()));
    };
    let partial = response.partial_success.unwrap_or_default();
    // A sentence for people.
    const WHY_CHARACTERS_MAX: usize = 300;
    let why = partial.error_message.chars().filter(|sign| !sign.is_control()).take(WHY_CHARACTERS_MAX).collect();
    Ok(Rejected { count: u64::try_from(partial.rejected).unwrap_or(0), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood() {
        let check = |content_type: &str, body: &'static [u8], expect: Result<(u64, &str), &str>| {
            let found = read(&Answer { content_type: content_type.to_owned(), body: body.into() });
            let found =
                found.as_ref().map(|rejected| (rejected.count, &*rejected.why)).map_err(|refused| &*refused.why);
            assert_eq!(found, expect, "{content_type} {body:?}");
        };
        check("application/x-protobuf", b"", Ok((0, "")));
        check("", b"", Ok((0, "")));
        check("text/html", b"", Ok((0, "")));
        check("application/json; charset=utf-8", b"{}", Ok((0, "")));
        check("", b"\x0a\x08\x08\x05\x12\x04\x1b[m!", Ok((5, "[m!")));
        // A negative number.
        check("", b"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", Ok((0, "")));
        let wrong = "it answered with text/html, which is no answer of OTLP: is this the address of a receiver?";
        check("text/html; charset=utf-8", b"<h1>hello</h1>", Err(wrong));
        let wrong = "it answered with 2 bytes, which is no answer of OTLP: is this the address of a receiver?";
        check("application/x-protobuf", b"\x0a\xff", Err(wrong));
    }
}
