//! k6 scripts in the patched QuickJS: embedding, VU layouts, event loop and the `k6/*` modules.
//!
//! Entry points: [`init::run`] executes a script's init code once (as VU 0) and says what it exports; [`JsThread`] is
//! one worker thread's engine; [`Vu`] is one virtual user, created by [`JsThread::new_vu`] and driven from a fiber.
//! This crate knows nothing of schedules or terminals: `engine` decides when a VU runs, `log` says where text goes.

mod bytecode;
mod embed;
mod go_json;
pub mod init;
mod layout;
pub mod log;
mod modules;
mod offload;
mod realm;
mod run;
mod script_env;
mod sharded;
mod shared;
mod slots;
mod state;
mod thread;
mod trace;
mod vu;

/// The entry of the fuzz target for selectors of `Response.json()`.
pub fn fuzz_json_path(text: &str) {
    modules::http::fuzz_json_path(text);
}

/// The entry of the fuzz target for messages of gRPC, as objects and on the wire.
pub fn fuzz_grpc(input: &[u8]) {
    modules::grpc::fuzz(input);
}

pub use layout::{Isolation, IsolationChoice};
pub use modules::BUILTIN_MODULES;
pub use run::{HttpDebug, HttpSettings, RunConfig, ScenarioContext};
pub use script_env::ScriptEnv;
pub use sharded::ShardedCounter;
pub use state::{Abort, RunState};
pub use thread::{INTENDED_DURATION, INTENDED_REQUEST_DURATION, JsThread, ThreadError};
pub use trace::{Propagator, TraceSettings, Tracer};
pub use vu::{CallEnd, HandleSummaryFile, IterationIds, ScriptFailure, Vu};
