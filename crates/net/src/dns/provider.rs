//! The sockets hickory gets: tokio's, those for UDP connected to their server. Where nobody listens the system then says
//! so, and the next server is tried at once instead of after a timeout.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use hickory_resolver::net::runtime::{DnsUdpSocket, RuntimeProvider, TokioRuntimeProvider};
use tokio::{
    io::{Interest, ReadBuf},
    net::UdpSocket,
};

/// tokio's runtime, with other sockets for UDP.
#[derive(Clone, Default)]
pub(super) struct Provider(TokioRuntimeProvider);

impl RuntimeProvider for Provider {
    type Handle = <TokioRuntimeProvider as RuntimeProvider>::Handle;
    type Timer = <TokioRuntimeProvider as RuntimeProvider>::Timer;
    type Udp = Connected;
    type Tcp = <TokioRuntimeProvider as RuntimeProvider>::Tcp;

    fn create_handle(&self) -> Self::Handle {
        self.0.create_handle()
    }

    fn connect_tcp(
        &self,
        server: SocketAddr,
        local: Option<SocketAddr>,
        timeout: Option<Duration>,
    ) -> Pin<Box<dyn Send + Future<Output = io::Result<Self::Tcp>>>> {
        self.0.connect_tcp(server, local, timeout)
    }

    fn bind_udp(
        &self,
        local: SocketAddr,
        server: SocketAddr,
    ) -> Pin<Box<dyn Send + Future<Output = io::Result<Self::Udp>>>> {
        Box::pin(async move {
            let socket = UdpSocket::bind(local).await?;
            // hickory names the address again with each datagram, which only Linux allows on a connected socket.
            if cfg!(target_os = "linux") {
                socket.connect(server).await?;
            }
            Ok(Connected::new(Arc::new(socket)))
        })
    }
}

/// A socket whose reads end when the system knows of an error.
pub(super) struct Connected {
    socket: Arc<UdpSocket>,
    /// Waits for the error: tokio does not wake readers for it.
    failure: Mutex<Pin<Box<dyn Future<Output = io::Error> + Send>>>,
}

impl Connected {
    fn new(socket: Arc<UdpSocket>) -> Self {
        let failure = Mutex::new(Box::pin(failure_of(Arc::clone(&socket))) as _);
        Self { socket, failure }
    }
}

impl DnsUdpSocket for Connected {
    type Time = <TokioRuntimeProvider as RuntimeProvider>::Timer;

    fn poll_recv_from(&self, context: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<(usize, SocketAddr)>> {
        let mut buf = ReadBuf::new(buf);
        if let Poll::Ready(outcome) = self.socket.poll_recv_from(context, &mut buf) {
            return Poll::Ready(outcome.map(|from| (buf.filled().len(), from)));
        }
        // A panic while it was held would have ended the lookup.
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.as_mut().poll(context).map(Err)
    }

    fn poll_send_to(&self, context: &mut Context<'_>, buf: &[u8], target: SocketAddr) -> Poll<io::Result<usize>> {
        self.socket.poll_send_to(context, buf, target)
    }
}

async fn failure_of(socket: Arc<UdpSocket>) -> io::Error {
    loop {
        if let Err(error) = socket.ready(Interest::ERROR).await {
            return error;
        }
        match socket.take_error() {
            Ok(None) => {
                // Nothing after all: says so to tokio, which then waits for the next event.
                let _ = socket.try_io(Interest::ERROR, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
            }
            Ok(Some(error)) | Err(error) => return error,
        }
    }
}
