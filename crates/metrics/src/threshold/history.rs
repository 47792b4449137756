//! How long a threshold held: counted at every judgement, told at the end.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// What one threshold's judgements came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// How often it was judged.
    pub judged: u64,
    /// How often it held.
    pub held: u64,
    /// When it was first crossed, nanoseconds of the test; with `for`, when that many windows had failed.
    pub first_crossed_ns: Option<u64>,
    /// Judged window by window, not over everything so far.
    pub is_windowed: bool,
}

impl History {
    pub(super) fn note(&mut self, ok: bool) {
        self.judged += 1;
        self.held += u64::from(ok);
    }

    pub(super) fn crossed(&mut self, at_ns: u64) {
        self.first_crossed_ns.get_or_insert(at_ns);
    }

    /// `held in 97 % of 60 windows, first crossed at 34s`.
    pub fn statement(&self) -> String {
        let (one, many) = if self.is_windowed { ("window", "windows") } else { ("evaluation", "evaluations") };
        if self.judged == 0 {
            return if self.is_windowed {
                format!("never judged: there was no {one}")
            } else {
                "never judged: no samples".to_owned()
            };
        }
        // Rounded down: only what always held held in 100 %.
        let permille = u128::from(self.held) * 1_000 / u128::from(self.judged);
        let mut text = format!("held in {}", permille / 10);
        if permille % 10 != 0 {
            let _ = write!(text, ".{}", permille % 10);
        }
        let noun = if self.judged == 1 { one } else { many };
        let _ = write!(text, " % of {} {noun}", self.judged);
        if let Some(at) = self.first_crossed_ns {
            let _ = write!(text, ", first crossed at {}", whole_seconds(at));
        }
        text
    }

    /// Whether a reader learns from it what the last judgement alone does not say.
    pub fn is_telling(&self) -> bool {
        self.is_windowed || self.judged == 0 || (self.judged > 1 && self.held < self.judged)
    }
}

/// `1h2m3s`, as Go prints durations.
pub(crate) fn whole_seconds(ns: u64) -> String {
    let seconds = ns / NS_PER_S;
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    }
}

pub(super) const NS_PER_S: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements() {
        let check = |held: u64, judged: u64, at_s: Option<u64>, is_windowed: bool, expect: &str| {
            let history = History { judged, held, first_crossed_ns: at_s.map(|s| s * NS_PER_S), is_windowed };
            assert_eq!(history.statement(), expect);
        };
        check(58, 60, Some(34), true, "held in 96.6 % of 60 windows, first crossed at 34s");
        check(60, 60, None, true, "held in 100 % of 60 windows");
        check(99_999, 100_000, Some(3_700), true, "held in 99.9 % of 100000 windows, first crossed at 1h1m40s");
        check(0, 1, Some(94), true, "held in 0 % of 1 window, first crossed at 1m34s");
        check(1, 2, Some(2), false, "held in 50 % of 2 evaluations, first crossed at 2s");
        check(0, 0, None, true, "never judged: there was no window");
        check(0, 0, None, false, "never judged: no samples");
        check(u64::MAX, u64::MAX, None, false, "held in 100 % of 18446744073709551615 evaluations");
    }
}
