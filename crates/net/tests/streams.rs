//! HTTP/2 streams that are handed out, with correct and hostile servers.

#[path = "support/http2.rs"]
mod server;
mod support;

use std::{rc::Rc, time::Duration};

use bytes::Bytes;
use onrush_fiber::{Clock, Nanos, cancel, spawn};
use onrush_net::{Body, ClientOptions, Connections, Http2, Request, Stream, StreamError, Url};
use onrush_testkit::{
    CertificateAuthority, GoodProxy, GoodServer, Reply,
    http2::{FrameServer, Talk, frame},
};
use server::Http2Server;
use support::{PLENTY, on_fiber, pause};

fn soon() -> Option<Nanos> {
    Some(Clock::now() + PLENTY)
}

fn open(http2: &Http2, url: &str, head: &str) -> Result<Stream, StreamError> {
    let url = Url::parse(url).expect("a URL");
    let request = Request {
        method: "POST",
        url: &url,
        head: head.as_bytes(),
        host: None,
        body: &Body::None,
        user_agent: Some("test"),
        is_http1: false,
    };
    http2.open(&request, false)
}

/// Runs a closure with a connection to a server of frames.
fn with_frames(script: impl Fn(&mut Talk) + Send + Sync + 'static, then: impl FnOnce(Http2, String) + 'static) {
    let server = FrameServer::start(script);
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let (http2, _) = connections.connect_http2(&Url::parse(&url).expect("a URL"), soon()).expect("a connection");
        then(http2, url);
    });
}

fn all(stream: &Stream) -> Result<Vec<u8>, StreamError> {
    let mut body = Vec::new();
    while let Some(data) = stream.receive(soon())? {
        body.extend_from_slice(&data);
    }
    Ok(body)
}

#[test]
fn data_goes_both_ways_as_it_comes() {
    let server = Http2Server::start(100);
    let url = server.url("/mirror");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let (http2, timings) = connections.connect_http2(&Url::parse(&url).unwrap(), soon()).expect("a connection");
        assert!(timings.connecting > 0.0 && http2.has_room());
        let stream = open(&http2, &url, "TE: trailers\r\nX-Data-Bin: AQI\r\n").expect("room");
        assert_eq!(stream.head(soon()).expect("a head").status, 200);
        for text in ["one", "two", "three"] {
            stream.send(text.into(), false, soon()).expect("room");
            assert_eq!(stream.receive(soon()).expect("data"), Some(Bytes::from(text)));
        }
        stream.send(Bytes::new(), true, soon()).expect("an end");
        assert_eq!(stream.receive(soon()).expect("the end"), None);
        assert!(stream.trailers(soon()).expect("the end").is_none());
        drop(stream);
        assert!(connections.take_bytes_sent() > 0 && connections.take_bytes_received() > 0);
    });
    assert_eq!(server.accepted(), 1);
}

#[test]
fn heads_say_nothing_of_a_length_and_trailers_follow() {
    let server = Http2Server::start(100);
    let (echo, trailers) = (server.url("/echo"), server.url("/trailers"));
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let (http2, _) = connections.connect_http2(&Url::parse(&echo).unwrap(), soon()).expect("a connection");
        let stream = open(&http2, &echo, "TE: trailers\r\nContent-Type: application/grpc\r\n").expect("room");
        stream.send_trailers(b"x-end: 1\r\n", soon()).expect("room");
        let head = stream.head(soon()).expect("a head");
        assert!(head.headers.raw_fields().any(|(name, value)| (name, value) == (b"content-type", b"text/plain")));
        let text = String::from_utf8(all(&stream).expect("a body")).unwrap();
        assert_eq!(text, format!("POST {echo}|content-type: application/grpc|te: trailers|user-agent: test"));
        let stream = open(&http2, &trailers, "").expect("room");
        stream.head(soon()).expect("a head");
        assert_eq!(all(&stream).expect("a body"), b"hi");
        let fields = stream.trailers(soon()).expect("trailers").expect("trailers");
        let fields: Vec<_> = fields.raw_fields().collect();
        assert_eq!(fields, [(&b"x-sum"[..], &b"1"[..])]);
    });
}

#[test]
fn many_streams_share_a_connection_within_their_windows() {
    const EACH: usize = 6_000_000;
    let server = Http2Server::start(100);
    let url = server.url("/mirror");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let (http2, _) = connections.connect_http2(&Url::parse(&url).unwrap(), soon()).expect("a connection");
        let received = Rc::new(std::cell::Cell::new(0));
        for _ in 0..3 {
            let stream = Rc::new(open(&http2, &url, "").expect("room"));
            let sender = Rc::clone(&stream);
            spawn(None, move || {
                for _ in 0..EACH / 1_000_000 {
                    sender.send(vec![7; 1_000_000].into(), false, soon()).expect("room");
                }
                sender.send(Bytes::new(), true, soon()).expect("an end");
            });
            let received = Rc::clone(&received);
            spawn(None, move || {
                stream.head(soon()).expect("a head");
                // A slow reader: the server waits for the window.
                pause(30);
                let count = all(&stream).expect("a body").len();
                received.set(received.get() + count);
            });
        }
        for _ in 0..PLENTY.as_millis() {
            if received.get() < 3 * EACH {
                pause(1);
            }
        }
        assert_eq!(received.get(), 3 * EACH);
    });
    assert_eq!(server.accepted(), 1);
}

#[test]
fn what_is_not_read_stays_at_the_server() {
    let server = Http2Server::start(100);
    let url = server.url("/bytes?50000000");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let (http2, _) = connections.connect_http2(&Url::parse(&url).unwrap(), soon()).expect("a connection");
        let stream = open(&http2, &url, "").expect("room");
        stream.send(Bytes::new(), true, soon()).expect("an end");
        stream.head(soon()).expect("a head");
        // Another stream drives the connection meanwhile.
        let hello = open(&http2, &url.replace("bytes?50000000", "slow?100"), "").expect("room");
        hello.send(Bytes::new(), true, soon()).expect("an end");
        hello.head(soon()).expect("a head");
        all(&hello).expect("a body");
        // The window is 4 MB.
        assert!(connections.take_bytes_received() < 6_000_000);
        drop(stream);
        let hello = open(&http2, &url.replace("bytes?50000000", ""), "").expect("room");
        hello.send(Bytes::new(), true, soon()).expect("an end");
        assert_eq!(hello.head(soon()).expect("a head").status, 200);
    });
}

#[test]
fn a_stream_outlives_a_deadline_and_a_cancelled_wait() {
    let server = Http2Server::start(100);
    let url = server.url("/stall");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let (http2, _) = connections.connect_http2(&Url::parse(&url).unwrap(), soon()).expect("a connection");
        let stream = Rc::new(open(&http2, &url, "").expect("room"));
        stream.head(soon()).expect("a head");
        assert_eq!(stream.receive(soon()).expect("data"), Some(Bytes::from("some")));
        let late = stream.receive(Some(Clock::now() + Duration::from_millis(20))).expect_err("nothing comes");
        assert_eq!((late.error.code, late.reset, late.is_unprocessed), (1050, None, false));
        let waiting = Rc::clone(&stream);
        let fiber = spawn(None, move || {
            let cut = waiting.receive(None).expect_err("cancelled");
            assert_eq!(cut.error.message, "context canceled");
        });
        pause(10);
        cancel(fiber);
        pause(10);
        stream.send("still".into(), false, soon()).expect("room");
        stream.reset(8);
        assert_eq!(stream.receive(soon()).expect("over"), None);
    });
    assert_eq!(server.accepted(), 1);
}

#[test]
fn dropping_a_stream_resets_it() {
    let (sender, frames) = std::sync::mpsc::channel();
    with_frames(
        move |talk| {
            talk.first_request();
            while let Some(read) = talk.frame() {
                if read.kind == frame::RST_STREAM {
                    let _ = sender.send(read.payload);
                }
            }
        },
        move |http2, url| {
            drop(open(&http2, &url, "").expect("room"));
            assert_eq!(frames.recv_timeout(PLENTY).expect("a reset"), [0, 0, 0, 8]);
        },
    );
}

#[test]
fn resets_and_goaways_are_told_apart() {
    let check = |script: fn(&mut Talk, u32) -> bool, code: u16, reset: Option<u32>, is_unprocessed: bool| {
        with_frames(
            move |talk| {
                if let Some(id) = talk.first_request() {
                    script(talk, id);
                    talk.hang();
                }
            },
            move |http2, url| {
                let stream = open(&http2, &url, "").expect("room");
                let error = stream.head(soon()).expect_err("a failure");
                assert_eq!((error.error.code, error.reset, error.is_unprocessed), (code, reset, is_unprocessed));
                assert!(stream.send(vec![0; 200_000].into(), false, soon()).is_err());
                assert!(stream.trailers(soon()).expect("over").is_none());
            },
        );
    };
    check(|talk, id| talk.send(&frame::reset(id, frame::REFUSED_STREAM)), 1638, Some(7), true);
    check(|talk, id| talk.send(&frame::reset(id, frame::CANCEL)), 1639, Some(8), false);
    check(|talk, id| talk.send(&frame::reset(id, frame::PROTOCOL_ERROR)), 1632, Some(1), false);
    check(|talk, _| talk.send(&frame::goaway(0, frame::NO_ERROR, "")), 1000, None, true);
    check(
        |talk, id| {
            talk.send(&frame::goaway(id, frame::ENHANCE_YOUR_CALM, "calm"));
            talk.close();
            true
        },
        1622,
        None,
        false,
    );
    check(
        |talk, _| {
            talk.close();
            true
        },
        1000,
        None,
        false,
    );
    check(|talk, _| talk.send(&[0xff; 100]), 1000, None, false);
    check(|talk, id| talk.send(&frame::data(id, 0, b"no head")), 1652, None, false);
}

#[test]
fn a_reset_in_the_middle_ends_both_directions() {
    with_frames(
        |talk| {
            let Some(id) = talk.first_request() else { return };
            talk.send(&frame::headers(id, frame::END_HEADERS, &[(":status", "200")]));
            talk.send(&frame::data(id, 0, b"part"));
            talk.send(&frame::reset(id, frame::INTERNAL_ERROR));
            talk.hang();
        },
        |http2, url| {
            let stream = open(&http2, &url, "").expect("room");
            stream.head(soon()).expect("a head");
            let error = match stream.receive(soon()) {
                Ok(data) => {
                    assert_eq!(data, Some(Bytes::from("part")));
                    stream.receive(soon()).expect_err("a reset")
                }
                Err(error) => error,
            };
            assert_eq!(error.reset, Some(2));
            assert!(stream.send("x".into(), true, soon()).is_err());
            assert!(http2.has_room());
        },
    );
}

#[test]
fn a_window_that_never_opens_ends_with_the_deadline() {
    with_frames(
        |talk| {
            talk.first_request();
            talk.hang();
        },
        |http2, url| {
            let stream = open(&http2, &url, "").expect("room");
            let until = Some(Clock::now() + Duration::from_millis(50));
            let late = stream.send(vec![0; 1_000_000].into(), true, until).expect_err("no window");
            assert_eq!(late.error.code, 1050);
        },
    );
}

#[test]
fn a_goaway_ends_new_streams_only() {
    with_frames(
        |talk| {
            let Some(id) = talk.first_request() else { return };
            talk.send(&frame::goaway(id, frame::NO_ERROR, ""));
            talk.pause(Duration::from_millis(50));
            talk.answer(id);
            talk.hang();
        },
        |http2, url| {
            let stream = open(&http2, &url, "").expect("room");
            pause(25);
            assert!(http2.is_over());
            let refused = open(&http2, &url, "").map(drop).expect_err("it is closing");
            assert!(refused.is_unprocessed);
            assert_eq!(stream.head(soon()).expect("a head").status, 200);
            assert_eq!(all(&stream).expect("a body"), b"hi");
        },
    );
}

#[test]
fn the_servers_limit_on_streams_is_kept() {
    let server = Http2Server::start(2);
    let url = server.url("/stall");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let (http2, _) = connections.connect_http2(&Url::parse(&url).unwrap(), soon()).expect("a connection");
        let first = open(&http2, &url, "").expect("room");
        first.head(soon()).expect("a head");
        let second = open(&http2, &url, "").expect("room");
        second.head(soon()).expect("a head");
        let refused = open(&http2, &url, "").map(drop).expect_err("no room");
        assert!(refused.is_unprocessed && !http2.has_room() && !http2.is_over(), "{refused}");
        drop(first);
        assert!(http2.has_room());
    });
}

#[test]
fn wrong_heads_are_refused_before_anything_is_sent() {
    let server = Http2Server::start(100);
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let (http2, _) = connections.connect_http2(&Url::parse(&url).unwrap(), soon()).expect("a connection");
        let refused = open(&http2, &url, "Upgrade: x\r\n").map(drop).expect_err("refused");
        assert!(!refused.is_unprocessed && refused.error.message.contains("Upgrade"), "{refused}");
        assert!(http2.has_room());
    });
}

#[test]
fn connections_come_about_as_those_of_requests_do() {
    // Over TLS with ALPN, through a tunnel.
    let identity = CertificateAuthority::new().identity(&["grpc.invalid"]);
    let answers = |talk: &mut Talk| {
        if let Some(id) = talk.first_request() {
            talk.answer(id);
            talk.hang();
        }
    };
    let server = FrameServer::start_tls(identity.http2_server(), answers);
    let proxy = GoodProxy::start(server.addr());
    let mut options = ClientOptions::default();
    options.tls.insecure_skip_verify = true;
    options.proxies.https = proxy.addr().to_string();
    on_fiber(options.clone(), |shared| {
        let url = "https://grpc.invalid/";
        let connections = Connections::new(shared);
        let (http2, timings) = connections.connect_http2(&Url::parse(url).unwrap(), soon()).expect("a connection");
        assert!(timings.tls_handshaking > 0.0 && http2.tls_info().is_some());
        let stream = open(&http2, url, "").expect("room");
        assert_eq!(stream.head(soon()).expect("a head").status, 200);
    });
    assert!(proxy.heads()[0].starts_with("CONNECT grpc.invalid:443 "));
    // A server that does not know HTTP/2, and none at all.
    options.proxies.https = String::new();
    let old = GoodServer::start_tls(identity.server(), |_| Reply::text("hi"));
    let check = |url: String, expect: &str| {
        let failure = on_fiber(options.clone(), move |shared| {
            Connections::new(shared).connect_http2(&Url::parse(&url).unwrap(), soon()).map(drop).expect_err("a failure")
        });
        assert_eq!(failure.error.message, expect);
    };
    check(old.url("/"), "http2: the server did not choose HTTP/2 (ALPN)");
    check("http://127.0.0.1:1/".to_owned(), "dial: connection refused");
    check("ftp://127.0.0.1:1/".to_owned(), "unsupported protocol scheme \"ftp\"");
}
