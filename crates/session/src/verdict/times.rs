//! When something was the case.

/// Seconds in which something was the case, and from when to when.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Times {
    pub(super) seconds: u64,
    /// In seconds since the scenarios began.
    from: f64,
    until: f64,
}

impl Times {
    /// The second that ended then was such a second, if it `is_so`.
    pub(super) fn note(&mut self, at_secs: f64, is_so: bool) {
        if !is_so {
            return;
        }
        if self.seconds == 0 {
            self.from = (at_secs - 1.0).max(0.0);
        }
        self.seconds += 1;
        self.until = self.until.max(at_secs);
    }

    /// Whether it lasted for a fifth of the time.
    pub(super) fn is_lasting(&self, seconds: u64) -> bool {
        /// Share of the seconds that a condition must hold to spoil percentiles of the whole run.
        const SHARE: f64 = 0.2;
        self.seconds as f64 >= SHARE * seconds.max(1) as f64
    }

    /// ` in 5 of 20 seconds (from 12 s to 17 s)`; without times where it was so from the first second to the last.
    pub(super) fn of(&self, seconds: u64) -> String {
        format!(" in {} of {seconds} seconds{}", self.seconds, self.within(seconds))
    }

    /// ` (from 12 s to 17 s)`, unless that is all the time there was.
    pub(super) fn within(&self, seconds: u64) -> String {
        let (from, until) = (self.from.round(), self.until.round());
        if self.seconds == 0 || self.seconds >= seconds || until <= from {
            return String::new();
        }
        format!(" (from {from:.0} s to {until:.0} s)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_span_is_told_where_it_is_not_all_of_it() {
        let mut times = Times::default();
        for second in 1..=20_u32 {
            times.note(f64::from(second) + 0.02, (13..=17).contains(&second) && second != 15);
        }
        assert_eq!(times.of(20), " in 4 of 20 seconds (from 12 s to 17 s)");
        assert!(times.is_lasting(20) && !times.is_lasting(21));
        assert_eq!(times.of(4), " in 4 of 4 seconds");
        assert_eq!(Times::default().within(3), "");
    }
}
