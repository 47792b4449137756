//! The server's thread: accepts connections, a bounded number of them, and serves each for a bounded time.

use std::{
    collections::VecDeque,
    io,
    net::{SocketAddr, TcpListener},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    sync::watch,
    task::{AbortHandle, JoinSet},
};
use tokio_rustls::TlsAcceptor;

use crate::{
    Address, AddressError, Call, Identity,
    guard::Guard,
    routes::{Shared, router},
    site::Site,
};

/// Takes a call to whoever answers it.
pub(crate) type Deliver = Arc<dyn Fn(Call) + Send + Sync>;

/// Connections at once. One more takes the place of the oldest that asks for nothing at the moment, else of the one that
/// has asked most.
pub(crate) const CONNECTIONS_MAX: usize = 128;
/// How long a client may take to send the head of a request.
const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// How long a request may take, its body included: a little more than `setup()` by default.
pub(crate) const REQUEST_TIME_MAX: Duration = Duration::from_secs(75);
/// How long a connection lasts, whatever goes on: clients connect again.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(600);
/// Largest head of a request.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// How long the end of the server waits for answers to be read.
const ENDING_TIME_MAX: Duration = Duration::from_secs(1);
/// After a failure to accept, such as a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// An address that is listened on, not served yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    guard: Guard,
    /// Where it listens, with the port that was picked for 0.
    pub address: SocketAddr,
    /// What it shows clients, if it speaks TLS.
    pub identity: Option<Identity>,
}

impl Listener {
    /// Listens. Addresses that other machines reach need a token, which all requests must carry then, and speak TLS: with
    /// a certificate made now if there is no other.
    ///
    /// # Errors
    /// When it may not or cannot.
    pub fn bind(address: &Address, token: Option<String>, identity: Option<Identity>) -> Result<Self, AddressError> {
        let socket = address.listen(token.as_deref())?;
        socket.set_nonblocking(true)?;
        let authority = address.authority();
        let own_host = authority.rsplit_once(':').map_or("", |(host, _)| host).trim_matches(['[', ']']).to_owned();
        let listens = socket.local_addr()?;
        let identity = match identity {
            None if address.is_tls() || !listens.ip().is_loopback() => {
                let names = ["localhost", "127.0.0.1", "::1", &own_host].map(str::to_owned);
                let mut names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
                names.dedup();
                Some(Identity::self_made(names)?)
            }
            identity => identity,
        };
        Ok(Self { address: listens, guard: Guard { token, own_host }, identity, socket })
    }
}

/// A server at work. Dropping it ends it, once the answers it was given are sent: a run that ends because a client asked
/// for it tells the client so.
#[derive(Debug)]
pub struct Server {
    stop: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves on a thread of its own. Every call goes to `deliver`, on that thread: it must not block.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(listener: Listener, deliver: impl Fn(Call) + Send + Sync + 'static) -> io::Result<Self> {
        Self::with_site(listener, None, deliver)
    }

    /// The same with something beside the REST API.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn with_site(
        listener: Listener,
        site: Option<Site>,
        deliver: impl Fn(Call) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = watch::channel(());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let deliver: Deliver = Arc::new(deliver);
        let thread = std::thread::Builder::new().name("rest-api".to_owned()).spawn(move || {
            step_back();
            runtime.block_on(accept(listener, deliver, site.map(Arc::new), stopped));
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed, and there is nobody left to answer.
            let _ = thread.join();
        }
    }
}

/// Lets the threads of VUs go first where they and this one share a core: however much clients ask for, a measurement does
/// not wait for it. It keeps a tenth of the core beside a VU's thread that never rests, so that such a run can be stopped.
fn step_back() {
    #[cfg(target_os = "linux")]
    {
        // Linux gives priorities to threads. Where it refuses, things are as they were.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
    }
}

/// Weight 110 of the scheduler, beside 1024.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Until the sender is dropped; it never sends anything.
async fn ended(stopped: &mut watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

/// A connection that is being served.
struct Connection {
    task: AbortHandle,
    /// Requests it waits for answers to.
    asking: Arc<AtomicUsize>,
    /// All its requests so far.
    asked: Arc<AtomicUsize>,
}

/// Whose place a further connection takes: idle and slow clients must not lock anybody out, nor those that never stop
/// asking. `None` while all wait for the answer to their first request, which may take as long as `setup()`.
fn victim(connections: &VecDeque<Connection>) -> Option<usize> {
    let idle = connections.iter().position(|connection| connection.asking.load(Ordering::Relaxed) == 0);
    let busiest = || {
        let asked = |connection: &Connection| connection.asked.load(Ordering::Relaxed);
        let (index, most) = connections.iter().map(asked).enumerate().max_by_key(|(_, asked)| *asked)?;
        (most > 1).then_some(index)
    };
    idle.or_else(busiest)
}

async fn accept(listener: Listener, deliver: Deliver, site: Option<Arc<Site>>, mut stopped: watch::Receiver<()>) {
    let guard = Arc::new(listener.guard);
    let tls = listener.identity.map(|identity| TlsAcceptor::from(identity.config));
    let Ok(socket) = tokio::net::TcpListener::from_std(listener.socket) else { return };
    let mut connections: VecDeque<Connection> = VecDeque::new();
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = ended(&mut stopped) => break,
            accepted = socket.accept() => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        while tasks.try_join_next().is_some() {}
        connections.retain(|connection| !connection.task.is_finished());
        if connections.len() >= CONNECTIONS_MAX {
            match victim(&connections).and_then(|index| connections.remove(index)) {
                Some(connection) => connection.task.abort(),
                None => continue,
            }
        }
        let (asking, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (deliver, guard) = (deliver.clone(), guard.clone());
        let (hangup, site) = (Arc::default(), site.clone());
        let shared = Shared { deliver, guard, peer, asking: asking.clone(), asked: asked.clone(), hangup, site };
        let (tls, stopped) = (tls.clone(), stopped.clone());
        let task = tasks.spawn(async move {
            // Whatever ends a connection is its client's business.
            let _ = tokio::time::timeout(CONNECTION_TIME_MAX, serve(stream, tls, shared, stopped)).await;
        });
        connections.push_back(Connection { task, asking, asked });
    }
    for connection in connections.iter().filter(|connection| connection.asking.load(Ordering::Relaxed) == 0) {
        connection.task.abort();
    }
    let _ = tokio::time::timeout(ENDING_TIME_MAX, async { while tasks.join_next().await.is_some() {} }).await;
}

async fn serve(stream: TcpStream, tls: Option<TlsAcceptor>, shared: Shared, stopped: watch::Receiver<()>) {
    let Some(tls) = tls else { return speak(stream, shared, stopped).await };
    let secured = async {
        let mut first = [0];
        if stream.peek(&mut first).await? == 1 && first[0] != TLS_HANDSHAKE {
            let mut stream = stream;
            // What is left unread would make the system reset the connection, and the answer would be lost.
            let _ = stream.read(&mut [0; HEAD_BYTES_MAX]).await?;
            stream.write_all(SPEAK_TLS).await?;
            stream.shutdown().await?;
            return Err(io::ErrorKind::InvalidData.into());
        }
        tls.accept(stream).await
    };
    if let Ok(Ok(stream)) = tokio::time::timeout(HEAD_TIME_MAX, secured).await {
        speak(stream, shared, stopped).await;
    }
}

async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin, shared: Shared, mut stopped: watch::Receiver<()>) {
    let hangup = shared.hangup.clone();
    let service = TowerToHyperService::new(router(shared));
    let mut connection = pin!(
        hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME_MAX)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service)
    );
    tokio::select! {
        _ = connection.as_mut() => {}
        () = hangup.notified() => {}
        () = ended(&mut stopped) => {
            // The request that is being answered is the last.
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// The first byte of every TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;
/// For clients that do not know; Go's servers say the same.
pub(crate) const SPEAK_TLS: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\nConnection: close\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
