//! The same over TLS.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use onrush_target::TargetHandle;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::client::{Client, connect, target_with};

type TlsClient = Client<StreamOwned<ClientConnection, TcpStream>>;

fn tls_target() -> TargetHandle {
    target_with(|options| {
        options.tls_listen = Some(([127, 0, 0, 1], 0).into());
        options.tls_names = vec!["test.example".to_owned()];
        options.limits.head_timeout = Duration::from_secs(1);
    })
}

/// Connects and believes only the target's own certificate.
fn connect_tls(target: &TargetHandle, name: &'static str, alpn: &[&str]) -> TlsClient {
    let pem = target.certificate_pem.as_ref().unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let session = ClientConnection::new(Arc::new(config), name.try_into().unwrap()).unwrap();
    let stream = TcpStream::connect(target.tls_addr.unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    Client::over(StreamOwned::new(session, stream))
}

#[test]
fn requests_over_tls() {
    let target = tls_target();
    for name in ["localhost", "127.0.0.1", "test.example"] {
        let mut client = connect_tls(&target, name, &["h2", "http/1.1"]);
        let echo = client.request("POST", "/post?a=1", "", b"data").json();
        assert_eq!((&echo["data"], &echo["url"]), (&"data".into(), &"https://test.example/post?a=1".into()));
        assert_eq!(client.stream.conn.alpn_protocol(), Some(b"http/1.1".as_slice()));
        assert_eq!(client.get("/").body.len(), 11_278);
    }
}

#[test]
fn large_bodies_both_ways() {
    let target = tls_target();
    let mut client = connect_tls(&target, "localhost", &[]);
    assert_eq!(client.get("/f/5000000").body.len(), 5_000_000);
    assert_eq!(client.get("/stream-bytes/3000000").body.len(), 3_000_000);
    let body = vec![7; 26 * 1024 * 1024];
    assert_eq!(client.request("POST", "/upload", "", &body).json()["received"], body.len());
    assert_eq!(client.get("/f/3?delay_ms=10").body, b"xxx");
}

#[test]
fn pipelining_over_tls() {
    let target = tls_target();
    let mut client = connect_tls(&target, "localhost", &[]);
    client.send(&b"GET /f/200000 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20));
    for _ in 0..20 {
        assert_eq!(client.response().body.len(), 200_000);
    }
}

#[test]
fn close_is_announced() {
    let target = tls_target();
    let mut client = connect_tls(&target, "localhost", &[]);
    client.request("GET", "/f/1", "Connection: close", b"");
    // Without a close_notify this read would be an error.
    assert!(client.is_closed());
}

#[test]
fn plain_http_and_garbage_on_the_tls_port() {
    let target = tls_target();
    let mut plain = connect(target.tls_addr.unwrap());
    plain.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    plain.stream.flush().unwrap();
    while !plain.is_closed() {
        // An alert may come first.
        if !plain.text().is_empty() {
            break;
        }
    }
    // A handshake that never comes is given up.
    let mut hello = connect(target.tls_addr.unwrap());
    hello.send(b"\x16\x03\x01\x02\x00\x01\x00");
    assert!(hello.is_closed());
    assert_eq!(connect_tls(&target, "localhost", &[]).get("/f/1").status, 200);
}
