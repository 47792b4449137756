//! Whole tests of several agents in virtual time, from a seed: coordinator and connections are the real ones, agents and
//! the network between them are not. Messages are late, lost, doubled and out of order; agents die, freeze, are cut off and
//! have clocks of their own. Some report over relays, which end and are restarted. What comes out is what one agent alone would have measured, or the run has ended or gone on and
//! says what is missing.
//!
//! For tests and `cargo xtask simulate` only. [`Case::of`] makes a run of a seed, [`Case::check`] runs and judges it;
//! [`campaign`] does so for many.

mod agent;
mod campaign;
mod case;
mod ended;
mod faults;
mod host;
mod journal;
mod late;
mod looping;
mod relays;
mod script;
mod world;

pub use campaign::{Campaign, Violation, campaign};
pub use case::Case;
pub use ended::Ended;
pub use faults::Faults;
pub use script::Script;
pub use world::{LEASE, Mistake, SILENCE, World};
