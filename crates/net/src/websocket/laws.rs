//! Laws of the codec: what one side writes the other reads, however it is cut.

use proptest::prelude::*;

use super::{
    Decoder, Encoder, Event, Opcode, Step,
    deflate::{Agreement, Deflater},
    mask,
};

/// A message or control frame of a server.
#[derive(Debug, Clone)]
enum Said {
    Message { is_text: bool, payload: Vec<u8>, pieces: usize },
    Ping(Vec<u8>),
    Pong(Vec<u8>),
}

fn said() -> impl Strategy<Value = Said> {
    let bytes = |max: usize| prop::collection::vec(any::<u8>(), 0..max);
    prop_oneof![
        3 => (any::<bool>(), bytes(400), 1..5_usize)
            .prop_map(|(is_text, payload, pieces)| Said::Message { is_text, payload, pieces }),
        1 => bytes(126).prop_map(Said::Ping),
        1 => bytes(126).prop_map(Said::Pong),
    ]
}

/// A server's frame.
fn put(out: &mut Vec<u8>, first: u8, payload: &[u8]) {
    out.push(first);
    match payload.len() {
        short @ ..126 => out.push(short as u8),
        length => {
            out.push(126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

/// What a server sends, with a ping between the pieces of each message.
fn wire(all: &[Said], agreement: Option<Agreement>) -> (Vec<u8>, Vec<Event>) {
    let (mut out, mut events) = (Vec::new(), Vec::new());
    let mut deflater = agreement.map(|agreement| {
        Deflater::new(Agreement { client_keeps_context: agreement.server_keeps_context, ..agreement })
    });
    for said in all {
        match said {
            Said::Ping(payload) => {
                put(&mut out, 0x89, payload);
                events.push(Event::Ping(payload.clone()));
            }
            Said::Pong(payload) => {
                put(&mut out, 0x8a, payload);
                events.push(Event::Pong(payload.clone()));
            }
            Said::Message { is_text, payload, pieces } => {
                let (sent, rsv1) = match &mut deflater {
                    Some(deflater) => (deflater.deflate(payload, || {}), 0x40),
                    None => (payload.clone(), 0),
                };
                let opcode = if *is_text { 1 } else { 2 };
                let size = sent.len() / pieces + 1;
                let parts: Vec<&[u8]> = if sent.is_empty() { vec![&[]] } else { sent.chunks(size).collect() };
                for (index, part) in parts.iter().enumerate() {
                    let is_last = index + 1 == parts.len();
                    let begins = if index == 0 { opcode | rsv1 } else { 0 };
                    put(&mut out, begins | if is_last { 0x80 } else { 0 }, part);
                    if !is_last {
                        put(&mut out, 0x89, b"between");
                        events.push(Event::Ping(b"between".to_vec()));
                    }
                }
                events.push(if *is_text { Event::Text(payload.clone()) } else { Event::Binary(payload.clone()) });
            }
        }
    }
    (out, events)
}

fn read(decoder: &mut Decoder, events: &mut Vec<Event>) -> Result<(), String> {
    loop {
        match decoder.step().map_err(|error| error.to_string())? {
            Step::Event(event) => events.push(event),
            Step::Busy => {}
            Step::Hungry => return Ok(()),
        }
    }
}

proptest! {
    #[test]
    fn what_a_server_says_is_understood_however_it_is_cut(
        all in prop::collection::vec(said(), 0..12),
        cuts in prop::collection::vec(1..200_usize, 1..50),
        kind in 0..3_u8,
    ) {
        let agreement = match kind {
            0 => None,
            1 => Some(Agreement::NO_CONTEXT),
            _ => Some(Agreement { server_keeps_context: true, client_keeps_context: true }),
        };
        let (wire, expect) = wire(&all, agreement);
        let mut decoder = Decoder::new(agreement);
        let mut events = Vec::new();
        let (mut rest, mut cuts) = (wire.as_slice(), cuts.into_iter().cycle());
        while !rest.is_empty() {
            let (piece, others) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
            decoder.input().extend_from_slice(piece);
            prop_assert_eq!(read(&mut decoder, &mut events), Ok(()));
            // Who waits for what has work already would never wait.
            prop_assert!(!decoder.has_work());
            rest = others;
        }
        prop_assert_eq!(events, expect);
        prop_assert_eq!(decoder.held_bytes(), 0);
    }

    #[test]
    fn our_frames_unmasked_are_what_was_sent(payload in prop::collection::vec(any::<u8>(), 0..70_000), is_text: bool) {
        let mut out = Vec::new();
        Encoder::new(None).put_message(&mut out, is_text, &payload, || {});
        prop_assert_eq!(out[0], 0x80 | if is_text { Opcode::Text.bits() } else { Opcode::Binary.bits() });
        prop_assert!(out[1] & 0x80 != 0);
        let head = match out[1] & 0x7f { 126 => 4, 127 => 10, _ => 2 };
        let mask: [u8; 4] = out[head..head + 4].try_into().unwrap();
        mask::apply(mask, &mut out[head + 4..]);
        prop_assert_eq!(&out[head + 4..], &payload[..]);
    }

    #[test]
    fn any_bytes_end_in_an_error_or_hunger(data in prop::collection::vec(any::<u8>(), 0..500)) {
        super::fuzz(&data);
    }
}
