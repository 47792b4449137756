//! Reading result files, whoever wrote them.

use std::io::{self, Read, Write};

use onrush_metrics::{MetricId, Step};
use zstd::stream::write::Decoder;

use crate::{
    End, Head,
    format::{FRAME_BYTES_MAX, FRAME_HEAD_BYTES, MAGIC, MAGIC_1, Packed, RECORD_BYTES_MAX, RECORDS_MAX, WINDOW_LOG},
};

/// Reads a file record by record, in memory that does not depend on its length.
pub struct Reader<R: Read> {
    file: R,
    decoder: Decoder<'static, Unpacked>,
    head: Head,
    /// Bytes read so far.
    offset: u64,
    records: u64,
    ending: Option<Ending>,
}

/// What follows the head.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// What was measured.
    Step(Box<Step>),
    /// Something else about the run.
    Note {
        /// What it is: `health`, `log` or `state`, or what a later version has.
        name: String,
        /// What it says.
        json: String,
    },
    /// How the run ended: nothing follows.
    End(Box<End>),
}

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Whole,
    /// The program was killed, or its disk was full: the rest is missing.
    Torn {
        /// Bytes that could be read.
        at: u64,
    },
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no result file: it does not begin with \"onrush result\"")]
    Foreign,
    /// A later version wrote it.
    #[error(
        "it has version {0} of the format, and this version of Onrush reads 1 and 2: use the version that wrote it, or a later one"
    )]
    Version(String),
    /// It was changed or damaged.
    #[error("it is damaged at byte {at}: {why}")]
    Damaged {
        /// Where the record begins that cannot be read.
        at: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// Bytes that were unpacked, as many as there may be.
struct Unpacked(Vec<u8>);

impl Write for Unpacked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > RECORD_BYTES_MAX {
            return Err(io::Error::other("a record is larger than records may be"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<R: Read> Reader<R> {
    /// Opens a file and reads its head.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(mut file: R) -> Result<Self, ReadError> {
        let mut magic = [0; MAGIC.len()];
        let read = fill(&mut file, &mut magic)?;
        // The same but for the version.
        let common = b"onrush result ".len();
        if read < common || magic[..common] != MAGIC[..common] {
            return Err(ReadError::Foreign);
        }
        if magic != *MAGIC && magic != *MAGIC_1 {
            let version = String::from_utf8_lossy(&magic[common..read]);
            return Err(ReadError::Version(version.trim().escape_default().to_string()));
        }
        let mut decoder = Decoder::new(Unpacked(Vec::new()))?;
        decoder.window_log_max(WINDOW_LOG)?;
        let offset = MAGIC.len() as u64;
        let mut reader = Self { file, decoder, head: Head::default(), offset, records: 0, ending: None };
        reader.head = match reader.record()? {
            Some(Packed::Head(text)) => {
                serde_json::from_str(&text).map_err(|error| reader.damaged(format!("its head: {error}")))?
            }
            Some(_) => return Err(reader.damaged("it has no head")),
            None => return Err(reader.damaged("it ends before its first record")),
        };
        Ok(reader)
    }

    /// What the run is.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// How the file ends, once [`Reader::next`] has nothing more.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// The next record; `None` behind the last one. A file that was cut off ends with its last whole record.
    ///
    /// # Errors
    /// What is wrong with it.
    #[expect(clippy::should_implement_trait, reason = "what cannot be read is no item")]
    pub fn next(&mut self) -> Result<Option<Record>, ReadError> {
        if self.ending.is_some() {
            return Ok(None);
        }
        match self.record()? {
            Some(Packed::Step(step)) => {
                let known = self.head.metrics.len();
                if step.delta.series.iter().any(|series| series.metric.0 as usize >= known) {
                    return Err(self.damaged("a series of a metric that its head does not have"));
                }
                if step.span.is_some_and(|span| span.from_ns > span.until_ns) {
                    return Err(self.damaged("a step that ends before it begins"));
                }
                Ok(Some(Record::Step(Box::new(step))))
            }
            Some(Packed::End(text)) => {
                let end = serde_json::from_str(&text).map_err(|error| self.damaged(format!("its end: {error}")))?;
                self.ending = Some(Ending::Whole);
                Ok(Some(Record::End(Box::new(end))))
            }
            Some(Packed::Note(name, json)) => Ok(Some(Record::Note { name, json })),
            Some(Packed::Head(_)) => Err(self.damaged("a second head")),
            None => Ok(None),
        }
    }

    /// Unpacks the next frame; `None` where there is no whole one.
    fn record(&mut self) -> Result<Option<Packed>, ReadError> {
        let mut head = [0; FRAME_HEAD_BYTES];
        if fill(&mut self.file, &mut head)? < FRAME_HEAD_BYTES {
            self.ending = Some(Ending::Torn { at: self.offset });
            return Ok(None);
        }
        let [l0, l1, l2, l3, c0, c1, c2, c3] = head;
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(self.damaged("a frame longer than frames may be"));
        }
        self.records += 1;
        if self.records > RECORDS_MAX {
            return Err(self.damaged("more records than a file may have"));
        }
        // Memory grows with what is there, not with what the file says.
        let mut frame = Vec::new();
        (&mut self.file).take(length as u64).read_to_end(&mut frame)?;
        if frame.len() < length {
            self.ending = Some(Ending::Torn { at: self.offset });
            return Ok(None);
        }
        if crc32fast::hash(&frame) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(self.damaged("its checksum is wrong"));
        }
        let unpacked = self.decoder.write_all(&frame).and_then(|()| self.decoder.flush());
        unpacked.map_err(|error| self.damaged(error.to_string()))?;
        let bytes = std::mem::take(&mut self.decoder.get_mut().0);
        let record = postcard::take_from_bytes::<Packed>(&bytes);
        let (record, rest) = record.map_err(|error| self.damaged(error.to_string()))?;
        if !rest.is_empty() {
            return Err(self.damaged("a frame of more than one record"));
        }
        self.offset += (FRAME_HEAD_BYTES + length) as u64;
        Ok(Some(record))
    }

    fn damaged(&self, why: impl Into<String>) -> ReadError {
        ReadError::Damaged { at: self.offset, why: why.into() }
    }
}

/// Reads as much as there is.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match file.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// The same with the numbers that metrics have elsewhere; `None` for one that is not there.
pub(crate) fn renumbered(mut step: Step, numbers: &[MetricId]) -> Option<Step> {
    for series in &mut step.delta.series {
        series.metric = *numbers.get(series.metric.0 as usize)?;
    }
    Some(step)
}
