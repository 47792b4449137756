//! Running a closure on a fiber, and small requests.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::{cell::RefCell, rc::Rc, time::Duration};

use bytes::Bytes;
use onrush_fiber::{Clock, Reactor, ReactorConfig, spawn};
use onrush_net::{Body, BodyMode, ClientOptions, ClientShared, Connections, Failure, Request, Response, Url};

/// Far longer than anything here takes, unless it hangs.
pub(crate) const PLENTY: Duration = Duration::from_secs(20);

/// Runs `f` on a fiber of a fresh reactor and returns what it returned.
pub(crate) fn on_fiber<T: 'static>(options: ClientOptions, f: impl FnOnce(Rc<ClientShared>) -> T + 'static) -> T {
    let reactor = Reactor::new(ReactorConfig::default()).expect("a reactor");
    let shared = options.build_thread().expect("options");
    let out = Rc::new(RefCell::new(None));
    let slot = Rc::clone(&out);
    spawn(None, move || {
        let value = f(shared);
        *slot.borrow_mut() = Some(value);
    });
    reactor.run();
    let value = out.borrow_mut().take();
    value.expect("the fiber ended without a panic")
}

pub(crate) fn send(
    connections: &Connections,
    method: &str,
    url: &str,
    body: Body,
    mode: BodyMode,
    limit: Duration,
) -> Result<Box<Response>, Box<Failure>> {
    let url = Url::parse(url).expect("a URL");
    let request = Request {
        method,
        url: &url,
        head: b"X-Test: 1\r\n",
        host: None,
        body: &body,
        user_agent: Some("test"),
        is_http1: false,
    };
    connections.exchange(&request, mode, Clock::now(), Some(Clock::now() + limit))
}

pub(crate) fn get(connections: &Connections, url: &str) -> Result<Box<Response>, Box<Failure>> {
    send(connections, "GET", url, Body::None, BodyMode::Keep, PLENTY)
}

pub(crate) fn post(
    connections: &Connections,
    url: &str,
    body: impl Into<Bytes>,
) -> Result<Box<Response>, Box<Failure>> {
    send(connections, "POST", url, Body::Bytes(body.into()), BodyMode::Keep, PLENTY)
}

/// Lets other fibers and threads run for a moment.
pub(crate) fn pause(millis: u64) {
    let woke = onrush_fiber::sleep_until(Clock::now() + Duration::from_millis(millis));
    assert_eq!(woke, onrush_fiber::Woke::Timeout);
}
