//! What the generator sees of itself, for the verdict on the measurement.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use onrush_engine::{HealthProbe, ThreadSample};
use onrush_fiber::{Nanos, collapse_heap};
use onrush_js::ScenarioContext;
use onrush_metrics::{Histogram, OwnDelay};
use onrush_session::protocol::{Health, HealthReport};

/// Watches the generator while scenarios run: what happens before, such as making VUs, spoils no measurement.
#[derive(Default)]
pub(crate) struct HealthWatch {
    probe: Option<HealthProbe>,
    /// When the scenarios began.
    began_at: Nanos,
    /// When the probe was last looked at.
    sampled_at: Nanos,
    lag: LagSum,
    start_lag: Histogram,
    /// Own delays since the last report, by scenario.
    own_delays: BTreeMap<String, OwnDelay>,
    /// The last second, until every thread has said how late its timers were in it.
    last: Option<Health>,
    panics: BTreeMap<usize, u64>,
    trapped: BTreeMap<usize, (u64, String)>,
    threads_given_up: u32,
    /// How often the process was stopped and went on: in all, and since the probe was last looked at.
    stops_seen: u64,
    stops: u64,
    /// When somebody last looked, and how long before that nobody did.
    ticked_at: Nanos,
    gap: Nanos,
    /// There is something to report beside seconds.
    has_news: bool,
}

/// Delays of timers over all threads since the probe was last looked at.
#[derive(Default)]
struct LagSum {
    count: u64,
    sum_ns: u64,
    max_ns: u64,
}

impl HealthWatch {
    /// How often the probe is looked at.
    const INTERVAL: Nanos = Nanos::from_secs(1);
    /// Huge pages pay where a thread is busy ...
    const BUSY_CORES: f64 = 0.25;
    /// ... with more memory than processors keep the addresses of: 1,500 to 2,000 pages of 4 KiB.
    const LARGE_BYTES: u64 = 48 << 20;
    /// How long they are made at a time: some ten, of which each takes half a millisecond.
    const HUGE_PAGES_PATIENCE: Duration = Duration::from_millis(5);
    /// A shorter rest at the end says nothing about the CPU.
    const INTERVAL_MIN: Nanos = Nanos::from_millis(500);
    /// A process that was stopped looks at nothing for that long; otherwise it does every 100 ms. SIGCONT alone says
    /// little: `timeout` and service managers send it to processes that run.
    const STOP_MIN: Nanos = Nanos::from_millis(250);

    /// The scenarios start.
    pub(crate) fn begin(&mut self, now: Nanos) {
        self.probe = Some(HealthProbe::new());
        (self.sampled_at, self.began_at) = (now, now);
        (self.ticked_at, self.gap) = (now, Nanos::ZERO);
    }

    /// Takes a thread's view of itself. What it says of the scenarios counts whenever it comes: the last delays are
    /// those of the end, which are told after it.
    pub(crate) fn thread(&mut self, sample: &ThreadSample, scenarios: &[Arc<ScenarioContext>]) {
        let panics = self.panics.insert(sample.thread, sample.panics).unwrap_or(0);
        self.has_news |= panics != sample.panics;
        if sample.trapped_writes.0 > 0 {
            let known = self.trapped.insert(sample.thread, sample.trapped_writes.clone());
            self.has_news |= known.as_ref() != Some(&sample.trapped_writes);
        }
        if !sample.in_scenarios {
            return;
        }
        if !sample.start_lag.is_empty() {
            self.start_lag.merge(&sample.start_lag);
            self.has_news = true;
        }
        for (scenario, delay) in &sample.own_delays {
            if let Some(scenario) = scenarios.get(*scenario) {
                self.own_delays.entry(scenario.name.clone()).or_default().merge(delay);
                self.has_news = true;
            }
        }
        if self.probe.is_some() || self.last.is_some() {
            self.lag.count += sample.loop_lag.count;
            self.lag.sum_ns = self.lag.sum_ns.saturating_add(sample.loop_lag.sum.0);
            self.lag.max_ns = self.lag.max_ns.max(sample.loop_lag.max.0);
        }
    }

    /// A thread was given up.
    pub(crate) fn gave_up(&mut self) {
        self.threads_given_up += 1;
        self.has_news = true;
    }

    /// Looks at the process once a second. `stops` is how often it was stopped and went on so far.
    pub(crate) fn tick(&mut self, now: Nanos, stops: u64) -> Option<HealthReport> {
        // The signal may be noticed a moment after the first look that follows it.
        let gap = now.saturating_sub(std::mem::replace(&mut self.ticked_at, now));
        let longest_gap = gap.max(std::mem::replace(&mut self.gap, gap));
        let new = stops.saturating_sub(std::mem::replace(&mut self.stops_seen, stops));
        if self.probe.is_some() && longest_gap >= Self::STOP_MIN {
            self.stops += new;
        }
        if self.probe.is_none() || now.saturating_sub(self.sampled_at) < Self::INTERVAL {
            return None;
        }
        let second = self.look(now)?;
        if second.busiest_thread_cores >= Self::BUSY_CORES && second.rss_bytes >= Self::LARGE_BYTES {
            collapse_heap(Self::HUGE_PAGES_PATIENCE);
        }
        let second = self.with_lag(second);
        Some(self.report(Some(second)))
    }

    /// The scenarios are over. Every thread was just asked for its samples: how late they were at the end is still to
    /// come.
    pub(crate) fn end(&mut self, now: Nanos) {
        if self.stops > 0 || now.saturating_sub(self.sampled_at) >= Self::INTERVAL_MIN {
            self.last = self.look(now);
        }
        self.probe = None;
    }

    /// All threads have said what there is to say.
    pub(crate) fn settle(&mut self) -> Option<HealthReport> {
        let second = self.last.take().map(|second| self.with_lag(second));
        (second.is_some() || self.has_news).then(|| self.report(second))
    }

    fn look(&mut self, now: Nanos) -> Option<Health> {
        let sample = self.probe.as_mut()?.sample();
        self.sampled_at = now;
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        Some(Health {
            process_cores: sample.process_cores,
            busiest_thread_cores: sample.busiest_thread_cores,
            available_cores: sample.available_cores,
            steal_cores: sample.steal_cores,
            throttled: sample.throttled,
            timer_lag_max_ms: 0.0,
            timer_lag_mean_ms: 0.0,
            memory_used: share(sample.rss_bytes, sample.memory_bytes),
            fds_used: share(sample.fds, sample.fds_max),
            waiting: sample.waiting,
            fd_errors: sample.shortages.descriptors,
            port_errors: sample.shortages.ports,
            stops: std::mem::take(&mut self.stops),
            at_secs: now.saturating_sub(self.began_at).as_secs_f64(),
            machine_cores: sample.machine_cores,
            rss_bytes: sample.rss_bytes,
            fds: sample.fds,
            swapped_in: sample.swapped_in,
            segments: sample.segments,
            retransmitted: sample.retransmitted,
            packets_dropped: sample.packets_dropped,
            received_bytes: sample.received_bytes,
            sent_bytes: sample.sent_bytes,
            interface_used: sample.interface_used,
            tracked_used: sample.tracked_used,
        })
    }

    fn with_lag(&mut self, second: Health) -> Health {
        let lag = std::mem::take(&mut self.lag);
        let ms = |ns: u64| ns as f64 / 1e6;
        Health {
            timer_lag_max_ms: ms(lag.max_ns),
            timer_lag_mean_ms: if lag.count == 0 { 0.0 } else { ms(lag.sum_ns) / lag.count as f64 },
            ..second
        }
    }

    fn report(&mut self, second: Option<Health>) -> HealthReport {
        self.has_news = false;
        HealthReport {
            second,
            start_lag: std::mem::take(&mut self.start_lag),
            own_delays: std::mem::take(&mut self.own_delays),
            panics: self.panics.values().sum(),
            trapped_writes: self.trapped.values().map(|(count, _)| count).sum(),
            trapped_property: self.trapped.values().next().map(|(_, property)| property.clone()).unwrap_or_default(),
            threads_given_up: self.threads_given_up,
            computing: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use onrush_fiber::Lag;
    use onrush_metrics::Delta;

    use super::*;

    fn sample(in_scenarios: bool, late_ms: f64) -> ThreadSample {
        let mut start_lag = Histogram::new();
        start_lag.record(late_ms);
        let ns = Nanos::from_millis_f64(late_ms);
        ThreadSample {
            thread: 0,
            delta: Delta::default(),
            ended: Vec::new(),
            at: Nanos::ZERO,
            flush: None,
            in_scenarios,
            loop_lag: Lag { count: 1, sum: ns, max: ns },
            start_lag,
            own_delays: BTreeMap::new(),
            stack_bytes_max: 0,
            panics: 0,
            trapped_writes: (0, String::new()),
        }
    }

    #[test]
    fn going_on_counts_as_a_stop_only_after_a_gap() {
        let mut watch = HealthWatch::default();
        watch.begin(Nanos::from_millis(1_000));
        let mut check = |ms: u64, resumed: u64, expect: u64| {
            watch.tick(Nanos::from_millis(ms), resumed);
            assert_eq!(watch.stops, expect, "at {ms} ms");
        };
        check(1_100, 0, 0);
        // `timeout` says SIGCONT to a process that runs.
        check(1_200, 1, 0);
        check(1_600, 2, 1);
        // Noticed one look later.
        check(1_900, 2, 1);
        check(1_950, 3, 2);
        check(1_960, 4, 2);
    }

    #[test]
    fn delays_at_the_end_count_although_they_are_told_after_it() {
        let mut watch = HealthWatch::default();
        let at = |ms: u64| Nanos::from_millis(ms);
        watch.thread(&sample(false, 99.0), &[]);
        watch.begin(at(1_000));
        assert!(watch.tick(at(1_900), 0).is_none());
        watch.thread(&sample(true, 1.0), &[]);
        let second = watch.tick(at(2_000), 0).unwrap();
        assert_eq!((second.start_lag.max(), second.second.unwrap().timer_lag_max_ms), (1.0, 1.0));
        // A stall of three seconds at the very end.
        watch.end(at(5_000));
        watch.thread(&sample(true, 3_000.0), &[]);
        let last = watch.settle().unwrap();
        assert_eq!((last.start_lag.max(), last.second.unwrap().timer_lag_max_ms), (3_000.0, 3_000.0));
        assert!(watch.settle().is_none());
        // A rest too short for a look at the CPU has delays as well.
        watch.begin(at(6_000));
        watch.end(at(6_100));
        watch.thread(&sample(true, 80.0), &[]);
        let last = watch.settle().unwrap();
        assert_eq!((last.start_lag.max(), last.second), (80.0, None));
    }
}
