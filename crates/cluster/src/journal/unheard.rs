//! What an agent reported and its coordinator may not have had, as a file for later.

use std::io::{self, Read, Write};

use bytes::Bytes;
use onrush_session::protocol::{Limits, Report};

use super::format::{self, JournalError, Kind, Records};
use crate::{Session, WireError, convert, rpc::MESSAGE_BYTES_MAX};

/// What such a file begins with; the number is its version.
const MAGIC: &[u8] = b"onrush unheard 1\n";
/// Reports of a file, which are those of some seconds.
const REPORTS_MAX: usize = 1_000_000;

/// Reports that a coordinator may not have had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unheard {
    /// What the agent was known by.
    pub session: Session,
    /// Encoded reports with their numbers, without gaps.
    pub reports: Vec<(u64, Vec<u8>)>,
}

/// Why such a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnheardError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] JournalError),
    /// A report in it is none.
    #[error("a report in it is none: {0}")]
    Report(#[from] WireError),
}

impl Unheard {
    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        format::write(&mut out, Kind::Session, &self.session.0)?;
        for (number, report) in &self.reports {
            format::write(&mut out, Kind::Report, &[&number.to_le_bytes()[..], report].concat())?;
        }
        format::write(&mut out, Kind::Over, &[])?;
        out.flush()
    }

    /// Reads such a file, whoever wrote it.
    ///
    /// # Errors
    /// When it is something else, or is not whole.
    pub fn read(bytes: impl Read) -> Result<Self, UnheardError> {
        let mut records = Records::open(bytes, MAGIC, "no file of an agent that lost its coordinator")?;
        let session = match records.next(64)? {
            Some((Kind::Session, session)) => session.try_into().ok(),
            _ => None,
        };
        let session = Session(session.ok_or_else(|| records.damaged("it says not whose it is"))?);
        let mut reports: Vec<(u64, Vec<u8>)> = Vec::new();
        loop {
            match records.next(MESSAGE_BYTES_MAX as u64 + 64)? {
                Some((Kind::Over, _)) => return Ok(Self { session, reports }),
                Some((Kind::Report, content)) => {
                    let Some((number, report)) = content.split_first_chunk() else {
                        return Err(records.damaged("a report without a number").into());
                    };
                    let number = u64::from_le_bytes(*number);
                    let is_next = reports.last().is_none_or(|(last, _)| last.checked_add(1) == Some(number));
                    if !is_next || reports.len() >= REPORTS_MAX {
                        return Err(records.damaged("reports out of order").into());
                    }
                    reports.push((number, report.to_vec()));
                }
                Some(_) => return Err(records.damaged("a record that is no report").into()),
                None => return Err(records.damaged("it ends early").into()),
            }
        }
    }

    /// The reports after those of which there were so many already, and which the first of these must follow.
    ///
    /// # Errors
    /// When some are missing between the two, or one is no report, or larger than an agent's may be.
    pub fn after(&self, reports: u64) -> Result<Vec<Report>, UnheardError> {
        let first = self.reports.first().map_or(reports, |(number, _)| *number);
        if first > reports.saturating_add(1) {
            let why = format!("the reports {} to {} are in no file", reports + 1, first - 1);
            return Err(JournalError::Damaged { at: 0, why }.into());
        }
        let later = self.reports.iter().filter(|(number, _)| *number > reports);
        later.map(|(_, report)| report_of(report).map_err(UnheardError::from)).collect()
    }
}

fn report_of(bytes: &[u8]) -> Result<Report, WireError> {
    let report = convert::report(Bytes::copy_from_slice(bytes))?;
    Limits::default().check(&report).map_err(|error| WireError::new(error.to_string()))?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unheard() -> Unheard {
        let report = |text: &str| convert::encode_report(&Report::Aborted { message: text.to_owned() }).to_vec();
        Unheard { session: Session([9; 16]), reports: vec![(4, report("four")), (5, report("five"))] }
    }

    #[test]
    fn what_nobody_heard_is_read_again() {
        let mut file = Vec::new();
        unheard().write(&mut file).expect("memory");
        let read = Unheard::read(&file[..]).expect("whole");
        assert_eq!(read, unheard());
        let texts = |after: u64| {
            let reports = read.after(after).map_err(|error| error.to_string())?;
            Ok::<_, String>(reports.iter().map(|report| format!("{report:?}")).collect::<Vec<_>>().join(" "))
        };
        assert!(texts(3).expect("all").contains("four") && texts(3).expect("all").contains("five"));
        assert!(!texts(4).expect("the last").contains("four"));
        assert_eq!(texts(5).as_deref(), Ok(""));
        assert!(texts(2).expect_err("a gap").contains("the reports 3 to 3 are in no file"));
        for length in 0..file.len() {
            assert!(Unheard::read(&file[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn reports_are_those_of_an_agent() {
        let garbage = Unheard { reports: vec![(1, b"garbage".to_vec())], ..unheard() };
        assert!(garbage.after(0).is_err());
        let mut file = Vec::new();
        Unheard { reports: vec![(1, Vec::new()), (3, Vec::new())], ..unheard() }.write(&mut file).expect("memory");
        assert!(Unheard::read(&file[..]).is_err());
    }
}
