//! How the members of a group share partitions out.

use std::{collections::BTreeMap, rc::Rc};

use bytes::Bytes;

use crate::{
    KafkaError,
    wire::{Put, Reader},
};

/// A way to do it, by the name that members agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Each member has neighbouring partitions of each topic.
    Range,
    /// All partitions, one after the other.
    RoundRobin,
    /// The same, under the name of a strategy that looks at racks: here no member has one.
    RackAffinity,
}

impl Strategy {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::RoundRobin => "roundrobin",
            Self::RackAffinity => "rack-affinity",
        }
    }
}

/// Partitions by topic.
pub(super) type Share = BTreeMap<String, Vec<i32>>;

/// What each member gets. Members come with the topics they want.
pub(super) fn share_out(
    strategy: Strategy,
    members: &[(String, Vec<String>)],
    partitions: &BTreeMap<String, Vec<i32>>,
) -> Vec<(String, Share)> {
    let mut shares: Vec<_> = members.iter().map(|(id, _)| (id.clone(), Share::new())).collect();
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|&index| &members[index].0);
    let mut turn = 0;
    for (topic, partitions) in partitions {
        let wanting: Vec<_> = order.iter().copied().filter(|&index| members[index].1.contains(topic)).collect();
        if wanting.is_empty() {
            continue;
        }
        for (at, &partition) in partitions.iter().enumerate() {
            let member = match strategy {
                Strategy::Range => wanting[member_of(at, partitions.len(), wanting.len())],
                Strategy::RoundRobin | Strategy::RackAffinity => {
                    turn += 1;
                    wanting[(turn - 1) % wanting.len()]
                }
            };
            shares[member].1.entry(topic.clone()).or_default().push(partition);
        }
    }
    shares
}

/// The member that has a partition, if the first ones have one more where it does not come out even.
fn member_of(at: usize, partitions: usize, members: usize) -> usize {
    let (each, more) = (partitions / members, partitions % members);
    let with_more = more * (each + 1);
    if at < with_more { at / (each + 1) } else { more + (at - with_more) / each.max(1) }
}

/// A share as the coordinator hands it on.
pub(super) fn write(share: &Share) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_i16(0);
    out.put_count(share.len());
    for (topic, partitions) in share {
        out.put_text(topic);
        out.put_count(partitions.len());
        partitions.iter().for_each(|partition| out.put_i32(*partition));
    }
    out.put_i32(-1);
    out
}

/// Reads one's own; who is given nothing may be sent nothing.
pub(super) fn read(bytes: Bytes) -> Result<Vec<(Rc<str>, i32)>, KafkaError> {
    let mut reader = Reader::new(bytes);
    let mut places = Vec::new();
    if reader.is_empty() {
        return Ok(places);
    }
    reader.i16()?;
    for _ in 0..reader.count(2 + 4)? {
        let topic: Rc<str> = reader.text()?.into();
        for _ in 0..reader.count(4)? {
            places.push((Rc::clone(&topic), reader.i32()?));
        }
        if places.len() > PLACES_MAX {
            return Err(KafkaError::TooLarge(format!("the group assigns more than {PLACES_MAX} partitions")));
        }
    }
    Ok(places)
}

/// Partitions that one member can read.
const PLACES_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_shared_out() {
        let check = |strategy, wants: &[(&str, &str)], expect: &str| {
            let members: Vec<_> = wants
                .iter()
                .map(|(id, topics)| ((*id).to_owned(), topics.split(' ').map(ToOwned::to_owned).collect()))
                .collect();
            let partitions = BTreeMap::from([("t".to_owned(), vec![0, 1, 2, 3, 4]), ("u".to_owned(), vec![0, 1])]);
            let shares = share_out(strategy, &members, &partitions);
            let shown: Vec<_> = shares.iter().map(|(id, share)| format!("{id}{share:?}").replace('"', "")).collect();
            assert_eq!(shown.join(" "), expect);
        };
        check(Strategy::Range, &[("a", "t u")], "a{t: [0, 1, 2, 3, 4], u: [0, 1]}");
        check(Strategy::Range, &[("b", "t"), ("a", "t u")], "b{t: [3, 4]} a{t: [0, 1, 2], u: [0, 1]}");
        check(Strategy::RoundRobin, &[("a", "t"), ("b", "t")], "a{t: [0, 2, 4]} b{t: [1, 3]}");
        check(Strategy::Range, &[("a", "u"), ("b", "u"), ("c", "u")], "a{u: [0]} b{u: [1]} c{}");
        check(Strategy::RackAffinity, &[("a", "t u"), ("b", "t u")], "a{t: [0, 2, 4], u: [1]} b{t: [1, 3], u: [0]}");
    }

    #[test]
    fn shares_come_back() {
        let share = Share::from([("t".to_owned(), vec![0, 2]), ("u".to_owned(), vec![1])]);
        let places = read(write(&share).into()).expect("it can be read");
        let shown: Vec<_> = places.iter().map(|(topic, partition)| format!("{topic}{partition}")).collect();
        assert_eq!(shown, ["t0", "t2", "u1"]);
        assert_eq!(read(Bytes::new()), Ok(Vec::new()));
        assert!(read(Bytes::from_static(&[0, 0, 0x7F, 0xFF, 0xFF, 0xFF])).is_err());
    }
}
