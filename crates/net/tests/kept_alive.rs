//! Kept connections that die, and peers that answer out of turn.

mod support;

use std::rc::Rc;

use onrush_net::{Body, BodyMode, ClientOptions, Connections};
use onrush_testkit::{Behaviour, HostileServer};
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
