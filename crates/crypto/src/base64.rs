//! Base64 as scripts name its variants: both alphabets, with padding or without, in pieces, with Go's offsets of what is
//! wrong.

use std::sync::LazyLock;

use base64::{
    Engine,
    engine::{
        Simd,
        general_purpose::{GeneralPurposeConfig, NO_PAD, PAD},
    },
};

/// A variant of Base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base64 {
    is_url: bool,
    is_padded: bool,
}

impl Base64 {
    /// `+` and `/`, padded.
    pub const STD: Self = Self { is_url: false, is_padded: true };
    /// `+` and `/`, without padding.
    pub const RAW_STD: Self = Self { is_url: false, is_padded: false };
    /// `-` and `_`, padded.
    pub const URL: Self = Self { is_url: true, is_padded: true };
    /// `-` and `_`, without padding.
    pub const RAW_URL: Self = Self { is_url: true, is_padded: false };

    /// The characters that some bytes become; `None` where that is no number.
    #[must_use]
    pub fn encoded_len(self, bytes: usize) -> Option<usize> {
        base64::encoded_len(bytes, self.is_padded)
    }

    /// The most bytes that some characters stand for.
    #[must_use]
    pub const fn decoded_len_max(characters: usize) -> usize {
        characters.div_ceil(4) * 3
    }

    /// Appends the text of some bytes.
    pub fn encode(self, bytes: &[u8], out: &mut Vec<u8>) {
        append(bytes, self.engine(), out);
    }

    /// An encoder of bytes that come in pieces.
    #[must_use]
    pub const fn encoder(self) -> Encoder {
        Encoder { base64: self, carry: [0; 3], carried: 0 }
    }

    /// A decoder of a text, which may hold line breaks anywhere.
    #[must_use]
    pub const fn decoder(self, text: &[u8]) -> Decoder<'_> {
        Decoder { base64: self, text, at: 0 }
    }

    /// The bytes a text stands for.
    ///
    /// # Errors
    ///
    /// The text is not this variant of Base64.
    pub fn decode(self, text: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let mut out = Vec::with_capacity(Self::decoded_len_max(text.len()));
        let mut decoder = self.decoder(text);
        while decoder.step(&mut out)? {}
        Ok(out)
    }

    fn engine(self) -> &'static Simd {
        match (self.is_url, self.is_padded) {
            (false, true) => &ENGINES.std,
            (false, false) => &ENGINES.raw_std,
            (true, true) => &ENGINES.url,
            (true, false) => &ENGINES.raw_url,
        }
    }

    /// The one for whole groups of four characters.
    fn unpadded(self) -> &'static Simd {
        Self { is_padded: false, ..self }.engine()
    }

    const fn value(self, character: u8) -> Option<u8> {
        Some(match (character, self.is_url) {
            (b'A'..=b'Z', _) => character - b'A',
            (b'a'..=b'z', _) => character - b'a' + 26,
            (b'0'..=b'9', _) => character - b'0' + 52,
            (b'+', false) | (b'-', true) => 62,
            (b'/', false) | (b'_', true) => 63,
            _ => return None,
        })
    }
}

/// Which vector instructions there are is found out once.
struct Engines {
    std: Simd,
    raw_std: Simd,
    url: Simd,
    raw_url: Simd,
}

static ENGINES: LazyLock<Engines> = LazyLock::new(|| {
    // Only whole groups are decoded with these: neither padding nor bits beyond the last byte come up.
    let config: [GeneralPurposeConfig; 2] = [PAD, NO_PAD];
    let [padded, raw] = config;
    Engines {
        std: Simd::standard(padded),
        raw_std: Simd::standard(raw),
        url: Simd::url_safe(padded),
        raw_url: Simd::url_safe(raw),
    }
});

fn append(bytes: &[u8], engine: &Simd, out: &mut Vec<u8>) {
    let start = out.len();
    // Four characters for each three bytes that were begun are room for any variant.
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = engine.encode_slice(bytes, &mut out[start..]).expect("there is room");
    out.truncate(start + written);
}

/// Encodes bytes that come in pieces.
#[derive(Debug)]
pub struct Encoder {
    base64: Base64,
    /// Bytes that do not fill a group of three yet.
    carry: [u8; 3],
    carried: usize,
}

impl Encoder {
    /// Appends the characters that the bytes so far are sure to become.
    pub fn update(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while self.carried > 0 && self.carried < 3 {
            let Some((first, rest)) = bytes.split_first() else { return };
            self.carry[self.carried] = *first;
            self.carried += 1;
            bytes = rest;
        }
        if self.carried == 3 {
            append(&self.carry, self.base64.engine(), out);
            self.carried = 0;
        }
        let whole = bytes.len() - bytes.len() % 3;
        append(&bytes[..whole], self.base64.engine(), out);
        self.carried = bytes.len() - whole;
        self.carry[..self.carried].copy_from_slice(&bytes[whole..]);
    }

    /// Appends what is left.
    pub fn finish(self, out: &mut Vec<u8>) {
        append(&self.carry[..self.carried], self.base64.engine(), out);
    }
}

/// Decodes a text in steps of limited length.
#[derive(Debug)]
pub struct Decoder<'a> {
    base64: Base64,
    text: &'a [u8],
    at: usize,
}

/// A text that is not the Base64 it should be, in Go's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal base64 data at input byte {offset}")]
pub struct DecodeError {
    /// Where, counted from 0.
    pub offset: usize,
}

impl Decoder<'_> {
    /// Appends some bytes; false at the end of the text.
    ///
    /// # Errors
    ///
    /// The text is not this variant of Base64.
    pub fn step(&mut self, out: &mut Vec<u8>) -> Result<bool, DecodeError> {
        let end = self.text.len().min(self.at + STEP_CHARACTERS);
        let line = &self.text[self.at..end];
        let line = memchr::memchr2(b'\n', b'\r', line).map_or(line, |length| &line[..length]);
        // The last group of the text may be padded or short.
        let rest = self.text.len() - self.at;
        let whole = line.len().min(rest.saturating_sub(4)) & !3;
        let start = out.len();
        out.resize(start + whole / 4 * 3, 0);
        if self.base64.unpadded().decode_slice(&line[..whole], &mut out[start..]).is_ok() {
            self.at += whole;
        } else {
            // One by one, to where it is wrong.
            out.truncate(start);
            let stop = self.at + whole;
            while self.at < stop {
                if !self.group(out)? {
                    return Ok(false);
                }
            }
        }
        // What the line break or the end divides.
        self.group(out)
    }

    /// Appends the bytes of the next four characters, or of the last ones; false at the end of the text.
    fn group(&mut self, out: &mut Vec<u8>) -> Result<bool, DecodeError> {
        let mut values = [0_u8; 4];
        let mut have = 0;
        let mut is_last = false;
        while have < 4 {
            let Some(&character) = self.text.get(self.at) else {
                if have == 1 || (have > 0 && self.base64.is_padded) {
                    return Err(DecodeError { offset: self.at - have });
                }
                is_last = true;
                break;
            };
            self.at += 1;
            if let Some(value) = self.base64.value(character) {
                values[have] = value;
                have += 1;
            } else if !is_line_break(character) {
                if character != b'=' || !self.base64.is_padded {
                    return Err(DecodeError { offset: self.at - 1 });
                }
                self.padding(have)?;
                is_last = true;
                break;
            }
        }
        let [a, b, c, d] = values;
        let bytes = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d];
        // k6: bits beyond the last byte may be anything.
        out.extend_from_slice(&bytes[..have.saturating_sub(1)]);
        Ok(!is_last)
    }

    /// Reads what may follow the first `=` of a group of which `have` characters were read.
    fn padding(&mut self, have: usize) -> Result<(), DecodeError> {
        if have < 2 {
            return Err(DecodeError { offset: self.at - 1 });
        }
        if have == 2 {
            self.skip_line_breaks();
            match self.text.get(self.at) {
                None => return Err(DecodeError { offset: self.text.len() }),
                Some(b'=') => self.at += 1,
                Some(_) => return Err(DecodeError { offset: self.at - 1 }),
            }
        }
        self.skip_line_breaks();
        if self.at < self.text.len() { Err(DecodeError { offset: self.at }) } else { Ok(()) }
    }

    fn skip_line_breaks(&mut self) {
        while self.text.get(self.at).is_some_and(|character| is_line_break(*character)) {
            self.at += 1;
        }
    }
}

const fn is_line_break(character: u8) -> bool {
    matches!(character, b'\n' | b'\r')
}

/// A step takes well below a millisecond, also where it goes character by character.
const STEP_CHARACTERS: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::any, prop_assert_eq, proptest, sample::select};

    use super::*;

    const ALL: [Base64; 4] = [Base64::STD, Base64::RAW_STD, Base64::URL, Base64::RAW_URL];

    /// Offsets as k6 reports them.
    #[test]
    fn what_is_wrong_and_where() {
        let check = |base64: Base64, text: &str, expect: Result<&[u8], usize>| {
            let found = base64.decode(text.as_bytes()).map_err(|error| error.offset);
            assert_eq!(found.as_deref(), expect.as_ref().map(|bytes| *bytes), "{base64:?} {text:?}");
        };
        check(Base64::STD, "", Ok(b""));
        check(Base64::STD, "YQ==", Ok(b"a"));
        check(Base64::STD, "YR==", Ok(b"a"));
        check(Base64::STD, "Y\nQ\r=\n=\n", Ok(b"a"));
        check(Base64::STD, "YQ", Err(0));
        check(Base64::STD, "Y", Err(0));
        check(Base64::STD, "YQ=", Err(3));
        check(Base64::STD, "YQ=x", Err(2));
        check(Base64::STD, "Y*Q=", Err(1));
        check(Base64::STD, "YQ==x", Err(4));
        check(Base64::STD, "YQ==YQ==", Err(4));
        check(Base64::STD, "=", Err(0));
        check(Base64::STD, "Y=", Err(1));
        check(Base64::STD, "YWJj=", Err(4));
        check(Base64::STD, "YWJjY=", Err(5));
        check(Base64::STD, "-_", Err(0));
        check(Base64::URL, "+/", Err(0));
        check(Base64::URL, "-_8=", Ok(&[0xfb, 0xff]));
        check(Base64::RAW_STD, "YQ", Ok(b"a"));
        check(Base64::RAW_STD, "YQ==", Err(2));
        check(Base64::RAW_STD, "YWJjZ", Err(4));
        check(Base64::RAW_URL, "-_-_", Ok(&[0xfb, 0xff, 0xbf]));
    }

    #[test]
    fn what_is_wrong_far_inside() {
        for at in [0, 1, 62, 63, 64, 1000, STEP_CHARACTERS - 1, STEP_CHARACTERS, STEP_CHARACTERS + 5] {
            let mut text = vec![b'A'; STEP_CHARACTERS * 2];
            text[at] = b' ';
            assert_eq!(Base64::STD.decode(&text), Err(DecodeError { offset: at }));
            text[at] = b'\n';
            let groups = (text.len() - 1) / 4;
            assert_eq!(Base64::RAW_STD.decode(&text).map(|bytes| bytes.len()), Ok(groups * 3 + 2));
        }
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(
            bytes in vec(any::<u8>(), 0..300),
            pieces in vec(0_usize..40, 0..20),
            breaks in vec((any::<proptest::sample::Index>(), select(vec![b'\n', b'\r'])), 0..5),
            which in 0_usize..4,
        ) {
            let base64 = ALL[which];
            let mut whole = Vec::new();
            base64.encode(&bytes, &mut whole);
            prop_assert_eq!(Some(whole.len()), base64.encoded_len(bytes.len()));

            let (mut encoder, mut rest, mut pieced) = (base64.encoder(), &bytes[..], Vec::new());
            for piece in pieces {
                let (now, later) = rest.split_at(piece.min(rest.len()));
                encoder.update(now, &mut pieced);
                rest = later;
            }
            encoder.update(rest, &mut pieced);
            encoder.finish(&mut pieced);
            prop_assert_eq!(&pieced, &whole);

            for (at, line_break) in breaks {
                whole.insert(at.index(whole.len() + 1), line_break);
            }
            prop_assert_eq!(base64.decode(&whole), Ok(bytes));
        }

        /// The fast way and the slow one agree, also on what is wrong.
        #[test]
        fn any_text(text in "[AB+/=_\\- \n\r]{0,40}", tail in "[A-D=]{0,90}", which in 0_usize..4) {
            let (base64, text) = (ALL[which], format!("{text}{tail}"));
            let (mut slow, mut bytes) = (base64.decoder(text.as_bytes()), Vec::new());
            let slow = loop {
                match slow.group(&mut bytes) {
                    Ok(true) => {}
                    Ok(false) => break Ok(bytes),
                    Err(error) => break Err(error),
                }
            };
            prop_assert_eq!(base64.decode(text.as_bytes()), slow);
        }
    }
}
