//! SOCKS version 5 (RFC 1928), with user and password (RFC 1929). Names are resolved by the proxy, as by Go, whether
//! its address says `socks5` or `socks5h`.

use std::net::IpAddr;

use crate::{
    dial::{
        Dialer,
        proxy::{Proxy, authority},
    },
    error::{NetError, code},
    link::Link,
    url::Url,
};

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;
/// A name, a user and a password go with a length of one byte.
const TEXT_BYTES_MAX: usize = 255;

impl Dialer<'_> {
    /// Has the proxy at the other end of `link` connect to the URL's host.
    ///
    /// # Errors
    /// Code 1200 with Go's texts, or the request's timeout.
    #[inline(never)]
    pub(super) fn ask_socks(&self, link: &mut Link, proxy: &Proxy, url: &Url) -> Result<(), NetError> {
        let (host, port) = (url.host(), url.port().unwrap_or_default());
        let outcome = converse(Wire { dialer: self, link }, proxy, host, port);
        outcome.map_err(|lost| match lost {
            SocksError::Wait(error) if error.code == code::REQUEST_TIMEOUT || error == NetError::cancelled() => error,
            SocksError::Wait(error) => refused(proxy, host, port, &error.detail),
            SocksError::Said(reason) => refused(proxy, host, port, &reason),
        })
    }
}

/// Has the proxy connect to a host: the whole conversation.
pub(super) fn converse(peer: impl Peer, proxy: &Proxy, host: &str, port: u16) -> Result<(), SocksError> {
    let mut conversation = Conversation { peer, input: Vec::new() };
    conversation.negotiate(proxy)?;
    conversation.connect(host, port)
}

/// The proxy, as far as a conversation needs one.
pub(super) trait Peer {
    /// Sends all of it.
    fn send(&mut self, bytes: &[u8]) -> Result<(), NetError>;

    /// Waits for bytes and appends them; false at the end.
    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool, NetError>;
}

struct Wire<'a, 'b> {
    dialer: &'a Dialer<'b>,
    link: &'a mut Link,
}

impl Peer for Wire<'_, '_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), NetError> {
        self.link.send_all(bytes, self.dialer.deadline, self.dialer.wire)
    }

    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool, NetError> {
        self.link.read_some(out, self.dialer.deadline, self.dialer.wire)
    }
}

fn refused(proxy: &Proxy, host: &str, port: u16, reason: &str) -> NetError {
    let ends = format!("{}->{}", proxy.authority(), authority(host, port));
    NetError::new(code::TCP, format!("socks connect tcp {ends}: {reason}"))
}

/// Why it failed.
#[derive(Debug, PartialEq)]
pub(super) enum SocksError {
    Wait(NetError),
    Said(String),
}

impl From<NetError> for SocksError {
    fn from(error: NetError) -> Self {
        Self::Wait(error)
    }
}

struct Conversation<P> {
    peer: P,
    input: Vec<u8>,
}

impl<P: Peer> Conversation<P> {
    fn negotiate(&mut self, proxy: &Proxy) -> Result<(), SocksError> {
        let hello: &[u8] = match proxy.credentials {
            None => &[VERSION, 1, NO_AUTHENTICATION],
            Some(_) => &[VERSION, 2, NO_AUTHENTICATION, USER_AND_PASSWORD],
        };
        self.send(hello)?;
        let answer = self.take(2)?;
        match (answer[0], answer[1], &proxy.credentials) {
            (version, ..) if version != VERSION => Err(unexpected_version(version)),
            (_, NO_AUTHENTICATION, _) => Ok(()),
            (_, NO_ACCEPTABLE_METHOD, _) => Err(SocksError::Said("no acceptable authentication methods".to_owned())),
            (_, USER_AND_PASSWORD, Some((user, password))) => self.authenticate(user, password),
            (_, method, _) => Err(SocksError::Said(format!("unsupported authentication method {method}"))),
        }
    }

    fn authenticate(&mut self, user: &[u8], password: &[u8]) -> Result<(), SocksError> {
        let (Some(user), Some(password)) = (counted(user), counted(password)) else {
            return Err(SocksError::Said("invalid username/password".to_owned()));
        };
        self.send(&[vec![1], user, password].concat())?;
        match *self.take(2)? {
            [1, 0] => Ok(()),
            [1, _] => Err(SocksError::Said("username/password authentication failed".to_owned())),
            _ => Err(SocksError::Said("invalid username/password version".to_owned())),
        }
    }

    fn connect(&mut self, host: &str, port: u16) -> Result<(), SocksError> {
        let mut request = vec![VERSION, 1, 0];
        match host.parse() {
            Ok(IpAddr::V4(ip)) => {
                request.push(1);
                request.extend(ip.octets());
            }
            Ok(IpAddr::V6(ip)) => {
                request.push(4);
                request.extend(ip.octets());
            }
            Err(_) => {
                request.push(3);
                request.extend(counted(host.as_bytes()).ok_or_else(|| SocksError::Said("FQDN too long".to_owned()))?);
            }
        }
        request.extend(port.to_be_bytes());
        self.send(&request)?;
        let [version, reply, reserved, kind] = *self.take(4)? else { return Err(cut_off()) };
        if version != VERSION {
            return Err(unexpected_version(version));
        }
        if reply != 0 {
            return Err(SocksError::Said(format!("unknown error {}", reply_text(reply))));
        }
        if reserved != 0 {
            return Err(SocksError::Said("non-zero reserved field".to_owned()));
        }
        let bytes = match kind {
            1 => 4,
            4 => 16,
            3 => usize::from(self.take(1)?[0]),
            kind => return Err(SocksError::Said(format!("unknown address type {kind}"))),
        };
        // The address the proxy connects from, and its port: nobody asks.
        self.take(bytes + 2)?;
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), SocksError> {
        Ok(self.peer.send(bytes)?)
    }

    /// Reads this many bytes; not one more is taken from what comes behind them unless the proxy sends it too early.
    fn take(&mut self, count: usize) -> Result<Box<[u8]>, SocksError> {
        while self.input.len() < count {
            if !self.peer.read(&mut self.input)? {
                return Err(if self.input.is_empty() { SocksError::Said("EOF".to_owned()) } else { cut_off() });
            }
        }
        Ok(self.input.drain(..count).collect())
    }
}

fn counted(text: &[u8]) -> Option<Vec<u8>> {
    let length = u8::try_from(text.len()).ok().filter(|_| !text.is_empty() && text.len() <= TEXT_BYTES_MAX)?;
    Some([&[length], text].concat())
}

fn cut_off() -> SocksError {
    SocksError::Said("unexpected EOF".to_owned())
}

fn unexpected_version(version: u8) -> SocksError {
    SocksError::Said(format!("unexpected protocol version {version}"))
}

fn reply_text(reply: u8) -> String {
    let text = match reply {
        1 => "general SOCKS server failure",
        2 => "connection not allowed by ruleset",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "TTL expired",
        7 => "command not supported",
        8 => "address type not supported",
        other => return format!("unknown code: {other}"),
    };
    text.to_owned()
}
