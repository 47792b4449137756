//! The coordinator's end: listens, lets agents in, hands on what they report, notices who is gone.
//!
//! `state.rs` has the places of the agents, `join.rs` the calls, `relay.rs` that of relays.

mod join;
mod outgoing;
mod relay;
mod state;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_session::protocol::{AgentId, Command, Relayed, Report, Time};
use tokio::sync::OwnedSemaphorePermit;

use self::state::State;
use crate::{Access, Capacity, Hash, HubError, Patience, Token, convert, listener::Listener};

/// What a coordinator listens with.
#[derive(Debug, Clone)]
pub struct HubConfig {
    /// Where; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Whom it lets in. Plain text is for addresses of this machine only.
    pub access: Access,
    /// Agents of the run.
    pub agents: u32,
    /// How long the sides wait for each other.
    pub patience: Patience,
    /// The program's version: agents must have the same.
    pub program: String,
    /// Reports are acknowledged once they were dealt with ([`Ticket`]) instead of when they came: whoever deals with them keeps
    /// a journal, and until it has them they live at the agents.
    pub has_journal: bool,
}

/// What an agent is known by when it connects again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Session(pub [u8; 16]);

/// Whoever knows it can pose as the agent: it does not show.
impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

/// The place of an agent in a run that a hub goes on with.
#[derive(Debug)]
pub struct Seat {
    /// Its number.
    pub agent: AgentId,
    /// What it is known by.
    pub session: Session,
    /// Reports of it that were dealt with.
    pub reports: u64,
    /// All that it was ever sent.
    pub commands: Vec<Command>,
    /// The run goes on without it.
    pub is_lost: bool,
}

/// What happens at the coordinator's end.
#[derive(Debug)]
pub enum Event {
    /// An agent has joined.
    Joined {
        /// Its number.
        agent: AgentId,
        /// What it is known by when it connects again.
        session: Session,
        /// What it is called.
        name: String,
        /// What else is said of it.
        labels: BTreeMap<String, String>,
        /// What it can bear.
        capacity: Capacity,
    },
    /// An agent left before the run began; its place is free again.
    Left {
        /// Its number.
        agent: AgentId,
        /// Why.
        why: String,
    },
    /// An agent has something to say.
    Report {
        /// Its number.
        from: AgentId,
        /// What it says.
        report: Report,
        /// To be dropped once the report is dealt with: an agent that reports faster has to wait, and where there is a journal
        /// the report is acknowledged then.
        ticket: Ticket,
    },
    /// A relay has added up what several agents measured.
    Relayed {
        /// What it added up. None of it has come before.
        relayed: Relayed,
        /// One for each part, to be dropped as that of a report.
        tickets: Vec<Ticket>,
    },
    /// Nothing was heard of an agent of the run for a while; it is not lost yet.
    Suspected {
        /// Its number.
        agent: AgentId,
        /// How long it has said nothing.
        silent: Duration,
    },
    /// An agent that was suspected is there again.
    Back {
        /// Its number.
        agent: AgentId,
        /// How long it had said nothing.
        silent: Duration,
    },
    /// An agent of the run is gone, and what it reports from now on does not count.
    Lost {
        /// Its number.
        agent: AgentId,
        /// Why.
        why: String,
        /// Nobody knows whether it still makes load: if it does, it stops when its lease ends.
        may_run: bool,
    },
    /// Somebody was not let in.
    Refused {
        /// Who.
        peer: SocketAddr,
        /// Why.
        why: String,
    },
}

/// A report that is being dealt with.
#[derive(Debug)]
pub struct Ticket {
    _permit: Option<OwnedSemaphorePermit>,
    /// Whose report it is, and its number.
    confirms: Option<(Arc<Mutex<State>>, AgentId, u64)>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some((state, agent, number)) = self.confirms.take() {
            state.lock().unwrap_or_else(PoisonError::into_inner).confirm(agent, number);
        }
    }
}

pub(crate) type Deliver = Arc<dyn Fn(Event) + Send + Sync>;

/// The coordinator's end of all connections. Dropping it closes them.
pub struct Hub {
    shared: Shared,
    _listener: Listener,
    /// Where it listens.
    pub address: SocketAddr,
}

/// What all tasks of the hub share. They run on one thread, so nobody waits for the lock for long.
#[derive(Clone)]
pub(crate) struct Shared {
    state: Arc<Mutex<State>>,
    deliver: Deliver,
    pub(crate) config: Arc<HubConfig>,
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn deliver(&self, event: Event) {
        (self.deliver)(event);
    }
}

/// The hub's clock is the coordinator's.
pub(crate) fn now() -> Time {
    Time(Clock::now().0)
}

impl Hub {
    /// Listens. Every event goes to `deliver`, on the hub's thread: it must not block.
    ///
    /// # Errors
    /// When it may not or cannot.
    pub fn listen(config: HubConfig, deliver: impl Fn(Event) + Send + Sync + 'static) -> Result<Self, HubError> {
        let state = State::new(config.agents, config.patience, config.has_journal, now());
        Self::open(config, state, deliver)
    }

    /// Listens for the agents of a run that has begun, and whose hub is gone.
    ///
    /// # Errors
    /// When it may not or cannot.
    pub fn resume(
        config: HubConfig,
        seats: Vec<Seat>,
        deliver: impl Fn(Event) + Send + Sync + 'static,
    ) -> Result<Self, HubError> {
        let mut state = State::new(config.agents, config.patience, config.has_journal, now());
        seats.into_iter().for_each(|seat| state.resume(seat, now()));
        state.has_begun = true;
        Self::open(config, state, deliver)
    }

    fn open(
        config: HubConfig,
        state: State,
        deliver: impl Fn(Event) + Send + Sync + 'static,
    ) -> Result<Self, HubError> {
        let (listen, access) = (config.listen, config.access.clone());
        let state = Arc::new(Mutex::new(state));
        let shared = Shared { state, deliver: Arc::new(deliver), config: Arc::new(config) };
        let own = shared.clone();
        let serve = |socket, stopped| join::serve(socket, own, stopped);
        let listener = Listener::open(listen, &access, "cluster", serve)?;
        Ok(Self { shared, address: listener.address, _listener: listener })
    }

    /// What an agent must know to join; `None` where it needs a certificate.
    pub fn token(&self) -> Option<&Token> {
        self.shared.config.access.agent_token()
    }

    /// Lets agents fetch this by its hash.
    pub fn offer(&self, content: Arc<[u8]>) -> Hash {
        self.shared.state().contents.offer(content)
    }

    /// The run begins: whoever is gone from now on is lost.
    pub fn begin(&self) {
        self.shared.state().has_begun = true;
    }

    /// Whether agents may join the run that has begun; `why` not.
    pub fn let_in(&self, admits: Result<(), String>) {
        self.shared.state().full = admits.err();
    }

    /// Sends an agent what the coordinator wants. One that is gone does not miss it.
    pub fn send(&self, agent: AgentId, command: &Command) {
        let bytes = convert::encode_command(command);
        self.shared.state().send(agent, bytes, matches!(command, Command::Stop));
    }

    /// Gives up an agent that is known to be gone, such as a process that ended.
    pub fn lose(&self, agent: AgentId, why: &str) {
        let event = self.shared.state().lose(agent, why, false);
        event.into_iter().for_each(|event| self.shared.deliver(event));
    }

    /// Waits until all agents have what they were sent, for a while.
    pub fn settle(&self, patience: Duration) {
        const LOOK_EVERY: Duration = Duration::from_millis(5);
        let until = Clock::now() + patience;
        while Clock::now() < until && self.shared.state().has_unsent() {
            std::thread::park_timeout(LOOK_EVERY);
        }
    }
}
