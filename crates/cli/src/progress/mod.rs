//! Progress: one line for the run and one for each scenario, drawn over and over on a terminal (with a line of rates,
//! errors and durations), or once a second as plain blocks.

mod bar;
mod board;
mod pulse;

pub(crate) use board::{Board, Screen, Stage, Totals};
pub(crate) use pulse::Pulse;
