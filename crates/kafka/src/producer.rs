//! Messages on their way to a cluster: partitions, batches, attempts.

use std::{
    collections::{BTreeMap, VecDeque},
    rc::Rc,
};

use bytes::Bytes;

use crate::{
    Address, Balance, Balancer, Cluster, Codec, Header, KafkaError, World,
    broker::{Api, Broker},
    cluster::Spot,
    code,
    error::checked,
    record::{BatchWriter, record_bytes},
    wire::{Put, Reader},
};

/// How messages are sent.
#[derive(Debug, Clone)]
pub struct ProducerOptions {
    /// Where messages go that name no topic.
    pub topic: Option<String>,
    /// Which partition they go to.
    pub balancer: Balancer,
    /// How often a batch is tried.
    pub attempts: u32,
    /// How many messages are in a batch.
    pub batch_messages: usize,
    /// How many bytes are in a batch, before it is compressed.
    pub batch_bytes: usize,
    /// Who must have written a batch: nobody, its leader (1), all that are in sync (-1).
    pub acks: i16,
    /// How long an answer may take.
    pub read_ns: u64,
    /// How long a request may take to be sent.
    pub write_ns: u64,
    /// How batches are compressed.
    pub codec: Codec,
    /// Whether the cluster may make topics that are missing.
    pub creates_topics: bool,
}

/// A message to be sent.
#[derive(Debug, Clone, Default)]
pub struct Outgoing {
    /// Where it goes, if not where the producer's messages go.
    pub topic: Option<String>,
    /// Its partition, if no balancer is to choose it.
    pub partition: Option<i32>,
    /// Its key.
    pub key: Option<Bytes>,
    /// What it says.
    pub value: Option<Bytes>,
    /// What is said about it.
    pub headers: Vec<Header>,
    /// When it was made, if not now.
    pub time_ms: Option<i64>,
}

/// What became of messages.
#[derive(Debug, Default)]
pub struct Sent {
    /// Messages that were sent.
    pub messages: u64,
    /// Their keys and values.
    pub bytes: u64,
    /// The messages and bytes of each batch, and how long it took.
    pub batches: Vec<(u64, u64, u64)>,
    /// Attempts after the first.
    pub retries: u64,
    /// Messages of attempts that went out and were not answered: they may have been written.
    pub unanswered: u64,
    /// How long was waited between attempts.
    pub wait_ns: Vec<u64>,
}

/// Sends messages.
#[derive(Debug)]
pub struct Producer<W: World> {
    /// Where to.
    pub cluster: Cluster<W>,
    pub(crate) options: ProducerOptions,
    balances: BTreeMap<Rc<str>, Balance>,
}

/// A batch that was not written yet.
struct Pending {
    batch: Bytes,
    messages: u64,
    bytes: u64,
    attempts: u32,
}

/// A batch that is being filled.
#[derive(Default)]
struct Filling {
    writer: BatchWriter,
    messages: u64,
    bytes: u64,
    /// With what records take besides.
    size: usize,
}

/// What became of a partition's batch, and how long it took.
type Outcome = (Spot, Result<(), KafkaError>, u64);

/// The batches of a partition, in order.
type Queues = BTreeMap<Spot, VecDeque<Pending>>;

impl<W: World> Producer<W> {
    /// Nothing is connected before it is needed.
    pub fn new(cluster: Cluster<W>, options: ProducerOptions) -> Self {
        Self { cluster, options, balances: BTreeMap::new() }
    }

    /// How many partitions the topic of a message has.
    ///
    /// # Errors
    /// Why nobody knows.
    pub fn partition_count(&mut self, topic: Option<&str>) -> Result<usize, KafkaError> {
        let topic = self.topic_of(topic)?;
        let mut attempt = 1;
        loop {
            let deadline_ns = self.cluster.deadline(self.options.read_ns);
            match self.cluster.topic(&topic, self.options.creates_topics, deadline_ns) {
                Ok(topic) => return Ok(topic.partitions.len()),
                Err(error) if !error.is_passing() || attempt >= self.options.attempts => {
                    // Whoever asks again wants to know how it is then.
                    self.cluster.forget(&topic);
                    return Err(error);
                }
                // Without leave to make it, a topic that is missing stays so; a new one takes a moment.
                Err(KafkaError::Refused(code::UNKNOWN_TOPIC_OR_PARTITION))
                    if attempt >= UNKNOWN_ATTEMPTS && !self.options.creates_topics =>
                {
                    return Err(KafkaError::Refused(code::UNKNOWN_TOPIC_OR_PARTITION));
                }
                Err(_) => self.cluster.forget(&topic),
            }
            self.cluster.world.sleep(backoff_ns(attempt))?;
            attempt += 1;
        }
    }

    fn topic_of(&self, topic: Option<&str>) -> Result<String, KafkaError> {
        let topic = topic.or(self.options.topic.as_deref());
        let missing = || KafkaError::Invalid("a message has no topic, and neither has the writer".to_owned());
        topic.filter(|topic| !topic.is_empty()).map(ToOwned::to_owned).ok_or_else(missing)
    }

    /// Sends messages, and waits until they are written as `acks` says. What was sent is told even where it fails.
    pub fn produce(&mut self, messages: Vec<Outgoing>) -> (Sent, Result<(), KafkaError>) {
        let mut sent = Sent::default();
        let result = self.pack(messages).and_then(|queues| self.send(queues, &mut sent));
        // Nothing is held between two calls.
        let released = self.cluster.world.hold(0);
        (sent, result.and(released))
    }

    /// Makes batches.
    fn pack(&mut self, messages: Vec<Outgoing>) -> Result<Queues, KafkaError> {
        let mut counts: BTreeMap<String, (Rc<str>, usize)> = BTreeMap::new();
        let mut open: BTreeMap<Spot, Filling> = BTreeMap::new();
        let mut queues = Queues::new();
        let mut held = 0;
        for message in messages {
            let name = self.topic_of(message.topic.as_deref())?;
            if !counts.contains_key(&name) {
                let count = self.partition_count(Some(&name))?;
                counts.insert(name.clone(), (name.as_str().into(), count));
            }
            let (topic, count) = counts.get(&name).map_or_else(|| (name.as_str().into(), 1), Clone::clone);
            let (key, value) = (message.key.as_deref(), message.value.as_deref());
            let partition = match message.partition {
                Some(partition) if usize::try_from(partition).is_ok_and(|partition| partition < count) => partition,
                Some(_) => return Err(KafkaError::Refused(code::UNKNOWN_TOPIC_OR_PARTITION)),
                None => {
                    let balance = self.balances.entry(Rc::clone(&topic)).or_default();
                    balance.partition(self.options.balancer, key, value.map_or(0, <[u8]>::len), count)
                }
            };
            let size = record_bytes(key, value, &message.headers);
            if size > self.options.batch_bytes.saturating_add(RECORD_ROOM_BYTES) {
                return Err(KafkaError::Refused(code::MESSAGE_TOO_LARGE));
            }
            let place = (topic, partition);
            let slot = open.entry(place.clone()).or_default();
            let is_full = slot.messages as usize >= self.options.batch_messages
                || slot.messages > 0 && slot.size.saturating_add(size) > self.options.batch_bytes;
            if is_full {
                let full = std::mem::take(slot);
                let pending = self.close_batch(full)?;
                queues.entry(place.clone()).or_default().push_back(pending);
            }
            let slot = open.entry(place).or_default();
            let now = self.cluster.world.unix_ms();
            slot.writer.push(message.time_ms.unwrap_or(now), key, value, &message.headers);
            slot.messages += 1;
            slot.bytes += (key.map_or(0, <[u8]>::len) + value.map_or(0, <[u8]>::len)) as u64;
            slot.size += size;
            held += size;
            self.cluster.world.hold(held)?;
            self.cluster.world.pause()?;
        }
        for (place, rest) in open {
            let pending = self.close_batch(rest)?;
            queues.entry(place).or_default().push_back(pending);
        }
        Ok(queues)
    }

    fn close_batch(&mut self, filling: Filling) -> Result<Pending, KafkaError> {
        let Filling { writer, messages, bytes, .. } = filling;
        let batch = writer.finish(&mut self.cluster.world, self.options.codec)?.into();
        Ok(Pending { batch, messages, bytes, attempts: 0 })
    }

    /// Sends batches, the first of each partition at a time, until none is left.
    fn send(&mut self, mut queues: Queues, sent: &mut Sent) -> Result<(), KafkaError> {
        let mut failed = None;
        while !queues.is_empty() {
            let passing = self.send_round(&mut queues, sent, &mut failed)?;
            queues.retain(|_, queue| !queue.is_empty());
            if let Some(attempt) = passing {
                sent.retries += 1;
                let wait_ns = backoff_ns(attempt);
                sent.wait_ns.push(wait_ns);
                self.cluster.world.sleep(wait_ns)?;
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// One request to each leader. Gives the attempt that has failed, if it is to be made again.
    fn send_round(
        &mut self,
        queues: &mut Queues,
        sent: &mut Sent,
        failed: &mut Option<KafkaError>,
    ) -> Result<Option<u32>, KafkaError> {
        let mut passing = None;
        let mut leaders: Vec<(Address, Vec<Spot>)> = Vec::new();
        let mut outcomes: Vec<Outcome> = Vec::new();
        let deadline_ns = self.cluster.deadline(self.options.write_ns.saturating_add(self.options.read_ns));
        for place in queues.keys() {
            match self.cluster.leader(&place.0, place.1, deadline_ns) {
                Ok(address) => match leaders.iter_mut().find(|(known, _)| *known == address) {
                    Some((_, places)) => places.push(place.clone()),
                    None => leaders.push((address, vec![place.clone()])),
                },
                Err(KafkaError::Cancelled) => return Err(KafkaError::Cancelled),
                Err(error) => outcomes.push((place.clone(), Err(error), 0)),
            }
        }
        for (address, places) in leaders {
            let start = self.cluster.world.now_ns();
            let results = self.send_to(&address, &places, queues, sent, deadline_ns);
            let took = self.cluster.world.now_ns().saturating_sub(start);
            match results {
                Ok(results) => {
                    for (place, result) in places.into_iter().zip(results) {
                        outcomes.push((place, result, took));
                    }
                }
                Err(KafkaError::Cancelled) => return Err(KafkaError::Cancelled),
                Err(error) => outcomes.extend(places.into_iter().map(|place| (place, Err(error.clone()), took))),
            }
        }
        for (place, result, took) in outcomes {
            let Some(queue) = queues.get_mut(&place) else { continue };
            let Some(mut pending) = queue.pop_front() else { continue };
            match result {
                Ok(()) => {
                    sent.messages += pending.messages;
                    sent.bytes += pending.bytes;
                    sent.batches.push((pending.messages, pending.bytes, took));
                }
                Err(error) => {
                    pending.attempts += 1;
                    self.cluster.forget(&place.0);
                    if error.is_passing() && pending.attempts < self.options.attempts {
                        passing = passing.max(Some(pending.attempts));
                        queue.push_front(pending);
                    } else {
                        failed.get_or_insert(error);
                    }
                }
            }
        }
        Ok(passing)
    }

    fn send_to(
        &mut self,
        address: &Address,
        places: &[Spot],
        queues: &Queues,
        sent: &mut Sent,
        deadline_ns: u64,
    ) -> Result<Vec<Result<(), KafkaError>>, KafkaError> {
        let mut broker = self.cluster.take(address, deadline_ns)?;
        let results = self.exchange(&mut broker, places, queues);
        if results.is_ok() {
            self.cluster.put_back(address.clone(), broker);
        } else {
            let out = places.iter().filter_map(|place| queues.get(place)?.front());
            sent.unanswered += out.map(|pending| pending.messages).sum::<u64>();
        }
        results
    }

    fn exchange(
        &mut self,
        broker: &mut Broker<W::Stream>,
        places: &[Spot],
        queues: &Queues,
    ) -> Result<Vec<Result<(), KafkaError>>, KafkaError> {
        let options = &self.options;
        let mut request = Vec::new();
        request.put_no_text();
        request.put_i16(options.acks);
        request.put_i32(i32::try_from(options.read_ns / 1_000_000).unwrap_or(i32::MAX));
        // Places are in the order of their topics.
        let topics: Vec<_> = places.chunk_by(|one, other| one.0 == other.0).collect();
        request.put_count(topics.len());
        for places in topics {
            request.put_text(&places[0].0);
            request.put_count(places.len());
            for place in places {
                request.put_i32(place.1);
                let pending = queues.get(place).and_then(VecDeque::front);
                request.put_bytes(pending.map_or(&[], |pending| &pending.batch));
            }
        }
        broker.send(Api::Produce, &request, self.cluster.deadline(options.write_ns))?;
        if options.acks == 0 {
            return Ok(vec![Ok(()); places.len()]);
        }
        drop(request);
        let deadline_ns = self.cluster.deadline(options.read_ns);
        let mut answer = broker.receive(&mut self.cluster.world, 0, deadline_ns)?;
        read_results(&mut answer, places)
    }
}

/// What a broker says about each partition.
fn read_results(answer: &mut Reader, places: &[Spot]) -> Result<Vec<Result<(), KafkaError>>, KafkaError> {
    let silent = || Err(KafkaError::malformed("it does not name a partition that was written to"));
    let mut results: Vec<_> = places.iter().map(|_| silent()).collect();
    for _ in 0..answer.count(2 + 4)? {
        let topic = answer.text()?;
        for _ in 0..answer.count(4 + 2 + 8 + 8 + 8)? {
            let (partition, code) = (answer.i32()?, answer.i16()?);
            answer.skip(8 + 8 + 8)?;
            let at = places.binary_search_by(|place| (&*place.0, place.1).cmp(&(topic.as_str(), partition)));
            if let Ok(index) = at {
                results[index] = checked(code);
            }
        }
    }
    Ok(results)
}

/// As Go's client: the longer the oftener, from a tenth of a second to one.
fn backoff_ns(attempt: u32) -> u64 {
    100_000_000 * u64::from(attempt.clamp(1, 10))
}

/// Attempts for a topic that no broker knows: others may just have made it.
const UNKNOWN_ATTEMPTS: u32 = 5;
/// What keys and values do not count for.
const RECORD_ROOM_BYTES: usize = 256;
