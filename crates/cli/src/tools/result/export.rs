//! `onrush result export`: every step of every series, as JSON lines or as a table.

use std::io::{self, BufWriter, Write};

use onrush_metrics::{Histogram, MetricId, Registry, Sink, Span, Step, TagPairs};
use onrush_results::{Head, Reader, Record};
use onrush_session::ExitCode;
use serde_json::{Value, json};

use super::{failed, open};
use crate::{context::Context, failure::Failure, terminal::Stdout};

/// Bytes that are printed at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Prints a file.
///
/// # Errors
/// 255 for a format there is not, for a file that cannot be read, and when nobody takes the output.
pub(super) fn export(cx: &Context, path: &str) -> Result<ExitCode, Failure> {
    let format = cx.flags.text("to").unwrap_or_else(|| "json".to_owned());
    if !["json", "csv"].contains(&format.as_str()) {
        return Err(Failure::other(format!("invalid --to \"{format}\"")).hint("use json or csv"));
    }
    let mut reader = Reader::new(open(path)?).map_err(|error| failed(path, &error.into()))?;
    let (registry, numbers) = reader.head().registry().map_err(|error| failed(path, &error))?;
    let out = BufWriter::with_capacity(BUFFER_BYTES, Stdout(cx.terminal.clone()));
    let mut rows: Box<dyn Rows> =
        if format == "csv" { Box::new(Table(csv::Writer::from_writer(out))) } else { Box::new(Lines(out)) };
    let unwritten = |error: io::Error| Failure::other(format!("failed to write the standard output: {error}"));
    rows.begin(reader.head()).map_err(unwritten)?;
    while let Some(record) = reader.next().map_err(|error| failed(path, &error.into()))? {
        match record {
            Record::Step(step) => step_rows(&registry, &numbers, &step, &mut *rows).map_err(unwritten)?,
            // Whoever wrote it may have written anything.
            Record::Note { name, json } => match serde_json::from_str(&json) {
                Ok(value) => rows.note(&name, &value).map_err(unwritten)?,
                Err(_) => cx.logger.warn(format!("a note in {path} is no JSON, and left out")),
            },
            Record::End(end) => rows.end(&json!(end)).map_err(unwritten)?,
        }
    }
    rows.finish().map_err(unwritten)?;
    if let Some(onrush_results::Ending::Torn { at }) = reader.ending() {
        cx.logger.warn(format!("{path} ends after byte {at}, before the run did"));
    }
    Ok(ExitCode::Success)
}

fn step_rows(registry: &Registry, numbers: &[MetricId], step: &Step, rows: &mut dyn Rows) -> io::Result<()> {
    for series in &step.delta.series {
        let metric = numbers.get(series.metric.0 as usize).and_then(|id| registry.find(*id));
        let Some(metric) = metric.filter(|metric| metric.kind == series.sink.kind()) else { continue };
        rows.row(&Row {
            span: step.span,
            metric: &metric.name,
            kind: metric.kind.as_str(),
            tags: &series.tags,
            sink: &series.sink,
        })?;
    }
    Ok(())
}

/// A series in a step.
struct Row<'a> {
    span: Option<Span>,
    metric: &'a str,
    kind: &'static str,
    tags: &'a TagPairs,
    sink: &'a Sink,
}

impl Row<'_> {
    /// When it began and how long it is, in seconds of the scenarios.
    fn time(&self) -> Option<(f64, f64)> {
        self.span.map(|span| (span.from_ns as f64 / 1e9, (span.until_ns - span.from_ns) as f64 / 1e9))
    }

    /// What [`VALUES`] say about it; `None` for what its type has not.
    fn values(&self) -> [Option<f64>; VALUES.len()] {
        let mut values = [None; VALUES.len()];
        let mut set = |name: &str, value: f64| {
            if let Some(place) = VALUES.iter().position(|known| *known == name) {
                values[place] = Some(value);
            }
        };
        match self.sink {
            Sink::Counter { .. } => {
                let sum = self.sink.counter().unwrap_or_default();
                set("sum", sum);
                self.time()
                    .filter(|(_, seconds)| *seconds > 0.0)
                    .into_iter()
                    .for_each(|(_, seconds)| set("rate", sum / seconds));
            }
            Sink::Gauge(gauge) => {
                set("value", gauge.last);
                set("min", gauge.min);
                set("max", gauge.max);
            }
            Sink::Rate { hits, total } => {
                set("count", *total as f64);
                set("sum", *hits as f64);
                set("rate", if *total == 0 { 0.0 } else { *hits as f64 / *total as f64 });
            }
            Sink::Trend(times) => {
                set("count", times.count() as f64);
                set("sum", times.sum());
                for (name, value) in trend(times) {
                    set(name, value);
                }
            }
        }
        values
    }
}

/// The columns of numbers.
const VALUES: [&str; 12] =
    ["count", "sum", "rate", "value", "min", "avg", "med", "p(90)", "p(95)", "p(99)", "p(99.9)", "max"];

fn trend(times: &Histogram) -> [(&'static str, f64); 8] {
    [
        ("min", times.min()),
        ("avg", times.mean()),
        ("med", times.quantile(0.5)),
        ("p(90)", times.quantile(0.9)),
        ("p(95)", times.quantile(0.95)),
        ("p(99)", times.quantile(0.99)),
        ("p(99.9)", times.quantile(0.999)),
        ("max", times.max()),
    ]
}

/// A format.
trait Rows {
    fn begin(&mut self, head: &Head) -> io::Result<()>;
    fn row(&mut self, row: &Row<'_>) -> io::Result<()>;
    /// Tables have no place for it.
    fn note(&mut self, _name: &str, _value: &Value) -> io::Result<()> {
        Ok(())
    }
    fn end(&mut self, end: &Value) -> io::Result<()>;
    fn finish(&mut self) -> io::Result<()>;
}

/// An object a line: the run, its steps, its end.
struct Lines<W: Write>(W);

impl<W: Write> Rows for Lines<W> {
    fn begin(&mut self, head: &Head) -> io::Result<()> {
        writeln!(self.0, "{}", json!({ "type": "run", "data": head }))
    }

    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        let tags: serde_json::Map<String, Value> =
            row.tags.iter().map(|(name, value)| (name.to_string(), json!(&**value))).collect();
        let values: serde_json::Map<String, Value> = VALUES
            .iter()
            .zip(row.values())
            .filter_map(|(name, value)| Some(((*name).to_owned(), json!(value?))))
            .collect();
        let time = row.time();
        let line = json!({
            "type": "step",
            "from": time.map(|(from, _)| from),
            "seconds": time.map(|(_, seconds)| seconds),
            "metric": row.metric,
            "kind": row.kind,
            "tags": tags,
            "values": values,
        });
        writeln!(self.0, "{line}")
    }

    fn note(&mut self, name: &str, value: &Value) -> io::Result<()> {
        writeln!(self.0, "{}", json!({ "type": name, "data": value }))
    }

    fn end(&mut self, end: &Value) -> io::Result<()> {
        writeln!(self.0, "{}", json!({ "type": "end", "data": end }))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A table of the steps.
struct Table<W: Write>(csv::Writer<W>);

impl<W: Write> Rows for Table<W> {
    fn begin(&mut self, _: &Head) -> io::Result<()> {
        let names = ["from", "seconds", "metric", "type", "tags"].into_iter().chain(VALUES);
        Ok(self.0.write_record(names)?)
    }

    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let time = row.time();
        let tags = row.tags.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
        let texts = [
            number(time.map(|(from, _)| from)),
            number(time.map(|(_, seconds)| seconds)),
            row.metric.to_owned(),
            row.kind.to_owned(),
            tags,
        ];
        Ok(self.0.write_record(texts.into_iter().chain(row.values().map(number)))?)
    }

    fn end(&mut self, _: &Value) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
