//! HTTP/2: a session is one connection that carries any number of requests of one VU at a time.
//!
//! The protocol itself is the `h2` crate's. It wants an asynchronous byte stream and to be polled; here it gets
//! a pair of buffers ([`pipe`]) and is polled by whichever fiber has something to send or to wait for
//! ([`session`]). Between the socket and `h2` stands a [`guard`] that judges frames as Go does, because k6 users
//! see Go's verdicts, and that remembers what a GOAWAY said. [`exchange`] is one request and its response,
//! [`stream`] a stream whose owner reads and writes it bit by bit, [`message`] translates between `http`'s types and ours, [`fault`] turns what went wrong into k6's terms.
//!
//! See `docs/design/004-http2.md` for why it is so.

mod exchange;
mod fault;
mod fields;
mod fuzz;
mod guard;
mod message;
mod outcome;
mod pipe;
mod session;
mod stream;

pub(crate) use exchange::{Message, Progress};
pub use fault::reason_name;
pub use fuzz::fuzz;
pub(crate) use session::Session;
pub use stream::{Http2, Stream, StreamError, StreamHead};
