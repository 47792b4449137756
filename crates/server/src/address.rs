//! Where to listen, as k6's users write it: `localhost:6565`, `:6565`, `[::1]:6565`.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs as _};

use crate::TlsError;

/// Shortest token where other machines can try: 16 hexadecimal digits are 64 bits.
const TOKEN_BYTES_MIN: usize = 16;

/// A place to listen, and for a client a place to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// As written.
    text: String,
    host: String,
    port: u16,
    is_tls: bool,
}

/// Why a text is none, or cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// No `HOST:PORT`.
    #[error("invalid address \"{0}\", use HOST:PORT such as localhost:6565")]
    Invalid(String),
    /// Other machines could reach it, and anybody could steer the run.
    #[error("the address \"{0}\" can be reached from other machines, which needs a token")]
    NeedsToken(String),
    /// Other machines could try all tokens.
    #[error(
        "the address \"{0}\" can be reached from other machines, which needs a token of at least {TOKEN_BYTES_MIN} characters"
    )]
    WeakToken(String),
    /// It needs TLS, which cannot be had.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The system refuses.
    #[error("{0}")]
    Listen(#[from] std::io::Error),
}

impl Address {
    /// Reads `HOST:PORT`, with `https://` before it where TLS is to be spoken; without a host it is every address of the
    /// machine, as for k6.
    ///
    /// # Errors
    /// When it is not of that form.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let invalid = || AddressError::Invalid(text.to_owned());
        let (is_tls, place) = match text.trim().strip_prefix("https://") {
            Some(place) => (true, place.strip_suffix('/').unwrap_or(place)),
            None => (false, text.trim()),
        };
        let (host, port) = place.rsplit_once(':').ok_or_else(invalid)?;
        let port = port.parse().map_err(|_| invalid())?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.chars().any(|char| char.is_whitespace() || "/?#@".contains(char))
            || (host.contains(':') && host.parse::<Ipv6Addr>().is_err())
        {
            return Err(invalid());
        }
        Ok(Self { text: text.trim().to_owned(), host: host.to_owned(), port, is_tls })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether TLS is asked for.
    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// The name a certificate must be for.
    pub(crate) fn host(&self) -> &str {
        if self.host.is_empty() { "localhost" } else { &self.host }
    }

    /// `HOST:PORT` for a client: without a host it is this machine.
    pub fn authority(&self) -> String {
        let host = self.host();
        if host.contains(':') { format!("[{host}]:{}", self.port) } else { format!("{host}:{}", self.port) }
    }

    /// The addresses it stands for.
    ///
    /// # Errors
    /// When the name is not known.
    pub fn resolve(&self) -> std::io::Result<Vec<SocketAddr>> {
        if self.host.is_empty() {
            return Ok(vec![SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), self.port)]);
        }
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }

    /// Listens on it. Without a good token only addresses that this machine alone reaches will do.
    pub(crate) fn listen(&self, token: Option<&str>) -> Result<TcpListener, AddressError> {
        let addresses = self.resolve()?;
        if !addresses.iter().all(|address| address.ip().is_loopback()) {
            match token {
                None => return Err(AddressError::NeedsToken(self.text.clone())),
                Some(token) if token.len() < TOKEN_BYTES_MIN => {
                    return Err(AddressError::WeakToken(self.text.clone()));
                }
                Some(_) => {}
            }
        }
        // As Go does: of a name's addresses the first, IPv4 before IPv6.
        let mut addresses = addresses;
        addresses.sort_by_key(SocketAddr::is_ipv6);
        match TcpListener::bind(addresses.as_slice()) {
            // A machine without IPv6.
            Err(_) if self.host.is_empty() => Ok(TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], self.port)))?),
            result => Ok(result?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(Address::parse(text).ok().map(|address| address.authority()).as_deref(), expect, "{text}");
        };
        check("localhost:6565", Some("localhost:6565"));
        check(":6565", Some("localhost:6565"));
        check("[::1]:80", Some("[::1]:80"));
        check("0.0.0.0:0", Some("0.0.0.0:0"));
        check("https://generator:6565", Some("generator:6565"));
        check("https://[::1]:80/", Some("[::1]:80"));
        assert!(Address::parse("https://generator:1").expect("valid").is_tls());
        for bad in [
            "",
            "6565",
            "localhost",
            "localhost:",
            "localhost:x",
            "localhost:65536",
            "::1:80:x",
            "a b:1",
            "http://x:1",
            "https://x",
            "https://x:1/y",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn what_others_can_reach_needs_a_token() {
        let listen = |text: &str, token| Address::parse(text).expect("valid").listen(token);
        assert!(matches!(listen("0.0.0.0:0", None), Err(AddressError::NeedsToken(_))));
        assert!(matches!(listen(":0", None), Err(AddressError::NeedsToken(_))));
        assert!(matches!(listen("0.0.0.0:0", Some("x")), Err(AddressError::WeakToken(_))));
        assert!(listen("127.0.0.1:0", None).is_ok());
        assert!(listen("127.0.0.1:0", Some("x")).is_ok());
        assert!(listen("0.0.0.0:0", Some("0123456789abcdef")).is_ok());
    }
}
