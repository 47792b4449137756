//! `onrush result export`: every step of every series, as JSON lines or as a table; for Prometheus see [`openmetrics`].

use std::io::{self, BufWriter, Write};

use onrush_metrics::{MetricId, Registry, Step};
use onrush_results::{Ending, Head, Reader, Record};
use onrush_session::ExitCode;
use serde_json::{Value, json};

use super::{
    failed, open, openmetrics,
    rows::{COLUMNS, Row, VALUES},
};
use crate::{context::Context, failure::Failure, terminal::Stdout};

/// Bytes that are printed at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Prints a file.
///
/// # Errors
/// 255 for a format there is not, for a file that cannot be read, and when nobody takes the output.
pub(super) fn export(cx: &Context, path: &str) -> Result<ExitCode, Failure> {
    let format = cx.flags.text("to").unwrap_or_else(|| "json".to_owned());
    if !["json", "csv", "prometheus"].contains(&format.as_str()) {
        return Err(Failure::other(format!("invalid --to \"{format}\"")).hint("use json, csv or prometheus"));
    }
    let out = BufWriter::with_capacity(BUFFER_BYTES, Stdout(cx.terminal.clone()));
    if format == "prometheus" {
        return openmetrics::export(cx, path, out);
    }
    let mut reader = Reader::new(open(path)?).map_err(|error| failed(path, &error.into()))?;
    let (registry, numbers) = reader.head().registry().map_err(|error| failed(path, &error))?;
    let mut rows: Box<dyn Rows> =
        if format == "csv" { Box::new(Table(csv::Writer::from_writer(out))) } else { Box::new(Lines(out)) };
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
    warn_of_end(cx, path, reader.ending());
    Ok(ExitCode::Success)
}

/// The standard output takes nothing.
pub(super) fn unwritten(error: io::Error) -> Failure {
    Failure::other(format!("failed to write the standard output: {error}"))
}

/// Says so where the file ends too early.
pub(super) fn warn_of_end(cx: &Context, path: &str, ending: Option<Ending>) {
    if let Some(Ending::Torn { at }) = ending {
        cx.logger.warn(format!("{path} ends after byte {at}, before the run did"));
    }
}

fn step_rows(registry: &Registry, numbers: &[MetricId], step: &Step, rows: &mut dyn Rows) -> io::Result<()> {
    for series in &step.delta.series {
        let metric = numbers.get(series.metric.0 as usize).and_then(|id| registry.find(*id));
        if let Some(row) = metric.and_then(|metric| Row::new(step.span, metric, series)) {
            rows.row(&row)?;
        }
    }
    Ok(())
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
        Ok(self.0.write_record(COLUMNS.into_iter().chain(VALUES))?)
    }

    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        Ok(self.0.write_record(row.cells())?)
    }

    fn end(&mut self, _: &Value) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
