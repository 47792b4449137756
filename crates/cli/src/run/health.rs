//! Feeds what the generator sees of itself to the judge of the measurement.

use std::collections::{BTreeMap, BTreeSet};

use onrush_engine::{HealthProbe, ThreadSample};
use onrush_fiber::{Nanos, collapse_heap};
use onrush_session::{Health, Judge};

/// Watches the generator while scenarios run: what happens before, such as making VUs, spoils no measurement.
#[derive(Default)]
pub(super) struct HealthWatch {
    judge: Judge,
    probe: Option<HealthProbe>,
    /// When the probe was last looked at.
    sampled_at: Nanos,
    lag: LagSum,
    /// Threads whose next sample still covers time before the scenarios.
    stale: BTreeSet<usize>,
    panics: BTreeMap<usize, u64>,
    trapped: BTreeMap<usize, (u64, String)>,
    /// How often the process was stopped and went on: in all, and since the probe was last looked at.
    stops_seen: u64,
    stops: u64,
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
    /// How many are made at a time: 8 ms of this thread.
    const HUGE_PAGES_MAX: usize = 16;
    /// A shorter rest at the end says nothing about the run.
    const INTERVAL_MIN: Nanos = Nanos::from_millis(500);

    /// The scenarios start on so many threads, each of which was just asked for a sample.
    pub(super) fn begin(&mut self, now: Nanos, threads: usize) {
        self.probe = Some(HealthProbe::new());
        self.sampled_at = now;
        self.stale = (0..threads).collect();
    }

    /// Takes a thread's view of itself.
    pub(super) fn thread(&mut self, sample: &ThreadSample) {
        self.panics.insert(sample.thread, sample.panics);
        if sample.trapped_writes.0 > 0 {
            self.trapped.insert(sample.thread, sample.trapped_writes.clone());
        }
        if self.probe.is_none() || self.stale.remove(&sample.thread) {
            return;
        }
        self.judge.start_lag(&sample.start_lag);
        self.lag.count += sample.loop_lag.count;
        self.lag.sum_ns = self.lag.sum_ns.saturating_add(sample.loop_lag.sum.0);
        self.lag.max_ns = self.lag.max_ns.max(sample.loop_lag.max.0);
    }

    /// Looks at the process once a second. `stops` is how often it was stopped and went on so far.
    pub(super) fn tick(&mut self, now: Nanos, stops: u64) {
        let new = stops.saturating_sub(std::mem::replace(&mut self.stops_seen, stops));
        if self.probe.is_some() {
            self.stops += new;
        }
        if now.saturating_sub(self.sampled_at) >= Self::INTERVAL {
            self.look(now);
        }
    }

    /// The scenarios are over.
    pub(super) fn end(&mut self, now: Nanos) {
        if self.stops > 0 || now.saturating_sub(self.sampled_at) >= Self::INTERVAL_MIN {
            self.look(now);
        }
        self.probe = None;
    }

    fn look(&mut self, now: Nanos) {
        let Some(probe) = &mut self.probe else { return };
        let sample = probe.sample();
        self.sampled_at = now;
        if sample.busiest_thread_cores >= Self::BUSY_CORES && sample.rss_bytes >= Self::LARGE_BYTES {
            collapse_heap(Self::HUGE_PAGES_MAX);
        }
        let lag = std::mem::take(&mut self.lag);
        let ms = |ns: u64| ns as f64 / 1e6;
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        self.judge.health(&Health {
            process_cores: sample.process_cores,
            busiest_thread_cores: sample.busiest_thread_cores,
            available_cores: sample.available_cores,
            steal_cores: sample.steal_cores,
            throttled: sample.throttled,
            timer_lag_max_ms: ms(lag.max_ns),
            timer_lag_mean_ms: if lag.count == 0 { 0.0 } else { ms(lag.sum_ns) / lag.count as f64 },
            memory_used: share(sample.rss_bytes, sample.memory_bytes),
            fds_used: share(sample.fds, sample.fds_max),
            waiting: sample.waiting,
            fd_errors: sample.shortages.descriptors,
            port_errors: sample.shortages.ports,
            stops: std::mem::take(&mut self.stops),
        });
    }

    /// The judge, told everything.
    pub(super) fn into_judge(mut self, samples_lost: u64, output_samples_missing: u64) -> Judge {
        self.judge.panics(self.panics.values().sum());
        self.judge.samples_lost(samples_lost);
        self.judge.output_samples_missing(output_samples_missing);
        self.judge
    }

    /// Writes to shared built-ins that were refused, and the last property, if there were any.
    pub(super) fn trapped_writes(&self) -> Option<(u64, &str)> {
        let total = self.trapped.values().map(|(count, _)| count).sum();
        let (_, property) = self.trapped.values().next()?;
        Some((total, property))
    }
}
