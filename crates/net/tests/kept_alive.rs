//! Kept connections that die, and peers that answer out of turn.

mod support;

use std::rc::Rc;

use onrush_fiber::Clock;
use onrush_net::{Body, BodyMode, ClientOptions, Connections, Failure, Request, Response, Url};
use onrush_testkit::{
    Behaviour, HostileServer,
    http2::{FrameServer, Talk},
};
use support::{PLENTY, get, on_fiber, pause, send};

#[test]
fn a_dead_kept_connection_is_replaced() {
    // Closes or resets instead of answering the second request of a connection.
    for (behaviour, post_code) in [(Behaviour::CloseKeptAlive, 1000), (Behaviour::ResetKeptAlive, 1220)] {
        let server = Rc::new(HostileServer::start(behaviour));
        let peer = Rc::clone(&server);
        on_fiber(ClientOptions::default(), move |shared| {
            let connections = Connections::new(shared);
            for _ in 0..3 {
                assert_eq!(get(&connections, &peer.url("/")).unwrap().status, 200);
            }
            // Go does not repeat a POST that may have been received.
            let outcome = send(&connections, "POST", &peer.url("/"), Body::Bytes("x".into()), BodyMode::Keep, PLENTY);
            assert_eq!(outcome.unwrap_err().error.code, post_code);
        });
        assert!(server.accepted() >= 3);
    }
}

#[test]
fn a_connection_closed_while_idle_is_not_used() {
    let server = Rc::new(HostileServer::start(Behaviour::CloseIdle));
    let peer = Rc::clone(&server);
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        for _ in 0..3 {
            let response =
                send(&connections, "POST", &peer.url("/"), Body::Bytes("x".into()), BodyMode::Keep, PLENTY).unwrap();
            assert_eq!((response.status, response.reused), (200, false));
            // Until the close has arrived.
            while peer.open() > 0 {
                pause(5);
            }
            pause(5);
        }
    });
    assert_eq!(server.accepted(), 3);
}

#[test]
fn bytes_nobody_asked_for_end_a_connection() {
    let server = Rc::new(HostileServer::start(Behaviour::UnaskedResponse));
    let peer = Rc::clone(&server);
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        for _ in 0..3 {
            let response = get(&connections, &peer.url("/")).unwrap();
            assert_eq!((response.status, &response.body[..]), (200, &b"hi"[..]));
            pause(20);
        }
    });
    assert_eq!(server.accepted(), 3);
}

#[test]
fn an_answer_before_the_end_of_the_request_counts() {
    for _ in 0..5 {
        let server = HostileServer::start(Behaviour::AnswerEarly);
        let url = server.url("/");
        let outcome = on_fiber(ClientOptions::default(), move |shared| {
            let body = vec![b'x'; 5_000_000];
            send(&Connections::new(shared), "POST", &url, Body::Bytes(body.into()), BodyMode::Keep, PLENTY)
        });
        let response = outcome.unwrap();
        assert_eq!((response.status, &response.body[..]), (413, &b"big!"[..]));
    }
}

#[test]
fn a_server_may_answer_while_it_reads() {
    let server = HostileServer::start(Behaviour::EchoWhileReading);
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        // More than the sockets' buffers of both directions together hold.
        let body: Vec<u8> = (0..30_000_000_u32).map(|at| (at % 251) as u8).collect();
        let connections = Connections::new(shared);
        let response =
            send(&connections, "POST", &url, Body::Bytes(body.clone().into()), BodyMode::Keep, PLENTY).unwrap();
        assert!(response.body == body);
        assert_eq!(connections.idle_count(), 1);
    });
}

/// Reads a head of a request; a server with a script of its own needs no more.
fn read_head(talk: &mut Talk) -> bool {
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\n") {
        match talk.read(1) {
            Some(byte) => seen.extend(byte),
            None => return false,
        }
    }
    true
}

/// Sends a POST whose head no socket's buffers hold.
fn post_long_head(connections: &Connections, url: &str) -> Result<Box<Response>, Box<Failure>> {
    let head = format!("X-Long: {}\r\n", "x".repeat(16 << 20));
    let url = Url::parse(url).unwrap();
    let request = Request {
        method: "POST",
        url: &url,
        head: head.as_bytes(),
        host: None,
        body: &Body::Bytes("x".into()),
        user_agent: None,
        is_http1: false,
    };
    connections.exchange(&request, BodyMode::Keep, Clock::now(), Some(Clock::now() + PLENTY))
}

#[test]
fn a_head_that_went_out_in_part_is_not_sent_again() {
    let server = FrameServer::start(|talk| {
        if read_head(talk) && talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") {
            talk.read(1000);
            talk.abort();
        }
    });
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        get(&connections, &url).unwrap();
        let failure = post_long_head(&connections, &url).unwrap_err();
        assert!(failure.reused && [1201, 1220].contains(&failure.error.code), "{failure:?}");
    });
    assert_eq!(server.accepted(), 1);
}

#[test]
fn an_answer_to_a_part_of_a_head_counts() {
    let server = FrameServer::start(|talk| {
        talk.read(100);
        talk.send(b"HTTP/1.1 431 Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbig!");
        while talk.pause(PLENTY) {}
    });
    let url = server.url("/");
    let response = on_fiber(ClientOptions::default(), move |shared| post_long_head(&Connections::new(shared), &url));
    let response = response.unwrap();
    assert_eq!((response.status, &response.body[..]), (431, &b"big!"[..]));
}
