//! Heads that are none: status lines, versions, headers, floods.

use super::case::{Case, GOOD};
use crate::steps::Step;

pub(super) fn cases() -> Vec<Case> {
    let status = |name, about, line: &str| Case::says(name, about, format!("{line}\r\nContent-Length: 2\r\n\r\nhi"));
    let header = |name, about, line: &str| {
        Case::says(name, about, format!("HTTP/1.1 200 OK\r\n{line}\r\nContent-Length: 2\r\n\r\nhi"))
    };
    let flood = |name, about, start: &str, piece: &str| {
        Case::plain(name, about, vec![Step::Read, Step::Send(start.into()), Step::Flood(piece.into())])
    };
    let many = (0..50_000).map(|number| format!("X-{number}: v\r\n")).collect::<String>();
    vec![
        Case::says("garbage", "sends no HTTP at all", &[0, 1, 2, 0xff, b'\n', b'\r', 0x80][..]),
        Case::says("garbage_text", "sends text that is no HTTP", "220 mail.example ESMTP ready\r\n"),
        Case::says("empty_lines", "sends empty lines only", "\r\n\r\n\r\n"),
        status("leading_empty_line", "sends an empty line before the response", "\r\nHTTP/1.1 200 OK"),
        status("version_9", "speaks HTTP/9.9", "HTTP/9.9 200 OK"),
        status("version_2", "answers as HTTP/2.0 in text", "HTTP/2.0 200 OK"),
        status("version_0_9", "answers as HTTP/0.9", "HTTP/0.9 200 OK"),
        status("version_icy", "answers as a radio station", "ICY 200 OK"),
        status("version_lower_case", "writes http in lower case", "http/1.1 200 OK"),
        status("version_long", "has a version of many digits", "HTTP/1.11111 200 OK"),
        status("status_missing", "leaves out the status", "HTTP/1.1"),
        status("status_two_digits", "has a status of two digits", "HTTP/1.1 20 OK"),
        status("status_four_digits", "has a status of four digits", "HTTP/1.1 2000 OK"),
        status("status_negative", "has a negative status", "HTTP/1.1 -20 OK"),
        status("status_letters", "has a status of letters", "HTTP/1.1 abc OK"),
        status("status_zero", "has the status 000", "HTTP/1.1 000 Zero"),
        status("status_999", "has the status 999", "HTTP/1.1 999 Whatever"),
        status("status_no_reason", "leaves out the reason", "HTTP/1.1 200"),
        status("status_double_space", "has two spaces before the status", "HTTP/1.1  200 OK"),
        header("no_colon", "sends a header without a colon", "nonsense"),
        header("empty_name", "sends a header without a name", ": value"),
        header("space_in_name", "sends a header with a space in its name", "X Space: value"),
        header("space_before_colon", "sends a space before the colon", "X-Space : value"),
        header("nul_in_value", "sends a NUL in a value", "X-Nul: a\0b"),
        header("nul_in_name", "sends a NUL in a name", "X-\0: a"),
        header("bare_cr", "sends a CR in a value", "X-Cr: a\rb"),
        header("control_in_value", "sends control characters in a value", "X-Bell: \u{7}\u{1b}[2J"),
        header("not_utf8", "sends bytes that are not UTF-8", "X-Latin: caf\u{e9}"),
        header("folded", "continues a header on the next line", "X-Folded: one\r\n two\r\n\tthree"),
        header("fold_first", "begins with a continuation line", " X-Folded: one"),
        Case::says("only_lf", "ends lines with LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi"),
        Case::says(
            "many_headers",
            "sends 50,000 headers",
            format!("HTTP/1.1 200 OK\r\n{many}Content-Length: 2\r\n\r\nhi"),
        ),
        Case::says(
            "large_header",
            "sends a header of 5 MB",
            format!("HTTP/1.1 200 OK\r\nX-Large: {}\r\nContent-Length: 2\r\n\r\nhi", "a".repeat(5 << 20)),
        ),
        flood("endless_headers", "sends headers without end", "HTTP/1.1 200 OK\r\n", "X-Filler: 0123456789\r\n"),
        flood("endless_line", "sends a header without end", "HTTP/1.1 200 OK\r\nX-Filler: ", "xxxxxxxxxx"),
        flood("endless_folds", "sends continuation lines without end", "HTTP/1.1 200 OK\r\nX-F: a\r\n", " b\r\n"),
        flood("endless_status_line", "sends a status line without end", "HTTP/1.1 200 ", "OK OK OK "),
        flood("endless_name", "sends a header's name without end", "HTTP/1.1 200 OK\r\n", "X-Name-"),
        flood("endless_empty_lines", "sends empty lines without end", "", "\r\n"),
        flood(
            "endless_interim",
            "sends interim responses without end",
            "",
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
        ),
        Case::says(
            "many_interim",
            "sends ten interim responses first",
            format!("{}{GOOD}", "HTTP/1.1 102 Processing\r\n\r\n".repeat(10)),
        ),
        Case::says("interim_only", "sends an interim response and closes", "HTTP/1.1 100 Continue\r\n\r\n"),
        Case::says("interim_with_length", "gives an interim response a length", {
            format!("HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n{GOOD}")
        }),
        Case::says(
            "switches_protocols",
            "switches protocols unasked",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello",
        ),
    ]
}
