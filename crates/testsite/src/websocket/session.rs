//! An open WebSocket: messages come in and are echoed, unless something else was asked for.

use std::collections::VecDeque;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};

use super::{
    behaviour::{Behaviour, End},
    frame::{self, BINARY, CLOSE, CONTINUATION, Frame, MESSAGE_BYTES_MAX, PING, PONG, TEXT},
};
use crate::fault::Break;

/// Echoes produced before the socket is tried again.
const ROUND_BYTES: usize = 64 * 1024;

/// An open WebSocket.
pub(crate) struct Session {
    behaviour: Behaviour,
    /// Received and not yet looked at.
    input: Vec<u8>,
    /// The message whose frames are coming in: its opcode, whether it is compressed, and what there is of it.
    message: Option<(u8, bool, Vec<u8>)>,
    /// Messages that wait for their time.
    waiting: VecDeque<(u64, u8, Vec<u8>)>,
    /// Messages answered.
    answered: u64,
    has_greeted: bool,
    inflate: Option<Decompress>,
    compress: Option<Compress>,
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It waits for its client.
    Wait,
    /// It has more to do.
    More,
    /// It has something to do at this monotonic time.
    At(u64),
    /// It is over once everything is sent.
    Close,
    /// It is over, with a reset.
    Reset,
    /// It stays, and says nothing any more.
    Stall,
}

impl Session {
    pub(crate) fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            input: Vec::new(),
            message: None,
            waiting: VecDeque::new(),
            answered: 0,
            has_greeted: false,
            inflate: None,
            compress: None,
        }
    }

    /// Messages answered so far.
    pub(crate) fn answered(&self) -> u64 {
        self.answered
    }

    pub(crate) fn held_bytes(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|(_, _, payload)| payload.capacity()).sum();
        let message = self.message.as_ref().map_or(0, |(_, _, payload)| payload.capacity());
        self.input.capacity() + self.behaviour.greeting.capacity() + message + waiting
    }

    /// Takes received bytes.
    pub(crate) fn feed(&mut self, data: &[u8]) {
        if !self.behaviour.is_silent {
            self.input.extend_from_slice(data);
        }
    }

    /// Answers what there is to answer.
    pub(crate) fn drive(&mut self, now_ns: u64, out: &mut Vec<u8>) -> Turn {
        if !self.has_greeted {
            self.has_greeted = true;
            out.append(&mut self.behaviour.greeting);
        }
        let start = out.len();
        loop {
            if let Some(turn) = self.end(out) {
                return turn;
            }
            if out.len() - start >= ROUND_BYTES {
                return Turn::More;
            }
            if let Some((due_ns, _, _)) = self.waiting.front() {
                if *due_ns > now_ns {
                    return Turn::At(*due_ns);
                }
                if let Some((_, opcode, payload)) = self.waiting.pop_front() {
                    self.echo(opcode, &payload, out);
                }
                continue;
            }
            match frame::take(&mut self.input) {
                Ok(Some(frame)) => {
                    if let Err(code) = self.handle(frame, now_ns, out) {
                        return close(code, out);
                    }
                    if self.behaviour.is_silent {
                        return Turn::Close;
                    }
                }
                Ok(None) => {
                    if self.input.is_empty() {
                        self.input = Vec::new();
                    }
                    return Turn::Wait;
                }
                Err(code) => return close(code, out),
            }
        }
    }

    /// The end that was asked for, if it is time.
    fn end(&mut self, out: &mut Vec<u8>) -> Option<Turn> {
        if self.behaviour.end.as_ref().is_none_or(|(after, _)| self.answered < *after) {
            return None;
        }
        match self.behaviour.end.take()?.1 {
            // The client's answer is waited for; nothing else is answered.
            End::Close(payload) => {
                frame::put(out, 0x80 | CLOSE, &payload);
                None
            }
            End::Break(Break::Close) => Some(Turn::Close),
            End::Break(Break::Reset) => Some(Turn::Reset),
            End::Break(Break::Stall) => Some(Turn::Stall),
        }
    }

    /// `Err` is the close code that says what is wrong.
    fn handle(&mut self, frame: Frame, now_ns: u64, out: &mut Vec<u8>) -> Result<(), u16> {
        match frame.opcode {
            PING => frame::put(out, 0x80 | PONG, &frame.payload),
            PONG => {}
            CLOSE => {
                frame::put(out, 0x80 | CLOSE, &frame.payload);
                // Nothing follows a close.
                self.behaviour.is_silent = true;
            }
            TEXT | BINARY | CONTINUATION => {
                let (opcode, is_compressed, mut payload) = match (frame.opcode, self.message.take()) {
                    (CONTINUATION, Some(message)) => message,
                    (CONTINUATION, None) => return Err(1002),
                    (opcode, None) => (opcode, frame.is_compressed, Vec::new()),
                    (_, Some(_)) => return Err(1002),
                };
                if payload.len() + frame.payload.len() > MESSAGE_BYTES_MAX {
                    return Err(1009);
                }
                payload.extend_from_slice(&frame.payload);
                if !frame.is_last {
                    self.message = Some((opcode, is_compressed, payload));
                    return Ok(());
                }
                if is_compressed {
                    payload = self.inflated(payload)?;
                }
                if opcode == TEXT && std::str::from_utf8(&payload).is_err() {
                    return Err(1007);
                }
                if self.behaviour.wait_ns > 0 {
                    self.waiting.push_back((now_ns.saturating_add(self.behaviour.wait_ns), opcode, payload));
                } else {
                    self.echo(opcode, &payload, out);
                }
            }
            _ => return Err(1002),
        }
        Ok(())
    }

    fn echo(&mut self, opcode: u8, payload: &[u8], out: &mut Vec<u8>) {
        self.answered += 1;
        let deflated;
        let (payload, rsv1) = if self.behaviour.deflate {
            deflated = self.deflated(payload);
            (deflated.as_slice(), 0x40)
        } else {
            (payload, 0)
        };
        let piece_bytes = self.behaviour.fragment_bytes.unwrap_or(usize::MAX);
        let (mut opcode, mut rsv1, mut rest) = (opcode, rsv1, payload);
        while rest.len() > piece_bytes {
            let (piece, others) = rest.split_at(piece_bytes);
            frame::put(out, rsv1 | opcode, piece);
            (opcode, rsv1, rest) = (CONTINUATION, 0, others);
        }
        if self.behaviour.pings {
            frame::put(out, 0x80 | PING, b"between");
        }
        frame::put(out, 0x80 | rsv1 | opcode, rest);
    }

    fn inflated(&mut self, mut payload: Vec<u8>) -> Result<Vec<u8>, u16> {
        if !self.behaviour.deflate {
            return Err(1002);
        }
        payload.extend_from_slice(&[0, 0, 0xff, 0xff]);
        let inflate = self.inflate.get_or_insert_with(|| Decompress::new(false));
        if !self.behaviour.keeps_context {
            inflate.reset(false);
        }
        let (mut plain, start) = (Vec::new(), inflate.total_in());
        loop {
            plain.reserve(plain.len().max(4096));
            let used = (inflate.total_in() - start) as usize;
            let before = plain.len();
            inflate.decompress_vec(&payload[used..], &mut plain, FlushDecompress::Sync).map_err(|_| 1007_u16)?;
            if plain.len() > MESSAGE_BYTES_MAX {
                return Err(1009);
            }
            let is_fed = (inflate.total_in() - start) as usize == payload.len();
            if is_fed && plain.len() < plain.capacity() || plain.len() == before && !is_fed {
                return Ok(plain);
            }
        }
    }

    fn deflated(&mut self, payload: &[u8]) -> Vec<u8> {
        let compress = self.compress.get_or_insert_with(|| Compress::new(Compression::fast(), false));
        if !self.behaviour.keeps_context {
            compress.reset();
        }
        let (mut packed, start) = (Vec::new(), compress.total_in());
        loop {
            packed.reserve(payload.len() / 2 + 64);
            let used = (compress.total_in() - start) as usize;
            // Only a wrong state fails, and this one is never finished.
            let failed = compress.compress_vec(&payload[used..], &mut packed, FlushCompress::Sync).is_err();
            if failed || (compress.total_in() - start) as usize == payload.len() && packed.len() < packed.capacity() {
                break;
            }
        }
        if packed.ends_with(&[0, 0, 0xff, 0xff]) {
            packed.truncate(packed.len() - 4);
        } else if packed.is_empty() {
            // An empty message after another one.
            packed.push(0);
        }
        packed
    }
}

fn close(code: u16, out: &mut Vec<u8>) -> Turn {
    frame::put(out, 0x80 | CLOSE, &code.to_be_bytes());
    Turn::Close
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut wire = vec![first, 0x80 | payload.len() as u8, 0, 0, 0, 0];
        wire.extend_from_slice(payload);
        wire
    }

    fn answer(behaviour: Behaviour, wire: &[u8]) -> (Vec<u8>, Turn) {
        let mut session = Session::new(behaviour);
        session.feed(wire);
        let mut out = Vec::new();
        let turn = session.drive(0, &mut out);
        (out, turn)
    }

    #[test]
    fn messages_are_echoed() {
        let (out, turn) = answer(Behaviour::default(), &masked(0x81, b"hi"));
        assert_eq!((out.as_slice(), turn), (&b"\x81\x02hi"[..], Turn::Wait));
        let pieces = Behaviour { fragment_bytes: Some(2), pings: true, ..Behaviour::default() };
        let (out, _) = answer(pieces, &masked(0x82, b"abcde"));
        assert_eq!(out, b"\x02\x02ab\x00\x02cd\x89\x07between\x80\x01e");
    }

    #[test]
    fn ends_are_as_asked() {
        let (out, turn) = answer(Behaviour::default(), &masked(0x88, &[3, 232]));
        assert_eq!((out.as_slice(), turn), (&[0x88, 2, 3, 232][..], Turn::Close));
        let reset = Behaviour { end: Some((1, End::Break(Break::Reset))), ..Behaviour::default() };
        assert_eq!(answer(reset, &masked(0x81, b"hi")).1, Turn::Reset);
        assert_eq!(answer(Behaviour::default(), &masked(0x80, b"hi")), (vec![0x88, 2, 3, 234], Turn::Close));
    }

    #[test]
    fn compressed_messages_are_echoed_compressed() {
        for keeps_context in [false, true] {
            let behaviour = || Behaviour { deflate: true, keeps_context, ..Behaviour::default() };
            let mut client = Session::new(behaviour());
            let mut server = Session::new(behaviour());
            for round in 0..3 {
                let text = format!("round {round} ").repeat(round * 100);
                let packed = client.deflated(text.as_bytes());
                assert_eq!(server.inflated(packed).unwrap(), text.as_bytes());
            }
        }
    }
}
