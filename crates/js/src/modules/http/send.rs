//! Sending a prepared request: hops, cookies, samples. No JavaScript runs here.

use std::{net::SocketAddr, rc::Rc, sync::Arc};

use bytes::Bytes;
use onrush_fiber::{Clock, Nanos};
use onrush_net::{BodyHold, BodyMode, Failure, NetError, Response, Timings, TlsInfo, Url, encoding};

use super::{
    arguments::{Auth, Prepared, Refused, ResponseType},
    body_stream::{self, BodyStream},
    cookies::now_ms,
    debug,
    hop::Hop,
    response_body::ResponseBody,
    sample,
    state::HttpState,
};
use crate::{
    HttpDebug,
    embed::{JsResult, Throw},
    log::Level,
    vu::Vu,
};

/// A request and what became of it: the data behind a Response object.
pub(crate) struct Exchange {
    /// What was sent; `None` when the request was refused.
    pub(crate) prepared: Option<Rc<Prepared>>,
    /// A refused request throws.
    refused_throws: bool,
    /// The URL of the last hop, when it is not the first.
    pub(crate) url: Option<Arc<str>>,
    pub(crate) response: Option<Box<Response>>,
    /// The body, decoded; what arrived of it when the request failed in it.
    pub(super) body: ResponseBody,
    /// The body where the script reads it as it arrives: `body` is empty then.
    pub(super) stream: Option<Rc<BodyStream>>,
    /// What went wrong, if something did.
    fault: Option<Box<Fault>>,
    /// The request failed while its body was read, so that `body` is the part that came, be it empty.
    is_partial: bool,
    /// The `Cookie` header of the first hop.
    pub(crate) sent_cookies: String,
}

/// A failed exchange, and what is known of it.
struct Fault {
    error: NetError,
    /// The long form of the error, for the log.
    log_text: String,
    timings: Timings,
    remote: Option<SocketAddr>,
}

impl Exchange {
    pub(super) fn refused(refused: Refused) -> Rc<Self> {
        let fault = Fault {
            log_text: refused.error.detail.clone(),
            error: refused.error,
            timings: Timings::default(),
            remote: None,
        };
        Rc::new(Self {
            prepared: None,
            refused_throws: refused.throw,
            url: None,
            response: None,
            body: ResponseBody::default(),
            stream: None,
            fault: Some(Box::new(fault)),
            is_partial: false,
            sent_cookies: String::new(),
        })
    }

    /// A response whose body is still to be read.
    pub(super) fn streaming(
        prepared: Rc<Prepared>,
        head: Box<Response>,
        url: Option<Arc<str>>,
        stream: Rc<BodyStream>,
        sent_cookies: String,
    ) -> Rc<Self> {
        Rc::new(Self {
            prepared: Some(prepared),
            refused_throws: false,
            url,
            response: Some(head),
            body: ResponseBody::default(),
            stream: Some(stream),
            fault: None,
            is_partial: false,
            sent_cookies,
        })
    }

    /// What went wrong, if something did.
    pub(super) fn error(&self) -> Option<&NetError> {
        self.fault.as_ref().map(|fault| &fault.error)
    }

    /// The error's long form, if the request failed.
    pub(super) fn failure(&self) -> Option<&str> {
        self.fault.as_ref().map(|fault| fault.log_text.as_str())
    }

    /// Phases of the last hop; all zero where it was never sent.
    pub(super) fn timings(&self) -> Timings {
        match (&self.fault, &self.response) {
            (Some(fault), _) => fault.timings,
            (None, Some(response)) => {
                self.stream.as_ref().and_then(|stream| stream.timings()).unwrap_or(response.timings)
            }
            (None, None) => Timings::default(),
        }
    }

    /// The peer of the last hop.
    pub(super) fn remote(&self) -> Option<SocketAddr> {
        match (&self.fault, &self.response) {
            (Some(fault), _) => fault.remote,
            (None, response) => response.as_ref().map(|response| response.remote),
        }
    }

    /// What TLS negotiated on the last hop; k6: nothing where the request failed later.
    pub(super) fn tls(&self) -> Option<&TlsInfo> {
        self.response.as_ref().filter(|_| self.fault.is_none()).and_then(|response| response.tls.as_deref())
    }

    pub(super) fn is_thrown(&self) -> bool {
        self.prepared.as_ref().map_or(self.refused_throws, |prepared| prepared.params.throw)
    }

    /// The status; 0 when the request failed.
    pub(crate) fn status(&self) -> u16 {
        if self.fault.is_some() { 0 } else { self.response.as_ref().map_or(0, |response| response.status) }
    }

    pub(super) fn status_text(&self) -> String {
        match &self.response {
            Some(response) if self.fault.is_none() => response.headers.status_text().into_owned(),
            _ => String::new(),
        }
    }

    /// Whether `body` is anything but null.
    pub(super) fn has_body(&self) -> bool {
        // k6: what was not even a request has a body that is empty.
        if self.prepared.is_none() {
            return true;
        }
        let status = self.response.as_ref().map_or(0, |response| response.status);
        let is_failed = self.fault.is_some() && !self.is_partial;
        // k6: null also where HTTP knows no body.
        !is_failed && !matches!(status, 204 | 304) && self.response_type() != ResponseType::None
    }

    /// The body for methods that need all of it.
    ///
    /// # Errors
    /// `null_text` where there is none; and where the script is reading it.
    pub(super) fn whole_body(&self, null_text: &str) -> JsResult<Bytes> {
        if !self.has_body() {
            return Err(Throw::error(null_text));
        }
        if self.stream.is_some() {
            return Err(Throw::error(
                "the body is a stream: read response.body, or send the request without responseType: 'stream'",
            ));
        }
        Ok(self.body.bytes())
    }

    pub(crate) fn response_type(&self) -> ResponseType {
        self.prepared.as_ref().map_or(ResponseType::Text, |prepared| prepared.params.response_type)
    }
}

/// Sends a request and follows redirects. Every hop emits its samples. Ends with `Interrupted` when the fiber was cancelled.
///
/// What lives in this frame while the fiber waits is copied with its stack on every request: results are boxed, and
/// what happens before and after the wait is in functions of its own.
pub(crate) fn send(vu: &Vu, prepared: &Rc<Prepared>) -> JsResult<Rc<Exchange>> {
    let params = &prepared.params;
    if params.response_type == ResponseType::Stream {
        return body_stream::send(vu, prepared);
    }
    let start = Clock::now();
    let settings = &vu.thread.config.http;
    let is_discarded = params.response_type == ResponseType::None && settings.debug != HttpDebug::Full;
    let redirects_max = params.redirects.unwrap_or(settings.max_redirects);
    let terms = Terms {
        prepared,
        user_agent: params.user_agent.as_deref().unwrap_or(&settings.user_agent),
        mode: if is_discarded { BodyMode::Discard } else { BodyMode::Keep },
        deadline: Some(Nanos(start.0.saturating_add(params.timeout_ns))),
    };
    let mut hop = Box::new(Hop::first(prepared));
    let mut sent_cookies = String::new();
    // k6: a timeout of zero has passed already.
    if prepared.fault.is_some() || params.timeout_ns == 0 {
        return Ok(failed(vu, prepared, &hop, fault_before_sending(prepared), sent_cookies));
    }
    let mut hop_start = start;
    loop {
        let result = one_hop(vu, &terms, &hop, &mut sent_cookies, hop_start);
        if onrush_fiber::is_cancelled() {
            sample::interrupted(vu, prepared, &hop);
            return Err(Throw::Interrupted);
        }
        match result.and_then(|response| follow(vu, prepared, &mut hop, response, redirects_max)) {
            Ok(Some(response)) => return Ok(ended(vu, prepared, &hop, response, sent_cookies)),
            Ok(None) => hop_start = Clock::now(),
            Err(failure) => return Ok(failed(vu, prepared, &hop, failure, sent_cookies)),
        }
    }
}

#[cold]
#[inline(never)]
pub(super) fn fault_before_sending(prepared: &Prepared) -> Box<Failure> {
    let error = prepared.fault.as_deref().cloned().unwrap_or_else(NetError::timeout);
    Box::new(Failure { error, timings: Timings::default(), remote: None, tls: None, reused: false, partial_body: None })
}

/// What holds for all hops of a request.
struct Terms<'a> {
    prepared: &'a Prepared,
    user_agent: &'a str,
    mode: BodyMode,
    deadline: Option<Nanos>,
}

/// Sends what `hop` says and waits for the response.
#[inline(never)]
fn one_hop(
    vu: &Vu,
    terms: &Terms<'_>,
    hop: &Hop,
    sent_cookies: &mut String,
    start: Nanos,
) -> Result<Box<Response>, Box<Failure>> {
    let &Terms { prepared, user_agent, mode, deadline } = terms;
    let url = hop.url(prepared);
    let head = hop.head(vu, prepared, url, sent_cookies);
    let request = hop.request(prepared, url, &head, user_agent);
    if vu.thread.config.http.debug != HttpDebug::Off {
        return debug::exchange(vu, prepared, &request, mode, start, deadline);
    }
    vu.connections.exchange(&request, mode, start, deadline)
}

/// After a response: stores its cookies and moves `hop` on where it redirects. `Some` is the answer.
#[inline(never)]
pub(super) fn follow(
    vu: &Vu,
    prepared: &Prepared,
    hop: &mut Hop,
    response: Box<Response>,
    redirects_max: u32,
) -> Result<Option<Box<Response>>, Box<Failure>> {
    let url = hop.url(prepared);
    store_cookies(vu, prepared, url, &response);
    if response.status == UNAUTHORIZED && prepared.params.auth != Auth::Header {
        return challenged(vu, prepared, hop, response);
    }
    if !(300..400).contains(&response.status) {
        return Ok(Some(response));
    }
    match hop.next(prepared, url, &response) {
        Ok(Some(next)) if hop.redirects < redirects_max => {
            sample::response(vu, prepared, hop, &response, None);
            hop.follow(prepared, next);
            Ok(None)
        }
        Ok(next) => {
            if next.is_some() && prepared.params.redirects.is_none() && vu.thread.config.http.warns_of_redirects {
                vu.log(
                    Level::Warn,
                    // k6 counts the request it does not make.
                    format!("Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params or set global maxRedirects to silence this", hop.redirects.saturating_add(1)),
                );
            }
            Ok(Some(response))
        }
        Err(error) => Err(failed_after(&response, error)),
    }
}

/// A 401 while digest or NTLM is asked for: the request is sent again with an answer, or this is the response.
#[cold]
#[inline(never)]
fn challenged(
    vu: &Vu,
    prepared: &Prepared,
    hop: &mut Hop,
    response: Box<Response>,
) -> Result<Option<Box<Response>>, Box<Failure>> {
    match hop.answer_challenge(vu, prepared, &response) {
        Ok(true) => {
            sample::response(vu, prepared, hop, &response, None);
            hop.is_unsampled = false;
            Ok(None)
        }
        Ok(false) => Ok(Some(response)),
        Err(error) => Err(failed_after(&response, error)),
    }
}

/// A failure that only the response led to.
#[cold]
fn failed_after(response: &Response, error: NetError) -> Box<Failure> {
    Box::new(Failure {
        error,
        timings: response.timings,
        remote: Some(response.remote),
        tls: response.tls.clone(),
        reused: response.reused,
        partial_body: None,
    })
}

fn store_cookies(vu: &Vu, prepared: &Prepared, url: &Url, response: &Response) {
    if !response.headers.has_set_cookie() {
        return;
    }
    let jar = prepared.params.jar.clone().unwrap_or_else(|| HttpState::of(vu).jar_or_new(vu));
    jar.borrow_mut().store(url, response.headers.get_all("set-cookie"), now_ms());
}

#[inline(never)]
fn ended(
    vu: &Vu,
    prepared: &Rc<Prepared>,
    hop: &Hop,
    mut response: Box<Response>,
    sent_cookies: String,
) -> Rc<Exchange> {
    let (mut body, mut hold) = (std::mem::take(&mut response.body), std::mem::take(&mut response.hold));
    let mut fault = None;
    if let Some(list) = response.headers.content_encoding().filter(|_| !body.is_empty()) {
        match encoding::decode(body, &list, &vu.thread.config.http.limits, &mut hold) {
            Ok(decoded) => body = decoded,
            Err(failure) => {
                body = failure.partial;
                fault = Some(Box::new(Fault {
                    log_text: failure.error.detail.clone(),
                    error: failure.error,
                    timings: response.timings,
                    remote: Some(response.remote),
                }));
            }
        }
    }
    // k6: a protocol that was switched is an exception, and no sample.
    if response.status != SWITCHING_PROTOCOLS {
        sample::response(vu, prepared, hop, &response, fault.as_ref().map(|fault| &fault.error));
    }
    Rc::new(Exchange {
        prepared: Some(prepared.clone()),
        refused_throws: false,
        url: hop.shown_url(true),
        is_partial: fault.is_some() && !body.is_empty(),
        body: ResponseBody::new(body, hold),
        stream: None,
        fault,
        response: Some(response),
        sent_cookies,
    })
}

#[inline(never)]
pub(super) fn failed(
    vu: &Vu,
    prepared: &Rc<Prepared>,
    hop: &Hop,
    failure: Box<Failure>,
    sent_cookies: String,
) -> Rc<Exchange> {
    let url = hop.url(prepared);
    sample::failure(vu, prepared, hop, &failure);
    let fault = Fault {
        log_text: failure.error.log_text(&hop.method, &url.log_text()),
        error: failure.error,
        timings: failure.timings,
        remote: failure.remote,
    };
    Rc::new(Exchange {
        prepared: Some(prepared.clone()),
        refused_throws: false,
        url: hop.shown_url(false),
        response: None,
        is_partial: failure.partial_body.is_some(),
        body: ResponseBody::new(failure.partial_body.unwrap_or_default(), BodyHold::default()),
        stream: None,
        fault: Some(Box::new(fault)),
        sent_cookies,
    })
}

const UNAUTHORIZED: u16 = 401;
/// k6 refuses protocol upgrades whatever the parameters say.
pub(super) const SWITCHING_PROTOCOLS: u16 = 101;
