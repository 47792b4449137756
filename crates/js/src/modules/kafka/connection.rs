//! `new Connection()`, alias `AdminClient`: topics.

use onrush_kafka::{
    Cluster, KafkaError, PartitionInfo,
    admin::{self, NewTopic},
};

use super::{
    config::Options,
    held::{Held, thrown},
    world::VuWorld,
};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::context::pause,
};

/// A connection as scripts see it.
struct Connection {
    cluster: Held<Cluster<VuWorld>>,
    /// Whether topics are listed by their names alone.
    lists_names: bool,
}

impl HostObject for Connection {
    const NAME: &'static str = "Connection";
}

pub(super) fn prototype(ctx: Ctx) -> Val {
    HostClass::<Connection>::prototype(ctx)
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "createTopic", 1, create_topic)?;
    prototype.method(ctx, "deleteTopic", 1, |ctx, this, args| {
        let name = args.at(0).to_text(ctx)?;
        ask(this, "Failed to delete topic", |cluster| admin::delete_topic(cluster, &name))?;
        Ok(Val::undefined())
    })?;
    prototype.method(ctx, "listTopics", 0, list_topics)?;
    prototype.method(ctx, "getMetadata", 1, metadata)?;
    prototype.method(ctx, "initializeConsumerGroupOffsets", 1, move_group)?;
    prototype.method(ctx, "close", 0, |_, this, _| {
        HostClass::<Connection>::expect(this)?.cluster.close(Cluster::close);
        Ok(Val::undefined())
    })?;
    HostClass::<Connection>::set_prototype(ctx, prototype);
    Ok(())
}

/// `new AdminClient({brokers, …})`: nothing is connected before it is asked for something.
pub(super) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    made(ctx, args, false)
}

/// `new Connection({address, …})`
pub(super) fn construct_named(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    made(ctx, args, true)
}

fn made(ctx: Ctx, args: Args<'_>, lists_names: bool) -> JsResult {
    let cluster = Options::new(ctx, "connection", args.at(0))?.cluster()?;
    HostClass::create(ctx, Connection { cluster: Held::new("connection", cluster), lists_names })
}

fn ask<T>(
    this: &Handle,
    what: &str,
    question: impl FnOnce(&mut Cluster<VuWorld>) -> Result<T, KafkaError>,
) -> JsResult<T> {
    let connection = HostClass::<Connection>::expect(this)?;
    connection.cluster.with(question)?.map_err(|error| thrown(what, &error))
}

/// Nothing is held between two calls.
fn release(this: &Handle) -> JsResult<()> {
    ask(this, "Failed", |cluster| onrush_kafka::World::hold(&mut cluster.world, 0))
}

/// `createTopic({topic, numPartitions, replicationFactor, replicaAssignments, configEntries})`
fn create_topic(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let options = Options::new(ctx, "topic", args.at(0))?;
    let or_one = |number: i64| if number <= 0 { 1 } else { number };
    let mut topic = NewTopic {
        name: options.text("topic")?,
        partitions: or_one(options.number("numPartitions", 1, 0, i64::from(i32::MAX))?) as i32,
        replication: or_one(options.number("replicationFactor", 1, 0, i64::from(i16::MAX))?) as i16,
        ..NewTopic::default()
    };
    if topic.name.is_empty() {
        return Err(Throw::error("createTopic() needs the name of a topic"));
    }
    each(ctx, &*options.get("configEntries")?, |entry| {
        let entry = Options::new(ctx, "configuration entry", entry)?;
        topic.config.push((entry.text("configName")?, entry.text("configValue")?));
        Ok(())
    })?;
    each(ctx, &*options.get("replicaAssignments")?, |assignment| {
        let given = Options::new(ctx, "replica assignment", assignment)?;
        let partition = given.number("partition", 0, 0, i64::from(i32::MAX))? as i32;
        let mut brokers = Vec::new();
        each(ctx, &*given.get("replicas")?, |broker| {
            brokers.push(broker.to_number(ctx)? as i32);
            Ok(())
        })?;
        topic.assignments.push((partition, brokers));
        Ok(())
    })?;
    ask(this, "Failed to create topic", |cluster| admin::create_topic(cluster, &topic))?;
    release(this)?;
    Ok(Val::undefined())
}

/// Goes through an array, if there is one.
fn each(ctx: Ctx, list: &Handle, mut body: impl FnMut(&Handle) -> JsResult<()>) -> JsResult<()> {
    if !list.is_array() {
        return Ok(());
    }
    for index in 0..list.length(ctx)?.min(ITEMS_MAX) {
        let item = list.get_index(ctx, index)?;
        body(&item)?;
        pause()?;
    }
    Ok(())
}

/// `listTopics()`: names, or objects for those who made an `AdminClient`.
fn list_topics(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let topics = ask(this, "Failed to list topics", admin::list_topics)?;
    let lists_names = HostClass::<Connection>::expect(this)?.lists_names;
    let list = ctx.array()?;
    for (index, topic) in topics.iter().enumerate() {
        let name = Val::string(ctx, &topic.name)?;
        let shown = if lists_names {
            name
        } else {
            let object = ctx.object()?;
            object.define(ctx, "topic", name)?;
            object.define(ctx, "partitions", Val::number(topic.partitions.len() as f64))?;
            object.define(ctx, "error", problem(ctx, topic.problem.as_ref())?)?;
            object
        };
        list.define_index(ctx, index as u32, shown)?;
        pause()?;
    }
    release(this)?;
    Ok(list)
}

/// `getMetadata(topic)`
fn metadata(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let name = args.at(0).to_text(ctx)?;
    let topic = ask(this, "Failed to get metadata", |cluster| admin::topic(cluster, &name))?;
    let partitions = ctx.array()?;
    for (index, partition) in topic.partitions.iter().enumerate() {
        partitions.define_index(ctx, index as u32, shown_partition(ctx, partition)?)?;
        pause()?;
    }
    let object = ctx.object()?;
    object.define(ctx, "topic", Val::string(ctx, &topic.name)?)?;
    object.define(ctx, "partitions", partitions)?;
    object.define(ctx, "error", problem(ctx, topic.problem.as_ref())?)?;
    release(this)?;
    Ok(object)
}

fn shown_partition(ctx: Ctx, partition: &PartitionInfo) -> JsResult {
    let object = ctx.object()?;
    object.define(ctx, "id", Val::int(partition.id))?;
    object.define(ctx, "leader", Val::int(partition.leader))?;
    for (name, brokers) in [("replicas", &partition.replicas), ("isrs", &partition.in_sync)] {
        let list = ctx.array()?;
        for (index, &broker) in brokers.iter().enumerate() {
            list.define_index(ctx, index as u32, Val::int(broker))?;
        }
        object.define(ctx, name, list)?;
    }
    object.define(ctx, "error", problem(ctx, partition.problem.as_ref())?)?;
    Ok(object)
}

fn problem(ctx: Ctx, problem: Option<&KafkaError>) -> JsResult {
    problem.map_or_else(|| Ok(Val::null()), |problem| Val::string(ctx, &problem.to_string()))
}

/// `initializeConsumerGroupOffsets({groupId, topics})`
fn move_group(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let options = Options::new(ctx, "consumer group", args.at(0))?;
    let (group, topics) = (options.text("groupId")?, options.texts("topics")?);
    if group.is_empty() || topics.is_empty() {
        return Err(Throw::error("initializeConsumerGroupOffsets() needs groupId and topics"));
    }
    let moved = ask(this, "Failed to initialize consumer group offsets", |cluster| {
        admin::move_group_to_end(cluster, &group, &topics)
    })?;
    let list = ctx.array()?;
    for (index, place) in moved.iter().enumerate() {
        let object = ctx.object()?;
        object.define(ctx, "topic", Val::string(ctx, &place.topic)?)?;
        object.define(ctx, "partition", Val::int(place.partition))?;
        object.define(ctx, "offset", Val::number(place.offset as f64))?;
        list.define_index(ctx, index as u32, object)?;
        pause()?;
    }
    release(this)?;
    Ok(list)
}

/// Entries of a topic's configuration, and the like.
const ITEMS_MAX: u32 = 10_000;
