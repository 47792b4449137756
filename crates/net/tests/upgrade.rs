//! Connections that are handed out after `101 Switching Protocols`, with correct and hostile servers.

mod support;

use std::{cell::Cell, rc::Rc, time::Duration};

use onrush_fiber::{Clock, spawn};
use onrush_net::{Body, ClientOptions, ClientShared, Connections, Failure, ProxyOptions, Request, Upgrade, Url, Wire};
use onrush_testkit::{
    CertificateAuthority, GoodProxy,
    http2::{FrameServer, Talk},
};
use support::{PLENTY, on_fiber, pause};

const SWITCH: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\nX-A: 1\r\n\r\n";

/// Reads the head of a request.
fn head(talk: &mut Talk) -> Option<String> {
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\n") {
        seen.extend(talk.read(1)?);
    }
    Some(String::from_utf8_lossy(&seen).into_owned())
}

/// Switches, and then sends back what comes.
fn echo(talk: &mut Talk) {
    if head(talk).is_some() && talk.send(SWITCH) {
        while let Some(byte) = talk.read(1) {
            if !talk.send(&byte) {
                return;
            }
        }
    }
}

fn ask(shared: Rc<ClientShared>, url: &str, limit: Duration) -> Result<Upgrade, Box<Failure>> {
    let url = Url::parse(url).expect("a URL");
    let request = Request {
        method: "GET",
        url: &url,
        head: b"Connection: Upgrade\r\nUpgrade: echo\r\nCookie: a=1\r\n",
        host: None,
        body: &Body::None,
        user_agent: Some("test"),
        is_http1: true,
    };
    Connections::new(shared).upgrade(&request, Clock::now(), Some(Clock::now() + limit))
}

fn wire(upgrade: Result<Upgrade, Box<Failure>>) -> Wire {
    match upgrade.expect("an answer") {
        Upgrade::Switched(response, wire) => {
            assert_eq!((response.status, response.headers.get("x-a")), (101, Some(&b"1"[..])));
            *wire
        }
        Upgrade::Refused(response) => panic!("refused with {}", response.status),
    }
}

fn read_all(wire: &Wire, count: usize) -> Vec<u8> {
    let mut got = Vec::new();
    while got.len() < count {
        let is_open = wire.read(&mut got, Some(Clock::now() + PLENTY)).expect("bytes");
        assert!(is_open);
    }
    got
}

fn insecure() -> ClientOptions {
    let mut options = ClientOptions::default();
    options.tls.insecure_skip_verify = true;
    options
}

#[test]
fn the_wire_is_the_callers_after_101_in_the_clear_and_over_tls() {
    let identity = CertificateAuthority::new().identity(&["127.0.0.1"]);
    for server in [FrameServer::start(echo), FrameServer::start_tls(identity.server(), echo)] {
        let url = server.url("/chat");
        on_fiber(insecure(), move |shared| {
            let wire = wire(ask(shared, &url, PLENTY));
            assert_eq!(wire.tls_info().is_some(), url.starts_with("https"));
            for text in [&b"hello"[..], &[7; 100_000]] {
                wire.write_all(text, Some(Clock::now() + PLENTY)).expect("room");
                assert_eq!(read_all(&wire, text.len()), text);
            }
            // Nothing comes: the wait ends, and the wire is as good as before.
            let late = wire.read(&mut Vec::new(), Some(Clock::now() + Duration::from_millis(20)));
            assert_eq!(late.expect_err("nothing comes").code, 1050);
            wire.write_all(b"x", None).expect("room");
            assert_eq!(read_all(&wire, 1), b"x");
        });
        assert_eq!(server.accepted(), 1);
    }
}

#[test]
fn one_fiber_reads_while_others_write() {
    const WRITERS: usize = 4;
    const EACH: usize = 3_000_000;
    let identity = CertificateAuthority::new().identity(&["127.0.0.1"]);
    let mirror = |talk: &mut Talk| {
        if head(talk).is_some() && talk.send(SWITCH) {
            while let Some(bytes) = talk.read(10_000) {
                if !talk.send(&bytes) {
                    return;
                }
            }
        }
    };
    for server in [FrameServer::start(mirror), FrameServer::start_tls(identity.server(), mirror)] {
        let url = server.url("/");
        on_fiber(insecure(), move |shared| {
            let wire = Rc::new(wire(ask(shared, &url, PLENTY)));
            let left = Rc::new(Cell::new(WRITERS));
            for number in 0..WRITERS {
                let (wire, left) = (Rc::clone(&wire), Rc::clone(&left));
                spawn(None, move || {
                    wire.write_all(&vec![number as u8; EACH], Some(Clock::now() + PLENTY)).expect("room");
                    left.set(left.get() - 1);
                });
            }
            let got = read_all(&wire, WRITERS * EACH);
            assert_eq!(left.get(), 0);
            // What each wrote stayed together.
            assert!(got.chunks(EACH).all(|piece| piece.iter().all(|byte| *byte == piece[0])));
        });
    }
}

#[test]
fn what_comes_with_the_head_is_not_lost() {
    let server = FrameServer::start(|talk| {
        if head(talk).is_some() {
            talk.send(&[SWITCH, b"first"].concat());
            talk.pause(Duration::from_millis(20));
            talk.send(b"second");
            talk.close();
        }
    });
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let wire = wire(ask(shared, &url, PLENTY));
        assert_eq!(read_all(&wire, 11), b"firstsecond");
        let end = Some(Clock::now() + PLENTY);
        assert_eq!(wire.read(&mut Vec::new(), end), Ok(false));
        assert_eq!(wire.read(&mut Vec::new(), end), Ok(false));
    });
}

#[test]
fn other_answers_are_complete_responses() {
    let check = |answer: &'static [u8], status: u16, body: &str| {
        let server = FrameServer::start(move |talk| {
            if head(talk).is_some() {
                talk.send(answer);
                talk.close();
            }
        });
        let url = server.url("/");
        let upgrade = on_fiber(ClientOptions::default(), move |shared| ask(shared, &url, PLENTY));
        let Ok(Upgrade::Refused(response)) = upgrade else { panic!("{upgrade:?}") };
        assert_eq!((response.status, &*response.body), (status, body.as_bytes()));
        assert!(response.timings.connecting > 0.0);
    };
    check(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi");
    check(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 No\r\n\r\nuntil close", 400, "until close");
    check(b"HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 503, "hi");
}

#[test]
fn hostile_servers_get_a_verdict() {
    let check = |script: fn(&mut Talk), limit: Duration, code: u16, message: &str| {
        let server = FrameServer::start(script);
        let url = server.url("/");
        let upgrade = on_fiber(ClientOptions::default(), move |shared| ask(shared, &url, limit));
        let failure = upgrade.expect_err("a failure");
        assert_eq!((failure.error.code, failure.error.message.as_str()), (code, message));
    };
    let short = Duration::from_millis(100);
    check(Talk::hang, short, 1050, "request timeout");
    let silent: fn(&mut Talk) = |talk| drop(head(talk));
    check(silent, PLENTY, 1000, "EOF");
    let garbage: fn(&mut Talk) = |talk| {
        talk.send(b"\x81\x05hello\r\n\r\n");
    };
    check(garbage, PLENTY, 1000, "malformed HTTP response \"\\x81\\x05hello\"");
    let endless: fn(&mut Talk) = |talk| talk.flood(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    check(endless, PLENTY, 1000, "net/http: server response headers exceeded 10485760 bytes; aborted");
    let cut: fn(&mut Talk) = |talk| {
        head(talk);
        talk.send(&SWITCH[..20]);
        talk.close();
    };
    check(cut, PLENTY, 1000, "unexpected EOF");
}

#[test]
fn a_broken_wire_says_so() {
    let server = FrameServer::start(|talk| {
        if head(talk).is_some() && talk.send(SWITCH) {
            talk.abort();
        }
    });
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let wire = wire(ask(shared, &url, PLENTY));
        let broke = wire.read(&mut Vec::new(), Some(Clock::now() + PLENTY)).expect_err("a reset");
        assert_eq!(broke.code, 1220);
        assert!(wire.write_all(&[0; 100], None).is_err());
        assert!(wire.write_all(b"more", None).is_err());
    });
}

#[test]
fn a_write_that_was_cut_off_is_the_last() {
    let server = FrameServer::start(|talk| {
        if head(talk).is_some() && talk.send(SWITCH) {
            while talk.pause(PLENTY) {}
        }
    });
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let wire = wire(ask(shared, &url, PLENTY));
        let until = Some(Clock::now() + Duration::from_millis(50));
        assert_eq!(wire.write_all(&vec![0; 64 << 20], until).expect_err("no room").code, 1050);
        assert_eq!(wire.write_all(b"x", None).expect_err("cut").message, "an earlier write was cut off");
        pause(1);
    });
}

#[test]
fn proxies_are_asked_for_a_tunnel() {
    let server = FrameServer::start(echo);
    let proxy = GoodProxy::start(server.addr());
    let proxies = ProxyOptions { http: proxy.addr().to_string(), ..ProxyOptions::default() };
    on_fiber(ClientOptions { proxies, ..ClientOptions::default() }, move |shared| {
        let wire = wire(ask(shared, "http://chat.invalid/", PLENTY));
        wire.write_all(b"hello", None).expect("room");
        assert_eq!(read_all(&wire, 5), b"hello");
    });
    assert!(proxy.heads()[0].starts_with("CONNECT chat.invalid:80 HTTP/1.1"));
}

#[test]
fn bytes_of_a_wire_count_for_the_vu() {
    let server = FrameServer::start(echo);
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let url = Url::parse(&url).expect("a URL");
        let request = Request {
            method: "GET",
            url: &url,
            head: b"Connection: Upgrade\r\nUpgrade: echo\r\n",
            host: None,
            body: &Body::None,
            user_agent: None,
            is_http1: true,
        };
        let wire = wire(connections.upgrade(&request, Clock::now(), None));
        connections.take_bytes_sent();
        assert_eq!(connections.take_bytes_received(), SWITCH.len() as u64);
        wire.write_all(&[1; 500], None).expect("room");
        read_all(&wire, 500);
        assert_eq!((connections.take_bytes_sent(), connections.take_bytes_received()), (500, 500));
    });
}
