//! Threads that script code holds past every limit: whoever does not answer in time is given up, so that a run ends.

use std::{collections::BTreeSet, time::Duration};

use onrush_fiber::Nanos;

/// When what runs must be over, and who answers.
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    /// The plan's end, or when everything was cut.
    pub(crate) scenarios_due: Option<Nanos>,
    /// The end of a life-cycle function's time.
    pub(crate) function_due: Option<Nanos>,
    question: Option<Question>,
}

#[derive(Debug)]
struct Question {
    /// The flush whose answers count.
    number: u64,
    asked_at: Nanos,
    silent: BTreeSet<usize>,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Ask all threads for a sign of life.
    Ask,
    /// These have not given one.
    GiveUp(Vec<usize>),
    /// All threads answer, and yet what runs does not end.
    Endless,
}

impl Watchdog {
    /// What was cut ends within this, if its thread can be had at all.
    const GRACE: Duration = Duration::from_millis(100);
    /// A thread answers between two slices of script code. Beyond a slice this is patience with a busy machine and with
    /// thousands of VUs that are cut at once.
    const ANSWER: Duration = Duration::from_secs(2);
    /// What answers and does not end is waited for so long.
    const ENDLESS: Duration = Duration::from_secs(30);

    fn due(&self) -> Option<Nanos> {
        self.scenarios_due.into_iter().chain(self.function_due).min()
    }

    /// What there is to do now.
    pub(crate) fn look(&mut self, now: Nanos) -> Option<Finding> {
        let Some(due) = self.due() else {
            self.question = None;
            return None;
        };
        if now < due + Self::GRACE {
            return None;
        }
        match &mut self.question {
            None => Some(Finding::Ask),
            Some(question) if now.saturating_sub(question.asked_at).as_duration() < Self::ANSWER => None,
            Some(question) if !question.silent.is_empty() => {
                Some(Finding::GiveUp(std::mem::take(&mut question.silent).into_iter().collect()))
            }
            Some(_) if now >= due + Self::ENDLESS => Some(Finding::Endless),
            Some(_) => Some(Finding::Ask),
        }
    }

    /// The threads were asked.
    pub(crate) fn asked(&mut self, number: u64, now: Nanos, threads: BTreeSet<usize>) {
        self.question = Some(Question { number, asked_at: now, silent: threads });
    }

    /// A thread answered a flush.
    pub(crate) fn heard(&mut self, thread: usize, flush: Option<u64>) {
        if let Some(question) = &mut self.question
            && flush.is_some_and(|number| number >= question.number)
        {
            question.silent.remove(&thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_answer_is_given_up() {
        let at = |ms: u64| Nanos::from_millis(ms);
        let mut dog = Watchdog::default();
        assert_eq!(dog.look(at(9_000)), None);
        dog.scenarios_due = Some(at(10_000));
        assert_eq!(dog.look(at(10_099)), None);
        assert_eq!(dog.look(at(10_100)), Some(Finding::Ask));
        dog.asked(5, at(10_100), [0, 1].into());
        // What answers an earlier question says nothing about now.
        dog.heard(1, Some(4));
        dog.heard(1, None);
        dog.heard(0, Some(5));
        assert_eq!(dog.look(at(12_099)), None);
        assert_eq!(dog.look(at(12_100)), Some(Finding::GiveUp(vec![1])));
        // Who answers is asked again, for a while.
        assert_eq!(dog.look(at(12_101)), Some(Finding::Ask));
        dog.asked(6, at(12_101), [0].into());
        dog.heard(0, Some(6));
        assert_eq!(dog.look(at(40_000)), Some(Finding::Endless));
        dog.scenarios_due = None;
        assert_eq!(dog.look(at(50_000)), None);
    }

    #[test]
    fn a_function_has_a_limit_of_its_own() {
        let mut dog = Watchdog { scenarios_due: Some(Nanos::from_secs(100)), ..Watchdog::default() };
        dog.function_due = Some(Nanos::from_secs(10));
        assert_eq!(dog.look(Nanos::from_secs(11)), Some(Finding::Ask));
    }
}
