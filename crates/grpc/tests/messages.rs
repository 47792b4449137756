//! Messages of the target's types: what comes in, with its limits, and what is written comes back.

use onrush_grpc::{
    message::{DecodeError, Decoder, Message, Value, Writer},
    schema::{Kind, MessageId, Schema, Unset},
};
use proptest::prelude::*;

static DESCRIPTORS: &[u8] = include_bytes!("../../testsite/assets/grpc/target.binpb");

fn schema() -> Schema {
    Schema::from_descriptor_set(DESCRIPTORS).expect("a complete set")
}

fn everything(schema: &Schema) -> MessageId {
    schema.message_named("target.Everything").expect("it is there")
}

fn read<'a>(schema: &Schema, bytes: &'a [u8]) -> Result<Message<'a>, DecodeError> {
    Decoder::new(schema, 1 << 20, &mut || true).message(everything(schema), bytes)
}

#[test]
fn fields_know_what_they_are_when_they_are_not_set() {
    let schema = schema();
    let of = schema.message(everything(&schema));
    let check = |name: &str, unset: Unset| {
        let field = of.field_named(name).map(|index| &of.fields[index]);
        assert_eq!(field.map(|field| field.unset), Some(unset), "{name}");
    };
    check("aDouble", Unset::Zero);
    check("a_double", Unset::Zero);
    check("nested", Unset::Null);
    check("numbers", Unset::Empty);
    check("byName", Unset::EmptyMap);
    check("chosenText", Unset::Absent);
    check("maybeText", Unset::Absent);
    check("otherName", Unset::Zero);
    assert_eq!(of.oneofs.len(), 1, "optional fields are in none");
}

#[test]
fn the_last_of_a_oneof_counts_and_messages_are_merged() {
    let schema = schema();
    let mut writer = Writer::default();
    writer.bytes_field(27, b"text");
    writer.varint_field(28, 5);
    for (number, value) in [(1, b"first"), (1, b"again")] {
        let mark = writer.begin(17);
        writer.bytes_field(number, value);
        writer.end(mark);
    }
    let mark = writer.begin(17);
    let inner = writer.begin(2);
    writer.bytes_field(1, b"inner");
    writer.end(inner);
    writer.end(mark);
    let bytes = writer.into_bytes();
    let message = read(&schema, &bytes).expect("good bytes");
    assert_eq!(message.numbered(&schema, 27), None);
    assert_eq!(message.numbered(&schema, 28), Some(&Value::Int32(5)));
    let Some(Value::Message(nested)) = message.numbered(&schema, 17) else { panic!("{message:?}") };
    assert_eq!(nested.bytes(&schema, 1), b"again");
    assert!(matches!(nested.numbered(&schema, 2), Some(Value::Message(_))));
}

#[test]
fn lists_come_packed_or_not() {
    let schema = schema();
    let mut writer = Writer::default();
    writer.varint_field(18, 1);
    let mark = writer.begin(18);
    writer.integer(Kind::Int32, 2);
    writer.integer(Kind::Int32, -3);
    writer.end(mark);
    let bytes = writer.into_bytes();
    let message = read(&schema, &bytes).expect("good bytes");
    let values = vec![Value::Int32(1), Value::Int32(2), Value::Int32(-3)];
    assert_eq!(message.numbered(&schema, 18), Some(&Value::Many(values)));
}

#[test]
fn depth_and_memory_are_limited() {
    let schema = schema();
    let mut writer = Writer::default();
    let marks: Vec<_> = [17].into_iter().chain([2; 150]).map(|number| writer.begin(number)).collect();
    for mark in marks.into_iter().rev() {
        writer.end(mark);
    }
    assert_eq!(read(&schema, &writer.into_bytes()), Err(DecodeError::TooDeep));
    let flood: Vec<u8> = [0xa2, 0x01, 0x00].repeat(20_000);
    assert_eq!(read(&schema, &flood), Err(DecodeError::TooLarge(1 << 20)));
    let mut pauses = 0;
    let mut give_up = || {
        pauses += 1;
        pauses < 2
    };
    let read = Decoder::new(&schema, usize::MAX, &mut give_up).message(everything(&schema), &flood);
    assert_eq!((read, pauses), (Err(DecodeError::Interrupted), 2));
}

#[test]
fn what_is_required_must_be_there() {
    let schema = schema();
    let legacy = schema.message_named("target.Legacy").expect("it is there");
    let outcome = Decoder::new(&schema, 1 << 20, &mut || true).message(legacy, &[]);
    assert_eq!(outcome.unwrap_err().to_string(), "proto:\u{a0}required field target.Legacy.name not set");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&schema(), &bytes);
    }

    #[test]
    fn numbers_come_back(value: i64, other: u32, float: f64) {
        let schema = schema();
        let mut writer = Writer::default();
        for (number, kind) in [(4, Kind::Int64), (8, Kind::Sint64), (12, Kind::Sfixed64)] {
            writer.tag_of(number, kind);
            writer.integer(kind, value.into());
        }
        for (number, kind) in [(5, Kind::Uint32), (9, Kind::Fixed32)] {
            writer.tag_of(number, kind);
            writer.integer(kind, other.into());
        }
        writer.tag_of(1, Kind::Double);
        writer.double(float);
        let bytes = writer.into_bytes();
        let message = read(&schema, &bytes).expect("good bytes");
        for number in [4, 8, 12] {
            prop_assert_eq!(message.integer(&schema, number), value);
        }
        prop_assert_eq!(message.numbered(&schema, 9), Some(&Value::Uint32(other)));
        let Some(Value::Double(read)) = message.numbered(&schema, 1) else { panic!() };
        prop_assert_eq!(read.to_bits(), float.to_bits());
    }
}
