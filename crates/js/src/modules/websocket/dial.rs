//! Asking for a WebSocket. No JavaScript runs here, so it can be done on a child fiber.

use std::{net::SocketAddr, time::Duration};

use onrush_fiber::{Clock, Nanos};
use onrush_net::{
    Body, NetError, Request, RequestHeaders, Response, Upgrade, Url,
    error::code,
    websocket::{Offer, Socket},
};

use super::params::Params;
use crate::{
    modules::http::{SharedJar, cookie_header, own_jar, store_cookies},
    vu::Vu,
};

/// How long a handshake may take, as in k6.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A request for a WebSocket that owns all it needs.
pub(super) struct Dial {
    /// With `http` for `ws`.
    url: Url,
    headers: RequestHeaders,
    host: Option<String>,
    user_agent: String,
    jar: SharedJar,
    offer: Offer,
}

/// What came of it.
pub(super) struct Dialled {
    /// The socket, or k6's text about what is wrong.
    pub(super) outcome: Result<Socket, String>,
    /// What the server answered, whether that was yes or no.
    pub(super) response: Option<Box<Response>>,
    pub(super) remote: Option<SocketAddr>,
    pub(super) start: Nanos,
    /// When it was over.
    pub(super) end: Nanos,
}

impl Dialled {
    /// It failed before anything was sent.
    pub(super) fn refused(start: Nanos, text: String) -> Self {
        Self { outcome: Err(text), response: None, remote: None, start, end: Clock::now() }
    }

    /// How long it took, in milliseconds.
    pub(super) fn took_ms(&self) -> f64 {
        (self.end - self.start).as_millis_f64()
    }

    /// The protocol that the server chose; empty if it chose none.
    pub(super) fn protocol(&self) -> String {
        let value = self.response.as_ref().and_then(|response| response.headers.get("sec-websocket-protocol"));
        value.map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
    }
}

impl Dial {
    /// A request to `url`, which need not be one.
    ///
    /// # Errors
    /// k6's text about what is wrong.
    pub(super) fn new(vu: &Vu, url: &str, params: &Params, protocols: &[String]) -> Result<Self, String> {
        let url = as_http(url)?;
        let jar = params.jar.clone().unwrap_or_else(|| own_jar(vu));
        let mut headers = params.headers.clone();
        let offer = Offer::new(params.deflate);
        offer.add_to(&mut headers, protocols).map_err(|error| error.to_string())?;
        // k6: a header takes the place of the jar.
        if headers.get("Cookie").is_none()
            && let Some(cookies) = cookie_header(&jar, &url)
        {
            headers.set("Cookie", &cookies);
        }
        let user_agent = params.user_agent.clone().unwrap_or_else(|| vu.thread.config.http.user_agent.clone());
        Ok(Self { url, headers, host: params.host.clone(), user_agent, jar, offer })
    }

    /// Sends it and waits for the answer. Suspends the fiber.
    pub(super) fn run(&self, vu: &Vu) -> Dialled {
        let start = Clock::now();
        let mut head = Vec::new();
        // k6: headers that cannot be sent are left out.
        self.headers.write(&mut head);
        let request = Request {
            method: "GET",
            url: &self.url,
            head: &head,
            host: self.host.as_deref(),
            body: &Body::None,
            user_agent: Some(&self.user_agent),
            is_http1: true,
        };
        let upgraded = vu.connections.upgrade(&request, start, Some(start + TIMEOUT));
        let end = Clock::now();
        match upgraded {
            Ok(Upgrade::Switched(response, wire)) => {
                store_cookies(&self.jar, &self.url, &response.headers);
                let outcome = match self.offer.judge(&response.headers) {
                    Ok(agreement) => Ok(Socket::new(*wire, agreement)),
                    Err(error) => Err(error.to_string()),
                };
                Dialled { outcome, remote: Some(response.remote), response: Some(response), start, end }
            }
            Ok(Upgrade::Refused(response)) => {
                store_cookies(&self.jar, &self.url, &response.headers);
                let outcome = Err("websocket: bad handshake".to_owned());
                Dialled { outcome, remote: Some(response.remote), response: Some(response), start, end }
            }
            Err(failure) => {
                Dialled { outcome: Err(text_of(&failure.error)), response: None, remote: failure.remote, start, end }
            }
        }
    }
}

/// The URL to ask: `http` for `ws`, `https` for `wss`.
fn as_http(text: &str) -> Result<Url, String> {
    let malformed = || "malformed ws or wss URL".to_owned();
    let url = parse(text)?;
    if !matches!(&*url.scheme_text(), "ws" | "wss") || url.userinfo().is_some() {
        return Err(malformed());
    }
    if url.host().is_empty() {
        return Err("lookup : no such host".to_owned());
    }
    // What follows the scheme's first two letters is `s://…`, `S://…` or `://…`.
    let rest = text.get(url.scheme_text().len()..).unwrap_or_default();
    parse(&format!("http{}{rest}", if &*url.scheme_text() == "wss" { "s" } else { "" }))
}

/// Parses a URL; the error is Go's.
pub(super) fn parse(text: &str) -> Result<Url, String> {
    Url::parse(text).map_err(|error| {
        error.message.strip_prefix("invalid URL: ").map_or_else(|| error.message.clone(), str::to_owned)
    })
}

fn text_of(error: &NetError) -> String {
    match error.code {
        code::TLS_RECORD_HEADER => "tls: first record does not look like a TLS handshake".to_owned(),
        _ => error.detail.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_asked_over_http() {
        let check = |text: &str, expect: &str| {
            let shown = as_http(text).map_or_else(|error| error, |url| url.as_str().to_owned());
            assert_eq!(shown, expect);
        };
        check("ws://host/a?b", "http://host/a?b");
        check("WSS://host:1/", "https://host:1/");
        check("http://host/", "malformed ws or wss URL");
        check("ws://u:p@host/", "malformed ws or wss URL");
        check("ws://", "lookup : no such host");
        check("ws:", "lookup : no such host");
        check("ws://%zz/", "parse \"ws://%zz/\": invalid URL escape \"%zz\"");
    }
}
