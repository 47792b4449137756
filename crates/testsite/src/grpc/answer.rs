//! What each method does with its messages.

use std::collections::VecDeque;

use http::HeaderMap;

use super::{reflection, wire};
use crate::clock::NANOS_PER_MILLI;

/// What the server does next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Sends a message.
    Send(Vec<u8>),
    /// Does nothing for a while.
    Pause { ns: u64 },
    /// Counts on: made into messages when there is room for them.
    Count { next: i64, to: i64, pause_ns: u64, code: u32 },
    /// Ends the call.
    Finish(Status),
}

/// How a call ends.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) code: u32,
    pub(crate) message: String,
    /// For `grpc-status-details-bin`.
    pub(crate) details: Vec<u8>,
}

/// A call of one method.
#[derive(Debug)]
pub(crate) struct Service {
    method: Method,
    sum: i64,
    is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Echo,
    Metadata,
    Fail,
    Wait,
    Long,
    Raw,
    Count,
    Sum,
    Mirror,
    Health,
    Reflection,
    /// Nobody serves it; whether the service is there.
    Unknown,
}

impl Service {
    /// The method at a path.
    pub(crate) fn at(path: &str) -> Self {
        let method = match path {
            "/target.Echo/Say"
            | "/target.Echo/All"
            | "/target.Echo/Old"
            | "/target.Echo/Wrapped"
            | "/target.Echo/Nothing" => Method::Echo,
            "/target.Echo/Metadata" => Method::Metadata,
            "/target.Echo/Fail" => Method::Fail,
            "/target.Echo/Wait" => Method::Wait,
            "/target.Echo/Long" => Method::Long,
            "/target.Echo/Raw" => Method::Raw,
            "/target.Flow/Count" => Method::Count,
            "/target.Flow/Sum" => Method::Sum,
            "/target.Flow/Mirror" => Method::Mirror,
            "/grpc.health.v1.Health/Check" => Method::Health,
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
            | "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo" => Method::Reflection,
            _ => Method::Unknown,
        };
        Self { method, sum: 0, is_over: false }
    }

    /// Before the first message.
    pub(crate) fn begin(&mut self, path: &str, actions: &mut VecDeque<Action>) {
        if self.method == Method::Unknown {
            let (service, method) = path.trim_start_matches('/').rsplit_once('/').unwrap_or((path, ""));
            let text = match service {
                "target.Echo" | "target.Flow" | "grpc.health.v1.Health" => {
                    format!("unknown method {method} for service {service}")
                }
                _ => format!("unknown service {service}"),
            };
            self.finish(status(12, &text), actions);
        }
    }

    /// A message has come.
    pub(crate) fn message(&mut self, message: &[u8], fields: &HeaderMap, actions: &mut VecDeque<Action>) {
        if self.is_over {
            return;
        }
        match self.method {
            Method::Echo => self.answer(message.to_vec(), actions),
            Method::Metadata => self.answer(metadata(fields), actions),
            Method::Raw => self.answer(wire::bytes(message, 1).to_vec(), actions),
            Method::Fail => {
                let text = String::from_utf8_lossy(wire::bytes(message, 2)).into_owned();
                let code = wire::number(message, 1) as u32;
                self.finish(Status { code, message: text, details: wire::bytes(message, 3).to_vec() }, actions);
            }
            Method::Wait => {
                let milliseconds = wire::number(message, 1).clamp(0, WAIT_MS_MAX) as u64;
                actions.push_back(Action::Pause { ns: milliseconds * NANOS_PER_MILLI });
                self.answer(phrase(&format!("waited {milliseconds} ms")), actions);
            }
            Method::Long => {
                let letters = wire::number(message, 1).clamp(0, LETTERS_MAX) as usize;
                self.answer(phrase(&"x".repeat(letters)), actions);
            }
            Method::Count => {
                self.is_over = true;
                actions.push_back(Action::Count {
                    next: wire::number(message, 1),
                    to: wire::number(message, 2),
                    pause_ns: wire::number(message, 3).clamp(0, WAIT_MS_MAX) as u64 * NANOS_PER_MILLI,
                    code: wire::number(message, 4) as u32,
                });
            }
            Method::Sum => self.sum = self.sum.wrapping_add(wire::number(message, 1)),
            Method::Mirror => match wire::bytes(message, 1) {
                b"fail" => self.finish(status(10, "asked to fail"), actions),
                b"end" => self.finish(Status::default(), actions),
                _ => actions.push_back(Action::Send(message.to_vec())),
            },
            Method::Health => match wire::bytes(message, 1) {
                b"" | b"target.Echo" => self.answer(serving(1), actions),
                b"target.Flow" => self.answer(serving(2), actions),
                _ => self.finish(status(5, "unknown service"), actions),
            },
            Method::Reflection => actions.push_back(Action::Send(reflection::answer(message))),
            Method::Unknown => {}
        }
    }

    /// The client sends nothing more.
    pub(crate) fn end(&mut self, actions: &mut VecDeque<Action>) {
        if self.is_over {
            return;
        }
        match self.method {
            Method::Sum => {
                let mut sum = Vec::new();
                wire::put_number(&mut sum, 1, self.sum);
                self.answer(sum, actions);
            }
            Method::Mirror | Method::Reflection => self.finish(Status::default(), actions),
            _ => self.finish(status(13, "no message"), actions),
        }
    }

    fn answer(&mut self, message: Vec<u8>, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Send(message));
        self.finish(Status::default(), actions);
    }

    fn finish(&mut self, status: Status, actions: &mut VecDeque<Action>) {
        self.is_over = true;
        actions.push_back(Action::Finish(status));
    }
}

/// The number that a count sends.
pub(super) fn number_message(value: i64) -> Vec<u8> {
    let mut message = Vec::new();
    wire::put_number(&mut message, 1, value);
    message
}

impl Action {
    /// Makes a count's next step out of it, in front of the rest.
    pub(crate) fn step(next: i64, to: i64, pause_ns: u64, code: u32, actions: &mut VecDeque<Self>) {
        if next > to {
            let message = if code == 0 { "" } else { "the count is over" };
            actions.push_front(Self::Finish(status(code, message)));
            return;
        }
        actions.push_front(Self::Count { next: next.saturating_add(1), to, pause_ns, code });
        if pause_ns > 0 {
            actions.push_front(Self::Pause { ns: pause_ns });
        }
        actions.push_front(Self::Send(number_message(next)));
    }
}

fn status(code: u32, message: &str) -> Status {
    Status { code, message: message.to_owned(), details: Vec::new() }
}

fn phrase(text: &str) -> Vec<u8> {
    let mut message = Vec::new();
    wire::put_bytes(&mut message, 1, text.as_bytes());
    message
}

fn serving(status: i64) -> Vec<u8> {
    let mut message = Vec::new();
    wire::put_number(&mut message, 1, status);
    message
}

/// The metadata of a request as a map; several values of a name are joined.
fn metadata(fields: &HeaderMap) -> Vec<u8> {
    let mut message = Vec::new();
    for name in fields.keys() {
        let values: Vec<_> =
            fields.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        let mut entry = Vec::new();
        wire::put_bytes(&mut entry, 1, name.as_str().as_bytes());
        wire::put_bytes(&mut entry, 2, values.join(",").as_bytes());
        wire::put_bytes(&mut message, 1, &entry);
    }
    message
}

/// Five minutes, as for delays over HTTP.
const WAIT_MS_MAX: i64 = 300_000;
/// Twice what clients take by default.
const LETTERS_MAX: i64 = 8 << 20;
