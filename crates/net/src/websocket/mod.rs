//! WebSocket (RFC 6455) with compression of messages (RFC 7692), the client's side.
//!
//! `frame`, `decoder`, `encoder` and `deflate` are a codec free of sockets: the decoder is given bytes and says what
//! they mean, a bounded step at a time, and holds no memory while nothing is under way. `handshake` says what is asked
//! for and judges the answer, `socket` puts the codec over a [`crate::Wire`], and `byte_stream` has one stream of
//! bytes in its messages. What is a mistake of the server, and the
//! texts about it, are those of k6's library, because k6 users see them.

mod byte_stream;
mod close;
mod decoder;
mod deflate;
mod encoder;
mod frame;
mod fuzz;
mod handshake;
#[cfg(test)]
mod laws;
mod mask;
mod socket;

pub use byte_stream::ByteStream;
pub use close::{CloseError, close_payload};
pub use decoder::{Decoder, Event, ReadError, Step};
pub use deflate::Agreement;
pub use encoder::Encoder;
pub use frame::Opcode;
pub use fuzz::fuzz;
pub use handshake::{HandshakeError, Offer};
pub use socket::{Lost, Socket};

/// Most bytes of a message, decompressed. k6 has no limit, and ends with the memory of the machine.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;
