//! One request of the hops a call may take: what it sends, and where it leads.

use std::{borrow::Cow, cell::Cell, sync::Arc};

use bytes::Bytes;
use onrush_net::{Body, CookieJar, NetError, Request, RequestHeaders, Response, Url, redirect};

use super::{
    arguments::{Auth, Prepared},
    cookies::{now_ms, push_cookie},
    handshake::{Authorization, Handshake},
    state::HttpState,
    trace::{self, Underway},
};
use crate::vu::Vu;

/// What the current hop sends.
pub(super) struct Hop {
    pub(super) method: Cow<'static, str>,
    /// `None`: the URL the script gave.
    pub(super) url: Option<Url>,
    pub(super) keep_body: bool,
    strip_sensitive: bool,
    pub(super) keep_host: bool,
    referer: Option<Arc<str>>,
    /// A redirect led here.
    is_redirected: bool,
    /// How many redirects led here.
    pub(super) redirects: u32,
    /// Nothing of this request has been measured yet.
    pub(super) is_unsampled: bool,
    /// Digest or NTLM, where the parameters ask for them.
    pub(super) handshake: Option<Handshake>,
    /// Its span, where it is traced, from its head to its samples.
    pub(super) span: Cell<Option<Box<Underway>>>,
}

impl Hop {
    pub(super) fn first(prepared: &Prepared) -> Self {
        let mut hop = Self {
            method: prepared.method.clone(),
            url: None,
            keep_body: true,
            strip_sensitive: false,
            keep_host: true,
            referer: None,
            is_redirected: false,
            redirects: 0,
            is_unsampled: true,
            handshake: None,
            span: Cell::new(None),
        };
        if prepared.params.auth != Auth::Header {
            hop.begin_handshake(prepared);
        }
        hop
    }

    /// The URL this hop asks.
    pub(super) fn url<'a>(&'a self, prepared: &'a Prepared) -> &'a Url {
        self.url.as_ref().unwrap_or(&prepared.target.url)
    }

    /// The URL as Go prints it, where it is not the script's.
    pub(super) fn shown_url(&self, is_answered: bool) -> Option<Arc<str>> {
        self.url.as_ref().filter(|_| is_answered || self.is_redirected).map(Url::to_text)
    }

    #[cold]
    fn begin_handshake(&mut self, prepared: &Prepared) {
        let url = self.url(prepared);
        let header = prepared.params.headers.get("Authorization").filter(|_| !self.strip_sensitive);
        let (handshake, url) = Handshake::begin(prepared.params.auth, url, header);
        self.handshake = Some(handshake);
        if url.is_some() {
            self.url = url;
        }
    }

    /// After a 401: whether the request is to be sent again, with an answer to the server's challenge.
    #[cold]
    pub(super) fn answer_challenge(
        &mut self,
        vu: &Vu,
        prepared: &Prepared,
        response: &Response,
    ) -> Result<bool, NetError> {
        let Some(mut handshake) = self.handshake.take() else { return Ok(false) };
        let body: &[Bytes] = if self.keep_body { prepared.body.pieces() } else { &[] };
        let goes_on = handshake.answer(vu, &self.method, self.url(prepared), body, response);
        self.handshake = Some(handshake);
        goes_on
    }

    pub(super) fn next(
        &self,
        prepared: &Prepared,
        url: &Url,
        response: &Response,
    ) -> Result<Option<redirect::Next>, NetError> {
        let meta = redirect::RequestMeta {
            method: &self.method,
            url,
            first_url: &prepared.target.url,
            keep_body: self.keep_body,
            strip_sensitive: self.strip_sensitive,
        };
        redirect::next(&meta, response.status, response.headers.get("location"))
    }

    pub(super) fn follow(&mut self, prepared: &Prepared, next: redirect::Next) {
        *self = Self {
            method: next.method,
            url: Some(next.url),
            keep_body: next.keep_body,
            strip_sensitive: next.strip_sensitive,
            keep_host: self.keep_host && next.keep_host,
            referer: next.referer,
            is_redirected: true,
            redirects: self.redirects + 1,
            is_unsampled: false,
            handshake: None,
            span: Cell::new(None),
        };
        if prepared.params.auth != Auth::Header {
            self.begin_handshake(prepared);
        }
    }

    /// The request of this hop to `url`, with the lines of [`Hop::head`].
    #[inline]
    pub(super) fn request<'a>(
        &'a self,
        prepared: &'a Prepared,
        url: &'a Url,
        head: &'a [u8],
        user_agent: &'a str,
    ) -> Request<'a> {
        Request {
            method: &self.method,
            url,
            head,
            host: prepared.params.host.as_deref().filter(|_| self.keep_host),
            body: if self.keep_body { &prepared.body } else { &Body::None },
            user_agent: Some(user_agent),
            // It authenticates a connection, which HTTP/2 would share. k6 sends it over HTTP/2 all the same, and fails.
            is_http1: prepared.params.auth == Auth::Ntlm,
        }
    }

    /// All header lines of this hop but those the request itself writes.
    #[inline(never)]
    pub(super) fn head<'a>(
        &self,
        vu: &Vu,
        prepared: &'a Prepared,
        url: &Url,
        sent_cookies: &mut String,
    ) -> Cow<'a, [u8]> {
        let params = &prepared.params;
        let jar = params.jar.clone().or_else(|| HttpState::of(vu).jar(vu));
        let jar = jar.as_ref().map(|jar| jar.borrow());
        let jar = jar.as_deref().filter(|jar| !jar.is_empty());
        let has_cookies = !params.cookies.is_empty() || jar.is_some() || params.cookie_header.is_some();
        let tracer = vu.thread.tracer.get();
        if let Some(lines) = params.headers.lines()
            && !has_cookies
            && tracer.is_none()
            && !self.changes_headers(url)
        {
            return Cow::Borrowed(lines);
        }
        let mut head = Vec::new();
        self.write_head(prepared, url, &mut head);
        if let Some(tracer) = tracer {
            self.span.set(trace::begin(vu, tracer, prepared, self, &mut head));
        }
        if has_cookies {
            // The first attempt of the first hop is what `res.request` shows.
            let sent = (!self.is_redirected && sent_cookies.is_empty()).then_some(sent_cookies);
            self.write_cookies(prepared, url, jar, &mut head, sent);
        }
        Cow::Owned(head)
    }

    /// Whether this hop sends other headers than the script gave.
    fn changes_headers(&self, url: &Url) -> bool {
        self.is_redirected || self.handshake.is_some() || url.userinfo().is_some()
    }

    /// The script's headers that go with this hop, and those the hop adds.
    fn write_head(&self, prepared: &Prepared, url: &Url, head: &mut Vec<u8>) {
        let headers = &prepared.params.headers;
        if let Some(handshake) = &self.handshake {
            return self.write_handshake(handshake, prepared, url, head);
        }
        if self.is_redirected {
            self.kept_headers(prepared, url).write(head);
        } else {
            headers.write(head);
        }
        // The script's header may have been left behind on the way.
        if let Some(basic) = url.basic_auth()
            && (self.strip_sensitive || headers.get("Authorization").is_none())
        {
            let mut auth = RequestHeaders::new();
            auth.set("Authorization", &basic);
            auth.write(head);
        }
    }

    /// The same with the `Authorization` that the handshake says.
    #[cold]
    fn write_handshake(&self, handshake: &Handshake, prepared: &Prepared, url: &Url, head: &mut Vec<u8>) {
        let mut headers =
            if self.is_redirected { self.kept_headers(prepared, url) } else { prepared.params.headers.clone() };
        match handshake.authorization() {
            Authorization::AsGiven => {}
            Authorization::None => headers.remove("Authorization"),
            Authorization::Is(value) => headers.set("Authorization", value),
        }
        headers.write(head);
    }

    /// What of the script's headers follows a redirect, and the `Referer`.
    fn kept_headers(&self, prepared: &Prepared, url: &Url) -> RequestHeaders {
        let headers = &prepared.params.headers;
        let mut kept = RequestHeaders::new();
        let next = redirect::Next {
            method: Cow::Borrowed(""),
            url: url.clone(),
            keep_body: self.keep_body,
            strip_sensitive: self.strip_sensitive,
            keep_host: self.keep_host,
            referer: None,
        };
        for (name, value) in headers.iter().filter(|(name, _)| next.keeps_header(name)) {
            kept.add(name, value);
        }
        if let Some(referer) = self.referer.as_deref().filter(|_| kept.get("Referer").is_none()) {
            kept.set("Referer", referer);
        }
        kept
    }

    /// One `Cookie` line: parameter cookies, then the jar's. `sent` collects them for `res.request.cookies`.
    fn write_cookies(
        &self,
        prepared: &Prepared,
        url: &Url,
        jar: Option<&CookieJar>,
        head: &mut Vec<u8>,
        sent: Option<&mut String>,
    ) {
        const NAME: &[u8] = b"Cookie: ";
        let params = &prepared.params;
        let start = head.len();
        let mut is_first = true;
        // k6: redirects begin with the cookies of the parameters again, on whichever host; a header does not go along.
        if let Some(given) = params.cookie_header.as_deref().filter(|given| !self.is_redirected && !given.is_empty()) {
            head.extend_from_slice(NAME);
            head.extend_from_slice(given.as_bytes());
            is_first = false;
        }
        let mut write = |name: &str, value: &str, is_quoted: bool, head: &mut Vec<u8>| {
            head.extend_from_slice(if is_first { NAME } else { b"; " });
            is_first = false;
            push_cookie(head, name, value, is_quoted);
        };
        for cookie in &params.cookies {
            write(&cookie.name, &cookie.value, false, head);
        }
        for cookie in jar.map(|jar| jar.for_url(url, now_ms())).unwrap_or_default() {
            let is_replaced = params.cookies.iter().any(|own| own.replace && *own.name == *cookie.name);
            if !is_replaced {
                write(cookie.name, cookie.value, cookie.quoted, head);
            }
        }
        if !is_first {
            if let Some(sent) = sent {
                *sent = String::from_utf8_lossy(&head[start + NAME.len()..]).into_owned();
            }
            head.extend_from_slice(b"\r\n");
        }
    }
}
