//! Which partition a message goes to.

use crate::crc::{Crc, IEEE};

/// A way to choose partitions. Hashes are those of other clients, so that equal keys meet in one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Balancer {
    /// One after the other.
    RoundRobin,
    /// The one that has been given the fewest bytes.
    #[default]
    LeastBytes,
    /// FNV-1a of the key, as Sarama; without a key one after the other.
    Hash,
    /// CRC-32 of the key, as librdkafka; without a key one after the other.
    Crc32,
    /// Murmur 2 of the key, as Kafka's own client for Java; without a key one after the other.
    Murmur2,
}

/// A balancer's memory for a topic.
#[derive(Debug, Default)]
pub struct Balance {
    next: usize,
    bytes: Vec<u64>,
}

impl Balance {
    /// The partition for a message, of `count` partitions, which are not none.
    pub fn partition(&mut self, balancer: Balancer, key: Option<&[u8]>, value_bytes: usize, count: usize) -> i32 {
        let count = count.max(1);
        let index = match (balancer, key) {
            (Balancer::LeastBytes, _) => {
                self.bytes.resize(count, 0);
                let least = (0..count).min_by_key(|&index| self.bytes[index]).unwrap_or(0);
                self.bytes[least] += (key.map_or(0, <[u8]>::len) + value_bytes) as u64;
                least
            }
            (Balancer::Hash, Some(key)) => {
                // Sarama: the hash as a signed number, its remainder without the sign.
                let remainder = i64::from(fnv1a(key).cast_signed()) % count as i64;
                remainder.unsigned_abs() as usize
            }
            (Balancer::Crc32, Some(key)) if !key.is_empty() => {
                let mut crc = Crc::new();
                crc.take(&IEEE, key);
                crc.finish() as usize % count
            }
            (Balancer::Murmur2, Some(key)) => (murmur2(key) & 0x7FFF_FFFF) as usize % count,
            _ => {
                let index = self.next % count;
                self.next = index + 1;
                index
            }
        };
        i32::try_from(index).unwrap_or(0)
    }
}

fn fnv1a(key: &[u8]) -> u32 {
    key.iter().fold(0x811C_9DC5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn murmur2(key: &[u8]) -> u32 {
    const M: u32 = 0x5BD1_E995;
    let mut hash = 0x9747_B28C_u32 ^ key.len() as u32;
    let (words, rest) = key.as_chunks::<4>();
    for word in words {
        let mut mixed = u32::from_le_bytes(*word).wrapping_mul(M);
        mixed ^= mixed >> 24;
        hash = hash.wrapping_mul(M) ^ mixed.wrapping_mul(M);
    }
    if !rest.is_empty() {
        for (index, &byte) in rest.iter().enumerate() {
            hash ^= u32::from(byte) << (8 * index);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> 15
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_other_clients() {
        // Of Kafka's own tests, `UtilsTest.testMurmur2`.
        let check = |key: &str, expect: i32| assert_eq!(murmur2(key.as_bytes()).cast_signed(), expect, "{key}");
        check("21", -973_932_308);
        check("foobar", -790_332_482);
        check("a-little-bit-long-string", -985_981_536);
        check("a-little-bit-longer-string", -1_486_304_829);
        check("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971);
        check("abc", 479_470_107);
        // Of the page of the hash.
        assert_eq!(fnv1a(b"foobar"), 0xBF9C_F968);
    }

    #[test]
    fn partitions_are_spread() {
        let spread = |balancer, keys: [Option<&[u8]>; 4], bytes: [usize; 4]| {
            let mut balance = Balance::default();
            let each = keys.iter().zip(bytes);
            each.map(|(key, bytes)| balance.partition(balancer, *key, bytes, 3)).collect::<Vec<_>>()
        };
        assert_eq!(spread(Balancer::RoundRobin, [Some(b"k"); 4], [1; 4]), [0, 1, 2, 0]);
        assert_eq!(spread(Balancer::LeastBytes, [None; 4], [100, 10, 5, 1]), [0, 1, 2, 2]);
        for balancer in [Balancer::Hash, Balancer::Crc32, Balancer::Murmur2] {
            assert_eq!(spread(balancer, [None; 4], [1; 4]), [0, 1, 2, 0]);
            let same = spread(balancer, [Some(b"key"); 4], [1; 4]);
            assert!(same.iter().all(|partition| *partition == same[0] && (0..3).contains(partition)));
        }
    }
}
