//! `json`: a line that declares each metric before its first sample, and a line for each sample.

use std::{io::Write as _, sync::Arc};

use onrush_metrics::{Metric, SubMetric, TagPairs};

use super::{Format, MetricInfo, Sample, rendered::Rendered};
use crate::{go, time::WallClock};

/// k6's lines.
pub(crate) struct JsonFormat {
    metrics: Arc<[MetricInfo]>,
    is_declared: Vec<bool>,
    pub(super) clock: WallClock,
    tags: Rendered,
}

impl JsonFormat {
    pub(crate) fn new(metrics: Arc<[MetricInfo]>) -> Self {
        Self { is_declared: vec![false; metrics.len()], metrics, clock: WallClock::local(), tags: Rendered::default() }
    }
}

impl Format for JsonFormat {
    fn sample(&mut self, sample: &Sample<'_>, out: &mut Vec<u8>) {
        let index = sample.raw.metric.0 as usize;
        let Some(metric) = self.metrics.get(index) else { return };
        if !std::mem::replace(&mut self.is_declared[index], true) {
            out.extend_from_slice(metric.declaration.as_bytes());
        }
        out.extend_from_slice(b"{\"metric\":\"");
        // Names of metrics have nothing to escape.
        out.extend_from_slice(metric.name.as_bytes());
        out.extend_from_slice(b"\",\"type\":\"Point\",\"data\":");
        put_data(sample, &mut self.clock, &mut self.tags, out);
        if let Some(metadata) = sample.metadata {
            out.extend_from_slice(b",\"metadata\":");
            object(metadata, out);
        }
        out.extend_from_slice(b"}}\n");
    }
}

/// A sample's time, value and tags: an object without its end.
pub(super) fn put_data(sample: &Sample<'_>, clock: &mut WallClock, tags: &mut Rendered, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"time\":\"");
    clock.write(sample.unix_ns, true, out);
    out.extend_from_slice(b"\",\"value\":");
    if sample.raw.value.is_finite() {
        go::number(sample.raw.value, out);
    } else {
        // k6 writes +Inf, which no JSON parser reads.
        out.extend_from_slice(b"null");
    }
    out.extend_from_slice(b",\"tags\":");
    out.extend_from_slice(tags.of(sample.thread, sample.raw.tags, |text| object(sample.tags, text)));
}

fn object(pairs: &TagPairs, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (name, value)) in pairs.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        go::json_string(name, out);
        out.push(b':');
        go::json_string(value, out);
    }
    out.push(b'}');
}

/// The line that declares a metric.
pub(super) fn declaration(metric: &Metric, thresholds: &[serde_json::Value], submetrics: &[&SubMetric]) -> String {
    let mut line = Vec::new();
    // Writing to a vector cannot fail, here and below.
    let _ = write!(
        line,
        "{{\"type\":\"Metric\",\"data\":{{\"name\":\"{name}\",\"type\":\"{}\",\"contains\":\"{}\",\"thresholds\":{},\"submetrics\":",
        metric.kind,
        metric.contains,
        serde_json::Value::from(thresholds),
        name = metric.name,
    );
    if submetrics.is_empty() {
        line.extend_from_slice(b"null");
    } else {
        for (index, submetric) in submetrics.iter().enumerate() {
            line.push(if index == 0 { b'[' } else { b',' });
            line.extend_from_slice(b"{\"name\":");
            go::json_string(&submetric.name, &mut line);
            line.extend_from_slice(b",\"suffix\":");
            go::json_string(&submetric.suffix, &mut line);
            line.extend_from_slice(b",\"tags\":");
            let pairs: TagPairs =
                submetric.tags.iter().map(|(name, value)| (Arc::from(&**name), Arc::from(&**value))).collect();
            object(&pairs, &mut line);
            line.push(b'}');
        }
        line.push(b']');
    }
    let _ = writeln!(line, "}},\"metric\":\"{}\"}}", metric.name);
    // Made of texts only.
    String::from_utf8(line).unwrap_or_default()
}
