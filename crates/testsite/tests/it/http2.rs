//! HTTP/2 in plain text, with the `h2` crate's client.

use std::{future::Future, time::Duration};

use bytes::Bytes;
use h2::client::{SendRequest, handshake};
use http::{HeaderMap, Request};
use onrush_testsite::TargetHandle;

use crate::client::{connect, target, target_with};

/// Runs a conversation on one connection.
fn converse<F: Future<Output = ()>>(target: &TargetHandle, talk: impl FnOnce(SendRequest<Bytes>) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(target.addr).await.unwrap();
        let (client, connection) = handshake(stream).await.unwrap();
        let driver = tokio::spawn(connection);
        tokio::time::timeout(Duration::from_secs(20), talk(client)).await.expect("it hangs");
        driver.abort();
    });
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
    trailers: Option<HeaderMap>,
}

impl Answer {
    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

async fn ask(client: &SendRequest<Bytes>, method: &str, path: &str, body: Option<Vec<u8>>) -> Answer {
    let mut client = client.clone().ready().await.unwrap();
    let request = Request::builder().method(method).uri(format!("http://test.example{path}")).header("x-one", "1");
    let (response, mut send) = client.send_request(request.body(()).unwrap(), body.is_none()).unwrap();
    if let Some(body) = body {
        let mut body = Bytes::from(body);
        while !body.is_empty() {
            send.reserve_capacity(body.len());
            let room = std::future::poll_fn(|cx| send.poll_capacity(cx)).await;
            // The server may have answered already.
            let Some(Ok(room)) = room else { break };
            let piece = body.split_to(room.min(body.len()));
            let last = body.is_empty();
            send.send_data(piece, last).unwrap();
        }
    }
    let (parts, mut receive) = response.await.unwrap().into_parts();
    let mut body = Vec::new();
    while let Some(data) = receive.data().await {
        let data = data.unwrap();
        body.extend_from_slice(&data);
        receive.flow_control().release_capacity(data.len()).unwrap();
    }
    let trailers = receive.trailers().await.unwrap();
    Answer { status: parts.status.as_u16(), headers: parts.headers, body, trailers }
}

#[test]
fn the_same_endpoints_answer() {
    let target = target();
    converse(&target, async |client| {
        let front = ask(&client, "GET", "/", None).await;
        assert_eq!((front.status, front.body.len()), (200, 11_278));
        assert_eq!(front.headers["content-length"], "11278");
        assert_eq!(front.headers["server"], "onrush-target");
        assert!(front.headers.contains_key("date"));
        let echo = ask(&client, "POST", "/post?a=1", Some(b"body".to_vec())).await.json();
        assert_eq!((&echo["data"], &echo["url"]), (&"body".into(), &"http://test.example/post?a=1".into()));
        assert_eq!(echo["headers"]["X-One"], "1");
        let head = ask(&client, "HEAD", "/f/100", None).await;
        assert_eq!((head.headers["content-length"].as_bytes(), head.body.len()), (b"100".as_slice(), 0));
        assert_eq!(ask(&client, "GET", "/status/204", None).await.status, 204);
        assert_eq!(ask(&client, "GET", "/nothing", None).await.status, 404);
        assert_eq!(ask(&client, "GET", "/encoded/gzip/1000", None).await.headers["content-encoding"], "gzip");
        assert_eq!(ask(&client, "GET", "/ntlm/u/p", None).await.status, 403);
        let page = ask(&client, "GET", "/connection", None).await.json();
        assert_eq!((&page["protocol"], &page["requests"]), (&"HTTP/2.0".into(), &8.into()));
    });
    assert_eq!(target.requests(), 8);
}

#[test]
fn large_bodies_both_ways() {
    let target = target();
    converse(&target, async |client| {
        let sent = ask(&client, "POST", "/upload", Some(vec![7; 3_000_000])).await;
        assert_eq!(sent.json()["received"], 3_000_000);
        assert_eq!(ask(&client, "GET", "/f/5000000", None).await.body.len(), 5_000_000);
        assert_eq!(ask(&client, "GET", "/f/1000000", None).await.body.len(), 1_000_000);
        assert_eq!(ask(&client, "GET", "/stream-bytes/700000", None).await.body.len(), 700_000);
    });
}

#[test]
fn streams_share_a_connection() {
    let target = target();
    converse(&target, async |client| {
        let slow = tokio::spawn({
            let client = client.clone();
            async move { ask(&client, "GET", "/f/3?delay_ms=150", None).await.body }
        });
        let mut many = Vec::new();
        for size in 0..100 {
            let client = client.clone();
            many.push(tokio::spawn(async move {
                let path = format!("/drip?numbytes=5&duration=0.01&delay=0.0{}", size % 3);
                ask(&client, "GET", &path, None).await.body.len()
                    + ask(&client, "GET", &format!("/f/{size}"), None).await.body.len()
            }));
        }
        for (size, answer) in many.into_iter().enumerate() {
            assert_eq!(answer.await.unwrap(), size + 5);
        }
        assert_eq!(slow.await.unwrap(), b"xxx");
    });
    assert!(target.stats_json().contains("\"accepted\":1,"));
}

#[test]
fn trailers_and_limits() {
    let target = target_with(|options| options.limits.body_bytes_max = 1000);
    converse(&target, async |client| {
        let answer = ask(&client, "GET", "/respond?body=hello&trailer=X-T:1&interim=103", None).await;
        assert_eq!(answer.body, b"hello");
        assert_eq!(answer.trailers.unwrap()["x-t"], "1");
        assert_eq!(ask(&client, "POST", "/upload", Some(vec![0; 5000])).await.status, 413);
        let long = format!("/f/1?{}", "x".repeat(9000));
        assert_eq!(ask(&client, "GET", &long, None).await.status, 414);
        assert_eq!(ask(&client, "GET", "/f/1", None).await.status, 200);
    });
}

#[test]
fn dropped_streams_and_connections_leave_nothing() {
    let target = target();
    converse(&target, async |client| {
        for _ in 0..50 {
            let mut client = client.clone().ready().await.unwrap();
            let request = Request::get("http://a/f/9000000").body(()).unwrap();
            drop(client.send_request(request, true).unwrap());
        }
        assert_eq!(ask(&client, "GET", "/f/1", None).await.status, 200);
    });
    for _ in 0..2000 {
        if target.connections_open() == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("connections stay open");
}

#[test]
fn nonsense_ends_the_connection_and_http1_goes_on() {
    let target = target();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for rest in
        [b"garbage that is no frame at all".as_slice(), &[0xff; 64], b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x09\x09\0\0\0\0\0"]
    {
        let mut client = connect(target.addr);
        client.send(&[preface.as_slice(), rest].concat());
        while !client.is_closed() {
            // A goodbye may come first.
            if client.text().contains('\u{7}') {
                break;
            }
        }
    }
    // A preface in single bytes, then nothing; and one that turns out to be another method.
    let mut slow = connect(target.addr);
    for byte in preface {
        slow.send(&[*byte]);
    }
    let mut post = connect(target.addr);
    post.send(b"P");
    post.send(b"ATCH /patch HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(post.response().status, 200);
    let mut trace = connect(target.addr);
    trace.send(b"PRI");
    trace.send(b"NT / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(trace.response().status, 405);
    let off = target_with(|options| options.http2 = false);
    let mut client = connect(off.addr);
    client.send(preface);
    assert_eq!(client.response().status, 505);
}

#[test]
fn faults_are_a_streams() {
    let target = target();
    converse(&target, async |client| {
        for (path, bytes) in [("/fault/reset", None), ("/fault/reset?in=body&at=5", Some(5))] {
            let mut client = client.clone().ready().await.unwrap();
            let request = Request::get(format!("http://a{path}")).body(()).unwrap();
            let (response, _) = client.send_request(request, true).unwrap();
            let error = match (response.await, bytes) {
                (Err(error), None) => error,
                (Ok(response), Some(bytes)) => {
                    let mut body = response.into_body();
                    assert_eq!(body.data().await.unwrap().unwrap().len(), bytes);
                    body.data().await.unwrap().unwrap_err()
                }
                _ => panic!("{path}"),
            };
            assert_eq!(error.reason(), Some(h2::Reason::INTERNAL_ERROR), "{path}");
        }
        assert_eq!(ask(&client, "GET", "/fault/slow?bytes=4&in=body&every=0.001", None).await.body, b"xxxx");
        assert_eq!(ask(&client, "GET", "/fault/twice", None).await.status, 400);
        let mut last = client.clone().ready().await.unwrap();
        let request = Request::get("http://a/fault/close").body(()).unwrap();
        assert!(last.send_request(request, true).unwrap().0.await.is_err());
    });
}
