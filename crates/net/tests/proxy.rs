//! Requests through proxies, good and hostile. Names are made up: the proxy is who resolves them.

mod support;

use std::time::Duration;

use onrush_net::{Body, BodyMode, ClientOptions, Connections, ProxyOptions, TlsOptions};
use onrush_testkit::{Behaviour, CertificateAuthority, End, GoodProxy, GoodServer, HostileServer, Reply};
use support::{PLENTY, get, on_fiber, send};

fn through(proxy: &str) -> ClientOptions {
    let proxies = ProxyOptions { http: proxy.to_owned(), https: proxy.to_owned(), ..ProxyOptions::default() };
    ClientOptions { proxies, ..ClientOptions::default() }
}

#[test]
fn plain_requests_are_forwarded_over_one_connection() {
    let server = GoodServer::start(|request| Reply::text(request.raw_head.clone()));
    let proxy = GoodProxy::start(server.addr());
    let options = through(&format!("us%40r:p:w@{}", proxy.addr()));
    let (proxy_at, authorization) = (proxy.addr(), "Proxy-Authorization: Basic dXNAcjpwOnc=\r\n");
    on_fiber(options, move |shared| {
        let connections = Connections::new(shared);
        let first = get(&connections, "http://a.invalid:81/x?y=1").unwrap();
        let body = String::from_utf8_lossy(&first.body).into_owned();
        assert!(body.starts_with("GET http://a.invalid:81/x?y=1 HTTP/1.1\r\nHost: a.invalid:81\r\n"), "{body}");
        assert!(body.contains(authorization), "{body}");
        assert_eq!((first.remote, first.reused), (proxy_at, false));
        assert!(first.timings.connecting > 0.0);
        get(&connections, "http://a.invalid/").unwrap()
    });
    assert_eq!(proxy.heads().len(), 2);
}

#[test]
fn https_goes_through_tunnels() {
    let authority = CertificateAuthority::new();
    let server = GoodServer::start_tls(authority.identity(&["a.invalid"]).server(), |_| Reply::text("hi"));
    let proxy = GoodProxy::start(server.addr());
    for (scheme, user, expect) in [
        ("http", "", "CONNECT a.invalid:443 HTTP/1.1\r\nHost: a.invalid:443\r\nUser-Agent: Onrush\r\n\r\n"),
        (
            "http",
            "u:p@",
            "CONNECT a.invalid:443 HTTP/1.1\r\nHost: a.invalid:443\r\nUser-Agent: Onrush\r\n\
             Proxy-Authorization: Basic dTpw\r\n\r\n",
        ),
        ("socks5", "", "socks a.invalid:443"),
        ("socks5h", "u:p@", "socks a.invalid:443 as u:p"),
    ] {
        let tls = TlsOptions { extra_roots_pem: Some(authority.pem().to_owned()), ..TlsOptions::default() };
        let options = ClientOptions { tls, ..through(&format!("{scheme}://{user}{}", proxy.addr())) };
        let at = proxy.addr();
        on_fiber(options, move |shared| {
            let connections = Connections::new(shared);
            for number in 0..2 {
                let response = get(&connections, "https://a.invalid/x").unwrap();
                assert_eq!((&response.body[..], response.remote), (&b"hi"[..], at));
                assert_eq!((response.reused, response.timings.tls_handshaking > 0.0), (number > 0, number == 0));
            }
        });
        assert_eq!(proxy.heads().last().map(String::as_str), Some(expect));
    }
}

#[test]
fn tls_inside_tls() {
    let authority = CertificateAuthority::new();
    let server =
        GoodServer::start_tls(authority.identity(&["a.invalid"]).server(), |request| Reply::text(request.body.clone()));
    let proxy = GoodProxy::start(server.addr());
    // TLS towards the proxy, ended by a server that hands what is inside on.
    let front = TlsFront::start(&authority, proxy.addr());
    let tls = TlsOptions { extra_roots_pem: Some(authority.pem().to_owned()), ..TlsOptions::default() };
    let options = ClientOptions {
        tls,
        hosts: vec![("front.test".into(), "127.0.0.1".into())],
        ..through(&format!("https://front.test:{}", front.port))
    };
    on_fiber(options, move |shared| {
        let connections = Connections::new(shared);
        for size in [10_usize, 300_000, 5] {
            let body: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let response = support::post(&connections, "https://a.invalid/", body.clone()).unwrap();
            assert!(response.body == body);
        }
    });
    assert_eq!(proxy.accepted(), 1);
}

/// Takes one TLS connection and pumps its plaintext to an address.
struct TlsFront {
    port: u16,
}

impl TlsFront {
    fn start(authority: &CertificateAuthority, target: std::net::SocketAddr) -> Self {
        use std::io::{Read, Write};
        let config = authority.identity(&["front.test"]).server();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut inner = std::net::TcpStream::connect(target).unwrap();
            let mut tls = rustls::ServerConnection::new(config).unwrap();
            client.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
            inner.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
            let mut buffer = vec![0; 64 << 10];
            loop {
                match tls.read_tls(&mut client) {
                    Ok(0) => return,
                    Ok(_) => {
                        tls.process_new_packets().unwrap();
                        while let Ok(count @ 1..) = tls.reader().read(&mut buffer) {
                            inner.write_all(&buffer[..count]).unwrap();
                        }
                    }
                    Err(_) => {}
                }
                match inner.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => tls.writer().write_all(&buffer[..count]).unwrap(),
                    Err(_) => {}
                }
                while tls.wants_write() {
                    tls.write_tls(&mut client).unwrap();
                }
            }
        });
        Self { port }
    }
}

fn fails(behaviour: Behaviour, scheme: &str, url: &'static str, limit: Duration) -> (u16, String) {
    let proxy = HostileServer::start(behaviour);
    let at = proxy.addr().to_string();
    let failure = on_fiber(through(&format!("{scheme}://{at}")), move |shared| {
        let connections = Connections::new(shared);
        let failure =
            send(&connections, "GET", url, Body::None, BodyMode::Keep, limit).expect_err("the proxy is hostile");
        assert_eq!(connections.idle_count(), 0);
        failure
    });
    (failure.error.code, failure.error.message.replace(&at, "PROXY"))
}

#[test]
fn http_proxies_that_refuse_or_misbehave() {
    let say = |text: &str| Behaviour::Say(text.as_bytes().to_vec(), End::Close);
    let check = |behaviour: Behaviour, code: u16, expect: &str| {
        let got = fails(behaviour.clone(), "http", "https://a.invalid/", Duration::from_secs(5));
        assert_eq!((got.0, got.1.as_str()), (code, expect), "{behaviour:?}");
    };
    check(
        say("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"),
        1000,
        "Proxy Authentication Required",
    );
    check(say("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 9\r\n\r\ntoo bad"), 1000, "Bad Gateway");
    check(say("HTTP/1.1 201 Created\r\n\r\n"), 1000, "Created");
    check(say("HTTP/1.1 403 \r\n\r\n"), 1000, "proxy answered CONNECT with status 403");
    check(say("HTTP garbage\r\n\r\n"), 1000, "malformed HTTP status code \"garbage\"");
    check(say("HTTP/1.1"), 1000, "malformed HTTP response \"HTTP/1.1\"");
    check(say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), 1000, "EOF");
    check(say(""), 1000, "EOF");
    check(Behaviour::EndlessHead, 1000, "net/http: server response headers exceeded 262144 bytes; aborted");
    check(Behaviour::HugeHeader(400_000), 1000, "net/http: server response headers exceeded 262144 bytes; aborted");
    let timeout = (1050, "request timeout".to_owned());
    let slow = Behaviour::SlowHead { every: Duration::from_millis(10) };
    for behaviour in [Behaviour::Hang, slow] {
        assert_eq!(fails(behaviour, "http", "https://a.invalid/", Duration::from_millis(100)), timeout);
    }
    assert_eq!(fails(Behaviour::Hang, "https", "http://a.invalid/", Duration::from_millis(100)), timeout);
    let plain = fails(Behaviour::TlsPlainText, "https", "http://a.invalid/", PLENTY);
    assert_eq!(plain, (1200, "proxyconnect tcp: http: server gave HTTP response to HTTPS client".to_owned()));
}

#[test]
fn socks_proxies_that_refuse_or_misbehave() {
    let check = |answers: &'static [&'static [u8]], user: &'static str, expect: &str| {
        let (port, thread) = scripted(answers);
        let failure = on_fiber(through(&format!("socks5://{user}127.0.0.1:{port}")), move |shared| {
            get(&Connections::new(shared), "http://a.invalid/").unwrap_err()
        });
        thread.join().unwrap();
        let expect = format!("socks connect tcp 127.0.0.1:{port}->a.invalid:80: {expect}");
        assert_eq!((failure.error.code, failure.error.message), (1200, expect));
        assert!(failure.timings.connecting > 0.0);
    };
    check(&[&[5, 0xff]], "", "no acceptable authentication methods");
    check(&[&[5, 1]], "", "unsupported authentication method 1");
    check(&[&[5, 2]], "", "unsupported authentication method 2");
    check(&[&[4, 0]], "", "unexpected protocol version 4");
    check(&[&[5, 2], &[1, 1]], "u:p@", "username/password authentication failed");
    check(&[&[5, 2], &[2, 0]], "u:p@", "invalid username/password version");
    check(&[&[5, 2]], "u:@", "invalid username/password");
    check(&[&[5, 0], &[5, 1, 0, 1]], "", "unknown error general SOCKS server failure");
    check(&[&[5, 0], &[5, 5, 0, 1]], "", "unknown error connection refused");
    check(&[&[5, 0], &[5, 9, 0, 1]], "", "unknown error unknown code: 9");
    check(&[&[5, 0], &[4, 0, 0, 1]], "", "unexpected protocol version 4");
    check(&[&[5, 0], &[5, 0, 1, 1]], "", "non-zero reserved field");
    check(&[&[5, 0], &[5, 0, 0, 9]], "", "unknown address type 9");
    check(&[&[5, 0], &[5, 0]], "", "unexpected EOF");
    check(&[&[5, 0], &[]], "", "EOF");
    assert_eq!(fails(Behaviour::Hang, "socks5", "http://a.invalid/", Duration::from_millis(80)).0, 1050);
}

/// A server that answers each thing it reads with the next of these, then closes.
fn scripted(answers: &'static [&'static [u8]]) -> (u16, std::thread::JoinHandle<()>) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        for answer in answers {
            let count = client.read(&mut [0; 512]).unwrap_or(0);
            if count == 0 || client.write_all(answer).is_err() {
                return;
            }
        }
    });
    (port, thread)
}

#[test]
fn a_proxy_that_cannot_be_reached() {
    let check = |change: fn(&mut ClientOptions), expect: &str| {
        let mut options = through("http://p.test:1");
        options.hosts.push(("p.test".into(), "127.0.0.1".into()));
        change(&mut options);
        let failure = on_fiber(options, |shared| get(&Connections::new(shared), "http://a.invalid/").unwrap_err());
        assert_eq!((failure.error.code, failure.error.message.as_str()), (1200, expect));
    };
    check(|_| (), "proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused");
    check(
        |options| options.blacklist_ips.push("127.0.0.0/8".into()),
        "proxyconnect tcp: IP (127.0.0.1) is in a blacklisted range (127.0.0.0/8)",
    );
    check(
        |options| options.block_hostnames.push("*.test".into()),
        "proxyconnect tcp: hostname (p.test) is in a blocked pattern (*.test)",
    );
}
