//! An open WebSocket as both modules use it: what is sent, who waits until it is, and the memory that takes.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_net::websocket::{CloseError, Opcode, Socket, close_payload};

use super::samples::Samples;
use crate::{
    embed::{FollowingCharge, JsResult},
    vu::{context, event_loop},
};

/// A socket, and what goes out on it.
pub(super) struct Line {
    pub(super) socket: Socket,
    pub(super) samples: Samples,
    /// A fiber of its own waits until the server takes what is unsent.
    has_writer: Cell<bool>,
    /// Why that fiber has ended early.
    fault: RefCell<Option<String>>,
    is_close_sent: Cell<bool>,
    /// For what the socket holds, and how much that was.
    charge: FollowingCharge,
}

/// Why something was not sent.
pub(super) type SendError = String;

impl Line {
    pub(super) fn new(socket: Socket, samples: Samples) -> Rc<Self> {
        Rc::new(Self {
            socket,
            samples,
            has_writer: Cell::new(false),
            fault: RefCell::new(None),
            is_close_sent: Cell::new(false),
            charge: FollowingCharge::default(),
        })
    }

    /// Sends a message. The inner error is k6's text about what went wrong.
    ///
    /// # Errors
    /// When the VU has no memory for what cannot be sent yet.
    pub(super) fn send(self: &Rc<Self>, is_text: bool, payload: &[u8]) -> JsResult<Result<(), SendError>> {
        if self.is_close_sent.get() {
            return Ok(Err(CLOSE_SENT.to_owned()));
        }
        let sent = self.socket.send(is_text, payload, breathe);
        self.settle(sent.map_err(|error| error.detail))
    }

    /// Sends a ping or a pong; as [`Line::send`].
    ///
    /// # Errors
    /// As [`Line::send`].
    pub(super) fn send_control(self: &Rc<Self>, opcode: Opcode, payload: &[u8]) -> JsResult<Result<(), SendError>> {
        if self.is_close_sent.get() {
            return Ok(Err(CLOSE_SENT.to_owned()));
        }
        let sent = self.socket.send_control(opcode, payload);
        self.settle(sent.map_err(|error| error.detail))
    }

    /// Answers a ping, unless much is unsent: a server that sends pings and does not read gets no pong for each (RFC 6455,
    /// section 5.5.3). A pong that cannot be sent is told by whatever is sent next.
    ///
    /// # Errors
    /// As [`Line::send`].
    pub(super) fn send_pong(self: &Rc<Self>, payload: &[u8]) -> JsResult<Result<(), SendError>> {
        if self.socket.unsent_bytes() > PONGS_UNSENT_MAX {
            return Ok(Ok(()));
        }
        self.send_control(Opcode::Pong, payload)
    }

    /// Sends a close; nothing can be sent after it. As [`Line::send`].
    ///
    /// # Errors
    /// As [`Line::send`].
    pub(super) fn send_close(self: &Rc<Self>, code: u16, reason: &str) -> JsResult<Result<(), SendError>> {
        if self.is_close_sent.replace(true) {
            return Ok(Err(CLOSE_SENT.to_owned()));
        }
        // Nobody is there to be told.
        if code == CloseError::ABNORMAL {
            return Ok(Ok(()));
        }
        let sent = self.socket.send_control(Opcode::Close, &close_payload(code, reason));
        self.settle(sent.map_err(|error| error.detail))
    }

    /// The same for a connection that is given up: whatever happens, happens.
    pub(super) fn send_last_close(&self, code: u16) {
        if !self.is_close_sent.replace(true) {
            // It is dropped in any case.
            let _ = self.socket.send_control(Opcode::Close, &close_payload(code, ""));
        }
        self.release();
    }

    pub(super) fn is_close_sent(&self) -> bool {
        self.is_close_sent.get()
    }

    /// Leaves what could not be sent to whoever looks at faults.
    pub(super) fn note_fault(&self, sent: Result<(), SendError>) {
        if let Err(error) = sent {
            self.fault.borrow_mut().get_or_insert(error);
        }
    }

    /// Takes what could not be sent, by the writing fiber or before.
    pub(super) fn take_fault(&self) -> Option<SendError> {
        self.fault.borrow_mut().take()
    }

    /// Waits on the current fiber until no more than `bytes_max` are unsent.
    ///
    /// # Errors
    /// When the VU is cancelled.
    pub(super) fn await_sent(&self, bytes_max: usize) -> JsResult<()> {
        if self.socket.unsent_bytes() <= bytes_max {
            return Ok(());
        }
        // A failure is the writing fiber's to report.
        let _ = self.socket.finish_sending(None);
        context::alive()
    }

    /// Waits until everything is sent, or the server has had its chance.
    pub(super) fn finish(&self) {
        if self.socket.unsent_bytes() > 0 {
            // The connection ends now; what could not be sent is lost.
            let _ = self.socket.finish_sending(Some(Clock::now() + CLOSE_WAIT));
        }
        self.release();
    }

    /// Has the VU's account show what the socket holds.
    ///
    /// # Errors
    /// When that is more than the VU may have.
    pub(super) fn account(&self) -> JsResult<()> {
        self.charge.follow(self.socket.held_bytes())
    }

    /// Gives the account back what it was charged.
    pub(super) fn release(&self) {
        self.charge.release();
    }

    fn settle(self: &Rc<Self>, sent: Result<bool, SendError>) -> JsResult<Result<(), SendError>> {
        match sent {
            Ok(true) => {}
            Ok(false) => {
                self.start_writer();
                self.account()?;
            }
            Err(error) => return Ok(Err(error)),
        }
        Ok(Ok(()))
    }

    /// A fiber that waits until the server takes what is unsent, unless there is one.
    fn start_writer(self: &Rc<Self>) {
        if self.has_writer.replace(true) {
            return;
        }
        let line = self.clone();
        event_loop::start(
            move |_| {
                if let Err(error) = line.socket.finish_sending(None) {
                    line.fault.replace(Some(error.detail));
                }
                line.has_writer.set(false);
                Ok(())
            },
            |_, result| result,
        );
    }
}

/// Lets others run; a cancelled VU finds out at its next step.
fn breathe() {
    let _ = onrush_fiber::yield_now();
}

/// Lets other VUs run, in the middle of many messages.
pub(super) fn pause() -> JsResult<()> {
    context::not_cancelled(onrush_fiber::yield_now())
}

const CLOSE_SENT: &str = "websocket: close sent";
/// How long a close waits for a server that does not read.
const CLOSE_WAIT: Duration = Duration::from_secs(10);
/// Unsent bytes beyond which pings are not answered.
const PONGS_UNSENT_MAX: usize = 64 << 10;
/// Messages handled before other VUs have their turn.
pub(super) const MESSAGES_PER_TURN: u32 = 64;
