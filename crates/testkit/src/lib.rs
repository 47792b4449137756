//! Peers for tests: servers that misbehave on purpose, and one that does not.
//!
//! Everything here is threads and `std::net`, so that no code under test is used to test itself. A server stops, and
//! has closed all its sockets, when it is dropped: tests may count descriptors.
//!
//! Not for production use, and no load target: that is `onrush-testsite`.
//!
//! ```
//! use onrush_testkit::{GoodServer, Reply};
//!
//! let server = GoodServer::start(|request| Reply::text(format!("you asked for {}", request.target)));
//! assert!(server.url("/x").starts_with("http://127.0.0.1:"));
//! ```

use std::io::{Read, Write};

mod acceptor;
pub mod cases;
mod certificates;
mod dns;
mod go;
mod good;
pub mod grpc;
mod hostile;
pub mod http2;
mod kafka;
mod line;
pub mod otlp;
mod proxy;
mod relay;
mod staple;
mod steps;

pub use certificates::{CertificateAuthority, Identity};
pub use dns::{DnsAnswer, DnsQuestion, DnsServer};
pub use go::{GoProgram, built_with_go};
pub use good::{GoodServer, Incoming, Reply};
pub use hostile::{Behaviour, End, HostileServer};
pub use kafka::{ApacheKafka, KafkaBroker, KafkaMessage, KafkaMood};
pub use proxy::{GoodProxy, Way};
pub use relay::{Relay, Weather};
pub use staple::{staple, staples};

/// How many file descriptors this process has open.
pub fn open_fds() -> usize {
    // The directory that is being read is one of them.
    std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count().saturating_sub(1))
}

/// Prints where servers listen, as JSON on one line, and waits until standard input ends: whoever started this process
/// keeps the other end, and the end of that process closes it.
pub fn serve_until_input_ends(addresses: &serde_json::Value) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{addresses}")?;
    out.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
