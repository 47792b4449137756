//! `/ws/…`: WebSockets.

use super::request::{GET, Outcome, Request, allow, bad_request, field};
use crate::{
    link::Protocol,
    reply::Built,
    routes::headers::headers_json,
    websocket::{Accepted, accept},
};

/// `kind` is the endpoint's name.
pub(super) fn websocket(request: &Request<'_>, kind: &str) -> Outcome {
    allow(request.head, GET)?;
    if request.link.protocol != Protocol::Http1 {
        return Err(bad_request("WebSockets come over HTTP/1.1"));
    }
    let query = request.head.query;
    let field = |name: &str| field(query, name).map(std::borrow::Cow::into_owned);
    let headers = String::from_utf8_lossy(&headers_json(request.head)).into_owned();
    accept(request.head, kind, &field, &headers).map(answer).map_err(bad_request)
}

/// The answer to an accepted handshake.
fn answer(accepted: Accepted) -> Built {
    let mut built = Built::empty(accepted.status);
    for (name, value) in &accepted.lines {
        built.add(name, value);
    }
    built.extra().upgrade = Some(Box::new(accepted.behaviour));
    built
}
