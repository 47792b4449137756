//! Kafka's primitive types, written and read. A length that a broker names is believed only as far as there are bytes.

use bytes::Bytes;

use crate::KafkaError;

/// What requests are made of.
pub(crate) trait Put {
    fn put_i8(&mut self, value: i8);
    fn put_i16(&mut self, value: i16);
    fn put_i32(&mut self, value: i32);
    fn put_i64(&mut self, value: i64);
    fn put_bool(&mut self, value: bool);
    fn put_text(&mut self, value: &str);
    fn put_no_text(&mut self);
    fn put_bytes(&mut self, value: &[u8]);
    fn put_varint(&mut self, value: i64);
    /// The length of a list, which follows.
    fn put_count(&mut self, count: usize);
}

impl Put for Vec<u8> {
    fn put_i8(&mut self, value: i8) {
        self.extend(value.to_be_bytes());
    }

    fn put_i16(&mut self, value: i16) {
        self.extend(value.to_be_bytes());
    }

    fn put_i32(&mut self, value: i32) {
        self.extend(value.to_be_bytes());
    }

    fn put_i64(&mut self, value: i64) {
        self.extend(value.to_be_bytes());
    }

    fn put_bool(&mut self, value: bool) {
        self.push(u8::from(value));
    }

    fn put_text(&mut self, value: &str) {
        // No name is longer: what scripts give is checked by `named`.
        let mut end = value.len().min(TEXT_BYTES_MAX);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        self.put_i16(end as i16);
        self.extend_from_slice(&value.as_bytes()[..end]);
    }

    fn put_no_text(&mut self) {
        self.put_i16(-1);
    }

    fn put_bytes(&mut self, value: &[u8]) {
        self.put_i32(i32::try_from(value.len()).unwrap_or(i32::MAX));
        self.extend_from_slice(value);
    }

    fn put_varint(&mut self, value: i64) {
        let mut rest = ((value << 1) ^ (value >> 63)) as u64;
        while rest >= 0x80 {
            self.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.push(rest as u8);
    }

    fn put_count(&mut self, count: usize) {
        self.put_i32(i32::try_from(count).unwrap_or(i32::MAX));
    }
}

/// Checks a name that a script gave.
pub(crate) fn named(what: &str, name: &str) -> Result<(), KafkaError> {
    if name.len() > TEXT_BYTES_MAX {
        return Err(KafkaError::Invalid(format!("the {what} is longer than {TEXT_BYTES_MAX} bytes")));
    }
    Ok(())
}

/// Reads what a broker sent.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    bytes: Bytes,
    at: usize,
}

impl Reader {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left() == 0
    }

    pub(crate) fn skip(&mut self, count: usize) -> Result<(), KafkaError> {
        self.slice(count).map(drop)
    }

    /// The next bytes, without a copy.
    pub(crate) fn slice(&mut self, count: usize) -> Result<Bytes, KafkaError> {
        if count > self.left() {
            return Err(short());
        }
        let slice = self.bytes.slice(self.at..self.at + count);
        self.at += count;
        Ok(slice)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], KafkaError> {
        let end = self.at.checked_add(N).ok_or_else(short)?;
        let found = self.bytes.get(self.at..end).and_then(|bytes| <[u8; N]>::try_from(bytes).ok()).ok_or_else(short)?;
        self.at = end;
        Ok(found)
    }

    pub(crate) fn i8(&mut self) -> Result<i8, KafkaError> {
        self.array().map(i8::from_be_bytes)
    }

    pub(crate) fn i16(&mut self) -> Result<i16, KafkaError> {
        self.array().map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, KafkaError> {
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, KafkaError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, KafkaError> {
        self.array().map(i64::from_be_bytes)
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, KafkaError> {
        let length = self.i16()?;
        let Ok(length) = usize::try_from(length) else {
            return if length == -1 { Ok(None) } else { Err(KafkaError::malformed("a text has a negative length")) };
        };
        let bytes = self.slice(length)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    pub(crate) fn text(&mut self) -> Result<String, KafkaError> {
        self.optional_text().map(Option::unwrap_or_default)
    }

    /// Bytes with their length in front; none where it is negative.
    pub(crate) fn bytes(&mut self) -> Result<Bytes, KafkaError> {
        let length = self.i32()?;
        self.slice(usize::try_from(length).unwrap_or(0))
    }

    /// The length of a list whose items take `least` bytes each at least.
    pub(crate) fn count(&mut self, least: usize) -> Result<usize, KafkaError> {
        // None is as good as empty.
        let count = usize::try_from(self.i32()?).unwrap_or(0);
        if count > self.left() / least.max(1) {
            return Err(KafkaError::malformed("a list is longer than the answer"));
        }
        Ok(count)
    }

    pub(crate) fn varint(&mut self) -> Result<i64, KafkaError> {
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err(KafkaError::malformed("a number has too many bytes"))
    }

    /// Bytes with a varint in front; none where it is negative.
    pub(crate) fn var_bytes(&mut self) -> Result<Option<Bytes>, KafkaError> {
        let length = self.varint()?;
        let Ok(length) = usize::try_from(length) else { return Ok(None) };
        self.slice(length).map(Some)
    }
}

fn short() -> KafkaError {
    KafkaError::malformed("it ends too early")
}

/// The longest text there is.
const TEXT_BYTES_MAX: usize = i16::MAX as usize;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_are_not_believed() {
        let reader = |bytes: &[u8]| Reader::new(Bytes::copy_from_slice(bytes));
        assert!(reader(&[0x7F, 0xFF, 0xFF, 0xFF, 1]).bytes().is_err());
        assert!(reader(&[0x7F, 0xFF, 0xFF, 0xFF, 1]).count(1).is_err());
        assert!(reader(&[0x7F, 0xFF, 1]).text().is_err());
        assert!(reader(&[0xFF, 0xFE]).text().is_err());
        assert_eq!(reader(&[0xFF, 0xFF]).optional_text(), Ok(None));
        assert!(reader(&[0xFF; 11]).varint().is_err());
        assert!(reader(&[0x80]).varint().is_err());
    }

    proptest! {
        #[test]
        fn varints_come_back(value: i64) {
            let mut out = Vec::new();
            out.put_varint(value);
            prop_assert_eq!(Reader::new(out.into()).varint(), Ok(value));
        }
    }
}
