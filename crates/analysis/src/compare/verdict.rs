//! What a difference means.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::{Direction, Estimate, Measure, Spread, Statistic, Unclear};

/// How much of a difference nobody cares about: a decision, not a statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin(
    /// A part of the value (0.05 for 5 %); of shares the difference itself (0.001 for 0.1 percentage points).
    pub f64,
);

/// What is said about a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Different by more than noise, for the better.
    Better,
    /// Different by more than noise, for the worse.
    Worse,
    /// Different by more than noise; nobody said which way is better.
    Different,
    /// Whatever the difference is, it is smaller than the margin.
    Same,
    /// Noise could explain the difference, and could hide one that matters.
    CannotTell {
        /// Seconds each run would need instead. `None` where longer runs do not help, but more of them would.
        needed: Option<f64>,
    },
    /// One of the runs says nothing about this measure.
    Unknown,
}

/// What two runs say about a measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Which.
    pub measure: Measure,
    /// What is too small to matter.
    pub margin: Margin,
    /// What the first run says.
    pub before: Result<Estimate, Unclear>,
    /// What the second one says.
    pub after: Result<Estimate, Unclear>,
    /// What they measured, also where they cannot say how sure that is.
    pub values: [Option<f64>; 2],
    /// How much runs differ among themselves, where that is known.
    pub spread: Option<Spread>,
}

/// How two runs differ in a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Of ratios: by what part the second run's value is higher (0.05 for 5 %). Of shares: the difference.
    pub size: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How probable a difference this large would be if there was none.
    pub chance: f64,
}

/// A measure of two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Which.
    pub measure: Measure,
    /// What is too small to matter.
    pub margin: Margin,
    /// The first run's value.
    pub before: Result<Estimate, Unclear>,
    /// The second run's.
    pub after: Result<Estimate, Unclear>,
    /// What they measured, also where they cannot say how sure that is.
    pub values: [Option<f64>; 2],
    /// How they differ, where both say something.
    pub difference: Option<Difference>,
    /// What that means.
    pub verdict: Verdict,
    /// Whether it was known how much runs differ among themselves.
    pub is_spread_known: bool,
}

impl Judged {
    /// Whether it is for the worse, and certain enough to act upon. Where nobody knows how much runs of an unchanged system
    /// differ, the whole interval has to lie beyond the margin.
    pub fn is_alarming(&self) -> bool {
        let is_beyond = self.difference.is_some_and(|found| {
            let lower = if self.measure.statistic.is_difference() {
                self.margin.0
            } else {
                self.margin.0 / (1.0 + self.margin.0)
            };
            found.low > self.margin.0 || found.high < -lower
        });
        self.verdict == Verdict::Worse && (self.is_spread_known || is_beyond)
    }
}

/// How often two runs of an unchanged system may be called different, over all measures judged together.
const FALSE_ALARMS: f64 = 0.05;
/// Part of the interval that has to lie within the margin for two runs to be called the same: two one-sided tests at 5 %.
const SAME: f64 = 0.90;
/// Part of the interval that is shown.
const SHOWN: f64 = 0.95;

impl Margin {
    /// What is usual for a statistic: 5 %, of high quantiles 10 %, of rates a second 2 %, of shares 0.1 percentage points.
    pub fn usual(statistic: Statistic) -> Self {
        match statistic {
            Statistic::Quantile(q) if q > 0.99 => Self(0.10),
            Statistic::Quantile(_) | Statistic::Mean => Self(0.05),
            Statistic::PerSecond => Self(0.02),
            Statistic::Share => Self(0.001),
        }
    }
}

/// What two runs say about measures. They are judged together: the chance that any is called different without being so is 5 %.
pub fn judge(pairs: Vec<Pair>) -> Vec<Judged> {
    let mut judged: Vec<(Judged, Option<Comparison>)> = pairs
        .into_iter()
        .map(|Pair { measure, margin, before, after, values, spread }| {
            let comparison =
                before.ok().zip(after.ok()).map(|(before, after)| Comparison::new(&before, &after, spread));
            let difference = comparison.map(|comparison| comparison.difference(&measure));
            (
                Judged {
                    measure,
                    margin,
                    before,
                    after,
                    values,
                    difference,
                    verdict: Verdict::Unknown,
                    is_spread_known: spread.is_some(),
                },
                comparison,
            )
        })
        .collect();
    let chances: Vec<_> = judged.iter().filter_map(|(row, _)| row.difference).map(|found| found.chance).collect();
    let limit = holm(chances);
    for (row, comparison) in &mut judged {
        if let Some(comparison) = comparison {
            row.verdict = comparison.verdict(&row.measure, row.margin, limit);
        }
    }
    judged.into_iter().map(|(row, _)| row).collect()
}

/// How two estimates of a measure differ.
pub fn difference(measure: &Measure, before: &Estimate, after: &Estimate, spread: Option<Spread>) -> Difference {
    Comparison::new(before, after, spread).difference(measure)
}

/// Up to which chance differences count (Holm 1979); negative where none does.
fn holm(mut chances: Vec<f64>) -> f64 {
    chances.sort_by(f64::total_cmp);
    let count = chances.len();
    let passing =
        chances.iter().enumerate().take_while(|(place, chance)| **chance * (count - place) as f64 <= FALSE_ALARMS);
    passing.map(|(_, chance)| *chance).last().unwrap_or(-1.0)
}

/// The difference of two estimates on the scale of comparison.
#[derive(Debug, Clone, Copy)]
struct Comparison {
    difference: f64,
    /// Variance that longer runs would have less of.
    within: f64,
    /// Variance that they would not.
    between: f64,
    freedom: f64,
    /// The shorter run.
    seconds: f64,
}

impl Comparison {
    fn new(before: &Estimate, after: &Estimate, spread: Option<Spread>) -> Self {
        let variances = [before, after].map(|run| (run.error * run.error, run.blocks - 1.0));
        let within = variances[0].0 + variances[1].0;
        let between = spread.map_or(0.0, |spread| 2.0 * spread.variance);
        let mut parts = variances.to_vec();
        parts.extend(spread.map(|spread| (between, spread.freedom())));
        // Welch and Satterthwaite.
        let total = within + between;
        let freedom =
            total * total / parts.iter().map(|(variance, freedom)| variance * variance / freedom).sum::<f64>();
        let freedom = if freedom.is_finite() { freedom.max(1.0) } else { 1.0 };
        let seconds = before.seconds.min(after.seconds);
        Self { difference: after.scaled - before.scaled, within, between, freedom, seconds }
    }

    fn error(&self) -> f64 {
        (self.within + self.between).sqrt()
    }

    fn student(&self) -> Option<StudentsT> {
        StudentsT::new(0.0, 1.0, self.freedom).ok()
    }

    /// Half the width of an interval with this part of the probability.
    fn reach(&self, part: f64) -> f64 {
        self.student().map_or(f64::INFINITY, |student| student.inverse_cdf(0.5 + part / 2.0)) * self.error()
    }

    fn chance(&self) -> f64 {
        if self.difference == 0.0 {
            return 1.0;
        }
        self.student().map_or(1.0, |student| 2.0 * student.sf((self.difference / self.error()).abs()))
    }

    fn difference(&self, measure: &Measure) -> Difference {
        let plain = |scaled: f64| if measure.statistic.is_difference() { scaled } else { scaled.exp_m1() };
        let reach = self.reach(SHOWN);
        Difference {
            size: plain(self.difference),
            low: plain(self.difference - reach),
            high: plain(self.difference + reach),
            chance: self.chance(),
        }
    }

    fn verdict(&self, measure: &Measure, margin: Margin, limit: f64) -> Verdict {
        let margin = if measure.statistic.is_difference() { margin.0 } else { margin.0.ln_1p() };
        let reach = self.reach(SAME);
        if self.difference.abs() + reach <= margin {
            return Verdict::Same;
        }
        if self.chance() <= limit {
            return match (measure.direction, self.difference > 0.0) {
                (Direction::Neither, _) => Verdict::Different,
                (Direction::Lower, true) | (Direction::Higher, false) => Verdict::Worse,
                (Direction::Lower, false) | (Direction::Higher, true) => Verdict::Better,
            };
        }
        // An error this small would either keep the interval within the margin or leave zero out of it.
        let size = self.difference.abs();
        let wanted = ((margin - size) / reach).max(size / self.reach(1.0 - FALSE_ALARMS)) * self.error();
        let room = wanted.powi(2) - self.between;
        Verdict::CannotTell { needed: (room > 0.0).then(|| self.seconds * (self.within / room).max(1.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(before: f64, after: f64, error: f64) -> Pair {
        let measure = Measure {
            metric: "http_req_duration".to_owned(),
            statistic: Statistic::Quantile(0.95),
            direction: Direction::Lower,
        };
        let estimate = |value: f64| Ok(Estimate { value, scaled: value.ln(), error, blocks: 60.0, seconds: 300.0 });
        Pair {
            measure,
            margin: Margin(0.05),
            before: estimate(before),
            after: estimate(after),
            values: [Some(before), Some(after)],
            spread: None,
        }
    }

    fn verdict(before: f64, after: f64, error: f64) -> Verdict {
        judge(vec![row(before, after, error)])[0].verdict
    }

    #[test]
    fn words_follow_the_interval() {
        assert_eq!(verdict(100.0, 110.0, 0.01), Verdict::Worse);
        assert_eq!(verdict(110.0, 100.0, 0.01), Verdict::Better);
        // A difference without doubt, and without meaning.
        assert_eq!(verdict(100.0, 101.0, 0.001), Verdict::Same);
        assert_eq!(verdict(100.0, 100.0, 0.01), Verdict::Same);
        assert!(matches!(verdict(100.0, 104.0, 0.03), Verdict::CannotTell { needed: Some(needed) } if needed > 300.0));
    }

    #[test]
    fn a_run_as_long_as_asked_for_can_tell() {
        let Verdict::CannotTell { needed: Some(needed) } = verdict(100.0, 104.0, 0.03) else {
            panic!("it cannot tell")
        };
        // The error shrinks with the root of the length.
        let error = 0.03 * (300.0 / needed).sqrt();
        assert!(!matches!(verdict(100.0, 104.0, error * 0.9), Verdict::CannotTell { .. }));
    }

    #[test]
    fn what_varies_from_run_to_run_is_not_helped_by_longer_runs() {
        let mut row = row(100.0, 104.0, 0.001);
        row.spread = Some(Spread { variance: 0.03_f64.powi(2), runs: 6 });
        assert_eq!(judge(vec![row])[0].verdict, Verdict::CannotTell { needed: None });
    }

    #[test]
    fn twenty_measures_are_judged_more_strictly_than_one() {
        // Probable by chance one time in a hundred.
        let one = row(100.0, 103.75, 0.01);
        let chance = judge(vec![one.clone()])[0].difference.map_or(1.0, |found| found.chance);
        assert!((0.005..0.02).contains(&chance), "{chance}");
        assert_eq!(judge(vec![one.clone()])[0].verdict, Verdict::Worse);
        let mut rows = vec![one];
        rows.extend((0..19).map(|_| row(100.0, 100.0, 0.01)));
        assert!(matches!(judge(rows)[0].verdict, Verdict::CannotTell { .. }));
    }

    #[test]
    fn an_alarm_needs_to_know_how_runs_differ_or_a_large_difference() {
        let alarming = |after: f64, is_known| {
            let spread = if is_known { Some(Spread { variance: 0.0, runs: 6 }) } else { None };
            judge(vec![Pair { spread, ..row(100.0, after, 0.01) }])[0].is_alarming()
        };
        assert_eq!((alarming(106.0, true), alarming(106.0, false)), (true, false));
        assert_eq!((alarming(120.0, true), alarming(120.0, false)), (true, true));
        assert_eq!((alarming(80.0, true), alarming(80.0, false)), (false, false));
    }

    #[test]
    fn runs_without_any_noise_are_compared_as_they_are() {
        assert_eq!(verdict(100.0, 100.0, 0.0), Verdict::Same);
        assert_eq!(verdict(100.0, 120.0, 0.0), Verdict::Worse);
    }
}
