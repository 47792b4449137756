//! The way to a server, which whoever calls brings along.

use crate::SqlError;

/// A connection that bytes go over.
pub trait Stream {
    /// Waits for bytes and appends them; false at the end.
    ///
    /// # Errors
    /// Why there are none.
    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool, SqlError>;

    /// Writes all bytes.
    ///
    /// # Errors
    /// Why they were not written.
    fn write(&mut self, bytes: &[u8]) -> Result<(), SqlError>;

    /// Goes over to TLS, as was just agreed with the server.
    ///
    /// # Errors
    /// Why the handshake failed.
    fn secure(&mut self) -> Result<(), SqlError>;

    /// Whether TLS is on it.
    fn is_secure(&self) -> bool;

    /// Lets others run, if it is their turn: called between rows.
    ///
    /// # Errors
    /// Nobody waits for the result any more, or the time for it is over.
    fn pause(&mut self) -> Result<(), SqlError>;

    /// Does long work elsewhere and waits for it.
    ///
    /// # Errors
    /// Nobody waits for the result any more.
    fn aside<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, SqlError>;

    /// Encrypts with an RSA public key in PEM: OAEP with SHA-1.
    ///
    /// # Errors
    /// The key is not one.
    fn encrypt(&mut self, key_pem: &str, plain: &[u8]) -> Result<Vec<u8>, SqlError>;
}

/// What has been read and not yet looked at.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    at: usize,
}

impl Inbox {
    /// Waits until there are `count` bytes, and shows all there are.
    pub(crate) fn fill(&mut self, stream: &mut impl Stream, count: usize) -> Result<&[u8], SqlError> {
        if self.at == self.bytes.len() || self.at > KEPT_BYTES_MAX {
            self.bytes.drain(..self.at);
            self.at = 0;
        }
        while self.bytes.len() - self.at < count {
            if !stream.read(&mut self.bytes)? {
                return Err(SqlError::broken("unexpected EOF"));
            }
        }
        Ok(&self.bytes[self.at..])
    }

    /// Takes the next `count` bytes, which are there.
    pub(crate) fn take(&mut self, count: usize) -> &[u8] {
        let start = self.at;
        self.at = (start + count).min(self.bytes.len());
        &self.bytes[start..self.at]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Gives the memory of a large result back.
    pub(crate) fn shrink(&mut self) {
        if self.is_empty() && self.bytes.capacity() > KEPT_BYTES_MAX {
            *self = Self::default();
        }
    }
}

/// What an idle connection may keep.
const KEPT_BYTES_MAX: usize = 64 << 10;
