//! The figures of one scenario's progress line, as text. Drawing the line is the terminal's business.

use crate::duration::format_go_duration;
use crate::executor::ExecutorPlan;
use crate::plan::ScenarioPlan;

/// What is going on in a scenario right now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Nanoseconds since the scenario's start.
    pub elapsed_ns: u64,
    /// VUs with an iteration in progress.
    pub running_vus: u64,
    /// VUs the scenario has at its disposal, for arrival rates.
    pub active_vus: u64,
    /// Iterations that ended, for the executors that count them.
    pub done_iterations: u64,
}

impl ScenarioPlan {
    /// How far the scenario is, from 0 to 1.
    #[must_use]
    pub fn progress(&self, live: &Live) -> f64 {
        let by_time = if self.regular_end_ns == 0 {
            1.0
        } else {
            (live.elapsed_ns as f64 / self.regular_end_ns as f64).min(1.0)
        };
        match self.total_iterations() {
            Some(total) if total > 0 => (live.done_iterations as f64 / total as f64).min(1.0),
            _ => by_time,
        }
    }

    /// The columns right of the bar, as k6 has them: VUs, time, and what the executor adds.
    #[must_use]
    pub fn progress_columns(&self, live: &Live) -> Vec<String> {
        let over = live.elapsed_ns >= self.regular_end_ns;
        let total = text(self.regular_end_ns);
        let elapsed = fixed_width_time(
            live.elapsed_ns.min(self.regular_end_ns),
            self.regular_end_ns,
        );
        let time = if over {
            total.clone()
        } else {
            format!("{elapsed}/{total}")
        };
        let digits = |n: u64| n.checked_ilog10().unwrap_or(0) as usize + 1;
        match &self.executor {
            ExecutorPlan::ConstantVus(p) => vec![format!("{} VUs", p.vus), time],
            ExecutorPlan::RampingVus(p) => {
                let max = p.max_vus();
                let width = digits(max);
                let total = fixed_width_time(self.regular_end_ns, self.regular_end_ns);
                let time = if over {
                    total
                } else {
                    format!("{elapsed}/{total}")
                };
                vec![format!("{:0width$}/{max} VUs", live.running_vus), time]
            }
            ExecutorPlan::SharedIterations(p) => vec![
                format!("{} VUs", p.vus),
                format!("{elapsed}/{total}"),
                format!(
                    "{:0width$}/{} shared iters",
                    live.done_iterations,
                    p.iterations,
                    width = digits(p.iterations)
                ),
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
            ExecutorPlan::ConstantArrivalRate(p) => self.arrival_columns(live, p.vus.max, time),
            ExecutorPlan::RampingArrivalRate(p) => self.arrival_columns(live, p.vus.max, time),
        }
    }

    fn arrival_columns(&self, live: &Live, max: u64, time: String) -> Vec<String> {
        let width = max.checked_ilog10().unwrap_or(0) as usize + 1;
        vec![
            format!(
                "{:0width$}/{:0width$} VUs",
                live.running_vus, live.active_vus
            ),
            time,
            format!(
                "{:.2} iters/s",
                self.rate_at(live.elapsed_ns).unwrap_or(0.0)
            ),
        ]
    }
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
        let width = (max_secs / DAY).checked_ilog10().unwrap_or(0) as usize + 1;
        format!("{days:0width$}d{h:02}h{m:02}m{s:02}.{tenth}s")
    }
}

fn text(ns: u64) -> String {
    format_go_duration(i64::try_from(ns).unwrap_or(i64::MAX))
}
