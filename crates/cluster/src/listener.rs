//! A port of the coordinator's, and the thread that serves it.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    thread::JoinHandle,
};

use tokio::sync::watch;

use crate::Access;

/// Why nothing listens.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// Other machines could read what goes over the connection.
    #[error("{0} can be reached by other machines, so the connection must be encrypted")]
    Plain(SocketAddr),
    /// The system refuses.
    #[error("failed to listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
}

/// Dropping it ends the thread, which closes all connections.
pub(crate) struct Listener {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    stop: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Listens, and has a thread of this name serve until the receiver's sender is dropped. Plain text is for addresses of
    /// this machine only.
    pub(crate) fn open<Serving: Future<Output = ()>>(
        listen: SocketAddr,
        access: &Access,
        name: &str,
        serve: impl FnOnce(TcpListener, watch::Receiver<()>) -> Serving + Send + 'static,
    ) -> Result<Self, HubError> {
        if !access.is_encrypted() && !listen.ip().is_loopback() {
            return Err(HubError::Plain(listen));
        }
        let failed = |error: io::Error| HubError::Listen(listen, error);
        let socket = TcpListener::bind(listen).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)?;
        let (stop, stopped) = watch::channel(());
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || runtime.block_on(serve(socket, stopped)))
            .map_err(failed)?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed.
            let _ = thread.join();
        }
    }
}
