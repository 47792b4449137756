//! The raw results of a run: one line of JSON for each cell, written as soon as it is measured, so that a run that was cut
//! off goes on where it was.

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// What tells cells apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) experiment: String,
    /// The amount's label.
    pub(super) amount: String,
    pub(super) tool: String,
    pub(super) round: u64,
}

impl Key {
    pub(super) fn of(cell: &Value) -> Option<Self> {
        let text = |name: &str| cell[name].as_str().map(str::to_owned);
        Some(Self {
            experiment: text("experiment")?,
            amount: text("amount")?,
            tool: text("tool")?,
            round: cell["round"].as_u64()?,
        })
    }

    /// As an object, to which the cell's figures are added.
    pub(super) fn to_json(&self) -> Value {
        json!({ "experiment": self.experiment, "amount": self.amount, "tool": self.tool, "round": self.round })
    }
}

/// A run's folder.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) folder: PathBuf,
    file: File,
    done: HashSet<Key>,
    pub(super) cells: Vec<Value>,
}

impl Store {
    /// Makes the folder, or goes on with what is in it.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join(CELLS);
        let cells = read_cells(folder)?;
        let done = cells.iter().filter_map(Key::of).collect();
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        // A line that was cut off stays by itself, and is not read.
        if fs::read(&path).is_ok_and(|bytes| bytes.last().is_some_and(|last| *last != b'\n')) {
            file.write_all(b"\n").context("cannot write results")?;
        }
        Ok(Self { folder: folder.to_owned(), file, done, cells })
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        self.done.contains(key)
    }

    /// Keeps a cell.
    pub(super) fn add(&mut self, key: Key, cell: Value) -> Result<()> {
        let line = serde_json::to_string(&cell).context("cannot write a result as JSON")? + "\n";
        self.file.write_all(line.as_bytes()).context("cannot write results")?;
        self.done.insert(key);
        self.cells.push(cell);
        Ok(())
    }
}

/// The cells of a run; the last one counts where there are several of a key.
pub(super) fn read_cells(folder: &Path) -> Result<Vec<Value>> {
    let path = folder.join(CELLS);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(|cell| Key::of(cell).is_some()).collect())
}

/// What a run is: machine, tools, how the server was checked.
pub(super) fn read_run(folder: &Path) -> Result<Value> {
    let path = folder.join(RUN);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

/// Keeps it.
pub(super) fn write_run(folder: &Path, run: &Value) -> Result<()> {
    let text = serde_json::to_string_pretty(run).context("cannot write a run as JSON")? + "\n";
    fs::write(folder.join(RUN), text).context("cannot write run.json")
}

const CELLS: &str = "cells.jsonl";
const RUN: &str = "run.json";

#[cfg(test)]
mod tests {
    use super::*;

    fn key(tool: &str, round: u64) -> Key {
        Key { experiment: "static".to_owned(), amount: "100".to_owned(), tool: tool.to_owned(), round }
    }

    #[test]
    fn a_run_goes_on_where_it_was_cut_off() {
        let folder = tempfile::TempDir::new().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        assert!(!store.has(&key("wrk", 0)));
        let mut cell = key("wrk", 0).to_json();
        cell["rps"] = json!(5);
        store.add(key("wrk", 0), cell).unwrap();
        drop(store);
        // The machine lost its power in the middle of the next line.
        let path = folder.path().join(CELLS);
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"experiment\":\"static\",\"amo");
        fs::write(&path, text).unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        assert!(store.has(&key("wrk", 0)) && !store.has(&key("wrk", 1)) && !store.has(&key("ab", 0)));
        store.add(key("ab", 0), key("ab", 0).to_json()).unwrap();
        let cells = read_cells(folder.path()).unwrap();
        assert_eq!(cells.iter().filter_map(Key::of).collect::<Vec<_>>(), [key("wrk", 0), key("ab", 0)]);
        assert_eq!(cells[0]["rps"], 5);
    }
}
