//! A VU's HTTP/2 sessions: which one a request takes, and how new ones come about.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use onrush_fiber::{FiberId, Nanos, Woke, current, park, unpark};

use super::{Attempt, Connections, Disconnected, Route};
use crate::{
    error::NetError,
    http1::Request,
    http2::Session,
    link::{Link, Origin},
    url::Url,
};

/// What a new connection speaks.
pub(super) enum Connected {
    /// HTTP/1.1.
    Link(Link),
    /// HTTP/2; perhaps another request's connection.
    Session(Rc<Session>),
}

/// A connection that is being made to an origin that spoke HTTP/2 at last.
pub(super) struct Dialling {
    origin: Rc<Origin>,
    /// Fibers that would like to share it.
    waiting: RefCell<Vec<FiberId>>,
    /// It came to nothing that can be shared: who waited makes a connection of its own, all at once.
    is_in_vain: Cell<bool>,
}

/// What a request that could share a connection does.
enum Turn {
    /// Another one has made it.
    Share(Rc<Session>),
    /// It is the one that makes it; [`Connections::end_dial`] follows.
    Dial(Rc<Dialling>),
    /// It makes one without others waiting for it.
    Alone,
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

    /// Dials. Requests to an origin that is known to speak HTTP/2 wait for a connection that is being made instead of
    /// making another one each.
    #[inline(never)]
    pub(super) fn connect(
        &self,
        request: &Request<'_>,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
    ) -> Result<Connected, Box<Disconnected>> {
        let url = request.url;
        let (host, port, is_tls) = self.origin_of(url);
        let origin = self.shared.origin(host, port, is_tls);
        let reported = |origin: &Origin| {
            self.shared.http2_prior_knowledge() && !origin.is_tls && !origin.forwards() && !request.is_http1
        };
        let is_sure = origin.streams.get() > 0 || reported(&origin);
        let shares = is_sure && !request.is_http1 && !self.shared.no_connection_reuse();
        let shared = match shares.then(|| self.wait_for_dial(&origin, url, deadline)).transpose()? {
            Some(Turn::Share(session)) => return Ok(Connected::Session(session)),
            Some(Turn::Dial(dialling)) => Some(dialling),
            Some(Turn::Alone) | None => None,
        };
        let link = self.dial(url, Route::of(request), deadline, attempt);
        let connected = link.and_then(|link| {
            if !link.speaks_http2() && !reported(&link.origin) {
                if !request.is_http1 {
                    // What it spoke before counts no more: requests must not wait for each other's dials.
                    link.origin.streams.set(0);
                }
                return Ok(Connected::Link(link));
            }
            Ok(Connected::Session(self.begin_session(link, url, attempt)?))
        });
        if let Some(dialling) = shared {
            self.end_dial(&dialling, !matches!(connected, Ok(Connected::Session(_))));
        }
        connected
    }

    /// Waits while another fiber makes a connection.
    fn wait_for_dial(&self, origin: &Rc<Origin>, url: &Url, deadline: Option<Nanos>) -> Result<Turn, NetError> {
        let Some(me) = current() else { return Ok(Turn::Alone) };
        loop {
            let other = {
                let mut dialling = self.dialling.borrow_mut();
                match dialling.iter().find(|other| Rc::ptr_eq(&other.origin, origin)) {
                    Some(other) => Rc::clone(other),
                    None => {
                        let mine = Rc::new(Dialling {
                            origin: Rc::clone(origin),
                            waiting: RefCell::default(),
                            is_in_vain: Cell::new(false),
                        });
                        dialling.push(Rc::clone(&mine));
                        return Ok(Turn::Dial(mine));
                    }
                }
            };
            if !other.waiting.borrow().contains(&me) {
                other.waiting.borrow_mut().push(me);
            }
            match park(deadline) {
                Woke::Ready => {}
                Woke::Timeout => return Err(NetError::timeout()),
                Woke::Cancelled => return Err(NetError::cancelled()),
            }
            if let Some(session) = self.find_session(url) {
                return Ok(Turn::Share(session));
            }
            if other.is_in_vain.get() {
                return Ok(Turn::Alone);
            }
        }
    }

    /// The connection is there, or there will be none to share.
    fn end_dial(&self, ended: &Rc<Dialling>, is_in_vain: bool) {
        ended.is_in_vain.set(is_in_vain);
        self.dialling.borrow_mut().retain(|other| !Rc::ptr_eq(other, ended));
        ended.waiting.take().into_iter().for_each(unpark);
    }

    /// The session for a new connection. As Go: one that came about meanwhile, by another request, is used instead, and
    /// the connection closed; then this request has not dialled.
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

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering},
        },
        time::Duration,
    };

    use onrush_fiber::{Clock, Reactor, ReactorConfig, spawn};
    use onrush_testkit::{CertificateAuthority, GoodServer, Reply, http2::FrameServer};

    use super::*;
    use crate::{
        http1::{Body, BodyMode},
        options::{ClientOptions, ClientShared},
    };

    /// One request a fiber, all at once, to an origin that is taken for one that speaks HTTP/2; how many were answered.
    fn ask(url: &str, count: usize) -> (usize, Rc<ClientShared>) {
        let mut options = ClientOptions::default();
        options.tls.insecure_skip_verify = true;
        let reactor = Reactor::new(ReactorConfig::default()).unwrap();
        let shared = options.build_thread().unwrap();
        let url = Url::parse(url).unwrap();
        shared.origin(url.host(), url.port().unwrap(), true).streams.set(100);
        let connections = Rc::new(Connections::new(Rc::clone(&shared)));
        let answered = Rc::new(Cell::new(0));
        for _ in 0..count {
            let (connections, url, answered) = (Rc::clone(&connections), url.clone(), Rc::clone(&answered));
            spawn(None, move || {
                let request = Request {
                    method: "GET",
                    url: &url,
                    head: b"",
                    host: None,
                    body: &Body::None,
                    user_agent: None,
                    is_http1: false,
                };
                let until = Clock::now() + Duration::from_secs(20);
                let outcome = connections.exchange(&request, BodyMode::Keep, Clock::now(), Some(until));
                answered.set(answered.get() + usize::from(outcome.is_ok()));
            });
        }
        reactor.run();
        (answered.get(), shared)
    }

    #[test]
    fn dials_that_others_waited_for_in_vain_are_followed_by_all_at_once() {
        const REQUESTS: u64 = 6;
        let most = Arc::new(AtomicU64::new(0));
        let open = Arc::new(AtomicU64::new(0));
        let (most_seen, open_now) = (Arc::clone(&most), Arc::clone(&open));
        // No TLS there. Closes each connection once as many as can be are open, or after a while.
        let server = FrameServer::start(move |talk| {
            let count = open_now.fetch_add(1, Ordering::SeqCst) + 1;
            most_seen.fetch_max(count, Ordering::SeqCst);
            for _ in 0..300 {
                if most_seen.load(Ordering::SeqCst) >= REQUESTS - 1 {
                    break;
                }
                talk.pause(Duration::from_millis(1));
            }
            open_now.fetch_sub(1, Ordering::SeqCst);
        });
        let (answered, _) = ask(&server.url("/").replace("http:", "https:"), REQUESTS as usize);
        assert_eq!((answered, server.accepted(), most.load(Ordering::SeqCst)), (0, REQUESTS, REQUESTS - 1));
    }

    #[test]
    fn an_origin_that_falls_back_to_http1_is_no_longer_waited_for() {
        let identity = CertificateAuthority::new().identity(&["127.0.0.1"]);
        let server = GoodServer::start_tls(identity.server(), |_| Reply::text("hi"));
        let (answered, shared) = ask(&server.url("/"), 4);
        let port = server.addr().port();
        assert_eq!((answered, shared.origin("127.0.0.1", port, true).streams.get()), (4, 0));
    }
}
