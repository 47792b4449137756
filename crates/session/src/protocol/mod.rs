//! What a coordinator and its agents say to each other: plain data that can be sent to another thread, process or
//! machine. A transport carries it and knows nothing about runs.
//!
//! [`Command`] is what the coordinator wants done, [`Report`] what an agent did and saw. Messages of one agent are
//! delivered in order and once; [`crate::link`] makes that so where the way between the two loses or reorders them.

mod limits;
mod progress;
mod relayed;
mod shared;
mod time;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use onrush_metrics::{Contains, Delta, Histogram, MetricKind, OwnDelay, SampleBatch, Span};
use onrush_plan::{Cut, SegmentError, Share, steer::Ramp};
use serde::{Deserialize, Serialize};

pub use limits::{LimitError, Limits};
pub use progress::{Progress, ScenarioProgress};
pub use relayed::{Relayed, RelayedPart, RelayedSum};
pub use time::{ClockOffset, Time};

/// Both sides must speak the same version.
pub const VERSION: u32 = 1;

/// An agent of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AgentId(pub u32);

/// What the coordinator wants done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Take a share of the test and make its VUs. [`Report::Accepted`] follows, later [`Report::Ready`].
    Init(Box<Init>),
    /// The test's clock starts.
    StartClock {
        /// When.
        at: Time,
    },
    /// Run `setup()`; [`Report::SetupDone`] follows.
    Setup,
    /// What `setup()` returned is this, for VUs that have not used it yet.
    SetupData(#[serde(with = "shared::option")] Option<Arc<str>>),
    /// Start the scenarios; [`Report::Started`] and [`Report::ScenariosDone`] follow.
    Start {
        /// When, or at once if that is past.
        at: Time,
        /// What `setup()` returned, as JSON.
        #[serde(with = "shared::option")]
        data: Option<Arc<str>>,
    },
    /// A scenario has a new target.
    Steer {
        /// The scenario's name.
        scenario: String,
        /// The target for the agents that began with the test, each of which takes its share of it, or for one that joined.
        change: TargetChange,
    },
    /// Scenarios and clocks stand still, or go on.
    Pause {
        /// Stand still.
        is_paused: bool,
        /// As of when.
        at: Time,
    },
    /// Cut everything that runs and let nothing new begin.
    Interrupt,
    /// Run `teardown()`; [`Report::TeardownDone`] follows.
    Teardown(#[serde(with = "shared::option")] Option<Arc<str>>),
    /// A command about a share that the agent has beside its own. [`Command::Init`] gives it the share; what it says of it
    /// comes as [`Report::OfShare`].
    OfShare {
        /// The share's number in the run.
        share: u32,
        /// The command.
        command: Box<Self>,
    },
    /// Start the scenarios of a share in the middle, where an agent that was lost left them.
    TakeUp(Box<TakeUp>),
    /// Nothing is left to run: hand in the last samples; [`Report::Flushed`] follows.
    Flush,
    /// Run `handleSummary()` with this JSON; [`Report::SummaryDone`] follows.
    Summary(String),
    /// A secret that the agent has asked for with [`Report::SecretWanted`].
    Secret(Box<SecretAnswer>),
    /// The run is over for this agent.
    Stop,
}

/// An agent's share of a test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Init {
    /// The sender's [`VERSION`].
    pub version: u32,
    /// The agent's number among [`Init::agents`], from 0.
    pub agent: u32,
    /// Agents of the run.
    pub agents: u32,
    /// It joins the run under way, as the agent with this number among those that do, from 1: it waits to be steered, and what it
    /// is steered to is its own part. The segment says what it may expect.
    pub joined: Option<u32>,
    /// Its segment of the test, such as `1/3:2/3`; the whole for the only agent.
    pub segment: String,
    /// All segments, such as `0,1/3,2/3,1`.
    pub sequence: String,
    /// Which part of the segment it is, where that was divided; the first division first. Agents of a run that is itself a
    /// segment (`--execution-segment`) have the same segment and different parts of it.
    pub cuts: Vec<Cut>,
    /// Time series it may have; `None` for the test's own limit.
    pub series_max: Option<u64>,
    /// Its share of `rps`, if the test has that option.
    pub rps: Option<u64>,
    /// The test itself, as the two sides have agreed: an archive, for example. Empty for an agent that has it already.
    pub test: Vec<u8>,
}

/// How scenarios go on that an agent began which was lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeUp {
    /// When all scenarios of the run started; pauses since are counted in.
    pub at: Time,
    /// What their clock shows when this share goes on.
    pub from_ns: u64,
    /// What `setup()` returned, as JSON.
    #[serde(with = "shared::option")]
    pub data: Option<Arc<str>>,
    /// What is known of the lost agent's scenarios.
    pub scenarios: Vec<Known>,
}

/// What is known of a scenario of a lost agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The scenario's name.
    pub scenario: String,
    /// Iterations that ended.
    pub ended: u64,
    /// Iterations that may have begun.
    pub begun: u64,
}

/// A decision about a scenario's target: for all agents that began with the test, or for one that joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetChange {
    /// VUs that loop.
    Vus(Ramp),
    /// VUs that may be used.
    MaxVus(u64),
    /// Iterations per time unit.
    Rate(Ramp),
}

/// What an agent did and saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// It took its share and makes its VUs. Comes before any delta.
    Accepted(Box<Accepted>),
    /// Its planned VUs have run their init code.
    Ready,
    /// `setup()` ended: its data as JSON.
    SetupDone(#[serde(with = "shared::result")] Result<Option<Arc<str>>, Failure>),
    /// Its scenarios began at this time.
    Started {
        /// When.
        at: Time,
    },
    /// The first of its scenarios that begins has begun.
    Begun {
        /// How long after the planned moment, as far as it knows the coordinator's clock.
        late: Duration,
        /// By how much it may be wrong about that clock.
        clock_error: Duration,
    },
    /// What a thread folded since its last delta.
    Delta(Box<ThreadDelta>),
    /// Raw samples, for outputs that the coordinator writes.
    Samples(Box<ThreadSamples>),
    /// Its script wants a secret; [`Command::Secret`] follows.
    SecretWanted(SecretWanted),
    /// What it saw of itself.
    Health(Box<HealthReport>),
    /// Something the user should know, such as an exhausted VU pool. The same may come many times.
    Warning {
        /// What happened.
        message: String,
        /// Where: fields of the log line.
        fields: Vec<(String, String)>,
    },
    /// A line the script logged, where the agent has no log of its own.
    Log(LogLine),
    /// How its scenarios stand; sent when that changed.
    Progress(Box<Progress>),
    /// The script ended the test.
    Aborted {
        /// `test aborted: reason`.
        message: String,
    },
    /// The script marked the test as failed.
    MarkedFailed,
    /// All its scenarios are over.
    ScenariosDone,
    /// `teardown()` ended.
    TeardownDone(Result<(), Failure>),
    /// It has sent its last samples.
    Flushed(Flushed),
    /// `handleSummary()` ended. `None`: print the built-in text.
    SummaryDone(Result<Option<Vec<SummaryFile>>, Failure>),
    /// It cannot go on.
    Failed(Failure),
    /// A report about a share that the agent has beside its own.
    OfShare {
        /// The share's number in the run.
        share: u32,
        /// The report.
        report: Box<Self>,
    },
}

/// What an agent says first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    /// The sender's [`VERSION`].
    pub version: u32,
    /// Its metrics in the order of their ids: the names behind the numbers in its deltas.
    pub metrics: Vec<MetricName>,
    /// Its scenarios in the order in which [`Progress`] has them. One without work in its share is missing.
    pub scenarios: Vec<String>,
    /// Worker threads, each of which sends deltas.
    pub threads: u32,
}

/// An entry of the name table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricName {
    /// The metric's name.
    pub name: String,
    /// Its kind.
    pub kind: MetricKind,
    /// What its values mean.
    pub contains: Contains,
}

/// A delta and where it comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadDelta {
    /// The agent's thread.
    pub thread: u32,
    /// The time of the scenarios it covers; `None` outside of them.
    pub span: Option<Span>,
    /// The samples.
    pub delta: Delta,
    /// Iterations whose samples these are, by scenario in the order of [`Accepted::scenarios`]; those that were cut count.
    pub ended: Vec<u64>,
}

impl Init {
    /// The share of the test that it gives.
    ///
    /// # Errors
    /// When there is no such share.
    pub fn share(&self) -> Result<Share, SegmentError> {
        let (segment, sequence) = (self.segment.parse()?, self.sequence.parse()?);
        let segment = Share::new(Some(&segment), Some(&sequence))?;
        let share = match self.joined {
            Some(number) => segment.joined(number),
            None => segment,
        };
        self.cuts.iter().try_fold(share, |share, cut| share.part(*cut))
    }
}

/// Raw samples of a thread, their times on the coordinator's clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadSamples {
    /// The agent's thread.
    pub thread: u32,
    /// The samples, and tag sets that no earlier batch of the thread had.
    pub batch: SampleBatch,
}

/// A secret of a source that the coordinator has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretWanted {
    /// The source's name.
    pub source: String,
    /// The secret's.
    pub key: String,
}

/// It, or why there is none.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretAnswer {
    /// The source's name.
    pub source: String,
    /// The secret's.
    pub key: String,
    /// Its value, which nobody else is to see.
    pub result: Result<String, String>,
}

impl std::fmt::Debug for SecretAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretAnswer({} of {})", self.key, self.source)
    }
}

/// An agent's view of its own health.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HealthReport {
    /// A second of it; `None` where only the rest has news.
    pub second: Option<Health>,
    /// Delays after the intended start of arrival-rate iterations since the last report, milliseconds.
    pub start_lag: Histogram,
    /// How long requests waited for the agent since the last report, by scenario.
    pub own_delays: BTreeMap<String, OwnDelay>,
    /// Fibers that ended in an internal error so far.
    pub panics: u64,
    /// Writes to shared built-ins refused so far.
    pub trapped_writes: u64,
    /// The property of the last such write.
    pub trapped_property: String,
    /// Worker threads given up so far, because a VU held them past every limit.
    pub threads_given_up: u32,
    /// The scenario whose code most often computed for a whole time slice so far, and how often it did.
    pub computing: Option<(String, u64)>,
}

/// One second of an agent's view of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// When the second ended, in seconds since the scenarios began; pauses count.
    pub at_secs: f64,
    /// CPU used by the process, in cores.
    pub process_cores: f64,
    /// CPU of the busiest worker thread, in cores.
    pub busiest_thread_cores: f64,
    /// Cores it may use.
    pub available_cores: f64,
    /// CPU taken by the hypervisor, in cores.
    pub steal_cores: f64,
    /// Fraction of the time the cgroup was throttled.
    pub throttled: f64,
    /// Worst delay of a timer, milliseconds.
    pub timer_lag_max_ms: f64,
    /// Mean delay of timers, milliseconds.
    pub timer_lag_mean_ms: f64,
    /// Resident memory over the memory there is, 0 if unknown.
    pub memory_used: f64,
    /// File descriptors over their limit.
    pub fds_used: f64,
    /// Time the thread that waited longest was ready to run while others had its core, as a fraction.
    pub waiting: f64,
    /// Connections that failed because no file descriptor was left.
    pub fd_errors: u64,
    /// Connections that failed because no local port or address was left.
    pub port_errors: u64,
    /// How often the whole process was stopped from outside and went on.
    pub stops: u64,
    /// CPU that everything on the machine used, in cores.
    pub machine_cores: f64,
    /// Resident memory, bytes.
    pub rss_bytes: u64,
    /// Open file descriptors.
    pub fds: u64,
    /// Pages of memory that came back from swap, on the whole machine.
    pub swapped_in: u64,
    /// TCP segments sent, and those of them sent again, in the network namespace.
    pub segments: u64,
    /// See [`Health::segments`].
    pub retransmitted: u64,
    /// Packets that network interfaces, or the kernel for want of CPU, dropped.
    pub packets_dropped: u64,
    /// Bytes received by all network interfaces but loopback.
    pub received_bytes: u64,
    /// Bytes sent by them.
    pub sent_bytes: u64,
    /// Of the interface that was used most, as a fraction of its speed; 0 where no speed is known.
    pub interface_used: f64,
    /// Connections in the table of the firewall, over its size; 0 without one.
    pub tracked_used: f64,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// `debug`, `info`, `warning` or `error`.
    pub level: String,
    /// The text.
    pub message: String,
    /// Its fields.
    pub fields: Vec<(String, String)>,
}

/// The end of an agent's samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flushed {
    /// Threads that did not hand in their last samples.
    pub threads_missing: u32,
    /// Samples that its outputs of raw samples lack.
    pub output_samples_missing: u64,
}

/// A file or stream that `handleSummary()` returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryFile {
    /// A path, or `stdout` or `stderr`.
    pub path: String,
    /// What to write.
    pub content: Vec<u8>,
}

/// Why an agent could not do what it was told to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// One line for the log, or more where a script's stack follows.
    pub message: String,
    /// The VU in whose init code it happened.
    pub vu: Option<u64>,
}

/// What exit codes tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// The script threw.
    Script,
    /// The script called `exec.test.abort()`.
    Aborted,
    /// The function took longer than its limit.
    Timeout,
    /// The engine could not be set up or could not serve.
    Engine,
    /// A bug of ours.
    Bug,
}

impl Failure {
    /// A failure that is no VU's.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), vu: None }
    }
}
