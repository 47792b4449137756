//! The entry of the fuzz target: what proxies answer, without a socket.

use std::cell::RefCell;

use super::{
    proxy::{Proxy, ProxyOptions, ProxyRules},
    socks::{Peer, SocksError, converse},
    tunnel::Answer,
};
use crate::{error::NetError, url::Url};

/// Feeds arbitrary bytes to both kinds of conversations with proxies. The first byte says in what pieces they arrive,
/// whether the proxy speaks SOCKS and whether there are a user and a password; up to the first line end there is the
/// target's host.
///
/// Panics are findings; so are an outcome that depends on the pieces and words of ours that are no SOCKS.
pub fn fuzz(data: &[u8]) {
    let Some((&control, rest)) = data.split_first() else { return };
    let step = usize::from(control & 63) + 1;
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    let (host, said) = (String::from_utf8_lossy(&rest[..end]), &rest[(end + 1).min(rest.len())..]);
    let whole = said.len().max(1);
    if control & 64 == 0 {
        assert_eq!(tunnel(said, whole), tunnel(said, step), "an answer in pieces of {step}");
        return;
    }
    let address = if control & 128 == 0 { "socks5://proxy" } else { "socks5://user:password@proxy" };
    let options = ProxyOptions { http: address.to_owned(), ..ProxyOptions::default() };
    let rules = ProxyRules::new(&options).expect("a valid address");
    let url = Url::parse("http://server/").expect("a valid URL");
    let Ok(Some(proxy)) = rules.proxy_for(&url) else { unreachable!("nothing is excepted") };
    assert_eq!(socks(proxy, &host, said, whole), socks(proxy, &host, said, step), "in pieces of {step}");
}

/// What comes of an answer to `CONNECT`.
fn tunnel(said: &[u8], step: usize) -> Result<(), NetError> {
    let mut answer = Answer::default();
    for piece in said.chunks(step) {
        if answer.feed(piece)? {
            return Ok(());
        }
    }
    Err(answer.at_eof())
}

/// What comes of a conversation, and what was said in it on our side.
fn socks(proxy: &Proxy, host: &str, said: &[u8], step: usize) -> (Result<(), SocksError>, Vec<Vec<u8>>) {
    let told = RefCell::default();
    let outcome = converse(Script { pieces: said.chunks(step), told: &told }, proxy, host, 80);
    let told: Vec<Vec<u8>> = told.into_inner();
    assert!((1..=3).contains(&told.len()), "{told:?}");
    if outcome.is_ok() {
        let request = told.last().map_or(&[][..], Vec::as_slice);
        let address = match request.get(3..5) {
            Some([1, _]) => 4,
            Some([4, _]) => 16,
            Some([3, length]) => 1 + usize::from(*length),
            _ => 0,
        };
        assert!(request.starts_with(&[5, 1, 0]) && request.len() == 4 + address + 2, "{request:?}");
    }
    (outcome, told)
}

/// A proxy that says its piece whatever it is told.
struct Script<'a> {
    pieces: std::slice::Chunks<'a, u8>,
    told: &'a RefCell<Vec<Vec<u8>>>,
}

impl Peer for Script<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), NetError> {
        self.told.borrow_mut().push(bytes.to_vec());
        Ok(())
    }

    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool, NetError> {
        let piece = self.pieces.next();
        out.extend_from_slice(piece.unwrap_or_default());
        Ok(piece.is_some())
    }
}
