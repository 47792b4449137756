//! Where connections go and where they come from: Unix domain sockets, local addresses.

mod support;

use std::{
    io::{Read, Write},
    os::unix::net::UnixListener,
};

use onrush_net::{ClientOptions, Connections, ProxyOptions};
use onrush_testkit::{GoodServer, Reply};
use support::{get, on_fiber};

#[test]
fn a_unix_domain_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heads = String::new();
        let mut buffer = [0; 4096];
        loop {
            let count = stream.read(&mut buffer).unwrap();
            if count == 0 {
                return heads;
            }
            heads.push_str(&String::from_utf8_lossy(&buffer[..count]));
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").unwrap();
        }
    });
    let target = format!("unix:{}", path.display());
    let gone = format!("unix:{}/gone.sock", folder.path().display());
    let options = ClientOptions {
        hosts: vec![("app.invalid".into(), target), ("gone.invalid".into(), gone.clone())],
        // What is local needs no proxy.
        proxies: ProxyOptions { http: "127.0.0.1:1".into(), ..ProxyOptions::default() },
        ..ClientOptions::default()
    };
    on_fiber(options, move |shared| {
        let connections = Connections::new(shared);
        for number in 0..2 {
            let response = get(&connections, "http://app.invalid:8080/x").unwrap();
            assert_eq!((&response.body[..], response.reused), (&b"hi"[..], number > 0));
            assert_eq!(response.remote.port(), 0);
        }
        let failure = get(&connections, "http://gone.invalid/").unwrap_err();
        assert_eq!((failure.error.code, failure.error.message.as_str()), (1210, "dial: no such file or directory"));
        assert_eq!(
            failure.error.detail,
            format!("dial unix {}: connect: no such file or directory", &gone["unix:".len()..])
        );
    });
    let heads = thread.join().unwrap();
    assert!(heads.starts_with("GET /x HTTP/1.1\r\nHost: app.invalid:8080\r\n"), "{heads}");
}

#[test]
fn connections_come_from_the_address_they_are_told() {
    let server = GoodServer::start(|_| Reply::text("hi"));
    let url = server.url("/");
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        let from = |ip: &str| {
            connections.close_idle();
            connections.set_local_ip(Some(ip.parse().unwrap()));
            get(&connections, &url).map_err(|failure| (failure.error.code, failure.error.detail))
        };
        assert!(from("127.0.0.7").is_ok());
        let (code, detail) = from("192.0.2.1").unwrap_err();
        assert_eq!(code, 1213);
        assert!(detail.ends_with(
            "cannot assign requested address (192.0.2.1 of localIPs is no address of this machine, or has no source port \
             left: give more addresses)"
        ), "{detail}");
        let (code, detail) = from("::1").unwrap_err();
        assert_eq!(code, 1210);
        assert!(detail.ends_with("of another family)"), "{detail}");
    });
}
