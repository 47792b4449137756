//! Writing result files.

use std::io::{self, Write};

use onrush_metrics::Step;
use zstd::stream::write::Encoder;

use crate::{
    End, Head,
    format::{FRAME_BYTES_MAX, MAGIC, Packed, WINDOW_LOG},
};

/// How hard it tries to make files small: at 12, an hour of a website takes half a second of CPU.
const LEVEL: i32 = 12;

/// Writes a file record by record; each is on its way to the disk when the call returns.
pub struct Writer<W: Write> {
    file: W,
    /// All frames are parts of one compressed stream, so that each second takes only what is new in it.
    encoder: Encoder<'static, Vec<u8>>,
}

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A second of the run is too large.
    #[error("a step takes {0} bytes, which is more than a result file can have: use fewer different tag values")]
    TooLarge(usize),
    /// A bug of ours.
    #[error("a record cannot be written: {0}")]
    Record(#[from] postcard::Error),
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(mut file: W, head: &Head) -> Result<Self, WriteError> {
        file.write_all(MAGIC)?;
        let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
        encoder.window_log(WINDOW_LOG)?;
        let mut writer = Self { file, encoder };
        writer.write(&Packed::Head(json(head)))?;
        Ok(writer)
    }

    /// Writes what was measured.
    ///
    /// # Errors
    /// What the system says; the file then ends with the step before.
    pub fn step(&mut self, step: Step) -> Result<(), WriteError> {
        self.write(&Packed::Step(step))
    }

    /// Writes something else about the run.
    ///
    /// # Errors
    /// What the system says.
    pub fn note(&mut self, name: &str, json: String) -> Result<(), WriteError> {
        self.write(&Packed::Note(name.to_owned(), json))
    }

    /// Writes how the run ended, and gives the file back.
    ///
    /// # Errors
    /// What the system says.
    pub fn end(mut self, end: &End) -> Result<W, WriteError> {
        self.write(&Packed::End(json(end)))?;
        self.file.flush()?;
        Ok(self.file)
    }

    fn write(&mut self, record: &Packed) -> Result<(), WriteError> {
        let bytes = postcard::to_allocvec(record)?;
        self.encoder.write_all(&bytes)?;
        self.encoder.flush()?;
        let frame = std::mem::take(self.encoder.get_mut());
        if frame.len() > FRAME_BYTES_MAX || bytes.len() > crate::format::RECORD_BYTES_MAX {
            return Err(WriteError::TooLarge(bytes.len()));
        }
        // The cast is exact: frames are shorter.
        let mut head = (frame.len() as u32).to_le_bytes().to_vec();
        head.extend(crc32fast::hash(&frame).to_le_bytes());
        self.file.write_all(&head)?;
        self.file.write_all(&frame)?;
        Ok(self.file.flush()?)
    }
}

/// Texts and numbers always become JSON.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
