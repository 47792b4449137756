//! `--out summary-csv=FILE`: a table with a line for each series and second.

use std::io;

use onrush_fiber::Clock;
use onrush_metrics::{Registry, Step};
use onrush_output::{Began, Destination, StepOutput, reason};

use super::{
    super::prepare::{Prepared, Readers},
    asked::Asked,
    output::{Finished, Wish},
    seconds::{self, Seconds},
};
use crate::{
    failure::Failure,
    log::rfc3339_nanos,
    tools::result::rows::{COLUMNS, Row, VALUES},
};

/// Writes the table.
struct Table {
    to: Destination,
    registry: Registry,
    began: Began,
}

/// `summary-csv=FILE`.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    Ok(seconds::read::<Table>(asked))
}

impl Seconds for Table {
    const NAME: &'static str = "summary-csv";

    fn readers() -> Readers {
        Readers { series: true, ..Readers::default() }
    }

    fn begin(mut to: Destination, prepared: &Prepared, began: Began) -> io::Result<Self> {
        let names = ["time"].into_iter().chain(COLUMNS).chain(VALUES).map(str::to_owned);
        to.write(&text(std::iter::once(names))?)?;
        Ok(Self { to, registry: prepared.run.registry.clone(), began })
    }

    fn end_of(_: &Finished<'_>) -> Self::End {}
}

impl Table {
    fn lines(&mut self, step: &Step) -> io::Result<()> {
        let unix_ns = match step.span {
            Some(span) => i128::from(self.began.unix_ns(span.from_ns)),
            // Before the scenarios or after them.
            None => Clock::unix_nanos(Clock::now()),
        };
        let time = rfc3339_nanos(unix_ns);
        let rows = step.delta.series.iter().filter_map(|series| {
            let row = Row::new(step.span, self.registry.find(series.metric)?, series)?;
            Some(std::iter::once(time.clone()).chain(row.cells()))
        });
        self.to.write(&text(rows)?)?;
        // Whoever follows the file sees it now.
        self.to.flush()
    }
}

/// Lines as text.
fn text(lines: impl Iterator<Item = impl Iterator<Item = String>>) -> io::Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for line in lines {
        table.write_record(line)?;
    }
    table.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

impl StepOutput for Table {
    type End = ();

    fn step(&mut self, step: Step) -> Result<(), String> {
        self.lines(&step).map_err(|error| reason(&error))
    }

    fn end(mut self, (): ()) -> Result<(), String> {
        self.to.finish().map_err(|error| reason(&error))
    }
}
