//! Tests of response heads: Go's verdicts, limits, and two parsers that must agree.

use super::*;
use proptest::prelude::*;

fn parse(input: &[u8]) -> Result<Option<(Head, usize)>, String> {
    let mut parser = HeadParser::default();
    match parser.feed(input, false, &Limits::default()) {
        Ok(HeadState::Complete { head, used }) => Ok(Some((head, used))),
        Ok(HeadState::Partial) => Ok(None),
        Err(error) => Err(error.message),
    }
}

#[test]
fn malformed_heads_are_gos_errors() {
    let check = |input: &str, expect: &str| {
        assert_eq!(parse(input.as_bytes()).map(|_| ()).unwrap_err(), expect, "{input:?}");
    };
    let in_head = |field: &str, expect: &str| {
        check(&format!("HTTP/1.1 200 OK\r\n{field}\r\nContent-Length: 0\r\n\r\n"), expect);
    };
    check("garbage here\r\n\r\n", "malformed HTTP status code \"here\"");
    check("garbage\r\n", "malformed HTTP response \"garbage\"");
    check("\r\nHTTP/1.1 200 OK\r\n\r\n", "malformed HTTP response \"\"");
    check("HTTP/1.1 20 OK\r\n\r\n", "malformed HTTP status code \"20\"");
    check("HTTP/1.1 abc OK\r\n\r\n", "malformed HTTP status code \"abc\"");
    check("HTTP/1.x 200 OK\r\n\r\n", "malformed HTTP version \"HTTP/1.x\"");
    in_head("badheader", "malformed MIME header: missing colon: \"badheader\"");
    in_head(": x", "malformed MIME header line: \": x\"");
    in_head(" x: y", "malformed MIME header initial line: \" x: y\"");
    in_head("x: a\x01b", "malformed MIME header line: \"X: a\\x01b\"");
    in_head("x: a\0b", "malformed MIME header line: \"X: a\\x00b\"");
    in_head("x: a\rb", "malformed MIME header line: \"X: a\\rb\"");
    in_head("a: b\r\n c\r\nT\r\n :", "malformed MIME header: missing colon: \"T\"");
    in_head("Content-Length: 1", "http: message cannot contain multiple Content-Length headers; got [\"1\" \"0\"]");
    in_head("Transfer-Encoding: gzip, chunked", "unsupported transfer encoding: \"gzip, chunked\"");
    in_head(
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "too many transfer encodings: [\"gzip\" \"chunked\"]",
    );
    in_head("Transfer-Encoding: chunked\r\nTrailer: a, Content-Length", "bad trailer key \"Content-Length\"");
    for bad in ["abc", "-5", "+5", "99999999999999999999999", "9223372036854775808"] {
        check(&format!("HTTP/1.1 200 OK\r\nContent-Length: {bad}\r\n\r\n"), &format!("bad Content-Length \"{bad}\""));
    }
    check("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", "invalid empty Content-Length \"\"");
}

#[test]
fn odd_heads_go_accepts() {
    let check = |input: &str, status: u16, proto: &str, text: &str, fields: &[(&str, &str)]| {
        let (head, used) = parse(input.as_bytes()).unwrap().unwrap();
        let joined = head.headers.joined();
        let joined: Vec<_> = joined.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            (head.status, &*head.proto.text(), &*head.headers.status_text(), used),
            (status, proto, text, input.len())
        );
        assert_eq!(joined, fields, "{input:?}");
    };
    check("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, "HTTP/1.1", "200", &[("Content-Length", "0")]);
    check("HTTP/1.1  200  OK \r\n\r\n", 200, "HTTP/1.1", "200  OK ", &[]);
    check("HTTP/2.0 200 OK\r\n\r\n", 200, "HTTP/2.0", "200 OK", &[]);
    check("HTTP/1.1 099 Odd\r\n\r\n", 99, "HTTP/1.1", "099 Odd", &[]);
    check("HTTP/1.1 999 Odd\n\n", 999, "HTTP/1.1", "999 Odd", &[]);
    check(
        "HTTP/1.1 200 OK\r\nbad header: x\r\nbad : y\r\n\r\n",
        200,
        "HTTP/1.1",
        "200 OK",
        &[("bad header", "x"), ("bad ", "y")],
    );
    check(
        "HTTP/1.1 200 OK\r\nx: a  \r\n   b\r\n\tc\r\nY: z\r\n\r\n",
        200,
        "HTTP/1.1",
        "200 OK",
        &[("X", "a b c"), ("Y", "z")],
    );
    check(
        "HTTP/1.1 200 OK\r\nx-low: a\r\nX-Low: b\r\nPragma: no-cache\r\nConnection: close\r\nTrailer: Foo\r\nTransfer-Encoding: chunked\r\n\r\n",
        200,
        "HTTP/1.1",
        "200 OK",
        &[("X-Low", "a, b"), ("Pragma", "no-cache"), ("Cache-Control", "no-cache")],
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n",
        200,
        "HTTP/1.1",
        "200 OK",
        &[("Content-Length", "5")],
    );
}

#[test]
fn a_head_has_a_limit() {
    let limits = Limits { head_bytes_max: 100, ..Limits::default() };
    let expect = "net/http: server response headers exceeded 100 bytes; aborted";
    for step in [1, 10, 1000] {
        let input = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(200));
        let mut parser = HeadParser::default();
        let error = input.as_bytes().chunks(step).find_map(|piece| parser.feed(piece, false, &limits).err()).unwrap();
        assert_eq!(error.message, expect);
    }
    // By one byte, in pieces as in one.
    let input = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(77));
    for step in [7, 1000] {
        let mut parser = HeadParser::default();
        let error = input.as_bytes().chunks(step).find_map(|piece| parser.feed(piece, false, &limits).err()).unwrap();
        assert_eq!((error.message.as_str(), input.len()), (expect, 101));
    }
    // Endless interim responses count together.
    let mut parser = HeadParser::default();
    let error = (0..100).find_map(|_| parser.feed(b"HTTP/1.1 100 Go on\r\n\r\n", false, &limits).err()).unwrap();
    assert_eq!(error.message, expect);
}

#[test]
fn a_slow_head_is_judged_line_by_line() {
    let mut parser = HeadParser::default();
    assert!(matches!(parser.feed(b"HTTP/1.1 2", false, &Limits::default()), Ok(HeadState::Partial)));
    assert!(matches!(parser.feed(b"00 OK\r\nA: b\r\n", false, &Limits::default()), Ok(HeadState::Partial)));
    let error = parser.feed(b"nonsense\r\n", false, &Limits::default()).unwrap_err();
    assert_eq!(error.message, "malformed MIME header: missing colon: \"nonsense\"");
}

proptest! {
    /// The short way through a plain head and the long one say the same.
    #[test]
    fn scan_agrees_with_interpret(fields in proptest::collection::vec("([a-zA-Z-]{1,8}|Content-Length|Connection|Transfer-Encoding)[ ]?:[ \t]?([ -~]{0,12}|close|chunked|[0-9]|\r|\x01)(\r\n|\n)", 0..6), status in "(HTTP/1.[01] [0-9]{3} ?[a-z ]{0,5}|[ -~]{0,12})", body in "[a-z\r\n]{0,6}") {
        let input = format!("{status}\r\n{}\r\n{body}", fields.concat());
        if let Some((head, end)) = scan(input.as_bytes(), false) {
            prop_assert_eq!(find_end(input.as_bytes(), 0), Some(end));
            let other = interpret(&input.as_bytes()[..end], false).unwrap();
            prop_assert_eq!(format!("{head:?}"), format!("{other:?}"));
        }
    }

    /// Whatever httparse takes for a response is one here, with the same fields.
    #[test]
    fn agrees_with_httparse(fields in proptest::collection::vec("[a-zA-Z-]{1,8}:[ \t]?[ -~]{0,12}", 0..6), status in 100_u16..1000) {
        let input = format!("HTTP/1.1 {status} Fine\r\n{}\r\n", fields.iter().map(|field| format!("{field}\r\n")).collect::<String>());
        let mut space = [httparse::EMPTY_HEADER; 16];
        let mut theirs = httparse::Response::new(&mut space);
        if let (Ok(httparse::Status::Complete(end)), Ok(Some((head, used)))) = (theirs.parse(input.as_bytes()), parse(input.as_bytes())) {
            prop_assert_eq!((end, theirs.code), (used, Some(head.status)));
            let all = BlockFacts::default();
            let block = HeaderBlock::new(input.as_bytes()[..end].strip_suffix(b"\r\n").unwrap(), input.find('\n').unwrap() + 1, all);
            let ours: Vec<_> = block.iter().collect();
            let theirs: Vec<_> = theirs.headers.iter().map(|field| (field.name.as_bytes(), trim_ows(field.value))).collect();
            prop_assert_eq!(ours, theirs);
        }
    }
}

/// A server that sends a long line in small pieces. If each piece cost a look at the whole line this would take hours.
#[test]
fn a_long_line_in_small_pieces_costs_its_bytes() {
    let limits = Limits { head_bytes_max: 64 << 20, ..Limits::default() };
    let mut parser = HeadParser::default();
    assert!(matches!(parser.feed(b"HTTP/1.1 200 OK\r\nX: ", false, &limits), Ok(HeadState::Partial)));
    for _ in 0..2 << 20 {
        assert!(matches!(parser.feed(b"0123456789abcdef", false, &limits), Ok(HeadState::Partial)));
    }
    assert!(matches!(parser.feed(b"\r\n\r\n", false, &limits), Ok(HeadState::Complete { .. })));
}
