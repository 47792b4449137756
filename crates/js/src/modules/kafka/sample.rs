//! The module's metrics, with the names they have in the extension of k6.

use onrush_kafka::{Dials, Progress, Sent};
use onrush_metrics::{Contains, MetricKind, TagNode};

use crate::{
    embed::JsResult,
    modules::own_metrics::{self, OwnMetric},
    vu::{Vu, context::with_named},
};

const fn counter(name: &'static str) -> OwnMetric {
    (name, MetricKind::Counter, Contains::Default)
}

const fn data(name: &'static str) -> OwnMetric {
    (name, MetricKind::Counter, Contains::Data)
}

const fn trend(name: &'static str) -> OwnMetric {
    (name, MetricKind::Trend, Contains::Time)
}

const fn gauge(name: &'static str) -> OwnMetric {
    (name, MetricKind::Gauge, Contains::Default)
}

const fn time_gauge(name: &'static str) -> OwnMetric {
    (name, MetricKind::Gauge, Contains::Time)
}

const WRITER_WRITES: OwnMetric = counter("kafka_writer_write_count");
const WRITER_MESSAGES: OwnMetric = counter("kafka_writer_message_count");
const WRITER_BYTES: OwnMetric = data("kafka_writer_message_bytes");
const WRITER_ERRORS: OwnMetric = counter("kafka_writer_error_count");
const WRITER_BATCH_SECONDS: OwnMetric = trend("kafka_writer_batch_seconds");
const WRITER_QUEUE_SECONDS: OwnMetric = trend("kafka_writer_batch_queue_seconds");
const WRITER_WRITE_SECONDS: OwnMetric = trend("kafka_writer_write_seconds");
const WRITER_WAIT_SECONDS: OwnMetric = trend("kafka_writer_wait_seconds");
const WRITER_RETRIES: OwnMetric = counter("kafka_writer_retries_count");
const WRITER_BATCH_SIZE: OwnMetric = counter("kafka_writer_batch_size");
const WRITER_BATCH_BYTES: OwnMetric = data("kafka_writer_batch_bytes");
const WRITER_ATTEMPTS_MAX: OwnMetric = gauge("kafka_writer_attempts_max");
const WRITER_BATCH_MAX: OwnMetric = gauge("kafka_writer_batch_max");
const WRITER_BATCH_TIMEOUT: OwnMetric = time_gauge("kafka_writer_batch_timeout");
const WRITER_READ_TIMEOUT: OwnMetric = time_gauge("kafka_writer_read_timeout");
const WRITER_WRITE_TIMEOUT: OwnMetric = time_gauge("kafka_writer_write_timeout");
const WRITER_ACKS: OwnMetric = gauge("kafka_writer_acks_required");
const WRITER_ASYNC: OwnMetric = ("kafka_writer_async", MetricKind::Rate, Contains::Default);

const READER_DIALS: OwnMetric = counter("kafka_reader_dial_count");
const READER_FETCHES: OwnMetric = counter("kafka_reader_fetches_count");
const READER_MESSAGES: OwnMetric = counter("kafka_reader_message_count");
const READER_BYTES: OwnMetric = data("kafka_reader_message_bytes");
const READER_REBALANCES: OwnMetric = counter("kafka_reader_rebalance_count");
const READER_TIMEOUTS: OwnMetric = counter("kafka_reader_timeouts_count");
const READER_ERRORS: OwnMetric = counter("kafka_reader_error_count");
const READER_DIAL_SECONDS: OwnMetric = trend("kafka_reader_dial_seconds");
const READER_READ_SECONDS: OwnMetric = trend("kafka_reader_read_seconds");
const READER_WAIT_SECONDS: OwnMetric = trend("kafka_reader_wait_seconds");
const READER_FETCH_SIZE: OwnMetric = counter("kafka_reader_fetch_size");
const READER_FETCH_BYTES: OwnMetric = data("kafka_reader_fetch_bytes");
const READER_OFFSET: OwnMetric = gauge("kafka_reader_offset");
const READER_LAG: OwnMetric = gauge("kafka_reader_lag");
const READER_BYTES_MIN: OwnMetric = gauge("kafka_reader_fetch_bytes_min");
const READER_BYTES_MAX: OwnMetric = gauge("kafka_reader_fetch_bytes_max");
const READER_WAIT_MAX: OwnMetric = time_gauge("kafka_reader_fetch_wait_max");
const READER_QUEUE: OwnMetric = gauge("kafka_reader_queue_length");
const READER_QUEUE_MAX: OwnMetric = gauge("kafka_reader_queue_capacity");

pub(super) const ALL: [OwnMetric; 37] = [
    WRITER_WRITES,
    WRITER_MESSAGES,
    WRITER_BYTES,
    WRITER_ERRORS,
    WRITER_BATCH_SECONDS,
    WRITER_QUEUE_SECONDS,
    WRITER_WRITE_SECONDS,
    WRITER_WAIT_SECONDS,
    WRITER_RETRIES,
    WRITER_BATCH_SIZE,
    WRITER_BATCH_BYTES,
    WRITER_ATTEMPTS_MAX,
    WRITER_BATCH_MAX,
    WRITER_BATCH_TIMEOUT,
    WRITER_READ_TIMEOUT,
    WRITER_WRITE_TIMEOUT,
    WRITER_ACKS,
    WRITER_ASYNC,
    READER_DIALS,
    READER_FETCHES,
    READER_MESSAGES,
    READER_BYTES,
    READER_REBALANCES,
    READER_TIMEOUTS,
    READER_ERRORS,
    READER_DIAL_SECONDS,
    READER_READ_SECONDS,
    READER_WAIT_SECONDS,
    READER_FETCH_SIZE,
    READER_FETCH_BYTES,
    READER_OFFSET,
    READER_LAG,
    READER_BYTES_MIN,
    READER_BYTES_MAX,
    READER_WAIT_MAX,
    READER_QUEUE,
    READER_QUEUE_MAX,
];

/// Samples of one call.
struct Samples<'a> {
    vu: &'a Vu,
    node: TagNode,
}

impl<'a> Samples<'a> {
    fn new(vu: &'a Vu, tags: &[(&str, &str)]) -> Self {
        let mut node = vu.node.get();
        for (name, value) in tags {
            node = with_named(&mut vu.thread.shard.borrow_mut(), node, name, value);
        }
        Self { vu, node }
    }

    fn add(&self, metric: &OwnMetric, value: f64) -> JsResult<()> {
        own_metrics::add(self.vu, own_metrics::id(metric)?, self.node, value);
        Ok(())
    }

    fn add_times(&self, metric: &OwnMetric, times_ns: &[u64]) -> JsResult<()> {
        times_ns.iter().try_for_each(|&ns| self.add(metric, ms(ns)))
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// What a writer is set to.
pub(super) struct WriterSettings {
    pub(super) topic: String,
    pub(super) attempts: u32,
    pub(super) batch_messages: usize,
    pub(super) batch_timeout_ns: u64,
    pub(super) read_ns: u64,
    pub(super) write_ns: u64,
    pub(super) acks: i16,
}

/// What became of a call of `produce()`.
pub(super) fn wrote(vu: &Vu, settings: &WriterSettings, client_id: &str, sent: &Sent, failed: bool) -> JsResult<()> {
    let samples = Samples::new(vu, &[("clientid", client_id), ("topic", &settings.topic)]);
    samples.add(&WRITER_WRITES, sent.batches.len() as f64)?;
    samples.add(&WRITER_MESSAGES, sent.messages as f64)?;
    samples.add(&WRITER_BYTES, sent.bytes as f64)?;
    samples.add(&WRITER_ERRORS, f64::from(u8::from(failed)))?;
    samples.add(&WRITER_RETRIES, sent.retries as f64)?;
    for &(messages, bytes, took_ns) in &sent.batches {
        samples.add(&WRITER_BATCH_SIZE, messages as f64)?;
        samples.add(&WRITER_BATCH_BYTES, bytes as f64)?;
        samples.add(&WRITER_BATCH_SECONDS, ms(took_ns))?;
        samples.add(&WRITER_WRITE_SECONDS, ms(took_ns))?;
        // A batch is sent when it is full or the call has no more.
        samples.add(&WRITER_QUEUE_SECONDS, 0.0)?;
    }
    samples.add_times(&WRITER_WAIT_SECONDS, &sent.wait_ns)?;
    samples.add(&WRITER_ATTEMPTS_MAX, f64::from(settings.attempts))?;
    samples.add(&WRITER_BATCH_MAX, settings.batch_messages as f64)?;
    samples.add(&WRITER_BATCH_TIMEOUT, ms(settings.batch_timeout_ns))?;
    samples.add(&WRITER_READ_TIMEOUT, ms(settings.read_ns))?;
    samples.add(&WRITER_WRITE_TIMEOUT, ms(settings.write_ns))?;
    samples.add(&WRITER_ACKS, f64::from(settings.acks))?;
    samples.add(&WRITER_ASYNC, 0.0)
}

/// What a reader is set to.
pub(super) struct ReaderSettings {
    pub(super) topic: String,
    /// Empty where the group decides.
    pub(super) partition: String,
    pub(super) min_bytes: i32,
    pub(super) max_bytes: i32,
    pub(super) max_wait_ns: u64,
    pub(super) queue_capacity: i64,
}

/// What became of a call of `consume()`.
pub(super) struct Read {
    pub(super) progress: Progress,
    pub(super) dials: Dials,
    pub(super) queued: usize,
    /// The offset and the high watermark of the last message.
    pub(super) last: Option<(i64, i64)>,
    pub(super) failed: bool,
}

pub(super) fn read(vu: &Vu, settings: &ReaderSettings, client_id: &str, read: &Read) -> JsResult<()> {
    let tags = [("clientid", client_id), ("topic", &settings.topic), ("partition", &settings.partition)];
    let samples = Samples::new(vu, if settings.partition.is_empty() { &tags[..2] } else { &tags });
    let progress = &read.progress;
    samples.add(&READER_DIALS, f64::from(read.dials.count))?;
    samples.add_times(&READER_DIAL_SECONDS, &read.dials.took_ns)?;
    samples.add(&READER_FETCHES, progress.fetches as f64)?;
    samples.add(&READER_MESSAGES, progress.messages as f64)?;
    samples.add(&READER_BYTES, progress.bytes as f64)?;
    samples.add(&READER_REBALANCES, progress.rebalances as f64)?;
    samples.add(&READER_TIMEOUTS, progress.timeouts as f64)?;
    samples.add(&READER_ERRORS, progress.errors as f64 + f64::from(u8::from(read.failed)))?;
    samples.add_times(&READER_READ_SECONDS, &progress.read_ns)?;
    samples.add_times(&READER_WAIT_SECONDS, &progress.wait_ns)?;
    samples.add(&READER_FETCH_SIZE, progress.messages as f64)?;
    samples.add(&READER_FETCH_BYTES, progress.fetched_bytes as f64)?;
    if let Some((offset, high_watermark)) = read.last {
        samples.add(&READER_OFFSET, offset as f64 + 1.0)?;
        samples.add(&READER_LAG, (high_watermark - offset - 1).max(0) as f64)?;
    }
    samples.add(&READER_BYTES_MIN, f64::from(settings.min_bytes))?;
    samples.add(&READER_BYTES_MAX, f64::from(settings.max_bytes))?;
    samples.add(&READER_WAIT_MAX, ms(settings.max_wait_ns))?;
    samples.add(&READER_QUEUE, read.queued as f64)?;
    samples.add(&READER_QUEUE_MAX, settings.queue_capacity as f64)
}
