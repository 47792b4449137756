//! Batches there and back, in every compression.

use bytes::Bytes;
use proptest::prelude::*;

use super::world::TestWorld;
use crate::{
    Codec, Header, KafkaError,
    record::{Batch, BatchWriter},
    wire::{Put, Reader},
};

pub(super) fn batch(codec: Codec, values: &[&[u8]]) -> Vec<u8> {
    let mut writer = BatchWriter::default();
    for (index, value) in values.iter().enumerate() {
        let headers = [Header { key: "h".to_owned(), value: Some(Bytes::from_static(b"v")) }];
        writer.push(1_000 + index as i64, (index > 0).then_some(b"key"), Some(value), &headers[..index.min(1)]);
    }
    writer.finish(&mut TestWorld::default(), codec).expect("it can be packed")
}

fn values(bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, KafkaError> {
    let mut world = TestWorld::default();
    let mut reader = Reader::new(bytes.into());
    let mut values = Vec::new();
    while let Some(mut batch) = Batch::read(&mut world, &mut reader, 0)? {
        while let Some(record) = batch.next()? {
            assert_eq!(record.offset, values.len() as i64);
            assert_eq!(record.time_ms, 1_000 + record.offset);
            assert_eq!(record.key.is_some(), record.offset > 0);
            assert_eq!(record.headers.len(), usize::from(record.offset > 0));
            values.push(record.value.unwrap_or_default().to_vec());
        }
    }
    Ok(values)
}

const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

#[test]
fn batches_come_back_in_every_compression() {
    let long = b"long ".repeat(100_000);
    let noise: Vec<u8> = (0..200_000_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for codec in CODECS {
        let packed = batch(codec, &[b"one", b"", &long, &noise]);
        if codec != Codec::None {
            assert!(packed.len() < long.len(), "{codec:?}: {}", packed.len());
        }
        let expect = [b"one".to_vec(), Vec::new(), long.clone(), noise.clone()];
        assert!(values(packed).as_deref() == Ok(&expect), "{codec:?}");
    }
}

#[test]
fn a_batch_that_is_cut_off_is_left_for_next_time() {
    let mut two = batch(Codec::None, &[b"one"]);
    let one = two.len();
    two.extend_from_within(..);
    for end in one..two.len() - 1 {
        assert_eq!(values(two[..end].to_vec()), Ok(vec![b"one".to_vec()]), "{end}");
    }
}

#[test]
fn damaged_batches_are_refused() {
    let whole = batch(Codec::None, &[b"one"]);
    for at in 16..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        assert!(values(damaged).is_err(), "{at}");
    }
    let mut old = whole;
    old[16] = 1;
    let error = values(old).expect_err("it is too old").to_string();
    assert!(error.contains("format 1"), "{error}");
}

/// A batch of what is said to be compressed, with the right checksum.
fn claimed(codec: i16, packed: &[u8]) -> Vec<u8> {
    let mut checked = Vec::new();
    checked.put_i16(codec);
    checked.put_i32(0);
    for _ in 0..2 {
        checked.put_i64(0);
    }
    checked.put_i64(-1);
    checked.put_i16(-1);
    checked.put_i32(-1);
    checked.put_i32(i32::MAX);
    checked.extend_from_slice(packed);
    let mut crc = crate::crc::Crc::new();
    crc.take(&crate::crc::CASTAGNOLI, &checked);
    let mut out = Vec::new();
    out.put_i64(0);
    out.put_i32(checked.len() as i32 + 9);
    out.put_i32(0);
    out.put_i8(2);
    out.extend(crc.finish().to_be_bytes());
    out.extend(checked);
    out
}

#[test]
fn bombs_are_not_unpacked() {
    let check = |codec: Codec, packed: &[u8], limit: usize| {
        let mut world = TestWorld { held_limit: limit, ..TestWorld::default() };
        let mut reader = Reader::new(claimed(codec as i16, packed).into());
        let error = Batch::read(&mut world, &mut reader, 0).expect_err("it is too large");
        assert!(matches!(error, KafkaError::TooLarge(_)), "{codec:?}: {error}");
    };
    let zeros = vec![0; 80 << 20];
    for codec in CODECS.into_iter().skip(1) {
        let packed = codec.pack(&mut TestWorld::default(), &zeros).expect("it can be packed");
        assert!(packed.len() < 8 << 20, "{codec:?}: {}", packed.len());
        check(codec, &packed, usize::MAX);
        // The memory of whoever reads may end earlier.
        check(codec, &packed, 10 << 20);
    }
    // Without a frame, Snappy says how long it will be: four gigabytes.
    check(Codec::Snappy, &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0], usize::MAX);
}

#[test]
fn garbage_is_not_unpacked() {
    for codec in 1..8 {
        for packed in
            [&b""[..], b"garbage", &[0xFF; 100], b"\x82SNAPPY\0", b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01\xff\xff\xff\xff"]
        {
            let mut world = TestWorld::default();
            let read = Batch::read(&mut world, &mut Reader::new(claimed(codec, packed).into()), 0);
            // Where nothing is compressed, nothing is missing until somebody wants it.
            let records = read.and_then(|batch| batch.map_or(Ok(None), |mut batch| batch.next()));
            assert!(records.is_err(), "{codec} {packed:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), codec in 0..5_i16) {
        let _ = values(bytes.clone());
        let mut reader = Reader::new(claimed(codec, &bytes).into());
        if let Ok(Some(mut batch)) = Batch::read(&mut TestWorld::default(), &mut reader, 0) {
            while let Ok(Some(_)) = batch.next() {}
        }
    }
}
