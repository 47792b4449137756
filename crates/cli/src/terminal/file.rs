//! Files that log lines go to: `--log-output=file=…` and `--console-output`.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use super::pen::{Nib, Piece, Stream, Written};
use crate::line::Level;

/// A file that lines are appended to. A failure loses the lines that were waiting, which are counted; later ones are
/// tried again.
#[derive(Debug)]
pub(crate) struct LogFile<W = File> {
    path: String,
    level: Level,
    file: W,
    /// Lines not handed to the system yet, and where each ends.
    waiting: Vec<u8>,
    ends: Vec<usize>,
    /// The file ends within a line that could not be written whole.
    is_torn: bool,
    /// The first failure, until somebody asks.
    failure: Option<io::Error>,
    /// Lines the file lacks, until somebody asks.
    lost: u64,
}

/// Bytes of lines that are collected before they are handed to the system.
const WAITING_MAX: usize = 64 << 10;

impl LogFile {
    /// Opens or makes the file with these permission bits.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn open(path: &str, level: Level, mode: u32) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(mode).open(Path::new(path))?;
        Ok(Self::new(path, level, file))
    }
}

impl<W: Write> LogFile<W> {
    fn new(path: &str, level: Level, file: W) -> Self {
        Self {
            path: path.to_owned(),
            level,
            file,
            waiting: Vec::new(),
            ends: Vec::new(),
            is_torn: false,
            failure: None,
            lost: 0,
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Appends a line if its level is high enough. Errors are for [`LogFile::flush`] to find.
    fn line(&mut self, level: Level, text: &[u8]) {
        if level < self.level {
            return;
        }
        self.waiting.extend_from_slice(text);
        self.ends.push(self.waiting.len());
        if self.waiting.len() >= WAITING_MAX {
            self.hand_over();
        }
    }

    /// Hands everything to the system.
    ///
    /// # Errors
    /// What the system said, such as a full disk, the first time since the last call.
    fn flush(&mut self) -> io::Result<()> {
        self.hand_over();
        self.failure.take().map_or(Ok(()), Err)
    }

    /// How many lines were lost since the last call.
    fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    fn hand_over(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let mut rest = self.waiting.as_slice();
        let mut result = Ok(());
        if self.is_torn {
            result = self.file.write_all(b"\n");
            self.is_torn = result.is_err();
        }
        while result.is_ok() && !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => result = Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => result = Err(error),
            }
        }
        if let Err(error) = result {
            let written = self.waiting.len() - rest.len();
            let whole = self.ends.partition_point(|end| *end <= written);
            self.lost += (self.ends.len() - whole) as u64;
            self.is_torn |= written > whole.checked_sub(1).map_or(0, |last| self.ends[last]);
            self.failure.get_or_insert(error);
        }
        self.waiting.clear();
        self.ends.clear();
    }
}

impl<W: Write + Send + 'static> Nib for LogFile<W> {
    fn write(&mut self, pieces: Vec<Piece>, progress: &dyn Fn()) -> Written {
        for piece in pieces {
            self.line(piece.level, &piece.bytes);
            progress();
        }
        // At once: a killed run keeps its log.
        let failure = self.flush().err().map(|error| (Stream::Stderr, error));
        progress();
        Written { lost: self.take_lost(), failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for so many bytes.
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let part = bytes.len().min(self.room);
            if part == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= part;
            self.bytes.extend_from_slice(&bytes[..part]);
            Ok(part)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_find_no_room_are_counted() {
        let mut file = LogFile::new("a.log", Level::Info, Disk { bytes: Vec::new(), room: 10 });
        for line in ["one\n", "two\n", "three\n", "four\n"] {
            file.line(Level::Info, line.as_bytes());
        }
        file.line(Level::Debug, "below the level\n".as_bytes());
        assert_eq!(file.flush().expect_err("a full disk").kind(), io::ErrorKind::StorageFull);
        assert_eq!((file.take_lost(), file.take_lost()), (2, 0));
        file.line(Level::Error, "five\n".as_bytes());
        assert!(file.flush().is_err());
        assert_eq!(file.take_lost(), 1);
        // Somebody has made room.
        file.file.room = 100;
        file.line(Level::Error, "six\n".as_bytes());
        file.flush().expect("room");
        assert_eq!(String::from_utf8_lossy(&file.file.bytes), "one\ntwo\nth\nsix\n");
        assert_eq!(file.take_lost(), 0);
    }
}
