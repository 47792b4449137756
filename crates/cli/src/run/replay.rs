//! `--replay`: the journal of a steered run, which this run is steered by.

use onrush_plan::Consolidated;
use onrush_session::{Replay, SteerError};

use crate::{context::Context, failure::Failure};

/// Largest file that is read: a journal of 10,000 changes has two megabytes, the rest of a summary less.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Reads the journal; an empty one when there is no file.
///
/// # Errors
/// 255 for what cannot be read, 104 for what is no journal.
pub(super) fn read(cx: &Context, file: Option<&str>) -> Result<Replay, Failure> {
    let Some(file) = file else { return Ok(Replay::default()) };
    let unreadable = |error: &dyn std::fmt::Display| Failure::other(format!("failed to read --replay {file}: {error}"));
    let size = std::fs::metadata(file).map_err(|error| unreadable(&error))?.len();
    if size > FILE_BYTES_MAX {
        return Err(unreadable(&format_args!("it is larger than {} MiB", FILE_BYTES_MAX >> 20)));
    }
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(&error))?;
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::config(format!("cannot replay {file}: {error}"))
            .hint("--summary-export of a steered run writes a journal, and GET /v1/steering has it while it runs")
    };
    let document = serde_json::from_str(&text).map_err(|error| wrong(&format_args!("it is not JSON: {error}")))?;
    let replay = Replay::parse(&document).map_err(|error| wrong(&error))?;
    if replay.pauses > 0 {
        cx.logger.warn(format!("the pauses in {file} are not replayed: the load does not depend on them"));
    }
    Ok(replay)
}

/// Whether the test has the scenarios that are to be changed.
///
/// # Errors
/// 104 for a scenario there is not.
pub(super) fn check(replay: &Replay, test: &Consolidated) -> Result<(), Failure> {
    for name in replay.steps().filter_map(|step| step.steer.scenario.as_deref()) {
        if !test.scenarios.iter().any(|scenario| scenario.name == name) {
            let known: Vec<&str> = test.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
            let error = SteerError::Unknown { name: name.to_owned(), known: known.join(", ") };
            return Err(Failure::config(format!("cannot replay the changes: {error}")));
        }
    }
    Ok(())
}
