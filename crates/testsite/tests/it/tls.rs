//! The same over TLS.

use std::{io::Write, net::TcpStream, sync::Arc, time::Duration};

use onrush_testsite::TargetHandle;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::aws_lc_rs};
use rustls_pki_types::{CertificateDer, pem::PemObject};

use crate::client::{Client, connect, target_with};

pub(crate) type TlsClient = Client<StreamOwned<ClientConnection, TcpStream>>;

fn tls_target() -> TargetHandle {
    target_with(|options| {
        options.tls_listen = Some(([127, 0, 0, 1], 0).into());
        options.tls.names = vec!["test.example".to_owned()];
        options.limits.head_timeout = Duration::from_secs(1);
    })
}

/// Connects and believes only the target's own certificate.
pub(crate) fn connect_tls(target: &TargetHandle, name: &'static str, alpn: &[&str]) -> TlsClient {
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
        let mut client = connect_tls(&target, name, &["http/1.1"]);
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

/// A client's settings, from which connections are made that share sessions.
fn settings(target: &TargetHandle, identity: Option<&rcgen::CertifiedKey<rcgen::KeyPair>>) -> Arc<ClientConfig> {
    let pem = target.certificate_pem.as_ref().unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    Arc::new(match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let key = rustls_pki_types::PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
            builder.with_client_auth_cert(vec![identity.cert.der().clone()], key.into()).unwrap()
        }
    })
}

fn connect_with(target: &TargetHandle, settings: &Arc<ClientConfig>) -> TlsClient {
    let session = ClientConnection::new(Arc::clone(settings), "localhost".try_into().unwrap()).unwrap();
    let stream = TcpStream::connect(target.tls_addr.unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    Client::over(StreamOwned::new(session, stream))
}

#[test]
fn the_page_tells_of_the_handshake() {
    let target = target_with(|options| {
        options.tls_listen = Some(([127, 0, 0, 1], 0).into());
        options.tls.versions = vec!["1.2".to_owned()];
        options.tls.cipher_suites = vec!["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256".to_owned()];
    });
    let settings = settings(&target, None);
    for resumed in [false, true] {
        let page = connect_with(&target, &settings).get("/tls").json();
        assert_eq!((&page["version"], &page["resumed"]), (&"tls1.2".into(), &resumed.into()));
        assert_eq!(page["cipher_suite"], "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
        assert_eq!((&page["server_name"], &page["client_certificate"]), (&"localhost".into(), &().into()));
    }
    assert_eq!(connect(target.addr).get("/tls").json()["tls"], false);
}

#[test]
fn sessions_are_resumed_unless_tickets_are_off() {
    for tickets in [true, false] {
        let target = target_with(|options| {
            options.tls_listen = Some(([127, 0, 0, 1], 0).into());
            options.tls.tickets = tickets;
        });
        let settings = settings(&target, None);
        assert_eq!(connect_with(&target, &settings).get("/tls").json()["resumed"], false);
        let second = connect_with(&target, &settings).get("/tls").json();
        assert_eq!((&second["resumed"], &second["version"]), (&tickets.into(), &"tls1.3".into()));
    }
}

#[test]
fn client_certificates() {
    let authority = rcgen::generate_simple_self_signed(vec!["client.test".to_owned()]).unwrap();
    for required in [true, false] {
        let target = target_with(|options| {
            options.tls_listen = Some(([127, 0, 0, 1], 0).into());
            let authorities_pem = authority.cert.pem();
            options.tls.client_auth = Some(onrush_testsite::ClientAuth { authorities_pem, required });
        });
        let page = connect_with(&target, &settings(&target, Some(&authority))).get("/tls").json();
        assert_eq!(page["client_certificate"]["subject"], "CN=rcgen self signed cert");
        let mut without = connect_with(&target, &settings(&target, None));
        if required {
            let refused = write!(without.stream, "GET /tls HTTP/1.1\r\nHost: a\r\n\r\n")
                .and_then(|()| std::io::Read::read(&mut without.stream, &mut [0; 10]));
            assert!(refused.unwrap_err().to_string().contains("CertificateRequired"));
        } else {
            assert_eq!(without.get("/tls").json()["client_certificate"], serde_json::Value::Null);
        }
    }
}

#[test]
fn settings_that_cannot_be() {
    let fails = |change: fn(&mut onrush_testsite::TlsSettings), expect: &str| {
        let mut options = onrush_testsite::TargetOptions {
            listen: ([127, 0, 0, 1], 0).into(),
            tls_listen: Some(([127, 0, 0, 1], 0).into()),
            ..onrush_testsite::TargetOptions::default()
        };
        change(&mut options.tls);
        let error = onrush_testsite::start(options).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    fails(|tls| tls.versions = vec!["1.1".to_owned()], "unknown TLS version \"1.1\"");
    fails(|tls| tls.cipher_suites = vec!["RC4".to_owned()], "unknown cipher suite \"RC4\", there are TLS_AES");
    fails(
        |tls| {
            tls.versions = vec!["1.2".to_owned()];
            tls.cipher_suites = vec!["TLS_AES_128_GCM_SHA256".to_owned()];
        },
        "no usable cipher suites",
    );
    fails(
        |tls| {
            let authorities_pem = "nothing".to_owned();
            tls.client_auth = Some(onrush_testsite::ClientAuth { authorities_pem, required: true });
        },
        "there is no certificate",
    );
}

/// Keeps the staple the server sends.
#[derive(Debug)]
struct Stapled(std::sync::Mutex<Vec<u8>>);

impl rustls::client::danger::ServerCertVerifier for Stapled {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &rustls_pki_types::ServerName<'_>,
        ocsp: &[u8],
        _: rustls_pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        *self.0.lock().unwrap() = ocsp.to_vec();
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

#[test]
fn staples_say_what_they_are_told_to() {
    use onrush_testsite::StapledStatus::{Good, Revoked, Unknown};
    // The status is the field after the serial number, a tag nothing else has here.
    for (status, tag) in [(Some(Good), 0x80), (Some(Revoked), 0xa1), (Some(Unknown), 0x82), (None, 0)] {
        let target = target_with(|options| {
            options.tls_listen = Some(([127, 0, 0, 1], 0).into());
            options.tls.staple = status;
        });
        let seen = Arc::new(Stapled(std::sync::Mutex::default()));
        let settings = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&seen) as _)
            .with_no_client_auth();
        assert_eq!(connect_with(&target, &Arc::new(settings)).get("/f/1").status, 200);
        let staple = seen.0.lock().unwrap().clone();
        assert_eq!(staple.is_empty(), status.is_none());
        if status.is_some() {
            assert_eq!(staple[0], 0x30);
            let length = usize::from(staple[2]) << 8 | usize::from(staple[3]);
            assert_eq!((staple[1], length), (0x82, staple.len() - 4));
            assert!(staple.contains(&tag));
        }
    }
}

#[test]
fn http2_is_agreed_on_unless_it_is_off() {
    for (http2, expect) in [(true, "h2"), (false, "http/1.1")] {
        let target = target_with(|options| {
            options.tls_listen = Some(([127, 0, 0, 1], 0).into());
            options.http2 = http2;
        });
        let mut client = connect_tls(&target, "localhost", &["h2", "http/1.1"]);
        client.stream.flush().unwrap();
        if http2 {
            client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
            let mut start = [0; 9];
            std::io::Read::read_exact(&mut client.stream, &mut start).unwrap();
            assert_eq!(start[3], 4, "settings come first");
        } else {
            assert_eq!(client.get("/f/1").status, 200);
        }
        assert_eq!(client.stream.conn.alpn_protocol(), Some(expect.as_bytes()));
    }
}
