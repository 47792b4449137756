//! What became of requests, by status and by error: small tables that travel with the deltas.

use serde::{Deserialize, Serialize};

/// Requests that ended the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How they ended.
    pub ending: Ending,
    /// How many did.
    pub count: u64,
    /// When the first of them ended, nanoseconds of the test, to the second.
    pub first_ns: u64,
    /// When the last of them did.
    pub last_ns: u64,
    /// The first of them: `GET http://host/`.
    pub example: Box<str>,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Ending {
    /// With a response of this status.
    Status(u16),
    /// Without one.
    Error {
        /// k6's error code.
        code: u16,
        /// k6's text.
        text: Box<str>,
    },
    /// Its iteration was interrupted before there was an answer. It is in no metric.
    Interrupted,
}

/// Outcomes by ending, a limited number of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    rows: Vec<Outcome>,
}

impl Outcomes {
    /// Endings that are told apart; more errors are counted together by code, then as one.
    pub const ROWS_MAX: usize = 64;
    /// Longest example, in bytes.
    const EXAMPLE_BYTES_MAX: usize = 200;

    /// Counts a request that ended with a status, or with status 0 and an error.
    #[inline]
    pub fn note(&mut self, status: u16, code: u16, error: Option<&str>, example: impl FnOnce() -> String) {
        // Few kinds, and mostly the first.
        let found = self.rows.iter().position(|row| match &row.ending {
            Ending::Status(known) => status == *known && error.is_none(),
            Ending::Error { code: known, text } => *known == code && error.is_some_and(|error| **text == *error),
            Ending::Interrupted => false,
        });
        if let Some(row) = found.and_then(|index| self.rows.get_mut(index)) {
            row.count += 1;
            return;
        }
        let ending = match error {
            None => Ending::Status(status),
            Some(text) => Ending::Error { code, text: text.into() },
        };
        self.count(ending, example);
    }

    /// Counts a request that never got an answer, because its iteration was interrupted.
    pub fn note_interrupted(&mut self, example: impl FnOnce() -> String) {
        self.count(Ending::Interrupted, example);
    }

    #[cold]
    fn count(&mut self, ending: Ending, example: impl FnOnce() -> String) {
        let ending = self.admitted(ending);
        if let Some(row) = self.rows.iter_mut().find(|row| row.ending == ending) {
            row.count += 1;
            return;
        }
        let mut example = example();
        example.truncate(example.floor_char_boundary(Self::EXAMPLE_BYTES_MAX));
        self.rows.push(Outcome { ending, count: 1, first_ns: 0, last_ns: 0, example: example.into() });
    }

    /// The ending itself, or where there are too many, one that stands for several.
    fn admitted(&self, ending: Ending) -> Ending {
        let is_full = self.rows.len() >= Self::ROWS_MAX && self.rows.iter().all(|row| row.ending != ending);
        let others = || Ending::Error { code: 0, text: crate::OTHER.into() };
        match ending {
            Ending::Error { code, .. } if is_full && self.rows.len() < 2 * Self::ROWS_MAX => {
                Ending::Error { code, text: crate::OTHER.into() }
            }
            Ending::Error { .. } | Ending::Status(_) if is_full => others(),
            ending => ending,
        }
    }

    /// Takes what was counted since the last call. Rows stay, so that examples are made once.
    pub(crate) fn drain(&mut self) -> Vec<Outcome> {
        let counted = self.rows.iter_mut().filter(|row| row.count > 0);
        counted
            .map(|row| {
                let drained = row.clone();
                row.count = 0;
                drained
            })
            .collect()
    }

    /// Adds what a thread counted. The example is that of the first, whatever the order.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        let ending = self.admitted(outcome.ending.clone());
        let Some(row) = self.rows.iter_mut().find(|row| row.ending == ending) else {
            self.rows.push(Outcome { ending, ..outcome.clone() });
            return;
        };
        row.count += outcome.count;
        row.last_ns = row.last_ns.max(outcome.last_ns);
        if (outcome.first_ns, &outcome.example) < (row.first_ns, &row.example) {
            row.first_ns = outcome.first_ns;
            row.example.clone_from(&outcome.example);
        }
    }

    /// All of them.
    pub(crate) fn into_rows(self) -> Vec<Outcome> {
        self.rows
    }

    /// All of them, the most frequent first.
    pub fn by_count(&self) -> Vec<&Outcome> {
        let mut rows: Vec<&Outcome> = self.rows.iter().collect();
        rows.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.ending.cmp(&b.ending)));
        rows
    }

    /// Requests that never got an answer because their iterations were interrupted, and one of them.
    pub fn interrupted(&self) -> Option<&Outcome> {
        self.rows.iter().find(|row| row.ending == Ending::Interrupted)
    }

    /// Requests without a response.
    pub fn errors(&self) -> u64 {
        let errors = self.rows.iter().filter(|row| matches!(row.ending, Ending::Error { .. }));
        errors.map(|row| row.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(mut outcomes: Vec<Outcome>, ns: u64) -> Vec<Outcome> {
        for outcome in &mut outcomes {
            (outcome.first_ns, outcome.last_ns) = (ns, ns);
        }
        outcomes
    }

    #[test]
    fn the_sum_is_the_same_in_any_order() {
        let mut thread = Outcomes::default();
        thread.note(200, 0, None, || "GET a".to_owned());
        thread.note(200, 0, None, || unreachable!("made once"));
        thread.note(0, 1212, Some("connection refused"), || "GET b".to_owned());
        let first = at(thread.drain(), 1);
        thread.note(0, 1212, Some("connection refused"), || unreachable!("made once"));
        thread.note_interrupted(|| "GET c".to_owned());
        let second = at(thread.drain(), 2);
        assert!(thread.drain().is_empty());
        let sum = |parts: &[&Vec<Outcome>]| {
            let mut sum = Outcomes::default();
            parts.iter().flat_map(|part| part.iter()).for_each(|outcome| sum.add(outcome));
            sum
        };
        let sums = [sum(&[&first, &second]), sum(&[&second, &first])];
        let rows = sums[0].by_count();
        assert_eq!(rows, sums[1].by_count());
        let shown: Vec<_> = rows.iter().map(|row| (row.count, row.first_ns, row.last_ns, &*row.example)).collect();
        assert_eq!(shown, [(2, 1, 1, "GET a"), (2, 1, 2, "GET b"), (1, 2, 2, "GET c")]);
        assert_eq!((sums[0].errors(), sums[0].interrupted().map(|row| row.count)), (2, Some(1)));
    }

    #[test]
    fn rows_are_limited_and_nothing_is_lost() {
        let mut outcomes = Outcomes::default();
        for number in 0..10_000_u16 {
            outcomes.note(0, 1000 + number % 500, Some(&number.to_string()), String::new);
        }
        outcomes.note(200, 0, None, String::new);
        assert!(outcomes.rows.len() <= 2 * Outcomes::ROWS_MAX + 1, "{}", outcomes.rows.len());
        assert_eq!(outcomes.rows.iter().map(|row| row.count).sum::<u64>(), 10_001);
    }
}
