//! The load that a test asked for and did not get, and why.

use std::time::Duration;

use onrush_metrics::summary::Verdict;

/// What became of a scenario's iterations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioLoad {
    /// Its name.
    pub scenario: String,
    /// Iterations begin when the plan says (an arrival rate), not when a VU is free.
    pub is_open: bool,
    /// Iterations that ran to their end.
    pub done: u64,
    /// Iterations that were cut.
    pub interrupted: u64,
    /// Iterations that ended in an exception, among those done.
    pub thrown: u64,
    /// Iterations that never began.
    pub dropped: u64,
    /// The most VUs it held at once.
    pub vus: u64,
    /// VUs it might have had, where that is limited apart from its plan.
    pub vus_max: Option<u64>,
    /// How long iterations began in it, if it began and ended.
    pub ran: Option<Duration>,
}

impl ScenarioLoad {
    /// In a closed model VUs begin iterations when they can: the work was limited, not the load.
    pub(super) fn unfinished(&self) -> Option<String> {
        (!self.is_open && self.dropped > 0).then(|| {
            format!(
                "scenario '{}' reached its maxDuration with {} of its iterations never begun ({} ended)",
                self.scenario, self.dropped, self.done
            )
        })
    }
}

/// What open models lost of the load that was asked for. `is_limit`: the generator itself had no room for more.
pub(super) fn dropped_arrivals(loads: &[ScenarioLoad], is_limit: bool) -> Option<(Verdict, String)> {
    /// Share of the arrivals above which the offered load is not what was asked for.
    const SHARE_INVALID: f64 = 0.01;
    /// Scenarios whose reasons are told.
    const TOLD_MAX: usize = 3;
    let open = || loads.iter().filter(|load| load.is_open);
    let dropped: u64 = open().map(|load| load.dropped).sum();
    let planned: u64 = open().map(ScenarioLoad::planned).sum();
    if dropped == 0 {
        return None;
    }
    let share = dropped as f64 / planned as f64;
    let verdict = if share > SHARE_INVALID { Verdict::Invalid } else { Verdict::Suspect };
    let mut text = format!(
        "{dropped} of {planned} planned iterations ({:.2} %) were dropped: the offered load was lower than asked for",
        share * 100.0
    );
    let mut lost: Vec<&ScenarioLoad> = open().filter(|load| load.dropped > 0).collect();
    lost.sort_by_key(|load| std::cmp::Reverse(load.dropped));
    for load in lost.iter().take(TOLD_MAX) {
        text.push_str("; ");
        text.push_str(&load.why(is_limit));
    }
    Some((verdict, text))
}

impl ScenarioLoad {
    /// Share of the arrivals from which on there were too few VUs all the time, not at times.
    const SHARE_LASTING: f64 = 0.05;

    fn planned(&self) -> u64 {
        self.done + self.interrupted + self.dropped
    }

    /// Why iterations of an arrival rate were dropped, and what would have been needed: by Little's law as many VUs as
    /// arrivals a second times seconds an iteration takes.
    fn why(&self, is_limit: bool) -> String {
        let Self { scenario, dropped, vus, .. } = self;
        let (planned, began) = (self.planned(), self.done + self.interrupted);
        if self.vus_max.is_some_and(|max| *vus < max) {
            return format!(
                "scenario '{scenario}' lost {dropped} while VUs were added to its preAllocatedVUs, one for each lost iteration: raise preAllocatedVUs to {vus}"
            );
        }
        if is_limit {
            return format!("scenario '{scenario}' lost {dropped}, for the generator itself was the limit");
        }
        let share = *dropped as f64 / planned.max(1) as f64;
        let (Some(ran), true) = (self.ran.map(|ran| ran.as_secs_f64()).filter(|ran| *ran > 0.0), began > 0) else {
            return format!("none of the {vus} VUs of scenario '{scenario}' was free for its {planned} iterations");
        };
        if share < Self::SHARE_LASTING {
            return format!(
                "at times all {vus} VUs of scenario '{scenario}' were busy: raise maxVUs, or find out what made iterations slow then"
            );
        }
        // All VUs were busy all the time: what they got through is what they can.
        let (vus_seconds, rate) = (*vus as f64 * ran, planned as f64 / ran);
        let seconds = vus_seconds / began as f64;
        let needed = (rate * seconds).ceil();
        format!(
            "the {vus} VUs of scenario '{scenario}' were all busy: {rate:.0} iterations a second that take {} each need about {needed:.0} VUs: raise maxVUs, or find out why iterations are slow",
            span(seconds)
        )
    }
}

/// `620 ms`, `1.2 s`.
fn span(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1_000.0) } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(done: u64, dropped: u64) -> ScenarioLoad {
        ScenarioLoad {
            scenario: "api".to_owned(),
            is_open: true,
            done,
            interrupted: 0,
            thrown: 0,
            dropped,
            vus: 10,
            vus_max: Some(10),
            ran: Some(Duration::from_secs(10)),
        }
    }

    #[test]
    fn what_would_have_been_needed_is_told() {
        let check = |load: ScenarioLoad, is_limit: bool, verdict: Verdict, expect: &str| {
            let (found, text) = dropped_arrivals(&[load], is_limit).expect("something was dropped");
            assert_eq!(found, verdict);
            assert!(text.ends_with(expect), "{text}");
        };
        check(
            load(160, 340),
            false,
            Verdict::Invalid,
            "; the 10 VUs of scenario 'api' were all busy: 50 iterations a second that take 625 ms each need about 32 VUs: raise maxVUs, or find out why iterations are slow",
        );
        check(load(160, 340), true, Verdict::Invalid, "lost 340, for the generator itself was the limit");
        check(
            load(0, 500),
            false,
            Verdict::Invalid,
            "none of the 10 VUs of scenario 'api' was free for its 500 iterations",
        );
        check(
            load(9_999, 1),
            false,
            Verdict::Suspect,
            "; at times all 10 VUs of scenario 'api' were busy: raise maxVUs, or find out what made iterations slow then",
        );
        let growing = ScenarioLoad { vus_max: Some(50), ..load(990, 10) };
        check(growing, false, Verdict::Suspect, "raise preAllocatedVUs to 10");
        assert_eq!(dropped_arrivals(&[ScenarioLoad { is_open: false, ..load(1, 9) }], false), None);
    }
}
