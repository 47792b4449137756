//! The server against real connections, with a run that is made up.

mod limits;
mod requests;
mod site;
mod tls;

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use onrush_server::{Address, Call, Listener, Reply, Request, Server, shape};

/// A server whose run answers everything at once.
struct Api {
    address: SocketAddr,
    _server: Server,
}

impl Api {
    fn start(token: Option<&str>, answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::deliver(token, move |call| {
            let reply = answer(&call.request);
            call.answer(reply);
        })
    }

    fn deliver(token: Option<&str>, deliver: impl Fn(Call) + Send + Sync + 'static) -> Self {
        let address = Address::parse("127.0.0.1:0").expect("valid");
        let listener = Listener::bind(&address, token.map(str::to_owned), None).expect("a free port");
        Self { address: listener.address, _server: Server::start(listener, deliver).expect("a thread") }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        stream
    }

    /// Sends a request as it is and reads all there is until the server closes.
    fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may refuse and close before it has read everything.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}",
            self.address
        );
        let answer = self.raw(request.as_bytes());
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
    }
}

fn status(_: &Request) -> Reply {
    Reply::ok(shape::status(&shape::Status {
        status: 7,
        vus: 2,
        vus_max: 5,
        running: true,
        tainted: true,
        ..Default::default()
    }))
}
