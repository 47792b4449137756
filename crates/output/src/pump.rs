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
    /// The outputs did not finish in time: their last samples may be missing.
    pub is_stuck: bool,
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
        let mut pump = Pump { outputs, share, threads: Vec::new(), lines: Vec::new(), failed: Box::new(failed) };
        let flag = Arc::clone(&is_ending);
        let body = move || {
            pump.run(&messages, &flag);
            // Whoever waited may have lost patience.
            let _ = done.send(pump.finish());
        };
        std::thread::Builder::new().name("outputs".to_owned()).spawn(body).map_err(OutputError::Thread)?;
        Ok(Self { queue, lost: Arc::default(), is_ending, ended })
    }

    /// Makes the taps of worker threads.
    pub fn taps(&self) -> Arc<dyn Fn(usize) -> Tap + Send + Sync> {
        let (queue, lost) = (self.queue.clone(), Arc::clone(&self.lost));
        Arc::new(move |thread| {
            let inlet = Inlet { thread, queue: queue.clone(), lost: Arc::clone(&lost) };
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
        self.is_ending.store(true, Ordering::Release);
        // A full queue needs no wake-up call.
        let _ = self.queue.try_send(Message::Wake);
        let written = self.ended.recv_timeout(PATIENCE);
        let is_stuck = written.is_err();
        let failed = written.into_iter().flatten().filter(|written| written.missing > 0);
        OutputReport {
            lost: self.lost.load(Ordering::Relaxed),
            failed: failed.map(|written| (written.name, written.missing)).collect(),
            is_stuck,
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
}

impl SampleSink for Inlet {
    fn accept(&mut self, batch: SampleBatch) -> Result<(), SampleBatch> {
        match self.queue.try_send(Message::Batch { thread: self.thread, batch }) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(Message::Batch { batch, .. })) => {
                self.lost.fetch_add(batch.samples.len() as u64, Ordering::Relaxed);
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
    /// Flushing costs compression. Samples wait up to 200 ms in their threads and 100 ms for the outputs' next look:
    /// a killed run has lost no more than its last second.
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
