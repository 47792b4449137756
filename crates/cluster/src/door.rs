//! Where connections come in: accepts a bounded number, encrypts them, gives each a bounded time to say who it is, and
//! answers calls of those who may make them.

use std::{
    convert::Infallible,
    future::Future,
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use onrush_certificates::{Party, Role, explain};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite},
    net::TcpStream,
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use tonic::{Status, body::Body};

use crate::{
    Access,
    patience::HANDSHAKE_MAX,
    pulse::{Pulse, Pulsing},
    rpc,
};

/// Who answers at the door.
pub(crate) trait Host: Clone + Send + Sync + 'static {
    /// Whom it lets in.
    fn access(&self) -> &Access;

    /// Somebody was not let in.
    fn refused(&self, peer: SocketAddr, why: String);

    /// How often a connection that says nothing is asked whether it is still there; `None`: calls see to that.
    fn keep_alive(&self) -> Option<Duration> {
        None
    }

    /// Answers a call of somebody who was.
    fn answer(&self, request: Request<Incoming>, caller: Caller) -> impl Future<Output = Response<Body>> + Send;
}

/// Somebody who was let in.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) peer: SocketAddr,
    pub(crate) role: Role,
    /// Of its connection.
    pub(crate) pulse: Pulse,
    is_known: Arc<AtomicBool>,
}

impl Caller {
    /// Its connection may stay.
    pub(crate) fn stay(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Refuses a call that its role is not for.
    pub(crate) fn refuse(&self, host: &impl Host, why: &str) -> Response<Body> {
        host.refused(self.peer, why.to_owned());
        Status::permission_denied(why).into_http()
    }
}

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
/// How long somebody who is refused by TLS may take to read why.
const FAREWELL_MAX: Duration = Duration::from_secs(1);

/// Until the sender is dropped; it never sends anything.
async fn ended(stopped: &mut watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

/// Lets in whoever may come, until the sender is dropped.
pub(crate) async fn accept<H: Host>(socket: TcpListener, host: H, mut stopped: watch::Receiver<()>) {
    let tls = host.access().tls();
    let Ok(socket) = tokio::net::TcpListener::from_std(socket) else { return };
    let strangers = Arc::new(Semaphore::new(STRANGERS_MAX));
    let mut tasks = JoinSet::new();
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
        let (host, tls) = (host.clone(), tls.clone());
        tasks.spawn(async move {
            let is_known = Arc::new(AtomicBool::new(false));
            let mut place = place.ok();
            let mut connection = std::pin::pin!(serve(stream, peer, tls, host, is_known.clone()));
            // A stranger has so long to become somebody.
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

async fn serve<H: Host>(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    host: H,
    is_known: Arc<AtomicBool>,
) {
    // Commands are small and must not wait for more.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return speak(stream, peer, None, host, is_known).await };
    match tls.accept(stream).into_fallible().await {
        Ok(stream) => {
            let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
            let role = certificate.and_then(Role::of_caller);
            speak(stream, peer, role, host, is_known).await;
        }
        Err((error, stream)) => {
            let error = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            // Whoever speaks something else is not worth a line; whoever has the wrong certificate wants to know.
            if let Some(why) = error.and_then(|error| explain(error, Party::Caller)) {
                host.refused(peer, why);
            }
            // Closed with something unread, the connection would be reset, and what TLS said about it lost.
            let _ = tokio::time::timeout(FAREWELL_MAX, drain(stream)).await;
        }
    }
}

async fn drain(mut stream: TcpStream) {
    let mut unread = [0; 1_024];
    while matches!(stream.read(&mut unread).await, Ok(1..)) {}
}

async fn speak<S, H: Host>(stream: S, peer: SocketAddr, certified: Option<Role>, host: H, is_known: Arc<AtomicBool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let keep_alive = host.keep_alive();
    let pulse = Pulse::default();
    let stream = Pulsing::new(stream, pulse.clone());
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let (host, is_known, pulse) = (host.clone(), is_known.clone(), pulse.clone());
        async move {
            let answer = match host.access().role(rpc::secret_of(request.headers()), certified) {
                Ok(role) => host.answer(request, Caller { peer, role, pulse, is_known }).await,
                Err(why) => {
                    host.refused(peer, why.to_owned());
                    Status::unauthenticated(why).into_http()
                }
            };
            Ok::<_, Infallible>(answer)
        }
    });
    // Whatever ends a connection, who made it comes back or is missed.
    let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(keep_alive)
        .max_concurrent_streams(CALLS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
