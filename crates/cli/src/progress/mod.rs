//! Progress: one line for the run and one for each scenario, drawn over and over on a terminal, or once a second as
//! plain blocks.

mod bar;
mod board;

pub(crate) use board::{Board, Screen, Stage, Totals};
