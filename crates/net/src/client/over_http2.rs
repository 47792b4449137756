//! The exchange over HTTP/2, and when a request is sent again.

use std::{net::SocketAddr, time::Duration};

use onrush_fiber::{Clock, Nanos, Woke, sleep_until};

use super::{Attempt, Connections, Disconnected};
use crate::{
    body_budget::BodyHold,
    error::NetError,
    header::HeaderBlock,
    http1::{BodyMode, Proto, Request, Response},
    http2::{Message, Progress, Session},
};

/// Go's retries of what a server has refused: at once, then after one second, two, four and so on.
const PAUSES_MAX: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_secs(1);

impl Connections {
    /// One attempt over a session.
    #[inline(never)]
    pub(super) fn over_http2(
        &self,
        session: &Session,
        request: &Request<'_>,
        mode: BodyMode,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
    ) -> Result<(), Box<Disconnected>> {
        attempt.begin_over(session, deadline)?;
        let mut progress = Progress::default();
        let limits = self.shared.limits();
        let outcome = session.exchange(request, mode, limits, deadline, &self.wire, &mut progress);
        attempt.end = Clock::now();
        attempt.first_byte = progress.first_byte;
        attempt.written = progress.written.or(progress.first_byte);
        if let Some(handed) = progress.handed {
            attempt.hands_over(handed);
            attempt.had(progress.arrived);
        }
        match outcome {
            Ok(message) => {
                attempt.message = Some(message);
                Ok(())
            }
            Err(lost) => {
                attempt.message = lost.partial_body.map(|body| {
                    let body_len = body.len() as u64;
                    Box::new(Message {
                        status: 0,
                        headers: HeaderBlock::default(),
                        body,
                        hold: BodyHold::default(),
                        body_len,
                    })
                });
                Err(Box::new(Disconnected { error: lost.error, retry: lost.retry, backs_off: lost.retry }))
            }
        }
    }
}

impl Attempt {
    /// It goes over this session.
    pub(super) fn begin_over(&mut self, session: &Session, deadline: Option<Nanos>) -> Result<(), NetError> {
        if self.dialled.is_none() {
            self.reused = session.has_served();
            self.got_conn = Clock::now();
        }
        if deadline.is_some_and(|deadline| deadline <= self.got_conn) {
            return Err(NetError::timeout());
        }
        self.remote = Some(session.peer());
        self.tls = session.tls_info();
        Ok(())
    }

    /// Whether a lost request is sent again; with `backs_off`, after a pause that grows.
    #[cold]
    #[inline(never)]
    pub(super) fn may_repeat(&mut self, backs_off: bool, deadline: Option<Nanos>) -> bool {
        if !backs_off {
            return true;
        }
        self.pauses += 1;
        match self.pauses {
            0 | 1 => true,
            pauses if pauses > PAUSES_MAX + 1 => false,
            pauses => {
                let until = Clock::now() + FIRST_PAUSE * (1 << (pauses - 2));
                match deadline {
                    // k6: it is the request that has timed out then, not the server that refused it.
                    Some(deadline) if deadline <= until => {
                        let _ = sleep_until(deadline);
                        true
                    }
                    _ => sleep_until(until) != Woke::Cancelled,
                }
            }
        }
    }

    pub(super) fn finish_http2(&mut self, message: Message) -> Box<Response> {
        Box::new(Response {
            status: message.status,
            proto: Proto::Http2,
            headers: message.headers,
            body: message.body,
            hold: message.hold,
            body_len: message.body_len,
            remote: self.remote.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0))),
            tls: self.tls.take(),
            timings: self.timings(),
            reused: self.reused,
        })
    }
}
