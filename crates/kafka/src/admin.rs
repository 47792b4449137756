//! Topics of a cluster, and the offsets of groups that nobody is in.

use std::rc::Rc;

use crate::{
    Cluster, KafkaError, TopicInfo, World,
    broker::Api,
    code, consumer,
    error::checked,
    wire::{Put, Reader, named},
};

/// A topic to be made.
#[derive(Debug, Clone, Default)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// How many partitions it has.
    pub partitions: i32,
    /// On how many brokers each is.
    pub replication: i16,
    /// The brokers of each partition, instead of the two numbers.
    pub assignments: Vec<(i32, Vec<i32>)>,
    /// What differs from the cluster's configuration.
    pub config: Vec<(String, String)>,
}

/// An offset that a group now has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupOffset {
    /// Where.
    pub topic: Rc<str>,
    /// Where.
    pub partition: i32,
    /// The next message that the group reads.
    pub offset: i64,
}

/// Makes a topic. As in Go's client, one that exists is as good as made.
///
/// # Errors
/// Why the cluster refuses.
pub fn create_topic<W: World>(cluster: &mut Cluster<W>, topic: &NewTopic) -> Result<(), KafkaError> {
    named("topic", &topic.name)?;
    let mut request = Vec::new();
    request.put_count(1);
    request.put_text(&topic.name);
    let is_assigned = !topic.assignments.is_empty();
    request.put_i32(if is_assigned { -1 } else { topic.partitions });
    request.put_i16(if is_assigned { -1 } else { topic.replication });
    request.put_count(topic.assignments.len());
    for (partition, brokers) in &topic.assignments {
        request.put_i32(*partition);
        request.put_count(brokers.len());
        brokers.iter().for_each(|broker| request.put_i32(*broker));
    }
    request.put_count(topic.config.len());
    for (name, value) in &topic.config {
        named("name of a configuration entry", name)?;
        named("value of a configuration entry", value)?;
        request.put_text(name);
        request.put_text(value);
    }
    request.put_i32(ADMIN_MS);
    request.put_bool(false);
    let created = of_controller(cluster, Api::CreateTopics, &request, |answer| {
        answer.skip(4)?;
        first_problem(answer, true)
    });
    cluster.forget(&topic.name);
    match created {
        Err(error) if error.code() == Some(code::TOPIC_ALREADY_EXISTS) => Ok(()),
        created => created,
    }
}

/// Removes a topic.
///
/// # Errors
/// Why the cluster refuses.
pub fn delete_topic<W: World>(cluster: &mut Cluster<W>, name: &str) -> Result<(), KafkaError> {
    named("topic", name)?;
    let mut request = Vec::new();
    request.put_count(1);
    request.put_text(name);
    request.put_i32(ADMIN_MS);
    cluster.forget(name);
    of_controller(cluster, Api::DeleteTopics, &request, |answer| {
        answer.skip(4)?;
        first_problem(answer, false)
    })
}

/// All topics but Kafka's own.
///
/// # Errors
/// Why the cluster does not say.
pub fn list_topics<W: World>(cluster: &mut Cluster<W>) -> Result<Vec<TopicInfo>, KafkaError> {
    let deadline_ns = cluster.short_deadline();
    let mut topics = cluster.all_topics(deadline_ns)?;
    topics.retain(|topic| !topic.is_internal);
    Ok(topics)
}

/// What the cluster says about a topic.
///
/// # Errors
/// Why it does not say.
pub fn topic<W: World>(cluster: &mut Cluster<W>, name: &str) -> Result<TopicInfo, KafkaError> {
    let deadline_ns = cluster.short_deadline();
    cluster.forget(name);
    cluster.topic(name, false, deadline_ns).cloned()
}

/// Moves a group that nobody is in to the present ends of topics.
///
/// # Errors
/// Why the cluster refuses.
pub fn move_group_to_end<W: World>(
    cluster: &mut Cluster<W>,
    group: &str,
    topics: &[String],
) -> Result<Vec<GroupOffset>, KafkaError> {
    named("group", group)?;
    let deadline_ns = cluster.short_deadline();
    let mut places = Vec::new();
    for name in topics {
        let topic = cluster.topic(name, false, deadline_ns)?;
        places.extend(topic.partitions.iter().map(|partition| (Rc::clone(&topic.name), partition.id)));
    }
    let ends = consumer::offsets_at(cluster, &places, consumer::LATEST, false, deadline_ns)?;
    let offsets: Vec<_> = ends
        .into_iter()
        .map(|(topic, partition, offset)| offset.map(|offset| GroupOffset { topic, partition, offset }))
        .collect::<Result<_, _>>()?;
    let coordinator = consumer::coordinator(cluster, group, deadline_ns)?;
    let all = offsets.iter().map(|place| (&place.topic, place.partition, place.offset));
    consumer::commit_offsets(cluster, &coordinator, (group, -1, ""), -1, all, deadline_ns)?;
    Ok(offsets)
}

/// Asks the controller; where it has moved, again.
fn of_controller<W: World>(
    cluster: &mut Cluster<W>,
    api: Api,
    request: &[u8],
    mut read: impl FnMut(&mut Reader) -> Result<(), KafkaError>,
) -> Result<(), KafkaError> {
    let deadline_ns = cluster.short_deadline();
    let mut attempt = 1;
    loop {
        let address = cluster.controller(deadline_ns)?;
        let done = cluster.ask_at(&address, api, request, deadline_ns).and_then(|mut answer| read(&mut answer));
        match done {
            Err(KafkaError::Refused(code)) if code::is_passing(code) && code != code::UNKNOWN_TOPIC_OR_PARTITION => {
                if attempt == ATTEMPTS {
                    return Err(KafkaError::Refused(code));
                }
                cluster.forget_controller();
                cluster.world.sleep(BACKOFF_NS)?;
            }
            done => return done,
        }
        attempt += 1;
    }
}

/// The error of the first topic of an answer.
fn first_problem(answer: &mut Reader, has_text: bool) -> Result<(), KafkaError> {
    for _ in 0..answer.count(4)? {
        answer.text()?;
        let code = answer.i16()?;
        let text = if has_text { answer.optional_text()?.unwrap_or_default() } else { String::new() };
        if code != code::NONE && !text.is_empty() && !code::is_passing(code) {
            return Err(KafkaError::RefusedWith(code, text));
        }
        checked(code)?;
    }
    Ok(())
}

/// How long the cluster may take over a topic, as in Go's client.
const ADMIN_MS: i32 = 10_000;
const ATTEMPTS: u32 = 5;
const BACKOFF_NS: u64 = 200_000_000;
