//! Reading a journal, whoever wrote it.

use std::io::Read;

use onrush_session::{Input, protocol::Time};

use super::{
    JournalError, JournalHead,
    format::{Kind, Records},
    writer::MAGIC,
};
use crate::{content::CONTENT_BYTES_MAX, convert::unfold, messages::Folded};

/// The largest input: what `setup()` returned, with what is around it.
const INPUT_BYTES_MAX: u64 = 300 << 20;
const HEAD_BYTES_MAX: u64 = 16 << 20;

/// Something that a journal says.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// An input of the coordinator, and when it came.
    Input(Time, Box<Input<'static>>),
    /// The run was over.
    Over,
}

/// Reads a journal entry by entry.
#[derive(Debug)]
pub struct JournalReader<R> {
    records: Records<R>,
    /// What the coordinator knew.
    pub head: JournalHead,
    /// The test, as agents get it.
    pub test: Vec<u8>,
}

impl<R: Read> JournalReader<R> {
    /// Reads the beginning.
    ///
    /// # Errors
    /// When it is no journal of this version.
    pub fn open(bytes: R) -> Result<Self, JournalError> {
        let mut records = Records::open(bytes, MAGIC, "no journal of a run, or one of another version")?;
        let head = match records.next(HEAD_BYTES_MAX)? {
            Some((Kind::Head, head)) => {
                postcard::from_bytes(&head).map_err(|error| records.damaged(error.to_string()))?
            }
            _ => return Err(records.damaged("it has no head")),
        };
        match records.next(CONTENT_BYTES_MAX + 1)? {
            Some((Kind::Test, test)) => Ok(Self { records, head, test }),
            _ => Err(records.damaged("it has no test")),
        }
    }

    /// How long the file is up to the last entry that was read.
    pub fn bytes(&self) -> u64 {
        self.records.at
    }

    /// The next entry; `None` at the end. An entry that is torn is none: nobody has heard of it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, JournalError> {
        let Some((kind, data)) = self.records.next(INPUT_BYTES_MAX)? else { return Ok(None) };
        let is_compressed = match kind {
            Kind::Over => return Ok(Some(Entry::Over)),
            Kind::Input => false,
            Kind::CompressedInput => true,
            _ => return Err(self.records.damaged("a record that is no input")),
        };
        let (at, input) = unfold::<(Time, Input<'static>)>(&Folded { data, is_compressed })
            .map_err(|error| self.records.damaged(error.to_string()))?;
        Ok(Some(Entry::Input(at, Box::new(input))))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use onrush_session::protocol::{AgentId, Report};
    use proptest::prelude::*;

    use super::*;
    use crate::{JournalAgent, JournalWriter, Session};

    fn head() -> JournalHead {
        JournalHead {
            program: "1.2.3".to_owned(),
            boot: "once".to_owned(),
            clock_epoch: 7,
            listen: ([127, 0, 0, 1], 6567).into(),
            settings: vec![("wait".to_owned(), vec!["5s".to_owned()])],
            secret: Some("long-enough".to_owned()),
            identity: None,
            agents: vec![JournalAgent::new("a".to_owned(), Session([3; 16]))],
            weights: vec![1],
        }
    }

    fn inputs() -> Vec<(Time, Input<'static>)> {
        let line = |text: &str| Input::Report {
            from: AgentId(0),
            report: Cow::Owned(Report::Aborted { message: text.to_owned() }),
        };
        vec![
            (Time(1), Input::Start(Cow::Owned(vec![1, 2]))),
            (Time(2), Input::Tick),
            (Time(3), line("short")),
            (Time(4), line(&"long ".repeat(1_000))),
            (Time(5), Input::SetupData(Some(Cow::Owned("{}".to_owned())))),
        ]
    }

    fn written(is_over: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = JournalWriter::begin(&mut bytes, &head(), b"the test").expect("memory");
        inputs().iter().for_each(|(at, input)| writer.note(input, *at).expect("memory"));
        if is_over {
            writer.end().expect("memory");
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Result<(Vec<Entry>, u64), JournalError> {
        let mut reader = JournalReader::open(bytes)?;
        assert_eq!((&reader.head, &reader.test[..]), (&head(), &b"the test"[..]));
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry()? {
            entries.push(entry);
        }
        Ok((entries, reader.bytes()))
    }

    #[test]
    fn what_was_noted_is_read() {
        let mut expected: Vec<Entry> =
            inputs().into_iter().map(|(at, input)| Entry::Input(at, Box::new(input))).collect();
        let bytes = written(false);
        assert!(bytes.len() < 1_000, "long inputs are compressed: {}", bytes.len());
        assert_eq!(read(&bytes).expect("whole"), (expected.clone(), bytes.len() as u64));
        expected.push(Entry::Over);
        assert_eq!(read(&written(true)).expect("whole").0, expected);
    }

    #[test]
    fn a_torn_end_is_no_entry() {
        let bytes = written(false);
        let mut beginning = Vec::new();
        JournalWriter::begin(&mut beginning, &head(), b"the test").expect("memory");
        let beginning = beginning.len();
        for length in beginning..bytes.len() {
            let (entries, whole) = read(&bytes[..length]).expect("torn");
            assert!(entries.len() < inputs().len() && whole <= length as u64, "{length}");
            // Who goes on writes over the torn end.
            assert_eq!(read(&bytes[..whole as usize]).expect("whole").0, entries);
        }
    }

    #[test]
    fn other_files_are_refused() {
        for other in [&b""[..], b"onrush journal 2\n", b"{}", &written(false)[..20]] {
            assert!(read(other).is_err());
        }
    }

    proptest! {
        /// Whatever is in the file, reading ends, and what was changed is found.
        #[test]
        fn changed_journals_are_found(at in 17_usize..100_000, with in 1_u8..) {
            let mut bytes = written(false);
            let at = 17 + at % (bytes.len() - 17);
            bytes[at] ^= with;
            // A changed length may look like a torn end.
            if let Ok(mut reader) = JournalReader::open(&bytes[..]) {
                let mut count = 0;
                while let Ok(Some(_)) = reader.next_entry() {
                    count += 1;
                }
                prop_assert!(count < inputs().len());
            }
        }
    }
}
