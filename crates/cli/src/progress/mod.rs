//! Progress: one line for the run and one for each scenario, drawn over and over on a terminal (with a line of rates,
//! errors and durations), or once a second as plain blocks.

mod bar;
mod board;
mod line;
mod pulse;
mod row;
mod stage;

pub(crate) use board::Board;
pub(crate) use line::{Screen, cut};
pub(crate) use pulse::{Measured, Pulse, milliseconds, percent, rounded};
pub(crate) use row::{Mark, Row};
pub(crate) use stage::{Stage, Totals};
