//! A whole file as a table: checked once, its records read when they are asked for.

use thiserror::Error;

use crate::{Cursor, Delimiter, Field, Pause, RecordError};

/// Which records of a file are wanted. Records are numbered from 0, the header included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selection {
    /// Leave out the first one; without effect if `from` does.
    pub skips_first: bool,
    /// The first one is the header.
    pub has_header: bool,
    /// The first one wanted; 0 for all.
    pub from: u64,
    /// The last one wanted; 0 for all.
    pub to: u64,
}

/// Why a file has no such records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TableError {
    /// The header.
    #[error("failed to create a new parser; reason: failed to read the first line; reason: {}", reason(*.0))]
    Header(Option<RecordError>),
    /// The record to leave out.
    #[error("failed to create a new parser; reason: failed to skip the first line; reason: {}", reason(*.0))]
    First(Option<RecordError>),
    /// Those before the first one wanted.
    #[error("failed to create a new parser; reason: failed to skip lines until line {from}; reason: {}", reason(*error))]
    Before {
        /// The first one wanted.
        from: u64,
        /// What is wrong; nothing where the file has fewer.
        error: Option<RecordError>,
    },
    /// One of those wanted.
    #[error("failed to read record; reason: {0}")]
    Record(RecordError),
    /// The file is larger than 4 GiB.
    #[error("failed to read the table: the file is larger than 4 GiB")]
    TooLarge,
}

impl TableError {
    /// The [`Pause`] said to stop; nothing is wrong.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let error = match self {
            Self::Header(error) | Self::First(error) | Self::Before { error, .. } => *error,
            Self::Record(error) => Some(*error),
            Self::TooLarge => None,
        };
        error == Some(RecordError::Stopped)
    }
}

fn reason(error: Option<RecordError>) -> String {
    error.map_or_else(|| "EOF".to_owned(), |error| error.to_string())
}

impl Selection {
    /// Places a cursor before the first record wanted; the header's fields go to `header`.
    ///
    /// # Errors
    ///
    /// The file ends before, or a record that is left out cannot be read.
    pub fn begin(
        &self,
        cursor: &mut Cursor,
        data: &[u8],
        header: &mut Vec<Field>,
        pause: Pause<'_>,
    ) -> Result<u64, TableError> {
        let done = |record: Option<Result<(), RecordError>>| match record {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(Some(error)),
            None => Err(None),
        };
        if self.has_header {
            done(cursor.read(data, header, pause)).map_err(TableError::Header)?;
            Ok(1)
        } else if self.from > 0 {
            for _ in 0..self.from {
                let from = self.from;
                done(cursor.skip(data, pause)).map_err(|error| TableError::Before { from, error })?;
            }
            Ok(self.from)
        } else if self.skips_first {
            done(cursor.skip(data, pause)).map_err(TableError::First)?;
            Ok(1)
        } else {
            Ok(0)
        }
    }

    /// Whether the record of that number is past the last one wanted.
    #[must_use]
    pub fn is_past(&self, record: u64) -> bool {
        self.to > 0 && record > self.to
    }
}

/// Where the records of a file are. It does not hold the file, and takes half a byte a record.
#[derive(Debug, Clone)]
pub struct Table {
    delimiter: Delimiter,
    header: Vec<Field>,
    /// Where every [`STRIDE`]th record begins.
    starts: Box<[u32]>,
    len: usize,
}

/// Records between two known places: going over the others takes less than making values of one.
const STRIDE: usize = 8;

/// How much is read between two pauses: some 0.5 ms.
const PAUSE_BYTES: usize = 256 << 10;

impl Table {
    /// Reads a file from `offset` on.
    ///
    /// # Errors
    ///
    /// One of its records cannot be read.
    pub fn read(
        data: &[u8],
        offset: usize,
        delimiter: Delimiter,
        selection: &Selection,
        pause: Pause<'_>,
    ) -> Result<Self, TableError> {
        if u32::try_from(data.len()).is_err() {
            return Err(TableError::TooLarge);
        }
        let mut cursor = Cursor::at(delimiter, offset);
        let mut header = Vec::new();
        let mut record = selection.begin(&mut cursor, data, &mut header, pause)?;
        let (mut starts, mut len, mut paused_at) = (Vec::new(), 0, cursor.offset());
        while !selection.is_past(record) {
            let start = cursor.offset();
            match cursor.skip(data, pause) {
                None => break,
                Some(result) => result.map_err(TableError::Record)?,
            }
            if len % STRIDE == 0 {
                starts.push(u32::try_from(start).expect("the file has fewer bytes"));
            }
            len += 1;
            record += 1;
            if cursor.offset() - paused_at > PAUSE_BYTES {
                if !pause(cursor.offset() - paused_at) {
                    return Err(TableError::Record(RecordError::Stopped));
                }
                paused_at = cursor.offset();
            }
        }
        Ok(Self { delimiter, header, starts: starts.into(), len })
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes it takes, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.header)
    }

    /// The fields of the header, if it has one.
    #[must_use]
    pub fn header(&self) -> &[Field] {
        &self.header
    }

    /// Reads the record of that index into `fields`. `data` is the file the table was read from.
    ///
    /// # Errors
    ///
    /// There is none, with `None`; or the pause said to stop.
    pub fn record(
        &self,
        data: &[u8],
        index: usize,
        fields: &mut Vec<Field>,
        pause: Pause<'_>,
    ) -> Option<Result<(), RecordError>> {
        let start = *self.starts.get(index / STRIDE).filter(|_| index < self.len)?;
        let mut cursor = Cursor::at(self.delimiter, start as usize);
        for _ in 0..index % STRIDE {
            if let Err(error) = cursor.skip(data, pause)? {
                return Some(Err(error));
            }
        }
        cursor.read(data, fields, pause)
    }
}
