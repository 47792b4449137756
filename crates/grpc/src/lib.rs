//! gRPC: schemas, messages and calls.
//!
//! A [`Schema`] is what `.proto` files, protosets or a server's reflection say, as tables that a process shares. Messages
//! are read from the wire into a [`message::Message`], a tree that borrows from its bytes, and written by a
//! [`message::Writer`]. A [`Channel`] is a client's connection to a server, a [`Call`] one exchange on it: they run on
//! fibers over HTTP/2 streams of `onrush-net`.
//!
//! Nothing here knows JavaScript, metrics or VUs. What users can see (statuses and their texts) follows the Go library
//! k6 stands on.
//!
//! Read next: [`schema`] for descriptors, [`channel`] for connections, [`call`] for one exchange.

pub mod call;
pub mod channel;
mod frame;
pub mod health;
pub mod message;
pub mod metadata;
pub mod reflection;
pub mod schema;
pub mod status;
pub mod well_known;

pub use call::Call;
pub use channel::{Channel, ChannelOptions, ConnectError, Request};
pub use metadata::Metadata;
pub use schema::Schema;
pub use status::{Code, Status};
