//! Producers and consumers against brokers that do as they should, and that do not.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use proptest::prelude::*;

use super::{
    brokers::{FETCH, LIST_OFFSETS, METADATA, PRODUCE, Reply, broker, fetched, metadata, offset, produced},
    packing::batch,
    world::TestWorld,
};
use crate::{
    Address, Balancer, Cluster, Codec, Consumer, ConsumerOptions, KafkaError, Outgoing, Place, Producer,
    ProducerOptions, Settings, Start, World,
};

fn cluster(port: u16) -> Cluster<TestWorld> {
    let brokers = vec![Address { host: "127.0.0.1".to_owned(), port }];
    Cluster::new(
        TestWorld::default(),
        Settings { brokers, client_id: "test".to_owned(), login: None, request_ns: 300_000_000 },
    )
}

fn producer(port: u16) -> Producer<TestWorld> {
    let options = ProducerOptions {
        topic: Some("t".to_owned()),
        balancer: Balancer::RoundRobin,
        attempts: 3,
        batch_messages: 100,
        batch_bytes: 1 << 20,
        acks: -1,
        read_ns: 300_000_000,
        write_ns: 1_000_000_000,
        codec: Codec::None,
        creates_topics: false,
    };
    Producer::new(cluster(port), options)
}

fn consumer(port: u16) -> Consumer<TestWorld> {
    let options = ConsumerOptions {
        place: Place::Partition { topic: "t".to_owned(), partition: 0 },
        start: Start::First,
        min_bytes: 1,
        max_bytes: 1_000_000,
        max_wait_ns: 100_000_000,
        is_committed_only: false,
        attempts: 2,
        backoff_min_ns: 1_000_000,
        backoff_max_ns: 10_000_000,
    };
    Consumer::new(cluster(port), options)
}

fn message(value: &'static [u8]) -> Outgoing {
    Outgoing { value: Some(Bytes::from_static(value)), ..Outgoing::default() }
}

/// A broker that does all as it should, but for one kind of request.
fn but(kind: i16, mut reply: impl FnMut(u16, usize) -> Reply + Send + 'static) -> u16 {
    let mut count = 0;
    broker(move |port, key, _| {
        if key == kind {
            count += 1;
            return reply(port, count);
        }
        match key {
            METADATA => Reply::Body(metadata(port, 1)),
            PRODUCE => Reply::Body(produced(0)),
            LIST_OFFSETS => Reply::Body(offset(0)),
            _ => Reply::Body(fetched(0, &batch(Codec::None, &[b"one", b"two"]))),
        }
    })
}

fn consumed(consumer: &mut Consumer<TestWorld>, ms: u64) -> Result<Option<Bytes>, KafkaError> {
    let deadline_ns = consumer.cluster.world.now_ns() + ms * 1_000_000;
    Ok(consumer.next(deadline_ns)?.map(|message| message.value.unwrap_or_default()))
}

#[test]
fn messages_go_and_come() {
    let port = but(-1, |_, _| Reply::Close);
    let mut producer = producer(port);
    let (sent, result) = producer.produce(vec![message(b"a"), message(b"bc")]);
    assert_eq!((result, sent.messages, sent.bytes, sent.batches.len()), (Ok(()), 2, 3, 1));
    let mut consumer = consumer(port);
    assert_eq!(consumed(&mut consumer, 5_000), Ok(Some(Bytes::from_static(b"one"))));
    assert_eq!(consumed(&mut consumer, 5_000), Ok(Some(Bytes::from_static(b"two"))));
    assert_eq!(consumer.position(0), Ok(2));
    let progress = consumer.progress();
    assert_eq!((progress.fetches, progress.messages, progress.bytes), (1, 2, 9));
}

#[test]
fn what_passes_is_tried_again() {
    let port = but(PRODUCE, |_, count| Reply::Body(produced(if count < 3 { 6 } else { 0 })));
    let (sent, result) = producer(port).produce(vec![message(b"a")]);
    assert_eq!((result, sent.retries, sent.messages), (Ok(()), 2, 1));
    let port = but(PRODUCE, |_, count| if count < 2 { Reply::Close } else { Reply::Body(produced(0)) });
    assert_eq!(producer(port).produce(vec![message(b"a")]).1, Ok(()));
    let port = but(PRODUCE, |_, _| Reply::Body(produced(6)));
    assert_eq!(producer(port).produce(vec![message(b"a")]).1, Err(KafkaError::Refused(6)));
}

#[test]
fn what_stays_is_not_tried_again() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let port = but(PRODUCE, move |_, _| {
        seen.fetch_add(1, Ordering::Relaxed);
        Reply::Body(produced(29))
    });
    assert_eq!(producer(port).produce(vec![message(b"a")]).1, Err(KafkaError::Refused(29)));
    assert_eq!(count.load(Ordering::Relaxed), 1);
    // Nothing is sent of what no broker would take.
    let large: &'static [u8] = Box::leak(vec![0; 2 << 20].into_boxed_slice());
    assert_eq!(producer(port).produce(vec![message(large)]).1, Err(KafkaError::Refused(10)));
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[test]
fn batches_have_no_more_than_they_may() {
    let port = but(-1, |_, _| Reply::Close);
    let mut many = producer(port);
    many.options.batch_messages = 2;
    let (sent, result) = many.produce(vec![message(b"a"); 5]);
    let sizes: Vec<_> = sent.batches.iter().map(|batch| batch.0).collect();
    assert_eq!((result, sizes), (Ok(()), vec![2, 2, 1]));
    let mut long = producer(port);
    long.options.batch_bytes = 100;
    let sizes: Vec<_> = long.produce(vec![message(&[0; 40]); 3]).0.batches.iter().map(|batch| batch.0).collect();
    assert_eq!(sizes, [1, 1, 1]);
}

/// What a broker says, by its port and how often it was asked.
type Answer = fn(u16, usize) -> Reply;

/// What hostile brokers say instead of an answer.
fn hostile() -> Vec<(&'static str, Answer)> {
    vec![
        ("an answer of 2 GiB", |_, _| Reply::Raw(vec![0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1])),
        ("a negative length", |_, _| Reply::Raw(vec![0xFF; 8])),
        ("garbage", |_, _| Reply::Raw(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())),
        ("silence", |_, _| Reply::Silence),
        ("the end", |_, _| Reply::Close),
        ("half a length", |_, _| Reply::Raw(vec![0, 0])),
        ("the number of another request", |_, _| Reply::Raw(vec![0, 0, 0, 8, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0])),
        ("an empty answer", |_, _| Reply::Body(Vec::new())),
        ("an answer that is cut off", |port, _| Reply::Body(metadata(port, 3)[..40].to_vec())),
        ("endless lists", |_, _| Reply::Body([&[0; 4][..], &[0x7F, 0xFF, 0xFF, 0xFF], &[0; 100]].concat())),
        ("more than one answer", |port, _| {
            let body = metadata(port, 1);
            let mut out = (body.len() as u32 + 4).to_be_bytes().to_vec();
            out.extend([0, 0, 0, 1]);
            out.extend(&body);
            Reply::Raw([out, vec![0; 100]].concat())
        }),
        ("all bytes 0xFF", |_, _| Reply::Body(vec![0xFF; 1_000])),
        ("texts that end nowhere", |_, _| {
            Reply::Body([&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1][..], &[0x7F; 50]].concat())
        }),
    ]
}

#[test]
fn no_broker_makes_a_client_panic_or_wait_for_ever() {
    for (name, reply) in hostile() {
        for kind in [METADATA, PRODUCE] {
            let (_, result) = producer(but(kind, reply)).produce(vec![message(b"a")]);
            assert!(result.is_err(), "{name} to {kind}");
        }
        for kind in [METADATA, LIST_OFFSETS, FETCH] {
            let mut consumer = consumer(but(kind, reply));
            // A fetch is waited for a little longer than the messages.
            let result = consumed(&mut consumer, 200);
            assert!(matches!(result, Ok(None) | Err(_)), "{name} to {kind}: {result:?}");
        }
    }
}

#[test]
fn endless_metadata_is_not_kept() {
    let many = metadata(1, 200_000);
    let port = but(METADATA, move |_, _| Reply::Body(many.clone()));
    let result = producer(port).produce(vec![message(b"a")]).1;
    assert!(matches!(result, Err(KafkaError::TooLarge(_))), "{result:?}");
    // What one may hold ends earlier.
    let many = metadata(1, 50_000);
    let port = but(METADATA, move |_, _| Reply::Body(many.clone()));
    let mut small = producer(port);
    small.cluster.world.held_limit = 1 << 20;
    assert!(matches!(small.produce(vec![message(b"a")]).1, Err(KafkaError::TooLarge(_))));
}

#[test]
fn old_records_again_and_again_are_an_error() {
    let port = but(FETCH, |_, _| Reply::Body(fetched(0, &batch(Codec::None, &[b"one"]))));
    let mut consumer = consumer(port);
    assert_eq!(consumed(&mut consumer, 1_000), Ok(Some(Bytes::from_static(b"one"))));
    assert!(matches!(consumed(&mut consumer, 100), Ok(None) | Err(KafkaError::Timeout)));
    let problem = consumer.last_problem().map(|problem| problem.to_string()).unwrap_or_default();
    assert!(problem.contains("older than what was asked for"), "{problem}");
}

#[test]
fn offsets_that_are_gone_are_looked_up_again() {
    let port = but(FETCH, |_, count| {
        Reply::Body(if count == 1 { fetched(1, &[]) } else { fetched(0, &batch(Codec::None, &[b"one"])) })
    });
    let mut consumer = consumer(port);
    assert_eq!(consumed(&mut consumer, 5_000), Ok(Some(Bytes::from_static(b"one"))));
    assert_eq!(consumer.progress().errors, 1);
}

#[test]
fn what_could_not_be_read_is_not_passed_by() {
    let mut large = batch(Codec::Gzip, &[&[0; 400_000]]);
    // The offset of its first message.
    large[7] = 1;
    let both = [batch(Codec::None, &[b"one"]), large].concat();
    let port = but(FETCH, move |_, _| Reply::Body(fetched(0, &both)));
    let mut consumer = consumer(port);
    assert_eq!(consumed(&mut consumer, 5_000), Ok(Some(Bytes::from_static(b"one"))));
    consumer.cluster.world.held_limit = 100_000;
    for _ in 0..2 {
        let result = consumed(&mut consumer, 5_000);
        assert!(matches!(result, Err(KafkaError::TooLarge(_))), "{result:?}");
    }
    consumer.cluster.world.held_limit = 10_000_000;
    assert_eq!(consumed(&mut consumer, 5_000).map(|value| value.map(|value| value.len())), Ok(Some(400_000)));
}

#[test]
fn whoever_no_longer_waits_is_heard() {
    let port = but(-1, |_, _| Reply::Close);
    let mut left = producer(port);
    left.cluster.world.pauses_left = 3;
    assert_eq!(left.produce(vec![message(b"a")]).1, Err(KafkaError::Cancelled));
    let mut left = consumer(port);
    left.cluster.world.pauses_left = 2;
    assert_eq!(consumed(&mut left, 5_000), Err(KafkaError::Cancelled));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn whatever_brokers_say_clients_come_to_an_end(kind in 0..5_u8, bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        crate::fuzz(&[&[kind], bytes.as_slice()].concat());
    }

    /// The first answers are as they should be: what comes behind them is read as well.
    #[test]
    fn whatever_brokers_say_later_clients_come_to_an_end(kind in 2..5_u8, bytes in proptest::collection::vec(0..9_u8, 0..300)) {
        let answer = metadata(1, 1);
        let head = [&[kind, answer.len() as u8], answer.as_slice()].concat();
        crate::fuzz(&[head, bytes].concat());
    }
}

#[test]
fn without_brokers_there_is_a_reason() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = nobody.expect("there is a port").port();
    assert!(matches!(producer(port).produce(vec![message(b"a")]).1, Err(KafkaError::Broken(_))));
    let mut none = Producer::new(Cluster::new(TestWorld::default(), Settings::default()), producer(port).options);
    assert!(matches!(none.produce(vec![message(b"a")]).1, Err(KafkaError::Invalid(_))));
}
