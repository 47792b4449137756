//! Membership in a consumer group.

use std::{collections::BTreeMap, rc::Rc};

use super::{GroupOptions, Position, assign, commit_offsets};
use crate::{
    Address, Cluster, KafkaError, World,
    broker::Api,
    code,
    error::checked,
    wire::{Put, Reader, named},
};

/// A member, and what it knows of its group.
#[derive(Debug)]
pub(super) struct Group {
    options: GroupOptions,
    coordinator: Option<Address>,
    member: String,
    generation: i32,
    heard_ns: u64,
    committed_ns: u64,
}

/// What the coordinator says about a new generation.
struct Generation {
    protocol: String,
    leader: String,
    members: Vec<(String, Vec<String>)>,
}

impl Group {
    pub(super) fn new(options: GroupOptions) -> Self {
        Self { options, coordinator: None, member: String::new(), generation: -1, heard_ns: 0, committed_ns: 0 }
    }

    pub(super) fn heartbeat_ns(&self) -> u64 {
        self.options.heartbeat_ns
    }

    /// Joins, and learns which partitions are its own.
    pub(super) fn join<W: World>(&mut self, cluster: &mut Cluster<W>) -> Result<Vec<Position>, KafkaError> {
        named("group", &self.options.id)?;
        let mut attempt = 1;
        loop {
            match self.try_join(cluster) {
                // The group begins anew while we join, or does not know us: that happens, and is over soon.
                Err(error) if attempt < JOINS_MAX && self.forgive(&error) => {
                    cluster.world.sleep(REJOIN_NS)?;
                    attempt += 1;
                }
                joined => return joined,
            }
        }
    }

    fn try_join<W: World>(&mut self, cluster: &mut Cluster<W>) -> Result<Vec<Position>, KafkaError> {
        let deadline_ns = cluster.short_deadline();
        let coordinator = match &self.coordinator {
            Some(address) => address.clone(),
            None => coordinator(cluster, &self.options.id, deadline_ns)?,
        };
        self.coordinator = Some(coordinator.clone());
        let generation = self.ask_to_join(cluster, &coordinator)?;
        let shares = if generation.leader == self.member { self.share_out(cluster, &generation)? } else { Vec::new() };
        let mine = self.learn_share(cluster, &coordinator, &shares)?;
        (self.heard_ns, self.committed_ns) = (cluster.world.now_ns(), cluster.world.now_ns());
        self.learn_offsets(cluster, &coordinator, mine)
    }

    fn ask_to_join<W: World>(
        &mut self,
        cluster: &mut Cluster<W>,
        coordinator: &Address,
    ) -> Result<Generation, KafkaError> {
        let mut topics = Vec::new();
        topics.put_i16(0);
        topics.put_count(self.options.topics.len());
        for topic in &self.options.topics {
            named("topic", topic)?;
            topics.put_text(topic);
        }
        topics.put_i32(-1);
        let mut request = Vec::new();
        request.put_text(&self.options.id);
        request.put_i32(self.options.session_ms);
        request.put_i32(self.options.rebalance_ms);
        request.put_text(&self.member);
        request.put_text("consumer");
        request.put_count(self.options.strategies.len());
        for strategy in &self.options.strategies {
            request.put_text(strategy.name());
            request.put_bytes(&topics);
        }
        // The answer comes when all members are there, or their time is over.
        let wait_ns = u64::try_from(self.options.rebalance_ms).unwrap_or(0) * 1_000_000;
        let deadline_ns = cluster.deadline(wait_ns.saturating_add(cluster.request_ns()));
        let mut answer = self.heed(cluster.ask_at(coordinator, Api::JoinGroup, &request, deadline_ns))?;
        answer.skip(4)?;
        let code = answer.i16()?;
        self.generation = answer.i32()?;
        let (protocol, leader) = (answer.text()?, answer.text()?);
        let member = answer.text()?;
        if code == code::NONE || !member.is_empty() {
            self.member = member;
        }
        checked(code)?;
        let mut members = Vec::new();
        for _ in 0..answer.count(2 + 4)? {
            let id = answer.text()?;
            members.push((id, read_topics(&mut Reader::new(answer.bytes()?))?));
            cluster.world.pause()?;
        }
        Ok(Generation { protocol, leader, members })
    }

    /// As the leader of the group.
    fn share_out<W: World>(
        &self,
        cluster: &mut Cluster<W>,
        generation: &Generation,
    ) -> Result<Vec<(String, Vec<u8>)>, KafkaError> {
        let deadline_ns = cluster.short_deadline();
        let mut partitions = BTreeMap::new();
        for topic in generation.members.iter().flat_map(|(_, topics)| topics) {
            if partitions.contains_key(topic) {
                continue;
            }
            cluster.forget(topic);
            let known = match cluster.topic(topic, false, deadline_ns) {
                Ok(known) => known.partitions.iter().map(|partition| partition.id).collect(),
                // Others are not kept waiting for a topic that is not there.
                Err(KafkaError::Refused(_)) => Vec::new(),
                Err(error) => return Err(error),
            };
            partitions.insert(topic.clone(), known);
        }
        let strategies = &self.options.strategies;
        let strategy = strategies.iter().find(|strategy| strategy.name() == generation.protocol);
        let strategy = strategy.ok_or(KafkaError::Refused(INCONSISTENT_GROUP_PROTOCOL))?;
        let shares = assign::share_out(*strategy, &generation.members, &partitions);
        Ok(shares.into_iter().map(|(member, share)| (member, assign::write(&share))).collect())
    }

    fn learn_share<W: World>(
        &mut self,
        cluster: &mut Cluster<W>,
        coordinator: &Address,
        shares: &[(String, Vec<u8>)],
    ) -> Result<Vec<(Rc<str>, i32)>, KafkaError> {
        let mut request = Vec::new();
        request.put_text(&self.options.id);
        request.put_i32(self.generation);
        request.put_text(&self.member);
        request.put_count(shares.len());
        for (member, share) in shares {
            request.put_text(member);
            request.put_bytes(share);
        }
        let wait_ns = u64::try_from(self.options.rebalance_ms).unwrap_or(0) * 1_000_000;
        let deadline_ns = cluster.deadline(wait_ns.saturating_add(cluster.request_ns()));
        let mut answer = self.heed(cluster.ask_at(coordinator, Api::SyncGroup, &request, deadline_ns))?;
        answer.skip(4)?;
        checked(answer.i16()?)?;
        assign::read(answer.bytes()?)
    }

    /// Where the group is in its partitions.
    fn learn_offsets<W: World>(
        &mut self,
        cluster: &mut Cluster<W>,
        coordinator: &Address,
        mine: Vec<(Rc<str>, i32)>,
    ) -> Result<Vec<Position>, KafkaError> {
        let mut request = Vec::new();
        request.put_text(&self.options.id);
        request.put_count(mine.len());
        for (topic, partition) in &mine {
            request.put_text(topic);
            request.put_count(1);
            request.put_i32(*partition);
        }
        let deadline_ns = cluster.short_deadline();
        let mut answer = self.heed(cluster.ask_at(coordinator, Api::OffsetFetch, &request, deadline_ns))?;
        let mut known = BTreeMap::new();
        for _ in 0..answer.count(2 + 4)? {
            let topic = answer.text()?;
            for _ in 0..answer.count(4 + 8 + 2 + 2)? {
                let (partition, offset) = (answer.i32()?, answer.i64()?);
                answer.optional_text()?;
                checked(answer.i16()?)?;
                known.insert((topic.clone(), partition), offset);
                cluster.world.pause()?;
            }
        }
        let position = |(topic, partition): (Rc<str>, i32)| {
            let committed = known.get(&(topic.to_string(), partition)).copied().unwrap_or(-1);
            let fetch = (committed >= 0).then_some(committed);
            Position { topic, partition, fetch, next: committed, committed }
        };
        Ok(mine.into_iter().map(position).collect())
    }

    /// Says that it is there, if it is time to.
    pub(super) fn say_hello<W: World>(&mut self, cluster: &mut Cluster<W>) -> Result<(), KafkaError> {
        let now_ns = cluster.world.now_ns();
        if now_ns.saturating_sub(self.heard_ns) < self.options.heartbeat_ns {
            return Ok(());
        }
        let Some(coordinator) = self.coordinator.clone() else { return Err(gone()) };
        let mut request = Vec::new();
        request.put_text(&self.options.id);
        request.put_i32(self.generation);
        request.put_text(&self.member);
        let deadline_ns = cluster.short_deadline();
        let mut answer = self.heed(cluster.ask_at(&coordinator, Api::Heartbeat, &request, deadline_ns))?;
        self.heard_ns = now_ns;
        answer.skip(4)?;
        checked(answer.i16()?)
    }

    pub(super) fn is_time_to_commit(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.committed_ns) >= self.options.commit_ns
    }

    /// Tells the group how far it is.
    pub(super) fn commit<W: World>(
        &mut self,
        cluster: &mut Cluster<W>,
        positions: &mut [Position],
    ) -> Result<(), KafkaError> {
        let moved: Vec<_> = positions.iter().filter(|position| position.next > position.committed.max(-1)).collect();
        if moved.is_empty() {
            return Ok(());
        }
        let Some(coordinator) = self.coordinator.clone() else { return Err(gone()) };
        let offsets = moved.iter().map(|position| (&position.topic, position.partition, position.next));
        let deadline_ns = cluster.short_deadline();
        let group = (self.options.id.as_str(), self.generation, self.member.as_str());
        let committed = commit_offsets(cluster, &coordinator, group, self.options.retention_ms, offsets, deadline_ns);
        self.heed(committed)?;
        self.committed_ns = cluster.world.now_ns();
        positions.iter_mut().for_each(|position| position.committed = position.next);
        Ok(())
    }

    /// Says good-bye.
    pub(super) fn leave<W: World>(&mut self, cluster: &mut Cluster<W>) -> Result<(), KafkaError> {
        let Some(coordinator) = self.coordinator.take().filter(|_| !self.member.is_empty()) else { return Ok(()) };
        let mut request = Vec::new();
        request.put_text(&self.options.id);
        request.put_text(&self.member);
        self.member.clear();
        let deadline_ns = cluster.short_deadline();
        let mut answer = cluster.ask_at(&coordinator, Api::LeaveGroup, &request, deadline_ns)?;
        answer.skip(4)?;
        checked(answer.i16()?)
    }

    /// Forgets a coordinator that cannot be reached.
    fn heed<T>(&mut self, answer: Result<T, KafkaError>) -> Result<T, KafkaError> {
        if matches!(answer, Err(KafkaError::Broken(_) | KafkaError::Timeout)) {
            self.coordinator = None;
        }
        answer
    }

    /// Whether an error is over when the group is joined again.
    pub(super) fn forgive(&mut self, error: &KafkaError) -> bool {
        match error.code() {
            Some(code::UNKNOWN_MEMBER_ID | code::ILLEGAL_GENERATION) => {
                self.member.clear();
                true
            }
            Some(code::REBALANCE_IN_PROGRESS) => true,
            Some(code::NOT_COORDINATOR | code::COORDINATOR_NOT_AVAILABLE) => {
                self.coordinator = None;
                true
            }
            _ => false,
        }
    }
}

/// Finds the broker that coordinates a group.
pub(crate) fn coordinator<W: World>(
    cluster: &mut Cluster<W>,
    group: &str,
    deadline_ns: u64,
) -> Result<Address, KafkaError> {
    let mut request = Vec::new();
    request.put_text(group);
    // Of a group, not of a transaction.
    request.put_i8(0);
    loop {
        let mut answer = cluster.ask_any(Api::FindCoordinator, &request, deadline_ns)?;
        answer.skip(4)?;
        let code = answer.i16()?;
        let text = answer.optional_text()?;
        answer.skip(4)?;
        let (host, port) = (answer.text()?, answer.i32()?);
        match (checked(code), u16::try_from(port)) {
            (Ok(()), Ok(port)) if port > 0 => return Ok(Address { host, port }),
            (Ok(()), _) => return Err(KafkaError::malformed("the coordinator's port is not one")),
            // The first time a cluster has to make the topic in which it keeps offsets.
            (Err(error), _) if error.is_passing() && cluster.world.now_ns() < deadline_ns => {
                cluster.world.sleep(REJOIN_NS)?;
            }
            (Err(error), _) => {
                let text = text.filter(|text| !text.is_empty());
                return Err(text.map_or(error, |text| KafkaError::RefusedWith(code, text)));
            }
        }
    }
}

/// The topics that a member wants.
fn read_topics(reader: &mut Reader) -> Result<Vec<String>, KafkaError> {
    reader.i16()?;
    let count = reader.count(2)?;
    (0..count).map(|_| reader.text()).collect()
}

fn gone() -> KafkaError {
    KafkaError::Refused(code::COORDINATOR_NOT_AVAILABLE)
}

const INCONSISTENT_GROUP_PROTOCOL: i16 = 23;
/// Attempts to join, one after the other.
const JOINS_MAX: u32 = 10;
const REJOIN_NS: u64 = 100_000_000;
