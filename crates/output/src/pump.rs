//! From the threads that make samples to the outputs that write them: a bounded queue and one thread.

use std::{
    fmt, io,
    io::Write,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_metrics::{RawSample, SampleBatch, SystemTags, TagPairs, Tap};

#[cfg(feature = "kafka")]
use crate::kafka;
use crate::{
    collect::Collector,
    destination::Destination,
    ending::Ending,
    open::{Open, sample},
    queue::{Inlets, Losses, Next, Outlet, Taps, queue},
    raw::{self, Config, MetricInfo, Target},
    share::Share,
    told::Told,
    undelivered::Undelivered,
    window::{Held, Window},
};

/// The outputs of a run.
pub struct Outputs {
    inlets: Inlets,
    /// What they are called.
    names: Vec<String>,
    ended: Receiver<(Vec<Written>, u64)>,
    /// Those that take messages.
    #[cfg(feature = "kafka")]
    sending: Vec<kafka::Sending>,
}

/// Why outputs could not be started.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file could not be made.
    #[error("could not create the '{kind}' output: open {path}: {source}")]
    Open {
        /// `json` or `csv`.
        kind: &'static str,
        /// The file.
        path: String,
        /// What the system says.
        source: Reason,
    },
    /// What sends messages could not be started.
    #[error("could not create the '{kind}' output: {source}")]
    Send {
        /// `kafka`.
        kind: &'static str,
        /// What the system says.
        source: Reason,
    },
    /// The thread could not be started.
    #[error("failed to start the thread of the outputs: {0}")]
    Thread(#[source] io::Error),
}

/// A system's error in its own words, without the number Rust adds.
#[derive(Debug)]
pub struct Reason(io::Error);

impl Reason {
    pub(crate) fn of(error: io::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&reason(&self.0))
    }
}

/// A system's error in its own words, without the number Rust adds.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

impl std::error::Error for Reason {}

/// What became of the samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputReport {
    /// Samples no output got, because they came faster than they could be written.
    pub lost: u64,
    /// Outputs that failed, with the samples they do not have.
    pub failed: Vec<(String, u64)>,
    /// The outputs did not finish in time: samples that were not written by then.
    pub unfinished: Option<u64>,
    /// Samples of agents that came too late to stand in order.
    pub late: u64,
    /// What those who take messages do not have, or have twice.
    pub undelivered: Vec<Undelivered>,
}

/// What somebody who takes messages has to say.
pub type Tell = Box<dyn Fn(Told) + Send>;

/// Whose samples outputs get.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Samples {
    /// This process's: this part of them, in the order in which threads hand them over.
    Own(Share),
    /// Those of agents elsewhere, which [`Collector`] takes: put in order of their times.
    OfAgents,
}

impl Outputs {
    /// Opens all outputs, which get these samples, and starts their thread. `stdout` makes a writer for the standard output
    /// stream; `failed` is told once when an output can no longer be written: its name, its file and what happened. `tell` makes
    /// what is told how it goes with one that takes messages.
    ///
    /// # Errors
    /// The first output that cannot be opened.
    pub fn start(
        configs: &[Config],
        samples: Samples,
        metrics: Vec<MetricInfo>,
        system_tags: SystemTags,
        stdout: &dyn Fn() -> Box<dyn Write + Send>,
        failed: impl Fn(&str, &str, String) + Send + 'static,
        tell: &dyn Fn(&Config) -> Tell,
    ) -> Result<Self, OutputError> {
        let metrics: Arc<[MetricInfo]> = metrics.into();
        let mut outputs = Vec::new();
        #[cfg(feature = "kafka")]
        let (mut feeds, mut sending) = (Vec::new(), Vec::new());
        for config in configs {
            let format = raw::format(&config.kind, &metrics, system_tags);
            match &config.target {
                Target::Stdout => outputs.push(Open::stream(config, format, stdout())),
                Target::File(path) => outputs.push(Open::file(config, format, path)?),
                #[cfg(feature = "kafka")]
                Target::Kafka(target) => {
                    let kind = config.kind.name();
                    let (feed, end) = kafka::start(target, format, tell(config))
                        .map_err(|error| OutputError::Send { kind, source: Reason(error) })?;
                    feeds.push(feed);
                    sending.push(end);
                }
            }
        }
        #[cfg(not(feature = "kafka"))]
        let _ = tell;
        let is_written = |config: &&Config| !matches!(config.kind, raw::Kind::Messages(_));
        let (inlets, outlet) = queue();
        let (done, ended) = sync_channel(1);
        let (share, window) = match samples {
            Samples::Own(share) => (share, None),
            // Agents send their share only.
            Samples::OfAgents => (Share::ALL, Some(Window::default())),
        };
        let mut pump = Pump {
            outputs,
            #[cfg(feature = "kafka")]
            feeds,
            share,
            window,
            threads: Vec::new(),
            lines: Vec::new(),
            failed: Box::new(failed),
        };
        let body = move || {
            pump.run(&outlet);
            // Whoever waited may have lost patience.
            let _ = done.send(pump.finish());
        };
        std::thread::Builder::new().name("outputs".to_owned()).spawn(body).map_err(OutputError::Thread)?;
        Ok(Self {
            inlets,
            names: configs.iter().filter(is_written).map(Config::to_string).collect(),
            ended,
            #[cfg(feature = "kafka")]
            sending,
        })
    }

    /// Makes the taps of worker threads.
    pub fn taps(&self) -> Taps {
        self.inlets.taps()
    }

    /// Takes the samples of agents elsewhere.
    pub fn collector(&self) -> Collector {
        Collector::new(self.inlets.clone())
    }

    /// Knows the samples that came faster than they could be written.
    pub fn losses(&self) -> Losses {
        self.inlets.losses()
    }

    /// Waits until everything that was handed over is written: as long as a slow disk takes, but not for one that no
    /// longer takes anything. `waits` is told again and again who is waited for, and says whether to go on.
    pub fn finish(self, waits: &mut dyn FnMut(&[String]) -> bool) -> OutputReport {
        /// A pipe nobody reads must not keep the program from ending.
        const PATIENCE: Duration = Duration::from_secs(30);
        self.finish_within(PATIENCE, waits)
    }

    /// `patience` is how long nothing at all may be written.
    fn finish_within(self, patience: Duration, waits: &mut dyn FnMut(&[String]) -> bool) -> OutputReport {
        self.inlets.end();
        let (mut pending, mut since) = (self.inlets.pending(), Clock::now());
        let written = loop {
            match self.ended.recv_timeout(Ending::LOOKS) {
                Ok(written) => break Some(written),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let (left, now) = (self.inlets.pending(), Clock::now());
            if left < pending {
                (pending, since) = (left, now);
            }
            if now.saturating_sub(since).as_duration() >= patience || !waits(&self.names) {
                break None;
            }
        };
        let unfinished = written.is_none().then(|| self.inlets.pending());
        let (written, late) = written.unwrap_or_default();
        let failed = written.into_iter().filter(|written| written.missing > 0);
        #[cfg(feature = "kafka")]
        let undelivered = {
            // All end now, whoever is waited for first.
            self.sending.iter().for_each(kafka::Sending::close);
            let until = Clock::now() + kafka::END_MAX;
            let ends = self.sending.into_iter().map(|sending| sending.finish(until, waits));
            ends.filter(|end| !end.is_whole()).collect()
        };
        #[cfg(not(feature = "kafka"))]
        let undelivered = Vec::new();
        OutputReport {
            lost: self.inlets.lost(),
            failed: failed.map(|written| (written.name, written.missing)).collect(),
            unfinished,
            late,
            undelivered,
        }
    }
}

/// The outputs' thread.
struct Pump {
    outputs: Vec<Open>,
    /// Those that take messages.
    #[cfg(feature = "kafka")]
    feeds: Vec<kafka::Feed>,
    share: Share,
    /// Puts samples in order, where they come from agents.
    window: Option<Window>,
    /// The tag sets of each thread.
    threads: Vec<Vec<TagPairs>>,
    lines: Vec<u8>,
    failed: OnFailure,
}

/// Told the kind of an output, its file and what happened.
type OnFailure = Box<dyn Fn(&str, &str, String) + Send>;

/// What an output did not write.
struct Written {
    name: String,
    missing: u64,
}

impl Pump {
    /// How often outputs are looked at: none is flushed more often.
    const INTERVAL: Duration = Duration::from_millis(100);

    fn run(&mut self, outlet: &Outlet) {
        for output in &mut self.outputs {
            self.lines.clear();
            output.format.head(&mut self.lines);
            output.write(&self.lines, 0, &self.failed);
        }
        let mut looked_at = Clock::now();
        loop {
            match outlet.next(Self::INTERVAL) {
                Next::Batch { thread, batch } => self.take(outlet, thread, batch),
                Next::Nothing => {}
                Next::End => break,
            }
            let now = Clock::now();
            if now.saturating_sub(looked_at).as_duration() >= Self::INTERVAL {
                looked_at = now;
                let due = self.window.as_mut().map(|window| window.due(now.0));
                self.write_held(outlet, due.unwrap_or_default());
            }
            for output in &mut self.outputs {
                output.flush_if_due(now, &self.failed);
            }
        }
        // What came before the end.
        outlet.rest().for_each(|(thread, batch)| self.take(outlet, thread, batch));
        let rest = self.window.as_mut().map(Window::rest);
        self.write_held(outlet, rest.unwrap_or_default());
    }

    fn take(&mut self, outlet: &Outlet, thread: usize, mut batch: SampleBatch) {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Vec::new);
        }
        let sets = &mut self.threads[thread];
        debug_assert_eq!(sets.len(), batch.first_tag_set as usize, "batches come in order");
        sets.append(&mut batch.tag_sets);
        if let Some(window) = &mut self.window {
            window.put(thread, batch);
            return;
        }
        for output in &mut self.outputs {
            if output.destination.is_none() {
                output.missing += batch.samples.len() as u64;
                continue;
            }
            self.lines.clear();
            let mut written = 0;
            for raw in &batch.samples {
                if !self.share.has(thread, raw.time) {
                    continue;
                }
                let metadata =
                    batch.metadata.get(raw.metadata as usize).filter(|_| raw.metadata != RawSample::NO_METADATA);
                written += u64::from(output.line(thread, raw, sets, metadata, &mut self.lines));
            }
            output.write(&self.lines, written, &self.failed);
        }
        #[cfg(feature = "kafka")]
        for feed in &mut self.feeds {
            for raw in batch.samples.iter().filter(|raw| self.share.has(thread, raw.time)) {
                // Messages have no metadata.
                sample(thread, raw, sets, None).iter().for_each(|sample| feed.add(sample));
            }
        }
        outlet.done(batch.samples.len() as u64);
    }

    /// Writes samples that are in order.
    fn write_held(&mut self, outlet: &Outlet, held: Vec<Held>) {
        for part in held.chunks(Tap::BATCH_MAX) {
            for output in &mut self.outputs {
                if output.destination.is_none() {
                    output.missing += part.len() as u64;
                    continue;
                }
                self.lines.clear();
                let mut written = 0;
                for Held { thread, raw, metadata } in part {
                    let Some(sets) = self.threads.get(*thread) else { continue };
                    written += u64::from(output.line(*thread, raw, sets, metadata.as_ref(), &mut self.lines));
                }
                output.write(&self.lines, written, &self.failed);
            }
            #[cfg(feature = "kafka")]
            for feed in &mut self.feeds {
                for Held { thread, raw, .. } in part {
                    let known = self.threads.get(*thread).and_then(|sets| sample(*thread, raw, sets, None));
                    known.iter().for_each(|sample| feed.add(sample));
                }
            }
            outlet.done(part.len() as u64);
        }
    }

    /// What was not written, and how many samples stand out of order.
    fn finish(&mut self) -> (Vec<Written>, u64) {
        let failed = &self.failed;
        let finish = |output: &mut Open| {
            output.attempt(Destination::finish, failed);
            Written { name: output.name.clone(), missing: output.missing }
        };
        let written = self.outputs.iter_mut().map(finish).collect();
        (written, self.window.as_ref().map_or(0, Window::late))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::raw::Kind;

    fn silent(_: &Config) -> Tell {
        Box::new(|_| {})
    }

    /// Takes bytes only once it is let go.
    struct Blocked(Receiver<()>);

    impl Write for Blocked {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // An error says that nobody holds it any more.
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn samples_that_were_not_written_in_time_are_counted() {
        let (let_go, blocked) = channel();
        let blocked = std::sync::Mutex::new(Some(blocked));
        let stdout = move || -> Box<dyn Write + Send> {
            let held = blocked.lock().expect("nobody panics").take().expect("there is one output");
            Box::new(Blocked(held))
        };
        let kind = Kind::Csv { time: raw::TimeFormat::Unix, save_interval: Duration::ZERO };
        let configs = [Config { kind, target: Target::Stdout }];
        let registry = onrush_metrics::Registry::new();
        let metrics = registry.iter().map(|metric| MetricInfo::new(metric, &[], &[])).collect();
        let samples = Samples::Own(Share::ALL);
        let outputs = Outputs::start(&configs, samples, metrics, SystemTags::default(), &stdout, |_, _, _| {}, &silent)
            .expect("it starts");
        let inlets = outputs.inlets.clone();
        let metric = onrush_metrics::builtin::HTTP_REQS;
        let sample = RawSample { metric, tags: 0, metadata: RawSample::NO_METADATA, time: 0, value: 1.0 };
        let batch = |number: u32| SampleBatch {
            samples: vec![sample; 100],
            first_tag_set: number.min(1),
            tag_sets: if number == 0 { vec![TagPairs::default()] } else { Vec::new() },
            metadata: Vec::new(),
        };
        let taken = (0..1_000).filter(|number| inlets.put(0, batch(*number)).is_ok()).count() as u64;
        let report = outputs.finish_within(Duration::from_millis(50), &mut |_| true);
        assert_eq!(report.lost + taken * 100, 100_000, "{report:?}");
        // The first flush, after the first batch, is where it hangs.
        assert_eq!(report.unfinished, Some((taken - 1) * 100), "{report:?}");
        drop(let_go);
    }

    struct Slow;

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            std::thread::sleep(Duration::from_millis(40));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_slow_disk_is_waited_for_as_long_as_it_takes_something() {
        let kind = Kind::Csv { time: raw::TimeFormat::Unix, save_interval: Duration::ZERO };
        let configs = [Config { kind, target: Target::Stdout }];
        let registry = onrush_metrics::Registry::new();
        let metrics = registry.iter().map(|metric| MetricInfo::new(metric, &[], &[])).collect();
        let samples = Samples::Own(Share::ALL);
        let slow = || -> Box<dyn Write + Send> { Box::new(Slow) };
        let outputs = Outputs::start(&configs, samples, metrics, SystemTags::default(), &slow, |_, _, _| {}, &silent)
            .expect("it starts");
        let metric = onrush_metrics::builtin::HTTP_REQS;
        let sample = RawSample { metric, tags: 0, metadata: RawSample::NO_METADATA, time: 0, value: 1.0 };
        for number in 0..50_u32 {
            let tag_sets = if number == 0 { vec![TagPairs::default()] } else { Vec::new() };
            let batch = SampleBatch {
                samples: vec![sample; 1_000],
                first_tag_set: number.min(1),
                tag_sets,
                metadata: Vec::new(),
            };
            assert!(outputs.inlets.put(0, batch).is_ok());
        }
        // All of it takes two seconds.
        assert_eq!(outputs.finish_within(Duration::from_millis(800), &mut |_| true), OutputReport::default());
    }

    #[test]
    fn samples_of_agents_come_in_order_and_with_their_own_tags() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("out.csv");
        let kind = Kind::Csv { time: raw::TimeFormat::UnixNano, save_interval: Duration::from_secs(1) };
        let configs = [Config { kind, target: Target::File(path.clone()) }];
        let registry = onrush_metrics::Registry::new();
        let metrics: Vec<_> = registry.iter().map(|metric| MetricInfo::new(metric, &[], &[])).collect();
        let stdout = || -> Box<dyn Write + Send> { Box::new(io::sink()) };
        let outputs =
            Outputs::start(&configs, Samples::OfAgents, metrics, SystemTags::default(), &stdout, |_, _, _| {}, &silent);
        let outputs = outputs.expect("it starts");
        let mut collector = outputs.collector();
        let (http_reqs, vus) = (onrush_metrics::builtin::HTTP_REQS, onrush_metrics::builtin::VUS);
        // The second agent has the metrics in another order.
        collector.know(0, vec![Some(http_reqs), Some(vus)]);
        collector.know(1, vec![Some(vus), Some(http_reqs), None]);
        let sample = |metric: u32, tags: u32, time: u64| RawSample {
            metric: onrush_metrics::MetricId(metric),
            tags,
            metadata: RawSample::NO_METADATA,
            time,
            value: time as f64,
        };
        let set = |value: &str| -> TagPairs { [("where".into(), value.into())].into() };
        let batch = |samples: Vec<RawSample>, first: u32, sets: &[&str]| SampleBatch {
            samples,
            first_tag_set: first,
            tag_sets: sets.iter().map(|value| set(value)).collect(),
            metadata: Vec::new(),
        };
        collector.take(0, 0, batch(vec![sample(0, 0, 10), sample(0, 0, 30)], 0, &["a"]));
        collector.take(1, 0, batch(vec![sample(1, 1, 20), sample(0, 0, 25), sample(2, 0, 26)], 0, &["b", "c"]));
        // Neither has this set, and nobody has this metric; a gap in the sets is no agent of ours.
        collector.take(1, 0, batch(vec![sample(1, 2, 5), sample(9, 0, 5), sample(1, 0, 15)], 2, &[]));
        collector.take(0, 0, batch(vec![sample(0, 0, 1)], 7, &["x"]));
        let report = outputs.finish(&mut |_| true);
        assert_eq!(report, OutputReport { lost: 4, ..OutputReport::default() });
        let text = std::fs::read_to_string(path).expect("a file");
        let lines: Vec<(&str, &str, &str)> = text
            .lines()
            .skip(1)
            .map(|line| {
                let fields: Vec<&str> = line.split(',').collect();
                (fields[0], fields[2], fields[fields.len() - 2])
            })
            .collect();
        let expected = [
            ("http_reqs", "10.000000", "where=a"),
            ("http_reqs", "15.000000", "where=b"),
            ("http_reqs", "20.000000", "where=c"),
            ("vus", "25.000000", "where=b"),
            ("http_reqs", "30.000000", "where=a"),
        ];
        assert_eq!(lines, expected);
    }
}
