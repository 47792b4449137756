//! The figures of one scenario's progress line, as text. Drawing the line is the terminal's business.

use crate::{
    duration::format_go_duration,
    executor::{ExecutorPlan, FOREVER_NS},
    plan::ScenarioPlan,
};

/// What is going on in a scenario right now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Live {
    /// Nanoseconds since the scenario's start.
    pub elapsed_ns: u64,
    /// VUs with an iteration in progress.
    pub running_vus: u64,
    /// VUs the scenario has at its disposal, for arrival rates.
    pub active_vus: u64,
    /// Iterations that ended, for the executors that count them.
    pub done_iterations: u64,
    /// What the scenario was steered to, if it was: VUs here, or iterations per second here.
    pub steered: Option<f64>,
    /// The limit of VUs here, if it was moved.
    pub max_vus: Option<u64>,
}

impl ScenarioPlan {
    /// How far the scenario is, from 0 to 1.
    #[must_use]
    pub fn progress(&self, live: &Live) -> f64 {
        let end_ns = self.end_for(live);
        let by_time =
            if end_ns == 0 || end_ns >= FOREVER_NS { 1.0 } else { (live.elapsed_ns as f64 / end_ns as f64).min(1.0) };
        match self.total_iterations() {
            Some(total) if total > 0 => (live.done_iterations as f64 / total as f64).min(1.0),
            _ => by_time,
        }
    }

    /// When nothing more is to begin: the regular end, or when the last stages of ramping VUs keep none before.
    fn end_for(&self, live: &Live) -> u64 {
        match &self.executor {
            ExecutorPlan::RampingVus(plan) if live.steered.is_none() => plan.last_step_ns(),
            _ => self.regular_end_ns,
        }
    }

    /// The columns right of the bar, as k6 has them: VUs, time, and what the executor adds.
    #[must_use]
    pub fn progress_columns(&self, live: &Live) -> Vec<String> {
        let end_ns = self.end_for(live);
        let over = live.elapsed_ns >= end_ns;
        let total = text(end_ns);
        let elapsed = fixed_width_time(live.elapsed_ns.min(end_ns), end_ns);
        let time = if over { total.clone() } else { format!("{elapsed}/{total}") };
        match &self.executor {
            ExecutorPlan::ConstantVus(p) => {
                let vus = live.steered.map_or(p.vus, |vus| vus as u64);
                vec![format!("{vus} VUs"), time]
            }
            ExecutorPlan::ExternallyControlled(p) => {
                let max = live.max_vus.unwrap_or(p.max_vus);
                // k6 prints `0s` where there is no end.
                let time = if end_ns >= FOREVER_NS { fixed_width_time(live.elapsed_ns, live.elapsed_ns) } else { time };
                vec![format!("{}/{max} VUs", live.active_vus), time]
            }
            ExecutorPlan::RampingVus(p) => {
                let max = p.max_vus().max(live.steered.map_or(0, |vus| vus as u64));
                let width = digits(max);
                let total = fixed_width_time(end_ns, end_ns);
                // k6: at the end the plain duration.
                let time = if over { text(end_ns) } else { format!("{elapsed}/{total}") };
                vec![format!("{:0width$}/{max} VUs", live.running_vus), time]
            }
            ExecutorPlan::SharedIterations(p) => vec![
                format!("{} VUs", p.vus),
                format!("{elapsed}/{total}"),
                format!("{:0width$}/{} shared iters", live.done_iterations, p.iterations, width = digits(p.iterations)),
            ],
            ExecutorPlan::PerVuIterations(p) => {
                let all = p.total_iterations();
                vec![
                    format!("{} VUs", p.vus),
                    format!("{elapsed}/{total}"),
                    format!(
                        "{:0width$}/{all} iters, {} per VU",
                        live.done_iterations,
                        p.iterations,
                        width = digits(all)
                    ),
                ]
            }
            ExecutorPlan::ConstantArrivalRate(p) => self.arrival_columns(live, p.vus.max, p.rate_per_sec, time),
            ExecutorPlan::RampingArrivalRate(p) => self.arrival_columns(live, p.vus.max, p.peak_rate(), time),
        }
    }

    fn arrival_columns(&self, live: &Live, max: u64, peak: f64, time: String) -> Vec<String> {
        let width = digits(max);
        let rate_width = format!("{peak:.2}").len();
        let rate = live.steered.or_else(|| self.rate_at(live.elapsed_ns)).unwrap_or(0.0);
        vec![
            format!("{:0width$}/{:0width$} VUs", live.running_vus, live.active_vus),
            time,
            format!("{rate:0rate_width$.2} iters/s"),
        ]
    }
}

fn digits(n: u64) -> usize {
    n.checked_ilog10().unwrap_or(0) as usize + 1
}

/// A time in tenths of a second, with the shape that `max_ns` needs, so that a column keeps its width:
/// `4.0s`, `04.0s`, `0m04.0s`, `00m04.0s`, `0h00m04.0s`, `00h00m04.0s`, `0d00h00m04.0s`.
#[must_use]
pub fn fixed_width_time(ns: u64, max_ns: u64) -> String {
    let tenths = ns / 100_000_000;
    let (secs, tenth) = (tenths / 10, tenths % 10);
    let (minutes, s) = (secs / 60, secs % 60);
    let (hours, m) = (minutes / 60, minutes % 60);
    let (days, h) = (hours / 24, hours % 24);
    let max_secs = max_ns / 1_000_000_000;
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    if max_secs < 10 {
        format!("{secs}.{tenth}s")
    } else if max_secs < MINUTE {
        format!("{secs:02}.{tenth}s")
    } else if max_secs < 10 * MINUTE {
        format!("{minutes}m{s:02}.{tenth}s")
    } else if max_secs < HOUR {
        format!("{minutes:02}m{s:02}.{tenth}s")
    } else if max_secs < 10 * HOUR {
        format!("{hours}h{m:02}m{s:02}.{tenth}s")
    } else if max_secs < DAY {
        format!("{hours:02}h{m:02}m{s:02}.{tenth}s")
    } else {
        let width = digits(max_secs / DAY);
        format!("{days:0width$}d{h:02}h{m:02}m{s:02}.{tenth}s")
    }
}

fn text(ns: u64) -> String {
    format_go_duration(i64::try_from(ns).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Plan, Tier, consolidate, parse_json};

    fn check(scenario: &str, live: Live, expect: &[&str]) {
        let options = parse_json(&format!(r#"{{"scenarios": {{"a": {scenario}}}}}"#)).unwrap().options;
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).unwrap();
        let plan = Plan::new(&test.scenarios, &test.share).unwrap();
        assert_eq!(plan.scenarios[0].progress_columns(&live), expect);
    }

    fn live(elapsed_s: f64, running_vus: u64, active_vus: u64, done_iterations: u64) -> Live {
        Live {
            elapsed_ns: (elapsed_s * 1e9) as u64,
            running_vus,
            active_vus,
            done_iterations,
            steered: None,
            max_vus: None,
        }
    }

    /// The expected texts were printed by k6 1.8.1.
    #[test]
    fn columns() {
        check(
            r#"{"executor": "constant-arrival-rate", "rate": 1, "timeUnit": "8s", "duration": "5s", "preAllocatedVUs": 0, "maxVUs": 20}"#,
            live(0.9, 0, 0, 0),
            &["00/00 VUs", "0.9s/5s", "0.12 iters/s"],
        );
        check(
            r#"{"executor": "ramping-arrival-rate", "stages": [{"duration": "5s", "target": 3}], "startRate": 30, "preAllocatedVUs": 20, "maxVUs": 40}"#,
            live(3.967, 3, 20, 0),
            &["03/20 VUs", "3.9s/5s", "08.58 iters/s"],
        );
        check(
            r#"{"executor": "ramping-vus", "stages": [{"duration": "2s", "target": 3}, {"duration": "3s", "target": 0}]}"#,
            live(2.9, 3, 0, 0),
            &["3/3 VUs", "2.9s/5.0s"],
        );
        check(
            r#"{"executor": "ramping-vus", "stages": [{"duration": "2s", "target": 3}]}"#,
            live(2.1, 0, 0, 0),
            &["0/3 VUs", "2s"],
        );
        check(
            r#"{"executor": "ramping-vus", "stages": [{"duration": "1s", "target": 3}, {"duration": "0s", "target": 0}, {"duration": "2s", "target": 0}]}"#,
            live(1.5, 0, 0, 0),
            &["0/3 VUs", "1s"],
        );
        check(
            r#"{"executor": "ramping-vus", "stages": [{"duration": "1m", "target": 30}]}"#,
            live(1.0, 1, 0, 0),
            &["01/30 VUs", "0m01.0s/1m00.0s"],
        );
        check(
            r#"{"executor": "shared-iterations", "vus": 12, "iterations": 300, "maxDuration": "5s"}"#,
            live(0.9, 12, 0, 36),
            &["12 VUs", "0.9s/5s", "036/300 shared iters"],
        );
        check(
            r#"{"executor": "per-vu-iterations", "vus": 2, "iterations": 1}"#,
            live(0.1, 0, 0, 2),
            &["2 VUs", "00m00.1s/10m0s", "2/2 iters, 1 per VU"],
        );
        check(
            r#"{"executor": "constant-vus", "vus": 10, "duration": "1s"}"#,
            live(0.2, 10, 0, 0),
            &["10 VUs", "0.2s/1s"],
        );
        check(r#"{"executor": "constant-vus", "vus": 10, "duration": "1s"}"#, live(1.2, 10, 0, 0), &["10 VUs", "1s"]);
        let external = r#"{"executor": "externally-controlled", "vus": 2, "maxVUs": 5, "duration": "40s"}"#;
        check(external, live(1.0, 2, 2, 0), &["2/5 VUs", "01.0s/40s"]);
        check(&external.replace("\"40s\"", "0"), live(61.0, 2, 2, 0), &["2/5 VUs", "1m01.0s"]);
    }

    #[test]
    fn times_keep_their_width() {
        const S: u64 = 1_000_000_000;
        for (max_s, expect) in [
            (9, "4.0s"),
            (10, "04.0s"),
            (60, "0m04.0s"),
            (600, "00m04.0s"),
            (3_600, "0h00m04.0s"),
            (36_000, "00h00m04.0s"),
            (86_400, "0d00h00m04.0s"),
            (864_000, "00d00h00m04.0s"),
        ] {
            assert_eq!(fixed_width_time(4 * S, max_s * S), expect);
        }
        assert_eq!(fixed_width_time(u64::MAX, u64::MAX).len(), "213503d23h34m33.7s".len());
    }
}
