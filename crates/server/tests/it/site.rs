//! Pages, streams and reports beside the REST API, and clients that mean no good.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use onrush_server::{Bell, Chunk, Page, Reader, Site, Source};

use crate::*;

/// Numbers as events, as many as there are so far.
#[derive(Default)]
struct Numbers {
    count: AtomicUsize,
    /// Each takes so much.
    padding: usize,
    is_over: AtomicBool,
    opened: Mutex<Vec<Option<String>>>,
}

#[derive(Clone, Default)]
struct Run(Arc<Numbers>);

struct Client {
    run: Run,
    next: usize,
}

impl Source for Run {
    fn open(&self, last_id: Option<&str>) -> Box<dyn Reader> {
        self.0.opened.lock().expect("no panic").push(last_id.map(str::to_owned));
        let next = last_id.and_then(|id| id.parse::<usize>().ok()).map_or(0, |id| id + 1);
        Box::new(Client { run: self.clone(), next })
    }

    fn report(&self, summary: serde_json::Value) -> String {
        format!("<html>{summary}")
    }
}

impl Reader for Client {
    fn next(&mut self) -> Chunk {
        let count = self.run.0.count.load(Ordering::Relaxed);
        if self.next >= count {
            return Chunk { text: String::new(), is_over: self.run.0.is_over.load(Ordering::Relaxed) };
        }
        let text = format!("id: {}\ndata: {}\n\n", self.next, "x".repeat(self.run.0.padding));
        self.next += 1;
        Chunk { text, is_over: false }
    }
}

const PAGE: Page = Page { path: "/", media_type: "text/html; charset=utf-8", content: b"<h1>page" };

fn start(token: Option<&str>, run: &Run) -> (Api, Bell, Server) {
    let bell = Bell::default();
    let site = Site::new(Arc::new(run.clone()), bell.clone()).with_pages(vec![PAGE], "default-src 'none'", "sandbox");
    let address = Address::parse("127.0.0.1:0").expect("valid");
    let listener = Listener::bind(&address, token.map(str::to_owned), None).expect("a free port");
    let address = listener.address;
    let answer = |call: Call| {
        let reply = match &call.request {
            Request::Summary => Reply::ok(serde_json::json!({"a": 1})),
            request => status(request),
        };
        call.answer(reply);
    };
    let server = Server::with_site(listener, Some(site), answer).expect("a thread");
    // The helper's own server is another one.
    let mut api = Api::start(None, status);
    api.address = address;
    (api, bell, server)
}

fn open(api: &Api, headers: &str) -> TcpStream {
    let mut stream = api.connect();
    write!(stream, "GET /events HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", api.address).expect("it reads");
    stream
}

/// Reads until `text` has come.
fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&all).contains(text) {
        let read = stream.read(&mut buffer).expect("something comes");
        assert!(read > 0, "it ended: {}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&buffer[..read]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn pages_come_with_their_policy_and_without_a_token() {
    let (api, _bell, _server) = start(Some("0123456789abcdef"), &Run::default());
    let request = |path: &str, headers: &str| {
        api.raw(
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", api.address).as_bytes(),
        )
    };
    let page = request("/", "");
    assert!(page.starts_with("HTTP/1.1 200") && page.ends_with("<h1>page"), "{page}");
    for header in
        ["content-security-policy: default-src 'none'", "x-content-type-options: nosniff", "cache-control: no-store"]
    {
        assert!(page.contains(header), "{header}: {page}");
    }
    let packed = request("/", "Accept-Encoding: gzip, br\r\n");
    assert!(packed.contains("content-encoding: gzip") && !packed.contains("<h1>page"), "{packed}");
    // Whatever is of the run needs it.
    for path in ["/events", "/report", "/v1/stream", "/v1/status"] {
        assert!(request(path, "").starts_with("HTTP/1.1 401"), "{path}");
    }
    let token = "Authorization: Bearer 0123456789abcdef\r\n";
    assert!(request("/report", token).contains("content-security-policy: sandbox"));
    assert!(request("/report", token).ends_with("<html>{\"a\":1}"));
    for headers in ["Origin: http://evil.example\r\n", "Origin: null\r\n"] {
        assert!(request("/", headers).starts_with("HTTP/1.1 403"), "{headers}");
    }
}

/// What looks whether a server is there asks for no more.
#[test]
fn a_head_is_answered_as_a_page_without_it() {
    let (api, _bell, _server) = start(Some("0123456789abcdef"), &Run::default());
    let request = |method: &str, path: &str, headers: &str| {
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", api.address);
        api.raw(request.as_bytes())
    };
    let head_of = |answer: &str| {
        let lines = answer.split("\r\n").filter(|line| !line.starts_with("date: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let token = "Authorization: Bearer 0123456789abcdef\r\n";
    for (path, headers) in
        [("/", ""), ("/", "Accept-Encoding: gzip\r\n"), ("/ping", token), ("/v1/status", token), ("/report", token)]
    {
        let (head, whole) = (request("HEAD", path, headers), request("GET", path, headers));
        assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{path}: {head}");
        assert!(head_of(&whole).starts_with(&head_of(head.trim_end())), "{path}: {head}\n{whole}");
    }
    assert!(request("HEAD", "/v1/status", "").starts_with("HTTP/1.1 401"));
    assert!(request("HEAD", "/", "Origin: null\r\n").starts_with("HTTP/1.1 403"));
    assert!(request("HEAD", "/events", token).starts_with("HTTP/1.1 200"));
}

#[test]
fn other_pages_and_other_names_are_refused() {
    let (api, _bell, _server) = start(None, &Run::default());
    for headers in ["Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
        assert_eq!(api.request("GET", "/events", headers, "").0, 403, "{headers}");
        assert_eq!(api.request("GET", "/report", headers, "").0, 403, "{headers}");
    }
    for path in ["/", "/events", "/report", "/v1/stream"] {
        let answer =
            api.raw(format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
    }
}

#[test]
fn a_stream_has_what_there_is_and_what_comes_and_ends_with_the_run() {
    let run = Run::default();
    run.0.count.store(3, Ordering::Relaxed);
    let (api, bell, server) = start(None, &run);
    let mut stream = open(&api, "");
    let first = read_until(&mut stream, "id: 2\n");
    assert!(first.contains("text/event-stream") && first.contains("retry: ") && first.contains("id: 0\n"), "{first}");
    run.0.count.store(5, Ordering::Relaxed);
    bell.ring();
    read_until(&mut stream, "id: 4\n");
    // One that comes back says where it was.
    let mut back = open(&api, "Last-Event-ID: 3\r\n");
    assert!(!read_until(&mut back, "id: 4\n").contains("id: 3\n"));
    assert_eq!(run.0.opened.lock().expect("no panic").as_slice(), [None, Some("3".to_owned())]);
    run.0.count.store(6, Ordering::Relaxed);
    run.0.is_over.store(true, Ordering::Relaxed);
    bell.ring();
    // What follows the end of the run is read although the server ends at once.
    drop(server);
    for stream in [&mut stream, &mut back] {
        let rest = read_until(stream, "id: 5\n");
        let mut end = Vec::new();
        stream.read_to_end(&mut end).expect("it ends");
        assert!(rest.contains("id: 5\n"), "{rest}");
    }
}

#[test]
fn who_reads_nothing_holds_nobody_up() {
    let run = Run(Arc::new(Numbers { padding: 64 << 10, ..Numbers::default() }));
    run.0.count.store(1_000, Ordering::Relaxed);
    let (api, bell, server) = start(None, &run);
    let silent: Vec<TcpStream> = (0..500).map(|_| open(&api, "")).collect();
    let half: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = api.connect();
            let _ = stream.write_all(b"GET /eve");
            stream
        })
        .collect();
    // Requests are answered, and whoever reads gets all.
    assert_eq!(api.request("GET", "/v1/status", "", "").0, 200);
    let mut reader = open(&api, "Last-Event-ID: 990\r\n");
    read_until(&mut reader, "id: 999\n");
    assert_eq!(api.request("GET", "/events", &format!("X: {}\r\n", "x".repeat(1 << 20)), "").0 / 100 % 2, 0);
    assert_eq!(api.request("GET", "/v1/status", "", "").0, 200);
    // Nobody has read the end, and the server does not wait for it.
    run.0.is_over.store(true, Ordering::Relaxed);
    bell.ring();
    let ending = thread::spawn(move || drop(server));
    ending.join().expect("it ends");
    drop((silent, half));
}

#[test]
fn a_server_without_records_says_so() {
    let api = Api::start(None, status);
    let (status, body) = api.request("GET", "/v1/stream", "", "");
    assert!(status == 404 && body.contains("--out web-dashboard"), "{status} {body}");
    assert_eq!(api.request("GET", "/", "", ""), (200, "ok".to_owned()));
}
