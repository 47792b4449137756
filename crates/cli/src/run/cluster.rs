//! The agents of a run in processes of their own: on this machine, or wherever they join from.

use std::{
    collections::BTreeMap,
    process::{Child, ExitStatus, Stdio},
    sync::{
        Arc,
        mpsc::{Receiver as Inputs, RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use onrush_cluster::{Access, Event, Hub, HubConfig, JournalAgent, JournalHead, Seat, Session, Token, agents_text};
use onrush_fiber::Clock;
use onrush_session::{Coordinator, ExitCode, Orders, protocol::AgentId};

use super::{
    bundle::{self, Receiver},
    journal::{self, Before},
    local::Input,
    needs::Needs,
    prepare::Prepared,
    raw_samples::{Intake, RawSamples},
    run_folder,
};
use crate::{
    args::RunArgs,
    attached,
    cluster::{ClusterArgs, Place, not_listening, reachable},
    context::Context,
    failure::Failure,
    labels::ZONE,
    membership::told,
    sharing::{Bearing, Sharing},
    signals::Watch,
    version,
};

/// Agents in processes of their own.
pub(super) struct ClusterAgents {
    hub: Hub,
    children: Vec<ChildAgent>,
    agents: u32,
    /// What they are called.
    names: BTreeMap<AgentId, String>,
    /// What those can bear that began with the run.
    joined: Vec<Bearing>,
    /// What they are known by.
    sessions: BTreeMap<AgentId, Session>,
    /// What the test is known by.
    pub(super) test: Vec<u8>,
    content: Arc<[u8]>,
    /// Of the agents, in their order; empty: all the same.
    pub(super) weights: Vec<u64>,
    /// The run is kept in a journal.
    has_journal: bool,
}

/// What the agents of a run are started with.
pub(super) struct Start {
    pub(super) count: u32,
    /// What becomes of their raw samples.
    pub(super) raw: RawSamples,
    /// Takes what agents report that is not for the loop of the run.
    pub(super) intake: Intake,
    /// The run is kept in a journal.
    pub(super) has_journal: bool,
}

/// A process that this one started.
struct ChildAgent {
    /// Dropping it kills the process.
    kill: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How long a process of ours may take to join.
const CHILD_WAIT: Duration = Duration::from_secs(30);
/// How often signals and processes are looked after.
const TICK: Duration = Duration::from_millis(100);
/// How long the end of a run waits for agents to hear of it, and for our processes to end.
const END_MAX: Duration = Duration::from_secs(2);
/// How often processes are looked after.
const CHILD_TICK: Duration = Duration::from_millis(20);
/// A process serves so many VUs with ease; beyond, its heap and its threads' loads grow long.
const VUS_OF_A_PROCESS: u64 = 25_000;

/// What the test needs of this machine, with its VUs in several processes or elsewhere.
pub(crate) fn needs(cluster: Option<&ClusterArgs>, needs: Needs) -> Needs {
    match cluster.map(|cluster| &cluster.place) {
        None => needs,
        Some(Place::Here(_)) => {
            let agents = cluster.map_or(1, |cluster| agents(cluster, &needs));
            Needs { files_max: needs.files_max.map(|files| files.saturating_mul(agents.into())), ..needs }
        }
        Some(Place::Anywhere { .. }) => Needs { vus: 0, vus_max: 0, ..needs },
    }
}

/// How many agents the run has.
pub(super) fn agents(cluster: &ClusterArgs, needs: &Needs) -> u32 {
    match &cluster.place {
        Place::Here(agents) => agents.unwrap_or_else(|| auto(needs)),
        Place::Anywhere { agents, .. } => *agents,
    }
}

/// As many processes as open files and VUs ask for, and one where neither does.
fn auto(needs: &Needs) -> u32 {
    let files = needs.files_max.map_or(1, |max| needs.files(needs.vus_max).div_ceil(max.max(1)));
    u32::try_from(files.max(needs.vus_max.div_ceil(VUS_OF_A_PROCESS)).clamp(1, 64)).unwrap_or(1)
}

impl ClusterAgents {
    /// Listens, starts what is to be started here, and waits for all to join.
    ///
    /// # Errors
    /// What keeps the run from starting, a signal included.
    pub(super) fn start(
        cx: &Context,
        args: &RunArgs,
        cluster: &ClusterArgs,
        prepared: &Prepared,
        start: Start,
        signals: &Watch,
        (sender, inputs): (&Sender<Input>, &Inputs<Input>),
    ) -> Result<Self, Failure> {
        let (listen, wait, access) = match &cluster.place {
            Place::Here(_) => (([127, 0, 0, 1], 0).into(), CHILD_WAIT, Access::plain(Token::random(), None)),
            Place::Anywhere { listen, wait, access, .. } => (*listen, *wait, Access::clone(access)),
        };
        let is_here = matches!(cluster.place, Place::Here(_));
        let Start { count: agents, raw, intake, has_journal } = start;
        let receiver = if is_here { Receiver::AgentsHere(agents) } else { Receiver::Agents };
        let test = bundle::pack(cx, args, prepared, receiver, &raw)?;
        let program = version::VERSION.to_owned();
        let config = HubConfig { listen, access, agents, patience: cluster.patience, program, has_journal };
        let hub = Hub::listen(config, deliver(intake, sender.clone())).map_err(|error| not_listening(&error))?;
        let mut own = Self::of(hub, agents, test, has_journal);
        if is_here {
            for number in 0..agents {
                own.children.push(ChildAgent::start(&own.hub, number, sender.clone())?);
            }
        } else {
            own.invite(cx)?;
        }
        let joined = own.wait_for_all(cx, wait, signals, inputs)?;
        if !is_here {
            own.weights = cluster.sharing.weights(&joined)?;
            own.joined = joined;
            let has_same = own.weights.windows(2).all(|pair| pair[0] == pair[1]);
            if !has_same && prepared.test.options.execution_segment.is_some() {
                return Err(Failure::other("the agents of a test with --execution-segment have the same share each")
                    .hint("use --share even and no --zone"));
            }
        }
        Ok(own)
    }

    fn of(hub: Hub, agents: u32, content: Arc<[u8]>, has_journal: bool) -> Self {
        let test = hub.offer(content.clone()).0.to_vec();
        let (names, sessions) = (BTreeMap::new(), BTreeMap::new());
        let (children, joined, weights) = (Vec::new(), Vec::new(), Vec::new());
        Self { hub, children, agents, names, joined, sessions, test, content, weights, has_journal }
    }

    /// Listens for the agents of a run that a coordinator began which is gone.
    ///
    /// # Errors
    /// When it cannot.
    pub(super) fn resume(
        cluster: &ClusterArgs,
        before: &Before,
        seats: Vec<Seat>,
        intake: Intake,
        sender: Sender<Input>,
    ) -> Result<Self, Failure> {
        let Place::Anywhere { listen, access, .. } = &cluster.place else {
            return Err(Failure::other("a journal is for agents that join from elsewhere"));
        };
        let head = before.head();
        let agents = u32::try_from(head.agents.len()).unwrap_or(u32::MAX);
        let config = HubConfig {
            listen: *listen,
            access: Access::clone(access),
            agents,
            patience: cluster.patience,
            program: version::VERSION.to_owned(),
            has_journal: true,
        };
        let hub = Hub::resume(config, seats, deliver(intake, sender)).map_err(|error| not_listening(&error))?;
        let mut own = Self::of(hub, agents, before.test(), true);
        own.names = head.agents.iter().zip(0..).map(|(agent, id)| (AgentId(id), agent.name.clone())).collect();
        Ok(own)
    }

    /// What a journal of the run begins with, and the test.
    pub(super) fn for_journal(&self, cx: &Context, cluster: &ClusterArgs) -> Option<(JournalHead, Arc<[u8]>)> {
        let Place::Anywhere { access, .. } = &cluster.place else { return None };
        let agents = self.names.values().zip(self.sessions.values());
        let agents = agents.map(|(name, session)| JournalAgent::new(name.clone(), *session)).collect();
        let head = journal::head(cx, self.hub.address, access, agents, self.weights.clone());
        Some((head, self.content.clone()))
    }

    /// Says how agents join.
    fn invite(&self, cx: &Context) -> Result<(), Failure> {
        if run_folder::folder(&cx.flags).is_some() {
            return run_folder::tell(&cx.flags, run_folder::HUB, &self.hub.address.to_string());
        }
        let address = self.hub.address;
        let (before, after) = match self.hub.token() {
            Some(token) => (format!("ONRUSH_JOIN_TOKEN={} ", told(&cx.flags, "join-token", token)), ""),
            None => (String::new(), " --tls AGENT_FOLDER"),
        };
        cx.terminal.stdout(format!(
            "Waiting for {} on {address}. On each machine:\n\n  {before}onrush agent --join {}{after}\n\n",
            agents_text(self.agents),
            reachable(address),
        ));
        Ok(())
    }

    fn wait_for_all(
        &mut self,
        cx: &Context,
        wait: Duration,
        signals: &Watch,
        inputs: &Inputs<Input>,
    ) -> Result<Vec<Bearing>, Failure> {
        let until = Clock::now() + wait;
        let mut joined: BTreeMap<AgentId, Bearing> = BTreeMap::new();
        while joined.len() < self.agents as usize {
            if let Some(signal) = signals.first() {
                let message =
                    format!("no test was run: Onrush received a '{signal}' signal while it waited for agents");
                return Err(Failure::new(ExitCode::ExternalAbort, message));
            }
            if Clock::now() >= until {
                let joined = joined.len();
                let message =
                    format!("only {joined} of {} joined within {} s", agents_text(self.agents), wait.as_secs_f64());
                return Err(Failure::new(ExitCode::AgentLost, message));
            }
            match inputs.recv_timeout(TICK) {
                Ok(Input::Cluster(Event::Joined { agent, session, name, labels, capacity })) => {
                    self.sessions.insert(agent, session);
                    joined.insert(agent, Bearing { name: name.clone(), zone: labels.get(ZONE).cloned(), capacity });
                    cx.logger.debug(format!("agent {} ({name}) has joined", agent.0));
                    self.names.insert(agent, name);
                }
                Ok(Input::Cluster(Event::Left { agent, why })) => {
                    joined.remove(&agent);
                    cx.logger.warn(format!("agent {} is gone before the test began: {why}", agent.0));
                }
                Ok(Input::Cluster(Event::Refused { peer, why })) => refused(cx, peer, &why),
                Ok(Input::ChildEnded(agent, how)) => {
                    let message = format!("agent {} cannot be started: its process ended ({how})", agent.0);
                    return Err(Failure::new(ExitCode::AgentLost, message));
                }
                Ok(_) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        self.hub.begin();
        Ok(joined.into_values().collect())
    }

    /// Says whether agents may join that were not there from the start.
    pub(super) fn let_in(&self, admits: Result<(), String>) {
        let admits = match (self.children.is_empty(), self.has_journal) {
            (false, _) => Err(format!("the run has all of its {}", agents_text(self.agents))),
            (true, true) => Err("a run with a journal goes on with the agents that it began with".to_owned()),
            (true, false) => admits,
        };
        self.hub.let_in(admits);
    }

    /// An agent joins that was not there from the start. Returns what it weighs.
    pub(super) fn late(&mut self, agent: AgentId, late: Bearing, sharing: &Sharing) -> u64 {
        self.names.insert(agent, late.name.clone());
        sharing.of_late(&self.joined, &late, Coordinator::AVERAGE_WEIGHT)
    }

    /// The agents' numbers.
    pub(super) fn ids(&self) -> Vec<AgentId> {
        (0..self.agents).map(AgentId).collect()
    }

    /// Sends what the coordinator wants.
    pub(super) fn send(&self, orders: Orders) {
        orders.into_iter().for_each(|(agent, command)| self.hub.send(agent, &command));
    }

    /// A process has ended. If that was not to be, its agent is lost.
    pub(super) fn child_ended(&self, agent: AgentId, how: &str) {
        self.hub.lose(agent, &format!("its process ended ({how})"));
    }

    /// All were told that the run is over.
    pub(super) fn end(&self) {
        self.hub.settle(END_MAX);
        let until = Clock::now() + END_MAX;
        let runs = |child: &ChildAgent| child.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        while Clock::now() < until && self.children.iter().any(runs) {
            std::thread::park_timeout(CHILD_TICK);
        }
    }
}

/// Hands on what happens, but for what is not for the loop of the run.
fn deliver(intake: Intake, events: Sender<Input>) -> impl Fn(Event) + Send + Sync + 'static {
    move |event| {
        if let Some(event) = intake.take(event) {
            // The loop only goes away when the process is about to end.
            let _ = events.send(Input::Cluster(event));
        }
    }
}

/// Somebody was not let in.
pub(super) fn refused(cx: &Context, peer: std::net::SocketAddr, why: &str) {
    cx.logger.warn(format!("refused an agent from {}: {why}", peer.ip()));
}

impl ChildAgent {
    fn start(hub: &Hub, number: u32, sender: Sender<Input>) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::other(format!("failed to start agent {number}: {error}"));
        let child = attached::program()
            .map_err(failed)?
            .args(["agent", "--attached", "--quiet", "--wait", "5s", "--join", &hub.address.to_string()])
            .args(["--name", &format!("process {number}")])
            .env("ONRUSH_JOIN_TOKEN", hub.token().map(ToString::to_string).unwrap_or_default())
            .env(NUMBER, number.to_string())
            .stdout(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (kill, killed) = channel();
        let thread = std::thread::Builder::new()
            .name(format!("process {number}"))
            .spawn(move || look_after(child, AgentId(number), &sender, &killed))
            .map_err(failed)?;
        Ok(Self { kill: Some(kill), thread: Some(thread) })
    }
}

/// Tells a process which of the agents it is.
pub(crate) const NUMBER: &str = "ONRUSH_AGENT_NUMBER";

/// Until the process has ended or is to be killed. Its standard input is open as long as this thread lives, and with it the
/// whole process: an agent whose coordinator is gone ends.
fn look_after(mut child: Child, agent: AgentId, sender: &Sender<Input>, killed: &Inputs<()>) {
    let _stdin = child.stdin.take();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            // The loop only goes away when the process is about to end.
            let _ = sender.send(Input::ChildEnded(agent, how(status)));
            return;
        }
        if killed.recv_timeout(CHILD_TICK) != Err(RecvTimeoutError::Timeout) {
            // It may have ended meanwhile.
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
    }
}

/// How a process ended.
pub(crate) fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, code) => format!("exit code {}", code.unwrap_or_default()),
    }
}

impl Drop for ChildAgent {
    fn drop(&mut self) {
        self.kill.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The agents of a run.
pub(super) enum Agents {
    /// One, a thread of this process.
    Local(super::local::LocalAgent),
    /// Processes of their own.
    Cluster(Box<ClusterAgents>),
}

impl Agents {
    pub(super) fn send(&self, orders: Orders) {
        match self {
            Self::Local(agent) => agent.send(orders),
            Self::Cluster(agents) => agents.send(orders),
        }
    }

    /// Those in processes of their own.
    pub(super) fn cluster(&mut self) -> Option<&mut ClusterAgents> {
        match self {
            Self::Local(_) => None,
            Self::Cluster(agents) => Some(agents),
        }
    }

    /// What they are called; `None` for the one that is a thread of this process.
    pub(super) fn names(&self) -> Option<&BTreeMap<AgentId, String>> {
        match self {
            Self::Local(_) => None,
            Self::Cluster(agents) => Some(&agents.names),
        }
    }

    /// What the summary says of them.
    pub(super) fn info(&self, coordinator: &Coordinator) -> Option<onrush_metrics::summary::AgentsInfo> {
        self.names().map(|names| super::agents::info(coordinator, names))
    }

    /// All were told that the run is over.
    pub(super) fn end(&self) {
        if let Self::Cluster(agents) = self {
            agents.end();
        }
    }
}
