//! The thread that sends batches, one after the other.

use std::io;

use onrush_fiber::Clock;
use onrush_kafka::{Cluster, KafkaError, Producer, ProducerOptions, Settings};
use onrush_net::{ClientOptions, Connections, TlsOptions};

use super::{
    Config,
    waiting::{Parcel, Waiting},
    world::Way,
};
use crate::{
    Told,
    pauses::Pauses,
    post::{Refused, start_thread},
    told::Teller,
};

/// How long a connection, a request and an answer may take.
const DEADLINE_NS: u64 = 5_000_000_000;

pub(super) fn start(config: Config, waiting: Waiting, tell: impl Fn(Told) + Send + 'static) -> io::Result<()> {
    let tls = TlsOptions { insecure_skip_verify: config.is_unchecked, ..TlsOptions::default() };
    let network = ClientOptions { tls, ..ClientOptions::default() };
    let teller = Teller::new(tell);
    start_thread(network, move |connections| serve(connections, &config, &waiting, teller))
}

fn serve(connections: &mut Connections, config: &Config, waiting: &Waiting, teller: Teller) {
    let settings = Settings {
        brokers: config.brokers.clone(),
        client_id: CLIENT_ID.to_owned(),
        login: config.login.clone(),
        request_ns: DEADLINE_NS,
    };
    let cluster = Cluster::new(Way::new(connections, config.tls), settings);
    let mut sender = Sender { producer: Producer::new(cluster, options(config)), turn: 0, waiting, teller };
    while let Some(parcel) = waiting.next(config.push_interval) {
        sender.deliver(&parcel);
    }
    sender.producer.cluster.close();
}

const CLIENT_ID: &str = "onrush";

fn options(config: &Config) -> ProducerOptions {
    ProducerOptions {
        topic: Some(config.topic.clone()),
        // Each message names its partition.
        balancer: onrush_kafka::Balancer::default(),
        // A batch is tried again here, where it is known what became of it.
        attempts: 1,
        // A parcel is a batch.
        batch_messages: usize::MAX,
        batch_bytes: usize::MAX,
        acks: if config.acks_all { -1 } else { 1 },
        read_ns: DEADLINE_NS,
        write_ns: DEADLINE_NS,
        codec: config.codec,
        // k6's extension: brokers that make topics when somebody asks for them do so.
        creates_topics: true,
    }
}

struct Sender<'a> {
    producer: Producer<Way<'a>>,
    /// Partitions take turns.
    turn: usize,
    waiting: &'a Waiting,
    teller: Teller,
}

impl Sender<'_> {
    /// Delivers a batch, however long it takes, or loses it because nobody wants it.
    fn deliver(&mut self, parcel: &Parcel) {
        let mut pauses = Pauses::default();
        let mut may_be_written = false;
        loop {
            if self.waiting.is_given_up() {
                return self.waiting.lost(parcel, may_be_written);
            }
            let (unanswered, result) = self.send(parcel);
            let Err(error) = result else {
                self.teller.arrived();
                return self.waiting.taken(parcel, may_be_written);
            };
            may_be_written |= unanswered > 0;
            let why = error.to_string();
            self.waiting.came_back(may_be_written, &why);
            if !error.is_passing() {
                self.teller.lost(&Refused::for_good(why));
                return self.waiting.lost(parcel, may_be_written);
            }
            self.teller.failed(&Refused::for_now(why));
            // Nobody cancels this fiber.
            let _ = onrush_fiber::sleep_until(Clock::now() + pauses.after_failure());
        }
    }

    /// Sends it once: how many messages went out and were not answered.
    fn send(&mut self, parcel: &Parcel) -> (u64, Result<(), KafkaError>) {
        let partitions = match self.producer.partition_count(None) {
            Ok(partitions) => partitions.max(1),
            Err(error) => return (0, Err(error)),
        };
        self.waiting.goes_out();
        let partition = self.turn % partitions;
        self.turn = partition + 1;
        let (sent, result) = self.producer.produce(parcel.messages(i32::try_from(partition).unwrap_or(0)));
        (sent.unanswered, result)
    }
}
