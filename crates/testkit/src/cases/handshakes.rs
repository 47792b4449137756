//! TLS that is none: records, handshakes and alerts.

use std::{sync::Arc, time::Duration};

use rustls::ServerConfig;

use super::{
    authorities::{Authorities, good, good_with},
    case::{Case, GOOD, SLOW},
};
use crate::steps::Step;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = raw();
    cases.extend(cut());
    cases.extend(established());
    cases
}

/// Servers that answer the client hello with bytes of their own.
fn raw() -> Vec<Case> {
    let says = |name, about, bytes: &[u8]| {
        Case::plain(name, about, vec![Step::ReadSome, Step::Send(bytes.to_vec()), Step::Pause(MOMENT)]).https()
    };
    let alert = |name, about, level: u8, number: u8| says(name, about, &[0x15, 3, 3, 0, 2, level, number]);
    let flood =
        |name, about, piece: &[u8]| Case::plain(name, about, vec![Step::ReadSome, Step::Flood(piece.to_vec())]).https();
    vec![
        says("tls_http", "speaks HTTP on the TLS port", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
        says("tls_ssh", "speaks SSH on the TLS port", b"SSH-2.0-OpenSSH_9.6\r\n"),
        says("tls_zeros", "sends zeros", &[0; 64]),
        says(
            "tls_record_too_long",
            "sends a record of 65,535 bytes",
            &[&[0x16, 3, 3, 0xff, 0xff][..], &[0; 65_535]].concat(),
        )
        .differs(
            0,
            1301,
            "tls: first record does not look like a TLS handshake",
            "rustls does not tell the length",
        ),
        says("tls_record_empty", "sends an empty handshake record", &[0x16, 3, 3, 0, 0]),
        says("tls_record_type", "sends a record of an unknown type", &[0x63, 3, 3, 0, 2, 0, 0]),
        says("tls_record_version", "sends a record of version 9.9", &[0x16, 9, 9, 0, 2, 0, 0]).differs(
            0,
            1301,
            "tls: first record does not look like a TLS handshake",
            "rustls looks at the version of the first record; Go waits for the rest",
        ),
        says("tls_handshake_type", "sends an unknown handshake message", &[0x16, 3, 3, 0, 4, 0x63, 0, 0, 0]),
        says(
            "tls_handshake_too_long",
            "announces a handshake message of 16 MB",
            &[0x16, 3, 3, 0, 6, 2, 0xff, 0xff, 0xff, 3, 3],
        )
        .differs(
            0,
            1000,
            "tls: handshake message exceeds maximum of 65535 bytes",
            "rustls does not tell the length",
        ),
        says("tls_hello_short", "sends a hello that is too short", &[0x16, 3, 3, 0, 6, 2, 0, 0, 2, 3, 3]),
        says("tls_hello_request", "wants to renegotiate before it has answered", &[0x16, 3, 3, 0, 4, 0, 0, 0, 0]),
        says(
            "tls_finished_first",
            "sends Finished first",
            &[&[0x16, 3, 3, 0, 16, 20, 0, 0, 12][..], &[0; 12]].concat(),
        ),
        says("tls_data_first", "sends data before the handshake", &[0x17, 3, 3, 0, 5, b'h', b'e', b'l', b'l', b'o']),
        says("tls_change_cipher_first", "changes ciphers first", &[0x14, 3, 3, 0, 1, 1]),
        says("tls_hello_ssl3", "chooses SSL 3.0", &hello(0x0300, 0x002f)).differs(
            0,
            1000,
            "tls: server selected unsupported protocol version",
            "rustls does not tell the version",
        ),
        says("tls_hello_1_0", "chooses TLS 1.0", &hello(0x0301, 0xc013)).differs(
            0,
            1000,
            "tls: server selected unsupported protocol version",
            "rustls does not tell the version",
        ),
        says("tls_hello_1_1", "chooses TLS 1.1", &hello(0x0302, 0xc013)).differs(
            0,
            1000,
            "tls: server selected unsupported protocol version",
            "rustls does not tell the version",
        ),
        says("tls_hello_future", "chooses TLS 9.9", &hello(0x0909, 0x1301)).differs(
            0,
            1000,
            "tls: server selected unsupported protocol version",
            "rustls does not tell the version",
        ),
        says("tls_suite_null", "chooses a suite without encryption", &hello(0x0303, 0x0000)),
        says("tls_suite_unknown", "chooses a suite nobody offered", &hello(0x0303, 0xfefe)),
        alert("tls_alert_handshake_failure", "refuses the handshake", 2, 40),
        alert("tls_alert_internal_error", "has an internal error", 2, 80),
        alert("tls_alert_version", "refuses the version", 2, 70),
        alert("tls_alert_name", "does not know the name", 2, 112),
        alert("tls_alert_alpn", "speaks none of the protocols", 2, 120),
        alert("tls_alert_unknown", "sends an alert without a name", 2, 200),
        alert("tls_alert_close", "says goodbye to the hello", 1, 0),
        alert("tls_alert_short_of_level", "sends an alert of no level", 9, 40).differs(
            0,
            1010,
            "remote error: tls: handshake failure",
            "rustls takes a level nobody knows for fatal",
        ),
        flood("tls_warnings", "sends warnings without end", &[0x15, 3, 3, 0, 2, 1, 112]),
        flood("tls_change_cipher_flood", "changes ciphers without end", &[0x14, 3, 3, 0, 1, 1]),
        flood("tls_empty_flood", "sends empty records without end", &[0x16, 3, 3, 0, 0]),
        Case::plain("tls_close", "closes instead of answering the hello", vec![Step::ReadSome]).https(),
        Case::plain("tls_close_at_accept", "closes before the hello", vec![]).https(),
        Case::plain("tls_reset", "resets instead of answering the hello", vec![Step::ReadSome, Step::Reset]).https(),
        Case::plain("tls_silence", "never answers the hello", vec![Step::Hang]).https().for_ever(),
        Case::plain(
            "tls_drip",
            "sends a record byte by byte",
            vec![
                Step::ReadSome,
                Step::Drip([&[0x16, 3, 3, 0x10, 0, 2, 0, 0x0f, 0xfc, 3, 3][..], &[7; 4000]].concat(), SLOW),
                Step::Hang,
            ],
        )
        .https()
        .for_ever(),
    ]
}

/// Servers that stop within their part of the handshake.
fn cut() -> Vec<Case> {
    let part = |name, about, bytes: usize, then: &[Step]| {
        Case::over_tls(name, about, good, [&[Step::CutFlight(bytes)], then].concat())
    };
    vec![
        part("tls_close_in_hello", "closes in its hello", 40, &[]),
        part("tls_close_after_hello", "closes after its hello", 127, &[]),
        part("tls_close_in_certificate", "closes in its certificate", 400, &[]),
        part("tls_reset_in_hello", "resets in its hello", 40, &[Step::Pause(MOMENT), Step::Reset]),
        part("tls_reset_in_certificate", "resets in its certificate", 400, &[Step::Pause(MOMENT), Step::Reset]).or(
            0,
            1220,
            "write: connection reset by peer",
        ),
        part("tls_stop_in_hello", "stops in its hello", 40, &[Step::Hang]).for_ever(),
        part("tls_stop_in_certificate", "stops in its certificate", 400, &[Step::Hang]).for_ever(),
        part(
            "tls_garbage_after_hello",
            "sends garbage after its hello",
            127,
            &[Step::Raw([&[0x17, 3, 3, 0, 64][..], &[0x5a; 64]].concat()), Step::Pause(MOMENT)],
        ),
        part(
            "tls_plain_after_hello",
            "goes on in plain text after its hello",
            127,
            &[Step::Raw(GOOD.into()), Step::Pause(MOMENT)],
        )
        .differs(
            0,
            1301,
            "tls: first record does not look like a TLS handshake",
            "rustls does not tell the version it saw",
        ),
    ]
}

/// Servers that break TLS once it stands.
fn established() -> Vec<Case> {
    let both = |name, about, steps: Vec<Step>| Case::over_tls(name, about, good, steps);
    let reads = |rest: Vec<Step>| [vec![Step::Read], rest].concat();
    let body = |length: usize, text: &str| {
        Step::Send(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{text}").into())
    };
    vec![
        both("tls_good", "does nothing wrong", reads(vec![Step::Send(GOOD.into()), Step::CloseNotify])),
        both("tls_no_goodbye", "closes without a goodbye after a whole answer", reads(vec![Step::Send(GOOD.into())])),
        both(
            "tls_truncated_body",
            "ends an open body without a goodbye",
            reads(vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\nhello".into())]),
        ),
        both(
            "tls_goodbye_is_end",
            "ends an open body with a goodbye",
            reads(vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\nhello".into()), Step::CloseNotify]),
        ),
        both("tls_goodbye_in_body", "says goodbye in the body", reads(vec![body(50, "hello"), Step::CloseNotify])),
        both("tls_close_in_body", "closes in the body", reads(vec![body(50, "hello")])),
        both(
            "tls_reset_in_body",
            "resets in the body",
            reads(vec![body(50, "hello"), Step::Pause(MOMENT), Step::Reset]),
        ),
        both("tls_goodbye_first", "says goodbye instead of answering", reads(vec![Step::CloseNotify])),
        both(
            "tls_tampered",
            "sends a record with a wrong byte",
            reads(vec![Step::Tampered(GOOD.into()), Step::Pause(MOMENT)]),
        ),
        both(
            "tls_tampered_body",
            "sends a record with a wrong byte in the body",
            reads(vec![body(50, "hello"), Step::Tampered(b"world".into()), Step::Pause(MOMENT)]),
        ),
        both("tls_truncated_record", "closes in a record", reads(vec![Step::Truncated(GOOD.into())])),
        both("tls_stop_in_record", "stops in a record", reads(vec![Step::Truncated(GOOD.into()), Step::Hang]))
            .for_ever(),
        both(
            "tls_plain_after_handshake",
            "goes on in plain text",
            reads(vec![Step::Raw(GOOD.into()), Step::Pause(MOMENT)]),
        )
        .differs(
            0,
            1301,
            "tls: first record does not look like a TLS handshake",
            "rustls does not tell the version it saw",
        ),
        both(
            "tls_plain_alert",
            "sends an alert in plain text once keys stand",
            reads(vec![Step::Raw(vec![0x15, 3, 3, 0, 2, 2, 80]), Step::Pause(MOMENT)]),
        ),
        both(
            "tls_slow_records",
            "sends a body in records of a byte",
            reads(vec![body(100_000, ""), Step::Drip(vec![b'x'; 1000], SLOW)]),
        )
        .for_ever(),
        both(
            "tls_endless_body",
            "sends a body without end",
            reads(vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".into()), Step::Pour("x".repeat(1000).into())]),
        )
        .for_ever(),
        both(
            "tls_key_update",
            "changes keys before it answers",
            reads(vec![Step::KeyUpdates(1), Step::Send(GOOD.into()), Step::CloseNotify]),
        ),
        both(
            "tls_key_updates",
            "changes keys ten thousand times",
            reads(vec![Step::KeyUpdates(10_000), Step::Send(GOOD.into()), Step::CloseNotify]),
        )
        .differs(
            0,
            1000,
            "tls: too many non-advancing records",
            "rustls counts key updates, Go fails at the answer to the first",
        ),
        Case::over_tls(
            "tls_many_tickets",
            "sends a thousand tickets",
            |authorities| tickets(authorities, 1000),
            reads(vec![Step::Send(GOOD.into()), Step::CloseNotify]),
        ),
        Case::over_tls(
            "tls_1_2_truncated_record",
            "closes in a record of TLS 1.2",
            |authorities| good_with(authorities, &[&rustls::version::TLS12]),
            reads(vec![Step::Truncated(GOOD.into())]),
        ),
        Case::over_tls(
            "tls_1_2_tampered",
            "sends a record of TLS 1.2 with a wrong byte",
            |authorities| good_with(authorities, &[&rustls::version::TLS12]),
            reads(vec![Step::Tampered(GOOD.into()), Step::Pause(MOMENT)]),
        ),
        Case::over_tls(
            "tls_1_2_renegotiation",
            "sends garbage as a handshake record of TLS 1.2",
            |authorities| good_with(authorities, &[&rustls::version::TLS12]),
            reads(vec![Step::Raw([&[0x16, 3, 3, 0, 28][..], &[0x11; 28]].concat()), Step::Pause(MOMENT)]),
        ),
        Case::over_tls("tls_on_plain_port", "speaks TLS where HTTP is expected", good, vec![Step::Read]).plain_http(),
        Case::over_tls(
            "tls_wants_certificate",
            "wants a client certificate",
            Authorities::wanting,
            vec![Step::Read, Step::Send(GOOD.into())],
        ),
    ]
}

impl Case {
    /// Asked in plain text although the server speaks TLS.
    fn plain_http(mut self) -> Self {
        self.ask.scheme = "http";
        self
    }
}

fn tickets(authorities: &Authorities, count: usize) -> Arc<ServerConfig> {
    let mut config = (*good(authorities)).clone();
    config.send_tls13_tickets = count;
    Arc::new(config)
}

/// A server hello for a version and suite, without extensions.
fn hello(version: u16, suite: u16) -> Vec<u8> {
    let mut hello = version.to_be_bytes().to_vec();
    hello.extend_from_slice(&[0x42; 32]);
    hello.push(0);
    hello.extend_from_slice(&suite.to_be_bytes());
    hello.push(0);
    let mut record = vec![0x16, 3, 3];
    record.extend_from_slice(&(hello.len() as u16 + 4).to_be_bytes());
    record.extend_from_slice(&[2, 0, 0, hello.len() as u8]);
    record.extend_from_slice(&hello);
    record
}

/// Long enough that the other side has read what was sent before.
const MOMENT: Duration = Duration::from_millis(30);
