//! HTTP/2 with servers that behave.

#[path = "support/http2.rs"]
mod server;
mod support;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use onrush_fiber::{Clock, cancel, spawn};
use onrush_net::{Body, BodyMode, ClientOptions, Connections, Failure, Proto, Request, Response, Url};
use onrush_testkit::{
    CertificateAuthority, GoodServer, Reply,
    http2::{FrameServer, frame},
};
use server::Http2Server;
use support::{PLENTY, get, on_fiber, pause, post, send};

fn plain() -> ClientOptions {
    ClientOptions { http2_prior_knowledge: true, ..ClientOptions::default() }
}

fn over_tls() -> ClientOptions {
    let mut options = ClientOptions::default();
    options.tls.insecure_skip_verify = true;
    options
}

fn text(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

/// Runs one request a fiber, all at once, over one VU's connections.
fn all_at_once(connections: &Rc<Connections>, urls: Vec<String>) -> Vec<Result<Box<Response>, Box<Failure>>> {
    let results: Rc<RefCell<Vec<_>>> = Rc::new(RefCell::new((0..urls.len()).map(|_| None).collect()));
    let left = Rc::new(Cell::new(urls.len()));
    for (at, url) in urls.into_iter().enumerate() {
        let (connections, results, left) = (Rc::clone(connections), Rc::clone(&results), Rc::clone(&left));
        spawn(None, move || {
            let result = get(&connections, &url);
            results.borrow_mut()[at] = Some(result);
            left.set(left.get() - 1);
        });
    }
    while left.get() > 0 {
        pause(1);
    }
    results.take().into_iter().map(|result| result.expect("all have ended")).collect()
}

#[test]
fn requests_go_out_as_go_sends_them() {
    let server = Http2Server::start(100);
    let url = server.url("/echo?a=<b>&c=%20");
    on_fiber(plain(), move |shared| {
        let connections = Connections::new(shared);
        let response = get(&connections, &url).expect("an answer");
        assert_eq!((response.status, response.proto), (200, Proto::Http2));
        assert_eq!(response.proto.text(), "HTTP/2.0");
        assert_eq!(response.headers.status_text(), "200 OK");
        assert_eq!(response.headers.get("Content-Type"), Some(&b"text/plain"[..]));
        let escaped = url.replace("<b>", "%3Cb%3E");
        assert_eq!(text(&response), format!("GET {escaped}|user-agent: test|x-test: 1"));
        let response = post(&connections, &url, "body").expect("an answer");
        assert_eq!(text(&response), format!("POST {escaped}|content-length: 4|user-agent: test|x-test: 1"));
        assert!(response.reused);
    });
    assert_eq!(server.accepted(), 1);
}

#[test]
fn responses_of_every_kind() {
    let server = Http2Server::start(100);
    let url = move |path: &str| server.url(path);
    on_fiber(plain(), move |shared| {
        let connections = Connections::new(shared);
        let missing = get(&connections, &url("/status/404")).expect("an answer");
        assert_eq!((missing.status, &*missing.headers.status_text()), (404, "404 Not Found"));
        let head = send(&connections, "HEAD", &url("/bytes?5"), Body::None, BodyMode::Keep, PLENTY);
        let head = head.expect("an answer");
        assert_eq!((head.status, head.body_len, head.headers.get("content-length")), (200, 0, Some(&b"5"[..])));
        let trailers = get(&connections, &url("/trailers")).expect("an answer");
        assert_eq!((text(&trailers), trailers.headers.get("x-sum")), ("hi".to_owned(), None));
        let discarded = send(&connections, "GET", &url("/bytes?1000000"), Body::None, BodyMode::Discard, PLENTY);
        let discarded = discarded.expect("an answer");
        assert_eq!((discarded.body.len(), discarded.body_len), (0, 1_000_000));
        // More than a stream's window, so it has to be opened again on the way.
        let large = get(&connections, &url("/bytes?10000000")).expect("an answer");
        assert_eq!(large.body.len(), 10_000_000);
        assert!(connections.take_bytes_received() > 11_000_000);
        assert_eq!(connections.idle_count(), 1);
    });
}

#[test]
fn uploads_keep_to_the_servers_windows() {
    let server = Http2Server::start(100);
    let url = move |path: &str| server.url(path);
    on_fiber(plain(), move |shared| {
        let connections = Connections::new(shared);
        for length in [0, 1, 65_535, 65_536, 3_000_000] {
            let response = post(&connections, &url("/upload"), vec![b'y'; length]).expect("an answer");
            assert_eq!(text(&response), length.to_string());
        }
        // The server answers while it reads, and would wait for us as we for it.
        let response = post(&connections, &url("/mirror"), vec![b'z'; 2_000_000]).expect("an answer");
        assert_eq!(response.body.len(), 2_000_000);
        // It answers and resets: the answer counts, and the connection goes on.
        for _ in 0..3 {
            let response = post(&connections, &url("/early"), vec![b'z'; 2_000_000]).expect("an answer");
            assert_eq!((response.status, text(&response)), (413, "too much".to_owned()));
        }
        let response = get(&connections, &url("/")).expect("an answer");
        assert_eq!(response.headers.get("x-connection"), Some(&b"0"[..]));
    });
}

#[test]
fn a_server_that_writes_before_it_reads_on_is_no_deadlock() {
    const WINDOW: u32 = 32 << 20;
    let server = FrameServer::start(|talk| {
        talk.greet(&[(4, WINDOW)]);
        talk.send(&frame::window_update(0, WINDOW));
        let Some(id) = talk.request() else { return };
        talk.send(&frame::headers(id, frame::END_HEADERS, &[(":status", "200")]));
        // What the client's window allows is sent at once, whatever it takes.
        let (mut credit, mut owed) = (4_usize << 20, std::collections::VecDeque::new());
        while let Some(read) = talk.frame() {
            if read.kind == frame::DATA {
                owed.push_back(read);
            } else if read.kind == frame::WINDOW_UPDATE && read.stream == id {
                credit += read.payload.iter().fold(0, |value, byte| value << 8 | usize::from(*byte));
            }
            while let Some(next) =
                owed.pop_front_if(|next: &mut onrush_testkit::http2::Frame| next.payload.len() <= credit)
            {
                credit -= next.payload.len();
                if !talk.send(&frame::data(id, next.flags & frame::END_STREAM, &next.payload)) {
                    return;
                }
            }
        }
    });
    let url = server.url("/");
    on_fiber(plain(), move |shared| {
        let connections = Connections::new(shared);
        let response = post(&connections, &url, vec![b'z'; 20_000_000]).expect("an answer");
        assert_eq!(response.body.len(), 20_000_000);
    });
}

#[test]
fn an_upload_goes_on_while_another_request_waits_for_its_answer() {
    const WINDOW: u32 = 64 << 20;
    for uploads in [1, 3] {
        // Answers nothing before it has read all uploads, and lets the socket fill before it reads.
        let server = FrameServer::start(move |talk| {
            talk.greet(&[(4, WINDOW)]);
            talk.send(&frame::window_update(0, WINDOW));
            let Some(first) = talk.request() else { return };
            talk.pause(Duration::from_millis(100));
            let mut done = Vec::new();
            while done.len() < uploads {
                let Some(read) = talk.frame() else { return };
                if read.kind == frame::DATA && read.flags & frame::END_STREAM != 0 {
                    done.push(read.stream);
                }
            }
            for id in done.into_iter().chain([first]) {
                talk.answer(id);
            }
            talk.hang();
        });
        let url = server.url("/");
        on_fiber(plain(), move |shared| {
            let connections = Rc::new(Connections::new(shared));
            let left = Rc::new(Cell::new(uploads + 1));
            let start = |body: Body| {
                let (connections, url, left) = (Rc::clone(&connections), url.clone(), Rc::clone(&left));
                spawn(None, move || {
                    let method = if matches!(body, Body::None) { "GET" } else { "POST" };
                    let response = send(&connections, method, &url, body, BodyMode::Keep, PLENTY).expect("an answer");
                    assert!(method == "GET" || response.timings.waiting < 10_000.0);
                    left.set(left.get() - 1);
                });
            };
            start(Body::None);
            pause(20);
            for _ in 0..uploads {
                start(Body::Bytes(vec![b'z'; 12_000_000].into()));
            }
            for _ in 0..PLENTY.as_millis() {
                if left.get() > 0 {
                    pause(1);
                }
            }
            assert_eq!(left.get(), 0);
        });
        assert_eq!(server.accepted(), 1);
    }
}

#[test]
fn a_te_header_is_what_http2_has_left_of_it() {
    let server = Http2Server::start(100);
    let url = server.url("/echo");
    on_fiber(plain(), move |shared| {
        let connections = Connections::new(shared);
        let url = Url::parse(&url).expect("a URL");
        for (head, expect) in [("TE: gzip\r\n", ""), ("Te: gzip, trailers\r\n", "|te: trailers")] {
            let request = Request {
                method: "GET",
                url: &url,
                head: head.as_bytes(),
                host: None,
                body: &Body::None,
                user_agent: Some("a\u{e9}"),
                is_http1: false,
            };
            let until = Clock::now() + PLENTY;
            let response = connections.exchange(&request, BodyMode::Keep, Clock::now(), Some(until));
            let text = text(&response.expect("an answer"));
            assert!(text.contains("|user-agent: ") && text.contains(expect) && !text.contains("gzip"), "{text}");
        }
        let bad = Request {
            method: "GET",
            url: &url,
            head: b"",
            host: None,
            body: &Body::None,
            user_agent: Some("a\nb"),
            is_http1: false,
        };
        let failure = connections.exchange(&bad, BodyMode::Keep, Clock::now(), None).expect_err("a refusal");
        assert_eq!(failure.error.message, "net/http: invalid header field value for \"User-Agent\"");
    });
    assert_eq!(server.accepted(), 1);
}

#[test]
fn what_a_goaway_leaves_unprocessed_is_sent_again_whatever_its_code() {
    for code in [frame::NO_ERROR, frame::INTERNAL_ERROR, frame::ENHANCE_YOUR_CALM] {
        let server = FrameServer::start(move |talk| {
            let Some(id) = talk.first_request() else { return };
            talk.answer(id);
            if talk.number == 0 {
                talk.request();
                talk.send(&frame::goaway(id, code, ""));
                talk.close();
            }
            talk.hang();
        });
        let url = server.url("/");
        on_fiber(plain(), move |shared| {
            let connections = Connections::new(shared);
            for reused in [false, false] {
                let response = get(&connections, &url).expect("an answer");
                assert_eq!((response.status, response.reused), (200, reused));
            }
        });
        assert_eq!(server.accepted(), 2);
    }
    // k6: but not when the connection's first request is what it is about.
    let server = FrameServer::start(|talk| {
        talk.first_request();
        talk.send(&frame::goaway(0, frame::ENHANCE_YOUR_CALM, ""));
        talk.close();
    });
    let url = server.url("/");
    let failure = on_fiber(plain(), move |shared| get(&Connections::new(shared), &url)).expect_err("a failure");
    assert_eq!(failure.error.message, "http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM");
    assert_eq!(server.accepted(), 1);
}

#[test]
fn requests_of_a_vu_share_a_connection() {
    let server = Http2Server::start(100);
    let urls: Vec<_> = (0..50).map(|at| server.url(&format!("/slow?{}", at % 7 * 3))).collect();
    on_fiber(plain(), move |shared| {
        let connections = Rc::new(Connections::new(shared));
        for round in 0..3 {
            let results = all_at_once(&connections, urls.clone());
            let reused = results.iter().filter(|result| result.as_ref().expect("an answer").reused).count();
            assert_eq!(reused, if round == 0 { 49 } else { 50 });
        }
    });
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_full_connection_gets_another_one_beside_it() {
    let server = Http2Server::start(3);
    let urls: Vec<_> = (0..12).map(|_| server.url("/slow?40")).collect();
    on_fiber(plain(), move |shared| {
        let connections = Rc::new(Connections::new(shared));
        // Makes known how many streams the server takes.
        get(&connections, &urls[0]).expect("an answer");
        for result in all_at_once(&connections, urls) {
            assert_eq!(result.expect("an answer").status, 200);
        }
    });
    assert_eq!(server.accepted(), 4);
}

#[test]
fn a_request_that_ends_early_leaves_the_connection_usable() {
    let server = Http2Server::start(100);
    let (stall, hello, slow) = (server.url("/stall"), server.url("/"), server.url("/slow?60"));
    on_fiber(plain(), move |shared| {
        let connections = Rc::new(Connections::new(shared));
        let late = send(&connections, "GET", &stall, Body::None, BodyMode::Keep, Duration::from_millis(30));
        let late = late.expect_err("a timeout");
        assert_eq!((late.error.code, late.partial_body.as_deref()), (1050, Some(&b"some"[..])));
        // Beside a request that drives the connection, and one that waits for another to drive it.
        for leaves_first in [true, false] {
            let outcomes = Rc::new(RefCell::new(Vec::new()));
            let start = |url: &str| {
                let (connections, outcomes, url) = (Rc::clone(&connections), Rc::clone(&outcomes), url.to_owned());
                spawn(None, move || {
                    let result = get(&connections, &url);
                    outcomes
                        .borrow_mut()
                        .push(result.map(|response| response.status).map_err(|lost| lost.error.message));
                })
            };
            let (first, second) =
                (if leaves_first { &stall } else { &slow }, if leaves_first { &slow } else { &stall });
            let ids = [start(first), start(second)];
            pause(20);
            cancel(ids[usize::from(!leaves_first)]);
            while outcomes.borrow().len() < 2 {
                pause(1);
            }
            assert_eq!(*outcomes.borrow(), [Err("context canceled".to_owned()), Ok(200)]);
        }
        assert_eq!(get(&connections, &hello).expect("an answer").status, 200);
        assert_eq!(connections.idle_count(), 1);
    });
    assert_eq!(server.accepted(), 1);
}

#[test]
fn connections_are_kept_or_not_as_the_options_say() {
    let check = |change: fn(&mut ClientOptions), closes: bool, expect: usize| {
        let server = Http2Server::start(100);
        let url = server.url("/");
        let mut options = plain();
        change(&mut options);
        on_fiber(options, move |shared| {
            let connections = Connections::new(shared);
            for _ in 0..3 {
                get(&connections, &url).expect("an answer");
                if closes {
                    connections.close_idle();
                }
            }
        });
        assert_eq!(server.accepted(), expect);
    };
    check(|_| {}, false, 1);
    check(|_| {}, true, 3);
    check(|options| options.no_connection_reuse = true, false, 3);
}

#[test]
fn a_server_that_goes_away_is_asked_over_a_new_connection() {
    let server = Http2Server::start(100);
    let (goaway, hello) = (server.url("/goaway"), server.url("/"));
    on_fiber(plain(), move |shared| {
        let connections = Connections::new(shared);
        assert_eq!(get(&connections, &goaway).expect("an answer").status, 200);
        pause(20);
        let response = get(&connections, &hello).expect("an answer");
        assert_eq!((response.headers.get("x-connection"), response.reused), (Some(&b"1"[..]), false));
        assert_eq!(connections.idle_count(), 1);
    });
}

#[test]
fn a_connection_closed_while_idle_is_replaced() {
    let server = FrameServer::start(|talk| {
        if let Some(id) = talk.first_request() {
            talk.answer(id);
            talk.close();
        }
    });
    let url = server.url("/");
    on_fiber(plain(), move |shared| {
        let connections = Connections::new(shared);
        for _ in 0..3 {
            assert_eq!(get(&connections, &url).expect("an answer").status, 200);
            pause(20);
        }
    });
    assert_eq!(server.accepted(), 3);
}

#[test]
fn the_server_chooses_the_protocol() {
    let authority = CertificateAuthority::new();
    let identity = authority.identity(&["127.0.0.1"]);
    let new = FrameServer::start_tls(identity.http2_server(), |talk| {
        if talk.greet(&[]) {
            while let Some(id) = talk.request() {
                talk.answer(id);
            }
        }
    });
    let old = GoodServer::start_tls(identity.server(), |_| Reply::text("hi"));
    let check = |url: String, expect: Proto| {
        on_fiber(over_tls(), move |shared| {
            let connections = Connections::new(shared);
            for reused in [false, true, true] {
                let response = get(&connections, &url).expect("an answer");
                assert_eq!((response.proto, response.reused, text(&response)), (expect, reused, "hi".to_owned()));
                assert_eq!(response.tls.map(|tls| tls.version), Some("tls1.3"));
                assert_eq!(response.timings.tls_handshaking > 0.0, !reused);
            }
        });
    };
    check(new.url("/"), Proto::Http2);
    check(old.url("/"), Proto::Http11);
    assert_eq!(new.accepted(), 1);
}

#[test]
fn requests_at_once_to_a_server_not_known_yet_end_up_on_one_connection() {
    let authority = CertificateAuthority::new();
    let server = FrameServer::start_tls(authority.identity(&["127.0.0.1"]).http2_server(), |talk| {
        if talk.greet(&[]) {
            while let Some(id) = talk.request() {
                talk.answer(id);
            }
        }
    });
    let urls: Vec<_> = (0..6).map(|_| server.url("/")).collect();
    on_fiber(over_tls(), move |shared| {
        let connections = Rc::new(Connections::new(shared));
        // As in k6: each dials, one connection is used, and one request has dialled it.
        let results = all_at_once(&connections, urls.clone());
        let dialled = results.iter().filter(|result| result.as_ref().expect("an answer").timings.connecting > 0.0);
        assert_eq!((dialled.count(), connections.idle_count()), (1, 1));
        // Now it is known: only one dials.
        connections.close_idle();
        all_at_once(&connections, urls);
        assert_eq!(connections.idle_count(), 1);
    });
    assert_eq!(server.accepted(), 7);
    assert_eq!(server.requests(), 12);
}

#[test]
fn phases_are_those_of_the_stream() {
    let server = FrameServer::start(|talk| {
        if talk.greet(&[]) {
            while let Some(id) = talk.request() {
                talk.pause(Duration::from_millis(30));
                talk.send(&frame::headers(id, frame::END_HEADERS, &[(":status", "200")]));
                talk.pause(Duration::from_millis(30));
                talk.send(&frame::data(id, frame::END_STREAM, b"hi"));
            }
        }
    });
    let url = server.url("/");
    on_fiber(plain(), move |shared| {
        let connections = Connections::new(shared);
        // A client that is not let run when the head arrives sees the head and the body at once: on a busy machine some
        // are, never all of many.
        let mut has_both = false;
        for attempt in 0..20 {
            let timings = get(&connections, &url).expect("an answer").timings;
            assert!(timings.waiting >= 29.0 && timings.waiting + timings.receiving >= 59.0, "{timings:?}");
            assert_eq!(timings.connecting > 0.0, attempt == 0);
            assert_eq!(timings.tls_handshaking, 0.0);
            has_both |= timings.receiving >= 29.0;
            if has_both && attempt > 0 {
                return;
            }
        }
        panic!("the body's way was never a part of its own");
    });
}
