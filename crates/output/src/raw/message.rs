//! Messages with one sample each, as k6's extension for Kafka makes them: an object, or a line of InfluxDB's protocol. Neither has
//! metadata.

use std::{io::Write as _, sync::Arc};

use super::{Format, MetricInfo, Sample, json::put_data, rendered::Rendered};
use crate::{
    influx::{FieldKinds, put_field, put_name, put_tag},
    time::WallClock,
};

/// Objects.
pub(super) struct JsonMessages {
    metrics: Arc<[MetricInfo]>,
    pub(super) clock: WallClock,
    tags: Rendered,
}

impl JsonMessages {
    pub(super) fn new(metrics: Arc<[MetricInfo]>) -> Self {
        Self { metrics, clock: WallClock::local(), tags: Rendered::default() }
    }
}

impl Format for JsonMessages {
    fn sample(&mut self, sample: &Sample<'_>, out: &mut Vec<u8>) {
        let Some(metric) = self.metrics.get(sample.raw.metric.0 as usize) else { return };
        out.extend_from_slice(b"{\"type\":\"Point\",\"data\":");
        put_data(sample, &mut self.clock, &mut self.tags, out);
        out.extend_from_slice(b"},\"metric\":\"");
        // Names of metrics have nothing to escape.
        out.extend_from_slice(metric.name.as_bytes());
        out.extend_from_slice(b"\"}");
    }
}

/// Points.
pub(super) struct LineMessages {
    metrics: Arc<[MetricInfo]>,
    apart: FieldKinds,
    tags: Rendered,
    fields: Rendered,
}

impl LineMessages {
    pub(super) fn new(metrics: Arc<[MetricInfo]>, apart: FieldKinds) -> Self {
        Self { metrics, apart, tags: Rendered::default(), fields: Rendered::default() }
    }
}

impl Format for LineMessages {
    fn sample(&mut self, sample: &Sample<'_>, out: &mut Vec<u8>) {
        let Some(metric) = self.metrics.get(sample.raw.metric.0 as usize) else { return };
        if !sample.raw.value.is_finite() {
            // There is no way to write it.
            return;
        }
        let apart = &self.apart;
        let rendered = |is_field: bool, put: &dyn Fn(&str, &str, &mut String), text: &mut Vec<u8>| {
            let mut line = String::new();
            let named = sample.tags.iter().filter(|(name, value)| !name.is_empty() && !value.is_empty());
            named.filter(|(name, _)| apart.has(name) == is_field).for_each(|(name, value)| put(name, value, &mut line));
            text.extend_from_slice(line.as_bytes());
        };
        let mut name = String::new();
        put_name(&metric.name, &mut name);
        out.extend_from_slice(name.as_bytes());
        let (thread, set) = (sample.thread, sample.raw.tags);
        out.extend_from_slice(self.tags.of(thread, set, |text| rendered(false, &put_tag, text)));
        // Writing to memory cannot fail.
        let _ = write!(out, " value={}", sample.raw.value);
        let put = |name: &str, value: &str, line: &mut String| put_field(name, value, apart, line);
        out.extend_from_slice(self.fields.of(thread, set, |text| rendered(true, &put, text)));
        let _ = write!(out, " {}", sample.unix_ns);
    }
}
