//! A connection: packets both ways, messages for the script, and who waits for answers.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet, VecDeque},
    rc::Rc,
};

use onrush_mqtt::{Decoder, Packet, Publish, QoS};

use super::way::Way;
use crate::{
    embed::{FollowingCharge, JsResult, Val},
    vu::event_loop,
};

/// A connection.
pub(super) struct Line {
    pub(super) wire: Way,
    decoder: RefCell<Decoder>,
    /// Messages for the script.
    inbox: RefCell<VecDeque<Publish>>,
    inbox_bytes: Cell<usize>,
    /// What the server has not answered yet.
    pub(super) pending: RefCell<HashMap<u16, Waiting>>,
    /// Promises that can be settled.
    pub(super) settled: RefCell<VecDeque<(Waiting, Result<(), String>)>>,
    /// Numbers of messages of level 2 that have been handed out and not been released.
    received: RefCell<HashSet<u16>>,
    last_id: Cell<u16>,
    /// A ping has not been answered.
    pub(super) awaits_pong: Cell<bool>,
    has_writer: Cell<bool>,
    pub(super) fault: RefCell<Option<String>>,
    charge: FollowingCharge,
}

/// Who waits for an answer.
pub(super) enum Waiting {
    /// The call itself.
    Call(Option<Result<(), String>>),
    /// A promise: how it is fulfilled, how it is rejected, and for which method.
    Promise(Val, Val, &'static str),
}

impl Line {
    pub(super) fn new(wire: Way, decoder: Decoder) -> Self {
        Self {
            wire,
            decoder: RefCell::new(decoder),
            inbox: RefCell::default(),
            inbox_bytes: Cell::new(0),
            pending: RefCell::default(),
            settled: RefCell::default(),
            received: RefCell::default(),
            last_id: Cell::new(0),
            awaits_pong: Cell::new(false),
            has_writer: Cell::new(false),
            fault: RefCell::default(),
            charge: FollowingCharge::default(),
        }
    }

    pub(super) fn note_fault(&self, text: String) {
        self.fault.borrow_mut().get_or_insert(text);
    }

    /// A number that nothing on its way has.
    pub(super) fn free_id(&self) -> Option<u16> {
        let pending = self.pending.borrow();
        if pending.len() >= PENDING_MAX {
            return None;
        }
        let mut id = self.last_id.get();
        loop {
            id = if id == u16::MAX { 1 } else { id + 1 };
            if !pending.contains_key(&id) {
                self.last_id.set(id);
                return Some(id);
            }
        }
    }

    /// Sends a packet; what the socket does not take now, a fiber of its own sends.
    pub(super) fn send(self: &Rc<Self>, packet: &Packet) -> Result<(), String> {
        let mut bytes = Vec::new();
        packet.write(&mut bytes).map_err(|error| error.to_string())?;
        if self.wire.try_write(&bytes).map_err(|error| error.detail)? || self.has_writer.replace(true) {
            return Ok(());
        }
        let line = self.clone();
        event_loop::start(
            move |_| {
                if let Err(error) = line.wire.finish_writes(None) {
                    line.note_fault(error.detail);
                }
                line.has_writer.set(false);
                Ok(line)
            },
            // The connection goes with the VU's fiber, as it holds values of its script.
            |_, line| line.map(drop),
        );
        Ok(())
    }

    /// The next message for the script.
    pub(super) fn next_message(&self) -> Option<Publish> {
        let message = self.inbox.borrow_mut().pop_front()?;
        self.inbox_bytes.set(self.inbox_bytes.get().saturating_sub(message.payload.len() + MESSAGE_BYTES));
        Some(message)
    }

    /// Takes one packet, or reads; false when there is nothing to do.
    pub(super) fn step(self: &Rc<Self>) -> Result<bool, String> {
        let packet = self.decoder.borrow_mut().packet().map_err(|malformed| malformed.to_string())?;
        if let Some(packet) = packet {
            self.take(packet)?;
            return Ok(true);
        }
        if !self.wire.is_readable() {
            return Ok(false);
        }
        let mut decoder = self.decoder.borrow_mut();
        match self.wire.try_read(decoder.buffer()) {
            Ok(None) => Ok(false),
            Ok(Some(true)) => Ok(true),
            Ok(Some(false)) => Err("EOF".to_owned()),
            Err(error) => Err(error.detail),
        }
    }

    fn take(self: &Rc<Self>, packet: Packet) -> Result<(), String> {
        match packet {
            Packet::Publish(publish) => self.take_message(publish),
            Packet::PublishAck(id) | Packet::PublishComplete(id) | Packet::UnsubscribeAck(id) => {
                self.answered(id, Ok(()));
                Ok(())
            }
            Packet::PublishReceived(id) => self.send(&Packet::PublishRelease(id)),
            Packet::PublishRelease(id) => {
                self.received.borrow_mut().remove(&id);
                self.send(&Packet::PublishComplete(id))
            }
            Packet::SubscribeAck { id, codes } => {
                let is_refused = codes.iter().any(|code| *code > QoS::ExactlyOnce as u8);
                self.answered(
                    id,
                    if is_refused { Err("the server refuses the subscription".to_owned()) } else { Ok(()) },
                );
                Ok(())
            }
            Packet::Pong => {
                self.awaits_pong.set(false);
                Ok(())
            }
            _ => Err("the server sends a packet that is not for clients".to_owned()),
        }
    }

    fn take_message(self: &Rc<Self>, publish: Publish) -> Result<(), String> {
        let (qos, id) = (publish.qos, publish.id);
        let is_new = qos != QoS::ExactlyOnce || self.received.borrow_mut().insert(id);
        if is_new {
            self.inbox_bytes.set(self.inbox_bytes.get() + publish.payload.len() + MESSAGE_BYTES);
            self.inbox.borrow_mut().push_back(publish);
        }
        match qos {
            QoS::AtMostOnce => Ok(()),
            QoS::AtLeastOnce => self.send(&Packet::PublishAck(id)),
            QoS::ExactlyOnce => self.send(&Packet::PublishReceived(id)),
        }
    }

    /// The server has answered what has that number; an answer to nothing is passed over.
    fn answered(&self, id: u16, outcome: Result<(), String>) {
        let mut pending = self.pending.borrow_mut();
        match pending.get_mut(&id) {
            Some(Waiting::Call(answer)) => *answer = Some(outcome),
            Some(Waiting::Promise(..)) => {
                if let Some(waiting) = pending.remove(&id) {
                    self.settled.borrow_mut().push_back((waiting, outcome));
                }
            }
            None => {}
        }
    }

    /// Has the VU's account show what the connection holds.
    pub(super) fn account(&self) -> JsResult<()> {
        let held = self.inbox_bytes.get() + self.decoder.borrow().held_bytes() + self.wire.held_bytes();
        self.charge.follow(held)
    }

    pub(super) fn release(&self) {
        self.charge.release();
    }
}

/// Messages and subscriptions without an answer.
const PENDING_MAX: usize = 60_000;
/// What a message takes besides its bytes.
const MESSAGE_BYTES: usize = 128;
