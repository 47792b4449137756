//! Where an output's bytes go: a file, a compressed file, or a stream of the caller's.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use flate2::{Compression, write::GzEncoder};

use crate::create;

/// Bytes that are collected before they are handed to the system.
const BUFFER_BYTES: usize = 256 << 10;

/// A buffered writer whose flush leaves a file that can be read up to there.
pub enum Destination {
    /// As it is.
    Plain(BufWriter<Box<dyn Write + Send>>),
    /// Compressed.
    Gzip(Box<GzEncoder<BufWriter<File>>>),
}

impl Destination {
    /// Makes the file, or empties it. A name that ends in `.gz` is compressed.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub fn file(path: &Path) -> io::Result<Self> {
        let file = create(path)?;
        if path.extension().is_some_and(|extension| extension == "gz") {
            let encoder = GzEncoder::new(BufWriter::with_capacity(BUFFER_BYTES, file), Compression::default());
            return Ok(Self::Gzip(Box::new(encoder)));
        }
        Ok(Self::stream(Box::new(file)))
    }

    /// A stream somebody else opened.
    pub fn stream(stream: Box<dyn Write + Send>) -> Self {
        Self::Plain(BufWriter::with_capacity(BUFFER_BYTES, stream))
    }

    /// Whether a flush costs compression.
    pub(crate) fn is_compressed(&self) -> bool {
        matches!(self, Self::Gzip(_))
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.write_all(bytes),
            Self::Gzip(encoder) => encoder.write_all(bytes),
        }
    }

    /// Hands everything to the system; a compressed file can then be read up to here.
    ///
    /// # Errors
    /// What the system says.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.flush(),
            Self::Gzip(encoder) => encoder.flush(),
        }
    }

    /// Writes what is left, and the end of a compressed file.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.flush(),
            Self::Gzip(encoder) => {
                encoder.try_finish()?;
                encoder.get_mut().flush()
            }
        }
    }

    /// Gives up: what is still buffered is not written when it is dropped.
    pub(crate) fn abandon(self) {
        match self {
            Self::Plain(writer) => drop(writer.into_parts()),
            // Dropping an encoder writes its end; forgetting it leaks one buffer, once a run at most.
            Self::Gzip(encoder) => std::mem::forget(encoder),
        }
    }
}
