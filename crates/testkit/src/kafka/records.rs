//! Batches of records, format 2, read with distrust.

use std::io::Read as _;

use flate2::read::GzDecoder;

/// A message as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaMessage {
    /// Its topic.
    pub topic: String,
    /// Its partition.
    pub partition: i32,
    /// Milliseconds since 1970.
    pub unix_ms: i64,
    /// Its key, if it has one.
    pub key: Option<Vec<u8>>,
    /// What it says.
    pub value: String,
    /// How its batch was compressed, by Kafka's number.
    pub codec: i16,
}

/// Reads from the front of bytes; nothing where there are too few.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn i16(&mut self) -> Option<i16> {
        self.array().map(i16::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_be_bytes)
    }

    /// A text; an empty one where there is none.
    pub(super) fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.i16()?).unwrap_or(0);
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.i32()?).unwrap_or(0);
        self.take(length)
    }

    fn varint(&mut self) -> Option<i64> {
        let mut number = 0_u64;
        for shift in (0..70).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()));
            }
        }
        None
    }

    fn var_bytes(&mut self) -> Option<Option<&'a [u8]>> {
        match usize::try_from(self.varint()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Some(None),
        }
    }
}

/// Reads a batch, or says what is wrong with it.
pub(super) fn read_batch(bytes: &[u8], topic: &str, partition: i32) -> Result<Vec<KafkaMessage>, String> {
    let mut cursor = Cursor(bytes);
    let head = (|| {
        cursor.i64()?;
        let length = usize::try_from(cursor.i32()?).ok()?;
        let rest = cursor.0.len();
        cursor.i32()?;
        let [format] = cursor.array()?;
        Some((length == rest, format, cursor.i32()?.cast_unsigned()))
    })();
    let Some((is_whole, 2, crc)) = head else { return Err("a batch without a head of format 2".to_owned()) };
    if !is_whole {
        return Err("a batch that is not as long as it says".to_owned());
    }
    if crc32c(cursor.0) != crc {
        return Err("a batch with a wrong checksum".to_owned());
    }
    let too_short = || "a batch that is too short".to_owned();
    let head = (|| {
        let (attributes, last) = (cursor.i16()?, cursor.i32()?);
        let (first_ms, last_ms) = (cursor.i64()?, cursor.i64()?);
        cursor.take(8 + 2 + 4)?;
        Some((attributes, last, first_ms, last_ms, cursor.i32()?))
    })();
    let (codec, last, first_ms, last_ms, count) = head.ok_or_else(too_short)?;
    if last + 1 != count {
        return Err(format!("a batch of {count} records whose last is {last}"));
    }
    let mut plain = Vec::new();
    match codec {
        0 => plain.extend_from_slice(cursor.0),
        1 => drop(GzDecoder::new(cursor.0).read_to_end(&mut plain).map_err(|error| error.to_string())?),
        4 => plain = zstd::decode_all(cursor.0).map_err(|error| error.to_string())?,
        other => return Err(format!("attributes {other}")),
    }
    let mut cursor = Cursor(&plain);
    let mut messages = Vec::new();
    for number in 0..i64::from(count) {
        let message = read_record(&mut cursor, number).ok_or_else(too_short)?;
        let (time, key, value) = message;
        let unix_ms = first_ms + time;
        if unix_ms > last_ms {
            return Err("a record that is later than its batch".to_owned());
        }
        let value = String::from_utf8(value).map_err(|_| "a message that is no text".to_owned())?;
        messages.push(KafkaMessage { topic: topic.to_owned(), partition, unix_ms, key, value, codec });
    }
    if cursor.0.is_empty() { Ok(messages) } else { Err("a batch with more than its records".to_owned()) }
}

type Record = (i64, Option<Vec<u8>>, Vec<u8>);

fn read_record(cursor: &mut Cursor<'_>, number: i64) -> Option<Record> {
    let length = usize::try_from(cursor.varint()?).ok()?;
    let mut record = Cursor(cursor.take(length)?);
    record.take(1)?;
    let (time, offset) = (record.varint()?, record.varint()?);
    let (key, value) = (record.var_bytes()?.map(<[u8]>::to_vec), record.var_bytes()??.to_vec());
    let headers = record.varint()?;
    (offset == number && headers == 0 && record.0.is_empty()).then_some((time, key, value))
}

/// Castagnoli's.
fn crc32c(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|index| {
        (0..8).fold(index as u32, |crc, _| if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0x82F6_3B78 })
    });
    !bytes.iter().fold(u32::MAX, |crc, byte| crc >> 8 ^ table[(crc as u8 ^ byte) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_castagnolis() {
        // RFC 3720, B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn what_is_no_batch_is_a_problem() {
        assert!(read_batch(&[], "t", 0).is_err());
        assert!(read_batch(&[0; 61], "t", 0).is_err());
    }
}
