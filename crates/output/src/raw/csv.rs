//! `csv`: a table with a column for each system tag; other tags and metadata share one column each.

use std::{io::Write as _, sync::Arc};

use onrush_metrics::{SystemTags, TagPairs};

use super::{Format, MetricInfo, Sample, TimeFormat, rendered::Rendered};
use crate::{go, time::WallClock};

/// k6's table.
pub(crate) struct CsvFormat {
    metrics: Arc<[MetricInfo]>,
    time: TimeFormat,
    /// Names of the columns, sorted.
    columns: Vec<&'static str>,
    pub(super) clock: WallClock,
    tags: Rendered,
}

impl CsvFormat {
    pub(crate) fn new(metrics: Arc<[MetricInfo]>, time: TimeFormat, system_tags: SystemTags) -> Self {
        let mut columns: Vec<_> = system_tags.iter().filter(|tag| !tag.is_metadata()).map(|tag| tag.as_str()).collect();
        columns.sort_unstable();
        Self { metrics, time, columns, clock: WallClock::local(), tags: Rendered::default() }
    }

    pub(super) fn write_time(&mut self, unix_ns: i128, out: &mut Vec<u8>) {
        let unit = match self.time {
            TimeFormat::Rfc3339 => return self.clock.write(unix_ns, false, out),
            TimeFormat::Rfc3339Nano => return self.clock.write(unix_ns, true, out),
            TimeFormat::Unix => 1_000_000_000,
            TimeFormat::UnixMilli => 1_000_000,
            TimeFormat::UnixMicro => 1_000,
            TimeFormat::UnixNano => 1,
        };
        // Writing to a vector cannot fail.
        let _ = write!(out, "{}", unix_ns.div_euclid(unit));
    }
}

impl Format for CsvFormat {
    fn head(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"metric_name,timestamp,metric_value,");
        for column in &self.columns {
            out.extend_from_slice(column.as_bytes());
            out.push(b',');
        }
        out.extend_from_slice(b"extra_tags,metadata\n");
    }

    fn sample(&mut self, sample: &Sample<'_>, out: &mut Vec<u8>) {
        let Some(metric) = self.metrics.get(sample.raw.metric.0 as usize) else { return };
        out.extend_from_slice(metric.name.as_bytes());
        out.push(b',');
        self.write_time(sample.unix_ns, out);
        out.push(b',');
        go::fixed(sample.raw.value, out);
        out.push(b',');
        let columns = &self.columns;
        out.extend_from_slice(self.tags.of(sample.thread, sample.raw.tags, |text| row(columns, sample.tags, text)));
        if let Some(metadata) = sample.metadata {
            pairs_field(metadata.iter().map(|(name, value)| (&**name, &**value)), out);
        }
        out.push(b'\n');
    }
}

/// The columns of a tag set, the one of other tags included, each with its comma.
fn row(columns: &[&str], tags: &TagPairs, out: &mut Vec<u8>) {
    for column in columns {
        if let Ok(position) = tags.binary_search_by(|(name, _)| (**name).cmp(column)) {
            go::csv_field(&tags[position].1, out);
        }
        out.push(b',');
    }
    let others = tags.iter().filter(|(name, _)| columns.binary_search(&&**name).is_err());
    pairs_field(others.map(|(name, value)| (&**name, &**value)), out);
    out.push(b',');
}

/// `a=1&b=2`. k6 escapes nothing in it and has no fixed order; here names are sorted.
fn pairs_field<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>, out: &mut Vec<u8>) {
    let text = pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
    go::csv_field(&text, out);
}
