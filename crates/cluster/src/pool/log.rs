//! What a run has said, for those who follow it: bounded, and read at each reader's own pace.

use std::{collections::VecDeque, path::PathBuf};

use bytes::Bytes;
use tokio::sync::watch;

/// One thing that happened.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// The run's standard output.
    Output(Bytes),
    /// Its log.
    Log(Bytes),
    /// A file for whoever sent the run, and where it is kept.
    File { path: String, kept: PathBuf },
    /// Its exit code.
    End(u8),
}

impl Entry {
    /// What it takes of the log's bytes.
    fn bytes(&self) -> usize {
        /// For the entry itself, so that empty ones have a limit, too.
        const OWN: usize = 64;
        OWN + match self {
            Self::Output(bytes) | Self::Log(bytes) => bytes.len(),
            Self::File { path, .. } => path.len(),
            Self::End(_) => 0,
        }
    }
}

/// What a run has said so far, as far as there is room: the oldest goes first.
pub(super) struct RunLog {
    entries: VecDeque<Entry>,
    /// The number of the first entry that is still there.
    first: u64,
    bytes: usize,
    bytes_max: usize,
    /// The number of the next entry.
    next: watch::Sender<u64>,
}

impl RunLog {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { entries: VecDeque::new(), first: 0, bytes: 0, bytes_max, next: watch::Sender::new(0) }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.bytes += entry.bytes();
        self.entries.push_back(entry);
        // The newest stays, whatever its size.
        while self.bytes > self.bytes_max && self.entries.len() > 1 {
            if let Some(oldest) = self.entries.pop_front() {
                self.bytes -= oldest.bytes();
                self.first += 1;
            }
        }
        let next = self.first + self.entries.len() as u64;
        self.next.send_replace(next);
    }

    /// The entry with this number, or the first after it that is still there; with its number.
    pub(super) fn at(&self, number: u64) -> Option<(u64, Entry)> {
        let number = number.max(self.first);
        let index = usize::try_from(number - self.first).ok()?;
        self.entries.get(index).map(|entry| (number, entry.clone()))
    }

    /// Wakes whoever waits for the next entry.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.next.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first_and_numbers_stay() {
        let mut log = RunLog::new(3 * (64 + 10));
        for number in 0..10_u8 {
            log.push(Entry::Output(Bytes::from(vec![number; 10])));
        }
        let (number, entry) = log.at(0).expect("some are there");
        assert_eq!(number, 7);
        assert!(matches!(entry, Entry::Output(bytes) if bytes[0] == 7));
        assert_eq!(log.at(9).map(|(number, _)| number), Some(9));
        assert!(log.at(10).is_none());
        log.push(Entry::Output(Bytes::from(vec![0; 10_000])));
        assert_eq!(log.at(0).map(|(number, _)| number), Some(10));
        log.push(Entry::End(3));
        assert!(matches!(log.at(0), Some((11, Entry::End(3)))));
        assert_eq!(*log.changes().borrow(), 12);
    }
}
