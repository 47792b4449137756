//! Response bodies that are produced as the client takes them, so that a body of a gigabyte costs no more memory than
//! one of a kilobyte.

/// Bytes produced before the socket is tried again.
pub(crate) const ROUND_BYTES: usize = 64 * 1024;

/// A body in the making.
#[derive(Debug)]
pub(crate) struct Source {
    kind: Kind,
    remaining: u64,
    /// Whether each piece is framed as a chunk.
    chunked: bool,
}

#[derive(Debug)]
enum Kind {
    /// Pseudo-random bytes in pieces of a size.
    Random { state: u64, piece_bytes: usize },
    /// These bytes one by one, at intervals.
    Wire { data: Vec<u8>, at: usize, interval_ns: u64, next_ns: u64 },
    /// One letter, as fast as it can be copied.
    Fixed,
    /// A few bytes at a time, at intervals.
    Drip { interval_ns: u64, next_ns: u64, piece_bytes: usize },
    /// Texts one by one, at intervals.
    Texts { texts: Texts, interval_ns: u64, next_ns: u64 },
}

/// Texts that differ in their number: server-sent events, or lines of JSON.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) is_events: bool,
    /// The `event` field.
    pub(crate) name: String,
    /// Letters in each.
    pub(crate) bytes: usize,
    /// A comment comes before each.
    pub(crate) has_comments: bool,
    /// The data of one more event at the end.
    pub(crate) last: String,
    /// The number of the next one.
    pub(crate) at: u64,
}

impl Texts {
    fn write(&mut self, is_last: bool, out: &mut Vec<u8>) {
        let number = self.at;
        self.at += 1;
        let letters = "x".repeat(self.bytes);
        let text = if !self.is_events {
            format!("{{\"index\":{number},\"text\":\"{letters}\"}}\n")
        } else if is_last && !self.last.is_empty() {
            format!("data: {}\n\n", self.last)
        } else {
            let comment = if self.has_comments { ": still here\n\n" } else { "" };
            let name = if self.name.is_empty() { String::new() } else { format!("event: {}\n", self.name) };
            format!("{comment}{name}id: {number}\ndata: {number} {letters}\n\n")
        };
        out.extend_from_slice(text.as_bytes());
    }
}

/// What a source can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// There is more at once.
    More,
    /// There is more at this monotonic time.
    At(u64),
    /// That was all.
    Done,
}

impl Source {
    /// `remaining` pseudo-random bytes, the same for the same seed, in pieces
    /// of at most `piece_bytes` (which show when the body is chunked).
    pub(crate) fn random(remaining: u64, seed: u64, piece_bytes: usize) -> Self {
        let kind = Kind::Random { state: seed, piece_bytes: piece_bytes.clamp(1, ROUND_BYTES) };
        Self { kind, remaining, chunked: false }
    }

    /// `remaining` times the letter `x`.
    pub(crate) fn fixed(remaining: u64) -> Self {
        Self { kind: Kind::Fixed, remaining, chunked: false }
    }

    /// `remaining` stars, the first `piece_bytes` of them `start_ns` after the
    /// head, then as many each interval.
    pub(crate) fn drip(remaining: u64, start_ns: u64, interval_ns: u64, piece_bytes: usize) -> Self {
        let kind = Kind::Drip { interval_ns, next_ns: start_ns, piece_bytes: piece_bytes.clamp(1, ROUND_BYTES) };
        Self { kind, remaining, chunked: false }
    }

    /// Bytes as they are, one each interval.
    pub(crate) fn wire(data: Vec<u8>, interval_ns: u64) -> Self {
        let remaining = data.len() as u64;
        Self { kind: Kind::Wire { data, at: 0, interval_ns, next_ns: interval_ns }, remaining, chunked: false }
    }

    /// `count` texts, the first `start_ns` after the head, then one each interval.
    pub(crate) fn texts(count: u64, texts: Texts, start_ns: u64, interval_ns: u64) -> Self {
        Self { kind: Kind::Texts { texts, interval_ns, next_ns: start_ns }, remaining: count, chunked: false }
    }

    /// Begins: times count from here.
    pub(crate) fn start(&mut self, now_ns: u64) {
        if let Kind::Drip { next_ns, .. } | Kind::Wire { next_ns, .. } | Kind::Texts { next_ns, .. } = &mut self.kind {
            *next_ns = next_ns.saturating_add(now_ns);
        }
    }

    pub(crate) fn set_chunked(&mut self, chunked: bool) {
        self.chunked = chunked;
    }

    /// Appends the next piece or pieces, about [`ROUND_BYTES`] of them.
    pub(crate) fn produce(&mut self, now_ns: u64, out: &mut Vec<u8>) -> Progress {
        let start = out.len();
        let mut text = Vec::new();
        while self.remaining > 0 && out.len() - start < ROUND_BYTES {
            let left = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(ROUND_BYTES);
            let bytes = match &mut self.kind {
                Kind::Random { piece_bytes, .. } => left.min(*piece_bytes),
                Kind::Fixed => left,
                Kind::Wire { interval_ns, next_ns, .. } => {
                    if now_ns < *next_ns {
                        return Progress::At(*next_ns);
                    }
                    *next_ns = next_ns.saturating_add(*interval_ns);
                    1
                }
                Kind::Drip { interval_ns, next_ns, piece_bytes } => {
                    if now_ns < *next_ns {
                        return Progress::At(*next_ns);
                    }
                    *next_ns = next_ns.saturating_add(*interval_ns);
                    left.min(*piece_bytes)
                }
                Kind::Texts { texts, interval_ns, next_ns } => {
                    if now_ns < *next_ns {
                        return Progress::At(*next_ns);
                    }
                    *next_ns = next_ns.saturating_add(*interval_ns);
                    text.clear();
                    texts.write(self.remaining == 1, &mut text);
                    text.len()
                }
            };
            if self.chunked {
                out.extend_from_slice(format!("{bytes:x}\r\n").as_bytes());
            }
            match &mut self.kind {
                Kind::Random { state, .. } => random_bytes(state, bytes, out),
                Kind::Wire { data, at, .. } => {
                    out.extend(data.get(*at));
                    *at += 1;
                }
                Kind::Fixed => out.resize(out.len() + bytes, b'x'),
                Kind::Drip { .. } => out.resize(out.len() + bytes, b'*'),
                Kind::Texts { .. } => out.extend_from_slice(&text),
            }
            if self.chunked {
                out.extend_from_slice(b"\r\n");
            }
            // Texts are counted, not their bytes.
            self.remaining -= if matches!(self.kind, Kind::Texts { .. }) { 1 } else { bytes as u64 };
        }
        if self.remaining > 0 {
            return Progress::More;
        }
        if self.chunked {
            out.extend_from_slice(b"0\r\n\r\n");
        }
        Progress::Done
    }
}

/// SplitMix64: each state gives eight bytes that look random.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

pub(crate) fn random_bytes(state: &mut u64, bytes: usize, out: &mut Vec<u8>) {
    out.reserve(bytes);
    for _ in 0..bytes / 8 {
        out.extend_from_slice(&split_mix(state).to_le_bytes());
    }
    let rest = bytes % 8;
    if rest > 0 {
        out.extend_from_slice(&split_mix(state).to_le_bytes()[..rest]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut source: Source) -> Vec<u8> {
        let mut out = Vec::new();
        while source.produce(u64::MAX, &mut out) == Progress::More {}
        out
    }

    #[test]
    fn sizes_and_seeds() {
        for bytes in [0, 1, 7, 8, 65_536, 200_001] {
            assert_eq!(all(Source::random(bytes, 5, 65_536)).len() as u64, bytes);
            assert_eq!(all(Source::fixed(bytes)).len() as u64, bytes);
        }
        assert_eq!(all(Source::random(100, 5, 100)), all(Source::random(100, 5, 100)));
        assert_ne!(all(Source::random(100, 5, 100)), all(Source::random(100, 6, 100)));
    }

    #[test]
    fn chunks() {
        let mut source = Source::drip(2, 0, 0, 1);
        source.set_chunked(true);
        assert_eq!(all(source), b"1\r\n*\r\n1\r\n*\r\n0\r\n\r\n");
        let mut empty = Source::fixed(0);
        empty.set_chunked(true);
        assert_eq!(all(empty), b"0\r\n\r\n");
    }

    #[test]
    fn texts() {
        let texts = |is_events, last: &str| Texts {
            is_events,
            name: String::new(),
            bytes: 2,
            has_comments: false,
            last: last.to_owned(),
            at: 0,
        };
        let shown = |source| String::from_utf8(all(source)).unwrap();
        assert_eq!(shown(Source::texts(1, texts(true, ""), 5, 5)), "id: 0\ndata: 0 xx\n\n");
        assert_eq!(shown(Source::texts(2, texts(true, "end"), 5, 5)), "id: 0\ndata: 0 xx\n\ndata: end\n\n");
        let mut lines = Source::texts(2, texts(false, ""), 0, 10);
        lines.set_chunked(true);
        let mut out = Vec::new();
        assert_eq!(lines.produce(0, &mut out), Progress::At(10));
        assert_eq!(out, b"18\r\n{\"index\":0,\"text\":\"xx\"}\n\r\n");
    }

    #[test]
    fn drips_wait() {
        let mut source = Source::drip(2, 60, 50, 1);
        source.start(40);
        let mut out = Vec::new();
        assert_eq!(source.produce(99, &mut out), Progress::At(100));
        assert_eq!(source.produce(100, &mut out), Progress::At(150));
        assert_eq!(source.produce(151, &mut out), Progress::Done);
        assert_eq!(out, b"**");
    }
}
