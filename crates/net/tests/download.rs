//! Responses that are read as they arrive.

#[path = "support/http2.rs"]
mod server;
mod support;

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};
use onrush_net::{Body, ClientOptions, Connections, Download, Failure, Proto, Request, Response, Url};
use server::Http2Server;
use support::{PLENTY, get, on_fiber};

type Begun = Result<(Box<Response>, Box<Download>), Box<Failure>>;

fn download(connections: &Connections, method: &str, url: &str, body: &Body) -> Begun {
    let url = Url::parse(url).expect("a URL");
    let request = Request {
        method,
        url: &url,
        head: b"X-Test: 1\r\n",
        host: None,
        body,
        user_agent: Some("test"),
        is_http1: false,
    };
    connections.download(&request, Clock::now(), soon(PLENTY))
}

fn soon(time: Duration) -> Option<Nanos> {
    Some(Clock::now() + time)
}

/// All that is left of a body.
fn rest(download: &mut Download) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        match download.read(&mut body, soon(PLENTY)) {
            Ok(true) => {}
            Ok(false) => return Ok(body),
            Err(error) => return Err(format!("{}|{}", String::from_utf8_lossy(&body), error.message)),
        }
    }
}

/// A server that writes what it is told, when it is told; an empty piece closes. It reads one request for each `None`.
struct Scripted {
    url: String,
    tell: Sender<Option<Vec<u8>>>,
    accepted: Receiver<()>,
}

impl Scripted {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("bound"));
        let (tell, told) = channel::<Option<Vec<u8>>>();
        let (accept, accepted) = channel();
        std::thread::spawn(move || {
            let mut stream: Option<TcpStream> = None;
            for step in told {
                let peer = stream.get_or_insert_with(|| {
                    let _ = accept.send(());
                    listener.accept().expect("a client").0
                });
                match step {
                    None => read_head(peer),
                    Some(bytes) if bytes.is_empty() => stream = None,
                    Some(bytes) => drop(peer.write_all(&bytes)),
                }
            }
        });
        Self { url, tell, accepted }
    }

    fn says(&self, text: &str) {
        self.tell.send(Some(text.as_bytes().to_vec())).expect("it listens");
    }

    fn reads(&self) {
        self.tell.send(None).expect("it listens");
    }

    fn closes(&self) {
        self.says("");
    }
}

fn read_head(peer: &mut TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && peer.read(&mut byte).is_ok_and(|count| count > 0) {
        head.push(byte[0]);
    }
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn pieces_are_there_before_the_end() {
    let server = Scripted::start();
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        server.reads();
        server.says(&format!("{CHUNKED}3\r\none\r\n"));
        let (response, mut download) = get_stream(&connections, &server.url);
        assert_eq!((response.status, response.body.len()), (200, 0));
        let mut body = Vec::new();
        assert_eq!(download.read(&mut body, soon(PLENTY)), Ok(true));
        assert_eq!(body, b"one");
        // Nothing more is there: a wait can end and be taken up again.
        let waited = download.read(&mut body, soon(Duration::from_millis(20)));
        assert_eq!(waited.map_err(|error| error.message), Err("request timeout".to_owned()));
        server.says("3\r\ntwo\r\n");
        assert_eq!(download.read(&mut body, soon(PLENTY)), Ok(true));
        assert_eq!(body, b"onetwo");
        server.says("0\r\n\r\n");
        assert_eq!(download.read(&mut body, soon(PLENTY)), Ok(false));
        assert_eq!(download.read(&mut body, soon(PLENTY)), Ok(false));
        assert!(download.timings().receiving > 0.0);
        download.finish(&connections);
        assert_eq!(connections.idle_count(), 1);
        // The connection carries another request.
        server.reads();
        server.says("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
        let (response, mut download) = get_stream(&connections, &server.url);
        assert!(response.reused);
        assert_eq!(rest(&mut download).unwrap(), b"abc");
        download.finish(&connections);
        assert_eq!((connections.idle_count(), server.accepted.try_iter().count()), (1, 1));
    });
}

fn get_stream(connections: &Connections, url: &str) -> (Box<Response>, Box<Download>) {
    download(connections, "GET", url, &Body::None).expect("an answer")
}

#[test]
fn a_download_that_is_given_up_closes_its_connection() {
    let server = Scripted::start();
    on_fiber(ClientOptions::default(), move |shared| {
        let connections = Connections::new(shared);
        server.reads();
        server.says(&format!("{CHUNKED}3\r\none\r\n"));
        let (_, download) = get_stream(&connections, &server.url);
        download.finish(&connections);
        assert_eq!(connections.idle_count(), 0);
    });
}

#[test]
fn hostile_bodies_end() {
    let check = |says: &str, outcome: Result<&str, &str>| {
        let server = Scripted::start();
        let says = says.to_owned();
        let seen = on_fiber(ClientOptions::default(), move |shared| {
            let connections = Connections::new(shared);
            server.reads();
            server.says(&says);
            server.closes();
            let seen = match download(&connections, "GET", &server.url, &Body::None) {
                Ok((_, mut download)) => {
                    let seen = rest(&mut download);
                    download.finish(&connections);
                    seen
                }
                Err(failure) => Err(failure.error.message),
            };
            assert_eq!(connections.idle_count(), 0);
            seen
        });
        let seen = seen.map(|body| String::from_utf8_lossy(&body).into_owned());
        assert_eq!(seen.as_deref().map_err(String::as_str), outcome);
    };
    let length = |bytes: u64, body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n{body}");
    check("HTTP/1.1 200 OK\r\n\r\nuntil the end", Ok("until the end"));
    check(&format!("{CHUNKED}3\r\none\r\n"), Err("one|unexpected EOF"));
    check(&format!("{CHUNKED}3\r\none\r\nzz\r\n"), Err("one|invalid byte in chunk length"));
    check(&format!("{CHUNKED}fffffffffffffffff\r\n"), Err("|http chunk length too large"));
    check(&format!("{CHUNKED}ffffffffffffffff\r\nx"), Err("x|unexpected EOF"));
    check(&length(10, "abc"), Err("abc|unexpected EOF"));
    check(&length(9_000_000_000_000, "abc"), Err("abc|unexpected EOF"));
    check(&length(3, "abcdef"), Ok("abc"));
    check("HTTP/1.1 204 No Content\r\n\r\nnothing", Ok(""));
    check("not HTTP at all\r\n\r\n", Err("malformed HTTP status code \"HTTP\""));
    check("HTTP/1.1 200 OK\r\nContent-Le", Err("malformed MIME header: missing colon: \"Content-Le\""));
    check("", Err("EOF"));
}

#[test]
fn streams_of_http2() {
    let server = Http2Server::start(100);
    let base = server.url("");
    let url = move |path: &str| format!("{base}{path}");
    let options = ClientOptions { http2_prior_knowledge: true, ..ClientOptions::default() };
    on_fiber(options, move |shared| {
        let connections = Connections::new(shared);
        let (response, mut whole) = get_stream(&connections, &url("/bytes?1000000"));
        assert_eq!((response.status, response.proto), (200, Proto::Http2));
        assert_eq!(rest(&mut whole).unwrap().len(), 1_000_000);
        assert_eq!(whole.body_len(), 1_000_000);
        whole.finish(&connections);
        // One that is given up does not disturb what else goes over its connection.
        let (_, mut given_up) = get_stream(&connections, &url("/bytes?9000000"));
        assert_eq!(given_up.read(&mut Vec::new(), soon(PLENTY)), Ok(true));
        let meanwhile = get(&connections, &url("/bytes?10")).expect("an answer");
        assert!(meanwhile.reused);
        given_up.finish(&connections);
        let (response, mut echo) =
            download(&connections, "POST", &url("/echo"), &Body::Bytes("body".into())).expect("an answer");
        assert!(response.reused);
        let text = String::from_utf8(rest(&mut echo).unwrap()).expect("text");
        assert!(text.contains("content-length: 4"), "{text}");
    });
    assert_eq!(server.accepted(), 1);
}
