//! TLS against a correct server: versions, trust, client certificates, reuse.

mod support;

use std::rc::Rc;

use onrush_net::{BodyMode, ClientAuth, ClientOptions, Connections, OcspStatus, TlsOptions, TlsVersion};
use onrush_testkit::{CertificateAuthority, GoodServer, Incoming, Reply, cases::mask, staple};
use support::{get, on_fiber, post, send};

fn echo(request: &Incoming) -> Reply {
    Reply::text(request.body.clone())
}

fn trusting(authority: &CertificateAuthority) -> TlsOptions {
    TlsOptions { extra_roots_pem: Some(authority.pem().to_owned()), ..TlsOptions::default() }
}

fn with(tls: TlsOptions) -> ClientOptions {
    ClientOptions { tls, hosts: vec![("*.test".into(), "127.0.0.1".into())], ..ClientOptions::default() }
}

#[test]
fn requests_over_tls_reuse_their_connection() {
    let authority = CertificateAuthority::new();
    for (versions, version) in [(&[&rustls::version::TLS12], "tls1.2"), (&[&rustls::version::TLS13], "tls1.3")] {
        let server =
            Rc::new(GoodServer::start_tls(authority.identity(&["a.test"]).server_with_versions(versions), echo));
        let url = server.url_at("a.test", "/");
        on_fiber(with(trusting(&authority)), move |shared| {
            let connections = Connections::new(shared);
            for (number, size) in [0, 10, 20_000, 400_000, 5].into_iter().enumerate() {
                let body: Vec<u8> = (0..size).map(|at: u32| (at % 251) as u8).collect();
                let response = if size == 0 { get(&connections, &url) } else { post(&connections, &url, body.clone()) };
                let response = response.unwrap();
                assert!(response.body == body);
                assert_eq!(response.reused, number > 0);
                let info = response.tls.unwrap();
                assert_eq!(info.version, version);
                assert!(info.cipher.starts_with("TLS_"), "{}", info.cipher);
                assert_eq!(response.timings.tls_handshaking > 0.0, number == 0);
            }
        });
        assert_eq!(server.accepted(), 1);
    }
}

#[test]
fn trust() {
    let authority = CertificateAuthority::new();
    let check = |identity: onrush_testkit::Identity, tls: TlsOptions, expect: Option<(u16, &str)>| {
        let server = GoodServer::start_tls(identity.server(), echo);
        let url = server.url_at("a.test", "/");
        let outcome = on_fiber(with(tls), move |shared| get(&Connections::new(shared), &url));
        let got =
            outcome.as_ref().map_or_else(|failure| Some((failure.error.code, mask(&failure.error.message))), |_| None);
        assert_eq!(got, expect.map(|(code, message)| (code, message.to_owned())));
    };
    let skip = TlsOptions { insecure_skip_verify: true, ..TlsOptions::default() };
    check(authority.identity(&["a.test"]), trusting(&authority), None);
    check(authority.identity(&["*.test", "a.test"]), trusting(&authority), None);
    check(
        authority.identity(&["a.test"]),
        trusting(&CertificateAuthority::new()),
        Some((1310, "x509: unknown authority")),
    );
    check(
        authority.identity(&["b.test"]),
        trusting(&authority),
        Some((1311, "x509: certificate doesn't match hostname")),
    );
    check(
        authority.expired_identity(&["a.test"]),
        trusting(&authority),
        Some((
            1000,
            "x509: certificate has expired or is not yet valid: current time NOW is after 2020-01-01T00:00:00Z",
        )),
    );
    check(authority.expired_identity(&["b.test"]), skip, None);
}

#[test]
fn version_and_cipher_options_are_kept() {
    let authority = CertificateAuthority::new();
    let server = GoodServer::start_tls(authority.identity(&["a.test"]).server(), echo);
    let check = |change: fn(&mut TlsOptions), version: &'static str, cipher: Option<&'static str>| {
        let url = server.url_at("a.test", "/");
        let mut tls = trusting(&authority);
        change(&mut tls);
        let info = on_fiber(with(tls), move |shared| get(&Connections::new(shared), &url)).unwrap().tls.unwrap();
        assert_eq!(info.version, version);
        assert!(cipher.is_none_or(|cipher| cipher == info.cipher), "{}", info.cipher);
    };
    check(|_| (), "tls1.3", None);
    check(|tls| tls.version_max = Some(TlsVersion::Tls12), "tls1.2", None);
    check(
        |tls| {
            tls.version_max = Some(TlsVersion::Tls12);
            tls.cipher_suites = vec!["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256".into()];
        },
        "tls1.2",
        Some("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
    );
}

#[test]
fn client_certificates_by_domain() {
    let authority = CertificateAuthority::new();
    let server =
        GoodServer::start_tls(authority.server_with_client_auth(&authority.identity(&["a.test", "b.test"])), echo);
    let identity = authority.identity(&["client.test"]);
    let auth = ClientAuth {
        cert_pem: identity.cert_pem.clone(),
        key_pem: identity.key_pem,
        password: String::new(),
        domains: vec!["a.test".into()],
    };
    let tls = TlsOptions { auth: vec![auth], ..trusting(&authority) };
    let (with_cert, without) = (server.url_at("a.test", "/"), server.url_at("b.test", "/"));
    on_fiber(with(tls), move |shared| {
        let connections = Connections::new(shared);
        assert_eq!(get(&connections, &with_cert).unwrap().status, 200);
        let failure = get(&connections, &without).unwrap_err();
        assert_eq!(
            (failure.error.code, failure.error.message.as_str()),
            (1010, "remote error: tls: certificate required")
        );
    });
}

#[test]
fn a_discarded_body_over_tls() {
    let authority = CertificateAuthority::new();
    let server = GoodServer::start_tls(authority.identity(&["a.test"]).server(), |_| {
        Reply::text(vec![b'x'; 200_000]).chunked(7_000)
    });
    let url = server.url_at("a.test", "/");
    on_fiber(with(trusting(&authority)), move |shared| {
        let connections = Connections::new(shared);
        for _ in 0..2 {
            let response =
                send(&connections, "GET", &url, onrush_net::Body::None, BodyMode::Discard, support::PLENTY).unwrap();
            assert_eq!((response.body.len(), response.body_len), (0, 200_000));
        }
        assert_eq!(connections.idle_count(), 1);
    });
}

#[test]
fn each_memory_resumes_its_own_sessions() {
    let authority = CertificateAuthority::new();
    // This server knows no tickets of TLS 1.2: it goes by the ids of sessions.
    for versions in [&[&rustls::version::TLS12], &[&rustls::version::TLS13]] {
        let check = |resumption: bool, expect: [bool; 4]| {
            let server = GoodServer::start_tls(authority.identity(&["a.test"]).server_with_versions(versions), echo);
            let url = server.url_at("a.test", "/");
            let tls = TlsOptions { resumption, ..trusting(&authority) };
            let options = ClientOptions { no_connection_reuse: true, ..with(tls) };
            let got = on_fiber(options, move |shared| {
                let (one, other) = (Connections::new(Rc::clone(&shared)), Connections::new(shared));
                [&one, &one, &other, &one].map(|vu| get(vu, &url).unwrap().tls.unwrap().is_resumed)
            });
            assert_eq!(got, expect, "{versions:?}");
        };
        check(true, [false, true, false, true]);
        check(false, [false; 4]);
    }
}

#[test]
fn what_is_stapled_is_known_of_every_response_of_its_connection() {
    let authority = CertificateAuthority::new();
    for versions in [&[&rustls::version::TLS12], &[&rustls::version::TLS13]] {
        let stapled = authority.identity(&["a.test"]).server_with_staple(staple("reason-1").unwrap(), versions);
        let (stapling, other) = (GoodServer::start_tls(stapled, echo), authority.identity(&["b.test"]).server());
        let other = GoodServer::start_tls(other, echo);
        let (url, other_url) = (stapling.url_at("a.test", "/"), other.url_at("b.test", "/"));
        on_fiber(with(trusting(&authority)), move |shared| {
            let connections = Connections::new(shared);
            let ocsp = |url: &str| get(&connections, url).unwrap().tls.unwrap().ocsp.map(|ocsp| ocsp.status);
            let revoked = Some(OcspStatus::Revoked { at: 1_699_701_071, reason: 1 });
            assert_eq!([ocsp(&url), ocsp(&other_url), ocsp(&url)], [revoked, None, revoked]);
        });
    }
}
