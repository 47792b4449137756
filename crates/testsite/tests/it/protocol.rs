//! HTTP/1.1 itself: framing, pipelining, methods, limits.

use std::{io::Write, net::Shutdown};

use crate::client::{connect, get, raw, target, target_with};

#[test]
fn pipelined_requests_are_answered_in_order() {
    let target = target();
    let mut client = connect(target.addr);
    client.send(
        b"GET /f/1 HTTP/1.1\r\nHost: a\r\n\r\n\
          GET /status/404?delay_ms=20 HTTP/1.1\r\nHost: a\r\n\r\n\
          POST /anything HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi\
          GET /stream-bytes/5 HTTP/1.1\r\nHost: a\r\n\r\n\
          HEAD /f/9 HTTP/1.1\r\nHost: a\r\n\r\n\
          GET /f/3 HTTP/1.1\r\nHost: a\r\n\r\n",
    );
    assert_eq!(client.response().body, b"x");
    assert_eq!(client.response().status, 404);
    assert_eq!(client.response().json()["data"], "hi");
    assert_eq!(client.response().body.len(), 5);
    assert_eq!(client.head_only().header("content-length"), Some("9"));
    assert_eq!(client.response().body, b"xxx");
}

#[test]
fn many_pipelined_requests() {
    let target = target();
    let mut client = connect(target.addr);
    let count = 5_000;
    let mut writer = client.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        for index in 0..count {
            let request = format!("GET /f/{} HTTP/1.1\r\nHost: a\r\n\r\n", index % 7 * 100);
            writer.write_all(request.as_bytes()).unwrap();
        }
    });
    for index in 0..count {
        assert_eq!(client.response().body.len(), index % 7 * 100);
    }
    sender.join().unwrap();
    assert_eq!(target.requests(), count as u64);
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let target = target();
    let mut client = connect(target.addr);
    let request = b"\r\nPOST /post?a=b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
                    3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n";
    for byte in request {
        client.send(&[*byte]);
    }
    let echo = client.response().json();
    assert_eq!((&echo["data"], &echo["args"]["a"]), (&"abcde".into(), &"b".into()));
    assert_eq!(client.get("/f/1").status, 200);
}

#[test]
fn head_has_no_body() {
    let target = target();
    let mut client = connect(target.addr);
    for path in ["/", "/f/100", "/get", "/bytes/1000000", "/stream-bytes/100", "/drip"] {
        let response = client.request("HEAD", &format!("{path}?delay=0"), "", b"");
        assert_eq!(response.status, 200, "{path}");
    }
    // Were there any body, this would not be understood.
    assert_eq!(client.get("/f/2").body, b"xx");
}

#[test]
fn connections_end_when_asked() {
    let target = target();
    for path in ["/f/5", "/get", "/stream-bytes/5"] {
        let mut client = connect(target.addr);
        let response = client.request("GET", path, "Connection: close", b"");
        assert_eq!((response.status, response.header("connection")), (200, Some("close")));
        assert!(client.is_closed());
    }
}

#[test]
fn http_1_0() {
    let target = target();
    let mut client = connect(target.addr);
    client.send(b"GET /f/5 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let response = client.response();
    assert_eq!((response.header("connection"), response.body.len()), (Some("keep-alive"), 5));
    client.send(b"GET /f/5 HTTP/1.0\r\n\r\n");
    assert_eq!(client.response().header("connection"), Some("close"));
    assert!(client.is_closed());
    // A body of unknown length ends with the connection.
    let mut client = connect(target.addr);
    client.send(b"GET /stream-bytes/50 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let response = client.response();
    assert_eq!((response.header("transfer-encoding"), response.body.len()), (None, 50));
}

#[test]
fn expect_100_continue() {
    let target = target();
    let mut client = connect(target.addr);
    let head = b"POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
    client.send(head);
    assert_eq!(client.head_only().status, 100);
    client.send(b"abc");
    assert_eq!(client.response().json()["data"], "abc");
    // A client that does not wait gets no 100.
    client.send(&[head.as_slice(), b"def"].concat());
    assert_eq!(client.response().json()["data"], "def");
    // What is too large is refused before it is sent.
    let large = b"POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000000\r\nExpect: 100-continue\r\n\r\n";
    assert_eq!(raw(&target, large), (413, true));
}

#[test]
fn a_half_closed_client_gets_its_response() {
    let target = target();
    for path in ["/f/3", "/get?delay_ms=30", "/bytes/1000000"] {
        let mut client = connect(target.addr);
        client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes());
        client.stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.response().status, 200);
        assert!(client.is_closed());
    }
}

#[test]
fn methods() {
    let target = target();
    let mut client = connect(target.addr);
    let response = client.request("POST", "/get", "", b"");
    assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    let response = client.request("OPTIONS", "/post", "", b"");
    assert_eq!((response.status, response.header("allow")), (204, Some("POST, OPTIONS")));
    assert_eq!(client.request("OPTIONS", "*", "", b"").status, 204);
    assert_eq!(client.request("DELETE", "/", "", b"").status, 405);
    assert_eq!(client.request("TRACE", "/", "", b"").status, 501);
    assert_eq!(client.request("PROPFIND", "/anything/x", "", b"").json()["method"], "PROPFIND");
    assert_eq!(client.request("GET", "/get", "", b"body").json()["data"], "body");
    assert_eq!(client.get("http://other.example/f/4").body.len(), 4);
}

#[test]
fn requests_that_are_refused() {
    let target = target_with(|options| options.limits.body_bytes_max = 10_000);
    let cases: [(&[u8], u16); 11] = [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10001\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", 417),
        (b"POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Type: multipart/form-data\r\n\r\nx", 400),
    ];
    for (request, status) in cases {
        assert_eq!(raw(&target, request), (status, true), "{:?}", String::from_utf8_lossy(request));
    }
    let target_line = format!("GET /{} HTTP/1.1\r\n", "a".repeat(9_000));
    assert_eq!(raw(&target, target_line.as_bytes()), (414, true));
    let lines = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "A: b\r\n".repeat(101));
    assert_eq!(raw(&target, lines.as_bytes()), (431, true));
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nA: {}", "b".repeat(33_000));
    assert_eq!(raw(&target, long.as_bytes()), (431, true));
    // The target is none the worse for it.
    assert_eq!(get(&target, "/f/1").status, 200);
}

#[test]
fn refused_clients_see_why_even_while_they_send() {
    let target = target_with(|options| options.limits.body_bytes_max = 10_000);
    let mut client = connect(target.addr);
    client.send(b"POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunk = [b"1000\r\n".as_slice(), &[b'x'; 4096], b"\r\n"].concat();
    for _ in 0..100 {
        if client.stream.write_all(&chunk).is_err() {
            break;
        }
    }
    assert_eq!(client.response().status, 413);
}

#[test]
fn bodies_of_unused_kinds_are_read_over() {
    let target = target();
    let mut client = connect(target.addr);
    let body = vec![b'z'; 300_000];
    assert_eq!(client.request("POST", "/status/201", "", &body).status, 201);
    assert_eq!(client.request("POST", "/nowhere", "", &body).status, 404);
    assert_eq!(client.request("GET", "/f/2", "", &body).body, b"xx");
    assert_eq!(client.request("POST", "/login.php", "", &body).status, 403);
}
