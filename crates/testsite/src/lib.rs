//! The built-in system under test: what `onrush target` runs.
//!
//! A small server of HTTP/1.1 and HTTP/2 made to be loaded: a demo site for the scripts of published benchmarks,
//! endpoints in the manner of httpbin, responses of any size (`/f/{n}`) and calibrated delays. Each thread has an epoll
//! loop and listeners of its own and shares nothing with the others but counters.
//!
//! It is not a general web server: no files, no proxying. It answers
//! whoever connects, so it listens on loopback unless
//! [`TargetOptions::allow_remote`] says otherwise.
//!
//! ```
//! use onrush_testsite::{TargetOptions, start};
//!
//! let options = TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() };
//! let target = start(options)?;
//! println!("try http://{}/get", target.addr);
//! target.stop();
//! target.join()?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Where to read on: [`start`] in `handle`, the loop in `worker`, the exchange of one connection in `connection`, the
//! endpoints in `routes`.

mod body;
mod clock;
mod connection;
mod context;
mod fault;
mod freeze;
mod grpc;
mod handle;
mod head;
mod http2;
mod json;
mod link;
mod listener;
mod multipart;
mod ntlm;
mod options;
mod record;
mod reply;
mod response_head;
mod routes;
mod source;
mod statics;
mod stats;
mod status_code;
mod timers;
mod tls;
mod transport;
mod websocket;
mod worker;

pub use fault::{Break, HandshakeFault};
pub use freeze::Freeze;
pub use handle::{Stopper, TargetHandle, raise_file_limit, start};
pub use options::{ClientAuth, Limits, StapledStatus, THREADS_MAX, TargetOptions, TlsSettings};
pub use record::{ARRIVALS_MAX, Arrival, Record};
pub use routes::ENDPOINTS;

/// The entry of the fuzz target for multipart bodies.
pub fn fuzz_multipart(data: &[u8]) {
    multipart::fuzz(data);
}
