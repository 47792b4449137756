//! Connections that end, or do not, when they should not.

use std::time::Duration;

use super::case::{Case, GOOD};
use crate::steps::Step;

/// Long enough that the other side has read what was sent before.
const MOMENT: Duration = Duration::from_millis(30);

pub(super) fn cases() -> Vec<Case> {
    let ends = |name, about, text: &str| Case::says(name, about, text);
    let resets = |name, about, text: &str| {
        Case::plain(name, about, vec![Step::Read, Step::Send(text.into()), Step::Pause(MOMENT), Step::Reset])
    };
    let first = || vec![Step::Read, Step::Send(GOOD.into())];
    let then = |more: Vec<Step>| [first(), more].concat();
    vec![
        Case::plain("close_at_accept", "closes at once", vec![])
            .or(0, 1000, "EOF")
            .or(0, 1000, "http: server closed idle connection")
            .or(0, 1220, "read: connection reset by peer"),
        Case::plain("reset_at_accept", "resets at once", vec![Step::Reset])
            .or(0, 1220, "read: connection reset by peer")
            .or(0, 1220, "dial: connection reset by peer")
            .or(0, 1220, "write: connection reset by peer"),
        Case::plain("reset_after_request", "resets instead of answering", vec![Step::Read, Step::Reset]),
        ends("close_after_request", "closes instead of answering", ""),
        ends("close_in_status_line", "closes in the status line", "HTTP/1.1 200"),
        ends("close_after_status_line", "closes after the status line", "HTTP/1.1 200 OK\r\n"),
        ends("close_in_header", "closes in a header", "HTTP/1.1 200 OK\r\nContent-Le"),
        ends("close_between_headers", "closes between headers", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
        ends("close_before_body", "closes before the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        ends("close_in_body", "closes in the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"),
        ends("close_is_end", "ends a body by closing", "HTTP/1.1 200 OK\r\n\r\nhello"),
        ends("close_1_0", "answers as HTTP/1.0 and closes", "HTTP/1.0 200 OK\r\n\r\nhello"),
        resets("reset_in_status_line", "resets in the status line", "HTTP/1.1 200"),
        resets("reset_between_headers", "resets between headers", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
        resets("reset_in_body", "resets in the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"),
        resets("reset_open_body", "resets a body without a length", "HTTP/1.1 200 OK\r\n\r\nhello"),
        resets("reset_in_chunk", "resets in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
        Case::plain("closes_kept_alive", "closes when asked again", then(vec![Step::Read])).times(2),
        Case::plain("resets_kept_alive", "resets when asked again", then(vec![Step::Read, Step::Reset])).times(2),
        Case::plain("resets_kept_alive_post", "resets when sent a second body", then(vec![Step::Read, Step::Reset]))
            .posting(10)
            .times(2),
        Case::plain(
            "half_second_answer",
            "closes in the second answer",
            then(vec![Step::Read, Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel".into())]),
        )
        .times(2),
        Case::plain(
            "says_close_and_stays",
            "says close and stays open",
            vec![
                Step::Read,
                Step::Send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi".into()),
                Step::Hang,
            ],
        )
        .times(2),
        Case::plain(
            "answers_early",
            "answers an upload before reading it, and closes",
            vec![
                Step::ReadSome,
                Step::Send(
                    b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig".into(),
                ),
                Step::Pause(MOMENT),
            ],
        )
        .posting(8 << 20)
        .or(0, 1220, "write: connection reset by peer")
        .or(0, 1201, "write: broken pipe")
        .or(0, 1220, "read: connection reset by peer"),
        Case::plain(
            "answers_early_and_reads",
            "answers an upload before it has come",
            vec![Step::ReadSome, Step::Send(GOOD.into()), Step::Hang],
        )
        .posting(100),
        Case::plain("unasked_first", "speaks first", vec![Step::Send(GOOD.into()), Step::Hang]),
        Case::says("speaks_tls", "speaks TLS on the plain port", [0x15_u8, 3, 1, 0, 2, 2, 22]),
    ]
}
