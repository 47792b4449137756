//! The API over TLS, as other machines reach it.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use onrush_server::{Address, Client, Fingerprint, Listener, Server, Trust};

use crate::status;

const TOKEN: &str = "a token of 25 characters";

/// A server on an address that other machines could reach; its port and fingerprint.
fn start() -> (u16, Fingerprint, Server) {
    let address = Address::parse("0.0.0.0:0").expect("valid");
    let listener = Listener::bind(&address, Some(TOKEN.to_owned()), None).expect("a free port");
    let (port, identity) = (listener.address.port(), listener.identity.clone().expect("it speaks TLS"));
    let server = Server::start(listener, |call| {
        let reply = status(&call.request);
        call.answer(reply);
    });
    (port, identity.fingerprint, server.expect("a thread"))
}

fn client(port: u16, trust: Trust) -> Client {
    let address = Address::parse(&format!("https://127.0.0.1:{port}")).expect("valid");
    Client::new(address, Some(TOKEN.to_owned()), Some(trust))
}

#[test]
fn the_one_certificate_is_believed_and_no_other() {
    let (port, fingerprint, _server) = start();
    let answer = client(port, Trust::fingerprint(fingerprint)).get("/v1/status").expect("it answers");
    assert_eq!((answer.status, answer.body["data"]["attributes"]["vus-max"].as_u64()), (200, Some(5)));
    let other = Fingerprint::parse(&"00".repeat(32)).expect("digits");
    let error = client(port, Trust::fingerprint(other)).get("/v1/status").expect_err("another one").to_string();
    assert!(error.contains("another fingerprint"), "{error}");
    let error = client(port, Trust::system().expect("a store")).get("/v1/status").expect_err("self-made").to_string();
    assert!(error.contains("certificate"), "{error}");
}

#[test]
fn plain_requests_are_told() {
    let (port, _, _server) = start();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    // It may close before it has read everything.
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.0 400") && answer.contains("HTTPS server"), "{answer}");
}
