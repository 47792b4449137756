//! What whoever uses this crate brings along: connections, time, memory.

use std::fmt::Debug;

use crate::KafkaError;

/// A connection that bytes go over. Deadlines are in the time of [`World::now_ns`].
pub trait Stream: Debug {
    /// Waits for bytes and appends them; false at the end.
    ///
    /// # Errors
    /// Why there are none.
    fn read(&mut self, out: &mut Vec<u8>, deadline_ns: u64) -> Result<bool, KafkaError>;

    /// Writes all bytes.
    ///
    /// # Errors
    /// Why they were not written.
    fn write(&mut self, bytes: &[u8], deadline_ns: u64) -> Result<(), KafkaError>;

    /// Whether nothing waits to be read: what a broker says unasked is the end.
    fn is_quiet(&self) -> bool;
}

/// The way to brokers, and what one does while they take their time.
pub trait World: Debug {
    /// What [`World::dial`] makes.
    type Stream: Stream;

    /// Connects.
    ///
    /// # Errors
    /// Why there is no connection.
    fn dial(&mut self, host: &str, port: u16, deadline_ns: u64) -> Result<Self::Stream, KafkaError>;

    /// Nanoseconds of a clock that never goes back.
    fn now_ns(&self) -> u64;

    /// Milliseconds since 1970.
    fn unix_ms(&self) -> i64;

    /// Waits.
    ///
    /// # Errors
    /// Nobody waits for the result any more.
    fn sleep(&mut self, ns: u64) -> Result<(), KafkaError>;

    /// Lets others run, if it is their turn: called again and again during long work.
    ///
    /// # Errors
    /// Nobody waits for the result any more.
    fn pause(&mut self) -> Result<(), KafkaError>;

    /// Is told how many bytes are held of what brokers sent.
    ///
    /// # Errors
    /// They are too many.
    fn hold(&mut self, bytes: usize) -> Result<(), KafkaError>;

    /// Does long work elsewhere and waits for it.
    ///
    /// # Errors
    /// Nobody waits for the result any more.
    fn aside<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, KafkaError>;
}
