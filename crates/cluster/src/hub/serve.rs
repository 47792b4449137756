//! The hub's connections: accepts a bounded number, gives each a bounded time to say who it is.

use std::{
    convert::Infallible,
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use super::{Shared, join, now};
use crate::patience::{HANDSHAKE_MAX, LOOK_EVERY};

/// Connections that have not said who they are. More wait to be accepted.
const STRANGERS_MAX: usize = 512;
/// After a failure to accept, such as a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Calls of one connection at once: an agent has one `Join` and few `Fetch`.
const CALLS_MAX: u32 = 16;
const HEAD_BYTES_MAX: u32 = 16 << 10;
/// Bytes under way: a second of deltas of a large test.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;

/// Until the sender is dropped; it never sends anything.
async fn ended(stopped: &mut watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

pub(super) async fn accept(socket: TcpListener, shared: Shared, mut stopped: watch::Receiver<()>) {
    let tls = shared.config.identity.as_ref().map(|identity| TlsAcceptor::from(identity.config.clone()));
    let Ok(socket) = tokio::net::TcpListener::from_std(socket) else { return };
    let strangers = Arc::new(Semaphore::new(STRANGERS_MAX));
    let mut tasks = JoinSet::new();
    tasks.spawn(look(shared.clone()));
    loop {
        let next = async {
            let place = strangers.clone().acquire_owned().await;
            (place, socket.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = ended(&mut stopped) => break,
            next = next => next,
        };
        while tasks.try_join_next().is_some() {}
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (shared, tls) = (shared.clone(), tls.clone());
        tasks.spawn(async move {
            let is_known = Arc::new(AtomicBool::new(false));
            let mut place = place.ok();
            let mut connection = std::pin::pin!(serve(stream, peer, tls, shared, is_known.clone()));
            // A stranger has so long to become an agent.
            tokio::select! {
                () = connection.as_mut() => return,
                () = tokio::time::sleep(HANDSHAKE_MAX) => {}
            }
            if is_known.load(Ordering::Relaxed) {
                place.take();
                connection.await;
            }
        });
    }
    tasks.abort_all();
    while tasks.join_next().await.is_some() {}
}

async fn look(shared: Shared) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let events = shared.state().look(now());
        events.into_iter().for_each(|event| shared.deliver(event));
    }
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    shared: Shared,
    is_known: Arc<AtomicBool>,
) {
    // Commands are small and must not wait for more.
    let _ = stream.set_nodelay(true);
    match tls {
        None => speak(stream, peer, shared, is_known).await,
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                speak(stream, peer, shared, is_known).await;
            }
        }
    }
}

async fn speak<S>(stream: S, peer: SocketAddr, shared: Shared, is_known: Arc<AtomicBool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let (shared, is_known) = (shared.clone(), is_known.clone());
        async move { Ok::<_, Infallible>(join::answer(request, peer, shared, &is_known).await) }
    });
    // Whatever ends a connection, its agent comes back or is missed.
    let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(CALLS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
