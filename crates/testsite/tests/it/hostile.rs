//! Clients that are slow, broken or malicious.

use std::{io::Write, time::Duration};

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::client::{Client, connect, get, target, target_with};

fn eventually(condition: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("did not come true");
}

#[test]
fn garbage_does_no_harm() {
    let target = target();
    let piece = prop_oneof![
        Just(b"GET /".to_vec()),
        Just(b"POST /post HTTP/1.1\r\nHost: a\r\n".to_vec()),
        Just(b"Content-Length: 5\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n\r\n".to_vec()),
        Just(b"Content-Type: multipart/form-data; boundary=x\r\n".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b" HTTP/1.1\r\nHost: a\r\n".to_vec()),
        Just(b"--x\r\n".to_vec()),
        "/(f|get|bytes|status|delay|cookies/set)/[0-9a-z%,:]{0,6}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..30),
    ];
    let input = proptest::collection::vec(piece, 0..12);
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    runner
        .run(&input, |pieces| {
            let mut client = connect(target.addr);
            for piece in pieces {
                // The target may have had enough already.
                if client.stream.write_all(&piece).is_err() {
                    break;
                }
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(get(&target, "/f/1").status, 200);
    eventually(|| target.connections_open() == 0);
}

#[test]
fn a_slow_head_is_given_up() {
    let target = target_with(|options| options.limits.head_timeout = Duration::from_secs(1));
    let mut client = connect(target.addr);
    client.send(b"GET / HTTP/1.1\r\n");
    let mut writer = client.stream.try_clone().unwrap();
    // A line now and then does not help.
    let (answered, done) = std::sync::mpsc::channel::<()>();
    let trickle = std::thread::spawn(move || {
        while done.recv_timeout(Duration::from_millis(100)).is_err() {
            writer.write_all(b"A: b\r\n").unwrap();
        }
    });
    assert_eq!(client.response().status, 408);
    answered.send(()).unwrap();
    trickle.join().unwrap();
}

#[test]
fn a_slow_body_is_given_up() {
    let target = target_with(|options| options.limits.body_timeout = Duration::from_secs(1));
    let mut client = connect(target.addr);
    client.send(b"POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    assert_eq!(client.response().status, 408);
    assert!(client.is_closed());
}

#[test]
fn idle_connections_are_closed_without_a_word() {
    let target = target_with(|options| options.limits.idle_timeout = Duration::from_secs(1));
    let mut fresh = connect(target.addr);
    let mut used = connect(target.addr);
    used.get("/f/1");
    assert!(fresh.is_closed());
    assert!(used.is_closed());
}

#[test]
fn who_does_not_read_is_given_up() {
    let target = target_with(|options| options.limits.write_timeout = Duration::from_secs(1));
    let mut client = connect(target.addr);
    client.send(b"GET /bytes/1000000000 HTTP/1.1\r\nHost: a\r\n\r\n");
    eventually(|| target.connections_open() == 1);
    eventually(|| target.connections_open() == 0);
    drop(client);
}

#[test]
fn who_does_not_read_is_not_served_further() {
    let target = target();
    let mut client = connect(target.addr);
    client.stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    // Each request asks for a megabyte; the socket's buffers end the game.
    let request = b"GET /f/1000000 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1_000);
    let mut sent = 0;
    for _ in 0..1_000 {
        match client.stream.write(&request) {
            Ok(bytes) => sent += bytes,
            Err(_) => break,
        }
    }
    // Far fewer are answered than were asked for.
    assert!(sent > request.len());
    assert!(target.requests() < 100, "answered {}", target.requests());
    assert_eq!(get(&target, "/f/1").status, 200);
}

#[test]
fn a_slow_reader_gets_everything() {
    let target = target();
    let mut client = connect(target.addr);
    let sizes = [3_000_000, 1, 2_000_000, 70_000];
    for size in sizes {
        client.send(format!("GET /f/{size} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes());
    }
    std::thread::sleep(Duration::from_millis(200));
    for size in sizes {
        assert_eq!(client.response().body.len(), size);
    }
}

#[test]
fn too_many_connections() {
    let target = target_with(|options| options.limits.connections_max = 10);
    let mut clients: Vec<Client> = (0..10).map(|_| connect(target.addr)).collect();
    for client in &mut clients {
        assert_eq!(client.get("/f/1").status, 200);
    }
    let mut extra = connect(target.addr);
    let response = extra.get("/f/1");
    assert_eq!((response.status, response.header("connection")), (503, Some("close")));
    clients.pop();
    drop(extra);
    eventually(|| target.connections_open() < 10);
    assert_eq!(get(&target, "/f/1").status, 200);
}

#[test]
fn connections_that_break_off_leave_nothing_behind() {
    let target = target();
    for request in [
        b"".as_slice(),
        b"G",
        b"GET / HTTP/1.1\r\n",
        b"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc",
        b"GET /bytes/100000000 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /stream-bytes/100000000 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /drip?delay=0&duration=300&numbytes=1000 HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        for _ in 0..10 {
            let mut client = connect(target.addr);
            client.send(request);
        }
    }
    eventually(|| target.connections_open() == 0);
}

#[test]
fn memory_is_limited_over_all_connections() {
    let target = target_with(|options| options.limits.buffer_bytes_max = 5 * 1024 * 1024);
    // Each makes the target keep most of a megabyte, and never finishes.
    let mut clients: Vec<Client> = (0..20).map(|_| connect(target.addr)).collect();
    for client in &mut clients {
        client.send(b"POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
        // A target that closes the connection meanwhile is what is looked for.
        let _ = client.stream.write_all(&[b'x'; 900_000]);
    }
    eventually(|| (1..=5).contains(&target.connections_open()));
    drop(clients);
    eventually(|| target.connections_open() == 0);
    // Nothing is held any more: a large echo passes.
    let body = vec![b'x'; 1_000_000];
    let echo = connect(target.addr).request("POST", "/post", "", &body).json();
    assert_eq!(echo["data"].as_str().unwrap().len(), body.len());
}

#[test]
fn a_thousand_parts() {
    let target = target();
    let part = b"--B\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n\r\n";
    let body = [part.repeat(2_000).as_slice(), b"--B--"].concat();
    let headers = "Content-Type: multipart/form-data; boundary=B";
    assert_eq!(connect(target.addr).request("POST", "/post", headers, &body).status, 413);
}
