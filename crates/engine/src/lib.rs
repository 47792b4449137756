//! Worker threads that execute a plan: VU life cycle, executors' drivers, and the generator's own health.
//!
//! One thread a core, each with a reactor, a JavaScript engine and its share of the VUs. Work is split by local index
//! (`onrush_plan::thread_of`), so threads need no coordination but a few counters; an arrival that finds no idle VU on
//! its own thread is handed to another that has one. Everything the outside learns comes as [`Event`]s; everything it
//! wants goes through [`Engine`]'s methods. This crate prints nothing and touches no file.

mod cgroup;
mod common;
mod config;
mod engine;
mod event;
mod executor;
mod health;
mod lifecycle;
mod scenario_run;
mod shared;
mod slot;
mod steering;
mod thread;
mod ticker;
mod worker;

pub use config::{EngineConfig, Timeouts, Tracers};
pub use engine::Engine;
pub use event::{Event, LifecycleError, ThreadSample};
pub use health::{Allowance, HealthProbe, HealthSample, cores};
pub use shared::ScenarioProgress;
pub use steering::NewTarget;
