//! One call of gRPC: frames in, frames out, a status at the end.

use std::{
    collections::VecDeque,
    task::{Context as TaskContext, Poll},
};

use base64::Engine as _;
use bytes::{Buf, Bytes, BytesMut};
use h2::{RecvStream, SendStream, server::SendResponse};
use http::{
    Response,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    request::Parts,
};

use super::{Waiting, stream::Advance};
use crate::{
    context::Context,
    grpc::{Action, Service, framed},
    stats::Class,
};

/// One call.
pub(super) struct Exchange {
    receive: Option<RecvStream>,
    respond: SendResponse<Bytes>,
    send: Option<SendStream<Bytes>>,
    service: Service,
    parts: Parts,
    inbound: BytesMut,
    actions: VecDeque<Action>,
    /// What is being sent.
    pending: Bytes,
    at_ns: Option<u64>,
    gzip: bool,
}

/// Whether a request is a call.
pub(super) fn is_call(parts: &Parts) -> bool {
    parts.headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"))
}

impl Exchange {
    pub(super) fn new(parts: Parts, receive: RecvStream, respond: SendResponse<Bytes>) -> Self {
        let mut service = Service::at(parts.uri.path());
        let mut actions = VecDeque::new();
        service.begin(parts.uri.path(), &mut actions);
        let gzip = parts.headers.contains_key("use-gzip");
        Self {
            receive: Some(receive),
            respond,
            send: None,
            service,
            parts,
            inbound: BytesMut::new(),
            actions,
            pending: Bytes::new(),
            at_ns: None,
            gzip,
        }
    }

    /// Goes on as far as possible.
    pub(super) fn advance(
        &mut self,
        now_ns: u64,
        task: &mut TaskContext<'_>,
        queued_bytes: &mut usize,
        cx: &mut Context,
    ) -> Advance {
        let mut moved = false;
        loop {
            if !self.send.as_mut().is_none_or(|send| send.poll_reset(task).is_pending()) {
                return Advance::Done;
            }
            let before = moved;
            moved = false;
            // Messages are read as they are answered, so that a client that does not listen is not read from.
            if self.actions.len() < ACTIONS_MAX {
                match self.read(task) {
                    Ok(read) => moved |= read,
                    Err(()) => return Advance::Done,
                }
            }
            match self.act(now_ns, task, queued_bytes, cx) {
                Acted::Nothing => {}
                Acted::Some => moved = true,
                Acted::Over => return Advance::Done,
            }
            if !moved {
                return if before { Advance::Moved } else { Advance::Blocked };
            }
        }
    }

    /// Takes one piece of what the client sends.
    fn read(&mut self, task: &mut TaskContext<'_>) -> Result<bool, ()> {
        let Some(receive) = &mut self.receive else { return Ok(false) };
        match receive.poll_data(task) {
            Poll::Pending => Ok(false),
            Poll::Ready(Some(Err(_))) => Err(()),
            Poll::Ready(None) => {
                self.receive = None;
                self.service.end(&mut self.actions);
                Ok(true)
            }
            Poll::Ready(Some(Ok(data))) => {
                self.inbound.extend_from_slice(&data);
                receive.flow_control().release_capacity(data.len()).map_err(drop)?;
                while let Some(message) = self.message()? {
                    self.service.message(&message, &self.parts.headers, &mut self.actions);
                }
                Ok(true)
            }
        }
    }

    fn message(&mut self) -> Result<Option<Bytes>, ()> {
        let Some([flag, length @ ..]) = self.inbound.first_chunk::<5>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if *flag != 0 || length > MESSAGE_BYTES_MAX {
            return Err(());
        }
        if self.inbound.len() < 5 + length {
            return Ok(None);
        }
        self.inbound.advance(5);
        Ok(Some(self.inbound.split_to(length).freeze()))
    }

    fn act(&mut self, now_ns: u64, task: &mut TaskContext<'_>, queued_bytes: &mut usize, cx: &mut Context) -> Acted {
        if !self.pending.is_empty() {
            return self.flush(task, queued_bytes);
        }
        if let Some(at_ns) = self.at_ns {
            if at_ns > crate::clock::monotonic_ns().max(now_ns) {
                return Acted::Nothing;
            }
            self.at_ns = None;
        }
        match self.actions.pop_front() {
            None => Acted::Nothing,
            Some(Action::Pause { ns }) => {
                self.at_ns = Some(crate::clock::monotonic_ns().saturating_add(ns));
                Acted::Some
            }
            Some(Action::Count { next, to, pause_ns, code }) => {
                Action::step(next, to, pause_ns, code, &mut self.actions);
                Acted::Some
            }
            Some(Action::Send(message)) => {
                if self.send.is_none() {
                    let Ok(send) = self.respond.send_response(self.head(), false) else { return Acted::Over };
                    self.send = Some(send);
                }
                cx.counters().answered(Class::Echo, STATUS_OF_MESSAGES);
                self.pending = framed(&message, self.gzip).into();
                Acted::Some
            }
            Some(Action::Finish(status)) => {
                let trailers = self.trailers(&status);
                // The client may be gone: then there is nobody to tell.
                let _ = match &mut self.send {
                    Some(send) => send.send_trailers(trailers),
                    None => {
                        cx.counters().answered(Class::Other, STATUS_OF_MESSAGES);
                        let mut head = self.head();
                        head.headers_mut().extend(trailers);
                        self.respond.send_response(head, true).map(drop)
                    }
                };
                Acted::Over
            }
        }
    }

    fn flush(&mut self, task: &mut TaskContext<'_>, queued_bytes: &mut usize) -> Acted {
        let Some(send) = &mut self.send else { return Acted::Over };
        let wanted = self.pending.len();
        send.reserve_capacity(wanted);
        let mut room = send.capacity();
        if room < wanted {
            match send.poll_capacity(task) {
                Poll::Ready(Some(Ok(more))) => room = room.max(more),
                Poll::Ready(_) => return Acted::Over,
                Poll::Pending => {}
            }
        }
        if room == 0 {
            return Acted::Nothing;
        }
        let piece = self.pending.split_to(room.min(wanted));
        *queued_bytes += piece.len();
        if send.send_data(piece, false).is_err() { Acted::Over } else { Acted::Some }
    }

    fn head(&self) -> Response<()> {
        let mut head = Response::new(());
        let fields = head.headers_mut();
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        if self.gzip {
            fields.insert("grpc-encoding", HeaderValue::from_static("gzip"));
        }
        self.copy("head-", fields);
        head
    }

    fn trailers(&self, status: &crate::grpc::Status) -> HeaderMap {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from(status.code));
        if let Ok(message) = HeaderValue::from_str(&escaped(&status.message)) {
            trailers.insert("grpc-message", message);
        }
        if !status.details.is_empty() {
            let text = base64::engine::general_purpose::STANDARD_NO_PAD.encode(&status.details);
            if let Ok(value) = HeaderValue::from_str(&text) {
                trailers.insert("grpc-status-details-bin", value);
            }
        }
        self.copy("trail-", &mut trailers);
        trailers
    }

    /// Metadata of the request that is to come back.
    fn copy(&self, prefix: &str, to: &mut HeaderMap) {
        for (name, value) in self.parts.headers.iter().filter(|(name, _)| name.as_str().starts_with(prefix)) {
            to.append(HeaderName::clone(name), value.clone());
        }
    }

    pub(super) fn at_ns(&self) -> Option<u64> {
        self.at_ns
    }

    /// A stream may stay open for as long as its client likes.
    pub(super) fn waiting(&self) -> Waiting {
        if self.pending.is_empty() { Waiting::Time } else { Waiting::Room }
    }

    pub(super) fn held_bytes(&self) -> usize {
        size_of::<Self>() + self.inbound.len() + self.pending.len()
    }
}

enum Acted {
    Nothing,
    Some,
    Over,
}

/// `grpc-message`: all but printable ASCII, and `%`, as escapes.
fn escaped(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    for byte in message.bytes() {
        match byte {
            b'%' => text.push_str("%25"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// What a message counts as in `/stats`, and so does a status without one.
const STATUS_OF_MESSAGES: u16 = 200;
/// Answers that wait to be sent.
const ACTIONS_MAX: usize = 64;
const MESSAGE_BYTES_MAX: usize = 16 << 20;
