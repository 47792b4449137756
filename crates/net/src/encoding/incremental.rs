//! Undoing the encodings of a body that is read in pieces: what a server has flushed is there at once.

use std::io::{self, Write};

use super::{Algorithm, BROTLI_BUFFER_BYTES, broken, decoder_of, failed, wrapped};
use crate::error::NetError;

/// Input that is decoded at a time.
const STEP_BYTES: usize = 1 << 10;
/// The window that RFC 9659 allows for content: 8 MiB, which a decoder may have to hold.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// What one such step may become: more than gzip makes of it at its best. A body that unfolds faster is a bomb.
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// The decoders of one body, in the order its bytes go through them.
pub struct Decoder {
    stages: Vec<Stage>,
}

enum Stage {
    Gzip(flate2::write::MultiGzDecoder<Sink>),
    Deflate(flate2::write::ZlibDecoder<Sink>),
    Brotli(Box<brotli::DecompressorWriter<Sink>>),
    Zstd(zstd::stream::write::Decoder<'static, Sink>),
}

impl Decoder {
    /// Decoders for what a `Content-Encoding` value lists; `None` where nothing is to be done. Names that are not known are
    /// passed over, as for whole bodies.
    ///
    /// # Errors
    /// When a decoder cannot be made.
    pub fn new(content_encoding: &[u8]) -> Result<Option<Self>, NetError> {
        let names = content_encoding.rsplit(|&byte| byte == b',');
        let stages =
            names.filter_map(decoder_of).take(STAGES_MAX + 1).map(Stage::new).collect::<Result<Vec<_>, _>>()?;
        if stages.len() > STAGES_MAX {
            return Err(failed("more than 4 encodings on top of each other"));
        }
        Ok((!stages.is_empty()).then_some(Self { stages }))
    }

    /// Decodes a piece and hands out what that gives, in pieces of its own.
    ///
    /// # Errors
    /// A broken body, one that unfolds to far more than it is, or what `sink` says.
    pub fn feed<E: From<NetError>>(
        &mut self,
        input: &[u8],
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for step in input.chunks(STEP_BYTES) {
            feed(&mut self.stages, step, &mut bounded(&mut sink))?;
        }
        Ok(())
    }

    /// The body has ended.
    ///
    /// # Errors
    /// When it breaks off in the middle.
    pub fn finish<E: From<NetError>>(&mut self, mut sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut sink = bounded(&mut sink);
        let mut stages = &mut self.stages[..];
        while let Some((first, others)) = stages.split_first_mut() {
            first.end()?;
            let rest = first.take();
            feed(others, &rest, &mut sink)?;
            stages = others;
        }
        Ok(())
    }
}

/// Passes on what one step of the input becomes in all stages together: each may stay below its own limit, and a bomb within
/// a bomb still unfolds a million times.
fn bounded<E: From<NetError>>(sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> impl FnMut(&[u8]) -> Result<(), E> {
    let mut left = OUTPUT_BYTES_MAX;
    move |bytes| {
        left = left.checked_sub(bytes.len()).ok_or_else(bomb)?;
        sink(bytes)
    }
}

fn bomb() -> NetError {
    failed(&format!("{STEP_BYTES} bytes became more than {OUTPUT_BYTES_MAX}"))
}

/// Hands `input` through the stages. They are few.
fn feed<E: From<NetError>>(
    stages: &mut [Stage],
    input: &[u8],
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let Some((first, others)) = stages.split_first_mut() else {
        return if input.is_empty() { Ok(()) } else { sink(input) };
    };
    for step in input.chunks(STEP_BYTES) {
        let decoded = first.decode(step)?;
        feed(others, &decoded, sink)?;
    }
    Ok(())
}

impl Stage {
    fn new(algorithm: Algorithm) -> Result<Self, NetError> {
        let sink = Sink::default();
        Ok(match algorithm {
            Algorithm::Gzip => Self::Gzip(flate2::write::MultiGzDecoder::new(sink)),
            Algorithm::Deflate => Self::Deflate(flate2::write::ZlibDecoder::new(sink)),
            Algorithm::Brotli => Self::Brotli(Box::new(brotli::DecompressorWriter::new(sink, BROTLI_BUFFER_BYTES))),
            Algorithm::Zstd => {
                let mut made = zstd::stream::write::Decoder::new(sink).map_err(|error| failed(&error.to_string()))?;
                made.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(|error| failed(&error.to_string()))?;
                Self::Zstd(made)
            }
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Gzip(_) => "gzip",
            Self::Deflate(_) => "zlib",
            Self::Brotli(_) => "brotli",
            Self::Zstd(_) => "zstd",
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Gzip(decoder) => decoder,
            Self::Deflate(decoder) => decoder,
            Self::Brotli(decoder) => &mut **decoder,
            Self::Zstd(decoder) => decoder,
        }
    }

    fn take(&mut self) -> Vec<u8> {
        let sink = match self {
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
        };
        std::mem::take(&mut sink.bytes)
    }

    fn decode(&mut self, input: &[u8]) -> Result<Vec<u8>, NetError> {
        let writer = self.writer();
        let written = writer.write_all(input).and_then(|()| writer.flush());
        written.map_err(|error| self.complaint(&error))?;
        Ok(self.take())
    }

    fn end(&mut self) -> Result<(), NetError> {
        let ended = match self {
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Deflate(decoder) => decoder.try_finish(),
            Self::Brotli(decoder) => decoder.close(),
            Self::Zstd(decoder) => decoder.flush(),
        };
        ended.map_err(|error| self.complaint(&error))
    }

    fn complaint(&self, error: &io::Error) -> NetError {
        match error.kind() {
            io::ErrorKind::FileTooLarge => bomb(),
            io::ErrorKind::WriteZero => failed(&wrapped(&format!("{}: excessive input", self.name()))),
            _ => broken(error, Vec::new(), self.name()).error,
        }
    }
}

/// What a decoder has given, up to a limit.
#[derive(Default)]
struct Sink {
    bytes: Vec<u8>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > OUTPUT_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.stages.iter().map(Stage::name)).finish()
    }
}

/// Encodings on top of each other; each has buffers of its own.
const STAGES_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::{encode, parse_algorithms};

    fn decode(list: &str, body: &[u8], step: usize) -> Result<Vec<u8>, NetError> {
        let mut decoder = Decoder::new(list.as_bytes())?.expect("an encoding");
        let mut out = Vec::new();
        let mut sink = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok::<_, NetError>(())
        };
        for piece in body.chunks(step) {
            decoder.feed(piece, &mut sink)?;
        }
        decoder.finish(&mut sink)?;
        Ok(out)
    }

    #[test]
    fn pieces_of_any_size_give_the_same() {
        let body = b"data: hello, hello, hello\n\n".repeat(200);
        for list in ["gzip", "deflate", "br", "zstd", "gzip, deflate", "br,zstd,gzip"] {
            let encoded = encode(&body, &parse_algorithms(list).unwrap()).unwrap();
            for step in [1, 7, 100_000] {
                assert!(decode(list, &encoded, step).unwrap() == body, "{list} in pieces of {step}");
            }
        }
        assert!(Decoder::new(b"identity").unwrap().is_none());
        assert!(Decoder::new(b"gzip,gzip,gzip,gzip,gzip").is_err());
    }

    #[test]
    fn what_is_flushed_is_there() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(b"data: one\n\n").unwrap();
        encoder.flush().unwrap();
        let first = encoder.get_ref().clone();
        let mut decoder = Decoder::new(b"gzip").unwrap().unwrap();
        let mut out = Vec::new();
        decoder
            .feed(&first, |bytes| {
                out.extend_from_slice(bytes);
                Ok::<_, NetError>(())
            })
            .unwrap();
        assert_eq!(out, b"data: one\n\n");
    }

    #[test]
    fn broken_and_cut_bodies() {
        let gzip = encode(&b"hello ".repeat(500), &[Algorithm::Gzip]).unwrap();
        for list in ["gzip", "deflate", "br", "zstd"] {
            assert!(decode(list, b"this is nothing of the kind", 5).is_err(), "{list}");
        }
        assert!(decode("gzip", &gzip[..gzip.len() - 12], 10).is_err());
    }

    #[test]
    fn bombs_are_refused() {
        // gzip does not unfold that far: its output is handed out piece by piece.
        for list in ["br", "zstd"] {
            let bomb = encode(&vec![0; 64 << 20], &parse_algorithms(list).unwrap()).unwrap();
            let code = decode(list, &bomb, 100_000).map_or_else(|refused| refused.code, |_| 0);
            assert_eq!(code, 1701, "{list} of {} bytes", bomb.len());
        }
        // A frame that says its window is 16 MiB, with an empty block.
        let window = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 0x01, 0x00, 0x00];
        assert_eq!(decode("zstd", &window, 1).map_err(|refused| refused.code), Err(1701));
        assert_eq!(decode("zstd", &window.map(|byte| if byte == 0x70 { 0x68 } else { byte }), 1), Ok(Vec::new()));
    }
}
