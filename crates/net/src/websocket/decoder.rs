//! From bytes to messages.

use super::{
    MESSAGE_BYTES_MAX,
    close::CloseError,
    deflate::{Agreement, Inflater, Inflating},
    frame::{Expected, Head, Opcode},
};

/// Takes what a server sends apart. Between messages it holds no memory.
#[derive(Debug)]
pub struct Decoder {
    /// Received; what stands before `at` has been looked at.
    input: Vec<u8>,
    at: usize,
    /// What stands before it needs more to follow: a step that found too little has seen it.
    looked_at: usize,
    state: State,
    /// The message whose frames are coming in.
    message: Option<Message>,
    inflater: Option<Inflater>,
    message_bytes_max: usize,
}

/// Where in the stream the decoder is.
#[derive(Debug)]
enum State {
    /// Before a frame's head.
    Head,
    /// In the payload of a message's frame: so many bytes are missing.
    Payload { left: u64, is_last: bool },
    /// In a control frame's payload.
    Control(Opcode, u8),
    /// A compressed message is complete, and being decompressed.
    Inflating(Inflating),
    /// Nothing that follows makes sense.
    Ended,
}

#[derive(Debug)]
struct Message {
    is_text: bool,
    is_compressed: bool,
    payload: Vec<u8>,
}

/// Something a server says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A text. k6: nobody checks that it is UTF-8.
    Text(Vec<u8>),
    /// Bytes.
    Binary(Vec<u8>),
    /// A ping, which wants a pong with the same payload.
    Ping(Vec<u8>),
    /// A pong.
    Pong(Vec<u8>),
    /// The end: nothing that follows is looked at.
    Close(CloseError),
}

/// What a step has led to.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// This.
    Event(Event),
    /// There is more to compute: others may want to run meanwhile.
    Busy,
    /// Nothing until more has been received.
    Hungry,
}

/// Why what a server sends cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("websocket: {message}")]
pub struct ReadError {
    message: String,
    /// The code of the close frame that tells the server.
    pub close_code: u16,
}

impl ReadError {
    pub(super) fn protocol(message: String) -> Self {
        Self { message, close_code: 1002 }
    }

    pub(super) fn too_large(bytes_max: usize) -> Self {
        Self {
            message: format!("a message is larger than the {} MiB there are for one", bytes_max >> 20),
            close_code: 1009,
        }
    }

    pub(super) fn compressed(message: &str) -> Self {
        Self { message: format!("a compressed message cannot be read: {message}"), close_code: 1007 }
    }

    /// Whether the server breaks the protocol: its message is not merely too large, or damaged.
    pub fn is_protocol(&self) -> bool {
        self.close_code == 1002
    }

    /// What the close frame says beside its code.
    pub fn close_reason(&self) -> &str {
        &self.message
    }
}

impl Decoder {
    /// At the start of a connection with this agreement on compression.
    pub fn new(agreement: Option<Agreement>) -> Self {
        Self {
            input: Vec::new(),
            at: 0,
            looked_at: 0,
            state: State::Head,
            message: None,
            inflater: agreement.map(Inflater::new),
            message_bytes_max: MESSAGE_BYTES_MAX,
        }
    }

    /// With another limit on messages.
    #[must_use]
    pub fn with_limit(mut self, message_bytes_max: usize) -> Self {
        self.message_bytes_max = message_bytes_max;
        self
    }

    /// Where to append what is received.
    pub fn input(&mut self) -> &mut Vec<u8> {
        &mut self.input
    }

    /// Bytes of memory it holds.
    pub fn held_bytes(&self) -> usize {
        let message = self.message.as_ref().map_or(0, |message| message.payload.capacity());
        let inflating = if let State::Inflating(inflating) = &self.state { inflating.held_bytes() } else { 0 };
        self.input.capacity() + message + inflating
    }

    /// Whether a step would lead to anything without more input. Half a frame leads to nothing.
    pub fn has_work(&self) -> bool {
        self.looked_at < self.input.len() || matches!(self.state, State::Inflating(_))
    }

    /// Goes on until something has happened.
    ///
    /// # Errors
    /// What the server does wrong. Nothing comes after it.
    pub fn step(&mut self) -> Result<Step, ReadError> {
        let step = self.advance();
        if step.is_err() {
            self.state = State::Ended;
            self.message = None;
        }
        if self.at == self.input.len() && self.at > 0 {
            self.input = Vec::new();
            self.at = 0;
        }
        self.looked_at = if step == Ok(Step::Hungry) { self.input.len() } else { self.at };
        step
    }

    fn advance(&mut self) -> Result<Step, ReadError> {
        loop {
            let data = self.input.get(self.at..).unwrap_or_default();
            match &mut self.state {
                State::Head => {
                    let expected = Expected {
                        is_within_message: self.message.is_some(),
                        may_be_compressed: self.inflater.is_some(),
                    };
                    let Some((head, used)) = Head::read(data, expected)? else {
                        self.keep_rest();
                        return Ok(Step::Hungry);
                    };
                    self.at += used;
                    self.begin(head)?;
                }
                State::Payload { left, is_last } => {
                    let taken = data.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    if let Some(message) = &mut self.message {
                        message.payload.extend_from_slice(&data[..taken]);
                    }
                    self.at += taken;
                    *left -= taken as u64;
                    if *left > 0 {
                        return Ok(Step::Hungry);
                    }
                    let is_last = *is_last;
                    self.state = State::Head;
                    if let Some(message) = self.message.take_if(|_| is_last)
                        && let Some(event) = self.complete(message)
                    {
                        return Ok(Step::Event(event));
                    }
                }
                State::Control(opcode, bytes) => {
                    let Some(payload) = data.get(..usize::from(*bytes)) else {
                        self.keep_rest();
                        return Ok(Step::Hungry);
                    };
                    let event = match opcode {
                        Opcode::Ping => Event::Ping(payload.to_vec()),
                        Opcode::Pong => Event::Pong(payload.to_vec()),
                        _ => Event::Close(CloseError::read(payload)?),
                    };
                    self.at += payload.len();
                    self.state = if matches!(event, Event::Close(_)) { State::Ended } else { State::Head };
                    return Ok(Step::Event(event));
                }
                State::Inflating(inflating) => {
                    let Some(inflater) = &mut self.inflater else { return Ok(Step::Hungry) };
                    if !inflating.step(inflater, self.message_bytes_max)? {
                        return Ok(Step::Busy);
                    }
                    let (is_text, payload) = inflating.finish(inflater);
                    self.state = State::Head;
                    return Ok(Step::Event(data_event(is_text, payload)));
                }
                State::Ended => {
                    self.at = self.input.len();
                    return Ok(Step::Hungry);
                }
            }
        }
    }

    fn begin(&mut self, head: Head) -> Result<(), ReadError> {
        if head.opcode.is_control() {
            self.state = State::Control(head.opcode, head.payload_bytes as u8);
            return Ok(());
        }
        let held = self.message.as_ref().map_or(0, |message| message.payload.len() as u64);
        if head.payload_bytes.saturating_add(held) > self.message_bytes_max as u64 {
            return Err(ReadError::too_large(self.message_bytes_max));
        }
        let message = self.message.get_or_insert_with(|| Message {
            is_text: head.opcode == Opcode::Text,
            is_compressed: false,
            payload: Vec::new(),
        });
        // k6: any frame of a message may say that it is compressed; the first one decides.
        message.is_compressed |= head.is_compressed && head.opcode != Opcode::Continuation;
        // What is announced and has not come costs nothing.
        let there = self.input.len() - self.at;
        message.payload.reserve(there.min(usize::try_from(head.payload_bytes).unwrap_or(there)));
        self.state = State::Payload { left: head.payload_bytes, is_last: head.is_last };
        Ok(())
    }

    /// The event of a complete message, unless it is to be decompressed first.
    fn complete(&mut self, message: Message) -> Option<Event> {
        let Message { is_text, is_compressed, payload } = message;
        match &mut self.inflater {
            Some(inflater) if is_compressed => {
                self.state = State::Inflating(inflater.begin(is_text, payload));
                None
            }
            _ => Some(data_event(is_text, payload)),
        }
    }

    /// Moves what is left to the front.
    fn keep_rest(&mut self) {
        if self.at > 0 {
            self.input.drain(..self.at);
            self.at = 0;
        }
    }
}

fn data_event(is_text: bool, payload: Vec<u8>) -> Event {
    if is_text { Event::Text(payload) } else { Event::Binary(payload) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(decoder: &mut Decoder) -> Vec<String> {
        let mut events = Vec::new();
        loop {
            match decoder.step() {
                Ok(Step::Event(event)) => events.push(match event {
                    Event::Text(text) => format!("text {}", String::from_utf8_lossy(&text)),
                    Event::Binary(bytes) => format!("binary {}", bytes.len()),
                    Event::Ping(payload) => format!("ping {}", payload.len()),
                    Event::Pong(payload) => format!("pong {}", payload.len()),
                    Event::Close(close) => close.to_string(),
                }),
                Ok(Step::Busy) => {}
                Ok(Step::Hungry) => return events,
                Err(error) => {
                    events.push(error.to_string());
                    return events;
                }
            }
        }
    }

    fn check(wire: &[u8], expect: &[&str]) {
        let mut decoder = Decoder::new(None).with_limit(1 << 20);
        decoder.input().extend_from_slice(wire);
        assert_eq!(events(&mut decoder), expect);
        // Bytes that come one by one say the same.
        let mut decoder = Decoder::new(None).with_limit(1 << 20);
        let mut all = Vec::new();
        for byte in wire {
            decoder.input().push(*byte);
            all.extend(events(&mut decoder));
        }
        assert_eq!(all, expect);
    }

    #[test]
    fn messages_and_control_frames() {
        check(b"\x81\x05Hello", &["text Hello"]);
        check(b"\x01\x03Hel\x80\x02lo", &["text Hello"]);
        check(b"\x01\x03Hel\x89\x00\x80\x02lo", &["ping 0", "text Hello"]);
        check(b"\x82\x00\x8a\x01x\x81\x01y", &["binary 0", "pong 1", "text y"]);
        check(b"\x01\x00\x00\x00\x80\x00", &["text "]);
        check(b"\x88\x02\x03\xe8\x81\x01y", &["websocket: close 1000 (normal)"]);
        check(b"\x88\x00", &["websocket: close 1005 (no status)"]);
        check(b"\x81\xff", &["websocket: bad MASK"]);
    }

    #[test]
    fn large_messages_are_refused_by_their_announcement() {
        check(
            b"\x82\x7f\x00\x00\x00\x00\x00\x10\x00\x01",
            &["websocket: a message is larger than the 1 MiB there are for one"],
        );
        check(
            b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
            &["websocket: a message is larger than the 1 MiB there are for one"],
        );
        // Frames count together.
        check(
            b"\x02\x01x\x80\x7f\x00\x00\x00\x00\x00\x10\x00\x00",
            &["websocket: a message is larger than the 1 MiB there are for one"],
        );
    }

    #[test]
    fn nothing_is_held_between_messages() {
        let mut decoder = Decoder::new(None);
        decoder.input().extend_from_slice(&[&b"\x82\x7e\x03\xe8"[..], &[0; 1000]].concat());
        assert_eq!(events(&mut decoder), ["binary 1000"]);
        assert_eq!(decoder.held_bytes(), 0);
        // What is announced costs nothing before it comes.
        decoder.input().extend_from_slice(b"\x82\x7f\x00\x00\x00\x00\x0f\x00\x00\x00x");
        assert_eq!(events(&mut decoder), [""; 0]);
        assert!(decoder.held_bytes() < 100, "{}", decoder.held_bytes());
    }
}
