//! Protobuf's wire format: records of a number, a wire type and a value.

/// The wire types.
pub(super) mod wire_type {
    pub(in super::super) const VARINT: u8 = 0;
    pub(in super::super) const FIXED64: u8 = 1;
    pub(in super::super) const LENGTH: u8 = 2;
    pub(in super::super) const GROUP: u8 = 3;
    pub(in super::super) const GROUP_END: u8 = 4;
    pub(in super::super) const FIXED32: u8 = 5;
}

/// Reads records; every read that finds too little or nonsense gives `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The number and wire type of the next record.
    #[inline]
    pub(super) fn tag(&mut self) -> Option<(u32, u8)> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| (1..=NUMBER_MAX).contains(number))?;
        Some((number, (tag & 7) as u8))
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Option<u64> {
        if let [byte @ 0..=0x7f, rest @ ..] = self.rest {
            self.rest = rest;
            return Some(u64::from(*byte));
        }
        let mut value = 0_u64;
        for (at, byte) in self.rest.iter().take(VARINT_BYTES_MAX).enumerate() {
            // The tenth byte has room for one bit.
            if at == VARINT_BYTES_MAX - 1 && *byte > 1 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Some(value);
            }
        }
        None
    }

    #[inline]
    pub(super) fn fixed32(&mut self) -> Option<[u8; 4]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }

    #[inline]
    pub(super) fn fixed64(&mut self) -> Option<[u8; 8]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }

    #[inline]
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    /// Passes over the value of a record; groups may be `depth` deep.
    pub(super) fn skip(&mut self, number: u32, wire_type: u8, depth: u32) -> Option<()> {
        match wire_type {
            wire_type::VARINT => self.varint().map(drop),
            wire_type::FIXED64 => self.fixed64().map(drop),
            wire_type::LENGTH => self.bytes().map(drop),
            wire_type::FIXED32 => self.fixed32().map(drop),
            wire_type::GROUP => self.skip_group(number, depth),
            _ => None,
        }
    }

    fn skip_group(&mut self, number: u32, depth: u32) -> Option<()> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            let (number, wire_type) = self.tag()?;
            match wire_type {
                wire_type::GROUP if open.len() < depth as usize => open.push(number),
                wire_type::GROUP_END if number == innermost => {
                    open.pop();
                }
                wire_type::GROUP | wire_type::GROUP_END => return None,
                _ => self.skip(number, wire_type, 0)?,
            }
        }
        Some(())
    }
}

/// Writes records.
#[derive(Debug, Default, Clone)]
pub struct Writer {
    bytes: Vec<u8>,
}

/// Where the content of a record with a length begins.
#[derive(Debug, Clone, Copy)]
pub struct Mark(usize);

impl Writer {
    /// Nothing yet; `room` bytes stay free at the beginning, for a frame's head.
    pub fn with_room(room: usize) -> Self {
        Self { bytes: vec![0; room] }
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A varint.
    #[inline]
    pub fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// A record of a varint.
    pub fn varint_field(&mut self, number: u32, value: u64) {
        self.tag(number, wire_type::VARINT);
        self.varint(value);
    }

    /// A record of bytes or text.
    pub fn bytes_field(&mut self, number: u32, value: &[u8]) {
        self.tag(number, wire_type::LENGTH);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// The beginning of a record with a length, which is not known yet.
    pub fn begin(&mut self, number: u32) -> Mark {
        self.tag(number, wire_type::LENGTH);
        Mark(self.bytes.len())
    }

    /// Its end: the length is put in front.
    pub fn end(&mut self, mark: Mark) {
        let length = self.bytes.len() - mark.0;
        let mut head = [0; VARINT_BYTES_MAX];
        let mut rest = length;
        let mut count = 0;
        loop {
            head[count] = (rest & 0x7f) as u8 | if rest >= 0x80 { 0x80 } else { 0 };
            rest >>= 7;
            count += 1;
            if rest == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(&head[..count]);
        self.bytes[mark.0..].rotate_right(count);
    }

    /// The beginning of a group.
    pub fn begin_group(&mut self, number: u32) {
        self.tag(number, wire_type::GROUP);
    }

    /// Its end.
    pub fn end_group(&mut self, number: u32) {
        self.tag(number, wire_type::GROUP_END);
    }

    /// A number and a wire type.
    fn tag(&mut self, number: u32, wire_type: u8) {
        self.varint(u64::from(number) << 3 | u64::from(wire_type));
    }

    /// The tag of a single value of `kind`, in front of [`Writer::value`].
    pub fn tag_of(&mut self, number: u32, kind: crate::schema::Kind) {
        use crate::schema::Kind;
        let wire_type = match kind {
            Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => wire_type::FIXED64,
            Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => wire_type::FIXED32,
            Kind::String | Kind::Bytes | Kind::Message(_) => wire_type::LENGTH,
            _ => wire_type::VARINT,
        };
        self.tag(number, wire_type);
    }

    /// An integer of `kind` without its tag. What does not fit must have been refused before.
    pub fn integer(&mut self, kind: crate::schema::Kind, value: i128) {
        use crate::schema::Kind;
        match kind {
            Kind::Sint32 | Kind::Sint64 => {
                let value = value as i64;
                self.varint((value << 1 ^ value >> 63) as u64);
            }
            Kind::Fixed32 => self.bytes.extend_from_slice(&(value as u32).to_le_bytes()),
            Kind::Sfixed32 => self.bytes.extend_from_slice(&(value as i32).to_le_bytes()),
            Kind::Fixed64 => self.bytes.extend_from_slice(&(value as u64).to_le_bytes()),
            Kind::Sfixed64 => self.bytes.extend_from_slice(&(value as i64).to_le_bytes()),
            Kind::Uint32 | Kind::Uint64 => self.varint(value as u64),
            // Negative ones have ten bytes.
            _ => self.varint(value as i64 as u64),
        }
    }

    /// A floating-point number without its tag.
    pub fn float(&mut self, value: f32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// The same, of double width.
    pub fn double(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes or text with their length, without a tag.
    pub fn bytes(&mut self, value: &[u8]) {
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// What was written so far, to be changed in place.
    pub fn written(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Takes back what was written after there were `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }
}

/// A varint of 64 bits.
const VARINT_BYTES_MAX: usize = 10;
const NUMBER_MAX: u32 = (1 << 29) - 1;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nonsense_is_none() {
        assert_eq!(Reader::new(&[0xff; 10]).varint(), None);
        assert_eq!(Reader::new(&[0x80]).varint(), None);
        assert_eq!(Reader::new(&[0]).tag(), None, "number 0");
        assert_eq!(Reader::new(&[5, 1, 2]).bytes(), None);
        assert_eq!(Reader::new(&[0x0b, 0x13, 0x0c]).skip(9, wire_type::GROUP, 9), None, "ends in the wrong order");
        assert_eq!(Reader::new(&[0x0c]).skip(1, wire_type::GROUP, 9), Some(()));
        assert_eq!(Reader::new(&[0x0b; 50]).skip(1, wire_type::GROUP, 20), None, "too deep");
    }

    proptest! {
        #[test]
        fn varints_come_back(value: u64) {
            let mut writer = Writer::default();
            writer.varint(value);
            let bytes = writer.into_bytes();
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!((reader.varint(), reader.is_empty()), (Some(value), true));
        }

        #[test]
        fn lengths_come_in_front(before in 0_usize..40, length in 0_usize..40_000) {
            let mut writer = Writer::with_room(before);
            let mark = writer.begin(3);
            for _ in 0..length {
                writer.varint(1);
            }
            writer.end(mark);
            let bytes = writer.into_bytes();
            let mut reader = Reader::new(&bytes[before..]);
            prop_assert_eq!(reader.tag(), Some((3, wire_type::LENGTH)));
            prop_assert_eq!(reader.bytes().map(<[u8]>::len), Some(length));
            prop_assert!(reader.is_empty());
        }
    }
}
