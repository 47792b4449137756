//! As much DER as certificates and staples need: one element at a time.

/// Tags, as they stand in certificates.
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const OID: u8 = 0x06;
pub(super) const ENUMERATED: u8 = 0x0a;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;

/// The tag of a field with a number, whose content is constructed.
pub(super) const fn context(number: u8) -> u8 {
    0xa0 | number
}

/// One element.
pub(super) fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    if length < 0x80 {
        out.push(length as u8);
    } else {
        let bytes = length.to_be_bytes();
        let start = bytes.iter().position(|&byte| byte != 0).unwrap_or(0);
        out.push(0x80 | (bytes.len() - start) as u8);
        out.extend_from_slice(&bytes[start..]);
    }
    out.extend_from_slice(content);
    out
}

/// An element of elements.
pub(super) fn list(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    element(tag, &parts.concat())
}

/// One element that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) tag: u8,
    pub(super) content: &'a [u8],
    /// Tag, length and content.
    pub(super) whole: &'a [u8],
}

/// Reads elements one after the other; ends where the bytes make no sense.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let digits = usize::from(first & 0x7f);
            if digits > 4 || digits > rest.len() {
                return None;
            }
            let (digits, rest) = rest.split_at(digits);
            (digits.iter().fold(0, |length, &digit| length << 8 | usize::from(digit)), rest)
        };
        let content = rest.get(..length)?;
        let used = self.0.len() - rest.len() + length;
        let (whole, after) = self.0.split_at(used);
        self.0 = after;
        Some(Element { tag, content, whole })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn elements_read_back(content in proptest::collection::vec(any::<u8>(), 0..400), tail in any::<u8>()) {
            let mut bytes = element(OCTETS, &content);
            let length = bytes.len();
            bytes.push(tail);
            let mut read = Elements(&bytes);
            let first = read.next().unwrap();
            prop_assert_eq!((first.tag, first.content, first.whole), (OCTETS, content.as_slice(), &bytes[..length]));
            prop_assert!(read.next().is_none());
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(Elements(&bytes).count() <= bytes.len());
        }
    }
}
