//! What a Redis server is sent and answers: RESP 2 and the types of RESP 3, without a connection.
//!
//! [`Command`] is written, [`Decoder`] is fed bytes as they come and gives [`Reply`]s. A server can make it hold no more
//! than [`REPLY_BYTES_MAX`], nest no deeper than [`DEPTH_MAX`], and not recurse. Of clusters there are [`slot`]s, [`Shards`] and
//! [`Redirect`]s.
//!
//! ```
//! use onrush_redis::{Command, Decoder, Reply};
//!
//! let mut command = Command::new("GET");
//! command.push(b"key");
//! assert_eq!(command.bytes(), b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
//!
//! let mut decoder = Decoder::default();
//! decoder.buffer().extend_from_slice(b"$5\r\nhel");
//! assert_eq!(decoder.reply(), Ok(None));
//! decoder.buffer().extend_from_slice(b"lo\r\n");
//! assert_eq!(decoder.reply(), Ok(Some(Reply::Bytes(b"hello".to_vec()))));
//! ```

mod cluster;
mod command;
mod decoder;
mod fuzz;

#[cfg(test)]
mod tests;

pub use cluster::{Redirect, SLOTS, Shards, slot};
pub use command::Command;
pub use decoder::{DEPTH_MAX, Decoder, Malformed, REPLY_BYTES_MAX, Reply};
pub use fuzz::fuzz;
