//! Which proxy a URL goes through: the environment's rules, as Go's `http.ProxyFromEnvironment` reads them.
//!
//! Unlike there, a proxy's address that cannot be used is an error before the run and not silently no proxy.

use std::net::IpAddr;

use base64::Engine as _;

use crate::{dns::IpRange, error::NetError, url::Url};

/// The proxies of a run, as the environment names them. Empty texts are no proxies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyOptions {
    /// `HTTP_PROXY`, for `http://` URLs.
    pub http: String,
    /// `HTTPS_PROXY`, for `https://` URLs.
    pub https: String,
    /// `NO_PROXY`: what is reached directly.
    pub exceptions: String,
    /// Whether this process answers a CGI request: then `HTTP_PROXY` may have been set by a client's header.
    pub is_cgi: bool,
}

impl ProxyOptions {
    /// Reads the variables: upper case goes before lower case.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let either = |name: &str| {
            let upper = variable(name).filter(|value| !value.is_empty());
            upper.or_else(|| variable(&name.to_ascii_lowercase())).unwrap_or_default()
        };
        Self {
            http: either("HTTP_PROXY"),
            https: either("HTTPS_PROXY"),
            exceptions: either("NO_PROXY"),
            is_cgi: variable("REQUEST_METHOD").is_some_and(|method| !method.is_empty()),
        }
    }
}

/// What a proxy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyKind {
    Http,
    /// HTTP over TLS.
    Https,
    Socks5,
}

/// A proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proxy {
    pub(crate) kind: ProxyKind,
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
    /// The name its plain connections are kept under: no URL's host looks like this.
    pub(crate) origin_name: Box<str>,
    /// User and password, as bytes.
    pub(crate) credentials: Option<(Vec<u8>, Vec<u8>)>,
    /// The value of `Proxy-Authorization`.
    pub(crate) authorization: Option<Box<str>>,
}

/// How the name of a connection to a proxy begins, for requests the proxy forwards.
pub(crate) const FORWARDS: &str = "proxy:";

impl Proxy {
    /// Parses `scheme://user:password@host:port`; without a scheme it is `http`.
    fn parse(text: &str) -> Result<Self, String> {
        let bad = |reason: &str| format!("invalid proxy address {text:?}: {reason}");
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&whole).map_err(|error| bad(&error.message))?;
        let (kind, default_port) = match &*url.scheme_text() {
            "http" => (ProxyKind::Http, 80),
            "https" => (ProxyKind::Https, 443),
            "socks5" | "socks5h" => (ProxyKind::Socks5, 1080),
            other => {
                return Err(bad(&format!(
                    "proxies of the kind {other:?} are not known; http, https, socks5 and socks5h are"
                )));
            }
        };
        if url.host().is_empty() {
            return Err(bad("it names no host"));
        }
        let port = match url.port_text() {
            "" => default_port,
            digits => digits.parse().map_err(|_| bad("its port is none"))?,
        };
        let credentials = url.credentials();
        let authorization = credentials.as_ref().map(|(user, password)| {
            let pair = [user, b":".as_slice(), password].concat();
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair)).into()
        });
        let origin_name = format!("{FORWARDS}{}", url.host()).into();
        Ok(Self { kind, host: url.host().into(), port, origin_name, credentials, authorization })
    }

    /// Whether plain requests are sent to it as they are, with the whole URL, and not through a tunnel.
    pub(crate) fn forwards(&self) -> bool {
        self.kind != ProxyKind::Socks5
    }

    /// `host:port`.
    pub(crate) fn authority(&self) -> String {
        authority(&self.host, self.port)
    }
}

/// `host:port`, with brackets where the host is an IPv6 address.
pub(crate) fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// The checked rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProxyRules {
    http: Option<Proxy>,
    https: Option<Proxy>,
    exceptions: Vec<Exception>,
    is_cgi: bool,
}

/// What is reached directly.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Exception {
    All,
    Range(IpRange),
    Ip(IpAddr, Option<Box<str>>),
    /// The end of a name, with its leading dot, and a port; `whole`: the name without the dot counts, too.
    Name {
        end: Box<str>,
        whole: bool,
        port: Option<Box<str>>,
    },
}

impl ProxyRules {
    /// Checks the variables.
    ///
    /// # Errors
    /// The variable and what is wrong with it.
    pub(crate) fn new(options: &ProxyOptions) -> Result<Self, String> {
        let parse = |name: &str, text: &str| match text.trim() {
            "" => Ok(None),
            text => Proxy::parse(text).map(Some).map_err(|reason| format!("{name}: {reason}")),
        };
        Ok(Self {
            http: parse("HTTP_PROXY", &options.http)?,
            https: parse("HTTPS_PROXY", &options.https)?,
            exceptions: options.exceptions.split(',').filter_map(Exception::parse).collect(),
            is_cgi: options.is_cgi,
        })
    }

    /// The proxy for a URL, if it goes through one.
    ///
    /// # Errors
    /// Go's refusal to believe `HTTP_PROXY` in a CGI environment.
    #[inline]
    pub(crate) fn proxy_for(&self, url: &Url) -> Result<Option<&Proxy>, NetError> {
        let proxy = if url.is_https() { &self.https } else { &self.http };
        match proxy {
            None => Ok(None),
            Some(proxy) => self.decide(proxy, url),
        }
    }

    fn decide<'a>(&self, proxy: &'a Proxy, url: &Url) -> Result<Option<&'a Proxy>, NetError> {
        if self.is_cgi && !url.is_https() {
            return Err(NetError::generic(
                "refusing to use HTTP_PROXY value in CGI environment; see golang.org/s/cgihttpproxy",
            ));
        }
        let (host, port) = (url.host(), url.port().unwrap_or_default());
        let ip: Option<IpAddr> = host.parse().ok();
        // k6: of names only this one, in this spelling.
        if host == "localhost" || ip.is_some_and(|ip| ip.to_canonical().is_loopback()) {
            return Ok(None);
        }
        let host = host.trim().to_ascii_lowercase();
        let direct = self.exceptions.iter().any(|exception| exception.matches(&host, ip, port));
        Ok(Some(proxy).filter(|_| !direct))
    }
}

impl Exception {
    /// One entry of `NO_PROXY`: `*`, an address, a range, a name, `.name` or `*.name`; names and addresses may have a
    /// port.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text.is_empty() {
            return None;
        }
        if text == "*" {
            return Some(Self::All);
        }
        if let Ok(range) = IpRange::parse(&text) {
            return Some(Self::Range(range));
        }
        let bare = |text: &str| text.trim_start_matches('[').trim_end_matches(']').to_owned();
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => (bare(host), Some(port.into())),
            _ => (bare(&text), None),
        };
        if let Ok(ip) = host.parse() {
            return Some(Self::Ip(ip, port));
        }
        let host = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(&host);
        match host {
            "" => None,
            host if host.starts_with('.') => Some(Self::Name { end: host.into(), whole: false, port }),
            host => Some(Self::Name { end: format!(".{host}").into(), whole: true, port }),
        }
    }

    fn matches(&self, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
        let is_port = |wanted: &Option<Box<str>>| wanted.as_ref().is_none_or(|wanted| **wanted == *port.to_string());
        match self {
            Self::All => true,
            Self::Range(range) => ip.is_some_and(|ip| range.contains(ip)),
            Self::Ip(wanted, port) => ip == Some(*wanted) && is_port(port),
            Self::Name { end, whole, port } => (host.ends_with(&**end) || *whole && *host == end[1..]) && is_port(port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(exceptions: &str) -> ProxyRules {
        let options = ProxyOptions {
            http: "u:p%20w@a.proxy:81".into(),
            https: "socks5://b.proxy".into(),
            exceptions: exceptions.into(),
            is_cgi: false,
        };
        ProxyRules::new(&options).unwrap()
    }

    fn goes_through(exceptions: &str, url: &str) -> Option<String> {
        rules(exceptions).proxy_for(&Url::parse(url).unwrap()).unwrap().map(Proxy::authority)
    }

    #[test]
    fn schemes_and_defaults() {
        assert_eq!(goes_through("", "http://x.test/").as_deref(), Some("a.proxy:81"));
        assert_eq!(goes_through("", "https://x.test/").as_deref(), Some("b.proxy:1080"));
        let rules = rules("");
        let proxy = rules.proxy_for(&Url::parse("http://x/").unwrap()).unwrap().unwrap();
        assert_eq!(proxy.authorization.as_deref(), Some("Basic dTpwIHc="));
        let check = |text: &str, expect: &str| {
            let options = ProxyOptions { http: text.into(), ..ProxyOptions::default() };
            assert_eq!(ProxyRules::new(&options).unwrap_err(), expect);
        };
        check(
            "ftp://x:1",
            "HTTP_PROXY: invalid proxy address \"ftp://x:1\": proxies of the kind \"ftp\" are not known; http, https, \
             socks5 and socks5h are",
        );
        check("http://", "HTTP_PROXY: invalid proxy address \"http://\": it names no host");
        check("http://h:99999", "HTTP_PROXY: invalid proxy address \"http://h:99999\": its port is none");
    }

    /// Each as k6 decides it.
    #[test]
    fn exceptions() {
        let check = |exceptions: &str, url: &str, proxied: bool| {
            assert_eq!(goes_through(exceptions, url).is_some(), proxied, "{exceptions} {url}");
        };
        for (url, proxied) in [
            ("http://localhost:1/", false),
            ("http://127.9.9.9/", false),
            ("http://[::1]/", false),
            ("http://0.0.0.0/", true),
            ("http://LOCALHOST/", true),
            ("http://localhost./", true),
            ("http://a.localhost/", true),
        ] {
            check("", url, proxied);
        }
        for (exceptions, name, below, ip) in [
            ("*", false, false, false),
            ("nowhere.test", false, false, true),
            (".test", false, false, true),
            ("test", false, false, true),
            (".nowhere.test", true, false, true),
            ("nowhere.test:80", false, false, true),
            ("nowhere.test:81", true, true, true),
            ("*.test", false, false, true),
            ("10.0.0.0/8", true, true, false),
            ("10.1.2.3", true, true, false),
            ("10.1.2.3:80", true, true, false),
            ("10.1.2.3:81", true, true, true),
            ("foo, nowhere.test ,", false, false, true),
            ("NOWHERE.TEST", false, false, true),
        ] {
            check(exceptions, "http://nowhere.test/x", name);
            check(exceptions, "http://sub.nowhere.test/x", below);
            check(exceptions, "http://10.1.2.3/x", ip);
        }
        check("[fd00::1]:80", "http://[fd00::1]/", false);
        check("fd00::1", "http://[fd00::1]:99/", false);
    }

    #[test]
    fn variables() {
        let read = |pairs: &'static [(&str, &str)]| {
            ProxyOptions::from_environment(|name| {
                pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(read(&[("http_proxy", "a"), ("HTTP_PROXY", "b")]).http, "b");
        assert_eq!(read(&[("https_proxy", "a"), ("no_proxy", "c"), ("ALL_PROXY", "x")]).https, "a");
        let cgi = read(&[("REQUEST_METHOD", "GET"), ("HTTP_PROXY", "http://p:1")]);
        let rules = ProxyRules::new(&cgi).unwrap();
        assert!(rules.proxy_for(&Url::parse("http://x/").unwrap()).is_err());
        assert!(rules.proxy_for(&Url::parse("https://x/").unwrap()).unwrap().is_none());
    }
}
