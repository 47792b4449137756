//! `new Writer()`, alias `Producer`.

use onrush_kafka::{Balancer, Codec, KafkaError, Outgoing, Producer, ProducerOptions};

use super::{
    config::{CLIENT_ID, Options},
    held::{Held, thrown},
    message,
    sample::{self, WriterSettings},
    world::VuWorld,
};
use crate::{
    embed::{Args, Ctx, GrowingCharge, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::context::{pause, vu},
};

/// A writer as scripts see it.
struct Writer {
    producer: Held<Producer<VuWorld>>,
    settings: WriterSettings,
    /// A function of the script's that chooses partitions.
    balancer: Option<Val>,
}

impl HostObject for Writer {
    const NAME: &'static str = "Writer";
}

pub(super) fn prototype(ctx: Ctx) -> Val {
    HostClass::<Writer>::prototype(ctx)
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "produce", 1, produce)?;
    // Nothing is left behind by produce().
    prototype.method(ctx, "flush", 0, |_, this, _| HostClass::<Writer>::expect(this).map(|_| Val::undefined()))?;
    prototype.method(ctx, "stats", 0, |ctx, this, _| {
        HostClass::<Writer>::expect(this)?;
        let stats = ctx.object()?;
        stats.define(ctx, "pending", Val::int(0))?;
        Ok(stats)
    })?;
    prototype.method(ctx, "close", 0, |_, this, _| {
        HostClass::<Writer>::expect(this)?.producer.close(|producer| producer.cluster.close());
        Ok(Val::undefined())
    })?;
    HostClass::<Writer>::set_prototype(ctx, prototype);
    Ok(())
}

/// `new Writer({brokers, topic, …})`: nothing is connected before the first message.
pub(super) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let options = Options::new(ctx, "writer", args.at(0))?;
    let topic = options.text("topic")?;
    let balancer = options.get("balancer")?;
    let own = balancer.is_function(ctx);
    let settings = WriterSettings {
        topic: topic.clone(),
        attempts: options.number("maxAttempts", ATTEMPTS, 0, 1_000)? as u32,
        batch_messages: options.number("batchSize", BATCH_MESSAGES, 0, 1_000_000)? as usize,
        batch_timeout_ns: options.time_ns("batchTimeout", BATCH_TIMEOUT_NS)?,
        read_ns: options.time_ns("readTimeout", TIMEOUT_NS)?,
        write_ns: options.time_ns("writeTimeout", TIMEOUT_NS)?,
        acks: options.number("requiredAcks", 0, i64::from(i16::MIN), i64::from(i16::MAX))? as i16,
    };
    if !(-1..=1).contains(&settings.acks) {
        return Err(Throw::error(format!(
            "invalid option requiredAcks of the writer: {} is not -1, 0 or 1",
            settings.acks
        )));
    }
    let or = |number: usize, default: i64| if number == 0 { default as usize } else { number };
    let producer = ProducerOptions {
        topic: Some(topic).filter(|topic| !topic.is_empty()),
        balancer: if own {
            Balancer::RoundRobin
        } else {
            options.choice("balancer", Balancer::LeastBytes, &BALANCERS)?
        },
        attempts: or(settings.attempts as usize, ATTEMPTS) as u32,
        batch_messages: or(settings.batch_messages, BATCH_MESSAGES),
        batch_bytes: or(options.number("batchBytes", BATCH_BYTES, 0, BATCH_BYTES_MAX)? as usize, BATCH_BYTES),
        acks: settings.acks,
        read_ns: settings.read_ns,
        write_ns: settings.write_ns,
        codec: options.choice("compression", Codec::None, &CODECS)?,
        creates_topics: options.is("autoCreateTopic")?,
    };
    let producer = Held::new("writer", Producer::new(options.cluster()?, producer));
    HostClass::create(ctx, Writer { producer, settings, balancer: own.then_some(balancer) })
}

/// `produce({messages})`
fn produce(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let writer = HostClass::<Writer>::expect(this)?;
    let given = if args.at(0).is_object() { args.at(0).get(ctx, "messages")? } else { Val::undefined() };
    let mut charge = GrowingCharge::default();
    let mut messages = message::outgoing(ctx, &given, &mut charge)?;
    if let Some(balancer) = &writer.balancer {
        writer.balance(ctx, balancer, &mut messages)?;
    }
    let (sent, result) = writer.producer.with(|producer| producer.produce(messages))?;
    sample::wrote(vu(), &writer.settings, CLIENT_ID, &sent, result.is_err())?;
    result.map_err(|error| thrown(WRITING, &error))?;
    Ok(Val::undefined())
}

impl Writer {
    /// Has the script's function choose partitions: `(key, partitionCount) => partition`.
    fn balance(&self, ctx: Ctx, balancer: &Handle, messages: &mut [Outgoing]) -> JsResult<()> {
        for message in messages.iter_mut().filter(|message| message.partition.is_none()) {
            let count = self.producer.with(|producer| producer.partition_count(message.topic.as_deref()))?;
            let count = count.map_err(|error| thrown(WRITING, &error))?;
            let key = ctx.uint8_array(message.key.as_deref().unwrap_or_default())?;
            let chosen = ctx.call(balancer, Handle::UNDEFINED, &[&key, &Val::number(count as f64)])?;
            let fits =
                chosen.as_number().filter(|chosen| chosen.fract() == 0.0 && (0.0..count as f64).contains(chosen));
            let Some(partition) = fits else {
                let text = format!("the balancer must give a partition from 0 to {}", count.saturating_sub(1));
                return Err(thrown(WRITING, &KafkaError::Invalid(text)));
            };
            message.partition = Some(partition as i32);
            pause()?;
        }
        Ok(())
    }
}

const WRITING: &str = "Error writing messages";
const BALANCERS: [(&str, Balancer); 5] = [
    ("balancer_roundrobin", Balancer::RoundRobin),
    ("balancer_leastbytes", Balancer::LeastBytes),
    ("balancer_hash", Balancer::Hash),
    ("balancer_crc32", Balancer::Crc32),
    ("balancer_murmur2", Balancer::Murmur2),
];
const CODECS: [(&str, Codec); 4] =
    [("gzip", Codec::Gzip), ("snappy", Codec::Snappy), ("lz4", Codec::Lz4), ("zstd", Codec::Zstd)];
// As the Go client that the extension is built on.
const ATTEMPTS: i64 = 10;
const BATCH_MESSAGES: i64 = 100;
const BATCH_BYTES: i64 = 1 << 20;
const BATCH_TIMEOUT_NS: u64 = 1_000_000_000;
const TIMEOUT_NS: u64 = 10_000_000_000;
/// What fits a request besides others.
const BATCH_BYTES_MAX: i64 = 64 << 20;
