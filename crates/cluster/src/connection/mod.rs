//! An agent's end: dials the coordinator, reports, comes back when the connection breaks, and notices when nobody is
//! there any more.
//!
//! `dial.rs` makes a connection, `converse.rs` is what goes over it.

mod converse;
mod dial;

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Sender as Answer, channel as answer},
    },
    thread::JoinHandle,
    time::Duration,
};

use bytes::Bytes;
use onrush_fiber::Clock;
use onrush_session::{
    link::Link,
    protocol::{AgentId, Command, Failure, FailureKind, Limits, Report, ThreadSamples, Time},
};
use tokio::sync::{Notify, mpsc, watch};

use crate::{Capacity, CoordinatorClock, Destination, Hash, Session, Unheard, convert, rpc::MESSAGE_BYTES_MAX};

/// How an agent joins.
#[derive(Debug, Clone)]
pub struct JoinConfig {
    /// Where the coordinator is, and what lets the agent in.
    pub to: Destination,
    /// What it is called in messages to people.
    pub name: String,
    /// What else is said of it.
    pub labels: BTreeMap<String, String>,
    /// What it can bear.
    pub capacity: Capacity,
    /// Its number among the processes the coordinator started.
    pub child: Option<u32>,
    /// The program's version.
    pub program: String,
    /// How long to try while the coordinator is not there yet.
    pub wait: Duration,
}

/// Why an agent has not joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The coordinator did not let it in.
    #[error("the coordinator {coordinator} refused this agent: {why}")]
    Refused {
        /// Where it is.
        coordinator: String,
        /// In its words.
        why: String,
    },
    /// Nobody is there, or it is no coordinator.
    #[error("failed to join the coordinator {coordinator}: {why}")]
    Failed {
        /// Where it should be.
        coordinator: String,
        /// What was wrong last.
        why: String,
    },
    /// The token would go over the network in plain text.
    #[error(
        "the coordinator {0} is on another machine, and the join token has no fingerprint: copy all of the token that it prints, or give a certificate with --tls"
    )]
    Plain(String),
    /// No thread can be had.
    #[error("failed to start the connection's thread: {0}")]
    Thread(io::Error),
}

/// What comes from the coordinator.
#[derive(Debug)]
pub enum FromHub {
    /// It wants something.
    Command(Command),
    /// It is gone, or has given up this agent: nothing more comes.
    Gone {
        /// Why.
        why: String,
    },
}

/// Why content did not come.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to fetch the test from the coordinator: {0}")]
pub struct FetchError(String);

pub(crate) type Deliver = Arc<dyn Fn(FromHub) + Send + Sync>;

/// A connection to the coordinator. Dropping it ends it.
pub struct Connection {
    reporter: Reporter,
    requests: mpsc::Sender<Fetch>,
    stop: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// What the agent is known by.
    session: Session,
    /// The coordinator keeps a journal.
    has_journal: bool,
    /// The agent's number.
    pub agent: AgentId,
    /// How far the coordinator's clock is from this process's.
    pub clock: CoordinatorClock,
}

/// Content that somebody waits for.
struct Fetch {
    hash: Hash,
    answer: Answer<Result<Vec<u8>, FetchError>>,
}

/// What an agent knows once it has joined.
struct Joined {
    agent: AgentId,
    session: Session,
    has_journal: bool,
    clock: CoordinatorClock,
}

/// Says what the agent has to report. Cheap to clone.
#[derive(Clone)]
pub struct Reporter(Arc<Outbox>);

/// What the threads that report share with the connection's.
struct Outbox {
    queue: Mutex<Queue>,
    /// There is something to send.
    wake: Notify,
}

struct Queue {
    link: Link<Bytes, Bytes>,
    /// Lines of the log that were dropped since that was last told.
    lines_dropped: u64,
}

/// How long it takes to leave.
const LEAVE_MAX: Duration = Duration::from_millis(500);
/// Content asked for at once; more waits.
const FETCHES_MAX: usize = 8;
/// Batches of raw samples wait for no more reports than these; a batch has up to 4,096 samples in about 60 KB.
const WAITING_SAMPLES_MAX: usize = 256;
/// Reports that wait to be acknowledged: with more, lines of the log are dropped. All others are few.
const WAITING_LINES_MAX: usize = 4_096;

impl Connection {
    /// Joins the run of a coordinator. What comes from it goes to `deliver`, on the connection's thread: it must not
    /// block.
    ///
    /// # Errors
    /// Why not.
    pub fn join(config: JoinConfig, deliver: impl Fn(FromHub) + Send + Sync + 'static) -> Result<Self, JoinError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(JoinError::Thread)?;
        let queue = Queue { link: Link::over_stream(now()), lines_dropped: 0 };
        let outbox = Arc::new(Outbox { queue: Mutex::new(queue), wake: Notify::new() });
        let (requests, fetches) = mpsc::channel(FETCHES_MAX);
        let (stop, stopped) = watch::channel(());
        let (joined, result) = answer();
        let (own, deliver): (_, Deliver) = (outbox.clone(), Arc::new(deliver));
        let thread = std::thread::Builder::new()
            .name("cluster".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let mut life =
                        std::pin::pin!(converse::live(config, own, deliver, fetches, joined, stopped.clone()));
                    let mut stopped = stopped;
                    tokio::select! {
                        () = life.as_mut() => return,
                        () = ended(&mut stopped) => {}
                    }
                    // The coordinator is to see it leave.
                    let _ = tokio::time::timeout(LEAVE_MAX, life).await;
                });
            })
            .map_err(JoinError::Thread)?;
        let reporter = Reporter(outbox);
        match result.recv() {
            Ok(Ok(Joined { agent, session, has_journal, clock })) => Ok(Self {
                reporter,
                requests,
                session,
                has_journal,
                stop: Some(stop),
                thread: Some(thread),
                agent,
                clock,
            }),
            Ok(Err(error)) => Err(error),
            // The thread panicked, which has been printed.
            Err(_) => Err(JoinError::Thread(io::ErrorKind::Other.into())),
        }
    }

    /// What reports.
    pub fn reporter(&self) -> Reporter {
        self.reporter.clone()
    }

    /// Fetches content by its hash. Waits until it is here or the coordinator is gone.
    ///
    /// # Errors
    /// Why it did not come.
    pub fn fetch(&self, hash: Hash) -> Result<Vec<u8>, FetchError> {
        let (sender, result) = answer();
        let gone = || FetchError("the connection is closed".to_owned());
        self.requests.blocking_send(Fetch { hash, answer: sender }).map_err(|_| gone())?;
        result.recv().map_err(|_| gone())?
    }

    /// What was reported and the coordinator has not acknowledged; `None` where it keeps no journal that this could be added to.
    pub fn unheard(&self) -> Option<Unheard> {
        let queue = self.reporter.0.queue();
        let reports = queue.link.unacknowledged().map(|(number, report)| (number, report.to_vec())).collect();
        self.has_journal.then_some(Unheard { session: self.session, reports })
    }

    /// Waits until the coordinator has all that was reported, for a while.
    pub fn settle(&self, patience: Duration) {
        const LOOK_EVERY: Duration = Duration::from_millis(5);
        let until = Clock::now() + patience;
        let is_over = || self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        while Clock::now() < until && !is_over() && self.reporter.0.queue().link.waiting() > 0 {
            std::thread::park_timeout(LOOK_EVERY);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed.
            let _ = thread.join();
        }
    }
}

/// Until the sender is dropped; it never sends anything.
async fn ended(stopped: &mut watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

fn now() -> Time {
    Time(Clock::now().0)
}

impl Outbox {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reporter {
    /// Reports raw samples, unless the connection is behind: then they come back, as whoever has them may lose them.
    ///
    /// # Errors
    /// The samples themselves.
    pub fn offer(&self, samples: Box<ThreadSamples>) -> Result<(), Box<ThreadSamples>> {
        if self.0.queue().link.waiting() >= WAITING_SAMPLES_MAX {
            return Err(samples);
        }
        self.report(&Report::Samples(samples));
        Ok(())
    }

    /// Reports. Of what is too large for a message the coordinator learns that it is.
    pub fn report(&self, report: &Report) {
        let bytes = encoded(report);
        let mut queue = self.0.queue();
        let is_line = matches!(report, Report::Log(_));
        if is_line && queue.link.waiting() >= WAITING_LINES_MAX {
            queue.lines_dropped += 1;
            return;
        }
        if queue.lines_dropped > 0 && queue.link.waiting() < WAITING_LINES_MAX / 2 {
            let dropped = std::mem::take(&mut queue.lines_dropped);
            let message = format!(
                "{dropped} lines of the log are missing: an agent logged faster than its connection to the coordinator carries"
            );
            queue.link.send(convert::encode_report(&Report::Warning { message, fields: Vec::new() }));
        }
        queue.link.send(bytes);
        drop(queue);
        self.0.wake.notify_one();
    }
}

fn encoded(report: &Report) -> Bytes {
    let refused = |why: String| {
        let failure = Failure::new(FailureKind::Engine, format!("cannot be reported: {why}"));
        // What was called has failed, as if it had thrown, and not the agent.
        convert::encode_report(&match report {
            Report::SetupDone(_) => Report::SetupDone(Err(failure)),
            Report::SummaryDone(_) => Report::SummaryDone(Err(failure)),
            _ => Report::Failed(failure),
        })
    };
    if let Err(error) = Limits::default().check(report) {
        return refused(error.to_string());
    }
    let bytes = convert::encode_report(report);
    // A little is for the frame around it.
    const FRAME_BYTES_MAX: usize = 64;
    if bytes.len() > MESSAGE_BYTES_MAX - FRAME_BYTES_MAX {
        return refused(format!("an agent sent a message of {} bytes, the limit is {MESSAGE_BYTES_MAX}", bytes.len()));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use onrush_session::protocol::SummaryFile;

    use super::*;

    #[test]
    fn what_is_too_large_is_a_failure_of_what_was_called() {
        let check = |report: Report| convert::report(encoded(&report)).expect("a report");
        let content = vec![0; Limits::default().summary_bytes_max + 1];
        let file = SummaryFile { path: "stdout".to_owned(), content };
        let Report::SummaryDone(Err(failure)) = check(Report::SummaryDone(Ok(Some(vec![file])))) else {
            panic!("no failure of handleSummary()")
        };
        assert!(failure.message.contains("files of handleSummary()"), "{}", failure.message);
        let data = " ".repeat(Limits::default().setup_bytes_max + 1);
        let Report::SetupDone(Err(_)) = check(Report::SetupDone(Ok(Some(data.into())))) else {
            panic!("no failure of setup()")
        };
        let message = "x".repeat(Limits::default().text_bytes_max + 1);
        let Report::Failed(_) = check(Report::Aborted { message }) else { panic!("not failed") };
    }
}
