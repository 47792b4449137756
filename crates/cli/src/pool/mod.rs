//! Coordinators that serve many runs: `serve.rs` is one, `agent.rs` an agent that stays, `user.rs` whoever sends tests and
//! follows runs.

pub(crate) mod agent;
pub(crate) mod serve;
pub(crate) mod user;
