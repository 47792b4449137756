//! An output of lines that is being written: a file or a stream, until it fails.

use std::{io, io::Write, path::Path, time::Duration};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::{RawSample, TagPairs};

use crate::{
    destination::Destination,
    pump::{OutputError, Reason},
    raw::{Config, Format, Kind, Sample},
};

/// An output that is being written.
pub(crate) struct Open {
    pub(crate) name: String,
    kind: &'static str,
    path: String,
    pub(crate) format: Box<dyn Format>,
    /// `None` once it has failed.
    pub(crate) destination: Option<Destination>,
    flush_interval: Nanos,
    flushed_at: Nanos,
    /// Samples since the last flush, which a failure may have lost.
    unflushed: u64,
    /// Samples it does not have.
    pub(crate) missing: u64,
}

impl Open {
    /// How long plain lines wait, as in k6.
    const FLUSH_INTERVAL: Duration = Duration::from_millis(200);
    /// Flushing costs compression. Samples wait up to 200 ms in their threads and 100 ms for the outputs' next look: a
    /// killed run has lost no more than its last second.
    const FLUSH_INTERVAL_MAX: Duration = Duration::from_millis(700);

    pub(crate) fn file(config: &Config, format: Box<dyn Format>, path: &Path) -> Result<Self, OutputError> {
        let shown = path.display().to_string();
        match Destination::file(path) {
            Ok(destination) => Ok(Self::new(config, format, destination, shown)),
            Err(error) => Err(OutputError::Open { kind: config.kind.name(), path: shown, source: Reason::of(error) }),
        }
    }

    pub(crate) fn stream(config: &Config, format: Box<dyn Format>, stream: Box<dyn Write + Send>) -> Self {
        Self::new(config, format, Destination::stream(stream), "-".to_owned())
    }

    fn new(config: &Config, format: Box<dyn Format>, destination: Destination, path: String) -> Self {
        let flush_interval = match config.kind {
            // Who asks for longer waits gets them.
            Kind::Csv { save_interval, .. } if save_interval > Duration::from_secs(1) => save_interval,
            Kind::Csv { save_interval, .. } => save_interval.min(Self::FLUSH_INTERVAL_MAX),
            Kind::Json if destination.is_compressed() => Self::FLUSH_INTERVAL_MAX,
            Kind::Json | Kind::Messages(_) => Self::FLUSH_INTERVAL,
        };
        Self {
            name: config.to_string(),
            kind: config.kind.name(),
            path,
            format,
            destination: Some(destination),
            flush_interval: flush_interval.into(),
            flushed_at: Clock::now(),
            unflushed: 0,
            missing: 0,
        }
    }

    /// Appends a sample's line; false where its tags are not known.
    pub(crate) fn line(
        &mut self,
        thread: usize,
        raw: &RawSample,
        sets: &[TagPairs],
        metadata: Option<&TagPairs>,
        lines: &mut Vec<u8>,
    ) -> bool {
        let Some(sample) = sample(thread, raw, sets, metadata) else { return false };
        self.format.sample(&sample, lines);
        true
    }

    pub(crate) fn write(&mut self, lines: &[u8], samples: u64, failed: &dyn Fn(&str, &str, String)) {
        self.unflushed += samples;
        self.attempt(|destination| destination.write(lines), failed);
    }

    pub(crate) fn flush_if_due(&mut self, now: Nanos, failed: &dyn Fn(&str, &str, String)) {
        if now.saturating_sub(self.flushed_at) >= self.flush_interval && self.unflushed > 0 {
            self.flushed_at = now;
            if self.attempt(Destination::flush, failed) {
                self.unflushed = 0;
            }
        }
    }

    /// Does something with the destination; its first failure ends the output.
    pub(crate) fn attempt(
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
        failed(self.kind, &self.path, Reason::of(error).to_string());
        false
    }
}

/// A sample with what it refers to; none where its tags are not known.
pub(crate) fn sample<'a>(
    thread: usize,
    raw: &'a RawSample,
    sets: &'a [TagPairs],
    metadata: Option<&'a TagPairs>,
) -> Option<Sample<'a>> {
    let tags = sets.get(raw.tags as usize)?;
    Some(Sample { thread, raw, tags, metadata, unix_ns: Clock::unix_nanos(Nanos(raw.time)) })
}
