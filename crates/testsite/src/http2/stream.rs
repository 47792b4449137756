//! One request over HTTP/2, from its head to the end of its answer.

use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream, server::SendResponse};
use http::{Request as HttpRequest, Response, StatusCode, header::HeaderMap, request::Parts};
use httparse::{EMPTY_HEADER, Header};

use super::{
    Waiting,
    exchange::{Exchange, is_call},
};
use crate::{
    body::{Body, Sink},
    context::Context,
    fault::{Break, Ending, Fault},
    head::{Framing, HEADERS_MAX, Head, Refusal},
    link::Link,
    reply::{Built, Payload, Reply},
    response_head::{add_lines, common_headers},
    routes::{self, Request},
    source::{Progress, Source},
    statics::Statics,
    stats::Class,
};

/// A request that could not be answered at once.
pub(super) struct Stream {
    phase: StreamPhase,
}

enum StreamPhase {
    /// Its body is arriving.
    Receiving(Box<Upload>),
    /// Its answer waits for its time.
    Held(Box<Held>),
    /// The answer's body is on its way.
    Sending(Box<Sending>),
    /// Nothing is said any more, and the stream stays open.
    Stalled(SendStream<Bytes>),
    Mute(SendResponse<Bytes>),
    /// The whole connection is to end.
    Cut,
    /// A call of gRPC.
    Call(Box<Exchange>),
    /// So many turns from now it breaks: what was handed over is sent then.
    Breaking {
        send: SendStream<Bytes>,
        turns: u8,
        cut: bool,
    },
    Done,
}

struct Upload {
    parts: Parts,
    receive: RecvStream,
    respond: SendResponse<Bytes>,
    sink: Sink,
    bytes: u64,
}

struct Held {
    reply: Reply,
    head_only: bool,
    class: Class,
    respond: SendResponse<Bytes>,
    at_ns: u64,
}

struct Sending {
    send: SendStream<Bytes>,
    pending: Bytes,
    source: Option<Source>,
    trailers: Option<HeaderMap>,
    at_ns: Option<u64>,
}

/// What a turn achieved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advance {
    Moved,
    Blocked,
    Done,
    /// The whole connection is to be cut.
    Cut,
}

impl Stream {
    /// Begins to answer a request; gives a stream when that takes longer.
    pub(super) fn begin(
        request: HttpRequest<RecvStream>,
        respond: SendResponse<Bytes>,
        link: Link<'_>,
        task: &mut TaskContext<'_>,
        queued_bytes: &mut usize,
        cx: &mut Context,
    ) -> Option<Self> {
        let (parts, receive) = request.into_parts();
        if is_call(&parts) {
            let mut stream = Self { phase: StreamPhase::Call(Box::new(Exchange::new(parts, receive, respond))) };
            return match stream.advance(link, 0, task, queued_bytes, cx) {
                Advance::Done => None,
                _ => Some(stream),
            };
        }
        let mut storage = [EMPTY_HEADER; HEADERS_MAX];
        let phase = match head_of(&parts, receive.is_end_stream(), &mut storage, cx) {
            Err(refusal) => refuse(refusal, respond, cx),
            Ok(head) if receive.is_end_stream() => {
                answer(&head, Body::Kept { data: &[], total: 0 }, respond, link, queued_bytes, cx)
            }
            Ok(head) => match routes::sink(&head, cx.limits()) {
                Err(refusal) => refuse(refusal, respond, cx),
                Ok(sink) => {
                    let mut respond = respond;
                    if head.expect_continue {
                        // What the client does without it is its own affair.
                        let _ = respond.send_informational(status(100, HeaderMap::new()));
                    }
                    StreamPhase::Receiving(Box::new(Upload { parts, receive, respond, sink, bytes: 0 }))
                }
            },
        };
        let mut stream = Self { phase };
        match stream.advance(link, 0, task, queued_bytes, cx) {
            Advance::Done => None,
            _ => Some(stream),
        }
    }

    /// Goes on as far as possible.
    pub(super) fn advance(
        &mut self,
        link: Link<'_>,
        now_ns: u64,
        task: &mut TaskContext<'_>,
        queued_bytes: &mut usize,
        cx: &mut Context,
    ) -> Advance {
        let mut moved = false;
        loop {
            let next = match &mut self.phase {
                StreamPhase::Done => return Advance::Done,
                StreamPhase::Cut => return Advance::Cut,
                StreamPhase::Call(call) => return call.advance(now_ns, task, queued_bytes, cx),
                StreamPhase::Breaking { turns, .. } if *turns > 0 => {
                    *turns -= 1;
                    task.waker().wake_by_ref();
                    return Advance::Moved;
                }
                StreamPhase::Breaking { cut: true, .. } => return Advance::Cut,
                StreamPhase::Breaking { send, .. } => {
                    send.send_reset(Reason::INTERNAL_ERROR);
                    return Advance::Done;
                }
                StreamPhase::Stalled(send) => send.poll_reset(task).is_ready().then_some(StreamPhase::Done),
                StreamPhase::Mute(respond) => respond.poll_reset(task).is_ready().then_some(StreamPhase::Done),
                StreamPhase::Receiving(upload) => match upload.receive(task, cx) {
                    Received::Nothing => None,
                    Received::Some => {
                        moved = true;
                        continue;
                    }
                    Received::Failed => Some(StreamPhase::Done),
                    Received::Refused(refusal) => {
                        let StreamPhase::Receiving(upload) = std::mem::replace(&mut self.phase, StreamPhase::Done)
                        else {
                            return Advance::Done;
                        };
                        Some(refuse(refusal, upload.respond, cx))
                    }
                    Received::All => {
                        let StreamPhase::Receiving(upload) = std::mem::replace(&mut self.phase, StreamPhase::Done)
                        else {
                            return Advance::Done;
                        };
                        Some(upload.answer(link, queued_bytes, cx))
                    }
                },
                StreamPhase::Held(held) => {
                    if held.respond.poll_reset(task).is_ready() {
                        Some(StreamPhase::Done)
                    } else if held.at_ns <= now_ns {
                        let StreamPhase::Held(held) = std::mem::replace(&mut self.phase, StreamPhase::Done) else {
                            return Advance::Done;
                        };
                        Some(emit(held.reply, held.head_only, held.class, held.respond, queued_bytes, cx))
                    } else {
                        None
                    }
                }
                StreamPhase::Sending(sending) => match sending.send(now_ns, task, queued_bytes) {
                    Sent::Nothing => None,
                    Sent::Some => {
                        moved = true;
                        None
                    }
                    Sent::All => Some(StreamPhase::Done),
                },
            };
            match next {
                Some(phase) => {
                    moved = true;
                    self.phase = phase;
                }
                None if moved => return Advance::Moved,
                None => return Advance::Blocked,
            }
        }
    }

    /// When it wants to go on by itself.
    pub(super) fn at_ns(&self) -> Option<u64> {
        match &self.phase {
            StreamPhase::Held(held) => Some(held.at_ns),
            StreamPhase::Sending(sending) => sending.at_ns,
            StreamPhase::Call(call) => call.at_ns(),
            _ => None,
        }
    }

    pub(super) fn waiting(&self) -> Waiting {
        match &self.phase {
            StreamPhase::Receiving(_) => Waiting::Body,
            StreamPhase::Call(call) => call.waiting(),
            StreamPhase::Sending(sending) if sending.at_ns.is_none() => Waiting::Room,
            StreamPhase::Done => Waiting::Idle,
            _ => Waiting::Time,
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        size_of::<Self>()
            + match &self.phase {
                StreamPhase::Receiving(upload) => upload.sink.held_bytes() + size_of::<Upload>(),
                StreamPhase::Held(held) => held.reply.held_bytes(),
                StreamPhase::Call(call) => call.held_bytes(),
                StreamPhase::Sending(sending) => sending.pending.len() + size_of::<Sending>(),
                _ => 0,
            }
    }
}

enum Received {
    Nothing,
    Some,
    All,
    Failed,
    Refused(Refusal),
}

impl Upload {
    /// Takes one piece of the body.
    fn receive(&mut self, task: &mut TaskContext<'_>, cx: &Context) -> Received {
        match self.receive.poll_data(task) {
            Poll::Pending => Received::Nothing,
            Poll::Ready(None) => Received::All,
            Poll::Ready(Some(Err(_))) => Received::Failed,
            Poll::Ready(Some(Ok(data))) => {
                self.bytes += data.len() as u64;
                if self.bytes > cx.limits().body_bytes_max {
                    return Received::Refused(Refusal::new(413, "request body too large"));
                }
                if let Err(refusal) = self.sink.take(&data) {
                    return Received::Refused(refusal);
                }
                match self.receive.flow_control().release_capacity(data.len()) {
                    Ok(()) => Received::Some,
                    Err(_) => Received::Failed,
                }
            }
        }
    }

    fn answer(mut self, link: Link<'_>, queued_bytes: &mut usize, cx: &mut Context) -> StreamPhase {
        let mut storage = [EMPTY_HEADER; HEADERS_MAX];
        match head_of(&self.parts, false, &mut storage, cx) {
            Err(refusal) => refuse(refusal, self.respond, cx),
            Ok(head) => match self.sink.finish() {
                Err(refusal) => refuse(refusal, self.respond, cx),
                Ok(body) => answer(&head, body, self.respond, link, queued_bytes, cx),
            },
        }
    }
}

enum Sent {
    Nothing,
    Some,
    All,
}

impl Sending {
    /// Sends what there is room for.
    fn send(&mut self, now_ns: u64, task: &mut TaskContext<'_>, queued_bytes: &mut usize) -> Sent {
        let mut sent = false;
        loop {
            if self.send.poll_reset(task).is_ready() {
                return Sent::All;
            }
            if self.pending.is_empty()
                && let Some(source) = &mut self.source
            {
                if self.at_ns.is_some_and(|at_ns| at_ns > now_ns) {
                    return if sent { Sent::Some } else { Sent::Nothing };
                }
                let mut out = Vec::new();
                let progress = source.produce(now_ns, &mut out);
                self.pending = Bytes::from(out);
                self.at_ns = match progress {
                    Progress::At(at_ns) => Some(at_ns),
                    Progress::More | Progress::Done => None,
                };
                if progress == Progress::Done {
                    self.source = None;
                } else if self.pending.is_empty() {
                    continue;
                }
            }
            let last = self.source.is_none();
            let wanted = self.pending.len();
            if wanted > 0 {
                self.send.reserve_capacity(wanted);
                let mut room = self.send.capacity();
                if room < wanted {
                    match self.send.poll_capacity(task) {
                        Poll::Pending if room == 0 => return if sent { Sent::Some } else { Sent::Nothing },
                        Poll::Pending => {}
                        Poll::Ready(Some(Ok(more))) => room = room.max(more),
                        Poll::Ready(_) => return Sent::All,
                    }
                }
                if room == 0 {
                    return if sent { Sent::Some } else { Sent::Nothing };
                }
                let piece = self.pending.split_to(room.min(wanted));
                let ends = last && self.pending.is_empty() && self.trailers.is_none();
                *queued_bytes += piece.len();
                if self.send.send_data(piece, ends).is_err() || ends {
                    return Sent::All;
                }
                sent = true;
            } else if last {
                // An empty body, or trailers after it.
                let _ = match self.trailers.take() {
                    Some(trailers) => self.send.send_trailers(trailers),
                    None => self.send.send_data(Bytes::new(), true),
                };
                return Sent::All;
            }
        }
    }
}

/// A head over HTTP/2 in the shape endpoints know; the authority becomes `Host`.
fn head_of<'a>(
    parts: &'a Parts,
    bodiless: bool,
    storage: &'a mut [Header<'a>; HEADERS_MAX],
    cx: &Context,
) -> Result<Head<'a>, Refusal> {
    let target_bytes = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if target_bytes > cx.limits().target_bytes_max {
        return Err(Refusal::new(414, "request target too long"));
    }
    let mut count = 0;
    if let Some(authority) = parts.uri.authority() {
        storage[0] = Header { name: "host", value: authority.as_str().as_bytes() };
        count = 1;
    }
    let mut expect_continue = false;
    for (name, value) in &parts.headers {
        let slot = storage.get_mut(count).ok_or(Refusal::new(431, "too many headers"))?;
        *slot = Header { name: name.as_str(), value: value.as_bytes() };
        expect_continue |= name == http::header::EXPECT;
        count += 1;
    }
    Ok(Head {
        method: parts.method.as_str(),
        path: if parts.uri.path().is_empty() { "/" } else { parts.uri.path() },
        query: parts.uri.query().unwrap_or(""),
        minor: 1,
        headers: &storage[..count],
        framing: if bodiless { Framing::None } else { Framing::Chunked },
        keep_alive: true,
        expect_continue,
        bytes: 0,
    })
}

fn answer(
    head: &Head<'_>,
    body: Body<'_>,
    respond: SendResponse<Bytes>,
    link: Link<'_>,
    queued_bytes: &mut usize,
    cx: &mut Context,
) -> StreamPhase {
    cx.arrived(head.path, 0);
    let head_only = head.is_head();
    let request = Request { head, body, link };
    let answer = routes::respond(&request, cx);
    if answer.hold_ns > 0 {
        let at_ns = crate::clock::monotonic_ns().saturating_add(answer.hold_ns);
        let held = Held { reply: answer.reply, head_only, class: answer.class, respond, at_ns };
        return StreamPhase::Held(Box::new(held));
    }
    emit(answer.reply, head_only, answer.class, respond, queued_bytes, cx)
}

fn refuse(refusal: Refusal, mut respond: SendResponse<Bytes>, cx: &mut Context) -> StreamPhase {
    cx.counters().answered(Class::Refused, refusal.status);
    let (headers, payload, _, _) = Built::refused(refusal).into_http2(cx.statics.date());
    let Payload::Bytes(body) = payload else { return StreamPhase::Done };
    if let Ok(mut send) = respond.send_response(status(refusal.status, headers), false) {
        // When the stream is dropped the client is told that the rest of its body is of no interest.
        let _ = send.send_data(Bytes::from(body), true);
    }
    StreamPhase::Done
}

/// Sends a response's head, and as much of its body as there is room for.
fn emit(
    reply: Reply,
    head_only: bool,
    class: Class,
    mut respond: SendResponse<Bytes>,
    queued_bytes: &mut usize,
    cx: &mut Context,
) -> StreamPhase {
    let (code, headers, body, source, trailers) = match reply {
        Reply::Static(id) => {
            cx.counters().answered(class, 200);
            let (headers, body) = cx.statics.http2(id);
            (200, headers.clone(), body.clone(), None, None)
        }
        Reply::Built(mut built) => {
            if let Some(fault) = built.take_fault() {
                cx.counters().answered(class, built.status);
                return emit_broken(*built, &fault, respond, cx);
            }
            let code = built.status;
            cx.counters().answered(class, code);
            let bodiless = matches!(code, 204 | 304);
            let (headers, payload, trailers, interim) = built.into_http2(cx.statics.date());
            for (code, headers) in interim {
                let _ = respond.send_informational(status(code, headers));
            }
            let (body, source) = match payload {
                _ if bodiless => (Bytes::new(), None),
                Payload::Bytes(bytes) => (Bytes::from(bytes), None),
                Payload::Text(text) => (Bytes::from_static(text), None),
                Payload::Stream { mut source, .. } => {
                    source.start(crate::clock::monotonic_ns());
                    (Bytes::new(), Some(source))
                }
            };
            (code, headers, body, source, trailers.filter(|_| !bodiless))
        }
    };
    let empty = body.is_empty() && source.is_none() && trailers.is_none();
    let Ok(mut send) = respond.send_response(status(code, headers), head_only || empty) else {
        return StreamPhase::Done;
    };
    if head_only || empty {
        return StreamPhase::Done;
    }
    if source.is_none() && trailers.is_none() {
        // The common case: the whole body fits and the stream is done with.
        send.reserve_capacity(body.len());
        if send.capacity() >= body.len() {
            *queued_bytes += body.len();
            let _ = send.send_data(body, true);
            return StreamPhase::Done;
        }
    }
    StreamPhase::Sending(Box::new(Sending { send, pending: body, source, trailers, at_ns: None }))
}

/// Sends a response that goes wrong: offsets count in the body, as heads are frames here; 0 in the head means that
/// there is none.
fn emit_broken(built: Built, fault: &Fault, mut respond: SendResponse<Bytes>, cx: &Context) -> StreamPhase {
    let code = built.status;
    let (headers, payload, _, _) = built.into_http2(cx.statics.date());
    let Payload::Bytes(mut body) = payload else { return StreamPhase::Done };
    if !fault.in_body && !matches!(fault.ending, Ending::Slow(_)) {
        return match fault.ending {
            Ending::Break(Break::Stall) => StreamPhase::Mute(respond),
            Ending::Break(Break::Close) => StreamPhase::Cut,
            _ => {
                respond.send_reset(Reason::INTERNAL_ERROR);
                StreamPhase::Done
            }
        };
    }
    let Ok(mut send) = respond.send_response(status(code, headers), false) else { return StreamPhase::Done };
    let rest = body.split_off(fault.at_bytes.min(body.len()));
    if !body.is_empty() {
        send.reserve_capacity(body.len());
        let _ = send.send_data(Bytes::from(body), false);
    }
    match fault.ending {
        Ending::Break(Break::Stall) | Ending::Keep => StreamPhase::Stalled(send),
        // The state machine is polled between the second turn and the third.
        Ending::Break(how) => StreamPhase::Breaking { send, turns: 2, cut: how == Break::Close },
        Ending::Slow(interval_ns) => {
            let mut source = Source::wire(rest, interval_ns);
            source.start(crate::clock::monotonic_ns());
            let sending = Sending { send, pending: Bytes::new(), source: Some(source), trailers: None, at_ns: None };
            StreamPhase::Sending(Box::new(sending))
        }
    }
}

fn status(code: u16, headers: HeaderMap) -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = headers;
    response
}

impl Statics {
    /// Head and body of a ready response.
    pub(crate) fn http2(&mut self, id: crate::statics::StaticId) -> &(HeaderMap, Bytes) {
        let date = *self.date();
        self.http2_entry(id, |head, body| {
            let mut headers = common_headers(&date, Some(body.len() as u64));
            // After the status line come lines, of which three are common.
            let mut lines = HeaderMap::new();
            add_lines(&mut lines, head);
            for name in [http::header::CONTENT_TYPE, http::header::CONTENT_ENCODING] {
                if let Some(value) = lines.remove(&name) {
                    headers.insert(name, value);
                }
            }
            (headers, Bytes::copy_from_slice(body))
        })
    }
}
