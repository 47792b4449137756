//! Requests and responses against a correct server.

mod support;

use std::{
    cell::RefCell,
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};

use onrush_fiber::{Clock, spawn};
use onrush_net::{Body, BodyMode, ClientOptions, Connections, Request, RequestHeaders, Url};
use onrush_testkit::{GoodServer, Reply};
use support::{PLENTY, get, on_fiber, pause, post, send};

#[test]
fn a_request_is_written_as_k6_writes_it() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let server = GoodServer::start(move |request| {
        seen.lock().unwrap().push(request.raw_head.clone());
        Reply::text(request.body.clone())
    });
    let addr = server.addr();
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let url = Url::parse(&format!("http://{addr}/h?q=a%20b")).unwrap();
        let mut headers = RequestHeaders::new();
        headers.set("x-foo", "a");
        headers.set("content-type", "text/plain");
        let mut head = Vec::new();
        headers.write(&mut head);
        let request = Request {
            method: "POST",
            url: &url,
            head: &head,
            host: None,
            body: &Body::Bytes("abc".into()),
            user_agent: Some("Onrush"),
            is_http1: false,
        };
        let response = connections.exchange(&request, BodyMode::Keep, Clock::now(), None).unwrap();
        assert_eq!(&response.body[..], b"abc");
        assert_eq!(response.remote, addr);
        assert_eq!(response.headers.status_text(), "200 OK");
        let response = post(&connections, &format!("http://{addr}/"), "").unwrap();
        assert!(response.reused && response.body.is_empty());
    });
    let heads = heads.lock().unwrap();
    assert_eq!(
        heads[0],
        format!(
            "POST /h?q=a%20b HTTP/1.1\r\nHost: {addr}\r\nUser-Agent: Onrush\r\nContent-Length: 3\r\nContent-Type: text/plain\r\nX-Foo: a\r\n\r\n"
        )
    );
    assert!(heads[1].contains("Transfer-Encoding: chunked\r\n"), "{}", heads[1]);
}

#[test]
fn bodies_of_all_sizes_both_ways() {
    let server = GoodServer::start(|request| match request.target.as_str() {
        "/chunked" => Reply::text(request.body.clone()).chunked(3000),
        "/close" => Reply::text(request.body.clone()).closing(),
        _ => Reply::text(request.body.clone()),
    });
    let addr = server.addr();
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        for size in [1, 1_000, 16 << 10, (16 << 10) + 1, 65_536, 300_000, 3_000_000] {
            let body: Vec<u8> = (0..size).map(|at: u32| (at % 251) as u8).collect();
            for path in ["/", "/chunked", "/close"] {
                let response = post(&connections, &format!("http://{addr}{path}"), body.clone()).unwrap();
                assert!(response.body == body, "{size} {path}");
                assert_eq!(response.body_len, u64::from(size));
            }
            let discarded = send(
                &connections,
                "POST",
                &format!("http://{addr}/"),
                Body::Bytes(body.into()),
                BodyMode::Discard,
                PLENTY,
            )
            .unwrap();
            assert_eq!((discarded.body.len(), discarded.body_len), (0, u64::from(size)));
        }
    });
}

#[test]
fn connections_are_kept_last_in_first_out_within_limits() {
    let server = Rc::new(GoodServer::start(|request| {
        Reply::text(request.connection.to_string()).after(Duration::from_millis(20))
    }));
    let peer = Rc::clone(&server);
    let options = ClientOptions { idle_per_host: 3, ..ClientOptions::default() };
    on_fiber(options, move |shared| {
        let connections = Rc::new(Connections::new(shared));
        let url = peer.url("/");
        // Eight at once: eight connections, of which three are kept.
        let left = Rc::new(RefCell::new(8));
        for _ in 0..8 {
            let (connections, url, left) = (Rc::clone(&connections), url.clone(), Rc::clone(&left));
            spawn(None, move || {
                assert_eq!(get(&connections, &url).unwrap().status, 200);
                *left.borrow_mut() -= 1;
            });
        }
        while *left.borrow() > 0 {
            pause(5);
        }
        assert_eq!((peer.accepted(), connections.idle_count()), (8, 3));
        let first = get(&connections, &url).unwrap();
        let second = get(&connections, &url).unwrap();
        assert!(first.reused && second.reused);
        assert_eq!(first.body, second.body, "the most recently used connection is used again");
        assert_eq!((first.timings.connecting, first.timings.tls_handshaking), (0.0, 0.0));
        assert!(first.timings.waiting > 0.0);
        connections.close_idle();
        assert!(!get(&connections, &url).unwrap().reused);
    });
    assert_eq!(server.accepted(), 9);
}

#[test]
fn the_total_of_idle_connections_is_limited() {
    let servers: Vec<_> = (0..4).map(|_| GoodServer::start(|_| Reply::text("x"))).collect();
    let urls: Vec<_> = servers.iter().map(|server| server.url("/")).collect();
    let options = ClientOptions { idle_total: 2, ..ClientOptions::default() };
    on_fiber(options, move |shared| {
        let connections = Connections::new(shared);
        for url in &urls {
            get(&connections, url).unwrap();
        }
        assert_eq!(connections.idle_count(), 2);
        assert!(get(&connections, &urls[3]).unwrap().reused);
        assert!(!get(&connections, &urls[0]).unwrap().reused, "the longest idle one was closed");
    });
}

#[test]
fn no_connection_reuse_says_so() {
    let server = Rc::new(GoodServer::start(|request| Reply::text(request.raw_head.clone())));
    let url = server.url("/");
    let options = ClientOptions { no_connection_reuse: true, ..ClientOptions::default() };
    on_fiber(options, move |shared| {
        let connections = Connections::new(shared);
        for _ in 0..3 {
            let response = get(&connections, &url).unwrap();
            assert!(String::from_utf8_lossy(&response.body).ends_with("X-Test: 1\r\nConnection: close\r\n\r\n"));
        }
        assert_eq!(connections.idle_count(), 0);
    });
    assert_eq!(server.accepted(), 3);
}

#[test]
fn static_hosts_blocked_names_and_ranges() {
    let server = GoodServer::start(|request| Reply::text(request.header("Host").unwrap_or("none").to_owned()));
    let addr = server.addr();
    let options = ClientOptions {
        hosts: vec![("*.wild.test".into(), addr.to_string()), ("ten.test".into(), "10.0.0.1".into())],
        block_hostnames: vec!["*.blocked.test".into()],
        blacklist_ips: vec!["10.0.0.0/8".into()],
        ..ClientOptions::default()
    };
    on_fiber(options, move |shared| {
        let connections = Connections::new(shared);
        let response = get(&connections, "http://a.wild.test/x").unwrap();
        assert_eq!((&response.body[..], response.remote), (&b"a.wild.test"[..], addr));
        let response = get(&connections, &format!("http://localhost:{}/", addr.port())).unwrap();
        assert_eq!(response.remote, addr);
        let check = |url: &str, code: u16, message: &str, log: &str| {
            let error = get(&connections, url).unwrap_err().error;
            assert_eq!((error.code, error.message.as_str()), (code, message), "{url}");
            assert_eq!(error.log_text("GET", url), log);
        };
        check(
            "http://x.blocked.test/",
            1111,
            "hostname is blocked",
            "Get \"http://x.blocked.test/\": hostname (x.blocked.test) is in a blocked pattern (*.blocked.test)",
        );
        check(
            "http://ten.test/",
            1110,
            "ip is blacklisted",
            "Get \"http://ten.test/\": IP (10.0.0.1) is in a blacklisted range (10.0.0.0/8)",
        );
        check(
            "http://127.0.0.1:1/",
            1212,
            "dial: connection refused",
            "Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused",
        );
        check(
            "http://127.0.0.1:99999/",
            1210,
            "dial tcp: address 99999: invalid port",
            "Get \"http://127.0.0.1:99999/\": dial tcp: address 99999: invalid port",
        );
        check(
            "ftp://x/",
            1000,
            "unsupported protocol scheme \"ftp\"",
            "Get \"ftp://x/\": unsupported protocol scheme \"ftp\"",
        );
        check("foo", 1000, "unsupported protocol scheme \"\"", "Get \"foo\": unsupported protocol scheme \"\"");
        check("http:///a", 1000, "http: no Host in request URL", "Get \"http:///a\": http: no Host in request URL");
        check("http://u@/", 1000, "http: no Host in request URL", "Get \"http://u@/\": http: no Host in request URL");
        check("http://:80/", 1101, "lookup: no such host", "Get \"http://:80/\": lookup : no such host");
        check("https://:/", 1101, "lookup: no such host", "Get \"https://:/\": lookup : no such host");
    });
}

#[test]
fn local_addresses_and_byte_counts() {
    let server = GoodServer::start(|_| Reply::text("0123456789"));
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        connections.set_local_ip(Some("127.0.0.2".parse().unwrap()));
        get(&connections, &url).unwrap();
        let (sent, received) = (connections.take_bytes_sent(), connections.take_bytes_received());
        assert!(sent > 40 && received > 40, "{sent} {received}");
        assert_eq!((connections.take_bytes_sent(), connections.take_bytes_received()), (0, 0));
    });
}

#[test]
fn a_cancelled_request_ends_at_once() {
    let server = GoodServer::start(|_| Reply::text("late").after(Duration::from_secs(60)));
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let me = onrush_fiber::current().unwrap();
        spawn(None, move || {
            pause(20);
            onrush_fiber::cancel(me);
        });
        let failure = get(&Connections::new(shared), &url).unwrap_err();
        assert_eq!(failure.error, onrush_net::NetError::cancelled());
    });
}

#[test]
fn what_cannot_be_requested_does_not_depend_on_a_kept_connection() {
    let server = GoodServer::start(|_| Reply::text("hi"));
    let addr = server.addr();
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let url = format!("http://{addr}/");
        get(&connections, &url).unwrap();
        for scheme in ["ftp", "gopher", "ws"] {
            let failure = get(&connections, &format!("{scheme}://{addr}/")).unwrap_err();
            let expect = format!("unsupported protocol scheme \"{scheme}\"");
            assert_eq!((failure.error.code, failure.error.message), (1000, expect));
            assert_eq!((failure.remote, failure.reused), (None, false));
        }
        let url = Url::parse(&url).unwrap();
        let fine = Request {
            method: "GET",
            url: &url,
            head: b"",
            host: None,
            body: &Body::None,
            user_agent: None,
            is_http1: false,
        };
        let check = |request: Request<'_>, expect: &str| {
            let failure = connections.exchange(&request, BodyMode::Keep, Clock::now(), None).unwrap_err();
            assert_eq!((failure.error.code, failure.error.message.as_str()), (1000, expect));
        };
        let no_host = "net/http: invalid header field value for \"Host\"";
        check(Request { host: Some("a\r\nX: y"), ..fine }, no_host);
        let no_agent = "net/http: invalid header field value for \"User-Agent\"";
        check(Request { user_agent: Some("a\nX: y"), ..fine }, no_agent);
        check(Request { method: "G T", ..fine }, "net/http: invalid method \"G T\"");
    });
    assert_eq!((server.accepted(), server.requests()), (1, 1));
}
