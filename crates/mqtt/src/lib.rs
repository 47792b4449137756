//! What an MQTT server is sent and answers: the packets of version 3.1.1, without a connection.
//!
//! A [`Packet`] is written to bytes; [`Decoder`] is fed bytes as they come and gives packets. A server can make it hold no
//! more than [`PACKET_BYTES_MAX`].
//!
//! ```
//! use onrush_mqtt::{Decoder, Packet, Publish, QoS};
//!
//! let publish = Publish { topic: "a/b".to_owned(), payload: b"hello".to_vec(), ..Publish::default() };
//! let mut bytes = Vec::new();
//! Packet::Publish(publish.clone()).write(&mut bytes).expect("it is short");
//! assert_eq!(bytes, b"\x30\x0a\x00\x03a/bhello");
//!
//! let mut decoder = Decoder::default();
//! decoder.buffer().extend_from_slice(&bytes[..5]);
//! assert_eq!(decoder.packet(), Ok(None));
//! decoder.buffer().extend_from_slice(&bytes[5..]);
//! assert_eq!(decoder.packet(), Ok(Some(Packet::Publish(publish))));
//! # assert_eq!(QoS::AtMostOnce as u8, 0);
//! ```

mod decoder;
mod packet;

#[cfg(test)]
mod tests;

pub use decoder::{Decoder, Malformed, PACKET_BYTES_MAX, fuzz};
pub use packet::{Connect, Packet, Publish, QoS, TooLong, Will};
