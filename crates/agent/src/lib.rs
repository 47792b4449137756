//! The agent's half of a run: serves an engine by the commands of [`onrush_session::protocol`] and reports what it did.
//!
//! It shares no memory with the coordinator: what it knows of a run comes as commands, what the coordinator learns
//! goes out as reports, in one process as well as over a wire. It does not load scripts: whoever starts it turns the
//! test of [`Init`](onrush_session::protocol::Init) into an engine's configuration. It prints nothing.
//!
//! Start with [`serve`], then `agent.rs`.

mod agent;
mod channel;
mod convert;
mod health;
mod serve;
mod shares;
mod spans;
mod targets;
mod watchdog;

pub use channel::{Commander, Inbox, channel};
pub use serve::{Test, serve};
