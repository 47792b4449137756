//! Agents in other processes and on other machines: the session's protocol over gRPC.
//!
//! A [`Hub`] is the coordinator's end: it listens, lets agents in, and hands on what they report. A [`Connection`] is an
//! agent's end: it dials the coordinator and comes back when the connection breaks. Messages count once and in order
//! whatever the network does ([`onrush_session::link`]). Each end has one thread, which must not wait for anything else.
//!
//! Nothing here knows scripts, plans or terminals: what a test is travels as content known by its hash. The messages are
//! in `proto/cluster.proto`, see docs/reference/cluster-protocol.md.

#![forbid(unsafe_code)]

mod clock;
mod connection;
mod content;
mod convert;
mod hub;
#[rustfmt::skip]
#[expect(unreachable_pub, reason = "it is generated; proto/cluster.proto says what it means")]
mod messages;
mod patience;
mod rpc;
mod tls;
mod token;

pub use clock::ClockOffset;
pub use connection::{Connection, FetchError, FromHub, JoinConfig, JoinError, Reporter};
pub use content::Hash;
pub use convert::WireError;
pub use hub::{Event, Hub, HubConfig, HubError, Ticket};
pub use patience::Patience;
pub use tls::{Identity, TlsError};
pub use token::{Token, TokenError};

/// Version of the messages: both sides must have the same.
pub const PROTOCOL: u32 = 1;
