//! The entry of the fuzz target: `h2`, the pipe and the guard without a socket, fed by whoever has bytes.

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;

use super::{
    fault::Fault,
    message::{announced_length, block, list_bytes},
    pipe::{OUTBOUND_BYTES_MAX, Pipe},
    session::{HEADER_LIST_BYTES_MAX, library_fault, machine},
};

/// Feeds arbitrary bytes of a server to a client with one request on its way. The first byte says in what pieces they
/// arrive, whether the request has a body and whether it is a `HEAD`.
///
/// Panics are findings; so are a request that waits on when the connection is over, fields that break out of their
/// lines, more memory than there are limits for, and an outcome that depends on the pieces although nobody looked
/// before the last. (Who looks earlier has a response before the connection breaks, or not.)
pub fn fuzz(data: &[u8]) {
    let Some((&control, wire)) = data.split_first() else { return };
    let request = Request { has_body: control & 64 != 0, is_head: control & 128 != 0 };
    let step = usize::from(control & 63) + 1;
    let whole = request.answered(wire, wire.len().max(1), false);
    assert_eq!(whole, request.answered(wire, step, false), "bytes in pieces of {step} changed the outcome");
    request.answered(wire, step, true);
}

/// What came of it.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// What the connection ended with, if not with its bytes.
    fault: Option<Fault>,
    /// The response's status, if there was one.
    status: Option<u16>,
    body_len: u64,
}

/// The one request.
#[derive(Clone, Copy)]
struct Request {
    has_body: bool,
    is_head: bool,
}

impl Request {
    /// Lets a server that says `wire` in pieces answer it; the request looks for its response after each piece or only
    /// at the end.
    fn answered(self, wire: &[u8], step: usize, is_eager: bool) -> Outcome {
        const STREAMS: u32 = 100;
        let context = &mut Context::from_waker(Waker::noop());
        let pipe = Pipe::default();
        let (mut sender, mut machine) = machine(&pipe, STREAMS).expect("an empty pipe has room for the preface");
        let method = match self {
            Self { is_head: true, .. } => http::Method::HEAD,
            Self { has_body: true, .. } => http::Method::POST,
            _ => http::Method::GET,
        };
        let request = http::Request::builder().method(method).uri("http://h/").body(()).expect("a valid request");
        let opened = sender.send_request(request, !self.has_body).expect("the first stream can be opened");
        let mut exchange = Exchange { response: opened.0, upload: None, head: None, status: None, body_len: 0 };
        pipe.borrow().guard.open(exchange.response.stream_id().as_u32());
        if self.has_body {
            pipe.borrow().guard.watch(exchange.response.stream_id().as_u32());
            exchange.upload = Some((opened.1, UPLOAD_BYTES));
        }
        let mut fault = None;
        // The request is on its way before anything is read.
        let mut is_over = turn(&pipe, &mut machine, context, &mut fault);
        exchange.push(context);
        is_over |= turn(&pipe, &mut machine, context, &mut fault);
        for piece in wire.chunks(step) {
            pipe.borrow().inbound.extend_from_slice(piece);
            is_over = turn(&pipe, &mut machine, context, &mut fault);
            if is_eager {
                let _ = exchange.poll(context);
                is_over |= turn(&pipe, &mut machine, context, &mut fault);
            }
            let _ = pipe.borrow().tidy();
            if is_over || pipe.borrow().verdict.is_some() {
                break;
            }
            assert!(!pipe.borrow().is_stalled(), "a socket that takes everything leaves nothing to wait for");
        }
        pipe.borrow().ended = true;
        let _ = is_over || turn(&pipe, &mut machine, context, &mut fault);
        assert!(exchange.poll(context).is_ready(), "nobody waits for a connection that is over");
        assert!(exchange.body_len <= wire.len() as u64, "a body of {} bytes", exchange.body_len);
        let verdict = pipe.borrow().verdict.take();
        // After a GOAWAY the connection is over with its last stream: what comes behind may be read or not.
        let fault = verdict.or(fault).filter(|_| pipe.borrow().guard.goaway().is_none());
        Outcome { fault, status: exchange.status, body_len: exchange.body_len }
    }
}

/// Has `h2` work until nothing moves any more; the socket takes everything. Whether the connection is over.
fn turn(
    pipe: &Pipe,
    machine: &mut h2::client::Connection<Pipe, Bytes>,
    context: &mut Context<'_>,
    fault: &mut Option<Fault>,
) -> bool {
    loop {
        pipe.borrow().is_full = false;
        let polled = Pin::new(&mut *machine).poll(context);
        let mut buffers = pipe.borrow();
        assert!(buffers.outbound.len() <= OUTBOUND_BYTES_MAX, "more is to be sent than there is room for");
        buffers.outbound.clear();
        match polled {
            Poll::Ready(Err(error)) if error.is_library() && error.is_go_away() => {
                *fault = Some(library_fault(&buffers, &error));
                return true;
            }
            Poll::Ready(_) => return true,
            Poll::Pending if buffers.is_full => {}
            Poll::Pending => return false,
        }
    }
}

/// What is left to send and to receive.
struct Exchange {
    response: h2::client::ResponseFuture,
    upload: Option<(h2::SendStream<Bytes>, usize)>,
    head: Option<h2::RecvStream>,
    status: Option<u16>,
    body_len: u64,
}

impl Exchange {
    /// Sends and takes what can be sent and taken. Ready when the response is complete or will never be.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.push(context);
        let mut interim_bytes = 0;
        if self.head.is_none() {
            while let Poll::Ready(Some(interim)) = self.response.poll_informational(context) {
                let Ok(interim) = interim else { return Poll::Ready(()) };
                interim_bytes += list_bytes(interim.headers());
            }
            assert!(interim_bytes <= HEADER_LIST_BYTES_MAX as usize * 2, "{interim_bytes} bytes of interim heads");
            let Poll::Ready(response) = Pin::new(&mut self.response).poll(context) else { return Poll::Pending };
            let Ok(response) = response else { return Poll::Ready(()) };
            let (parts, body) = response.into_parts();
            check_head(parts.status, &parts.headers);
            self.status = Some(parts.status.as_u16());
            self.head = Some(body);
        }
        let Some(body) = &mut self.head else { return Poll::Pending };
        loop {
            match body.poll_data(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None | Some(Err(_))) => return Poll::Ready(()),
                Poll::Ready(Some(Ok(data))) => {
                    self.body_len += data.len() as u64;
                    let _ = body.flow_control().release_capacity(data.len());
                }
            }
        }
    }

    fn push(&mut self, context: &mut Context<'_>) {
        while let Some((stream, left)) = &mut self.upload {
            stream.reserve_capacity(*left);
            let capacity = match stream.poll_capacity(context) {
                Poll::Ready(Some(Ok(count))) => count.min(*left),
                Poll::Pending => return,
                Poll::Ready(_) => 0,
            };
            *left -= capacity;
            let is_last = *left == 0 || capacity == 0;
            if stream.send_data(Bytes::from(vec![b'x'; capacity]), is_last).is_err() || is_last {
                self.upload = None;
            }
        }
    }
}

/// A response's head as scripts see it: what a server says stays in its line.
fn check_head(status: http::StatusCode, fields: &http::HeaderMap) {
    let bytes = list_bytes(fields);
    assert!(bytes <= HEADER_LIST_BYTES_MAX as usize, "a head of {bytes} bytes");
    let block = block(status, fields);
    assert_eq!(block.raw_fields().count(), fields.len(), "as many lines as fields");
    for (name, value) in block.raw_fields() {
        let breaks = |bytes: &[u8]| bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
        assert!(!breaks(name) && !breaks(value) && !name.is_empty(), "{}", value.escape_ascii());
    }
    let _ = (announced_length(fields), block.joined(), block.status_text().len());
}

/// More than a server that says nothing about its windows takes at once.
const UPLOAD_BYTES: usize = 100_000;
