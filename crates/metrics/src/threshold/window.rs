//! A threshold on parts of the run: windows that follow one another (`over`), and what comes after a warm-up (`after`).
//!
//! A window is judged on its own samples only. Its samples are the deltas whose middle lies in it; agents send deltas
//! at whole seconds of the scenarios, and windows are whole seconds long, so deltas do not cross their edges. Of each
//! threshold only the windows that are not complete yet are kept: one, and briefly two while deltas are on their way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    expression::Expression,
    history::{History, NS_PER_S, whole_seconds},
};
use crate::{registry::MetricKind, sink::Sink};

/// The time the samples of a delta come from, in nanoseconds since the scenarios started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// End of the previous delta of the same source.
    pub from_ns: u64,
    /// When the delta was taken.
    pub until_ns: u64,
}

/// Which samples a threshold counts, as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowSource {
    /// `over`: length of a window.
    pub over_ns: Option<i64>,
    /// `for`: failing windows in a row that cross the threshold.
    pub for_windows: Option<u64>,
    /// `after`: samples before do not count.
    pub after_ns: Option<i64>,
}

/// The windows of one expression and how they stand.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Windows {
    /// Length of a window; `None`: one that never ends.
    over_ns: Option<u64>,
    for_windows: u64,
    after_ns: u64,
    /// The samples of windows that are not complete, by number.
    open: BTreeMap<u64, Sink>,
    /// The first window that was not judged.
    next: u64,
    /// Failed windows in a row so far.
    streak: u64,
    is_crossed: bool,
}

impl Span {
    fn middle_ns(self) -> u64 {
        self.from_ns / 2 + self.until_ns / 2 + (self.from_ns & self.until_ns & 1)
    }
}

impl WindowSource {
    /// Longest `over` and `after`, far beyond any test.
    const NS_MAX: i64 = 1_000 * 24 * 3_600 * NS_PER_S as i64;

    /// `None` if all samples count, as in k6.
    ///
    /// # Errors
    /// A reason that names the field.
    pub(super) fn windows(&self) -> Result<Option<Windows>, String> {
        let whole = |field: &str, ns: Option<i64>, least: u64| match ns {
            None => Ok(None),
            Some(ns) if (0..=Self::NS_MAX).contains(&ns) && ns.cast_unsigned() % NS_PER_S == 0 => {
                Some(ns.cast_unsigned()).filter(|ns| *ns >= least * NS_PER_S).map(Some).ok_or_else(|| too_short(field))
            }
            Some(_) => Err(too_short(field)),
        };
        let over_ns = whole("over", self.over_ns, 1)?;
        let after_ns = whole("after", self.after_ns, 0)?;
        match (over_ns, self.for_windows) {
            (None, Some(_)) => return Err("'for' counts windows, so it needs their length: 'over'".to_owned()),
            (_, Some(0)) => return Err("'for' must be at least 1".to_owned()),
            _ => {}
        }
        if over_ns.is_none() && after_ns.unwrap_or(0) == 0 {
            return Ok(None);
        }
        Ok(Some(Windows {
            over_ns,
            for_windows: self.for_windows.unwrap_or(1),
            after_ns: after_ns.unwrap_or(0),
            open: BTreeMap::new(),
            next: 0,
            streak: 0,
            is_crossed: false,
        }))
    }
}

fn too_short(field: &str) -> String {
    match field {
        "over" => "'over' must be a whole number of seconds from 1s, such as '60s'".to_owned(),
        _ => format!("'{field}' must be a whole number of seconds, such as '30s'"),
    }
}

/// What an expression is judged with.
pub(super) struct Subject<'a> {
    pub(super) expression: &'a Expression,
    pub(super) kind: MetricKind,
    pub(super) history: &'a mut History,
    /// What was compared last; what crossed it stays.
    pub(super) observed: &'a mut Option<f64>,
    /// When the scenarios started, nanoseconds of the test.
    pub(super) offset_ns: u64,
}

impl Windows {
    /// What comes after the expression where it is named: ` over 60s for 3 after 30s`.
    pub(super) fn label(&self) -> String {
        let mut label = String::new();
        if let Some(over) = self.over_ns {
            label.push_str(&format!(" over {}", whole_seconds(over)));
        }
        if self.for_windows > 1 {
            label.push_str(&format!(" for {}", self.for_windows));
        }
        if self.after_ns > 0 {
            label.push_str(&format!(" after {}", whole_seconds(self.after_ns)));
        }
        label
    }

    /// Whether there is one window that never ends.
    pub(super) fn is_endless(&self) -> bool {
        self.over_ns.is_none()
    }

    /// Whether so many windows in a row failed.
    pub(super) fn is_crossed(&self) -> bool {
        self.is_crossed
    }

    pub(super) fn after_ns(&self) -> u64 {
        self.after_ns
    }

    /// All samples after the warm-up, of a window that never ends.
    pub(super) fn rest(&self) -> Option<&Sink> {
        self.open.get(&0)
    }

    /// Adds a part of a delta.
    pub(super) fn add(&mut self, sink: &Sink, span: Span) {
        let Some(at) = span.middle_ns().checked_sub(self.after_ns) else { return };
        // A delta that comes after its window was judged counts in the next: nothing is lost.
        let number = self.over_ns.map_or(0, |over| (at / over).max(self.next));
        match self.open.get_mut(&number) {
            Some(sum) => {
                let merged = sum.merge(sink);
                debug_assert!(merged, "a metric's series are of its kind");
            }
            None => {
                self.open.insert(number, sink.clone());
            }
        }
    }

    /// Judges the windows that ended by then.
    pub(super) fn close(&mut self, until_ns: u64, subject: &mut Subject<'_>) {
        let Some(over) = self.over_ns else { return };
        while let Some(end) = self.end_of_next(over).filter(|end| *end <= until_ns) {
            self.judge(over, end, subject);
        }
    }

    /// After the last sample: a test shorter than its first window is a window of its own.
    pub(super) fn finish(&mut self, until_ns: u64, subject: &mut Subject<'_>) {
        self.close(until_ns, subject);
        if self.over_ns.is_some() && self.next == 0 && until_ns > self.after_ns {
            self.judge(until_ns - self.after_ns, until_ns, subject);
        }
    }

    fn end_of_next(&self, over: u64) -> Option<u64> {
        over.checked_mul(self.next.checked_add(1)?)?.checked_add(self.after_ns)
    }

    fn judge(&mut self, length_ns: u64, end_ns: u64, subject: &mut Subject<'_>) {
        let sink = self.open.remove(&self.next);
        self.next += 1;
        let observed = match &sink {
            Some(sink) => subject.expression.method.observe(sink, length_ns),
            // Nothing counted is a count of 0; of no values there is no distribution, share or last value.
            None if subject.kind == MetricKind::Counter => Some(0.0),
            None => None,
        };
        let Some(observed) = observed else { return };
        let ok = subject.expression.holds(observed);
        subject.history.note(ok);
        if !self.is_crossed {
            *subject.observed = Some(observed);
        }
        self.streak = if ok { 0 } else { self.streak + 1 };
        if self.streak >= self.for_windows {
            self.is_crossed = true;
            subject.history.crossed(subject.offset_ns.saturating_add(end_ns));
        }
    }
}

#[cfg(test)]
mod tests;
