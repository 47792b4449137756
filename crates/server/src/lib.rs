//! The REST API of a run: k6's endpoints and JSON shapes, and what goes beyond them, on an HTTP server of its own thread.
//!
//! The server knows nothing about runs. It turns requests into [`Call`]s, hands them to whoever runs the test and
//! sends back what that answers; [`shape`] has the JSON. It must not disturb what is measured: one thread, a bounded
//! number of connections, bounded bodies, a time limit on everything. [`Client`] is the other side, for `onrush status`
//! and the like.
//!
//! Start with [`call`], then [`serve`].

mod address;
mod call;
mod client;
mod guard;
mod page;
mod routes;
mod serve;
pub mod shape;
mod site;
mod tls;

pub use address::{Address, AddressError};
pub use call::{Call, Change, ChangeRequest, Reply, Request};
pub use client::{Answer, Client, ClientError};
pub use onrush_certificates::Fingerprint;
pub use page::Page;
pub use serve::{Listener, Server};
pub use site::{Bell, Chunk, Reader, Site, Source};
pub use tls::{Identity, TlsError, Trust};
