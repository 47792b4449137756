//! Agents in other processes and on other machines: the session's protocol over gRPC.
//!
//! A [`Hub`] is the coordinator's end: it listens, lets agents in, and hands on what they report. A [`Connection`] is an
//! agent's end: it dials the coordinator and comes back when the connection breaks. Messages count once and in order
//! whatever the network does ([`onrush_session::link`]). Each end has one thread, which must not wait for anything else. A
//! [`Pool`] serves many runs: agents stay ([`Standing`]), users send tests ([`User`]). A [`Relay`] is between many agents and
//! their coordinator.
//!
//! Nothing here knows scripts, plans or terminals: what a test is travels as content known by its hash. The messages are
//! in `proto/cluster.proto`, see docs/reference/cluster-protocol.md.

#![forbid(unsafe_code)]

mod access;
mod bearing;
mod clock;
mod connection;
mod content;
mod convert;
mod dial;
mod door;
mod hub;
mod journal;
mod listener;
#[rustfmt::skip]
#[expect(unreachable_pub, reason = "it is generated; proto/cluster.proto says what it means")]
mod messages;
mod patience;
mod pool;
mod pulse;
mod relay;
mod rpc;
mod tls;
mod token;

pub use access::{Access, Credential};
pub use bearing::Capacity;
pub use clock::CoordinatorClock;
pub use connection::{Connection, FetchError, FromHub, JoinConfig, JoinError, Reporter};
pub use content::Hash;
pub use convert::WireError;
pub use dial::Destination;
pub use hub::{Event, Hub, HubConfig, Seat, Session, Ticket};
pub use journal::{
    Entry, JournalAgent, JournalError, JournalHead, JournalReader, JournalWriter, Unheard, UnheardError,
};
pub use listener::HubError;
pub use patience::{Patience, PatienceError};
pub use pool::{
    AgentInfo, FromPool, Happened, Place, Pool, PoolConfig, PoolEvent, PoolLimits, RunInfo, RunOrder, RunRequest,
    StandConfig, StandError, Standing, User, UserError,
};
pub use relay::{Relay, RelayConfig, RelayEvent};
pub use tls::{Identity, TlsError};
pub use token::{Token, TokenError};

/// Version of the messages: both sides must have the same.
pub const PROTOCOL: u32 = 3;

/// So many agents, for people.
pub fn agents_text(count: u32) -> String {
    if count == 1 { "1 agent".to_owned() } else { format!("{count} agents") }
}
