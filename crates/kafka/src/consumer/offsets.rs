//! Offsets: the first and last of partitions, those that a group knows.

use std::rc::Rc;

use crate::{Address, Cluster, KafkaError, World, broker::Api, cluster::Spot, error::checked, wire::Put};

/// The partitions' places, with the offset or why there is none.
type Found = Vec<(Rc<str>, i32, Result<i64, KafkaError>)>;

/// Asks leaders for offsets.
pub(crate) fn offsets_at<W: World>(
    cluster: &mut Cluster<W>,
    places: &[Spot],
    time: i64,
    is_committed_only: bool,
    deadline_ns: u64,
) -> Result<Found, KafkaError> {
    let mut leaders: Vec<(Address, Vec<&Spot>)> = Vec::new();
    for place in places {
        let leader = cluster.leader(&place.0, place.1, deadline_ns);
        if leader.is_err() {
            cluster.forget(&place.0);
        }
        let leader = leader?;
        match leaders.iter_mut().find(|(known, _)| *known == leader) {
            Some((_, places)) => places.push(place),
            None => leaders.push((leader, vec![place])),
        }
    }
    let mut found = Found::new();
    for (address, places) in leaders {
        let mut request = Vec::new();
        request.put_i32(-1);
        request.put_i8(i8::from(is_committed_only));
        request.put_count(places.len());
        for (topic, partition) in &places {
            request.put_text(topic);
            request.put_count(1);
            request.put_i32(*partition);
            request.put_i64(time);
        }
        let mut answer = cluster.ask_at(&address, Api::ListOffsets, &request, deadline_ns)?;
        answer.skip(4)?;
        for _ in 0..answer.count(2 + 4)? {
            let topic = answer.text()?;
            for _ in 0..answer.count(4 + 2 + 8 + 8)? {
                let (partition, code) = (answer.i32()?, answer.i16()?);
                answer.skip(8)?;
                let offset = answer.i64()?;
                if code != 0 {
                    cluster.forget(&topic);
                }
                if let Some((topic, _)) = places.iter().find(|place| *place.0 == *topic && place.1 == partition) {
                    found.push((Rc::clone(topic), partition, checked(code).map(|()| offset)));
                }
            }
        }
    }
    if found.len() < places.len() {
        return Err(KafkaError::malformed("it does not name a partition whose offset was asked for"));
    }
    Ok(found)
}

/// Tells a coordinator the offsets of a group: its name, generation and member.
pub(crate) fn commit_offsets<'a, W: World>(
    cluster: &mut Cluster<W>,
    coordinator: &Address,
    group: (&str, i32, &str),
    retention_ms: i64,
    offsets: impl ExactSizeIterator<Item = (&'a Rc<str>, i32, i64)>,
    deadline_ns: u64,
) -> Result<(), KafkaError> {
    let (id, generation, member) = group;
    let mut request = Vec::new();
    request.put_text(id);
    request.put_i32(generation);
    request.put_text(member);
    request.put_i64(retention_ms);
    request.put_count(offsets.len());
    for (topic, partition, offset) in offsets {
        request.put_text(topic);
        request.put_count(1);
        request.put_i32(partition);
        request.put_i64(offset);
        request.put_text("");
    }
    let mut answer = cluster.ask_at(coordinator, Api::OffsetCommit, &request, deadline_ns)?;
    for _ in 0..answer.count(2 + 4)? {
        answer.text()?;
        for _ in 0..answer.count(4 + 2)? {
            answer.skip(4)?;
            checked(answer.i16()?)?;
        }
    }
    Ok(())
}

/// The offset behind the last message.
pub(crate) const LATEST: i64 = -1;
/// The offset of the first message.
pub(super) const EARLIEST: i64 = -2;
