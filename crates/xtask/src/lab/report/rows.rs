//! Cells of all rounds put together: a row for each tool, experiment and amount of load.

use serde_json::Value;

use crate::lab::{experiment::EXPERIMENTS, statistics::Estimate};

/// What a tool did with one amount of load in one experiment, in all rounds.
#[derive(Debug)]
pub(in crate::lab) struct Row<'a> {
    pub(in crate::lab) experiment: &'a str,
    pub(in crate::lab) amount: &'a str,
    pub(in crate::lab) tool: &'a str,
    /// Those that have figures.
    pub(in crate::lab) cells: Vec<&'a Value>,
    /// Why there are none.
    pub(in crate::lab) reason: Option<&'a str>,
}

impl<'a> Row<'a> {
    /// All rows, in the order of experiments, amounts and tools as they were measured.
    pub(in crate::lab) fn all(cells: &'a [Value]) -> Vec<Self> {
        let mut rows: Vec<Self> = Vec::new();
        for cell in cells {
            let text = |name: &str| cell[name].as_str().unwrap_or_default();
            let (experiment, amount, tool) = (text("experiment"), text("amount"), text("tool"));
            let is_same = |row: &Row<'_>| (row.experiment, row.amount, row.tool) == (experiment, amount, tool);
            let index = rows.iter().position(is_same).unwrap_or_else(|| {
                rows.push(Self { experiment, amount, tool, cells: Vec::new(), reason: None });
                rows.len() - 1
            });
            match cell["cannot"].as_str().or_else(|| cell["failed"].as_str()) {
                Some(reason) => rows[index].reason = Some(reason),
                None => rows[index].cells.push(cell),
            }
        }
        let order = |row: &Row<'_>| EXPERIMENTS.iter().position(|one| one.name == row.experiment).unwrap_or(usize::MAX);
        rows.sort_by_key(order);
        rows
    }

    /// The median of a figure over the rounds.
    pub(in crate::lab) fn estimate(&self, pointer: &str) -> Option<Estimate> {
        let values: Vec<f64> = self.cells.iter().filter_map(|cell| cell.pointer(pointer)?.as_f64()).collect();
        Estimate::of(&values)
    }

    pub(in crate::lab) fn median(&self, pointer: &str) -> Option<f64> {
        self.estimate(pointer).map(|estimate| estimate.median)
    }

    /// Rounds that other programs disturbed.
    pub(in crate::lab) fn disturbed(&self) -> usize {
        self.cells.iter().filter(|cell| cell["disturbed"] == true).count()
    }

    /// What a row is about, for its chart and for comparing runs, in the unit of its chart: memory is for each user, above
    /// what the tool needs for one.
    pub(in crate::lab) fn main(&self, rows: &[Row<'_>]) -> Option<Estimate> {
        let estimate = self.estimate(self.main_figure())?;
        let change: &dyn Fn(f64) -> f64 = match self.experiment {
            "memory" => {
                let one = rows.iter().find(|row| row.experiment == "start" && row.tool == self.tool)?;
                let (alone, users) = (one.median("/usage/rss_bytes_max")?, self.median("/users")?);
                &move |bytes| ((bytes - alone) / users / 1024.0).max(0.0)
            }
            "start" => &|seconds| seconds * 1e3,
            _ => &|value| value,
        };
        let [median, low, high] = [estimate.median, estimate.low, estimate.high].map(change);
        Some(Estimate { median, low, high, ..estimate })
    }

    fn main_figure(&self) -> &'static str {
        match self.experiment {
            "delay" => "/truth/added_ms/mean",
            "rate" => "/truth/deviation_ms/p99",
            "standstill" => "/claim/p90_ms",
            "memory" => "/usage/held_bytes",
            "start" => "/truth/first_s",
            _ => "/usage/cpu_us_per_request",
        }
    }
}
