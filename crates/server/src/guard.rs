//! Who may ask: against other machines a token, against web pages in a browser on this machine the `Host` and `Origin`
//! headers.
//!
//! A page of anybody's can make a browser send requests to `localhost`. What a browser lets it send without asking first
//! carries the page's `Origin`; and a name that resolves to 127.0.0.1 only after the page was loaded ("DNS rebinding")
//! shows up as `Host`.

use axum::http::{HeaderMap, header};

use crate::Reply;

/// What requests are held to.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    /// Required as `Authorization: Bearer …`, if there is one.
    pub(crate) token: Option<String>,
    /// The host that was listened on by name; always allowed as `Host`.
    pub(crate) own_host: String,
}

impl Guard {
    /// Lets a request pass, or says why not.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Reply> {
        self.check_place(headers)?;
        // A page from elsewhere can have a browser ask for this without an Origin, as for a picture.
        let from = headers.get("sec-fetch-site").map(|value| value.as_bytes());
        if from.is_some_and(|from| from != b"same-origin" && from != b"none") {
            return Err(from_elsewhere());
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = text(headers, header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        if given.is_some_and(|given| is_same(given.trim().as_bytes(), token.as_bytes())) {
            return Ok(());
        }
        Err(Reply::error(401, "Unauthorized", "send the API token as 'Authorization: Bearer TOKEN'"))
    }

    /// The same whatever token it has: for what is no secret.
    pub(crate) fn check_place(&self, headers: &HeaderMap) -> Result<(), Reply> {
        // Which of two counts depends on who reads them: RFC 9112, section 3.2.
        for name in [header::HOST, header::ORIGIN, header::AUTHORIZATION] {
            if headers.get_all(&name).iter().count() > 1 {
                return Err(Reply::error(400, "Bad Request", &format!("more than one {name} header")));
            }
        }
        let host = text(headers, header::HOST).unwrap_or_default();
        if self.token.is_none() && !self.is_own(host) {
            let detail = format!("the Host header '{}' is not this machine's", shown(host));
            return Err(Reply::error(403, "Forbidden", &detail));
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let same = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, origin)| origin);
            if same != Some(host) {
                return Err(from_elsewhere());
            }
        }
        Ok(())
    }

    fn is_own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        name.eq_ignore_ascii_case("localhost")
            || (!self.own_host.is_empty() && name.eq_ignore_ascii_case(&self.own_host))
            || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn from_elsewhere() -> Reply {
    Reply::error(403, "Forbidden", "requests of web pages from elsewhere are refused")
}

/// Compares in a time that depends on the lengths only.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// A header's beginning, for an error.
fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 80;
    text.chars().take(SHOWN_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(token: Option<&str>, headers: &[(&str, &str)], expect: u16) {
        let guard = Guard { token: token.map(str::to_owned), own_host: "generator".to_owned() };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name.parse::<header::HeaderName>().expect("a name"), value.parse().expect("a value"));
        }
        let status = guard.check(&map).map_or_else(|reply| reply.status, |()| 200);
        assert_eq!(status, expect, "{map:?}");
    }

    #[test]
    fn hosts_and_origins() {
        for host in ["localhost:6565", "LOCALHOST", "127.0.0.1:6565", "127.9.9.9", "[::1]:6565", "generator:1"] {
            check(None, &[("host", host)], 200);
        }
        for host in ["evil.example:6565", "localhost.evil.example", "10.0.0.1:6565", "", "[::2]:1", "[", ":"] {
            check(None, &[("host", host)], 403);
        }
        check(None, &[], 403);
        check(None, &[("host", "localhost:6565"), ("origin", "http://localhost:6565")], 200);
        check(None, &[("host", "localhost:6565"), ("origin", "http://evil.example")], 403);
        check(None, &[("host", "localhost:6565"), ("origin", "null")], 403);
        check(None, &[("host", "localhost:6565"), ("sec-fetch-site", "same-origin")], 200);
        check(None, &[("host", "localhost:6565"), ("sec-fetch-site", "none")], 200);
        check(None, &[("host", "localhost:6565"), ("sec-fetch-site", "cross-site")], 403);
        check(None, &[("host", "localhost:6565"), ("sec-fetch-site", "same-site")], 403);
        check(None, &[("host", "localhost:6565"), ("host", "evil.example")], 400);
        check(None, &[("host", "localhost:6565"), ("host", "localhost:6565")], 400);
    }

    #[test]
    fn tokens() {
        let host = ("host", "10.0.0.1:6565");
        check(Some("secret"), &[host], 401);
        check(Some("secret"), &[host, ("authorization", "Bearer secre")], 401);
        check(Some("secret"), &[host, ("authorization", "secret")], 401);
        check(Some("secret"), &[host, ("authorization", "Bearer secret")], 200);
    }
}
