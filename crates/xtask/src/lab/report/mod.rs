//! What comes of a run: a page with charts and a table that sorts, and a summary in Markdown. Made from the raw results
//! alone, so it can be made again.

mod html;
mod markdown;
mod marks;
mod overview;
mod rows;
mod svg;

use std::{fs, path::Path};

use anyhow::{Context, Result};

pub(super) use self::{rows::Row, svg::number};
use super::store::{read_cells, read_run};

/// Writes `report.html`, `overview.svg` and `summary.md`; returns the summary.
pub(super) fn write(folder: &Path) -> Result<String> {
    let run = read_run(folder)?;
    let cells = read_cells(folder)?;
    let rows = Row::all(&cells);
    let summary = markdown::summary(&run, &rows);
    fs::write(folder.join("report.html"), html::page(&run, &rows)).context("cannot write report.html")?;
    fs::write(folder.join("overview.svg"), overview::picture(&rows)).context("cannot write overview.svg")?;
    fs::write(folder.join("summary.md"), &summary).context("cannot write summary.md")?;
    Ok(summary)
}
