//! What the server saw, which no tool can get wrong: how many requests, when each came, how long each connection took from
//! an answer to its next request.

use serde_json::{Value, json};

use super::{
    job::{Job, Load},
    statistics::{mean, percentile},
    target::FREEZE,
};

/// The server's record, in the order of arrival.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Arrivals {
    /// Nanoseconds of the monotonic clock.
    pub(super) at_ns: Vec<u64>,
    /// From an answer to the next request of its connection: what the client and the kernel added to the latency.
    pub(super) turnaround_ns: Vec<u64>,
}

/// Reads a record: a line a request, `12345 678` or `12345 -`.
pub(super) fn read_arrivals(text: &str) -> Option<Arrivals> {
    let mut arrivals = Arrivals::default();
    for line in text.lines() {
        let (at, turnaround) = line.split_once(' ')?;
        arrivals.at_ns.push(at.parse().ok()?);
        if turnaround != "-" {
            arrivals.turnaround_ns.push(turnaround.parse().ok()?);
        }
    }
    arrivals.at_ns.sort_unstable();
    arrivals.turnaround_ns.sort_unstable();
    Some(arrivals)
}

/// What a cell really did.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Truth {
    pub(super) requests: u64,
    /// From the start of the process to its first request.
    pub(super) first_s: f64,
    /// From the first request to the last.
    pub(super) active_s: f64,
    /// Requests a second between them.
    pub(super) rps: f64,
    /// From one request of a user to the next, in milliseconds: what no user can have waited longer for, on average.
    pub(super) cycle_ms: Option<f64>,
    /// What the delay of the server is above its own, in milliseconds: mean, then p50, p90, p95, p99, p99.9.
    pub(super) added: Option<[f64; 6]>,
    /// How far requests were from an even schedule, in milliseconds: p50, p99, largest. Only for a rate.
    pub(super) deviation: Option<[f64; 3]>,
    /// What users met who came at even times, whatever the server did: p50, p90, p95, p99, p99.9. Only for a standstill.
    pub(super) met: Option<[f64; 5]>,
}

impl Truth {
    /// `spawned_ns`: when the tool's process was started.
    pub(super) fn of(arrivals: &Arrivals, spawned_ns: u64, job: &Job, freezes: bool) -> Self {
        let at = &arrivals.at_ns;
        let (Some(&first), Some(&last)) = (at.first(), at.last()) else { return Self::default() };
        let active_s = (last - first) as f64 / 1e9;
        let sorted: Vec<f64> = arrivals.turnaround_ns.iter().map(|turnaround| *turnaround as f64 / 1e6).collect();
        let added = mean(&sorted).map(|mean| {
            let [p50, p90, p95, p99, p999] = PERCENTILES.map(|share| percentile(&sorted, share).unwrap_or(mean));
            [mean, p50, p90, p95, p99, p999]
        });
        Self {
            requests: at.len() as u64,
            first_s: first.saturating_sub(spawned_ns) as f64 / 1e9,
            active_s,
            rps: if active_s > 0.0 { (at.len() - 1) as f64 / active_s } else { 0.0 },
            cycle_ms: match job.load {
                Load::Closed { users } => Some(users as f64 * active_s * 1e3 / at.len() as f64),
                Load::Open { .. } => None,
            },
            added,
            deviation: match job.load {
                Load::Open { rate, .. } => deviation(at, rate),
                Load::Closed { .. } => None,
            },
            met: freezes.then(|| met(active_s)),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "requests": self.requests,
            "first_s": self.first_s,
            "active_s": self.active_s,
            "rps": self.rps,
            "cycle_ms": self.cycle_ms,
            "added_ms": self.added.map(|[mean, p50, p90, p95, p99, p999]| json!({
                "mean": mean, "p50": p50, "p90": p90, "p95": p95, "p99": p99, "p999": p999,
            })),
            "deviation_ms": self.deviation.map(|[p50, p99, max]| json!({ "p50": p50, "p99": p99, "max": max })),
            "met_ms": self.met.map(|[p50, p90, p95, p99, p999]| json!({
                "p50": p50, "p90": p90, "p95": p95, "p99": p99, "p999": p999,
            })),
        })
    }
}

/// How far arrivals are from an even grid of that rate, wherever the grid begins: its offset is the median one. The first
/// and last hundredth are left out, where tools start and stop.
fn deviation(at_ns: &[u64], rate: u64) -> Option<[f64; 3]> {
    let edge = at_ns.len() / 100;
    let inner = at_ns.get(edge..at_ns.len() - edge).filter(|inner| inner.len() >= ARRIVALS_MIN)?;
    let period_ms = 1e3 / rate as f64;
    let from = *inner.first()?;
    let offsets: Vec<f64> =
        inner.iter().enumerate().map(|(index, at)| (at - from) as f64 / 1e6 - index as f64 * period_ms).collect();
    let mut sorted = offsets.clone();
    sorted.sort_by(f64::total_cmp);
    let middle = percentile(&sorted, 0.5)?;
    let mut away: Vec<f64> = offsets.iter().map(|offset| (offset - middle).abs()).collect();
    away.sort_by(f64::total_cmp);
    Some([percentile(&away, 0.5)?, percentile(&away, 0.99)?, *away.last()?])
}

/// What users meet who come at even times while the server stands still as [`FREEZE`] says, from its first request on:
/// arithmetic, since nothing of it depends on the tool but for how long it went on.
fn met(active_s: f64) -> [f64; 5] {
    let (length, every) = (FREEZE.0.as_secs_f64(), FREEZE.1.as_secs_f64());
    let mut waits: Vec<f64> = (0..USERS)
        .map(|user| {
            let into = (active_s * (f64::from(user) + 0.5) / f64::from(USERS)) % every;
            if into >= every - length { (every - into) * 1e3 } else { 0.0 }
        })
        .collect();
    waits.sort_by(f64::total_cmp);
    PERCENTILES.map(|share| percentile(&waits, share).unwrap_or(0.0))
}

pub(super) const PERCENTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];
/// Fewer say nothing of a schedule.
const ARRIVALS_MIN: usize = 50;
/// A grid fine enough for 99.9 %.
const USERS: u32 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{experiment::EXPERIMENTS, job::Protocol};

    fn job(load: Load) -> Job {
        Job {
            address: ([127, 0, 0, 1], 1).into(),
            protocol: Protocol::Http1,
            steps: EXPERIMENTS[0].steps,
            load,
            seconds: 1,
            delay_ms: 0,
        }
    }

    #[test]
    fn a_record_is_read() {
        let arrivals = read_arrivals("2000 -\n1000 -\n3000 500\n").unwrap();
        assert_eq!(arrivals, Arrivals { at_ns: vec![1000, 2000, 3000], turnaround_ns: vec![500] });
        assert!(read_arrivals("x -").is_none() && read_arrivals("1").is_none());
    }

    #[test]
    fn what_a_cell_did() {
        let at_ns: Vec<u64> = (0..101).map(|index| 5_000_000_000 + index * 10_000_000).collect();
        let arrivals = Arrivals { at_ns, turnaround_ns: vec![1_000_000, 1_000_000, 4_000_000] };
        let truth = Truth::of(&arrivals, 4_500_000_000, &job(Load::Closed { users: 1 }), false);
        assert_eq!((truth.requests, truth.first_s, truth.active_s, truth.rps), (101, 0.5, 1.0, 100.0));
        let [mean, p50, .., p999] = truth.added.unwrap();
        assert_eq!((mean, p50, p999), (2.0, 1.0, 4.0));
        assert!(truth.cycle_ms.is_some_and(|cycle| (cycle - 1000.0 / 101.0).abs() < 1e-9));
        assert_eq!((truth.deviation, truth.met), (None, None));
        assert_eq!(Truth::of(&Arrivals::default(), 0, &job(Load::Closed { users: 1 }), true), Truth::default());
    }

    #[test]
    fn an_even_rate_has_no_deviation_and_late_requests_have() {
        let even: Vec<u64> = (0..1000).map(|index| index * 1_000_000).collect();
        let [p50, _, max] = deviation(&even, 1000).unwrap();
        assert!(p50 < 1e-6 && max < 1e-6);
        // One in ten is 5 ms late.
        let late: Vec<u64> =
            (0..1000).map(|index| index * 10_000_000 + if index % 10 == 1 { 5_000_000 } else { 0 }).collect();
        let [p50, p99, max] = deviation(&late, 100).unwrap();
        assert!(p50 < 1e-6 && (p99 - 5.0).abs() < 1e-6 && (max - 5.0).abs() < 1e-6);
        assert_eq!(deviation(&even[..10], 1000), None);
    }

    #[test]
    fn a_standstill_is_met_by_a_fifth_of_the_users() {
        let [p50, p90, _, p99, p999] = met(20.0);
        assert_eq!(p50, 0.0);
        assert!((p90 - 1000.0).abs() < 2.0 && (p99 - 1900.0).abs() < 2.0 && (p999 - 1990.0).abs() < 2.0);
        // The tool ended before.
        assert_eq!(met(7.0), [0.0; 5]);
    }
}
