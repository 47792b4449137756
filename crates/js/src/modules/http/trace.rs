//! The span of a request: its ids, the headers that carry them, and what is said of it when it has ended.
//!
//! A script may trace by itself, as the libraries for Tempo do: it sets a header. Its ids are taken then, so that what it calls a request
//! and what is told of it belong together.

use std::net::SocketAddr;

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::trace::{Span, SpanId, SpanValue, TraceId};
use onrush_net::{RequestHeaders, Response};

use super::{arguments::Prepared, hop::Hop};
use crate::{
    trace::{Propagator, Tracer, now_ns, shortened},
    vu::Vu,
};

/// A request that is traced, under way.
pub(super) struct Underway {
    trace: TraceId,
    id: SpanId,
    parent: Option<SpanId>,
    start: Nanos,
}

/// What became of a request.
pub(super) struct Ending<'a> {
    pub(super) status: u16,
    /// k6's code of what went wrong; 0 for nothing.
    pub(super) code: u16,
    pub(super) error: Option<&'a str>,
    pub(super) proto: Option<&'a Response>,
    pub(super) remote: Option<SocketAddr>,
}

/// Writes the headers that carry a trace; gives what is to be told of the request, if it is traced.
#[cold]
#[inline(never)]
pub(super) fn begin(
    vu: &Vu,
    tracer: &Tracer,
    prepared: &Prepared,
    hop: &Hop,
    head: &mut Vec<u8>,
) -> Option<Box<Underway>> {
    let start = Clock::now();
    match carried(&prepared.params.headers) {
        Carried::Nothing => {}
        // The script's header is what goes out.
        Carried::Unreadable => return None,
        Carried::Ids { trace, id, is_sampled } => {
            // What follows a redirect carries the header as well, but is another request.
            let (id, parent) = if hop.is_unsampled { (id, None) } else { (tracer.span_id(), Some(id)) };
            return is_sampled.then(|| Box::new(Underway { trace, id, parent, start }));
        }
    }
    let (context, parent) = vu.trace(tracer);
    let id = parent.map_or(context.root, |_| tracer.span_id());
    write(tracer.propagator(), context.trace, id, context.is_sampled, head);
    context.is_sampled.then(|| Box::new(Underway { trace: context.trace, id, parent, start }))
}

/// Notes the span of a request that has ended.
#[cold]
#[inline(never)]
pub(super) fn end(vu: &Vu, tracer: &Tracer, prepared: &Prepared, hop: &Hop, span: Underway, ending: &Ending<'_>) {
    let url = hop.url(prepared);
    let text = |text: &str| SpanValue::Text(shortened(text));
    let mut attributes = vec![
        ("http.request.method", text(&hop.method)),
        ("url.full", text(&url.clean())),
        ("server.address", text(url.host())),
    ];
    let mut integer = |name, number: u16| attributes.push((name, SpanValue::Integer(i64::from(number))));
    if let Some(port) = url.port() {
        integer("server.port", port);
    }
    if ending.status != 0 {
        integer("http.response.status_code", ending.status);
    }
    if let Ok(resent @ 1..) = u16::try_from(hop.redirects) {
        integer("http.request.resend_count", resent);
    }
    if let Some(response) = ending.proto {
        let proto = response.proto.text();
        attributes.push(("network.protocol.version", text(proto.strip_prefix("HTTP/").unwrap_or(&proto))));
    }
    if let Some(remote) = ending.remote.filter(|remote| remote.port() != 0) {
        attributes.push(("network.peer.address", text(&remote.ip().to_string())));
    }
    let is_failed = ending.error.is_some() || ending.status >= 400;
    if is_failed {
        let kind = if ending.code != 0 { ending.code } else { ending.status };
        attributes.push(("error.type", text(&kind.to_string())));
    }
    attributes.extend(vu.trace_attributes());
    // What it is called where there are too many URLs.
    let template = prepared.target.is_template.then_some(&*prepared.target.name);
    let name = vu.with_given_name(|given| {
        let name = prepared.params.name.as_deref().or(given).or(template);
        name.map_or_else(|| hop.method.to_string(), |name| format!("{} {name}", hop.method))
    });
    tracer.note(Span {
        trace: span.trace,
        id: span.id,
        parent: span.parent,
        name: shortened(&name),
        is_client: true,
        start_ns: span.start.0,
        end_ns: now_ns(),
        attributes,
        error: is_failed.then(|| shortened(ending.error.unwrap_or_default())),
    });
}

fn write(propagator: Propagator, trace: TraceId, id: SpanId, is_sampled: bool, head: &mut Vec<u8>) {
    let (trace, id) = (u128::from_be_bytes(trace.0), u64::from_be_bytes(id.0));
    let flag = u8::from(is_sampled);
    let lines = match propagator {
        Propagator::W3c => format!("traceparent: 00-{trace:032x}-{id:016x}-{flag:02x}\r\n"),
        Propagator::B3 => format!("b3: {trace:032x}-{id:016x}-{flag}\r\n"),
        Propagator::B3Multi => {
            format!("X-B3-TraceId: {trace:032x}\r\nX-B3-SpanId: {id:016x}\r\nX-B3-Sampled: {flag}\r\n")
        }
        Propagator::Jaeger => format!("uber-trace-id: {trace:032x}:{id:016x}:0:{flag}\r\n"),
        Propagator::None => return,
    };
    head.extend_from_slice(lines.as_bytes());
}

/// What the script's own headers say about a trace.
#[derive(Debug, PartialEq)]
enum Carried {
    Nothing,
    /// There is such a header, and no ids in it.
    Unreadable,
    Ids {
        trace: TraceId,
        id: SpanId,
        is_sampled: bool,
    },
}

fn carried(headers: &RequestHeaders) -> Carried {
    let ids = |trace: &str, id: &str, is_sampled: bool| {
        let (trace, id) = (u128::from_str_radix(trace, 16).ok()?, u64::from_str_radix(id, 16).ok()?);
        (trace != 0 && id != 0).then(|| Carried::Ids {
            trace: TraceId(trace.to_be_bytes()),
            id: SpanId(id.to_be_bytes()),
            is_sampled,
        })
    };
    let found = if let Some(text) = headers.get("traceparent") {
        match text.split('-').collect::<Vec<_>>()[..] {
            [_, trace, id, flags, ..] => {
                ids(trace, id, u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1))
            }
            _ => None,
        }
    } else if let Some(text) = headers.get("uber-trace-id") {
        match text.split(':').collect::<Vec<_>>()[..] {
            [trace, id, _, flags] => ids(trace, id, u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1)),
            _ => None,
        }
    } else if let Some(text) = headers.get("b3") {
        match text.split('-').collect::<Vec<_>>()[..] {
            [trace, id] => ids(trace, id, true),
            [trace, id, flag, ..] => ids(trace, id, matches!(flag, "1" | "d")),
            _ => None,
        }
    } else if let Some(trace) = headers.get("x-b3-traceid") {
        let is_sampled = headers.get("x-b3-sampled").is_none_or(|flag| matches!(flag, "1" | "true"));
        headers.get("x-b3-spanid").and_then(|id| ids(trace, id, is_sampled))
    } else {
        return Carried::Nothing;
    };
    found.unwrap_or(Carried::Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: TraceId = TraceId([0xab; 16]);
    const ID: SpanId = SpanId([0x01; 8]);

    #[test]
    fn what_is_written_is_understood() {
        for propagator in [Propagator::W3c, Propagator::B3, Propagator::B3Multi, Propagator::Jaeger] {
            for is_sampled in [true, false] {
                let mut head = Vec::new();
                write(propagator, TRACE, ID, is_sampled, &mut head);
                let mut headers = RequestHeaders::new();
                for line in String::from_utf8(head).expect("text").lines() {
                    let (name, value) = line.split_once(": ").expect("a header");
                    headers.add(name, value);
                }
                assert_eq!(carried(&headers), Carried::Ids { trace: TRACE, id: ID, is_sampled }, "{propagator:?}");
            }
        }
    }

    #[test]
    fn what_scripts_write_may_be_anything() {
        let check = |name: &str, value: &str, expect: Carried| {
            let mut headers = RequestHeaders::new();
            headers.add(name, value);
            assert_eq!(carried(&headers), expect, "{name}: {value}");
        };
        check("Accept", "x", Carried::Nothing);
        for value in ["", "00", "00-1-2", "00-x-1-01", "00-0-1-01", "00-1-0-01", &"f".repeat(50), "00--1-01"] {
            check("Traceparent", value, Carried::Unreadable);
        }
        check("b3", "0", Carried::Unreadable);
        check("X-B3-TraceId", "1", Carried::Unreadable);
        let (trace, id) = (TraceId(1_u128.to_be_bytes()), SpanId(2_u64.to_be_bytes()));
        check("TraceParent", "00-1-2-03", Carried::Ids { trace, id, is_sampled: true });
        check("uber-trace-id", "1:2:0:0", Carried::Ids { trace, id, is_sampled: false });
    }
}
