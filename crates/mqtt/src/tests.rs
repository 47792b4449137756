//! Packets written and read again, and bytes that are none.

use proptest::prelude::*;

use crate::{Connect, Decoder, Malformed, PACKET_BYTES_MAX, Packet, Publish, QoS, TooLong, Will, fuzz};

fn written(packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.write(&mut bytes).expect("it fits");
    bytes
}

fn read(bytes: &[u8]) -> Result<Option<Packet>, Malformed> {
    let mut decoder = Decoder::default();
    decoder.buffer().extend_from_slice(bytes);
    decoder.packet()
}

#[test]
fn packets_are_those_of_the_standard() {
    let check = |packet: Packet, bytes: &[u8]| {
        assert_eq!(written(&packet), bytes, "{packet:?}");
        assert_eq!(read(bytes), Ok(Some(packet)));
    };
    let connect = Connect { client_id: "a".to_owned(), clean_session: true, keep_alive_s: 60, ..Connect::default() };
    check(Packet::Connect(Box::new(connect.clone())), b"\x10\x0d\0\x04MQTT\x04\x02\0\x3c\0\x01a");
    let will = Will { topic: "t".to_owned(), payload: b"p".to_vec(), qos: QoS::ExactlyOnce, retain: true };
    let all = Connect { will: Some(will), username: Some("u".to_owned()), password: Some("p".to_owned()), ..connect };
    check(Packet::Connect(Box::new(all)), b"\x10\x19\0\x04MQTT\x04\xf6\0\x3c\0\x01a\0\x01t\0\x01p\0\x01u\0\x01p");
    check(Packet::ConnectAck { session_present: true, code: 5 }, b"\x20\x02\x01\x05");
    let publish = Publish {
        duplicate: true,
        qos: QoS::AtLeastOnce,
        retain: true,
        topic: "t".to_owned(),
        id: 7,
        payload: b"xy".to_vec(),
    };
    check(Packet::Publish(publish), b"\x3b\x07\0\x01t\0\x07xy");
    check(Packet::PublishAck(1), b"\x40\x02\0\x01");
    check(Packet::PublishReceived(1), b"\x50\x02\0\x01");
    check(Packet::PublishRelease(1), b"\x62\x02\0\x01");
    check(Packet::PublishComplete(258), b"\x70\x02\x01\x02");
    let filters = vec![("a/+".to_owned(), QoS::AtLeastOnce), ("#".to_owned(), QoS::AtMostOnce)];
    check(Packet::Subscribe { id: 1, filters }, b"\x82\x0c\0\x01\0\x03a/+\x01\0\x01#\0");
    check(Packet::SubscribeAck { id: 1, codes: vec![1, 0x80] }, b"\x90\x04\0\x01\x01\x80");
    check(Packet::Unsubscribe { id: 1, filters: vec!["#".to_owned()] }, b"\xa2\x05\0\x01\0\x01#");
    check(Packet::UnsubscribeAck(1), b"\xb0\x02\0\x01");
    check(Packet::Ping, b"\xc0\0");
    check(Packet::Pong, b"\xd0\0");
    check(Packet::Disconnect, b"\xe0\0");
}

#[test]
fn long_packets_have_long_lengths() {
    for bytes in [127, 128, 16_383, 16_384, 200_000] {
        let payload = vec![b'x'; bytes];
        let packet = Packet::Publish(Publish { payload, ..Publish::default() });
        assert!(read(&written(&packet)) == Ok(Some(packet)), "{bytes}");
    }
    let long = Publish { topic: "x".repeat(65_536), ..Publish::default() };
    assert_eq!(Packet::Publish(long).write(&mut Vec::new()), Err(TooLong::Text));
    let large = Publish { payload: vec![0; PACKET_BYTES_MAX], ..Publish::default() };
    assert_eq!(Packet::Publish(large).write(&mut Vec::new()), Err(TooLong::Packet));
}

#[test]
fn wrong_bytes() {
    let check = |bytes: &[u8], expect: Malformed| assert_eq!(read(bytes), Err(expect), "{bytes:?}");
    check(b"\0\0", Malformed::Kind(0));
    check(b"HTTP/1.1 400", Malformed::Kind(b'H'));
    check(b"\xf0\0", Malformed::Kind(0xf0));
    check(b"\x41\x02\0\x01", Malformed::Kind(0x41));
    check(b"\x30\xff\xff\xff\xff\x7f", Malformed::Length);
    check(b"\x30\xff\xff\xff\x7f", Malformed::Large(268_435_455));
    check(b"\x20\x01\0", Malformed::Parts);
    check(b"\x20\x03\0\0\0", Malformed::Parts);
    check(b"\xd0\x01x", Malformed::Parts);
    check(b"\x30\x02\0\x05", Malformed::Parts);
    check(b"\x30\x03\0\x01\xff", Malformed::Text);
    check(b"\x36\x03\0\x01t", Malformed::QoS);
    check(b"\x32\x05\0\x01t\0\0", Malformed::Number);
    check(b"\x40\x02\0\0", Malformed::Number);
    assert_eq!(read(b"\x30\x0a\0\x01t"), Ok(None));
    assert_eq!(read(b""), Ok(None));
}

proptest! {
    #[test]
    fn never_panics(bytes in proptest::collection::vec(prop_oneof![0_u8..8, any::<u8>(), Just(0x30), Just(0x90)], 0..60)) {
        fuzz(&bytes);
    }
}
