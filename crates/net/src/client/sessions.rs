//! A VU's HTTP/2 sessions: which one a request takes, and how new ones come about.

use std::rc::Rc;

use onrush_fiber::{FiberId, Nanos, Woke, current, park, unpark};

use super::{Attempt, Connections, Lost};
use crate::error::NetError;
use crate::http1::Request;
use crate::http2::Session;
use crate::link::{Link, Origin};
use crate::url::Url;

/// What a new connection speaks.
pub(super) enum Connected {
    /// HTTP/1.1.
    Link(Link),
    /// HTTP/2; perhaps another request's connection.
    Session(Rc<Session>),
}

/// A connection that is being made to an origin that speaks HTTP/2.
pub(super) struct Dialling {
    origin: Rc<Origin>,
    /// Fibers that would like to share it.
    waiting: Vec<FiberId>,
}

impl Connections {
    /// A session to a URL's origin that takes another request.
    #[inline]
    pub(super) fn find_session(&self, url: &Url) -> Option<Rc<Session>> {
        if self.sessions.borrow().is_empty() { None } else { self.find_session_among(url) }
    }

    #[inline(never)]
    fn find_session_among(&self, url: &Url) -> Option<Rc<Session>> {
        if self.shared.no_connection_reuse() {
            return None;
        }
        let (host, port, is_tls) = self.origin_of(url);
        let mut sessions = self.sessions.borrow_mut();
        let mut over = false;
        let mut found = None;
        for session in &*sessions {
            if !session.goes_to(|origin| origin.is(host, port, is_tls)) {
                continue;
            }
            if session.has_room(&self.wire) {
                found = Some(Rc::clone(session));
                break;
            }
            over |= session.is_over();
        }
        if over {
            // Requests that are still under way hold on to theirs.
            sessions.retain(|session| !session.is_over());
        }
        found
    }

    /// Dials. Requests to an origin that is known to speak HTTP/2 wait for a connection that is being made
    /// instead of making another one each.
    #[inline(never)]
    pub(super) fn connect(
        &self,
        request: &Request<'_>,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
    ) -> Result<Connected, Box<Lost>> {
        let url = request.url;
        let (host, port, is_tls) = self.origin_of(url);
        let origin = self.shared.origin(host, port, is_tls);
        let is_told = |origin: &Origin| {
            self.shared.http2_prior_knowledge() && !origin.is_tls && !origin.forwards() && !request.is_http1
        };
        let is_sure = origin.streams.get() > 0 || is_told(&origin);
        let shares = is_sure && !request.is_http1 && !self.shared.no_connection_reuse();
        if shares && let Some(session) = self.wait_for_dial(&origin, url, deadline)? {
            return Ok(Connected::Session(session));
        }
        let link = self.dial(request, deadline, attempt);
        let connected = link.and_then(|link| {
            if !link.speaks_http2() && !is_told(&link.origin) {
                return Ok(Connected::Link(link));
            }
            Ok(Connected::Session(self.begin_session(link, url, attempt)?))
        });
        if shares {
            self.end_dial(&origin);
        }
        connected
    }

    /// Waits while another fiber makes a connection. `None`: nobody does, and the caller is to make one and
    /// then call [`Connections::end_dial`].
    fn wait_for_dial(
        &self,
        origin: &Rc<Origin>,
        url: &Url,
        deadline: Option<Nanos>,
    ) -> Result<Option<Rc<Session>>, NetError> {
        let Some(me) = current() else { return Ok(None) };
        loop {
            {
                let mut dialling = self.dialling.borrow_mut();
                let Some(other) = dialling.iter_mut().find(|other| Rc::ptr_eq(&other.origin, origin)) else {
                    dialling.push(Dialling { origin: Rc::clone(origin), waiting: Vec::new() });
                    return Ok(None);
                };
                if !other.waiting.contains(&me) {
                    other.waiting.push(me);
                }
            }
            match park(deadline) {
                Woke::Ready => {}
                Woke::Timeout => return Err(NetError::timeout()),
                Woke::Cancelled => return Err(NetError::cancelled()),
            }
            if let Some(session) = self.find_session(url) {
                return Ok(Some(session));
            }
        }
    }

    /// The connection is there, or failed.
    fn end_dial(&self, origin: &Rc<Origin>) {
        let mut dialling = self.dialling.borrow_mut();
        if let Some(at) = dialling.iter().position(|other| Rc::ptr_eq(&other.origin, origin)) {
            let ended = dialling.swap_remove(at);
            ended.waiting.into_iter().for_each(unpark);
        }
    }

    /// The session for a new connection. As Go: one that came about meanwhile, by another request, is used
    /// instead, and the connection closed; then this request has not dialled.
    #[cold]
    #[inline(never)]
    fn begin_session(&self, link: Link, url: &Url, attempt: &mut Attempt) -> Result<Rc<Session>, NetError> {
        if let Some(session) = self.find_session(url) {
            attempt.dialled = None;
            return Ok(session);
        }
        let session = Rc::new(Session::new(link)?);
        if self.shared.no_connection_reuse() {
            return Ok(session);
        }
        let mut sessions = self.sessions.borrow_mut();
        if sessions.len() >= self.shared.idle_total().max(1)
            && let Some(at) = sessions.iter().position(|session| session.is_idle())
        {
            sessions.remove(at);
        }
        if sessions.len() == sessions.capacity() {
            // Most VUs have one; `push` would make room for four.
            sessions.reserve_exact(1);
        }
        sessions.push(Rc::clone(&session));
        Ok(session)
    }
}
