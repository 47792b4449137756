//! Answers: what a connection says to a request, and what it does then.

use super::{Connection, ConnectionPhase, Held};
use crate::{
    body::Body,
    clock::monotonic_ns,
    context::Context,
    fault::{Break, Ending, Fault},
    head::{Head, Refusal},
    link::{Link, Protocol},
    reply::{Built, Payload, Reply, ReplyMode},
    routes::{self, Request},
    source::Source,
    stats::Class,
};

impl Connection {
    pub(super) fn respond(&mut self, head: &Head<'_>, body: Body<'_>, cx: &mut Context) {
        self.requests += 1;
        cx.arrived(head.path, self.answered_ns);
        let link = Link {
            number: self.number,
            peer: self.peer,
            requests: self.requests,
            protocol: Protocol::Http1,
            tls: self.transport.tls(),
            ntlm: Some(&self.ntlm),
        };
        let request = Request { head, body, link };
        let answer = routes::respond(&request, cx);
        let mode = ReplyMode::of(head);
        if answer.hold_ns > 0 {
            let deadline_ns = monotonic_ns().saturating_add(answer.hold_ns);
            self.timer = Some(cx.timers.add(deadline_ns, self.slot));
            let held = Held { reply: answer.reply, mode, class: answer.class };
            self.phase = ConnectionPhase::Held(Box::new(held));
        } else {
            self.emit(answer.reply, mode, answer.class, cx);
        }
    }

    /// Puts a response in the output and goes on to what follows it.
    pub(super) fn emit(&mut self, reply: Reply, mode: ReplyMode, class: Class, cx: &mut Context) {
        self.answered_ns = cx.recorder.answered_ns();
        match reply {
            Reply::Static(id) => {
                cx.counters().answered(class, 200);
                if mode.keep_alive && mode.minor == 1 && !mode.head_only {
                    cx.put_static(id);
                } else {
                    let (out, statics) = cx.out_and_statics();
                    statics.write(id, mode, out);
                }
                self.phase = after(mode.keep_alive);
            }
            Reply::Built(mut built) => {
                cx.counters().answered(class, built.status);
                if built.is_upgrade() {
                    return self.emit_upgrade(*built, mode, cx);
                }
                if let Some(fault) = built.take_fault() {
                    self.emit_broken(*built, fault, mode, cx);
                    return;
                }
                if let Payload::Stream { source, .. } = &mut built.payload {
                    source.start(monotonic_ns());
                }
                let (out, statics) = cx.out_and_statics();
                let (source, keep_alive) = built.write(mode, statics.date(), out);
                self.phase = match source {
                    Some(source) => ConnectionPhase::Stream { source, keep_alive },
                    None => after(keep_alive),
                };
            }
        }
    }

    /// Puts a response in the output that goes wrong on the way.
    fn emit_broken(&mut self, built: Built, fault: Fault, mode: ReplyMode, cx: &mut Context) {
        let (out, statics) = cx.out_and_statics();
        let start = out.len();
        let mut keep_alive = mode.keep_alive;
        match fault.raw {
            Some(data) => out.extend_from_slice(&data),
            None => (_, keep_alive) = built.write(mode, statics.date(), out),
        }
        let mut cut = start.saturating_add(fault.at_bytes);
        if fault.in_body {
            let head = memchr::memmem::find(&out[start..], b"\r\n\r\n").map_or(0, |end| end + 4);
            cut = cut.saturating_add(head);
        }
        let rest = if cut < out.len() { out.split_off(cut) } else { Vec::new() };
        match fault.ending {
            Ending::Keep => self.phase = after(keep_alive),
            Ending::Slow(interval_ns) => {
                let mut source = Source::wire(rest, interval_ns);
                source.start(monotonic_ns());
                self.phase = ConnectionPhase::Stream { source, keep_alive };
            }
            Ending::Break(Break::Close) => self.phase = ConnectionPhase::Closing { linger: false },
            Ending::Break(Break::Reset) => self.phase = ConnectionPhase::Reset,
            Ending::Break(Break::Stall) => self.stall(cx),
        }
    }

    /// Says nothing any more, and drops what comes.
    pub(crate) fn stall(&mut self, cx: &Context) {
        self.linger_until_s = cx.now_s.saturating_add(STALL_SECONDS);
        self.phase = ConnectionPhase::Linger;
    }

    /// Answers with an error and ends the connection.
    pub(super) fn refuse(&mut self, refusal: Refusal, cx: &mut Context) {
        cx.counters().answered(Class::Refused, refusal.status);
        let (out, statics) = cx.out_and_statics();
        Built::refused(refusal).write(ReplyMode::REFUSED, statics.date(), out);
        self.phase = ConnectionPhase::Closing { linger: true };
    }
}

/// What follows a response.
pub(super) fn after(keep_alive: bool) -> ConnectionPhase {
    if keep_alive { ConnectionPhase::Head } else { ConnectionPhase::Closing { linger: false } }
}

/// How long a connection stays that is broken by saying nothing.
const STALL_SECONDS: u32 = 600;
