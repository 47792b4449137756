//! What a hostile server does, step by step, in plain text or inside TLS.

use std::{
    io::{Read, Write},
    net::Shutdown,
    sync::Arc,
    time::Duration,
};

use rustls::{ServerConfig, ServerConnection};

use crate::acceptor::{Peer, announced_length};

/// One thing a server does. After the last step it closes, in order, and reads until the client is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Reads a request and the body its `Content-Length` announces.
    Read,
    /// Reads whatever comes first, such as a client hello.
    ReadSome,
    /// Sends; `{base}` stands for the server's own address as a URL.
    Send(Vec<u8>),
    /// Sends byte by byte.
    Drip(Vec<u8>, Duration),
    /// Sends the same for as long as anybody takes it.
    Flood(Vec<u8>),
    /// The same, no faster than some 30 MB a second, for what only the client's limit ends.
    Pour(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Says nothing any more, but reads.
    Hang,
    /// Does nothing any more: not even read.
    Freeze,
    /// Closes, with what was not read.
    Close,
    /// Resets the connection.
    Reset,
    /// Reads a request and sends back each piece of its body as it arrives, reading no further until that is sent.
    Echo,
    /// Sends below TLS.
    Raw(Vec<u8>),
    /// Finishes the handshake with only so many bytes of the server's flight, then goes on with the next step.
    CutFlight(usize),
    /// Sends a record whose last byte is wrong.
    Tampered(Vec<u8>),
    /// Sends all but the end of a record.
    Truncated(Vec<u8>),
    /// Changes keys so many times.
    KeyUpdates(usize),
    /// Says goodbye as TLS wants it.
    CloseNotify,
}

/// Runs the steps on one connection.
pub(crate) fn run(peer: Peer, config: Option<&Arc<ServerConfig>>, steps: &[Step]) {
    let tls = match config {
        None => None,
        Some(config) => match ServerConnection::new(Arc::clone(config)) {
            Ok(session) => Some(Box::new(session)),
            Err(_) => return,
        },
    };
    let mut talk = Talk { peer, tls, flight_left: usize::MAX };
    for step in steps {
        match step {
            Step::Close => return,
            Step::Reset => return talk.peer.reset(),
            step if !talk.take(step) => return,
            _ => {}
        }
    }
    // Closing on unread bytes would be a reset: read until the other side is done.
    let _ = talk.peer.stream.shutdown(Shutdown::Write);
    talk.peer.hang();
}

struct Talk {
    peer: Peer,
    tls: Option<Box<ServerConnection>>,
    /// Bytes of the handshake that may still be sent.
    flight_left: usize,
}

impl Talk {
    /// `false` when the other side is gone.
    fn take(&mut self, step: &Step) -> bool {
        match step {
            Step::Read => self.read_request(),
            Step::ReadSome => matches!(self.peer.stream.read(&mut [0; 4096]), Ok(count) if count > 0),
            Step::Send(bytes) => {
                let bytes = self.expand(bytes);
                self.send(&bytes)
            }
            Step::Drip(bytes, every) => bytes.iter().all(|byte| self.send(&[*byte]) && self.peer.pause(*every)),
            Step::Flood(piece) => {
                let block = piece.repeat(64 * 1024 / piece.len().max(1) + 1);
                while self.send(&block) {}
                false
            }
            Step::Pour(piece) => {
                let block = piece.repeat(64 * 1024 / piece.len().max(1) + 1);
                while self.send(&block) && self.peer.pause(Duration::from_millis(2)) {}
                false
            }
            Step::Pause(time) => self.peer.pause(*time),
            Step::Hang => {
                self.peer.hang();
                false
            }
            Step::Freeze => {
                // Until the server is dropped: an hour is far more than any test takes.
                self.peer.pause(Duration::from_secs(3600));
                false
            }
            Step::Close | Step::Reset => false,
            Step::Echo => self.echo(),
            Step::Raw(bytes) => self.peer.send(bytes),
            Step::CutFlight(bytes) => {
                self.flight_left = *bytes;
                let _ = self.handshake();
                true
            }
            Step::Tampered(bytes) => {
                let mut wire = self.encrypt(bytes);
                if let Some(last) = wire.last_mut() {
                    *last ^= 1;
                }
                self.peer.send(&wire)
            }
            Step::Truncated(bytes) => {
                let wire = self.encrypt(bytes);
                let cut = wire.len().saturating_sub(wire.len() / 3);
                self.peer.send(&wire[..cut])
            }
            Step::KeyUpdates(count) => (0..*count).all(|_| self.update_keys()),
            Step::CloseNotify => {
                if let Some(tls) = &mut self.tls {
                    tls.send_close_notify();
                }
                self.flush()
            }
        }
    }

    fn echo(&mut self) -> bool {
        let Some(head) = self.peer.read_head() else { return false };
        let mut left = announced_length(&head);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {left}\r\n\r\n");
        if !self.peer.send(head.as_bytes()) {
            return false;
        }
        let mut piece = vec![0; 64 << 10];
        while left > 0 {
            match self.peer.stream.read(&mut piece) {
                Ok(count) if count > 0 && self.peer.send(&piece[..count]) => left = left.saturating_sub(count),
                _ => return false,
            }
        }
        true
    }

    fn expand(&self, bytes: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(bytes) else { return bytes.to_vec() };
        if !text.contains("{base}") {
            return bytes.to_vec();
        }
        let base = self.peer.stream.local_addr().map(|addr| format!("http://{addr}")).unwrap_or_default();
        text.replace("{base}", &base).into_bytes()
    }

    /// Reads up to the end of a head and the body after it.
    fn read_request(&mut self) -> bool {
        if self.tls.is_none() {
            return self.peer.read_request();
        }
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match self.read_byte() {
                Some(byte) => head.push(byte),
                None => return false,
            }
        }
        (0..announced_length(&head)).all(|_| self.read_byte().is_some())
    }

    fn read_byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        loop {
            let tls = self.tls.as_mut()?;
            if matches!(tls.reader().read(&mut byte), Ok(1)) {
                return Some(byte[0]);
            }
            if !self.turn() {
                return None;
            }
        }
    }

    /// One exchange of records: what is to be sent, then what comes.
    fn turn(&mut self) -> bool {
        if !self.flush() {
            return false;
        }
        let Some(tls) = &mut self.tls else { return false };
        match tls.read_tls(&mut self.peer.stream) {
            Ok(count) if count > 0 => {}
            _ => return false,
        }
        let fine = tls.process_new_packets().is_ok();
        // An alert says what was not.
        self.flush() && fine
    }

    fn handshake(&mut self) -> bool {
        while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            if !self.turn() || self.flight_left == 0 {
                return false;
            }
        }
        self.flush()
    }

    /// Sends what TLS has to send, as far as the flight may go.
    fn flush(&mut self) -> bool {
        let Some(tls) = &mut self.tls else { return true };
        let mut wire = Vec::new();
        while tls.wants_write() {
            if tls.write_tls(&mut wire).is_err() {
                return false;
            }
        }
        let bytes = wire.len().min(self.flight_left);
        if self.flight_left != usize::MAX {
            self.flight_left -= bytes;
        }
        bytes == 0 || self.peer.send(&wire[..bytes])
    }

    fn send(&mut self, bytes: &[u8]) -> bool {
        if self.tls.is_none() {
            return self.peer.send(bytes);
        }
        if !self.handshake() {
            return false;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some(tls) = &mut self.tls else { return false };
            match tls.writer().write(rest) {
                Ok(0) | Err(_) => return false,
                Ok(count) => rest = &rest[count..],
            }
            if !self.flush() {
                return false;
            }
        }
        true
    }

    fn encrypt(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut wire = Vec::new();
        if self.handshake()
            && let Some(tls) = &mut self.tls
            && tls.writer().write_all(bytes).is_ok()
        {
            while tls.wants_write() && tls.write_tls(&mut wire).is_ok() {}
        }
        wire
    }

    fn update_keys(&mut self) -> bool {
        if !self.handshake() {
            return false;
        }
        let Some(tls) = &mut self.tls else { return false };
        tls.refresh_traffic_keys().is_ok() && self.flush()
    }
}
