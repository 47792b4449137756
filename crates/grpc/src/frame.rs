//! Frames: a flag, a length and a message, cut out of data that comes in pieces of any size.

use std::io::Read;

use bytes::{Buf, Bytes, BytesMut};
use flate2::read::MultiGzDecoder;

use crate::status::{Code, Status};

/// Puts a flag and the length in front of a message that was written behind [`HEAD_BYTES`] of room.
pub fn finish(written: &mut [u8]) {
    let length = written.len() - HEAD_BYTES;
    if let Some(head) = written.first_chunk_mut::<HEAD_BYTES>() {
        let [flag, rest @ ..] = head;
        *flag = 0;
        // Longer ones are refused before: see `Call::send`.
        *rest = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    }
}

/// Takes messages out of what was received.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    /// What has come and is no message yet. A single piece stays as it came.
    pending: BytesMut,
    piece: Bytes,
}

impl FrameReader {
    pub(crate) fn push(&mut self, piece: Bytes) {
        if self.pending.is_empty() && self.piece.is_empty() {
            self.piece = piece;
            return;
        }
        if !self.piece.is_empty() {
            self.pending.extend_from_slice(&self.piece);
            self.piece = Bytes::new();
        }
        self.pending.extend_from_slice(&piece);
    }

    /// Whether a message has begun that is not complete. Go: less than a frame's head is nothing.
    pub(crate) fn is_amid(&self) -> bool {
        self.pending.len() + self.piece.len() >= HEAD_BYTES
    }

    /// The next message, as `encoding` has it; `None` where more is needed.
    pub(crate) fn next(&mut self, encoding: Option<&str>, bytes_max: usize) -> Result<Option<Bytes>, Status> {
        let buffered: &[u8] = if self.piece.is_empty() { &self.pending } else { &self.piece };
        let Some([flag, length @ ..]) = buffered.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let (flag, length) = (*flag, u32::from_be_bytes(*length) as usize);
        if length > bytes_max {
            return Err(Status::new(
                Code::RESOURCE_EXHAUSTED,
                format!("grpc: received message larger than max ({length} vs. {bytes_max})"),
            ));
        }
        if buffered.len() < HEAD_BYTES + length {
            return Ok(None);
        }
        let message = if self.piece.is_empty() {
            self.pending.advance(HEAD_BYTES);
            self.pending.split_to(length).freeze()
        } else {
            self.piece.advance(HEAD_BYTES);
            self.piece.split_to(length)
        };
        match flag {
            0 => Ok(Some(message)),
            1 => unpack(&message, encoding, bytes_max).map(Some),
            _ => Err(Status::new(Code::INTERNAL, format!("grpc: received unexpected payload format {flag}"))),
        }
    }
}

fn unpack(packed: &[u8], encoding: Option<&str>, bytes_max: usize) -> Result<Bytes, Status> {
    let failed = |text: String| Status::new(Code::INTERNAL, text);
    match encoding {
        None | Some("" | "identity") => {
            Err(failed("grpc: compressed flag set with identity or empty encoding".to_owned()))
        }
        Some("gzip") => {
            let mut message = Vec::new();
            let limit = bytes_max as u64 + 1;
            let read = MultiGzDecoder::new(packed).take(limit).read_to_end(&mut message);
            if let Err(error) = read {
                let reason = if error.kind() == std::io::ErrorKind::UnexpectedEof {
                    "unexpected EOF".to_owned()
                } else {
                    error.to_string()
                };
                return Err(failed(format!("grpc: failed to decompress the message: {reason}")));
            }
            if message.len() > bytes_max {
                return Err(Status::new(
                    Code::RESOURCE_EXHAUSTED,
                    format!("grpc: received message after decompression larger than max {bytes_max}"),
                ));
            }
            Ok(message.into())
        }
        Some(other) => Err(failed(format!("grpc: Decompressor is not installed for grpc-encoding {other:?}"))),
    }
}

/// A flag and a length.
pub const HEAD_BYTES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn framed(messages: &[Vec<u8>]) -> Vec<u8> {
        let frame = |message: &Vec<u8>| {
            let mut written = vec![0; HEAD_BYTES];
            written.extend_from_slice(message);
            finish(&mut written);
            written
        };
        messages.iter().flat_map(frame).collect()
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_give_the_same_messages(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..8),
            cut in 1_usize..60,
        ) {
            let mut reader = FrameReader::default();
            let mut read = Vec::new();
            for piece in framed(&messages).chunks(cut) {
                reader.push(Bytes::copy_from_slice(piece));
                while let Some(message) = reader.next(None, 100).expect("good frames") {
                    read.push(message.to_vec());
                }
            }
            prop_assert_eq!(read, messages);
            prop_assert!(!reader.is_amid());
        }
    }

    #[test]
    fn bad_frames() {
        let check = |bytes: &[u8], encoding: Option<&str>, expect: &str| {
            let mut reader = FrameReader::default();
            reader.push(Bytes::copy_from_slice(bytes));
            assert_eq!(reader.next(encoding, 4).unwrap_err().message, expect);
        };
        check(&[0, 0, 0, 0, 5], None, "grpc: received message larger than max (5 vs. 4)");
        check(&[1, 0, 0, 0, 0], None, "grpc: compressed flag set with identity or empty encoding");
        check(&[1, 0, 0, 0, 0], Some("br"), "grpc: Decompressor is not installed for grpc-encoding \"br\"");
        check(&[2, 0, 0, 0, 0], None, "grpc: received unexpected payload format 2");
    }

    #[test]
    fn gzip_is_undone_within_the_limit() {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&[7; 1000]).unwrap();
        let bytes = framed(&[encoder.finish().unwrap()]);
        let check = |bytes_max: usize| {
            let mut reader = FrameReader::default();
            let mut bytes = bytes.clone();
            bytes[0] = 1;
            reader.push(bytes.into());
            reader.next(Some("gzip"), bytes_max)
        };
        assert_eq!(check(1000).unwrap().unwrap(), vec![7; 1000]);
        assert_eq!(check(999).unwrap_err().code, Code::RESOURCE_EXHAUSTED);
    }
}
