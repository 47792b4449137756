//! Makes inputs: an entry of the corpus with a few random changes.

use super::{Corpus, random::Random};

pub(super) struct Mutator<'a> {
    corpus: &'a [Vec<u8>],
    words: &'a [&'static str],
    bytes_max: usize,
}

impl<'a> Mutator<'a> {
    pub(super) fn new(corpus: &'a Corpus, words: &'a [&'static str], bytes_max: usize) -> Self {
        Self { corpus: corpus.inputs(), words, bytes_max }
    }

    /// The next input.
    pub(super) fn input(&self, random: &mut Random) -> Vec<u8> {
        let mut input = self.pick(random).to_vec();
        // Mostly a few changes, so that most of the grammar survives; sometimes many.
        let changes = if random.one_in(8) { 1 + random.below(64) } else { 1 + random.below(5) };
        for _ in 0..changes {
            self.change(&mut input, random);
        }
        input.truncate(self.bytes_max);
        input
    }

    fn pick(&self, random: &mut Random) -> &'a [u8] {
        self.corpus.get(random.below(self.corpus.len())).map_or(&[], Vec::as_slice)
    }

    fn change(&self, input: &mut Vec<u8>, random: &mut Random) {
        let len = input.len();
        let at = random.below(len + 1);
        match random.below(12) {
            0 if len > 0 => input[at.min(len - 1)] ^= 1 << random.below(8),
            1 if len > 0 => input[at.min(len - 1)] = random.next() as u8,
            2 if len > 0 => input[at.min(len - 1)] = SPECIAL[random.below(SPECIAL.len())],
            3 => input.insert(at, SPECIAL[random.below(SPECIAL.len())]),
            4 => drop(input.drain(at..len.min(at + 1 + random.below(16)))),
            5 | 6 if !self.words.is_empty() => insert(input, at, self.words[random.below(self.words.len())].as_bytes()),
            // A piece of this or another entry, in addition or instead.
            7 | 8 => {
                let other = self.pick(random);
                let from = random.below(other.len() + 1);
                let to = from + random.below(other.len() - from + 1);
                if random.one_in(2) {
                    input.truncate(at);
                }
                insert(input, at, &other[from..to]);
            }
            // The same piece again, perhaps many times.
            9 if len > 0 => {
                let from = random.below(len);
                let piece = input[from..len.min(from + 1 + random.below(32))].to_vec();
                let times = if random.one_in(16) { 1 + random.below(200) } else { 1 + random.below(3) };
                let room = self.bytes_max.saturating_sub(len) / piece.len();
                insert(input, at, &piece.repeat(times.min(room)));
            }
            10 => insert(input, at, number(random).as_bytes()),
            11 if len > 0 => replace_number(input, at.min(len - 1), random),
            _ => input.truncate(at),
        }
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

/// Puts another number where the next digits are, looking from `at`.
fn replace_number(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let Some(start) = input[at..].iter().position(u8::is_ascii_digit).map(|offset| at + offset) else { return };
    let digits = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    input.splice(start..start + digits, number(random).into_bytes());
}

/// A number at which parsers go wrong, in decimal or hexadecimal.
fn number(random: &mut Random) -> String {
    let edge = EDGES[random.below(EDGES.len())];
    let number = match random.below(4) {
        0 => edge.wrapping_add(1),
        1 => edge.wrapping_sub(1),
        2 => u128::from(random.next() >> random.below(64)),
        _ => edge,
    };
    match random.below(6) {
        0 => format!("{number:x}"),
        1 => format!("{number:X}"),
        2 => format!("-{number}"),
        3 => format!("{number}.{}", random.below(1000)),
        _ => number.to_string(),
    }
}

const EDGES: &[u128] = &[
    0,
    9,
    10,
    15,
    16,
    99,
    100,
    127,
    255,
    999,
    1 << 16,
    1 << 20,
    (1 << 31) - 1,
    1 << 32,
    1 << 53,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    1 << 64,
    1 << 127,
];

/// Bytes that mean something in the texts we parse.
const SPECIAL: &[u8] = b"\0\t\n\r \"#%&'()*+,-./0:;<=>?@[\\]^_`{|}~\x7f\x80\xc3\xff";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_depends_on_its_seed_only_and_has_a_limit() {
        let corpus = Corpus::new(vec![b"HTTP/1.1 200 OK\r\n".to_vec(), Vec::new()]);
        let mutator = Mutator::new(&corpus, &["chunked"], 100);
        let inputs: Vec<Vec<u8>> = (0..5_000).map(|seed| mutator.input(&mut Random::new(seed))).collect();
        let again: Vec<Vec<u8>> = (0..5_000).map(|seed| mutator.input(&mut Random::new(seed))).collect();
        assert_eq!(inputs, again);
        assert!(inputs.iter().all(|input| input.len() <= 100));
        let distinct: std::collections::BTreeSet<&Vec<u8>> = inputs.iter().collect();
        assert!(distinct.len() > 3_000, "only {} distinct inputs", distinct.len());
    }

    #[test]
    fn an_empty_corpus_still_gives_inputs() {
        let corpus = Corpus::new(Vec::new());
        let mutator = Mutator::new(&corpus, &[], 10);
        for seed in 0..1_000 {
            assert!(mutator.input(&mut Random::new(seed)).len() <= 10);
        }
    }
}
