//! A WebSocket whose binary messages are pieces of one stream of bytes, however it is cut: as MQTT uses it.

use onrush_fiber::Nanos;

use super::{
    close::CloseError,
    decoder::{Event, Step},
    frame::Opcode,
    socket::{Lost, Socket},
};
use crate::error::NetError;

/// Bytes both ways over a WebSocket. Pings are answered.
#[derive(Debug)]
pub struct ByteStream(Socket);

impl ByteStream {
    /// Over a socket that nothing was read from.
    pub fn new(socket: Socket) -> Self {
        Self(socket)
    }

    /// Takes what has come without waiting: `None` where that is nothing, false at the end.
    ///
    /// # Errors
    /// What the server does wrong, or the connection's failure.
    pub fn try_read(&self, out: &mut Vec<u8>) -> Result<Option<bool>, NetError> {
        loop {
            let event = match self.0.step() {
                Ok(Step::Event(event)) => event,
                // Whoever asks may ask again at once.
                Ok(Step::Busy) => return Ok(Some(true)),
                Ok(Step::Hungry) => return Ok(None),
                Err(Lost::End(_)) => return Ok(Some(false)),
                Err(Lost::Nonsense(error)) => return Err(NetError::generic(error.to_string())),
                Err(Lost::Broken(error)) => return Err(error),
            };
            match event {
                Event::Binary(bytes) => {
                    out.extend_from_slice(&bytes);
                    return Ok(Some(true));
                }
                Event::Text(_) => {
                    return Err(NetError::generic("websocket: a text where binary messages were expected"));
                }
                // A server that sends pings and does not read gets no pong for each.
                Event::Ping(payload) if self.unsent_bytes() <= PONGS_UNSENT_MAX => {
                    self.0.send_control(Opcode::Pong, &payload)?;
                }
                Event::Ping(_) | Event::Pong(_) => {}
                Event::Close(close) => {
                    let code = if close.code == CloseError::NO_STATUS { 1000 } else { close.code };
                    self.0.send_control(Opcode::Close, &code.to_be_bytes())?;
                    return Ok(Some(false));
                }
            }
        }
    }

    /// The same, waiting for it.
    ///
    /// # Errors
    /// As [`ByteStream::try_read`], or why the wait ended.
    pub fn read(&self, out: &mut Vec<u8>, deadline: Option<Nanos>) -> Result<bool, NetError> {
        loop {
            let before = out.len();
            match self.try_read(out)? {
                Some(is_more) if !is_more || out.len() > before => return Ok(is_more),
                _ => self.wait_readable(deadline)?,
            }
        }
    }

    /// Sends bytes as a message without waiting; false when a rest is left to [`ByteStream::finish_writes`].
    ///
    /// # Errors
    /// Why nothing more can be sent.
    pub fn try_write(&self, bytes: &[u8]) -> Result<bool, NetError> {
        self.0.send(false, bytes, || {})
    }

    /// Waits until all has been sent.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn finish_writes(&self, deadline: Option<Nanos>) -> Result<(), NetError> {
        self.0.finish_sending(deadline)
    }

    /// Waits until something may have come.
    ///
    /// # Errors
    /// Why the wait ended.
    pub fn wait_readable(&self, deadline: Option<Nanos>) -> Result<(), NetError> {
        self.0.wait(deadline)
    }

    /// Has the current fiber unparked whenever something arrives.
    ///
    /// # Errors
    /// When another fiber waits for it.
    pub fn notify_readable(&self) -> Result<(), NetError> {
        self.0.notify()
    }

    /// Whether a read would bring anything, or may.
    pub fn is_readable(&self) -> bool {
        self.0.is_ready()
    }

    /// Bytes that are not sent yet.
    pub fn unsent_bytes(&self) -> usize {
        self.0.unsent_bytes()
    }

    /// Bytes of memory that what came and what is to go hold.
    pub fn held_bytes(&self) -> usize {
        self.0.held_bytes()
    }

    /// Ends the connection both ways, whoever waits for it.
    pub fn shut_down(&self) {
        self.0.wire().shut_down();
    }
}

/// Unsent bytes beyond which a ping is not answered.
const PONGS_UNSENT_MAX: usize = 64 << 10;
