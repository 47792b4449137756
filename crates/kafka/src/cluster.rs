//! A cluster as a client sees it: its brokers, connections to them, who leads which partition.

use std::{collections::BTreeMap, rc::Rc};

use crate::{
    KafkaError, Login, World,
    broker::{Api, Broker},
    code,
    error::checked,
    wire::{Put, Reader, named},
};

/// Where a broker is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// A name or an IP address, the latter without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

impl Address {
    /// Reads `host:port`, `host`, `[::1]:9092`.
    ///
    /// # Errors
    /// Which part is wrong.
    pub fn parse(text: &str) -> Result<Self, KafkaError> {
        let invalid = |why: &str| KafkaError::Invalid(format!("invalid broker address {text:?}: {why}"));
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or_else(|| invalid("there is no closing bracket"))?;
                (host, rest.strip_prefix(':'))
            }
            None => text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        if host.is_empty() {
            return Err(invalid("there is no host"));
        }
        let port = match port {
            None => PORT,
            Some(port) => port
                .parse()
                .ok()
                .filter(|&port| port > 0)
                .ok_or_else(|| invalid("the port is not a number up to 65535"))?,
        };
        Ok(Self { host: host.to_owned(), port })
    }
}

/// How a cluster is reached.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Brokers to ask first.
    pub brokers: Vec<Address>,
    /// How the client calls itself.
    pub client_id: String,
    /// Who it says it is.
    pub login: Option<Login>,
    /// How long a connection and its login may take, and a short request.
    pub request_ns: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { brokers: Vec::new(), client_id: String::new(), login: None, request_ns: REQUEST_NS }
    }
}

/// A partition by its topic and number.
pub(crate) type Spot = (Rc<str>, i32);

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicInfo {
    /// Its name.
    pub name: Rc<str>,
    /// Whether it is one of Kafka's own.
    pub is_internal: bool,
    /// Why nothing is known of it.
    pub problem: Option<KafkaError>,
    /// By number.
    pub partitions: Vec<PartitionInfo>,
}

/// A partition of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionInfo {
    /// Its number.
    pub id: i32,
    /// The broker that leads it; negative for none.
    pub leader: i32,
    /// The brokers that have a copy.
    pub replicas: Vec<i32>,
    /// Those of them that are up to date.
    pub in_sync: Vec<i32>,
    /// What is wrong with it.
    pub problem: Option<KafkaError>,
}

/// What happened to connections since anybody asked.
#[derive(Debug, Default)]
pub struct Dials {
    /// Connections that were tried.
    pub count: u32,
    /// How long those took that came about.
    pub took_ns: Vec<u64>,
}

/// A cluster and the connections to its brokers.
#[derive(Debug)]
pub struct Cluster<W: World> {
    /// The way to it.
    pub world: W,
    /// What happened to connections.
    pub dials: Dials,
    settings: Settings,
    links: Vec<(Address, Broker<W::Stream>)>,
    nodes: BTreeMap<i32, Address>,
    controller: i32,
    topics: BTreeMap<Rc<str>, TopicInfo>,
}

impl<W: World> Cluster<W> {
    /// Nothing is connected before it is needed.
    pub fn new(world: W, settings: Settings) -> Self {
        Self {
            world,
            dials: Dials::default(),
            settings,
            links: Vec::new(),
            nodes: BTreeMap::new(),
            controller: -1,
            topics: BTreeMap::new(),
        }
    }

    /// How the client calls itself.
    pub fn client_id(&self) -> &str {
        &self.settings.client_id
    }

    /// Closes all connections.
    pub fn close(&mut self) {
        self.links.clear();
    }

    pub(crate) fn deadline(&self, ns: u64) -> u64 {
        self.world.now_ns().saturating_add(ns)
    }

    /// Until when a short request may take.
    pub(crate) fn short_deadline(&self) -> u64 {
        self.deadline(self.settings.request_ns)
    }

    /// How long it may take.
    pub(crate) fn request_ns(&self) -> u64 {
        self.settings.request_ns
    }

    /// A connection to a broker, kept or new. Whoever takes it puts it back.
    pub(crate) fn take(&mut self, address: &Address, deadline_ns: u64) -> Result<Broker<W::Stream>, KafkaError> {
        while let Some(index) = self.links.iter().position(|(kept, _)| kept == address) {
            let (_, broker) = self.links.swap_remove(index);
            if broker.is_quiet() {
                return Ok(broker);
            }
        }
        let start = self.world.now_ns();
        let deadline_ns = deadline_ns.min(self.short_deadline());
        self.dials.count += 1;
        let stream = self.world.dial(&address.host, address.port, deadline_ns)?;
        let broker =
            Broker::open(&mut self.world, stream, &self.settings.client_id, self.settings.login.as_ref(), deadline_ns)?;
        if self.dials.took_ns.len() < MEASUREMENTS_MAX {
            self.dials.took_ns.push(self.world.now_ns().saturating_sub(start));
        }
        Ok(broker)
    }

    pub(crate) fn put_back(&mut self, address: Address, broker: Broker<W::Stream>) {
        if self.links.len() >= LINKS_MAX {
            self.links.remove(0);
        }
        self.links.push((address, broker));
    }

    /// Asks a broker.
    pub(crate) fn ask_at(
        &mut self,
        address: &Address,
        api: Api,
        body: &[u8],
        deadline_ns: u64,
    ) -> Result<Reader, KafkaError> {
        let mut broker = self.take(address, deadline_ns)?;
        let answer = broker.ask(&mut self.world, api, body, deadline_ns);
        if answer.as_ref().err().is_none_or(KafkaError::keeps_connection) {
            self.put_back(address.clone(), broker);
        }
        answer
    }

    /// Asks any broker.
    pub(crate) fn ask_any(&mut self, api: Api, body: &[u8], deadline_ns: u64) -> Result<Reader, KafkaError> {
        // One that is connected, those that were named, those that were learnt.
        let connected = self.links.last().map(|(address, _)| address.clone());
        let known: Vec<_> =
            connected.into_iter().chain(self.settings.brokers.iter().chain(self.nodes.values()).cloned()).collect();
        let mut failed = KafkaError::Invalid("there are no brokers: name them as host:port".to_owned());
        for (index, address) in known.iter().enumerate().take(TRIED_MAX) {
            if known[..index].contains(address) {
                continue;
            }
            match self.ask_at(address, api, body, deadline_ns) {
                Err(error @ (KafkaError::Broken(_) | KafkaError::Timeout)) if self.world.now_ns() < deadline_ns => {
                    failed = error;
                }
                answer => return answer,
            }
        }
        Err(failed)
    }

    /// The broker of that number.
    pub(crate) fn node(&self, id: i32) -> Result<Address, KafkaError> {
        self.nodes.get(&id).cloned().ok_or(KafkaError::Refused(code::LEADER_NOT_AVAILABLE))
    }

    pub(crate) fn controller(&mut self, deadline_ns: u64) -> Result<Address, KafkaError> {
        if !self.nodes.contains_key(&self.controller) {
            self.learn(Some(&[]), false, deadline_ns)?;
        }
        match self.node(self.controller) {
            Ok(address) => Ok(address),
            // Brokers without a controller that they show take such requests themselves.
            Err(error) => self.nodes.values().next().cloned().ok_or(error),
        }
    }

    pub(crate) fn forget_controller(&mut self) {
        self.controller = -1;
    }

    /// What is known of a topic; asks where nothing is.
    pub(crate) fn topic(&mut self, name: &str, creates: bool, deadline_ns: u64) -> Result<&TopicInfo, KafkaError> {
        if !self.topics.contains_key(name) {
            self.learn(Some(&[name]), creates, deadline_ns)?;
        }
        match self.topics.get(name) {
            Some(TopicInfo { problem: None, partitions, .. }) if partitions.is_empty() => {
                Err(KafkaError::Refused(code::LEADER_NOT_AVAILABLE))
            }
            Some(TopicInfo { problem: Some(problem), .. }) => Err(problem.clone()),
            Some(topic) => Ok(topic),
            None => Err(KafkaError::Refused(code::UNKNOWN_TOPIC_OR_PARTITION)),
        }
    }

    /// Forgets what is known of a topic: it is out of date.
    pub(crate) fn forget(&mut self, name: &str) {
        self.topics.remove(name);
    }

    /// The broker that leads a partition.
    pub(crate) fn leader(&mut self, topic: &str, partition: i32, deadline_ns: u64) -> Result<Address, KafkaError> {
        let found = self.topic(topic, false, deadline_ns)?.partitions.iter().find(|known| known.id == partition);
        let leader = found.map(|partition| partition.leader);
        self.node(leader.ok_or(KafkaError::Refused(code::UNKNOWN_TOPIC_OR_PARTITION))?)
    }

    /// Asks for the brokers, and for some topics or all.
    pub(crate) fn learn(&mut self, topics: Option<&[&str]>, creates: bool, deadline_ns: u64) -> Result<(), KafkaError> {
        let mut request = Vec::new();
        match topics {
            Some(topics) => {
                request.put_count(topics.len());
                for topic in topics {
                    named("topic", topic)?;
                    request.put_text(topic);
                }
            }
            None => request.put_i32(-1),
        }
        request.put_bool(creates);
        let mut answer = self.ask_any(Api::Metadata, &request, deadline_ns)?;
        self.read_metadata(&mut answer, topics)
    }

    fn read_metadata(&mut self, answer: &mut Reader, wanted: Option<&[&str]>) -> Result<(), KafkaError> {
        answer.skip(4)?;
        let mut nodes = BTreeMap::new();
        for _ in 0..answer.count(4 + 2 + 4 + 2)? {
            let (id, host, port) = (answer.i32()?, answer.text()?, answer.i32()?);
            answer.optional_text()?;
            // A broker behind a port that cannot be is as good as none.
            if let (Ok(port), true) = (u16::try_from(port), nodes.len() < NODES_MAX) {
                nodes.insert(id, Address { host, port });
            }
            self.world.pause()?;
        }
        answer.optional_text()?;
        let controller = answer.i32()?;
        let mut held = 0;
        for _ in 0..answer.count(2 + 2 + 1 + 4)? {
            let problem = checked(answer.i16()?).err();
            let name: Rc<str> = answer.text()?.into();
            let is_internal = answer.i8()? != 0;
            let mut partitions = Vec::new();
            let count = answer.count(2 + 4 + 4 + 4 + 4)?;
            if count > PARTITIONS_MAX {
                return Err(KafkaError::TooLarge(format!(
                    "the topic {name:?} has more than {PARTITIONS_MAX} partitions"
                )));
            }
            for _ in 0..count {
                let partition = read_partition(answer)?;
                held += PARTITION_BYTES + 4 * (partition.replicas.len() + partition.in_sync.len());
                self.world.hold(held + answer.left())?;
                self.world.pause()?;
                partitions.push(partition);
            }
            partitions.sort_by_key(|partition| partition.id);
            held += PARTITION_BYTES + name.len();
            self.world.hold(held + answer.left())?;
            self.world.pause()?;
            let topic = TopicInfo { name: Rc::clone(&name), is_internal, problem, partitions };
            // What nobody asked for is not kept.
            if wanted.is_none_or(|wanted| wanted.contains(&&*name)) {
                self.topics.insert(name, topic);
            }
        }
        self.nodes = nodes;
        self.controller = controller;
        Ok(())
    }

    /// All topics, in the order of their names; none of them is kept.
    pub(crate) fn all_topics(&mut self, deadline_ns: u64) -> Result<Vec<TopicInfo>, KafkaError> {
        self.topics.clear();
        self.learn(None, false, deadline_ns)?;
        Ok(std::mem::take(&mut self.topics).into_values().collect())
    }
}

fn read_partition(answer: &mut Reader) -> Result<PartitionInfo, KafkaError> {
    let problem = checked(answer.i16()?).err();
    let (id, leader) = (answer.i32()?, answer.i32()?);
    let mut list = || {
        let count = answer.count(4)?;
        (0..count).map(|_| answer.i32()).collect::<Result<Vec<_>, _>>()
    };
    Ok(PartitionInfo { id, leader, replicas: list()?, in_sync: list()?, problem })
}

const PORT: u16 = 9092;
/// As in Go's client.
const REQUEST_NS: u64 = 10_000_000_000;
/// Connections of one client.
const LINKS_MAX: usize = 64;
/// Brokers that are asked for something any can answer.
const TRIED_MAX: usize = 32;
/// More than any cluster has.
const NODES_MAX: usize = 10_000;
/// Measured times between two looks at them.
const MEASUREMENTS_MAX: usize = 1_000;
/// Of a topic; a whole cluster has a few times as many.
const PARTITIONS_MAX: usize = 100_000;
/// What a partition or topic takes here.
const PARTITION_BYTES: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |text: &str, expect: Option<(&str, u16)>| {
            let found = Address::parse(text).ok();
            assert_eq!(found, expect.map(|(host, port)| Address { host: host.to_owned(), port }), "{text}");
        };
        check("host:9093", Some(("host", 9093)));
        check("host", Some(("host", 9092)));
        check("[::1]:9093", Some(("::1", 9093)));
        check("[::1]", Some(("::1", 9092)));
        check("", None);
        check(":9092", None);
        check("host:", None);
        check("host:0", None);
        check("host:65536", None);
        check("[::1", None);
    }
}
