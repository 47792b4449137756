//! A connection's bytes: a nonblocking socket, with or without TLS on it.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use rustix::net::sockopt::set_socket_linger;
use rustls::ServerConnection;

use crate::{
    context::Context,
    fault::{Break, HandshakeFault},
};

/// A socket and what is still to be written to it.
pub(crate) struct Transport {
    stream: TcpStream,
    tls: Option<Box<ServerConnection>>,
    /// What the socket did not take at once.
    pending: Vec<u8>,
    pending_at: usize,
    /// The socket may have something to read.
    pub(crate) readable: bool,
    /// The peer will send no more: read until the end shows.
    pub(crate) ending: bool,
    /// How the handshake breaks, and after how many more bytes.
    fault: Option<HandshakeFault>,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// So many bytes, in [`Context::read`], or in [`Context::plain`] with TLS.
    Bytes(usize),
    /// Nothing now.
    Nothing,
    /// Nothing ever again.
    End,
}

impl Transport {
    pub(crate) fn new(stream: TcpStream, tls: Option<Box<ServerConnection>>) -> Self {
        Self { stream, tls, pending: Vec::new(), pending_at: 0, readable: false, ending: false, fault: None }
    }

    /// Makes the handshake break.
    pub(crate) fn with_fault(mut self, fault: Option<HandshakeFault>) -> Self {
        self.fault = fault;
        self
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// The TLS session, if there is one.
    pub(crate) fn tls(&self) -> Option<&ServerConnection> {
        self.tls.as_deref()
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Bytes held for the socket. What TLS holds besides is bounded by its record size.
    pub(crate) fn held_bytes(&self) -> usize {
        self.pending.capacity()
    }

    /// Whether something waits for the socket to take it.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty() || self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Reads once from the socket.
    pub(crate) fn receive(&mut self, cx: &mut Context) -> io::Result<Received> {
        let bytes = loop {
            match self.stream.read(&mut cx.read) {
                Ok(bytes) => break bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.readable = false;
                    return Ok(Received::Nothing);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        if bytes == 0 {
            return Ok(Received::End);
        }
        cx.counters().received_bytes.add(bytes as u64);
        // A short read has emptied the socket: the next byte raises a new event, unless the end has been announced
        // already.
        self.readable = bytes == cx.read.len() || self.ending;
        let Some(tls) = &mut self.tls else {
            return Ok(Received::Bytes(bytes));
        };
        cx.plain.clear();
        let mut data = &cx.read[..bytes];
        while !data.is_empty() {
            if tls.read_tls(&mut data)? == 0 {
                break;
            }
            let state = match tls.process_new_packets() {
                Ok(state) => state,
                Err(error) => {
                    cx.counters().handshake_errors.add(u64::from(tls.is_handshaking()));
                    // The alert that tells the peer why; best effort.
                    let _ = tls.write_tls(&mut self.stream);
                    return Err(io::Error::new(ErrorKind::InvalidData, error));
                }
            };
            let start = cx.plain.len();
            cx.plain.resize(start + state.plaintext_bytes_to_read(), 0);
            if state.plaintext_bytes_to_read() > 0 {
                tls.reader().read_exact(&mut cx.plain[start..])?;
            }
            if state.peer_has_closed() {
                self.ending = true;
                if cx.plain.is_empty() {
                    return Ok(Received::End);
                }
                self.readable = true;
                break;
            }
        }
        match cx.plain.len() {
            0 => Ok(Received::Nothing),
            bytes => Ok(Received::Bytes(bytes)),
        }
    }

    /// Sends what [`Context::unsent`] holds, and keeps what the socket does not take.
    pub(crate) fn send(&mut self, cx: &mut Context) -> io::Result<()> {
        let data = cx.unsent();
        if data.is_empty() {
            return Ok(());
        }
        let taken = if self.has_pending() { 0 } else { self.write(data)? };
        cx.counters().sent_bytes.add(data.len() as u64);
        if taken < data.len() {
            self.pending.extend_from_slice(&data[taken..]);
        }
        cx.clear_unsent();
        Ok(())
    }

    /// Writes what is pending. The first value says whether nothing is left, the second whether anything was taken.
    pub(crate) fn flush(&mut self) -> io::Result<(bool, bool)> {
        let mut moved = self.write_tls()?;
        while !self.pending.is_empty() {
            let pending = std::mem::take(&mut self.pending);
            let taken = self.write(&pending[self.pending_at..]);
            self.pending = pending;
            let taken = taken?;
            if taken == 0 {
                return Ok((false, moved));
            }
            moved = true;
            self.pending_at += taken;
            if self.pending_at == self.pending.len() {
                self.pending = Vec::new();
                self.pending_at = 0;
            }
        }
        Ok((!self.has_pending(), moved))
    }

    /// Writes until the socket takes no more; returns how much was taken.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while taken < data.len() {
            let bytes = match &mut self.tls {
                Some(tls) => {
                    // Takes a bounded amount; what it has must go out first.
                    let bytes = tls.writer().write(&data[taken..])?;
                    taken += bytes;
                    self.write_tls()?;
                    if bytes == 0 || self.has_pending() {
                        break;
                    }
                    continue;
                }
                None => write_once(&mut self.stream, &data[taken..])?,
            };
            taken += bytes;
            // A short write has filled the socket: an event tells of room.
            if bytes == 0 || taken < data.len() {
                break;
            }
        }
        Ok(taken)
    }

    fn write_tls(&mut self) -> io::Result<bool> {
        let mut moved = false;
        if let (Some(tls), Some(fault)) = (&mut self.tls, &mut self.fault) {
            return write_broken(tls, &mut self.stream, fault);
        }
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                match tls.write_tls(&mut self.stream) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(_) => moved = true,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(moved)
    }

    /// Ends the connection with a reset, whatever is unsent.
    pub(crate) fn reset(self) {
        reset(self.stream);
    }

    /// Says goodbye: nothing more will be written.
    pub(crate) fn finish(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            // Best effort: the peer sees the end of the stream in any case.
            let _ = tls.write_tls(&mut self.stream);
        }
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}

/// Ends a socket with a reset.
pub(crate) fn reset(stream: TcpStream) {
    // Without it the end is an orderly one, which is the next best thing.
    let _ = set_socket_linger(&stream, Some(Duration::ZERO));
}

/// Sends the beginning of a handshake, and then breaks it.
fn write_broken(tls: &mut ServerConnection, stream: &mut TcpStream, fault: &mut HandshakeFault) -> io::Result<bool> {
    let mut wire = Vec::new();
    while tls.wants_write() {
        tls.write_tls(&mut wire)?;
    }
    let bytes = wire.len().min(fault.at_bytes);
    // A handshake is some thousand bytes: they fit a fresh socket's buffer.
    let sent = write_once(stream, &wire[..bytes])?;
    fault.at_bytes -= sent;
    if fault.at_bytes > 0 {
        return Ok(sent > 0);
    }
    match fault.how {
        Break::Stall => Ok(sent > 0),
        Break::Close => Err(ErrorKind::UnexpectedEof.into()),
        Break::Reset => {
            set_socket_linger(&*stream, Some(Duration::ZERO))?;
            Err(ErrorKind::ConnectionReset.into())
        }
    }
}

fn write_once(stream: &mut TcpStream, data: &[u8]) -> io::Result<usize> {
    loop {
        match stream.write(data) {
            Ok(bytes) => return Ok(bytes),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(0),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
