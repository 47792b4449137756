//! Compression of batches: gzip, Snappy, LZ4 and Zstandard, a piece at a time and never more than is allowed.

use std::io::{Read, Write};

use crate::{KafkaError, World};

/// How a batch is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Codec {
    /// Not at all.
    #[default]
    None = 0,
    /// RFC 1952.
    Gzip = 1,
    /// Blocks in the frame of xerial's library for Java.
    Snappy = 2,
    /// LZ4 frames.
    Lz4 = 3,
    /// RFC 8878.
    Zstd = 4,
}

impl Codec {
    /// The codec in a batch's attributes.
    pub(crate) fn of(attributes: i16) -> Result<Self, KafkaError> {
        match attributes & 7 {
            0 => Ok(Self::None),
            1 => Ok(Self::Gzip),
            2 => Ok(Self::Snappy),
            3 => Ok(Self::Lz4),
            4 => Ok(Self::Zstd),
            _ => Err(KafkaError::malformed("a batch has an unknown compression")),
        }
    }

    /// Compresses.
    pub(crate) fn pack<W: World>(self, world: &mut W, plain: &[u8]) -> Result<Vec<u8>, KafkaError> {
        let failed = |_| KafkaError::Invalid("a batch could not be compressed".to_owned());
        match self {
            Self::None => Ok(plain.to_vec()),
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                in_pieces(world, plain, |piece| encoder.write_all(piece).map_err(failed))?;
                encoder.finish().map_err(failed)
            }
            Self::Snappy => {
                let mut out = XERIAL_HEAD.to_vec();
                let mut encoder = snap::raw::Encoder::new();
                in_pieces(world, plain, |piece| {
                    for block in piece.chunks(XERIAL_BLOCK_BYTES) {
                        let packed = encoder
                            .compress_vec(block)
                            .map_err(|_| KafkaError::Invalid("a batch could not be compressed".to_owned()))?;
                        out.extend((packed.len() as u32).to_be_bytes());
                        out.extend(packed);
                    }
                    Ok(())
                })?;
                Ok(out)
            }
            Self::Lz4 => {
                let info = lz4_flex::frame::FrameInfo::new().block_size(lz4_flex::frame::BlockSize::Max64KB);
                let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
                in_pieces(world, plain, |piece| encoder.write_all(piece).map_err(failed))?;
                encoder.finish().map_err(|_| KafkaError::Invalid("a batch could not be compressed".to_owned()))
            }
            Self::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 0).map_err(failed)?;
                in_pieces(world, plain, |piece| encoder.write_all(piece).map_err(failed))?;
                encoder.finish().map_err(failed)
            }
        }
    }

    /// What was compressed, if it is no longer than [`UNPACKED_BYTES_MAX`]. `held` is what is held besides.
    pub(crate) fn unpack<W: World>(self, world: &mut W, packed: &[u8], held: usize) -> Result<Vec<u8>, KafkaError> {
        match self {
            Self::None => Ok(packed.to_vec()),
            Self::Gzip => drain(world, flate2::read::MultiGzDecoder::new(packed), held),
            Self::Snappy => unsnap(world, packed, held),
            Self::Lz4 => drain(world, lz4_flex::frame::FrameDecoder::new(packed), held),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(|_| damaged())?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(|_| damaged())?;
                drain(world, decoder, held)
            }
        }
    }
}

fn in_pieces<W: World>(
    world: &mut W,
    plain: &[u8],
    mut take: impl FnMut(&[u8]) -> Result<(), KafkaError>,
) -> Result<(), KafkaError> {
    for piece in plain.chunks(PIECE_BYTES) {
        take(piece)?;
        world.pause()?;
    }
    Ok(())
}

/// Reads a decoder to its end.
fn drain<W: World>(world: &mut W, mut decoder: impl Read, held: usize) -> Result<Vec<u8>, KafkaError> {
    let mut out = Vec::new();
    loop {
        let before = out.len();
        let read = decoder.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut out).map_err(|_| damaged())?;
        if read == 0 {
            return Ok(out);
        }
        grown(world, before + read, held)?;
    }
}

fn unsnap<W: World>(world: &mut W, packed: &[u8], held: usize) -> Result<Vec<u8>, KafkaError> {
    let mut out = Vec::new();
    let Some(mut rest) = packed.strip_prefix(XERIAL_MAGIC) else {
        // One block without a frame, as some clients write it.
        append_block(&mut out, packed)?;
        grown(world, out.len(), held)?;
        return Ok(out);
    };
    rest = rest.get(XERIAL_HEAD.len() - XERIAL_MAGIC.len()..).ok_or_else(damaged)?;
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let (block, tail) = tail.split_at_checked(u32::from_be_bytes(*length) as usize).ok_or_else(damaged)?;
        append_block(&mut out, block)?;
        grown(world, out.len(), held)?;
        rest = tail;
    }
    if rest.is_empty() { Ok(out) } else { Err(damaged()) }
}

fn append_block(out: &mut Vec<u8>, block: &[u8]) -> Result<(), KafkaError> {
    let length = snap::raw::decompress_len(block).map_err(|_| damaged())?;
    // A byte stands for 64 at most; what claims more is a lie.
    if length > block.len().saturating_mul(SNAPPY_RATIO_MAX) || out.len() + length > UNPACKED_BYTES_MAX {
        return Err(too_large());
    }
    let start = out.len();
    out.resize(start + length, 0);
    let written = snap::raw::Decoder::new().decompress(block, &mut out[start..]).map_err(|_| damaged())?;
    if written == length { Ok(()) } else { Err(damaged()) }
}

fn grown<W: World>(world: &mut W, bytes: usize, held: usize) -> Result<(), KafkaError> {
    if bytes > UNPACKED_BYTES_MAX {
        return Err(too_large());
    }
    world.hold(held + bytes)?;
    world.pause()
}

fn damaged() -> KafkaError {
    KafkaError::malformed("a compressed batch is damaged")
}

fn too_large() -> KafkaError {
    KafkaError::TooLarge(format!("a compressed batch has more than {UNPACKED_BYTES_MAX} bytes when it is unpacked"))
}

/// What a batch may unfold to: more than the largest message that Kafka is used with.
pub(crate) const UNPACKED_BYTES_MAX: usize = 64 << 20;
/// Gzip, the slowest, takes 3 ms for as much.
const PIECE_BYTES: usize = 64 << 10;
const XERIAL_MAGIC: &[u8] = b"\x82SNAPPY\0";
/// The magic, the version, and the oldest version that can read it.
const XERIAL_HEAD: &[u8] = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
const XERIAL_BLOCK_BYTES: usize = 32 << 10;
const SNAPPY_RATIO_MAX: usize = 64;
/// 16 MiB of window, twice what the best level without long distances uses.
const ZSTD_WINDOW_LOG_MAX: u32 = 24;
