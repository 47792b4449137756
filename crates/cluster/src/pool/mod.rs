//! A coordinator that serves many runs: agents stay and wait, users send tests, each run gets agents of its own.
//!
//! Every run has a coordinator of its own, with a [`crate::Hub`], which whoever uses a [`Pool`] starts when
//! [`PoolEvent::Start`] says so; the pool passes the connections of the run's agents on to it, so that one port is enough.
//! `state.rs` decides who gets what, `log.rs` keeps what runs say, `calls.rs` answers, `forward.rs` passes on. [`Standing`]
//! is an agent's end, [`User`] that of whoever sends tests.

mod calls;
mod forward;
mod log;
mod standing;
mod state;
mod user;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::{Notify, mpsc};

use self::{
    log::Entry,
    state::{Phase, State},
};
pub use self::{
    standing::{FromPool, StandConfig, StandError, Standing},
    state::Place,
    user::{AgentInfo, Happened, RunInfo, User, UserError},
};
use crate::{
    Access, HubError, Token,
    hub::now,
    listener::Listener,
    messages::{Assign, ToMember, to_member},
};

/// What a pool serves with.
#[derive(Debug, Clone)]
pub struct PoolConfig {
    /// Where; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Whom it lets in.
    pub access: Access,
    /// The program's version: agents and users must have the same.
    pub program: String,
    /// Where tests and files of runs are kept, each run in a folder of its own.
    pub folder: PathBuf,
    /// Bounds.
    pub limits: PoolLimits,
}

/// Bounds of what others can make a pool keep.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// Runs that wait for agents.
    pub runs_waiting: usize,
    /// Runs that are over and can still be read.
    pub runs_kept: usize,
    /// Bytes of a test with its files.
    pub test_bytes: u64,
    /// Bytes of what a run says, of which the oldest are forgotten.
    pub log_bytes: usize,
    /// Those who follow a run, over all runs.
    pub followers: usize,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self { runs_waiting: 32, runs_kept: 64, test_bytes: 1 << 30, log_bytes: 16 << 20, followers: 256 }
    }
}

/// A run as somebody wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunRequest {
    /// What it is called in lists.
    pub name: String,
    /// How many agents it needs.
    pub agents: u32,
    /// Zones and their weights; none: any agents.
    pub zones: Vec<(String, u32)>,
    /// How long it may wait for them.
    pub wait: Duration,
    /// Debug lines of the log as well.
    pub is_verbose: bool,
    /// Shares follow zones alone, not what agents can bear.
    pub is_even: bool,
}

/// A run whose agents are free.
#[derive(Debug, Clone)]
pub struct RunOrder {
    /// Its number.
    pub run: u64,
    /// What is wanted.
    pub request: RunRequest,
}

/// What happens in a pool.
#[derive(Debug)]
pub enum PoolEvent {
    /// The coordinator of a run is to be started; its folder has the file `test`.
    Start(RunOrder),
    /// Somebody wants a run to end that has been started.
    Stop {
        /// Which.
        run: u64,
    },
    /// Something for the log.
    Note(String),
    /// Somebody was not let in.
    Refused {
        /// Who.
        peer: SocketAddr,
        /// Why.
        why: String,
    },
}

type Deliver = Arc<dyn Fn(PoolEvent) + Send + Sync>;

/// What serves agents and users. Dropping it closes all connections.
pub struct Pool {
    shared: Shared,
    _listener: Listener,
    /// Where it listens.
    pub address: SocketAddr,
}

/// What all tasks of a pool share. Nobody keeps the lock for long.
#[derive(Clone)]
struct Shared {
    inner: Arc<Mutex<Inner>>,
    config: Arc<PoolConfig>,
    deliver: Deliver,
    /// There may be something to begin.
    changed: Arc<Notify>,
}

struct Inner {
    state: State,
    /// The ways to the agents.
    outboxes: BTreeMap<u64, mpsc::Sender<Result<ToMember, tonic::Status>>>,
    followers: usize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, text: String) {
        (self.deliver)(PoolEvent::Note(text));
    }

    fn folder(&self, run: u64) -> PathBuf {
        self.config.folder.join(run.to_string())
    }

    fn happen(&self, run: u64, entry: Entry) {
        if let Some(run) = self.lock().state.runs.get_mut(&run) {
            run.log.push(entry);
        }
    }

    fn end(&self, run: u64, code: u8) {
        self.happen(run, Entry::End(code));
        let forgotten = self.lock().state.end(run, code, now());
        for run in forgotten {
            // What cannot be removed stays until the pool ends.
            let _ = std::fs::remove_dir_all(self.folder(run));
        }
        self.changed.notify_one();
    }

    /// Begins what can begin, ends what has waited for too long, forgets who is silent.
    fn look(&self) {
        let (silent, expired) = {
            let state = &mut self.lock().state;
            (state.silent(now()), state.expired(now()))
        };
        for member in silent {
            self.note(format!("agent {} is gone: it said nothing for {} s", member.name, state::SILENCE.as_secs()));
        }
        for (run, why) in expired {
            /// As when agents do not join a coordinator with a test.
            const AGENT_LOST: u8 = 120;
            self.note(format!("run {run}: {why}"));
            self.happen(run, Entry::Log(Bytes::from(format!("{why}\n"))));
            self.end(run, AGENT_LOST);
        }
        let orders = self.lock().state.schedule(now());
        for order in orders {
            (self.deliver)(PoolEvent::Start(order));
        }
    }
}

impl Pool {
    /// Listens. Every event goes to `deliver`, on the pool's thread: it must not block.
    ///
    /// # Errors
    /// When it may not or cannot.
    pub fn listen(config: PoolConfig, deliver: impl Fn(PoolEvent) + Send + Sync + 'static) -> Result<Self, HubError> {
        let (listen, access, limits) = (config.listen, config.access.clone(), config.limits);
        let state = State::new(limits.runs_waiting, limits.runs_kept);
        let inner = Inner { state, outboxes: BTreeMap::new(), followers: 0 };
        let shared = Shared {
            inner: Arc::new(Mutex::new(inner)),
            config: Arc::new(config),
            deliver: Arc::new(deliver),
            changed: Arc::default(),
        };
        let own = shared.clone();
        let serve = |socket, stopped| calls::serve(socket, own, stopped);
        let listener = Listener::open(listen, &access, "pool", serve)?;
        Ok(Self { shared, address: listener.address, _listener: listener })
    }

    /// What agents must know; `None` where they need a certificate.
    pub fn agent_token(&self) -> Option<&Token> {
        self.shared.config.access.agent_token()
    }

    /// What users must know; `None` where they need a certificate.
    pub fn user_token(&self) -> Option<&Token> {
        self.shared.config.access.user_token()
    }

    /// Where the files of a run are.
    pub fn folder(&self, run: u64) -> PathBuf {
        self.shared.folder(run)
    }

    /// The coordinator of a run takes agents.
    pub fn begin(&self, run: u64, place: Place) {
        let secret = place.secret.clone();
        let mut inner = self.shared.lock();
        let told = inner.state.begin(run, place, now());
        for member in told {
            let assign = Assign { run: run.to_string(), secret: secret.clone() };
            let message = ToMember { what: Some(to_member::What::Assign(assign)) };
            // One that does not read is about to be gone.
            let _ = inner.outboxes.get(&member).map(|outbox| outbox.try_send(Ok(message)));
        }
    }

    /// A run has printed something.
    pub fn output(&self, run: u64, bytes: Vec<u8>) {
        self.shared.happen(run, Entry::Output(bytes.into()));
    }

    /// A run has logged something.
    pub fn log(&self, run: u64, bytes: Vec<u8>) {
        self.shared.happen(run, Entry::Log(bytes.into()));
    }

    /// A run is over, with files for whoever sent it: what they are called there, and where they are.
    pub fn end(&self, run: u64, code: u8, files: Vec<(String, PathBuf)>) {
        for (path, kept) in files {
            self.shared.happen(run, Entry::File { path, kept });
        }
        self.shared.end(run, code);
    }

    /// Runs that have been started and are not over.
    pub fn active(&self) -> usize {
        let inner = self.shared.lock();
        let is_active = |run: &&state::Run| matches!(run.phase, Phase::Starting | Phase::Running);
        inner.state.runs.values().filter(is_active).count()
    }
}
