//! One module from its server: k6's two attempts, redirects, limits.

use std::{rc::Rc, time::Duration};

use bytes::Bytes;
use onrush_fiber::{Clock, Nanos};
use onrush_net::{
    Body, BodyMode, Connections, Limits, NetError, Request, RequestHeaders, Scheme, Url, encoding,
    redirect::{self, RequestMeta},
};
use onrush_script::Unfetched;

use crate::cache::Validators;

/// Asks servers for modules.
#[derive(Clone)]
pub(crate) struct Getter {
    /// All modules of a script share them.
    pub(crate) connections: Rc<Connections>,
    /// For each module.
    pub(crate) timeout: Duration,
    /// For all of them.
    pub(crate) deadline: Nanos,
    /// Most bytes of one, also after decompression.
    pub(crate) bytes_max: u64,
}

/// What a server says.
pub(crate) enum Answer {
    /// The module, and what the server calls this version.
    Module(Bytes, Validators),
    /// It is the version that is known.
    Unchanged,
}

/// k6: Go's limit: ten requests.
const REQUESTS_MAX: usize = 10;
const USER_AGENT: &str = concat!("Onrush/", env!("CARGO_PKG_VERSION"));

impl Getter {
    /// Gets a module. On a fiber.
    ///
    /// # Errors
    /// With the reason of the second attempt, as in k6.
    pub(crate) fn get(&self, url: &str, known: &Validators) -> Result<Answer, Unfetched> {
        let deadline = (Clock::now() + self.timeout).min(self.deadline);
        // k6: the first attempt tells servers who asks.
        let marked = format!("{url}{}_k6=1", if url.contains('?') { '&' } else { '?' });
        let first = match self.attempt(&marked, known, deadline) {
            Ok(answer) => return Ok(answer),
            // What was refused on principle is not asked for again.
            Err(refused) if refused.is_final => return Err(refused.unfetched),
            Err(refused) => refused,
        };
        // One time limit for both: a server that let it pass once would do so again.
        let last = if Clock::now() < deadline { self.attempt(url, known, deadline) } else { Err(first) };
        last.map_err(|refused| {
            if Clock::now() < deadline {
                return refused.unfetched;
            }
            let reason = format!("Get {url:?}: no complete response within {}s", self.timeout.as_secs_f64());
            Unfetched::new(reason, "check the network, or allow more time with --import-timeout")
        })
    }

    fn attempt(&self, first: &str, known: &Validators, deadline: Nanos) -> Result<Answer, Refused> {
        let refused = |reason: String, hint: &str| Refused { unfetched: Unfetched::new(reason, hint), is_final: false };
        let first_url = Url::parse(first).map_err(|error| refused(error.message, ""))?;
        let mut headers = RequestHeaders::default();
        headers.set("Accept-Encoding", "gzip");
        if let Some(authorization) = first_url.basic_auth() {
            headers.set("Authorization", &authorization);
        }
        if !known.etag.is_empty() {
            headers.set("If-None-Match", &known.etag);
        }
        if !known.modified.is_empty() {
            headers.set("If-Modified-Since", &known.modified);
        }
        let (mut url, mut strip_sensitive) = (first_url.clone(), false);
        for _ in 0..REQUESTS_MAX {
            let mut head = Vec::new();
            headers.write(&mut head);
            let request = Request {
                method: "GET",
                url: &url,
                head: &head,
                host: None,
                body: &Body::None,
                user_agent: Some(USER_AGENT),
                is_http1: false,
            };
            let sent = self.connections.exchange(&request, BodyMode::Keep, Clock::now(), Some(deadline));
            let response = sent.map_err(|failure| refused(reason(&failure.error, &url), hint(&failure.error)))?;
            let meta =
                RequestMeta { method: "GET", url: &url, first_url: &first_url, keep_body: false, strip_sensitive };
            let next = redirect::next(&meta, response.status, response.headers.get("location"))
                .map_err(|error| refused(reason(&error, &url), ""))?;
            let Some(next) = next else {
                let text = |name: &str| {
                    let value = response.headers.get(name).and_then(|value| std::str::from_utf8(value).ok());
                    value.filter(|value| value.len() <= VALIDATOR_BYTES_MAX).unwrap_or_default().to_owned()
                };
                let validators = Validators { etag: text("etag"), modified: text("last-modified") };
                let is_asked = !known.etag.is_empty() || !known.modified.is_empty();
                return match response.status {
                    200 => {
                        let encoding = response.headers.content_encoding().unwrap_or_default();
                        let limits = Limits { body_bytes_max: self.bytes_max, ..Limits::default() };
                        let mut hold = response.hold;
                        let body = encoding::decode(response.body, &encoding, &limits, &mut hold);
                        let body = body.map_err(|failure| refused(detail(&failure.error).to_owned(), ""))?;
                        Ok(Answer::Module(body, validators))
                    }
                    304 if is_asked => Ok(Answer::Unchanged),
                    // k6: its texts.
                    404 => Err(refused(format!("not found: {}", unmarked(first)), "")),
                    status @ (401 | 403) => Err(refused(
                        wrong_status(status, first),
                        "the server wants a login: put user and password into the URL, or the module next to the script",
                    )),
                    status => Err(refused(wrong_status(status, first), "")),
                };
            };
            if next.url.scheme() == Scheme::Http {
                let reason = format!("{} redirects to {}, which is not encrypted", unmarked(first), next.url.as_str());
                let hint = "anybody on the way could change the module: import the URL of a server that speaks HTTPS";
                return Err(Refused { unfetched: Unfetched::new(reason, hint), is_final: true });
            }
            if !next.keeps_header("authorization") {
                headers.remove("Authorization");
            }
            (url, strip_sensitive) = (next.url, next.strip_sensitive);
        }
        Err(refused(format!("Get {:?}: stopped after {REQUESTS_MAX} redirects", url.as_str()), ""))
    }
}

/// Servers use a few dozen characters.
const VALIDATOR_BYTES_MAX: usize = 4096;

/// Why an attempt failed.
struct Refused {
    unfetched: Unfetched,
    is_final: bool,
}

fn wrong_status(status: u16, url: &str) -> String {
    // k6: its text.
    format!("wrong status code ({status}) for: {}", unmarked(url))
}

/// A URL without the mark of the first attempt.
fn unmarked(url: &str) -> &str {
    url.strip_suffix("_k6=1").map_or(url, |url| &url[..url.len() - 1])
}

/// k6: Go's texts.
fn reason(error: &NetError, url: &Url) -> String {
    let detail = detail(error);
    if error.names_url { format!("Get {:?}: {detail}", unmarked(url.as_str())) } else { detail.to_owned() }
}

fn detail(error: &NetError) -> &str {
    if error.detail.is_empty() { &error.message } else { &error.detail }
}

fn hint(error: &NetError) -> &'static str {
    match error.code {
        1100..=1199 => "check the name and the network; proxies are taken from HTTPS_PROXY and NO_PROXY",
        1200..=1299 => "check the network; proxies are taken from HTTPS_PROXY and NO_PROXY",
        _ if error.message.contains("x509") || error.detail.contains("x509") => {
            "to trust an authority of your own, name the file of its certificate with --import-ca or in SSL_CERT_FILE"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_off() {
        assert_eq!(unmarked("https://h/a.js?_k6=1"), "https://h/a.js");
        assert_eq!(unmarked("https://h/a.js?v=1&_k6=1"), "https://h/a.js?v=1");
        assert_eq!(unmarked("https://h/a.js?v=1"), "https://h/a.js?v=1");
    }
}
