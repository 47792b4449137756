//! The nine samples of a request.

use std::net::SocketAddr;

use onrush_metrics::{HttpTimings, Shard, SystemTag, TagNode};
use onrush_net::{Failure, NetError, Response, Timings, TlsInfo, Url, code_of_status};

use super::{
    arguments::{Auth, Prepared},
    hop::Hop,
    ocsp,
    state::HttpState,
    trace::{self, Ending, Underway},
};
use crate::vu::{Vu, context::with_named};

/// Samples of a hop that was answered. `error` is set when its body could not be decoded.
pub(super) fn response(vu: &Vu, prepared: &Prepared, hop: &Hop, response: &Response, error: Option<&NetError>) {
    record(vu, prepared, hop, &answered(response, error));
}

/// The tags of a hop that was answered, for samples of other metrics.
pub(super) fn node(vu: &Vu, prepared: &Prepared, hop: &Hop, response: &Response) -> TagNode {
    let mut shard = vu.thread.shard.borrow_mut();
    tags(&mut shard, vu, prepared, &hop.method, hop.url(prepared), &answered(response, None), None)
}

fn answered<'a>(response: &'a Response, error: Option<&'a NetError>) -> Outcome<'a> {
    let code = error.map_or_else(|| code_of_status(response.status), |error| error.code);
    Outcome {
        status: if error.is_some() { 0 } else { response.status },
        error: error.map(|error| error.message.as_str()),
        code,
        // k6: what failed has neither a protocol nor a TLS version among its tags, although there were such.
        proto: Some(response).filter(|_| error.is_none()),
        remote: Some(response.remote),
        tls: response.tls.as_deref().filter(|_| error.is_none()),
        timings: &response.timings,
    }
}

/// Samples of a hop that failed.
pub(super) fn failure(vu: &Vu, prepared: &Prepared, hop: &Hop, failure: &Failure) {
    let outcome = Outcome {
        status: 0,
        error: Some(&failure.error.message),
        code: failure.error.code,
        proto: None,
        remote: failure.remote,
        tls: None,
        timings: &failure.timings,
    };
    record(vu, prepared, hop, &outcome);
}

struct Outcome<'a> {
    status: u16,
    error: Option<&'a str>,
    code: u16,
    proto: Option<&'a Response>,
    remote: Option<SocketAddr>,
    tls: Option<&'a TlsInfo>,
    timings: &'a Timings,
}

fn record(vu: &Vu, prepared: &Prepared, hop: &Hop, outcome: &Outcome<'_>) {
    let expected = match &prepared.params.callback {
        Some(own) => own.as_ref().map(|callback| callback.expects(outcome.status)),
        None => HttpState::of(vu).callback.borrow().as_ref().map(|callback| callback.expects(outcome.status)),
    };
    // k6: what opens a handshake is expected to be refused, for digest nothing else is.
    let expected = match prepared.params.auth {
        Auth::Digest if hop.is_unsampled => expected.map(|_| outcome.status == 401),
        Auth::Ntlm if hop.is_unsampled => expected.map(|expected| expected || outcome.status == 401),
        _ => expected,
    };
    let mut shard = vu.thread.shard.borrow_mut();
    vu.annotate(&mut shard);
    let node = tags(&mut shard, vu, prepared, &hop.method, hop.url(prepared), outcome, expected);
    let timings = HttpTimings {
        duration: outcome.timings.duration(),
        blocked: outcome.timings.blocked,
        connecting: outcome.timings.connecting,
        tls_handshaking: outcome.timings.tls_handshaking,
        sending: outcome.timings.sending,
        waiting: outcome.timings.waiting,
        receiving: outcome.timings.receiving,
    };
    let http = shard.http(node);
    shard.record_http(http, &timings, expected.map(|expected| !expected));
    if let (Some(metric), Some(late_ms)) = (vu.thread.intended_request, vu.late_ms()) {
        let series = shard.series(metric, node);
        shard.add(series, late_ms + timings.duration);
    }
    shard.outcomes().note(outcome.status, outcome.code, outcome.error, || described(prepared, hop));
    if let Some(span) = hop.span.take() {
        drop(shard);
        end_span(vu, prepared, hop, *span, outcome);
    }
    if let Some(own_ms) = outcome.timings.own {
        note_own_delay(vu, own_ms, timings.duration);
    }
}

#[cold]
#[inline(never)]
fn end_span(vu: &Vu, prepared: &Prepared, hop: &Hop, span: Underway, outcome: &Outcome<'_>) {
    let Some(tracer) = vu.thread.tracer.get() else { return };
    let &Outcome { status, error, code, proto, remote, .. } = outcome;
    trace::end(vu, tracer, prepared, hop, span, &Ending { status, code, error, proto, remote });
}

/// The response came on a connection whose arrivals the kernel times: one of several.
#[inline(never)]
fn note_own_delay(vu: &Vu, own_ms: f64, reported_ms: f64) {
    if let Some((scenario, _)) = &*vu.scenario.borrow() {
        vu.thread.note_own_delay(*scenario, own_ms, reported_ms);
    }
}

/// A hop whose iteration was interrupted before there was an answer. It makes no sample, as in k6.
#[cold]
pub(super) fn interrupted(vu: &Vu, prepared: &Prepared, hop: &Hop) {
    vu.thread.shard.borrow_mut().outcomes().note_interrupted(|| described(prepared, hop));
    if let (Some(span), Some(tracer)) = (hop.span.take(), vu.thread.tracer.get()) {
        let ending = Ending { status: 0, code: 0, error: Some("interrupted"), proto: None, remote: None };
        trace::end(vu, tracer, prepared, hop, *span, &ending);
    }
}

/// `GET http://host/`, without a password.
fn described(prepared: &Prepared, hop: &Hop) -> String {
    format!("{} {}", hop.method, hop.url(prepared).clean())
}

/// The tags of a hop: those of the VU and the request, then the system tags somebody asked for.
fn tags(
    shard: &mut Shard,
    vu: &Vu,
    prepared: &Prepared,
    method: &str,
    url: &Url,
    outcome: &Outcome<'_>,
    expected: Option<bool>,
) -> TagNode {
    let config = &vu.thread.config;
    let wants = |tag| config.subscriptions.wants(tag);
    let params = &prepared.params;
    let mut node = prepared.node;
    // k6: with the system tag off, a `name` among the tags is a tag like any other.
    if let Some(name) = params.name.as_ref().filter(|_| !wants(SystemTag::Name)) {
        node = with_named(shard, node, SystemTag::Name.as_str(), name);
    }
    if let Some(expected) = expected {
        node = shard.with_system(node, SystemTag::ExpectedResponse, if expected { "true" } else { "false" });
    }
    if wants(SystemTag::Method) {
        node = shard.with_system(node, SystemTag::Method, method);
    }
    if wants(SystemTag::Status) {
        let mut digits = [0; 5];
        node = shard.with_system(node, SystemTag::Status, decimal(outcome.status, &mut digits));
    }
    if wants(SystemTag::Name) || wants(SystemTag::Url) {
        node = names(shard, vu, prepared, url, node);
    }
    if let Some(response) = outcome.proto.filter(|_| wants(SystemTag::Proto)) {
        node = shard.with_system(node, SystemTag::Proto, &response.proto.text());
    }
    if let Some(tls) = outcome.tls.filter(|_| wants(SystemTag::TlsVersion)) {
        node = shard.with_system(node, SystemTag::TlsVersion, tls.version);
    }
    if let Some(tls) = outcome.tls.filter(|_| wants(SystemTag::OcspStatus)) {
        node = shard.with_system(node, SystemTag::OcspStatus, ocsp::status(tls));
    }
    if let Some(remote) = outcome.remote.filter(|remote| remote.port() != 0 && wants(SystemTag::Ip)) {
        node = shard.with_system(node, SystemTag::Ip, &remote.ip().to_string());
    }
    if let Some(error) = outcome.error.filter(|_| wants(SystemTag::Error)) {
        node = shard.with_system(node, SystemTag::Error, error);
    }
    if outcome.code != 0 && wants(SystemTag::ErrorCode) {
        let mut digits = [0; 5];
        node = shard.with_system(node, SystemTag::ErrorCode, decimal(outcome.code, &mut digits));
    }
    node
}

/// k6: `name` is the user's tag, of the request, the VU, the scenario or the run; else the template, unless `systemTags`
/// leaves names out; else the URL. `url` equals it whenever a name was given.
fn names(shard: &mut Shard, vu: &Vu, prepared: &Prepared, url: &Url, node: TagNode) -> TagNode {
    let mut tag = |name: &str| {
        let node = shard.with_system(node, SystemTag::Name, name);
        shard.with_system(node, SystemTag::Url, name)
    };
    if let Some(name) = &prepared.params.name {
        return tag(name);
    }
    vu.with_given_name(|given| {
        let target = &prepared.target;
        let is_named = target.is_template && vu.thread.config.subscriptions.is_enabled(SystemTag::Name);
        match given {
            Some(name) => tag(name),
            None if is_named || (std::ptr::eq(url, &target.url) && !target.is_template) => tag(&target.name),
            None => tag(&url.clean()),
        }
    })
}

/// The decimal digits of a status or code, without allocating.
fn decimal(value: u16, digits: &mut [u8; 5]) -> &str {
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    std::str::from_utf8(&digits[at..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        let mut digits = [0; 5];
        assert_eq!(decimal(0, &mut digits), "0");
        assert_eq!(decimal(200, &mut digits), "200");
        assert_eq!(decimal(u16::MAX, &mut digits), "65535");
    }
}
