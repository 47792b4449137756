//! HTTP/2 by raw frames: servers that say exactly what a test wants, however wrong it is.
//!
//! [`frame`] builds the bytes, [`FrameServer`] runs a closure for each connection over TLS (ALPN `h2`) or in the
//! clear, [`misbehaviours`] is the list of bad habits the hostile suite goes through. HPACK is written without
//! Huffman coding and without the table: what the client gets to decode is then easy to read in a test.

pub mod frame;
mod misbehave;
mod talk;

pub use misbehave::{Misbehaviour, misbehaviours};
pub use talk::{Frame, FrameServer, Talk};
