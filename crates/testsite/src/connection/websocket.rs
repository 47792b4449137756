//! A connection that has become a WebSocket.

use super::{Connection, ConnectionPhase, answer::after};
use crate::{
    clock::monotonic_ns,
    context::Context,
    reply::{Built, ReplyMode},
    stats::Class,
    websocket::{Session, Turn},
};

impl Connection {
    /// Puts the answer to a handshake in the output, and goes on as what was agreed.
    pub(super) fn emit_upgrade(&mut self, mut built: Built, mode: ReplyMode, cx: &mut Context) {
        let upgrade = built.take_upgrade();
        let (out, statics) = cx.out_and_statics();
        let (_, keep_alive) = built.write(mode, statics.date(), out);
        self.phase = match upgrade {
            Some(behaviour) => ConnectionPhase::WebSocket(Box::new(Session::new(*behaviour))),
            None => after(keep_alive),
        };
    }

    /// Lets the WebSocket go on, and sets the timer it needs.
    pub(super) fn drive_websocket(&mut self, cx: &mut Context) -> Turn {
        let ConnectionPhase::WebSocket(session) = &mut self.phase else {
            // Reading has found the end of the connection.
            return Turn::More;
        };
        let before = session.answered();
        let turn = session.drive(monotonic_ns(), cx.out());
        for _ in before..session.answered() {
            cx.counters().answered(Class::Echo, STATUS_OF_MESSAGES);
        }
        if let (None, Turn::At(deadline_ns)) = (self.timer, turn) {
            self.timer = Some(cx.timers.add(deadline_ns, self.slot));
        }
        turn
    }
}

/// What an answered message counts as in `/stats`.
const STATUS_OF_MESSAGES: u16 = 101;
