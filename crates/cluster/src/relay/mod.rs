//! A relay: lets agents in as a coordinator does, and passes on what they and their coordinator say to each other over one
//! connection, but for the deltas of its agents, which it adds up ([`onrush_session::relay`]).
//!
//! `agents.rs` is the end of agents, `upward.rs` that of the coordinator.

mod agents;
mod upward;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use onrush_fiber::Clock;
use onrush_session::{
    protocol::{AgentId, Time},
    relay,
};
use tokio::sync::{Notify, mpsc};
use tonic::Status;

use crate::{
    Access, Destination, HubError, Token, door,
    listener::Listener,
    messages::{FromAgentBehind, FromCoordinator, FromRelay, from_agent_behind, from_relay},
    rpc::Channel,
};

/// What a relay needs.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// Where it listens for agents.
    pub listen: SocketAddr,
    /// Whom it lets in.
    pub access: Access,
    /// Where the coordinator is, and what lets the relay in.
    pub to: Destination,
    /// What it is called in messages to people.
    pub name: String,
    /// The program's version: all sides must have the same.
    pub program: String,
}

/// What happens at a relay.
#[derive(Debug)]
pub enum RelayEvent {
    /// It is connected with the coordinator: agents can join.
    Connected,
    /// Nobody is there, or the connection broke: it is made again.
    Broke {
        /// Why.
        why: String,
    },
    /// The coordinator does not let it in, or is none. It does not try again.
    Gone {
        /// Why.
        why: String,
    },
    /// Somebody was not let in.
    Refused {
        /// Who.
        peer: SocketAddr,
        /// Why.
        why: String,
    },
}

/// A relay that runs. Dropping it ends it.
pub struct Relay {
    access: Access,
    _listener: Listener,
    /// Where it listens.
    pub address: SocketAddr,
}

/// What all tasks of a relay share. They run on one thread.
#[derive(Clone)]
struct Shared {
    state: Arc<Mutex<State>>,
    /// There is a sum to be sent, or the time for one comes.
    wake: Arc<Notify>,
    deliver: Arc<dyn Fn(RelayEvent) + Send + Sync>,
    config: Arc<RelayConfig>,
}

#[derive(Default)]
struct State {
    relay: relay::Relay,
    /// Connections of agents, by the numbers they have here.
    agents: BTreeMap<u64, AgentConnection>,
    last_number: u64,
    /// The connection with the coordinator, while there is one.
    upward: Option<Upward>,
}

struct AgentConnection {
    /// Once the coordinator has let it in.
    agent: Option<AgentId>,
    outgoing: mpsc::Sender<Result<FromCoordinator, Status>>,
}

#[derive(Clone)]
struct Upward {
    messages: mpsc::Sender<FromRelay>,
    channel: Channel,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Relay {
    /// Listens, and connects with the coordinator as often as needed. Every event goes to `deliver`, on the relay's thread: it
    /// must not block.
    ///
    /// # Errors
    /// When it may not or cannot listen.
    pub fn listen(config: RelayConfig, deliver: impl Fn(RelayEvent) + Send + Sync + 'static) -> Result<Self, HubError> {
        let (listen, access) = (config.listen, config.access.clone());
        let shared = Shared {
            state: Arc::default(),
            wake: Arc::default(),
            deliver: Arc::new(deliver),
            config: Arc::new(config),
        };
        let listener = Listener::open(listen, &access, "relay", |socket, stopped| async move {
            tokio::select! {
                () = door::accept(socket, shared.clone(), stopped) => {}
                () = upward::live(shared.clone()) => {}
            }
        })?;
        Ok(Self { access, address: listener.address, _listener: listener })
    }

    /// What an agent must know to join; `None` where it needs a certificate.
    pub fn token(&self) -> Option<&Token> {
        self.access.agent_token()
    }
}

fn now() -> Time {
    Time(Clock::now().0)
}

/// A message about an agent's connection.
fn about(connection: u64, what: from_agent_behind::What) -> FromRelay {
    FromRelay { what: Some(from_relay::What::Agent(FromAgentBehind { connection, what: Some(what) })) }
}
