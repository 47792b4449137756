//! gRPC servers that misbehave, one a line: each greets, waits for a call of any method and answers it wrongly.
//!
//! What k6 says to each stands beside what we say in the tests of `grpc`; `cargo run -p onrush-testkit --example
//! hostile_grpc` starts them all for another client to try.

use std::time::Duration;

use crate::http2::{
    Misbehaviour, Talk,
    frame::{END, END_HEADERS, END_STREAM, HEADERS, PING, block, data, frame, goaway, headers, ping, reset},
};

/// All of them; `good` behaves.
pub fn misbehaviours() -> impl Iterator<Item = Misbehaviour> {
    CASES.iter().map(|&(name, run)| Misbehaviour { name, run })
}

type Fields<'a> = &'a [(&'a str, &'a str)];

const HEAD: Fields<'_> = &[(":status", "200"), ("content-type", "application/grpc")];
const FINE: Fields<'_> = &[("grpc-status", "0")];
const CANCEL: u32 = 8;

/// A message with its frame's head.
fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
    let mut out = vec![flag];
    out.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(message);
    out
}

/// Answers a call with frames, and listens.
fn say(talk: &mut Talk, bytes: impl FnOnce(u32) -> Vec<u8>) {
    if let Some(id) = talk.first_request() {
        talk.send(&bytes(id));
        talk.hang();
    }
}

/// As [`say`], and closes.
fn say_and_close(talk: &mut Talk, bytes: impl FnOnce(u32) -> Vec<u8>) {
    if let Some(id) = talk.first_request() {
        talk.send(&bytes(id));
        talk.close();
    }
}

/// A head, data, and trailers.
fn answer(talk: &mut Talk, head: Fields<'_>, body: &[u8], trailers: Fields<'_>) {
    say(talk, |id| {
        let mut out = headers(id, END_HEADERS, head);
        for piece in body.chunks(16 << 10) {
            out.extend(data(id, 0, piece));
        }
        out.extend(headers(id, END, trailers));
        out
    });
}

/// A head with a field more.
fn with_field(talk: &mut Talk, field: (&str, &str), body: &[u8]) {
    answer(talk, &[HEAD[0], HEAD[1], field], body, FINE);
}

/// Nothing but trailers.
fn only(talk: &mut Talk, fields: Fields<'_>) {
    let all = [HEAD, fields].concat();
    say(talk, |id| headers(id, END, &all));
}

/// A name, and what the server does.
type Case = (&'static str, fn(&mut Talk));

const CASES: &[Case] = &[
    ("good", |talk| answer(talk, HEAD, &framed(0, b""), FINE)),
    ("no_trailers", |talk| {
        say(talk, |id| [headers(id, END_HEADERS, HEAD), data(id, END_STREAM, &framed(0, b""))].concat());
    }),
    ("no_message", |talk| answer(talk, HEAD, b"", FINE)),
    ("two_messages", |talk| answer(talk, HEAD, &[framed(0, b""), framed(0, b"")].concat(), FINE)),
    ("only_trailers", |talk| only(talk, FINE)),
    ("only_trailers_failed", |talk| only(talk, &[("grpc-status", "5"), ("grpc-message", "gone")])),
    ("no_status", |talk| answer(talk, HEAD, &framed(0, b""), &[("grpc-message", "what?")])),
    ("status_word", |talk| answer(talk, HEAD, &framed(0, b""), &[("grpc-status", "fine")])),
    ("status_negative", |talk| answer(talk, HEAD, &framed(0, b""), &[("grpc-status", "-1")])),
    ("status_huge", |talk| answer(talk, HEAD, &framed(0, b""), &[("grpc-status", "99999999999")])),
    ("status_unknown", |talk| only(talk, &[("grpc-status", "99"), ("grpc-message", "new")])),
    ("message_escapes", |talk| only(talk, &[("grpc-status", "2"), ("grpc-message", "%zz %4 %41 %")])),
    ("not_found", |talk| {
        answer(talk, &[(":status", "404"), ("content-type", "text/html")], b"<h1>no</h1>", &[("x", "y")]);
    }),
    ("bad_gateway", |talk| say(talk, |id| headers(id, END, &[(":status", "502")]))),
    ("html", |talk| answer(talk, &[(":status", "200"), ("content-type", "text/html")], b"<h1>hi</h1>", &[("x", "y")])),
    ("no_content_type", |talk| answer(talk, &[(":status", "200")], &framed(0, b""), FINE)),
    ("grpc_web", |talk| {
        answer(talk, &[(":status", "200"), ("content-type", "application/grpc-web")], &framed(0, b""), FINE);
    }),
    ("compressed_unsaid", |talk| answer(talk, HEAD, &framed(1, b"x"), FINE)),
    ("encoding_unknown", |talk| with_field(talk, ("grpc-encoding", "br"), &framed(1, b"x"))),
    ("gzip_broken", |talk| with_field(talk, ("grpc-encoding", "gzip"), &framed(1, b"x"))),
    ("flag_unknown", |talk| answer(talk, HEAD, &framed(7, b""), FINE)),
    ("length_too_large", |talk| answer(talk, HEAD, &[0, 0, 0x50, 0, 0], FINE)),
    ("length_largest", |talk| answer(talk, HEAD, &[0, 255, 255, 255, 255], FINE)),
    ("message_cut", |talk| answer(talk, HEAD, &[0, 0, 0, 0, 100, 1, 2, 3], FINE)),
    ("frame_cut", |talk| answer(talk, HEAD, &[0, 0, 0], FINE)),
    ("message_cut_failed", |talk| answer(talk, HEAD, &[0, 0, 0, 0, 100, 1], &[("grpc-status", "5")])),
    ("protobuf_broken", |talk| answer(talk, HEAD, &framed(0, &[0xff]), FINE)),
    ("protobuf_utf8", |talk| answer(talk, HEAD, &framed(0, &[0x72, 1, 0xff]), FINE)),
    ("protobuf_group", |talk| answer(talk, HEAD, &framed(0, &[0x8b, 1]), FINE)),
    ("protobuf_deep", |talk| {
        let mut message = Vec::new();
        for _ in 0..60 {
            message = [&[0x12, message.len() as u8][..], &message].concat();
        }
        answer(talk, HEAD, &framed(0, &[&[0x8a, 1, message.len() as u8][..], &message].concat()), FINE);
    }),
    ("reset_cancel", |talk| say(talk, |id| reset(id, CANCEL))),
    ("reset_none", |talk| say(talk, |id| reset(id, 0))),
    ("reset_internal", |talk| say(talk, |id| reset(id, 2))),
    ("reset_calm", |talk| say(talk, |id| reset(id, 11))),
    ("reset_unknown", |talk| say(talk, |id| reset(id, 77))),
    ("reset_after_head", |talk| {
        say(talk, |id| [headers(id, END_HEADERS, HEAD), data(id, 0, &framed(0, b"")), reset(id, 2)].concat());
    }),
    ("goaway", |talk| say_and_close(talk, |id| goaway(id, 0, "bye"))),
    ("goaway_calm", |talk| say_and_close(talk, |id| goaway(id, 11, "too_many_pings"))),
    ("closed", |talk| say_and_close(talk, |_| Vec::new())),
    ("closed_amid", |talk| {
        say_and_close(talk, |id| [headers(id, END_HEADERS, HEAD), data(id, 0, &[0, 0, 0])].concat());
    }),
    ("stalled", |talk| say(talk, |_| Vec::new())),
    ("stalled_amid", |talk| say(talk, |id| [headers(id, END_HEADERS, HEAD), data(id, 0, &[0, 0])].concat())),
    ("head_twice", |talk| {
        say(talk, |id| [headers(id, END_HEADERS, HEAD), headers(id, END_HEADERS, HEAD)].concat());
    }),
    ("data_first", |talk| say(talk, |id| data(id, 0, &framed(0, b"")))),
    ("metadata_broken", |talk| with_field(talk, ("x-bin", "*"), &framed(0, b""))),
    ("interim", |talk| {
        say(talk, |id| {
            let interim = headers(id, END_HEADERS, &[(":status", "103"), ("link", "x")]);
            [interim, headers(id, END_HEADERS, HEAD), data(id, 0, &framed(0, b"")), headers(id, END, FINE)].concat()
        });
    }),
    ("not_hpack", |talk| say(talk, |id| frame(HEADERS, END, id, &[0x80]))),
    ("empty_data", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&headers(id, END_HEADERS, HEAD));
            talk.send(&data(id, 0, b"").repeat(5_000));
            talk.send(&[data(id, 0, &framed(0, b"")), headers(id, END, FINE)].concat());
            talk.hang();
        }
    }),
    ("pings", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&ping(0, &[1; 8]).repeat(5_000));
            talk.send(&[headers(id, END_HEADERS, HEAD), data(id, 0, &framed(0, b"")), headers(id, END, FINE)].concat());
            talk.hang();
        }
    }),
    ("dripping", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&headers(id, END_HEADERS, HEAD));
            for byte in framed(0, &[0x72, 2, b'h', b'i']) {
                talk.send(&data(id, 0, &[byte]));
                talk.pause(Duration::from_millis(2));
            }
            talk.send(&headers(id, END, FINE));
            talk.hang();
        }
    }),
    ("frame_kind_unknown", |talk| {
        say(talk, |id| {
            let good = [headers(id, END_HEADERS, HEAD), data(id, 0, &framed(0, b"")), headers(id, END, FINE)].concat();
            [frame(0x77, 0, id, b"what"), good].concat()
        });
    }),
    ("ping_of_stream", |talk| say(talk, |id| frame(PING, 0, id, &[0; 8]))),
    ("fields_many", |talk| {
        let name: Vec<String> = (0..500).map(|number| format!("x-{number}")).collect();
        let mut fields = HEAD.to_vec();
        fields.extend(name.iter().map(|name| (name.as_str(), "some value")));
        let fields = block(&fields);
        say(talk, |id| {
            let good = [data(id, 0, &framed(0, b"")), headers(id, END, FINE)].concat();
            [frame(HEADERS, END_HEADERS, id, &fields), good].concat()
        });
    }),
];
