//! Making a connection: name, TCP, TLS, HTTP/2, hello and welcome, each within a time limit.

use std::{io, net::SocketAddr, time::Duration};

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use onrush_fiber::Clock;
use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
    sync::mpsc,
    time::timeout,
};
use tokio_rustls::TlsConnector;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use super::JoinConfig;
use crate::{
    ClockOffset, PROTOCOL,
    clock::OffsetEstimate,
    messages::{Frame, FromAgent, FromCoordinator, Hello, Ping, Welcome, from_agent, from_coordinator},
    patience::HANDSHAKE_MAX,
    rpc::Channel,
    tls,
};

/// A connection that was made and answered.
pub(super) struct Dialled {
    pub(super) channel: Channel,
    pub(super) outgoing: mpsc::Sender<FromAgent>,
    pub(super) incoming: Streaming<FromCoordinator>,
    pub(super) welcome: Welcome,
    /// Frames that came while the clocks were compared.
    pub(super) early: Vec<Frame>,
}

/// Why there is none.
#[derive(Debug)]
pub(super) enum DialError {
    /// It makes no sense to try again.
    Refused(String),
    /// The same, without anybody who refuses.
    Plain,
    /// It may be better later.
    Failed(String),
}

/// Messages between the agent and the socket.
const QUEUE: usize = 16;
/// Round trips for the clocks.
const PINGS: usize = 16;

pub(super) async fn dial(config: &JoinConfig, session: &[u8]) -> Result<Dialled, DialError> {
    let failed = |what: &str| DialError::Failed(format!("{what} took longer than {} s", HANDSHAKE_MAX.as_secs()));
    let stream = timeout(HANDSHAKE_MAX, connect(config)).await.map_err(|_| failed("connecting"))??;
    match config.token.fingerprint {
        None => timeout(HANDSHAKE_MAX, begin(stream, config, session)).await.map_err(|_| failed("its answer"))?,
        Some(fingerprint) => {
            // It is known by its fingerprint, whatever its name.
            let name = ServerName::try_from("onrush-coordinator").expect("a name");
            let secured = timeout(HANDSHAKE_MAX, TlsConnector::from(tls::client(fingerprint)).connect(name, stream));
            let stream = secured.await.map_err(|_| failed("the TLS handshake"))?.map_err(|error| of_tls(&error))?;
            timeout(HANDSHAKE_MAX, begin(stream, config, session)).await.map_err(|_| failed("its answer"))?
        }
    }
}

async fn connect(config: &JoinConfig) -> Result<TcpStream, DialError> {
    let failed = |error: io::Error| DialError::Failed(error.to_string());
    let addresses: Vec<SocketAddr> = lookup_host(config.coordinator.as_str()).await.map_err(failed)?.collect();
    let mut last = DialError::Failed("its name has no address".to_owned());
    for address in addresses {
        // The secret would be for all to read.
        if config.token.fingerprint.is_none() && !address.ip().is_loopback() {
            return Err(DialError::Plain);
        }
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Reports are small and must not wait for more.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => last = failed(error),
        }
    }
    Err(last)
}

fn of_tls(error: &io::Error) -> DialError {
    let is_certificate = matches!(
        error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()),
        Some(rustls::Error::General(_))
    );
    match error.get_ref().map(ToString::to_string) {
        Some(text) if is_certificate => {
            DialError::Refused(text.strip_prefix("unexpected error: ").unwrap_or(&text).to_owned())
        }
        _ => DialError::Failed(format!("no TLS: {error}")),
    }
}

async fn begin<S>(stream: S, config: &JoinConfig, session: &[u8]) -> Result<Dialled, DialError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    const STREAM_WINDOW: u32 = 4 << 20;
    const CONNECTION_WINDOW: u32 = 8 << 20;
    let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| DialError::Failed(format!("it does not speak HTTP/2: {error}")))?;
    // Its end shows in what goes over it.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    let channel = Channel::new(sender, &config.token.secret);
    let hello = Hello {
        protocol: PROTOCOL,
        program: config.program.clone(),
        name: config.name.clone(),
        session: session.to_vec(),
        child: config.child,
    };
    let (outgoing, messages) = mpsc::channel(QUEUE);
    // The queue is empty and its other end is here.
    let _ = outgoing.try_send(FromAgent { what: Some(from_agent::What::Hello(hello)) });
    let mut incoming = channel.join(ReceiverStream::new(messages)).await.map_err(|status| of_status(&status))?;
    match incoming.message().await.map_err(|status| of_status(&status))? {
        Some(FromCoordinator { what: Some(from_coordinator::What::Welcome(welcome)) }) => {
            Ok(Dialled { channel, outgoing, incoming, welcome, early: Vec::new() })
        }
        _ => Err(DialError::Failed("it does not welcome agents: is it a coordinator?".to_owned())),
    }
}

fn of_status(status: &Status) -> DialError {
    match status.code() {
        Code::FailedPrecondition | Code::Unauthenticated => DialError::Refused(status.message().to_owned()),
        Code::Unimplemented => DialError::Refused("it is no coordinator of this version of Onrush".to_owned()),
        _ => DialError::Failed(status.message().to_owned()),
    }
}

impl Dialled {
    /// Measures how far the coordinator's clock is, before anything else goes over the connection.
    pub(super) async fn measure(&mut self) -> Result<ClockOffset, DialError> {
        let failed = |why: &str| DialError::Failed(format!("the clocks cannot be compared: {why}"));
        let mut estimate = OffsetEstimate::default();
        for _ in 0..PINGS {
            let ping = Ping { agent_ns: Clock::now().0 };
            let ping = FromAgent { what: Some(from_agent::What::Ping(ping)) };
            self.outgoing.send(ping).await.map_err(|_| failed("the connection is closed"))?;
            let pong = loop {
                let message = timeout(PONG_MAX, self.incoming.message()).await.map_err(|_| failed("no answer"))?;
                match message.map_err(|status| of_status(&status))? {
                    Some(FromCoordinator { what: Some(from_coordinator::What::Pong(pong)) }) => break pong,
                    // The coordinator need not wait for the clocks.
                    Some(FromCoordinator { what: Some(from_coordinator::What::Frame(frame)) }) => {
                        self.early.push(frame);
                    }
                    Some(_) => {}
                    None => return Err(failed("the connection is closed")),
                }
            };
            estimate.note(pong.agent_ns, pong.coordinator_ns, Clock::now().0);
        }
        estimate.best().ok_or_else(|| failed("no answer"))
    }
}

/// How long the answer to a ping may take.
const PONG_MAX: Duration = Duration::from_secs(5);
