//! The entry of the fuzz target, and of a test with random bytes: whole clients against a broker that answers anything, batches
//! whose checksum is right, Avro. Panics are findings, and so is what never ends.

use std::{cell::RefCell, rc::Rc};

use crate::{
    Address, Balancer, Cluster, Codec, Consumer, ConsumerOptions, GroupOptions, KafkaError, Outgoing, Place, Producer,
    ProducerOptions, Settings, Start, Strategy, Stream, World, admin, avro,
    crc::{CASTAGNOLI, Crc},
    record::Batch,
    wire::Reader,
};

/// Does with the bytes what the first of them says.
pub fn fuzz(data: &[u8]) {
    let Some((&kind, data)) = data.split_first() else { return };
    match kind % 5 {
        0 => batches(data),
        1 => values(data),
        2 => {
            let messages = vec![Outgoing { value: Some("v".into()), ..Outgoing::default() }; 3];
            let _ = producer(cluster(data)).produce(messages);
        }
        3 => {
            let place = Place::Partition { topic: "t".to_owned(), partition: 0 };
            drain(Consumer::new(cluster(data), options(place)));
        }
        _ => {
            let group = GroupOptions {
                id: "g".to_owned(),
                topics: vec!["t".to_owned()],
                strategies: vec![Strategy::Range],
                session_ms: 1_000,
                rebalance_ms: 1_000,
                heartbeat_ns: 1,
                commit_ns: 0,
                retention_ms: -1,
            };
            drain(Consumer::new(cluster(data), options(Place::Group(group))));
            let mut cluster = cluster(data);
            let _ = admin::list_topics(&mut cluster);
            let _ = admin::create_topic(&mut cluster, &admin::NewTopic { name: "t".to_owned(), ..Default::default() });
            let _ = admin::move_group_to_end(&mut cluster, "g", &["t".to_owned()]);
        }
    }
}

fn batches(data: &[u8]) {
    let mut data = data.to_vec();
    if data.len() > CHECKED_AT {
        // Else hardly anything would come through.
        let length = data.len() as u32 - 12;
        data[8..12].copy_from_slice(&length.to_be_bytes());
        data[16] = 2;
        let mut crc = Crc::new();
        crc.take(&CASTAGNOLI, &data[CHECKED_AT..]);
        data[CHECKED_AT - 4..CHECKED_AT].copy_from_slice(&crc.finish().to_be_bytes());
    }
    let mut world = Nowhere::default();
    let mut reader = Reader::new(data.into());
    while let Ok(Some(mut batch)) = Batch::read(&mut world, &mut reader, 0) {
        while let Ok(Some(_)) = batch.next() {}
    }
}

fn values(data: &[u8]) {
    let end = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    let text = String::from_utf8_lossy(&data[..end]);
    let Ok(schema) = avro::Schema::parse(&text, &[]) else { return };
    let mut left = PAUSES;
    let mut pause = |_| {
        left -= 1;
        if left > 0 { Ok(()) } else { Err(KafkaError::Cancelled) }
    };
    if let Ok(text) = avro::from_binary(&schema, data.get(end + 1..).unwrap_or_default(), &mut pause)
        && let Ok(value) = serde_json::from_str(&text)
    {
        let _ = avro::to_binary(&schema, &value, &mut pause);
    }
}

fn cluster(data: &[u8]) -> Cluster<Nowhere> {
    let world = Nowhere { rest: Rc::new(RefCell::new(data.to_vec())), ..Nowhere::default() };
    let brokers = vec![Address { host: "b".to_owned(), port: 1 }];
    Cluster::new(world, Settings { brokers, ..Settings::default() })
}

fn producer(cluster: Cluster<Nowhere>) -> Producer<Nowhere> {
    let options = ProducerOptions {
        topic: Some("t".to_owned()),
        balancer: Balancer::RoundRobin,
        attempts: 3,
        batch_messages: 2,
        batch_bytes: 1_000,
        acks: -1,
        read_ns: 1_000_000_000,
        write_ns: 1_000_000_000,
        codec: Codec::None,
        creates_topics: true,
    };
    Producer::new(cluster, options)
}

fn options(place: Place) -> ConsumerOptions {
    ConsumerOptions {
        place,
        start: Start::First,
        min_bytes: 1,
        max_bytes: 1_000,
        max_wait_ns: 1_000_000,
        is_committed_only: true,
        attempts: 3,
        backoff_min_ns: 1,
        backoff_max_ns: 1_000,
    }
}

fn drain(mut consumer: Consumer<Nowhere>) {
    if consumer.ready().is_ok() {
        let deadline_ns = consumer.cluster.world.now_ns() + 10_000_000_000;
        while let Ok(Some(_)) = consumer.next(deadline_ns) {}
        let _ = consumer.commit(true);
    }
    let _ = consumer.close();
}

/// A world with one broker, which answers each request with the next of some bytes. Time passes when somebody looks at it.
#[derive(Debug, Default)]
struct Nowhere {
    rest: Rc<RefCell<Vec<u8>>>,
    now_ns: std::cell::Cell<u64>,
    pauses: u32,
}

/// A connection to it.
#[derive(Debug)]
struct Answers {
    rest: Rc<RefCell<Vec<u8>>>,
    ready: Vec<u8>,
}

impl Stream for Answers {
    fn read(&mut self, out: &mut Vec<u8>, _: u64) -> Result<bool, KafkaError> {
        let is_more = !self.ready.is_empty();
        out.append(&mut self.ready);
        Ok(is_more)
    }

    fn write(&mut self, bytes: &[u8], _: u64) -> Result<(), KafkaError> {
        let mut rest = self.rest.borrow_mut();
        // The length of the answer, the answer.
        let length = rest.first().copied().map_or(0, usize::from).min(rest.len().saturating_sub(1));
        if rest.is_empty() {
            return Err(KafkaError::Broken("the end".to_owned()));
        }
        let answer: Vec<u8> = rest.drain(..=length).skip(1).collect();
        self.ready.extend((answer.len() as u32 + 4).to_be_bytes());
        self.ready.extend_from_slice(bytes.get(8..12).unwrap_or_default());
        self.ready.extend(answer);
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        self.ready.is_empty()
    }
}

impl World for Nowhere {
    type Stream = Answers;

    fn dial(&mut self, _: &str, _: u16, _: u64) -> Result<Answers, KafkaError> {
        Ok(Answers { rest: Rc::clone(&self.rest), ready: Vec::new() })
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + 1_000_000);
        self.now_ns.get()
    }

    fn unix_ms(&self) -> i64 {
        0
    }

    fn sleep(&mut self, ns: u64) -> Result<(), KafkaError> {
        self.now_ns.set(self.now_ns.get().saturating_add(ns));
        self.pause()
    }

    fn pause(&mut self) -> Result<(), KafkaError> {
        self.pauses += 1;
        if self.pauses > PAUSES { Err(KafkaError::Cancelled) } else { Ok(()) }
    }

    fn hold(&mut self, bytes: usize) -> Result<(), KafkaError> {
        if bytes > HELD_MAX { Err(KafkaError::TooLarge("out of memory".to_owned())) } else { Ok(()) }
    }

    fn aside<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, KafkaError> {
        Ok(work())
    }
}

/// Where the part of a batch begins that its checksum is about.
const CHECKED_AT: usize = 21;
const PAUSES: u32 = 100_000;
const HELD_MAX: usize = 256 << 20;
