//! When something came over a connection last. A large message over a slow link takes longer than a silence may, and holds up
//! the signs of life behind it: its bytes are as good.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use onrush_session::protocol::Time;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::hub::now;

/// Shared by a stream and whoever waits for what it brings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// When bytes were read last; long ago if there were none.
    pub(crate) fn last(&self) -> Time {
        Time(self.0.load(Ordering::Relaxed))
    }

    fn beat(&self) {
        self.0.store(now().0, Ordering::Relaxed);
    }
}

/// A stream that has a pulse.
pub(crate) struct Pulsing<S> {
    stream: S,
    pulse: Pulse,
}

impl<S> Pulsing<S> {
    pub(crate) fn new(stream: S, pulse: Pulse) -> Self {
        Self { stream, pulse }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Pulsing<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.pulse.beat();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Pulsing<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
