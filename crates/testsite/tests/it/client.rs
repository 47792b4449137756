//! A blocking client that shows bytes as they are.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use onrush_testsite::{TargetHandle, TargetOptions, start};

/// Nothing in these tests takes longer, unless it hangs.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A target on free ports.
pub(crate) fn target() -> TargetHandle {
    target_with(|_| {})
}

pub(crate) fn target_with(change: impl FnOnce(&mut TargetOptions)) -> TargetHandle {
    let mut options = TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() };
    change(&mut options);
    start(options).unwrap()
}

pub(crate) struct Client<S = TcpStream> {
    pub(crate) stream: S,
    received: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn connect(address: SocketAddr) -> Client {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    stream.set_nodelay(true).unwrap();
    Client::over(stream)
}

/// One GET on a connection of its own.
pub(crate) fn get(target: &TargetHandle, path: &str) -> Response {
    connect(target.addr).get(path)
}

/// Status of one raw request on a connection of its own, and whether the connection ended with it.
pub(crate) fn raw(target: &TargetHandle, request: &[u8]) -> (u16, bool) {
    let mut client = connect(target.addr);
    client.send(request);
    let response = client.response();
    (response.status, response.header("connection") == Some("close"))
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn over(stream: S) -> Self {
        Self { stream, received: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
        self.stream.flush().unwrap();
    }

    pub(crate) fn get(&mut self, path: &str) -> Response {
        self.request("GET", path, "", b"")
    }

    pub(crate) fn request(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Response {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: test.example\r\n");
        for line in headers.lines() {
            head.push_str(line);
            head.push_str("\r\n");
        }
        if !body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.send(&[head.as_bytes(), body].concat());
        if method == "HEAD" { self.head_only() } else { self.response() }
    }

    /// Reads a response and its body.
    pub(crate) fn response(&mut self) -> Response {
        let mut response = self.head_only();
        let chunked = response.header("transfer-encoding") == Some("chunked");
        response.body = match response.header("content-length") {
            _ if matches!(response.status, 100..200 | 204 | 304) => Vec::new(),
            Some(length) => {
                let length = length.parse().unwrap();
                self.take(length)
            }
            None if chunked => self.chunks(),
            None => {
                while self.fill() {}
                std::mem::take(&mut self.received)
            }
        };
        response
    }

    /// Reads a response's head.
    pub(crate) fn head_only(&mut self) -> Response {
        let end = loop {
            let at = self.received.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(at) = at {
                break at;
            }
            assert!(self.fill(), "ended before a response: {:?}", self.text());
        };
        let head = String::from_utf8(self.take(end + 4)).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Response { status, headers, body: Vec::new() }
    }

    /// Whether the server has closed the connection, with nothing left to read.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.received.is_empty() && !self.fill()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.received).into_owned()
    }

    pub(crate) fn chunk(&mut self) -> Vec<u8> {
        let end = loop {
            if let Some(at) = self.received.iter().position(|&byte| byte == b'\n') {
                break at;
            }
            assert!(self.fill(), "ended in a chunk");
        };
        let line = String::from_utf8(self.take(end + 1)).unwrap();
        let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
        let mut chunk = self.take(length + 2);
        assert!(chunk.ends_with(b"\r\n"));
        chunk.truncate(length);
        chunk
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let chunk = self.chunk();
            if chunk.is_empty() {
                return body;
            }
            body.extend_from_slice(&chunk);
        }
    }

    fn take(&mut self, bytes: usize) -> Vec<u8> {
        while self.received.len() < bytes {
            assert!(self.fill(), "ended {} bytes early", bytes - self.received.len());
        }
        let rest = self.received.split_off(bytes);
        std::mem::replace(&mut self.received, rest)
    }

    /// Reads once; false at the end or a reset.
    fn fill(&mut self) -> bool {
        let mut buffer = vec![0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(bytes) => {
                self.received.extend_from_slice(&buffer[..bytes]);
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!("reading failed: {error}"),
        }
    }
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The value of a cookie the response sets.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        self.headers.iter().filter(|(key, _)| key == "set-cookie").find_map(|(_, value)| {
            let (key, rest) = value.split_once('=')?;
            (key == name).then(|| rest.split(';').next().unwrap_or(""))
        })
    }
}
