//! Memory in place of a socket: what the protocol's state machine reads from and writes to. The connection fills one
//! side and empties the other.

use std::{
    cell::RefCell,
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes written before the state machine has to wait for the socket.
const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// A buffer that grew beyond this is given back when it is empty.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// Both directions of a connection.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    input: Vec<u8>,
    input_at: usize,
    output: Vec<u8>,
    /// The state machine wanted to write more than there was room for.
    full: bool,
}

/// The state machine's end of a pipe.
#[derive(Clone, Debug, Default)]
pub(super) struct PipeEnd(pub(super) Rc<RefCell<Pipe>>);

impl Pipe {
    /// Adds what was received.
    pub(super) fn feed(&mut self, data: &[u8]) {
        self.input.extend_from_slice(data);
    }

    /// Moves what is to be sent; says whether there would have been more.
    pub(super) fn take_output(&mut self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.output);
        self.output.clear();
        if self.output.capacity() > KEPT_BYTES_MAX {
            self.output = Vec::new();
        }
        std::mem::take(&mut self.full)
    }

    /// Bytes of memory held.
    pub(super) fn held_bytes(&self) -> usize {
        self.input.capacity() + self.output.capacity()
    }

    fn write(&mut self, data: &[u8]) -> Poll<io::Result<usize>> {
        let room = OUTPUT_BYTES_MAX.saturating_sub(self.output.len()).min(data.len());
        if room == 0 && !data.is_empty() {
            // Whoever empties the pipe polls again.
            self.full = true;
            return Poll::Pending;
        }
        self.output.extend_from_slice(&data[..room]);
        Poll::Ready(Ok(room))
    }
}

impl AsyncRead for PipeEnd {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut pipe = self.0.borrow_mut();
        let left = &pipe.input[pipe.input_at..];
        if left.is_empty() {
            // Whoever fills the pipe polls again.
            return Poll::Pending;
        }
        let bytes = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..bytes]);
        pipe.input_at += bytes;
        if pipe.input_at == pipe.input.len() {
            pipe.input_at = 0;
            pipe.input.clear();
            if pipe.input.capacity() > KEPT_BYTES_MAX {
                pipe.input = Vec::new();
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for PipeEnd {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().write(data)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut pipe = self.0.borrow_mut();
        let mut written = 0;
        for piece in pieces {
            match pipe.write(piece) {
                Poll::Ready(Ok(bytes)) => {
                    written += bytes;
                    if bytes < piece.len() {
                        break;
                    }
                }
                other if written == 0 => return other,
                _ => break,
            }
        }
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
