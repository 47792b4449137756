//! `new Reader()`, alias `Consumer`.

use onrush_fiber::Clock;
use onrush_kafka::{Consumer, ConsumerOptions, GroupOptions, KafkaError, Place, Start, Strategy};

use super::{
    config::{CLIENT_ID, Options},
    held::{Held, thrown},
    message,
    sample::{self, ReaderSettings},
    world::VuWorld,
};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::{
        Vu,
        context::{pause, vu},
    },
};

/// A reader as scripts see it.
struct Reader {
    consumer: Held<Consumer<VuWorld>>,
    settings: ReaderSettings,
}

impl HostObject for Reader {
    const NAME: &'static str = "Reader";
}

pub(super) fn prototype(ctx: Ctx) -> Val {
    HostClass::<Reader>::prototype(ctx)
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "consume", 1, consume)?;
    prototype.method(ctx, "seek", 2, |ctx, this, args| {
        let (partition, offset) = (args.at(0).to_number(ctx)? as i32, args.at(1).to_number(ctx)? as i64);
        let sought = HostClass::<Reader>::expect(this)?.consumer.with(|consumer| {
            consumer.ready()?;
            consumer.seek(partition, offset)
        })?;
        sought.map_err(|error| thrown("Unable to seek", &error))?;
        Ok(Val::undefined())
    })?;
    prototype.method(ctx, "position", 1, |ctx, this, args| {
        let partition = args.at(0).to_number(ctx)? as i32;
        let position = HostClass::<Reader>::expect(this)?.consumer.with(|consumer| {
            consumer.ready()?;
            consumer.position(partition)
        })?;
        position.map(|offset| Val::number(offset as f64)).map_err(|error| thrown("Unable to get the position", &error))
    })?;
    prototype.method(ctx, "commitOffsets", 0, |_, this, _| {
        let committed = HostClass::<Reader>::expect(this)?.consumer.with(|consumer| consumer.commit(true))?;
        committed.map_err(|error| thrown("Unable to commit offsets", &error))?;
        Ok(Val::undefined())
    })?;
    prototype.method(ctx, "stats", 0, |ctx, this, _| {
        let assignments = HostClass::<Reader>::expect(this)?.consumer.with(|consumer| consumer.assignments())?;
        let stats = ctx.object()?;
        stats.define(ctx, "assignments", Val::number(assignments as f64))?;
        Ok(stats)
    })?;
    prototype.method(ctx, "close", 0, |_, this, _| {
        let mut closed = Ok(());
        HostClass::<Reader>::expect(this)?.consumer.close(|consumer| closed = consumer.close());
        match closed {
            Err(KafkaError::Cancelled) => Err(Throw::Interrupted),
            _ => Ok(Val::undefined()),
        }
    })?;
    HostClass::<Reader>::set_prototype(ctx, prototype);
    Ok(())
}

/// `new Reader({brokers, topic, …})`: nothing is connected before the first message is wanted.
pub(super) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let options = Options::new(ctx, "reader", args.at(0))?;
    let (topic, group) = (options.text("topic")?, group_id(&options)?);
    let topics = options.texts("groupTopics")?;
    let first = options.choice("startOffset", Start::First, &STARTS)?;
    let offset = options.number("offset", -1, -2, i64::MAX)?;
    let partition = options.number("partition", 0, i64::from(i32::MIN), i64::from(i32::MAX))? as i32;
    let (place, start, shown) = if group.is_empty() {
        if topic.is_empty() {
            return Err(Throw::error("the reader has no topic: set topic, or groupID and groupTopics"));
        }
        if partition < 0 {
            return Err(Throw::error("invalid option partition of the reader: it is negative"));
        }
        let start = if offset >= 0 && options.get("offset")?.is_set() { Start::At(offset) } else { first };
        let shown = (topic.clone(), partition.to_string());
        (Place::Partition { topic, partition }, start, shown)
    } else {
        let topics = if topics.is_empty() { vec![topic] } else { topics };
        if topics.iter().any(String::is_empty) {
            return Err(Throw::error("the reader has no topic: set topic or groupTopics"));
        }
        let shown = (topics.join(","), String::new());
        (Place::Group(group_options(&options, group, topics)?), first, shown)
    };
    let consumer = ConsumerOptions {
        place,
        start,
        min_bytes: options.number("minBytes", 1, 1, i64::from(i32::MAX))? as i32,
        max_bytes: options.number("maxBytes", MAX_BYTES, 1, BYTES_MAX)? as i32,
        max_wait_ns: options.time_ns("maxWait", WAIT_NS)?,
        is_committed_only: options.choice("isolationLevel", false, &ISOLATION)?,
        attempts: options.number("maxAttempts", 3, 1, 1_000)? as u32,
        backoff_min_ns: options.time_ns("readBackoffMin", 100_000_000)?,
        backoff_max_ns: options.time_ns("readBackoffMax", 1_000_000_000)?,
    };
    let settings = ReaderSettings {
        topic: shown.0,
        partition: shown.1,
        min_bytes: consumer.min_bytes,
        max_bytes: consumer.max_bytes,
        max_wait_ns: consumer.max_wait_ns,
        queue_capacity: options.number("queueCapacity", 100, 1, i64::from(i32::MAX))?,
    };
    let consumer = Held::new("reader", Consumer::new(options.cluster()?, consumer));
    HostClass::create(ctx, Reader { consumer, settings })
}

fn group_id(options: &Options<'_>) -> JsResult<String> {
    let id = options.text("groupId")?;
    if id.is_empty() { options.text("groupID") } else { Ok(id) }
}

fn group_options(options: &Options<'_>, id: String, topics: Vec<String>) -> JsResult<GroupOptions> {
    let mut strategies = Vec::new();
    for name in options.texts("groupBalancers")? {
        let known = STRATEGIES.iter().find(|(known, _)| *known == name);
        let unknown =
            || Throw::error(format!("invalid option groupBalancers of the reader: unknown balancer {name:?}"));
        strategies.push(known.ok_or_else(unknown)?.1);
    }
    if strategies.is_empty() {
        strategies = vec![Strategy::Range, Strategy::RoundRobin];
    }
    let retention_ns = options.time_ns("retentionTime", 0)?;
    Ok(GroupOptions {
        id,
        topics,
        strategies,
        session_ms: options.time_ms("sessionTimeout", 30_000)?,
        rebalance_ms: options.time_ms("rebalanceTimeout", 30_000)?,
        heartbeat_ns: options.time_ns("heartbeatInterval", 3_000_000_000)?.max(HEARTBEAT_LEAST_NS),
        commit_ns: options.time_ns("commitInterval", 0)?,
        retention_ms: if retention_ns == 0 { -1 } else { (retention_ns / 1_000_000) as i64 },
    })
}

/// `consume({limit, expectTimeout, nanoPrecision})`
fn consume(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let reader = HostClass::<Reader>::expect(this)?;
    let options = Options::new(ctx, "call of consume()", args.at(0))?;
    let most = options.number("maxMessages", 0, 0, i64::MAX)?;
    let limit = if most > 0 { most } else { options.number("limit", 1, 1, i64::MAX)? };
    let (accepts_fewer, has_ms) = (options.is("expectTimeout")?, options.is("nanoPrecision")?);
    let messages = ctx.array()?;
    let mut last = None;
    let result = reader.consumer.with(|consumer| {
        let result = take(ctx, consumer, reader.settings.max_wait_ns, limit, has_ms, &messages, &mut last);
        let result = match result {
            Ok(false) | Err(Stop::Late(_)) if accepts_fewer => Ok(true),
            result => result,
        };
        let failed = matches!(result, Ok(false) | Err(Stop::Failed(_) | Stop::Late(_)));
        reader.note(vu(), consumer, last, failed).map_err(Stop::Thrown).and(result)
    })?;
    match result {
        Ok(true) => Ok(messages),
        Ok(false) => {
            Err(thrown(READING, &KafkaError::Invalid("fetching message: context deadline exceeded".to_owned())))
        }
        Err(Stop::Late(why)) => {
            let text = format!("fetching message: context deadline exceeded (before that: {why})");
            Err(thrown(READING, &KafkaError::Invalid(text)))
        }
        Err(Stop::Failed(error)) => Err(thrown(READING, &error)),
        Err(Stop::Thrown(throw)) => Err(throw),
    }
}

/// Why messages end.
enum Stop {
    Failed(KafkaError),
    /// The time is over, and something was wrong before.
    Late(KafkaError),
    Thrown(Throw),
}

/// Takes messages as long as they come; false where the time was over first.
fn take(
    ctx: Ctx,
    consumer: &mut Consumer<VuWorld>,
    wait_ns: u64,
    limit: i64,
    has_ms: bool,
    messages: &Handle,
    last: &mut Option<(i64, i64)>,
) -> Result<bool, Stop> {
    // A reader of k6 connects behind one's back; the time is for messages.
    consumer.ready().map_err(Stop::Failed)?;
    let deadline_ns = Clock::now().0.saturating_add(wait_ns);
    let mut count = 0_u32;
    while i64::from(count) < limit {
        let Some(message) = consumer.next(deadline_ns).map_err(Stop::Failed)? else {
            consumer.commit(false).map_err(Stop::Failed)?;
            return consumer.last_problem().map_or(Ok(false), |problem| Err(Stop::Late(problem)));
        };
        let shown = message::incoming(ctx, &message, has_ms).map_err(Stop::Thrown)?;
        messages.define_index(ctx, count, shown).map_err(Stop::Thrown)?;
        *last = Some((message.offset, message.high_watermark));
        count = count.checked_add(1).ok_or_else(|| Stop::Thrown(Throw::error("too many messages at once")))?;
        pause().map_err(Stop::Thrown)?;
    }
    consumer.last_problem();
    consumer.commit(false).map_err(Stop::Failed)?;
    Ok(true)
}

impl Reader {
    fn note(&self, vu: &Vu, consumer: &mut Consumer<VuWorld>, last: Option<(i64, i64)>, failed: bool) -> JsResult<()> {
        let read = sample::Read {
            progress: consumer.progress(),
            dials: std::mem::take(&mut consumer.cluster.dials),
            queued: consumer.queued(),
            last,
            failed,
        };
        sample::read(vu, &self.settings, CLIENT_ID, &read)
    }
}

const READING: &str = "Unable to read messages";
const STARTS: [(&str, Start); 4] = [
    ("start_offsets_first_offset", Start::First),
    ("start_offsets_last_offset", Start::Last),
    // Their names in older versions of the extension.
    ("start_offset_first_offset", Start::First),
    ("start_offset_last_offset", Start::Last),
];
const ISOLATION: [(&str, bool); 2] =
    [("isolation_level_read_uncommitted", false), ("isolation_level_read_committed", true)];
const STRATEGIES: [(&str, Strategy); 3] = [
    ("group_balancer_range", Strategy::Range),
    ("group_balancer_round_robin", Strategy::RoundRobin),
    ("group_balancer_rack_affinity", Strategy::RackAffinity),
];
// As the Go client that the extension is built on.
const MAX_BYTES: i64 = 1_000_000;
const WAIT_NS: u64 = 10_000_000_000;
/// Half of what an answer may have.
const BYTES_MAX: i64 = 50 << 20;
/// A heartbeat a millisecond would be an attack.
const HEARTBEAT_LEAST_NS: u64 = 100_000_000;
