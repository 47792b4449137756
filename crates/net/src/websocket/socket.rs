//! An open WebSocket: the codec over a wire. Nothing here waits but what says so.

use std::cell::{Cell, RefCell};

use onrush_fiber::Nanos;

use super::{
    close::CloseError,
    decoder::{Decoder, ReadError, Step},
    deflate::Agreement,
    encoder::Encoder,
    frame::Opcode,
};
use crate::{error::NetError, wire::Wire};

/// An open WebSocket. Dropping it closes the connection, without a word.
#[derive(Debug)]
pub struct Socket {
    wire: Wire,
    decoder: RefCell<Decoder>,
    encoder: RefCell<Encoder>,
    /// The server has closed its side.
    is_at_end: Cell<bool>,
}

/// Why nothing more can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// The connection ended without a close.
    #[error("{0}")]
    End(CloseError),
    /// What came makes no sense.
    #[error("{0}")]
    Nonsense(#[from] ReadError),
    /// The connection broke.
    #[error("{}", .0.detail)]
    Broken(#[from] NetError),
}

impl Socket {
    /// Over what is left of a handshake.
    pub fn new(wire: Wire, agreement: Option<Agreement>) -> Self {
        Self {
            wire,
            decoder: RefCell::new(Decoder::new(agreement)),
            encoder: RefCell::new(Encoder::new(agreement)),
            is_at_end: Cell::new(false),
        }
    }

    /// What has come since, without waiting. [`Step::Busy`] after many reads that brought nothing whole, such as endless
    /// empty frames of one message: others should run before the next step.
    ///
    /// # Errors
    /// Why nothing more will come.
    pub fn step(&self) -> Result<Step, Lost> {
        let mut decoder = self.decoder.borrow_mut();
        for _ in 0..READS_PER_STEP {
            let step = decoder.step()?;
            if step != Step::Hungry {
                return Ok(step);
            }
            if self.is_at_end.get() {
                return Err(Lost::End(CloseError::unexpected_eof()));
            }
            match self.wire.try_read(decoder.input())? {
                None => return Ok(Step::Hungry),
                Some(is_more) => self.is_at_end.set(!is_more),
            }
        }
        Ok(Step::Busy)
    }

    /// Whether a step would bring anything, or may. No system call.
    pub fn is_ready(&self) -> bool {
        self.is_at_end.get() || self.wire.is_readable() || self.decoder.borrow().has_work()
    }

    /// Waits until a step may bring something.
    ///
    /// # Errors
    /// Why the wait ended.
    pub fn wait(&self, deadline: Option<Nanos>) -> Result<(), NetError> {
        if self.is_ready() { Ok(()) } else { self.wire.wait_readable(deadline) }
    }

    /// Has the current fiber unparked whenever something arrives, until some fiber waits for it.
    ///
    /// # Errors
    /// When another fiber waits for it.
    pub fn notify(&self) -> Result<(), NetError> {
        self.wire.notify_readable()
    }

    /// Sends a message without waiting; false when a rest is left to [`Socket::finish_sending`]. `breathe` is called now
    /// and then while a large one is being compressed; it must not use this socket.
    ///
    /// # Errors
    /// Why nothing more can be sent.
    pub fn send(&self, is_text: bool, payload: &[u8], breathe: impl FnMut()) -> Result<bool, NetError> {
        let mut frame = Vec::new();
        self.encoder.borrow_mut().put_message(&mut frame, is_text, payload, breathe);
        self.wire.try_write(&frame)
    }

    /// The same for a control frame.
    ///
    /// # Errors
    /// Why nothing more can be sent.
    pub fn send_control(&self, opcode: Opcode, payload: &[u8]) -> Result<bool, NetError> {
        let mut frame = Vec::new();
        self.encoder.borrow_mut().put_control(&mut frame, opcode, payload);
        self.wire.try_write(&frame)
    }

    /// Waits until all has been sent.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn finish_sending(&self, deadline: Option<Nanos>) -> Result<(), NetError> {
        self.wire.finish_writes(deadline)
    }

    /// Whether something is left to [`Socket::finish_sending`].
    pub fn unsent_bytes(&self) -> usize {
        self.wire.unsent_bytes()
    }

    /// Bytes of memory that what came and what is to go hold.
    pub fn held_bytes(&self) -> usize {
        self.decoder.borrow().held_bytes() + self.wire.unsent_bytes()
    }

    /// The wire.
    pub fn wire(&self) -> &Wire {
        &self.wire
    }
}

/// A read brings 16 to 64 KiB, which may be tens of thousands of frames: a millisecond or two.
const READS_PER_STEP: usize = 8;
