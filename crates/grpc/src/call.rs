//! One exchange: messages both ways, then a status.

use std::{
    cell::{Cell, Ref, RefCell},
    rc::Rc,
};

use bytes::Bytes;
use onrush_fiber::{Clock, FiberId, Nanos, current, unpark};
use onrush_net::{HeaderBlock, Stream, StreamHead};

pub use crate::frame::{HEAD_BYTES, finish};

use crate::{
    channel::{Channel, Request, status_of},
    frame::FrameReader,
    metadata::Metadata,
    status::{Code, Status, decode_message},
};

/// One exchange. One fiber may send while another one receives. Dropping it cancels it.
pub struct Call {
    stream: Stream,
    channel: Rc<Channel>,
    deadline: Option<Nanos>,
    is_unary: bool,
    frames: RefCell<FrameReader>,
    has_head: Cell<bool>,
    has_message: Cell<bool>,
    encoding: RefCell<Option<Box<str>>>,
    headers: RefCell<Metadata>,
    trailers: RefCell<Metadata>,
    /// How it ended.
    outcome: RefCell<Option<Status>>,
    /// The fiber that waits for a message.
    receiver: Cell<Option<FiberId>>,
    /// The fiber that sends.
    sender: Cell<Option<FiberId>>,
    is_sent: Cell<bool>,
}

impl Call {
    pub(crate) fn new(stream: Stream, channel: Rc<Channel>, request: &Request<'_>) -> Self {
        Self {
            stream,
            channel,
            deadline: request.deadline,
            is_unary: request.is_unary,
            frames: RefCell::default(),
            has_head: Cell::new(false),
            has_message: Cell::new(false),
            encoding: RefCell::default(),
            headers: RefCell::default(),
            trailers: RefCell::default(),
            outcome: RefCell::default(),
            receiver: Cell::new(None),
            sender: Cell::new(None),
            is_sent: Cell::new(false),
        }
    }

    /// Sends a message that was [framed](finish); with `end` it is the last.
    ///
    /// # Errors
    /// When it is too long; it was not sent then. When the call is over it succeeds: receiving tells how.
    pub fn send(&self, frame: Bytes, end: bool) -> Result<(), Status> {
        let length = frame.len().saturating_sub(HEAD_BYTES);
        let bytes_max = self.channel.options().send_bytes_max;
        if length > bytes_max {
            let text = format!("trying to send message larger than max ({length} vs. {bytes_max})");
            let status = Status::new(Code::RESOURCE_EXHAUSTED, text);
            self.abort(status.clone());
            return Err(status);
        }
        self.push(frame, end);
        Ok(())
    }

    /// Ends our side.
    pub fn end(&self) {
        self.push(Bytes::new(), true);
    }

    fn push(&self, data: Bytes, end: bool) {
        if self.outcome.borrow().is_some() {
            return;
        }
        self.sender.set(current());
        let sent = self.stream.send(data, end, self.deadline);
        self.sender.set(None);
        match sent {
            Ok(()) => self.is_sent.set(end || self.is_sent.get()),
            // A server may answer before it has read everything: what it said is received.
            Err(error) if error.reset.is_some() => {}
            Err(error) => self.abort(status_of(&error)),
        }
    }

    /// Waits for the next message; `None` at the end of a call that went well.
    ///
    /// # Errors
    /// How the call ended, if it did not end well.
    pub fn receive(&self) -> Result<Option<Bytes>, Status> {
        self.receiver.set(current());
        let received = self.next_message();
        self.receiver.set(None);
        match received {
            Ok(Some(message)) => {
                if self.is_unary && self.has_message.replace(true) {
                    let status = Status::new(Code::INTERNAL, TOO_MANY);
                    self.abort(status.clone());
                    return Err(status);
                }
                Ok(Some(message))
            }
            Ok(None) => match self.outcome.borrow().clone() {
                Some(status) if status.is_ok() && self.is_unary && !self.has_message.get() => {
                    Err(Status::new(Code::INTERNAL, TOO_FEW))
                }
                Some(status) if status.is_ok() => Ok(None),
                Some(status) => Err(status),
                None => Ok(None),
            },
            Err(status) => {
                self.abort(status);
                Err(self.outcome.borrow().clone().unwrap_or(Status::OK))
            }
        }
    }

    fn next_message(&self) -> Result<Option<Bytes>, Status> {
        loop {
            if self.outcome.borrow().is_some() {
                return Ok(None);
            }
            if !self.has_head.get() {
                self.read_head()?;
                continue;
            }
            let bytes_max = self.channel.options().receive_bytes_max;
            let framed = self.frames.borrow_mut().next(self.encoding.borrow().as_deref(), bytes_max)?;
            if framed.is_some() {
                return Ok(framed);
            }
            match self.stream.receive(self.deadline) {
                Ok(Some(piece)) => self.frames.borrow_mut().push(piece),
                Ok(None) => self.read_trailers()?,
                Err(error) => return Err(self.judged(&error)),
            }
        }
    }

    fn read_head(&self) -> Result<(), Status> {
        let head = self.stream.head(self.deadline).map_err(|error| self.judged(&error))?;
        if self.outcome.borrow().is_some() {
            return Ok(());
        }
        self.has_head.set(true);
        let content_type = head.headers.get("content-type");
        if !content_type.is_some_and(is_grpc) {
            return Err(self.not_grpc(&head, content_type));
        }
        if head.is_end {
            // Trailers only.
            return self.conclude(&head.headers);
        }
        *self.encoding.borrow_mut() =
            head.headers.get("grpc-encoding").map(|value| String::from_utf8_lossy(value).into());
        *self.headers.borrow_mut() = Metadata::read(&head.headers).map_err(|text| Status::new(Code::INTERNAL, text))?;
        Ok(())
    }

    /// What answers is no gRPC server.
    fn not_grpc(&self, head: &StreamHead, content_type: Option<&[u8]>) -> Status {
        let reason = head.headers.reason();
        let said = match content_type {
            Some(value) => {
                format!("transport: received unexpected content-type {:?}", String::from_utf8_lossy(value))
            }
            None => "malformed header: missing HTTP content-type".to_owned(),
        };
        let mut text = format!("unexpected HTTP status code received from server: {} ({reason}); {said}", head.status);
        let mut shown = Vec::new();
        while !head.is_end && shown.len() < SHOWN_BYTES_MAX {
            match self.stream.receive(self.deadline) {
                Ok(Some(piece)) => shown.extend_from_slice(&piece[..piece.len().min(SHOWN_BYTES_MAX - shown.len())]),
                _ => break,
            }
        }
        if !shown.is_empty() {
            text.push_str(&format!("\ndata: {:?}", String::from_utf8_lossy(&shown)));
        }
        Status::new(Code::of_http(head.status), text)
    }

    fn read_trailers(&self) -> Result<(), Status> {
        if self.frames.borrow().is_amid() {
            return Err(Status::new(Code::INTERNAL, "unexpected EOF"));
        }
        let trailers = self.stream.trailers(self.deadline).map_err(|error| self.judged(&error))?;
        if self.outcome.borrow().is_some() {
            return Ok(());
        }
        match trailers {
            Some(trailers) => self.conclude(&trailers),
            None => Err(Status::new(Code::INTERNAL, "server closed the stream without sending trailers")),
        }
    }

    /// The status that trailers have.
    fn conclude(&self, trailers: &HeaderBlock) -> Result<(), Status> {
        let code = match trailers.get("grpc-status") {
            None => Code::UNKNOWN,
            Some(text) => Code(parse_code(text)?),
        };
        let metadata = Metadata::read(trailers).map_err(|text| Status::new(Code::INTERNAL, text))?;
        let message = trailers.get("grpc-message").map(decode_message).unwrap_or_default();
        let details = metadata.get("grpc-status-details-bin").map(<[u8]>::to_vec);
        *self.trailers.borrow_mut() = metadata;
        if self.settle(Status { code, message, details }) && !self.is_sent.get() {
            // Nobody reads the rest of what we have to say.
            self.reset();
        }
        Ok(())
    }

    /// A stream's error as a status: what was canceled when the time was up has run out of time.
    fn judged(&self, error: &onrush_net::StreamError) -> Status {
        let status = status_of(error);
        let is_late = self.deadline.is_some_and(|deadline| deadline <= Clock::now());
        if status.code == Code::CANCELED && error.reset.is_some() && is_late {
            return Status { code: Code::DEADLINE_EXCEEDED, ..status };
        }
        status
    }

    /// Ends it from our side with a status, unless it is over.
    pub fn abort(&self, status: Status) {
        if self.settle(status) {
            self.reset();
        }
    }

    /// Whether it has ended, however that was: nothing is sent any more.
    pub fn is_over(&self) -> bool {
        self.outcome.borrow().is_some()
    }

    /// Nothing goes either way any more; who waits finds out.
    fn reset(&self) {
        self.stream.reset(CANCEL);
        for fiber in [&self.receiver, &self.sender].into_iter().filter_map(Cell::get) {
            if Some(fiber) != current() {
                unpark(fiber);
            }
        }
    }

    /// Notes how it ended, the first time.
    fn settle(&self, status: Status) -> bool {
        let mut outcome = self.outcome.borrow_mut();
        let is_first = outcome.is_none();
        outcome.get_or_insert(status);
        is_first
    }

    /// What the server said before the first message.
    pub fn headers(&self) -> Ref<'_, Metadata> {
        self.headers.borrow()
    }

    /// What it said at the end.
    pub fn trailers(&self) -> Ref<'_, Metadata> {
        self.trailers.borrow()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.channel.wake();
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("stream", &self.stream.id()).finish_non_exhaustive()
    }
}

/// `application/grpc`, perhaps with `+proto` or parameters.
fn is_grpc(content_type: &[u8]) -> bool {
    let content_type = content_type.to_ascii_lowercase();
    content_type.strip_prefix(b"application/grpc").is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

fn parse_code(text: &[u8]) -> Result<u32, Status> {
    let text = String::from_utf8_lossy(text);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let reason = if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        "invalid syntax"
    } else {
        match text.trim_start_matches('+').parse::<i32>() {
            Ok(code) => return Ok(code as u32),
            Err(_) => "value out of range",
        }
    };
    let text = format!("transport: malformed grpc-status: strconv.ParseInt: parsing {text:?}: {reason}");
    Err(Status::new(Code::UNKNOWN, text))
}

/// HTTP/2's code.
const CANCEL: u32 = 8;
/// What is shown of an answer that is no gRPC.
const SHOWN_BYTES_MAX: usize = 1024;
const TOO_MANY: &str =
    "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message";
const TOO_FEW: &str = "cardinality violation: received no response message from non-server-streaming RPC";
