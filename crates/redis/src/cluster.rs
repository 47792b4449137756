//! Clusters: the slot of a key, the servers of a slot, and where a server sends its client.

use crate::Reply;

/// Keys are spread over this many slots.
pub const SLOTS: u16 = 16_384;

/// Ranges and servers of a range kept at most: a server's list is no reason to hold more.
const RANGES_MAX: usize = SLOTS as usize;
const SERVERS_MAX: usize = 256;

/// The slot of a key: of what is between the first braces, if there is something.
#[must_use]
pub fn slot(key: &[u8]) -> u16 {
    let tag = memchr::memchr(b'{', key).and_then(|open| {
        let rest = &key[open + 1..];
        memchr::memchr(b'}', rest).filter(|length| *length > 0).map(|length| &rest[..length])
    });
    crc16(tag.unwrap_or(key)) % SLOTS
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| crc << 8 ^ CRC_TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

const CRC_TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// An error that names another server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirect<'a> {
    /// It has the slot from now on.
    Moved(&'a str),
    /// It has the key; to be asked once, after `ASKING`.
    Ask(&'a str),
}

impl<'a> Redirect<'a> {
    /// Of an error's text, if it is one: `MOVED 3999 127.0.0.1:6381`.
    #[must_use]
    pub fn of(error: &'a str) -> Option<Self> {
        let mut words = error.split(' ');
        let kind = words.next()?;
        words.next()?.parse::<u16>().ok()?;
        let address = words.next()?;
        match kind {
            "MOVED" => Some(Self::Moved(address)),
            "ASK" => Some(Self::Ask(address)),
            _ => None,
        }
    }
}

/// Which servers have which slots: the answer to `CLUSTER SLOTS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shards(Vec<Shard>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Shard {
    first: u16,
    last: u16,
    /// `host:port`, the one that writes before those that follow it.
    servers: Vec<String>,
}

impl Shards {
    /// Reads the answer of `asked`, whose host stands for those that have no name there.
    #[must_use]
    pub fn read(reply: &Reply, asked: &str) -> Option<Self> {
        let Reply::List(ranges) = reply else { return None };
        let mut shards = Vec::new();
        for range in ranges.iter().take(RANGES_MAX) {
            let Reply::List(parts) = range else { return None };
            let [Reply::Integer(first), Reply::Integer(last), servers @ ..] = parts.as_slice() else { return None };
            let servers: Option<Vec<_>> =
                servers.iter().take(SERVERS_MAX).map(|server| address(server, asked)).collect();
            let shard = Shard { first: slot_number(*first)?, last: slot_number(*last)?, servers: servers? };
            if !shard.servers.is_empty() {
                shards.push(shard);
            }
        }
        shards.sort_by_key(|shard| shard.first);
        (!shards.is_empty()).then_some(Self(shards))
    }

    /// One server that has every slot.
    #[must_use]
    pub fn all(address: String) -> Self {
        Self(vec![Shard { first: 0, last: SLOTS - 1, servers: vec![address] }])
    }

    /// The servers of a slot, the one that writes first; none if nobody has it.
    #[must_use]
    pub fn of(&self, slot: u16) -> &[String] {
        let index = self.0.partition_point(|shard| shard.first <= slot);
        match index.checked_sub(1).map(|index| &self.0[index]) {
            Some(shard) if slot <= shard.last => &shard.servers,
            _ => &[],
        }
    }

    /// Those that write, each once for each range.
    pub fn masters(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|shard| shard.servers[0].as_str())
    }
}

fn slot_number(number: i64) -> Option<u16> {
    u16::try_from(number).ok().filter(|slot| *slot < SLOTS)
}

fn address(server: &Reply, asked: &str) -> Option<String> {
    let Reply::List(parts) = server else { return None };
    let [host, Reply::Integer(port), ..] = parts.as_slice() else { return None };
    let port = u16::try_from(*port).ok()?;
    let host = match host {
        Reply::Bytes(host) if !host.is_empty() && host != b"?" => std::str::from_utf8(host).ok()?,
        Reply::Bytes(_) | Reply::Nil => asked,
        _ => return None,
    };
    Some(if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        let check = |key: &str, like: &str| assert_eq!(slot(key.as_bytes()), crc16(like.as_bytes()) % SLOTS, "{key}");
        check("{user1000}.following", "user1000");
        check("foo{}{bar}", "foo{}{bar}");
        check("foo{{bar}}zap", "{bar");
        check("foo{bar}{zap}", "bar");
        check("foo{bar", "foo{bar");
        check("", "");
        // As redis-server says with CLUSTER KEYSLOT.
        assert_eq!((slot(b"foo"), slot(b"bar"), slot(b"hello")), (12182, 5061, 866));
    }

    #[test]
    fn redirects_are_read() {
        assert_eq!(Redirect::of("MOVED 3999 127.0.0.1:6381"), Some(Redirect::Moved("127.0.0.1:6381")));
        assert_eq!(Redirect::of("ASK 1 [::1]:1"), Some(Redirect::Ask("[::1]:1")));
        for other in ["MOVED", "MOVED x y", "MOVED 1", "ASK 99999 h:1", "ERR no", ""] {
            assert_eq!(Redirect::of(other), None, "{other}");
        }
    }

    fn server(host: Reply, port: i64) -> Reply {
        Reply::List(vec![host, Reply::Integer(port), Reply::Bytes(b"id".to_vec())])
    }

    fn range(first: i64, last: i64, servers: Vec<Reply>) -> Reply {
        Reply::List([vec![Reply::Integer(first), Reply::Integer(last)], servers].concat())
    }

    #[test]
    fn shards_are_found_by_slot() {
        let named = |name: &str| Reply::Bytes(name.as_bytes().to_vec());
        let reply = Reply::List(vec![
            range(8192, 16_383, vec![server(named("::1"), 2)]),
            range(0, 4000, vec![server(named("a"), 1), server(Reply::Nil, 3), server(named(""), 4)]),
        ]);
        let shards = Shards::read(&reply, "asked").expect("a good one");
        assert_eq!(shards.of(4000), ["a:1", "asked:3", "asked:4"]);
        assert!(shards.of(4001).is_empty());
        assert_eq!(shards.of(16_383), ["[::1]:2"]);
        assert_eq!(shards.masters().collect::<Vec<_>>(), ["a:1", "[::1]:2"]);
    }

    #[test]
    fn what_is_no_list_of_slots_is_refused() {
        let bad = [
            Reply::Nil,
            Reply::List(vec![]),
            Reply::List(vec![Reply::Nil]),
            Reply::List(vec![range(0, 16_384, vec![server(Reply::Nil, 1)])]),
            Reply::List(vec![range(-1, 5, vec![server(Reply::Nil, 1)])]),
            Reply::List(vec![range(0, 5, vec![server(Reply::Nil, 70_000)])]),
            Reply::List(vec![range(0, 5, vec![server(Reply::Integer(1), 1)])]),
            Reply::List(vec![range(0, 5, vec![])]),
            Reply::List(vec![range(0, 5, vec![Reply::Integer(1)])]),
        ];
        for reply in bad {
            assert_eq!(Shards::read(&reply, "h"), None, "{reply:?}");
        }
    }
}
