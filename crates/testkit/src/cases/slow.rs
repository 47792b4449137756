//! Servers that take their time: slowloris in both directions.

use super::case::{CHUNKED, Case, GOOD, SLOW};
use crate::steps::Step;

pub(super) fn cases() -> Vec<Case> {
    let after = |name, about, sent: &str, dripped: &str| {
        let steps = vec![Step::Read, Step::Send(sent.into()), Step::Drip(dripped.repeat(200).into(), SLOW), Step::Hang];
        Case::plain(name, about, steps).for_ever()
    };
    let stops = |name, about, sent: &str| {
        Case::plain(name, about, vec![Step::Read, Step::Send(sent.into()), Step::Hang]).for_ever()
    };
    vec![
        Case::plain("hang_at_accept", "accepts and says nothing", vec![Step::Hang]).for_ever(),
        Case::plain("never_reads", "takes no byte of a large upload", vec![Step::Freeze]).posting(32 << 20).for_ever(),
        after("slow_status_line", "sends a status line byte by byte", "", "HTTP/1.1 200 OK and more"),
        after("slow_head", "sends headers byte by byte", "HTTP/1.1 200 OK\r\n", "X-Slow: value\r\n"),
        after("slow_interim", "sends interim responses byte by byte", "", "HTTP/1.1 100 Continue\r\n\r\n"),
        after("slow_chunk_size", "sends a chunk's size byte by byte", CHUNKED, "0"),
        after("slow_chunk_extension", "sends a chunk's extension byte by byte", &format!("{CHUNKED}5;a="), "x"),
        after("slow_chunks", "sends chunks of a byte", CHUNKED, "1\r\nx\r\n"),
        after("slow_body", "sends a body byte by byte", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", "x"),
        after("slow_trailers", "sends trailers byte by byte", &format!("{CHUNKED}0\r\n"), "X-T: 1\r\n"),
        stops("stop_in_status_line", "stops in the status line", "HTTP/1.1 2"),
        stops("stop_in_head", "stops between headers", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
        stops("stop_before_body", "stops after the head", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        stops("stop_in_body", "stops in the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"),
        stops("stop_in_chunk", "stops in a chunk", &format!("{CHUNKED}5\r\nhel")),
        stops("stop_before_last_chunk", "never sends the last chunk", &format!("{CHUNKED}5\r\nhello\r\n")),
        stops("stop_in_trailers", "stops in the trailers", &format!("{CHUNKED}0\r\nX-T")),
        Case::plain("slow_second", "stops when asked again", vec![Step::Read, Step::Send(GOOD.into()), Step::Hang])
            .times(2)
            .for_ever(),
    ]
}
