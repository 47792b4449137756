//! Messages on their way from a cluster.
//!
//! A [`Consumer`] asks when somebody wants a message and it has none; nothing happens behind one's back. `fetch` speaks
//! with the leaders of partitions, `group` with the coordinator of a group, `assign` shares partitions out, `queue` has what
//! was fetched and not yet given away.

mod assign;
mod fetch;
mod group;
mod offsets;
mod queue;

use std::rc::Rc;

use bytes::Bytes;

pub use self::assign::Strategy;
use self::{group::Group, queue::Queue};
pub(crate) use self::{
    group::coordinator,
    offsets::{LATEST, commit_offsets, offsets_at},
};
use crate::{Cluster, Header, KafkaError, World, code};

/// What a consumer reads.
#[derive(Debug, Clone)]
pub enum Place {
    /// One partition.
    Partition {
        /// Of this topic.
        topic: String,
        /// Its number.
        partition: i32,
    },
    /// What a group assigns to it.
    Group(GroupOptions),
}

/// Where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// With the oldest message there is.
    First,
    /// With the next that is written.
    Last,
    /// At an offset.
    At(i64),
}

/// How a group is joined.
#[derive(Debug, Clone)]
pub struct GroupOptions {
    /// The group's name.
    pub id: String,
    /// What it reads.
    pub topics: Vec<String>,
    /// The ways to share partitions out that this member can do, best first.
    pub strategies: Vec<Strategy>,
    /// How long the group keeps a member that says nothing.
    pub session_ms: i32,
    /// How long it waits for members when it assigns partitions anew.
    pub rebalance_ms: i32,
    /// How often this member says that it is there.
    pub heartbeat_ns: u64,
    /// How often offsets are committed; zero for at once.
    pub commit_ns: u64,
    /// How long the cluster keeps offsets; -1 for its own idea of it.
    pub retention_ms: i64,
}

/// How messages are read.
#[derive(Debug, Clone)]
pub struct ConsumerOptions {
    /// What is read.
    pub place: Place,
    /// Where it begins, if the group does not know.
    pub start: Start,
    /// How many bytes a broker waits for.
    pub min_bytes: i32,
    /// How many bytes it sends at most, if a message is not larger.
    pub max_bytes: i32,
    /// How long it waits.
    pub max_wait_ns: u64,
    /// Whether messages of transactions that are not committed are left out.
    pub is_committed_only: bool,
    /// How often it tries to reach the cluster.
    pub attempts: u32,
    /// How long it waits between, at least.
    pub backoff_min_ns: u64,
    /// How long it waits between, at most.
    pub backoff_max_ns: u64,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Where it was.
    pub topic: Rc<str>,
    /// Where it was.
    pub partition: i32,
    /// Where it was.
    pub offset: i64,
    /// The offset behind the last message that others may read.
    pub high_watermark: i64,
    /// When it was made or written.
    pub time_ms: i64,
    /// Its key.
    pub key: Option<Bytes>,
    /// What it says.
    pub value: Option<Bytes>,
    /// What is said about it.
    pub headers: Vec<Header>,
}

/// What happened since anybody asked.
#[derive(Debug, Default)]
pub struct Progress {
    /// Requests for messages.
    pub fetches: u64,
    /// Messages that were given away.
    pub messages: u64,
    /// Their keys and values.
    pub bytes: u64,
    /// Bytes that came for them.
    pub fetched_bytes: u64,
    /// How often the group assigned partitions anew.
    pub rebalances: u64,
    /// Requests to which no message came in time.
    pub timeouts: u64,
    /// Requests that failed, and were made again or not.
    pub errors: u64,
    /// How long requests took.
    pub read_ns: Vec<u64>,
    /// How long was waited between attempts.
    pub wait_ns: Vec<u64>,
}

/// A partition that is read.
#[derive(Debug, Clone)]
struct Position {
    topic: Rc<str>,
    partition: i32,
    /// The next to be fetched; none where it is still to be asked for.
    fetch: Option<i64>,
    /// The next to be given away.
    next: i64,
    /// What the group knows.
    committed: i64,
}

/// Reads messages.
#[derive(Debug)]
pub struct Consumer<W: World> {
    /// Where from.
    pub cluster: Cluster<W>,
    options: ConsumerOptions,
    positions: Vec<Position>,
    queue: Queue,
    group: Option<Group>,
    is_ready: bool,
    progress: Progress,
    last_problem: Option<KafkaError>,
}

impl<W: World> Consumer<W> {
    /// Nothing is connected before it is needed.
    pub fn new(cluster: Cluster<W>, options: ConsumerOptions) -> Self {
        let (group, positions) = match &options.place {
            Place::Partition { topic, partition } => {
                let fetch = if let Start::At(offset) = options.start { Some(offset) } else { None };
                let topic = topic.as_str().into();
                (None, vec![Position { topic, partition: *partition, fetch, next: fetch.unwrap_or(-1), committed: -1 }])
            }
            Place::Group(group) => (Some(Group::new(group.clone())), Vec::new()),
        };
        Self {
            cluster,
            options,
            positions,
            queue: Queue::default(),
            group,
            is_ready: false,
            progress: Progress::default(),
            last_problem: None,
        }
    }

    /// Connects, joins the group, finds out where to begin; tries as often as it may.
    ///
    /// # Errors
    /// Why it is in vain.
    pub fn ready(&mut self) -> Result<(), KafkaError> {
        let mut attempt = 1;
        while !self.is_ready {
            match self.prepare() {
                Ok(()) => self.is_ready = true,
                Err(error) if !error.is_passing() || attempt >= self.options.attempts => return Err(error),
                Err(error) => {
                    self.progress.errors += 1;
                    self.last_problem = Some(error);
                    self.back_off(attempt, u64::MAX)?;
                    attempt += 1;
                }
            }
        }
        Ok(())
    }

    fn prepare(&mut self) -> Result<(), KafkaError> {
        if let Some(group) = &mut self.group {
            self.positions = group.join(&mut self.cluster)?;
            self.queue.clear();
            self.progress.rebalances += 1;
        }
        self.find_starts()
    }

    /// Asks for the offsets of partitions that have none.
    fn find_starts(&mut self) -> Result<(), KafkaError> {
        let unknown: Vec<_> = self.positions.iter().filter(|position| position.fetch.is_none()).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let places: Vec<_> = unknown.iter().map(|position| (Rc::clone(&position.topic), position.partition)).collect();
        let time = if self.options.start == Start::Last { LATEST } else { offsets::EARLIEST };
        let deadline_ns = self.cluster.short_deadline();
        let found = offsets_at(&mut self.cluster, &places, time, self.options.is_committed_only, deadline_ns)?;
        for (topic, partition, offset) in found {
            let offset = offset?;
            let position = self.position_of(&topic, partition);
            if let Some(position) = position {
                (position.fetch, position.next) = (Some(offset), offset);
                position.committed = position.committed.max(offset);
            }
        }
        Ok(())
    }

    fn position_of(&mut self, topic: &str, partition: i32) -> Option<&mut Position> {
        self.positions.iter_mut().find(|position| *position.topic == *topic && position.partition == partition)
    }

    /// The next message; none where the time was over first.
    ///
    /// # Errors
    /// Why there will be none.
    pub fn next(&mut self, deadline_ns: u64) -> Result<Option<Message>, KafkaError> {
        let mut attempt = 0;
        loop {
            if let Some(message) = self.take_queued()? {
                return Ok(Some(message));
            }
            if self.cluster.world.now_ns() >= deadline_ns {
                self.progress.timeouts += 1;
                return Ok(None);
            }
            match self.fetch_more(deadline_ns) {
                Ok(()) => attempt = 0,
                Err(error) if !error.is_passing() => return Err(error),
                Err(error) => {
                    self.progress.errors += 1;
                    self.last_problem = Some(error);
                    attempt += 1;
                    self.back_off(attempt, deadline_ns)?;
                }
            }
        }
    }

    fn take_queued(&mut self) -> Result<Option<Message>, KafkaError> {
        loop {
            let message = match self.queue.next(&mut self.cluster.world) {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(None),
                Err(error) => {
                    self.fetch_first_again();
                    return Err(error);
                }
            };
            let Some(position) = self.position_of(&message.topic, message.partition) else { continue };
            // A batch begins where it begins, not where it was asked for.
            if message.offset < position.next {
                continue;
            }
            position.next = message.offset.saturating_add(1);
            self.progress.messages += 1;
            self.progress.bytes +=
                (message.key.as_ref().map_or(0, Bytes::len) + message.value.as_ref().map_or(0, Bytes::len)) as u64;
            return Ok(Some(message));
        }
    }

    /// What could not be read is fetched again when the next message is asked for: nothing is passed by in silence, and
    /// what did not fit the memory of a VU may fit it later.
    fn fetch_first_again(&mut self) {
        if let Some((topic, partition)) = self.queue.drop_first()
            && let Some(position) = self.position_of(&topic, partition)
        {
            position.fetch = Some(position.next);
        }
    }

    fn fetch_more(&mut self, deadline_ns: u64) -> Result<(), KafkaError> {
        self.ready()?;
        if let Some(group) = &mut self.group
            && let Err(error) = group.say_hello(&mut self.cluster)
        {
            return self.left(error);
        }
        self.find_starts()?;
        self.fetch(deadline_ns)
    }

    /// What an error of the group means: it has to be joined again, or it is one.
    fn left(&mut self, error: KafkaError) -> Result<(), KafkaError> {
        let Some(group) = &mut self.group else { return Err(error) };
        if !group.forgive(&error) {
            return Err(error);
        }
        self.is_ready = false;
        if error.code() == Some(code::REBALANCE_IN_PROGRESS) {
            // Whoever has a partition next goes on where we are; if the group will not hear it, it hears it twice.
            if let Err(KafkaError::Cancelled) = group.commit(&mut self.cluster, &mut self.positions) {
                return Err(KafkaError::Cancelled);
            }
        }
        Ok(())
    }

    fn back_off(&mut self, attempt: u32, deadline_ns: u64) -> Result<(), KafkaError> {
        let wait_ns = self.options.backoff_min_ns.saturating_mul(1 << attempt.min(10));
        let wait_ns = wait_ns.min(self.options.backoff_max_ns).max(BACKOFF_LEAST_NS);
        let wait_ns = wait_ns.min(deadline_ns.saturating_sub(self.cluster.world.now_ns()));
        if self.progress.wait_ns.len() < MEASUREMENTS_MAX {
            self.progress.wait_ns.push(wait_ns);
        }
        self.cluster.world.sleep(wait_ns)
    }

    /// Tells the group how far it has come, if it is time to; `is_now` where it is.
    ///
    /// # Errors
    /// Why the group does not know.
    pub fn commit(&mut self, is_now: bool) -> Result<(), KafkaError> {
        let Some(group) = &mut self.group else { return Ok(()) };
        if !is_now && !group.is_time_to_commit(self.cluster.world.now_ns()) {
            return Ok(());
        }
        match group.commit(&mut self.cluster, &mut self.positions) {
            // Who reads a partition now begins where the group knows.
            Err(error) => self.left(error),
            Ok(()) => Ok(()),
        }
    }

    /// Says good-bye to the group and closes all connections.
    ///
    /// # Errors
    /// Nobody waits for it any more.
    pub fn close(&mut self) -> Result<(), KafkaError> {
        let committed = if self.is_ready { self.commit(true) } else { Ok(()) };
        let said = self.group.as_mut().map_or(Ok(()), |group| group.leave(&mut self.cluster));
        self.is_ready = false;
        self.queue.clear();
        self.cluster.close();
        for result in [committed, said] {
            if let Err(KafkaError::Cancelled) = result {
                return Err(KafkaError::Cancelled);
            }
        }
        self.cluster.world.hold(0)
    }

    /// Goes to an offset of a partition.
    ///
    /// # Errors
    /// The partition is not read.
    pub fn seek(&mut self, partition: i32, offset: i64) -> Result<(), KafkaError> {
        let mut is_read = false;
        for position in self.positions.iter_mut().filter(|position| position.partition == partition) {
            (position.fetch, position.next) = (Some(offset.max(0)), offset.max(0));
            is_read = true;
        }
        if !is_read {
            return Err(KafkaError::Refused(code::UNKNOWN_TOPIC_OR_PARTITION));
        }
        self.queue.drop_partition(partition);
        Ok(())
    }

    /// The offset of the next message of a partition.
    ///
    /// # Errors
    /// The partition is not read.
    pub fn position(&mut self, partition: i32) -> Result<i64, KafkaError> {
        let found = self.positions.iter().find(|position| position.partition == partition);
        found.map(|position| position.next).ok_or(KafkaError::Refused(code::UNKNOWN_TOPIC_OR_PARTITION))
    }

    /// How many partitions are read.
    pub fn assignments(&self) -> usize {
        self.positions.len()
    }

    /// Batches that wait to be given away.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// What went wrong last and was tried again.
    pub fn last_problem(&mut self) -> Option<KafkaError> {
        self.last_problem.take()
    }

    /// What happened since this was asked.
    pub fn progress(&mut self) -> Progress {
        std::mem::take(&mut self.progress)
    }
}

/// However short the time between attempts is asked to be.
const BACKOFF_LEAST_NS: u64 = 10_000_000;
/// Measured times between two looks at them.
const MEASUREMENTS_MAX: usize = 10_000;
