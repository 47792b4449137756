//! A correct HTTP/2 server in the clear: `h2`'s own, on a thread.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use h2::{
    Reason, RecvStream,
    server::{Builder, SendResponse},
};
use http::{Request, Response};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

/// Stops when dropped.
pub(crate) struct Http2Server {
    addr: SocketAddr,
    accepted: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Http2Server {
    /// Listens on a free port; `streams` is how many a connection takes at once.
    pub(crate) fn start(streams: u32) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket option");
        let addr = listener.local_addr().expect("an address");
        let accepted = Arc::new(AtomicUsize::new(0));
        let (stop, stopped) = oneshot::channel();
        let count = Arc::clone(&accepted);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, async move {
                let listener = TcpListener::from_std(listener).expect("a listener");
                let accept = async {
                    while let Ok((socket, _)) = listener.accept().await {
                        let number = count.fetch_add(1, Ordering::AcqRel);
                        tokio::task::spawn_local(serve(socket, number, streams));
                    }
                };
                tokio::select! { () = accept => {}, _ = stopped => {} }
            });
        });
        Self { addr, accepted, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// Connections so far.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Acquire)
    }
}

impl Drop for Http2Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server's thread ends");
        }
    }
}

async fn serve(socket: TcpStream, number: usize, streams: u32) {
    let _ = socket.set_nodelay(true);
    let mut builder = Builder::new();
    builder.max_concurrent_streams(streams).initial_window_size(65_535);
    let Ok(mut connection) = builder.handshake::<_, Bytes>(socket).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        if request.uri().path() == "/goaway" {
            connection.graceful_shutdown();
        }
        tokio::task::spawn_local(answer(request, respond, number));
    }
}

async fn answer(request: Request<RecvStream>, mut respond: SendResponse<Bytes>, number: usize) {
    let (parts, mut body) = request.into_parts();
    let number_of = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok()).unwrap_or_default();
    let query = number_of(parts.uri.query());
    let head = |status: u16| {
        Response::builder()
            .status(status)
            .header("x-connection", number.to_string())
            .header("content-type", "text/plain")
    };
    match parts.uri.path() {
        "/echo" => {
            let mut text = format!("{} {}", parts.method, parts.uri);
            let mut lines: Vec<_> = parts.headers.iter().collect();
            lines.sort_by_key(|(name, value)| (name.as_str(), value.as_bytes()));
            for (name, value) in lines {
                text += &format!("|{name}: {}", String::from_utf8_lossy(value.as_bytes()));
            }
            reply(&mut respond, head(200), text.into()).await;
        }
        "/bytes" if parts.method == http::Method::HEAD => {
            let _ =
                respond.send_response(head(200).header("content-length", query).body(()).expect("a response"), true);
        }
        "/bytes" => reply(&mut respond, head(200), vec![b'x'; query].into()).await,
        "/slow" => {
            tokio::time::sleep(Duration::from_millis(query as u64)).await;
            reply(&mut respond, head(200), Bytes::from_static(b"slow")).await;
        }
        "/upload" => {
            let mut count = 0;
            while let Some(Ok(data)) = body.data().await {
                count += data.len();
                let _ = body.flow_control().release_capacity(data.len());
            }
            reply(&mut respond, head(200), count.to_string().into()).await;
        }
        // Sends back each piece as it comes.
        "/mirror" => {
            let Ok(mut out) = respond.send_response(head(200).body(()).expect("a response"), false) else { return };
            while let Some(Ok(data)) = body.data().await {
                let _ = body.flow_control().release_capacity(data.len());
                push(&mut out, data).await;
            }
            let _ = out.send_data(Bytes::new(), true);
        }
        // Answers without reading, and wants no more.
        "/early" => {
            reply(&mut respond, head(413), Bytes::from_static(b"too much")).await;
            // A reset takes back what has not been sent.
            tokio::time::sleep(Duration::from_millis(5)).await;
            respond.send_reset(Reason::NO_ERROR);
        }
        "/trailers" => {
            let Ok(mut out) = respond.send_response(head(200).body(()).expect("a response"), false) else { return };
            let _ = out.send_data(Bytes::from_static(b"hi"), false);
            let mut trailers = http::HeaderMap::new();
            trailers.insert("x-sum", "1".parse().expect("a value"));
            let _ = out.send_trailers(trailers);
        }
        "/stall" => {
            let Ok(mut out) = respond.send_response(head(200).body(()).expect("a response"), false) else { return };
            let _ = out.send_data(Bytes::from_static(b"some"), false);
            std::future::pending::<()>().await;
        }
        path => {
            let status = number_of(path.strip_prefix("/status/")) as u16;
            reply(&mut respond, head(if status == 0 { 200 } else { status }), Bytes::from_static(b"hello")).await;
        }
    }
}

async fn reply(respond: &mut SendResponse<Bytes>, head: http::response::Builder, body: Bytes) {
    let head = head.header("content-length", body.len()).body(()).expect("a response");
    let Ok(mut out) = respond.send_response(head, false) else { return };
    push(&mut out, body).await;
    let _ = out.send_data(Bytes::new(), true);
}

/// Sends as much at a time as the windows allow.
async fn push(out: &mut h2::SendStream<Bytes>, mut body: Bytes) {
    while !body.is_empty() {
        out.reserve_capacity(body.len());
        match std::future::poll_fn(|context| out.poll_capacity(context)).await {
            Some(Ok(count)) if count > 0 => {
                if out.send_data(body.split_to(count.min(body.len())), false).is_err() {
                    return;
                }
            }
            Some(Ok(_)) => {}
            _ => return,
        }
    }
}
