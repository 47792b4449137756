//! Records and their batches, format 2: what is produced and what is fetched.

use bytes::Bytes;

use crate::{
    Codec, KafkaError, World,
    crc::{CASTAGNOLI, Crc},
    wire::{Put, Reader},
};

/// A header of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its name.
    pub key: String,
    /// Its bytes; none is not the same as no bytes.
    pub value: Option<Bytes>,
}

/// A batch that is being written.
#[derive(Debug, Default)]
pub(crate) struct BatchWriter {
    records: Vec<u8>,
    count: i32,
    first_ms: i64,
    last_ms: i64,
}

impl BatchWriter {
    pub(crate) fn push(&mut self, time_ms: i64, key: Option<&[u8]>, value: Option<&[u8]>, headers: &[Header]) {
        if self.count == 0 {
            (self.first_ms, self.last_ms) = (time_ms, time_ms);
        }
        self.last_ms = self.last_ms.max(time_ms);
        let mut record = Vec::with_capacity(record_bytes(key, value, headers));
        record.put_i8(0);
        record.put_varint(time_ms.wrapping_sub(self.first_ms));
        record.put_varint(i64::from(self.count));
        put_var_bytes(&mut record, key);
        put_var_bytes(&mut record, value);
        record.put_varint(headers.len() as i64);
        for header in headers {
            put_var_bytes(&mut record, Some(header.key.as_bytes()));
            put_var_bytes(&mut record, header.value.as_deref());
        }
        self.records.put_varint(record.len() as i64);
        self.records.extend(record);
        self.count += 1;
    }

    /// The batch's bytes.
    pub(crate) fn finish<W: World>(self, world: &mut W, codec: Codec) -> Result<Vec<u8>, KafkaError> {
        let records = if codec == Codec::None { self.records } else { codec.pack(world, &self.records)? };
        let mut checked = Vec::with_capacity(records.len() + HEAD_BYTES);
        checked.put_i16(codec as i16);
        checked.put_i32(self.count - 1);
        checked.put_i64(self.first_ms);
        checked.put_i64(self.last_ms);
        // No transaction: no producer, epoch or sequence.
        checked.put_i64(-1);
        checked.put_i16(-1);
        checked.put_i32(-1);
        checked.put_i32(self.count);
        checked.extend(records);
        let mut crc = Crc::new();
        crc.take(&CASTAGNOLI, &checked);
        let mut batch = Vec::with_capacity(checked.len() + HEAD_BYTES);
        batch.put_i64(0);
        batch.put_i32((checked.len() + BEFORE_CHECKED_BYTES) as i32);
        batch.put_i32(-1);
        batch.put_i8(FORMAT);
        batch.extend(crc.finish().to_be_bytes());
        batch.extend(checked);
        Ok(batch)
    }
}

fn put_var_bytes(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        Some(bytes) => {
            out.put_varint(bytes.len() as i64);
            out.extend_from_slice(bytes);
        }
        None => out.put_varint(-1),
    }
}

/// What a record takes in a batch, roughly.
pub(crate) fn record_bytes(key: Option<&[u8]>, value: Option<&[u8]>, headers: &[Header]) -> usize {
    let headers: usize =
        headers.iter().map(|header| 8 + header.key.len() + header.value.as_ref().map_or(0, Bytes::len)).sum();
    RECORD_HEAD_BYTES + key.map_or(0, <[u8]>::len) + value.map_or(0, <[u8]>::len) + headers
}

/// A batch that was fetched.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) base_offset: i64,
    pub(crate) last_offset: i64,
    pub(crate) producer: i64,
    attributes: i16,
    first_ms: i64,
    last_ms: i64,
    records: Reader,
    left: i32,
}

/// A record of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) offset: i64,
    pub(crate) time_ms: i64,
    pub(crate) key: Option<Bytes>,
    pub(crate) value: Option<Bytes>,
    pub(crate) headers: Vec<Header>,
}

impl Batch {
    /// The next batch of what a partition gave; none where the rest is not whole. `held` is what is held besides.
    pub(crate) fn read<W: World>(world: &mut W, from: &mut Reader, held: usize) -> Result<Option<Self>, KafkaError> {
        let start = from.clone();
        let whole = (|| {
            let base_offset = from.i64()?;
            let length = usize::try_from(from.i32()?).map_err(|_| KafkaError::malformed("a batch is negative"))?;
            Ok::<_, KafkaError>((base_offset, from.slice(length)?))
        })();
        let Ok((base_offset, batch)) = whole else {
            // A broker may cut the last batch off.
            *from = start;
            return Ok(None);
        };
        let mut reader = Reader::new(batch.clone());
        reader.skip(4)?;
        let format = reader.i8()?;
        if format != FORMAT {
            return Err(KafkaError::malformed(&format!("records are in format {format}; only format 2 is supported")));
        }
        let crc = reader.u32()?;
        verify(world, &batch[BEFORE_CHECKED_BYTES..], crc)?;
        let attributes = reader.i16()?;
        let last_offset = base_offset.saturating_add(i64::from(reader.i32()?.max(0)));
        let (first_ms, last_ms) = (reader.i64()?, reader.i64()?);
        let producer = reader.i64()?;
        reader.skip(2 + 4)?;
        let left = reader.i32()?;
        let packed = reader.slice(reader.left())?;
        let records = match Codec::of(attributes)? {
            Codec::None => packed,
            codec => codec.unpack(world, &packed, held)?.into(),
        };
        let records = Reader::new(records);
        Ok(Some(Self { base_offset, last_offset, producer, attributes, first_ms, last_ms, records, left }))
    }

    /// The next record.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, KafkaError> {
        if self.left <= 0 {
            return Ok(None);
        }
        self.left -= 1;
        let length =
            usize::try_from(self.records.varint()?).map_err(|_| KafkaError::malformed("a record is negative"))?;
        let mut reader = Reader::new(self.records.slice(length)?);
        reader.skip(1)?;
        let (time, offset) = (reader.varint()?, reader.varint()?);
        let (key, value) = (reader.var_bytes()?, reader.var_bytes()?);
        let count = usize::try_from(reader.varint()?).unwrap_or(0);
        if count > reader.left() / 2 {
            return Err(KafkaError::malformed("a record has more headers than bytes"));
        }
        let mut headers = Vec::new();
        for _ in 0..count {
            let key = reader.var_bytes()?.unwrap_or_default();
            headers.push(Header { key: String::from_utf8_lossy(&key).into_owned(), value: reader.var_bytes()? });
        }
        let time_ms =
            if self.attributes & LOG_APPEND_TIME == 0 { self.first_ms.saturating_add(time) } else { self.last_ms };
        Ok(Some(Record { offset: self.base_offset.saturating_add(offset), time_ms, key, value, headers }))
    }

    pub(crate) fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }

    pub(crate) fn is_transactional(&self) -> bool {
        self.attributes & TRANSACTIONAL != 0
    }

    /// Bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.records.left()
    }
}

/// Whether a control record says that a transaction was aborted.
pub(crate) fn is_abort(record: &Record) -> bool {
    // The version of the marker, then its kind.
    record.key.as_deref().is_some_and(|key| key.get(2..4) == Some(&[0, 0]))
}

fn verify<W: World>(world: &mut W, bytes: &[u8], expected: u32) -> Result<(), KafkaError> {
    let mut crc = Crc::new();
    for piece in bytes.chunks(CRC_PIECE_BYTES) {
        crc.take(&CASTAGNOLI, piece);
        world.pause()?;
    }
    if crc.finish() == expected { Ok(()) } else { Err(KafkaError::malformed("a batch does not match its checksum")) }
}

const FORMAT: i8 = 2;
/// The epoch of the leader, the format and the checksum.
const BEFORE_CHECKED_BYTES: usize = 4 + 1 + 4;
/// What is in front of the records of a batch.
const HEAD_BYTES: usize = 61;
/// What is in front of a record, at most: six numbers.
const RECORD_HEAD_BYTES: usize = 36;
const LOG_APPEND_TIME: i16 = 1 << 3;
const TRANSACTIONAL: i16 = 1 << 4;
const CONTROL: i16 = 1 << 5;
/// A millisecond of work.
const CRC_PIECE_BYTES: usize = 1 << 20;
