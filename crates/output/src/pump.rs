//! From the threads that make samples to the outputs that write them: a bounded queue and one thread.

use std::{
    fmt, io,
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::{RawSample, SampleBatch, SampleSink, SystemTags, TagPairs, Tap};

use crate::{
    destination::Destination,
    raw::{self, Config, Format, Kind, MetricInfo, Sample, Target},
    share::Share,
};

/// The outputs of a run.
pub struct Outputs {
    queue: SyncSender<Message>,
    /// Samples that found the queue full.
    lost: Arc<AtomicU64>,
    /// Samples handed over and not written yet.
    pending: Arc<AtomicU64>,
    is_ending: Arc<AtomicBool>,
    ended: Receiver<Vec<Written>>,
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
    /// The thread could not be started.
    #[error("failed to start the thread of the outputs: {0}")]
    Thread(#[source] io::Error),
}

/// A system's error in its own words, without the number Rust adds.
#[derive(Debug)]
pub struct Reason(io::Error);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        f.write_str(&text.to_lowercase())
    }
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
}

enum Message {
    Batch { thread: usize, batch: SampleBatch },
    Wake,
}

impl Outputs {
    /// Batches that may wait: with 4,096 samples of 32 bytes each, 32 MiB.
    const QUEUE_MAX: usize = 256;

    /// Opens all outputs, which get `share` of the samples, and starts their thread. `stdout` makes a writer for the standard output stream; `failed` is
    /// told once when an output can no longer be written: its name, its file and what happened.
    ///
    /// # Errors
    /// The first output that cannot be opened.
    pub fn start(
        configs: &[Config],
        share: Share,
        metrics: Vec<MetricInfo>,
        system_tags: SystemTags,
        stdout: &dyn Fn() -> Box<dyn Write + Send>,
        failed: impl Fn(&str, &str, String) + Send + 'static,
    ) -> Result<Self, OutputError> {
        let metrics: Arc<[MetricInfo]> = metrics.into();
        let open = |config: &Config| Open::new(config, &metrics, system_tags, stdout);
        let outputs = configs.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let (queue, messages) = sync_channel(Self::QUEUE_MAX);
        let (done, ended) = sync_channel(1);
        let is_ending = Arc::new(AtomicBool::new(false));
        let pending = Arc::new(AtomicU64::new(0));
        let mut pump = Pump {
            outputs,
            share,
            pending: Arc::clone(&pending),
            threads: Vec::new(),
            lines: Vec::new(),
            failed: Box::new(failed),
        };
        let flag = Arc::clone(&is_ending);
        let body = move || {
            pump.run(&messages, &flag);
            // Whoever waited may have lost patience.
            let _ = done.send(pump.finish());
        };
        std::thread::Builder::new().name("outputs".to_owned()).spawn(body).map_err(OutputError::Thread)?;
        Ok(Self { queue, lost: Arc::default(), pending, is_ending, ended })
    }

    /// Makes the taps of worker threads.
    pub fn taps(&self) -> Arc<dyn Fn(usize) -> Tap + Send + Sync> {
        let (queue, lost, pending) = (self.queue.clone(), Arc::clone(&self.lost), Arc::clone(&self.pending));
        Arc::new(move |thread| {
            let inlet = Inlet { thread, queue: queue.clone(), lost: Arc::clone(&lost), pending: Arc::clone(&pending) };
            Tap::new(Box::new(inlet), || Clock::now().0)
        })
    }

    /// Knows the samples that came faster than they could be written.
    pub fn losses(&self) -> Losses {
        Losses(Arc::clone(&self.lost))
    }

    /// Waits until everything that was handed over is written, but not for ever.
    pub fn finish(self) -> OutputReport {
        /// A pipe nobody reads must not keep the program from ending.
        const PATIENCE: Duration = Duration::from_secs(30);
        self.finish_within(PATIENCE)
    }

    fn finish_within(self, patience: Duration) -> OutputReport {
        self.is_ending.store(true, Ordering::Release);
        // A full queue needs no wake-up call.
        let _ = self.queue.try_send(Message::Wake);
        let written = self.ended.recv_timeout(patience);
        let unfinished = written.is_err().then(|| self.pending.load(Ordering::Relaxed));
        let failed = written.into_iter().flatten().filter(|written| written.missing > 0);
        OutputReport {
            lost: self.lost.load(Ordering::Relaxed),
            failed: failed.map(|written| (written.name, written.missing)).collect(),
            unfinished,
        }
    }
}

/// Samples that outputs lost because they came faster than they could be written.
#[derive(Debug)]
pub struct Losses(Arc<AtomicU64>);

impl Losses {
    /// How many there are so far.
    pub fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One thread's way into the queue.
pub struct Inlet {
    thread: usize,
    queue: SyncSender<Message>,
    lost: Arc<AtomicU64>,
    pending: Arc<AtomicU64>,
}

impl SampleSink for Inlet {
    fn accept(&mut self, batch: SampleBatch) -> Result<(), SampleBatch> {
        let samples = batch.samples.len() as u64;
        // Before it is sent, as the other side takes it off again.
        self.pending.fetch_add(samples, Ordering::Relaxed);
        let sent = self.queue.try_send(Message::Batch { thread: self.thread, batch });
        if sent.is_err() {
            self.pending.fetch_sub(samples, Ordering::Relaxed);
        }
        match sent {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(Message::Batch { batch, .. })) => {
                self.lost.fetch_add(samples, Ordering::Relaxed);
                Err(batch)
            }
            // The outputs are closed: what comes now, such as requests of handleSummary(), belongs to no run.
            Err(TrySendError::Disconnected(Message::Batch { batch, .. })) => Err(batch),
            Err(_) => Ok(()),
        }
    }
}

/// The outputs' thread.
struct Pump {
    outputs: Vec<Open>,
    share: Share,
    pending: Arc<AtomicU64>,
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

    fn run(&mut self, messages: &Receiver<Message>, is_ending: &AtomicBool) {
        for output in &mut self.outputs {
            self.lines.clear();
            output.format.head(&mut self.lines);
            output.write(&self.lines, 0, &self.failed);
        }
        loop {
            match messages.recv_timeout(Self::INTERVAL) {
                Ok(Message::Batch { thread, batch }) => self.take(thread, batch),
                Ok(Message::Wake) | Err(RecvTimeoutError::Timeout) => {
                    if is_ending.load(Ordering::Acquire) {
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = Clock::now();
            for output in &mut self.outputs {
                output.flush_if_due(now, &self.failed);
            }
        }
        // What came before the end.
        while let Ok(message) = messages.try_recv() {
            if let Message::Batch { thread, batch } = message {
                self.take(thread, batch);
            }
        }
    }

    fn take(&mut self, thread: usize, batch: SampleBatch) {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Vec::new);
        }
        let sets = &mut self.threads[thread];
        debug_assert_eq!(sets.len(), batch.first_tag_set as usize, "batches come in order");
        sets.extend(batch.tag_sets);
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
                let Some(tags) = sets.get(raw.tags as usize) else { continue };
                let metadata =
                    batch.metadata.get(raw.metadata as usize).filter(|_| raw.metadata != RawSample::NO_METADATA);
                let unix_ns = Clock::unix_nanos(Nanos(raw.time));
                output.format.sample(&Sample { thread, raw, tags, metadata, unix_ns }, &mut self.lines);
                written += 1;
            }
            output.write(&self.lines, written, &self.failed);
        }
        self.pending.fetch_sub(batch.samples.len() as u64, Ordering::Relaxed);
    }

    fn finish(&mut self) -> Vec<Written> {
        let failed = &self.failed;
        self.outputs
            .iter_mut()
            .map(|output| {
                output.attempt(Destination::finish, failed);
                Written { name: output.name.clone(), missing: output.missing }
            })
            .collect()
    }
}

/// An output that is being written.
struct Open {
    name: String,
    kind: &'static str,
    path: String,
    format: Box<dyn Format>,
    /// `None` once it has failed.
    destination: Option<Destination>,
    flush_interval: Nanos,
    flushed_at: Nanos,
    /// Samples since the last flush, which a failure may have lost.
    unflushed: u64,
    /// Samples it does not have.
    missing: u64,
}

impl Open {
    /// How long plain lines wait, as in k6.
    const FLUSH_INTERVAL: Duration = Duration::from_millis(200);
    /// Flushing costs compression. Samples wait up to 200 ms in their threads and 100 ms for the outputs' next look: a
    /// killed run has lost no more than its last second.
    const FLUSH_INTERVAL_MAX: Duration = Duration::from_millis(700);

    fn new(
        config: &Config,
        metrics: &Arc<[MetricInfo]>,
        system_tags: SystemTags,
        stdout: &dyn Fn() -> Box<dyn Write + Send>,
    ) -> Result<Self, OutputError> {
        let (destination, path) = match &config.target {
            Target::Stdout => (Destination::stream(stdout()), "-".to_owned()),
            Target::File(path) => {
                let destination = Destination::file(path).map_err(|error| OutputError::Open {
                    kind: config.kind.name(),
                    path: path.display().to_string(),
                    source: Reason(error),
                })?;
                (destination, path.display().to_string())
            }
        };
        let flush_interval = match config.kind {
            // Who asks for longer waits gets them.
            Kind::Csv { save_interval, .. } if save_interval > Duration::from_secs(1) => save_interval,
            Kind::Csv { save_interval, .. } => save_interval.min(Self::FLUSH_INTERVAL_MAX),
            Kind::Json if destination.is_compressed() => Self::FLUSH_INTERVAL_MAX,
            Kind::Json => Self::FLUSH_INTERVAL,
        };
        Ok(Self {
            name: config.to_string(),
            kind: config.kind.name(),
            path,
            format: raw::format(config.kind, metrics, system_tags),
            destination: Some(destination),
            flush_interval: flush_interval.into(),
            flushed_at: Clock::now(),
            unflushed: 0,
            missing: 0,
        })
    }

    fn write(&mut self, lines: &[u8], samples: u64, failed: &dyn Fn(&str, &str, String)) {
        self.unflushed += samples;
        self.attempt(|destination| destination.write(lines), failed);
    }

    fn flush_if_due(&mut self, now: Nanos, failed: &dyn Fn(&str, &str, String)) {
        if now.saturating_sub(self.flushed_at) >= self.flush_interval && self.unflushed > 0 {
            self.flushed_at = now;
            if self.attempt(Destination::flush, failed) {
                self.unflushed = 0;
            }
        }
    }

    /// Does something with the destination; its first failure ends the output.
    fn attempt(
        &mut self,
        step: impl FnOnce(&mut Destination) -> io::Result<()>,
        failed: &dyn Fn(&str, &str, String),
    ) -> bool {
        let Some(destination) = &mut self.destination else { return false };
        let Err(error) = step(destination) else { return true };
        self.missing += std::mem::take(&mut self.unflushed);
        if let Some(destination) = self.destination.take() {
            destination.abandon();
        }
        failed(self.kind, &self.path, Reason(error).to_string());
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

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
        let outputs = Outputs::start(&configs, Share::ALL, metrics, SystemTags::default(), &stdout, |_, _, _| {})
            .expect("it starts");
        let mut inlet = Inlet {
            thread: 0,
            queue: outputs.queue.clone(),
            lost: Arc::clone(&outputs.lost),
            pending: Arc::clone(&outputs.pending),
        };
        let metric = onrush_metrics::builtin::HTTP_REQS;
        let sample = RawSample { metric, tags: 0, metadata: RawSample::NO_METADATA, time: 0, value: 1.0 };
        let batch = |number: u32| SampleBatch {
            samples: vec![sample; 100],
            first_tag_set: number.min(1),
            tag_sets: if number == 0 { vec![TagPairs::default()] } else { Vec::new() },
            metadata: Vec::new(),
        };
        let taken = (0..1_000).filter(|number| inlet.accept(batch(*number)).is_ok()).count() as u64;
        let report = outputs.finish_within(Duration::from_millis(50));
        assert_eq!(report.lost + taken * 100, 100_000, "{report:?}");
        // The first flush, after the first batch, is where it hangs.
        assert_eq!(report.unfinished, Some((taken - 1) * 100), "{report:?}");
        drop(let_go);
    }
}
