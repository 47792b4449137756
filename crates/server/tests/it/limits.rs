//! Hostile clients: whatever they send, the next one is served.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::*;

#[test]
fn garbage_is_answered_and_forgotten() {
    let api = Api::start(None, status);
    for garbage in [&b"\0\0\0\0\r\n\r\n"[..], b"GET\r\n\r\n", b"GET /v1/status HTTP/9.9\r\n\r\n", &[0xff; 4096]] {
        let answer = api.raw(garbage);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let (status, body) = api.request("PATCH", "/v1/status", "", &"[".repeat(100_000));
    assert_eq!(status, 400, "{body}");
    assert_eq!(api.request("GET", "/v1/status", "", "").0, 200);
}

#[test]
fn bodies_and_heads_are_bounded() {
    let api = Api::start(None, |_| Reply::ok(json!("taken")));
    let (status, body) = api.request("PUT", "/v1/setup", "", &format!("\"{}\"", "x".repeat(5 << 20)));
    // The server may close before everything is sent; then the answer can be lost on the way.
    assert!(status == 413 && body.contains("larger than") || status == 0, "{status} {body}");
    let (status, _) = api.request("PUT", "/v1/setup", "", &format!("\"{}\"", "x".repeat(3 << 20)));
    assert_eq!(status, 200);
    let (status, _) = api.request("GET", "/v1/status", &format!("X: {}\r\n", "x".repeat(100_000)), "");
    assert!(status == 431 || status == 0, "{status}");
    assert_eq!(api.request("GET", "/v1/status", "", "").0, 200);
}

#[test]
fn slow_connections_do_not_lock_anybody_out() {
    let api = Api::start(None, status);
    let slow: Vec<TcpStream> = (0..500)
        .map(|_| {
            let mut stream = api.connect();
            let _ = stream.write_all(b"GET /v1/sta");
            stream
        })
        .collect();
    assert_eq!(api.request("GET", "/v1/status", "", "").0, 200);
    drop(slow);
}

#[test]
fn kept_connections_do_not_lock_anybody_out() {
    let api = Api::start(None, status);
    let kept: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = api.connect();
            let _ = write!(stream, "GET /v1/status HTTP/1.1\r\nHost: {}\r\n\r\n", api.address);
            let _ = stream.read(&mut [0; 512]);
            stream
        })
        .collect();
    assert_eq!(api.request("GET", "/v1/status", "", "").0, 200);
    drop(kept);
}

/// Connections that all wait for an answer, but not to their first question: one of them makes room.
#[test]
fn who_never_stops_asking_does_not_lock_anybody_out() {
    let held: Arc<Mutex<Vec<Call>>> = Arc::default();
    let keep = held.clone();
    let api = Api::deliver(None, move |call| match call.request {
        Request::Status => keep.lock().expect("no panic").push(call),
        _ => call.answer(Reply::ok(json!(1))),
    });
    let busy: Vec<TcpStream> = (0..128)
        .map(|_| {
            let mut stream = api.connect();
            write!(stream, "GET /v1/groups HTTP/1.1\r\nHost: {}\r\n\r\n", api.address).expect("it reads");
            assert!(stream.read(&mut [0; 512]).expect("an answer") > 0);
            write!(stream, "GET /v1/status HTTP/1.1\r\nHost: {}\r\n\r\n", api.address).expect("it reads");
            stream
        })
        .collect();
    while held.lock().expect("no panic").len() < busy.len() {
        std::thread::yield_now();
    }
    assert_eq!(api.request("GET", "/v1/groups", "", "").0, 200);
    held.lock().expect("no panic").clear();
}

#[test]
fn a_dropped_call_is_answered() {
    let api = Api::deliver(None, drop);
    let (status, body) = api.request("GET", "/v1/status", "", "");
    assert_eq!(status, 503, "{body}");
}

#[test]
fn web_pages_from_elsewhere_are_refused() {
    let api = Api::start(None, status);
    assert_eq!(api.request("POST", "/v1/teardown", "Origin: http://evil.example\r\n", "").0, 403);
    let rebound = "GET /v1/status HTTP/1.1\r\nHost: evil.example:6565\r\nConnection: close\r\n\r\n";
    assert!(api.raw(rebound.as_bytes()).starts_with("HTTP/1.1 403"));
}

#[test]
fn answers_arrive_although_the_server_ends() {
    for round in 0..50 {
        let (sender, calls) = std::sync::mpsc::channel::<Call>();
        let api = Api::deliver(None, move |call| drop(sender.send(call)));
        let idle = api.connect();
        let mut asking = api.connect();
        asking.write_all(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
        let call = calls.recv().expect("a call");
        call.answer(status(&Request::Status));
        drop(api);
        let mut answer = String::new();
        asking.read_to_string(&mut answer).expect("an answer, then the end");
        assert!(answer.starts_with("HTTP/1.1 200"), "round {round}: {answer}");
        drop(idle);
    }
}

#[test]
fn a_call_that_is_kept_does_not_keep_the_server() {
    let (sender, calls) = std::sync::mpsc::channel::<Call>();
    let api = Api::deliver(None, move |call| drop(sender.send(call)));
    let mut asking = api.connect();
    asking.write_all(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
    let kept = calls.recv().expect("a call");
    drop(api);
    assert_eq!(asking.read_to_end(&mut Vec::new()).expect("the end"), 0);
    drop(kept);
}
