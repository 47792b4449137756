//! Answers that are wrong on purpose.

use std::io::{ErrorKind, Read, Write};

use onrush_testsite::{Break, HandshakeFault, TargetHandle};

use crate::client::{Client, connect, get, target, target_with};

/// Sends one request and reads what comes until the end or `stop` bytes; says how it ended.
fn conversation(target: &TargetHandle, path: &str, stop: usize) -> (String, &'static str) {
    let mut client = connect(target.addr);
    client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes());
    read_all(&mut client, stop)
}

fn read_all(client: &mut Client, stop: usize) -> (String, &'static str) {
    let mut text = Vec::new();
    let mut byte = [0; 1];
    loop {
        if text.len() == stop {
            return (String::from_utf8_lossy(&text).into_owned(), "open");
        }
        match client.stream.read(&mut byte) {
            Ok(0) => return (String::from_utf8_lossy(&text).into_owned(), "end"),
            Ok(_) => text.push(byte[0]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                return (String::from_utf8_lossy(&text).into_owned(), "reset");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn responses_break_where_they_are_told_to() {
    let target = target();
    for (kind, end) in [("close", "end"), ("reset", "reset")] {
        assert_eq!(conversation(&target, &format!("/fault/{kind}"), usize::MAX), (String::new(), end));
        let (text, ended) = conversation(&target, &format!("/fault/{kind}?at=12&in=head"), usize::MAX);
        // What a reset leaves unread is lost.
        assert!(ended == end && "HTTP/1.1 200".starts_with(&text), "{text}");
    }
    let (text, _) = conversation(&target, "/fault/close?in=body&at=7&bytes=50", usize::MAX);
    assert!(text.ends_with("Content-Length: 50\r\n\r\nxxxxxxx"), "{text}");
    let (text, _) = conversation(&target, "/fault/close?in=chunk&at=17", usize::MAX);
    assert!(text.ends_with("\r\n\r\na\r\nxxxxxxxxxx\r\na\r"), "{text}");
    let (text, end) = conversation(&target, "/fault/stall?at=4", 4);
    assert_eq!((text.as_str(), end), ("HTTP", "open"));
    let (text, _) = conversation(&target, "/fault/slow?at=3&every=0.001&bytes=2", 20);
    assert!(text.starts_with("HTTP/1.1 200 OK"));
    assert_eq!(get(&target, "/fault/slow?every=0&bytes=3&in=body").text(), "xxx");
    assert_eq!(get(&target, "/fault/nothing").status, 404);
    assert_eq!(get(&target, "/fault/close?in=nowhere").status, 400);
}

#[test]
fn responses_that_are_none() {
    let target = target();
    let (text, _) = conversation(&target, "/fault/length?says=-5&bytes=3", usize::MAX);
    assert_eq!(text, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nxxx");
    let mut client = connect(target.addr);
    assert_eq!(client.get("/fault/twice").text(), "hi");
    assert_eq!(client.response().text(), "hi");
    assert_eq!(client.get("/fault/headers?count=50&bytes=10").headers.len(), 51);
    let (text, end) = conversation(&target, "/fault/raw?data=HTTP/9.9%20%0d%0a&then=reset", 11);
    assert_eq!((text.as_str(), end), ("HTTP/9.9 \r\n", "open"));
    assert_eq!(
        connect(target.addr).get("/fault/raw?data=HTTP/1.1+200%0d%0aContent-Length:+0%0d%0a%0d%0a&then=keep").status,
        200
    );
    assert_eq!(conversation(&target, "/fault/garbage?bytes=64&seed=1", usize::MAX).1, "end");
}

#[test]
fn listeners_break_connections() {
    for (how, end) in [(Break::Reset, "reset"), (Break::Close, "end")] {
        let target = target_with(|options| options.accept_fault = Some(how));
        let mut client = connect(target.addr);
        assert_eq!(read_all(&mut client, 1), (String::new(), end));
    }
    let target = target_with(|options| options.accept_fault = Some(Break::Stall));
    let mut client = connect(target.addr);
    client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.stream.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    assert_eq!(client.stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(client);
}

#[test]
fn handshakes_break() {
    for (how, at_bytes, expect) in [
        (Break::Close, 0, ErrorKind::UnexpectedEof),
        (Break::Close, 100, ErrorKind::UnexpectedEof),
        (Break::Reset, 50, ErrorKind::ConnectionReset),
        (Break::Stall, 200, ErrorKind::WouldBlock),
    ] {
        let target = target_with(|options| {
            options.tls_listen = Some(([127, 0, 0, 1], 0).into());
            options.handshake_fault = Some(HandshakeFault { how, at_bytes });
        });
        let mut client = crate::tls::connect_tls(&target, "localhost", &[]);
        client.stream.sock.set_read_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
        let error = client.stream.write_all(b"GET / HTTP/1.1\r\n\r\n").and_then(|()| client.stream.flush());
        assert_eq!(error.unwrap_err().kind(), expect, "{how:?}@{at_bytes}");
    }
    assert_eq!("stall@12".parse(), Ok(HandshakeFault { how: Break::Stall, at_bytes: 12 }));
    assert!("stall@x".parse::<HandshakeFault>().is_err() && "jump".parse::<Break>().is_err());
}
