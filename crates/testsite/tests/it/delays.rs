//! Delays: never early, and in the right places.

use std::time::{Duration, Instant};

use crate::client::{connect, target, target_with};

/// Checks that a GET takes at least as long; how much longer depends on the machine.
fn check(base_ms: u64, path: &str, least_ms: u64) {
    let target = target_with(|options| options.delay = Duration::from_millis(base_ms));
    let mut client = connect(target.addr);
    let start = Instant::now();
    assert_eq!(client.get(path).status, 200);
    assert!(start.elapsed() >= Duration::from_millis(least_ms), "{path}");
}

#[test]
fn no_response_is_early() {
    check(0, "/f/10?delay_ms=30", 30);
    check(0, "/delay/0.03", 30);
    check(30, "/", 30);
    check(30, "/get", 30);
    check(20, "/delay/0.02", 40);
    check(0, "/drip?delay=0.02&duration=0.04&numbytes=3", 46);
    check(10, "/bytes/100000?delay_ms=30", 30);
}

#[test]
fn some_are_not_delayed() {
    let target = target_with(|options| options.delay = Duration::from_secs(250));
    let mut client = connect(target.addr);
    assert_eq!(client.get("/healthz").status, 200);
    assert_eq!(client.get("/stats").status, 200);
    assert_eq!(client.get("/f/1?delay_ms=0").status, 200);
    assert_eq!(client.get("/f/1?delay_ms=x").status, 400);
    assert_eq!(client.get("/f/1?delay_ms=300001").status, 400);
}

#[test]
fn delays_do_not_queue_up() {
    let target = target();
    let mut clients: Vec<_> = (0..100).map(|_| connect(target.addr)).collect();
    let start = Instant::now();
    for (index, client) in clients.iter_mut().enumerate() {
        // Later ones are due earlier.
        let request = format!("GET /f/{index}?delay_ms={} HTTP/1.1\r\nHost: a\r\n\r\n", 300 - index);
        client.send(request.as_bytes());
    }
    for (index, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.response().body.len(), index);
    }
    // One after the other they would take 25 s.
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn clients_that_leave_during_a_delay_are_forgotten() {
    let target = target();
    for _ in 0..50 {
        let mut client = connect(target.addr);
        client.send(b"GET /f/1?delay_ms=300000 HTTP/1.1\r\nHost: a\r\n\r\n");
        // Bytes left unread make the close a reset.
        client.send(b"GET /");
    }
    let mut client = connect(target.addr);
    // A clean close is only half of one: the server cannot tell whether the client still reads, so it waits with those.
    // All that counts here is that the target goes on.
    assert_eq!(client.get("/f/1").status, 200);
}
