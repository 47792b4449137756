//! gRPC services: what a request's path leads to, and what is answered to each message.
//!
//! [`crate::http2`] moves the bytes; this says which messages and which status. The services are described in
//! `assets/grpc`; the descriptors that reflection gives are compiled from there (`cargo test -p onrush-grpc` checks it).

mod answer;
mod reflection;
mod wire;

pub(crate) use answer::{Action, Service, Status};

/// Framed and ready to be sent.
pub(crate) fn framed(message: &[u8], gzip: bool) -> Vec<u8> {
    let mut out = vec![u8::from(gzip), 0, 0, 0, 0];
    if gzip {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(&mut out, flate2::Compression::fast());
        // Writing to memory does not fail.
        let _ = encoder.write_all(message).and_then(|()| encoder.try_finish());
        drop(encoder);
    } else {
        out.extend_from_slice(message);
    }
    let length = u32::try_from(out.len() - 5).unwrap_or(u32::MAX);
    out[1..5].copy_from_slice(&length.to_be_bytes());
    out
}
