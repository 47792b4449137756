//! Making a connection to a coordinator: name, TCP, TLS, HTTP/2, each within a time limit; and what a failure means.

use std::{
    error::Error as _,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use onrush_certificates::{Party, explain};
use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::TlsConnector;
use tonic::{Code, Status};

use crate::{
    access::{ClientTls, Credential},
    patience::HANDSHAKE_MAX,
    pulse::{Pulse, Pulsing},
    rpc::Channel,
    tls,
};

/// Where a coordinator is, and how to come in there.
#[derive(Debug, Clone)]
pub struct Destination {
    /// `HOST:PORT`.
    pub coordinator: String,
    /// What is shown there.
    pub credential: Credential,
    /// The run among several, and what lets an agent take part in it.
    pub run: Option<String>,
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum DialError {
    /// Somebody refuses: it makes no sense to try again.
    Refused(String),
    /// What is there is not what is wanted: no more does that.
    Wrong(String),
    /// The same, without anybody who was asked.
    Plain,
    /// It may be better later.
    Failed(String),
}

/// What the failure of a call is judged by.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Noted>);

#[derive(Default)]
struct Noted {
    pulse: Pulse,
    is_encrypted: OnceLock<bool>,
    /// The first byte of the other side.
    first: OnceLock<u8>,
    error: OnceLock<rustls::Error>,
}

/// How a record of TLS begins that says what went wrong.
const TLS_ALERT: u8 = 0x15;

/// Connects. `keep_alive` is how often the other side is asked whether it is still there, where calls do not see to that.
pub(crate) async fn connect(to: &Destination, keep_alive: Option<Duration>) -> Result<(Channel, Seen), DialError> {
    let late = |what: &str| DialError::Failed(format!("{what} took longer than {} s", HANDSHAKE_MAX.as_secs()));
    let stream = timeout(HANDSHAKE_MAX, tcp(to)).await.map_err(|_| late("connecting"))??;
    let seen = Seen::default();
    let (config, name) = match &to.credential.tls {
        None => (None, tls::NAME),
        Some(ClientTls::Pinned(config)) => (Some(config), tls::NAME),
        Some(ClientTls::Named(config)) => (Some(config), host(&to.coordinator)),
    };
    let channel = match config {
        None => speak(Watched::new(stream, &seen), to, keep_alive).await,
        Some(config) => {
            let name = ServerName::try_from(name.to_owned())
                .map_err(|_| DialError::Wrong(format!("\"{name}\" is no name that a certificate could be for")))?;
            let secured = timeout(HANDSHAKE_MAX, TlsConnector::from(config.clone()).connect(name, stream));
            let stream = secured.await.map_err(|_| late("the TLS handshake"))?.map_err(|error| of_tls(&error))?;
            speak(Watched::new(stream, &seen), to, keep_alive).await
        }
    }?;
    let _ = seen.0.is_encrypted.set(to.credential.tls.is_some());
    Ok((channel, seen))
}

/// The host of `HOST:PORT`, `[::1]:PORT`.
fn host(coordinator: &str) -> &str {
    let host = coordinator.rsplit_once(':').map_or(coordinator, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

async fn tcp(to: &Destination) -> Result<TcpStream, DialError> {
    let failed = |error: io::Error| DialError::Failed(error.to_string());
    let addresses: Vec<SocketAddr> = lookup_host(to.coordinator.as_str()).await.map_err(failed)?.collect();
    let mut last = DialError::Failed("its name has no address".to_owned());
    for address in addresses {
        // The secret would be for all to read.
        if to.credential.tls.is_none() && !address.ip().is_loopback() {
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
    use rustls::Error as E;
    let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<E>()) else {
        return DialError::Failed(format!("the TLS handshake failed: {error}"));
    };
    match inner {
        E::General(why) => DialError::Refused(why.clone()),
        E::InvalidMessage(_) => DialError::Wrong(
            "it does not speak TLS, which this token or certificate is for: is this the right coordinator and port?"
                .to_owned(),
        ),
        other => DialError::Wrong(
            explain(other, Party::Coordinator).unwrap_or_else(|| format!("the TLS handshake failed: {other}")),
        ),
    }
}

async fn speak<S>(stream: S, to: &Destination, keep_alive: Option<Duration>) -> Result<Channel, DialError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    const STREAM_WINDOW: u32 = 4 << 20;
    const CONNECTION_WINDOW: u32 = 8 << 20;
    let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(keep_alive)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| DialError::Failed(format!("it does not speak HTTP/2: {error}")))?;
    // Its end shows in what goes over it.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(Channel::new(sender, to.credential.secret.as_deref(), to.run.as_deref()))
}

impl Seen {
    /// Of the connection.
    pub(crate) fn pulse(&self) -> Pulse {
        self.0.pulse.clone()
    }

    /// What the failure of a call means.
    pub(crate) fn judge(&self, status: &Status) -> DialError {
        if let Some(error) = self.0.error.get() {
            return match explain(error, Party::Coordinator) {
                Some(why) => DialError::Refused(why),
                None => DialError::Failed(error.to_string()),
            };
        }
        let is_plain = self.0.is_encrypted.get() == Some(&false);
        match (status.code(), self.0.first.get()) {
            (Code::FailedPrecondition | Code::Unauthenticated | Code::PermissionDenied, _) => {
                DialError::Refused(status.message().to_owned())
            }
            (Code::Unimplemented, _) => DialError::Refused("it is no coordinator of this version of Onrush".to_owned()),
            (_, Some(&TLS_ALERT)) if is_plain => DialError::Wrong(
                "it encrypts its connections, and the join token has no fingerprint: copy all of the token that it \
                 prints, or give a certificate with --tls"
                    .to_owned(),
            ),
            (_, Some(b'H')) => {
                DialError::Wrong("a web server answers there, and no coordinator: is the port right?".to_owned())
            }
            _ => DialError::Failed(text(status)),
        }
    }
}

/// The status's own words, and those of its cause where it has none of its own.
fn text(status: &Status) -> String {
    let message = status.message().to_owned();
    match status.source() {
        Some(cause) if message.is_empty() => cause.to_string(),
        _ => message,
    }
}

/// A stream that notes what tells a failure's cause: HTTP/2 above it says only that there was one.
struct Watched<S> {
    stream: Pulsing<S>,
    seen: Seen,
}

impl<S> Watched<S> {
    fn new(stream: S, seen: &Seen) -> Self {
        Self { stream: Pulsing::new(stream, seen.pulse()), seen: seen.clone() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        match &polled {
            Poll::Ready(Ok(())) => {
                if let Some(first) = buffer.filled().get(before) {
                    let _ = self.seen.0.first.set(*first);
                }
            }
            Poll::Ready(Err(error)) => {
                if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                    let _ = self.seen.0.error.set(error.clone());
                }
            }
            Poll::Pending => {}
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_coordinators() {
        let check = |coordinator: &str, expect: &str| assert_eq!(host(coordinator), expect);
        check("load-1:6567", "load-1");
        check("10.0.0.1:1", "10.0.0.1");
        check("[::1]:6567", "::1");
    }
}
