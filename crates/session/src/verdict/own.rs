//! What the generator's own delay did to the latencies: the first thing that a verdict rests on, because it is measured
//! and not concluded from something else.

use std::collections::BTreeMap;

use onrush_metrics::{OwnDelay, summary::Verdict};
use serde::{Deserialize, Serialize};

use super::times::Times;

/// The quantiles that are looked at.
const QUANTILES: [(f64, &str); 4] = [(0.5, "p(50)"), (0.9, "p(90)"), (0.95, "p(95)"), (0.99, "p(99)")];

/// Own delays of one agent, or of all of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Own {
    by_scenario: BTreeMap<String, OwnDelay>,
    /// Seconds in which the delay was a part of the latencies worth naming.
    times: Times,
}

/// The generator's own delay in the latencies of HTTP requests: time that requests waited for the generator and not for the
/// server. Sampled: of some connections the kernel says when the bytes of a response arrived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnDelayFigures {
    /// Requests it was measured of.
    pub requests: u64,
    /// Median, milliseconds.
    pub median_ms: f64,
    /// 99th percentile, milliseconds.
    pub p99_ms: f64,
    /// The longest, milliseconds.
    pub max_ms: f64,
    /// The highest percentile that could be judged in every scenario (`p(95)`): above it there were too few requests.
    /// Absent where not even the median could.
    #[serde(default)]
    pub judged_up_to: Option<String>,
    /// What it added to percentiles of the latencies.
    #[serde(default)]
    pub errors: Vec<LatencyError>,
}

/// How much too high a percentile of a scenario's latencies is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyError {
    /// The scenario.
    pub scenario: String,
    /// The percentile: `p(95)`.
    pub percentile: String,
    /// What the own delay added, milliseconds.
    pub excess_ms: f64,
    /// What was reported of the same requests, milliseconds.
    pub reported_ms: f64,
}

impl std::fmt::Display for OwnDelayFigures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { requests, median_ms, p99_ms, max_ms, judged_up_to, .. } = self;
        write!(
            f,
            "latencies include Onrush's own delay: median {median_ms:.3} ms, p(99) {p99_ms:.3} ms, max {max_ms:.3} ms (measured of {requests} request{}",
            if *requests == 1 { "" } else { "s" }
        )?;
        // A percentile that was not judged is not one that is right.
        match judged_up_to.as_deref() {
            None => write!(f, ": too few to judge percentiles)"),
            Some("p(99)") => write!(f, ")"),
            Some(percentile) => write!(f, ": too few to judge percentiles above {percentile})"),
        }
    }
}

impl LatencyError {
    /// Below this nobody bets on the difference; and what a healthy generator needs for itself lies below it.
    const NEGLIGIBLE_MS: f64 = 0.5;
    /// Shares of a percentile from which on it is doubtful, and wrong.
    const SHARE_SUSPECT: f64 = 0.05;
    const SHARE_INVALID: f64 = 0.2;

    fn verdict(&self) -> Verdict {
        let share = self.excess_ms / self.reported_ms.max(f64::MIN_POSITIVE);
        match share {
            _ if self.excess_ms < Self::NEGLIGIBLE_MS => Verdict::Valid,
            share if share >= Self::SHARE_INVALID => Verdict::Invalid,
            share if share >= Self::SHARE_SUSPECT => Verdict::Suspect,
            _ => Verdict::Valid,
        }
    }
}

impl Own {
    /// Scenarios whose figures are kept: no test has more, but an agent can say anything.
    const SCENARIOS_MAX: usize = 4_096;
    /// Requests of a scenario from which on its figures say that nothing is wrong.
    const REQUESTS_MIN: u64 = 200;

    /// Adds what was measured in the second that ended then.
    pub(super) fn add(&mut self, delays: &BTreeMap<String, OwnDelay>, at_secs: Option<f64>) {
        for (scenario, delay) in delays {
            if let Some(known) = self.by_scenario.get_mut(scenario) {
                known.merge(delay);
            } else if self.by_scenario.len() < Self::SCENARIOS_MAX {
                self.by_scenario.insert(scenario.clone(), delay.clone());
            }
        }
        if let Some(at_secs) = at_secs {
            self.times.note(at_secs, delays.values().any(is_worth_naming));
        }
    }

    /// Adds those of another agent.
    pub(super) fn merge(&mut self, other: &Self) {
        self.add(&other.by_scenario, None);
        // The worst agent's times are told.
        if other.times.seconds > self.times.seconds {
            self.times = other.times;
        }
    }

    /// Latencies were measured and hold hardly any delay of the generator's own: what else looks wrong has not spoilt them.
    pub(super) fn is_clean(&self) -> bool {
        let is_known = |delay: &OwnDelay| delay.own.count() >= Self::REQUESTS_MIN;
        !self.by_scenario.is_empty()
            && self.by_scenario.values().all(is_known)
            && self.sure_errors().iter().all(|error| error.verdict() == Verdict::Valid)
    }

    /// What is wrong with latencies: the worst percentile of the scenario that has it worst.
    pub(super) fn finding(&self, seconds: u64) -> Option<(Verdict, u64, String)> {
        let worst = self.sure_errors().into_iter().max_by(|a, b| {
            let order = |error: &LatencyError| (error.verdict(), error.excess_ms);
            order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal)
        })?;
        let verdict = worst.verdict();
        let LatencyError { scenario, percentile, excess_ms, reported_ms } = worst;
        let text = format!(
            "latencies of scenario '{scenario}' are too high by the generator's own delay: {percentile} by {excess_ms:.1} of {reported_ms:.1} ms{}",
            self.times.within(seconds)
        );
        // The cast cuts fractions of milliseconds.
        (verdict != Verdict::Valid).then_some((verdict, excess_ms as u64, text))
    }

    /// What there is to tell; `None` where nothing was measured.
    pub(super) fn figures(&self) -> Option<OwnDelayFigures> {
        let mut all = OwnDelay::default();
        self.by_scenario.values().for_each(|delay| all.merge(delay));
        (!all.is_empty()).then(|| OwnDelayFigures {
            requests: all.own.count(),
            median_ms: all.own.quantile(0.5),
            p99_ms: all.own.quantile(0.99),
            max_ms: all.own.max(),
            judged_up_to: self.judged_up_to().map(str::to_owned),
            errors: self.errors(),
        })
    }

    /// The highest percentile that has enough requests above it in every scenario.
    fn judged_up_to(&self) -> Option<&'static str> {
        let is_judged = |q| self.by_scenario.values().all(|delay| delay.excess(q).is_some());
        QUANTILES.into_iter().rev().find(|(q, _)| is_judged(*q)).map(|(_, percentile)| percentile)
    }

    fn errors(&self) -> Vec<LatencyError> {
        self.errors_of(|_| true)
    }

    /// Those that are more than chance. With few requests a percentile jumps from one to the next when a single one of them
    /// moves, so some of them must have waited.
    fn sure_errors(&self) -> Vec<LatencyError> {
        const LATE_MIN: f64 = 10.0;
        self.errors_of(|delay| {
            let count = delay.own.count() as f64;
            count > LATE_MIN && delay.own.quantile(1.0 - LATE_MIN / count) >= LatencyError::NEGLIGIBLE_MS
        })
    }

    fn errors_of(&self, counts: impl Fn(&OwnDelay) -> bool) -> Vec<LatencyError> {
        let of = |(scenario, delay): (&String, &OwnDelay)| {
            let error = |(q, percentile): (f64, &'static str)| {
                let (excess_ms, reported_ms) = delay.excess(q)?;
                Some(LatencyError {
                    scenario: scenario.clone(),
                    percentile: percentile.to_owned(),
                    excess_ms,
                    reported_ms,
                })
            };
            QUANTILES.into_iter().filter_map(error).collect::<Vec<_>>()
        };
        self.by_scenario.iter().filter(|(_, delay)| counts(delay)).flat_map(of).collect()
    }
}

/// In a second the means say enough: percentiles would need more requests.
fn is_worth_naming(delay: &OwnDelay) -> bool {
    let (own, reported) = (delay.own.mean(), delay.reported.mean());
    !delay.is_empty() && own >= LatencyError::NEGLIGIBLE_MS && own >= LatencyError::SHARE_SUSPECT * reported
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(own_ms: f64, of: u32, requests: u32) -> BTreeMap<String, OwnDelay> {
        let mut delay = OwnDelay::default();
        for number in 0..requests {
            let own = if number % of == 0 { own_ms } else { 0.02 };
            delay.note(own, 10.0 + own);
        }
        [("api".to_owned(), delay)].into()
    }

    #[test]
    fn the_worst_percentile_is_named_with_its_time() {
        let mut own = Own::default();
        for second in 1..=20_u32 {
            let delays = if (8..12).contains(&second) { delays(6.0, 2, 1_000) } else { delays(0.02, 1, 1_000) };
            own.add(&delays, Some(f64::from(second)));
        }
        let (verdict, _, text) = own.finding(20).expect("a tenth of the requests is late");
        assert_eq!(verdict, Verdict::Invalid);
        let expect = "latencies of scenario 'api' are too high by the generator's own delay: p(95) by 6.0 of 16.0 ms (from 7 s to 11 s)";
        assert!(text == expect || text == expect.replace("p(95)", "p(99)"), "{text}");
        assert!(!own.is_clean());
    }

    #[test]
    fn little_delay_says_that_latencies_are_right() {
        let mut own = Own::default();
        assert!(!own.is_clean(), "nothing was measured");
        own.add(&delays(0.3, 1, 100), Some(1.0));
        assert!(!own.is_clean(), "too little was measured");
        own.add(&delays(0.3, 1, 1_900), Some(2.0));
        assert!(own.is_clean() && own.finding(2).is_none());
        let figures = own.figures().expect("it was measured");
        assert_eq!((figures.requests, figures.errors.len()), (2_000, 4));
    }

    #[test]
    fn percentiles_that_too_few_requests_reach_are_not_judged() {
        let check = |requests: &[u32], expect: &str| {
            let mut own = Own::default();
            for (scenario, count) in requests.iter().enumerate() {
                let delay = delays(0.02, 1, *count).remove("api").expect("it was just made");
                own.add(&[(scenario.to_string(), delay)].into(), None);
            }
            let text = own.figures().expect("it was measured").to_string();
            assert!(text.ends_with(expect), "{text}");
        };
        check(&[1], "(measured of 1 request: too few to judge percentiles)");
        check(&[150], "(measured of 150 requests: too few to judge percentiles above p(90))");
        check(&[2_000], "(measured of 2000 requests)");
        // One of the scenarios has few.
        check(&[2_000, 250], "(measured of 2250 requests: too few to judge percentiles above p(95))");
    }

    #[test]
    fn one_late_request_among_few_is_chance() {
        let mut delay = OwnDelay::default();
        (0..40).for_each(|number| delay.note(0.02, if number < 20 { 4.0 } else { 9.0 }));
        delay.note(6.0, 10.0);
        let mut own = Own::default();
        own.add(&[("api".to_owned(), delay)].into(), None);
        // The median of 41 is one of the slow half, and without the late one's wait one of the other.
        assert!(own.errors().iter().any(|error| error.excess_ms > 4.0), "{:?}", own.errors());
        assert!(own.finding(1).is_none());
    }

    #[test]
    fn a_share_below_a_fifth_is_suspect() {
        let mut own = Own::default();
        own.add(&delays(1.0, 1, 1_000), None);
        assert_eq!(own.finding(1).map(|(verdict, ..)| verdict), Some(Verdict::Suspect));
    }
}
