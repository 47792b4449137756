//! Replies, whole and in pieces, and servers that send something else.

use proptest::prelude::*;

use super::*;

fn decode(bytes: &[u8]) -> Result<Vec<Reply>, Malformed> {
    let (mut decoder, mut replies) = (Decoder::default(), Vec::new());
    for byte in bytes {
        decoder.buffer().push(*byte);
        while let Some(reply) = decoder.reply()? {
            replies.push(reply);
        }
    }
    Ok(replies)
}

#[track_caller]
fn check(bytes: &str, expect: Reply) {
    assert_eq!(decode(bytes.as_bytes()), Ok(vec![expect]), "{bytes:?}");
}

fn text(text: &str) -> Reply {
    Reply::Bytes(text.as_bytes().to_vec())
}

#[test]
fn replies_of_both_versions() {
    check("+OK\r\n", text("OK"));
    check("-ERR no\r\n", Reply::Error("ERR no".to_owned()));
    check(":-12\r\n", Reply::Integer(-12));
    check("$0\r\n\r\n", text(""));
    check("$2\r\n\r\n\r\n", text("\r\n"));
    check("$-1\r\n", Reply::Nil);
    check("*-1\r\n", Reply::Nil);
    check("*0\r\n", Reply::List(vec![]));
    check("*2\r\n*1\r\n:1\r\n$1\r\na\r\n", Reply::List(vec![Reply::List(vec![Reply::Integer(1)]), text("a")]));
    check("_\r\n", Reply::Nil);
    check(",1.5\r\n", Reply::Double(1.5));
    check("#t\r\n", Reply::Boolean(true));
    check("(12345678901234567890\r\n", text("12345678901234567890"));
    check("=8\r\ntxt:some\r\n", text("some"));
    check("!5\r\nERR x\r\n", Reply::Error("ERR x".to_owned()));
    check("%1\r\n+a\r\n:1\r\n", Reply::List(vec![text("a"), Reply::Integer(1)]));
    check("~1\r\n+a\r\n", Reply::List(vec![text("a")]));
    check(">2\r\n+message\r\n*1\r\n+x\r\n+OK\r\n", text("OK"));
    check("|1\r\n+ttl\r\n:1\r\n:5\r\n", Reply::Integer(5));
}

#[test]
fn what_is_no_reply_is_refused() {
    let check = |bytes: &str, expect: Malformed| assert_eq!(decode(bytes.as_bytes()), Err(expect), "{bytes:?}");
    let line = |text: &str| Malformed::Line(text.to_owned());
    let length = |text: &str| Malformed::Length(text.to_owned());
    check("HTTP/1.1 400 Bad Request\r\n", line("HTTP/1.1 400 Bad Request"));
    check("\r\n", line(""));
    check("\n", line(""));
    check(":x\r\n", line(":x"));
    check(":99999999999999999999\r\n", line(":99999999999999999999"));
    check("#x\r\n", line("#x"));
    check(",x\r\n", line(",x"));
    check("$x\r\n", length("$x"));
    check("$-2\r\n", length("$-2"));
    check("*-2\r\n", length("*-2"));
    check("*99999999999999999999\r\n", length("*99999999999999999999"));
    check("*9999999999\r\n", Malformed::Large);
    check("%134217728\r\n", Malformed::Large);
    check("$999999999\r\n", Malformed::Large);
    check("$1\r\nabc\r\n", Malformed::NoEnd);
    check(&"*1\r\n".repeat(100), Malformed::Deep);
    check(&"x".repeat(100_000), Malformed::LongLine);
}

#[test]
fn a_list_of_many_small_things_has_a_limit() {
    let mut decoder = Decoder::default();
    decoder.buffer().extend_from_slice(b"*100000000\r\n");
    let piece = b"_\r\n".repeat(100_000);
    let refused = (0..100).find_map(|_| {
        decoder.buffer().extend_from_slice(&piece);
        decoder.reply().err()
    });
    assert_eq!(refused, Some(Malformed::Large));
}

#[test]
fn several_replies_at_once() {
    let mut decoder = Decoder::default();
    decoder.buffer().extend_from_slice(b":1\r\n:2\r\n:");
    assert_eq!(decoder.reply(), Ok(Some(Reply::Integer(1))));
    assert_eq!(decoder.reply(), Ok(Some(Reply::Integer(2))));
    assert_eq!(decoder.reply(), Ok(None));
    assert!(!decoder.is_idle());
    decoder.buffer().extend_from_slice(b"3\r\n");
    assert_eq!(decoder.reply(), Ok(Some(Reply::Integer(3))));
    assert!(decoder.is_idle());
}

proptest! {
    #[test]
    fn any_bytes_are_decoded(input in prop::collection::vec(prop::sample::select(b"*$:+-_,#%>|~=!10295\r\nab\xff".to_vec()), 0..80)) {
        fuzz(&input);
        fuzz(&[[0].as_slice(), &input].concat());
    }
}
