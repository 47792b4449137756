//! Framing that contradicts itself: what smuggling is made of.

use super::case::{Case, GOOD};

pub(super) fn cases() -> Vec<Case> {
    let head = |name, about, lines: &str, body: &str| {
        Case::says(name, about, format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n{body}"))
    };
    let chunks = "5\r\nhello\r\n0\r\n\r\n";
    vec![
        head("length_negative", "has a negative length", "Content-Length: -5", "hello"),
        head("length_plus", "has a length with a plus", "Content-Length: +5", "hello"),
        head("length_letters", "has a length of letters", "Content-Length: five", "hello"),
        head("length_hex", "has a length in hex", "Content-Length: 0x5", "hello"),
        head("length_fraction", "has a length with a fraction", "Content-Length: 5.0", "hello"),
        head("length_empty", "has an empty length", "Content-Length: ", "hello"),
        head("length_overflow", "has a length of 2^64", "Content-Length: 18446744073709551616", "hello"),
        head("length_max", "has a length of 2^63-1", "Content-Length: 9223372036854775807", "hello").differs(
            0,
            1000,
            "response body exceeds 134217728 bytes (--response-body-limit)",
            "a length over the limit of kept bodies is refused before the body comes",
        ),
        head("length_over_i64", "has a length of 2^63", "Content-Length: 9223372036854775808", "hello"),
        head("length_spaces", "has a length among spaces", "Content-Length:   5  ", "hello"),
        head("length_two_numbers", "has two numbers for a length", "Content-Length: 5 5", "hello"),
        head("length_list", "has a list for a length", "Content-Length: 5, 5", "hello"),
        head("length_twice", "has the same length twice", "Content-Length: 5\r\nContent-Length: 5", "hello"),
        head("length_twice_other", "has two lengths", "Content-Length: 5\r\nContent-Length: 6", "hello"),
        head("length_folded", "hides a length in a continuation", "X: y\r\n Content-Length: 1", "hello"),
        head("length_too_long", "sends less than its length and closes", "Content-Length: 500", "hello"),
        head("length_too_short", "sends more than its length", "Content-Length: 2", "hello"),
        head("length_zero_with_body", "sends a body of no length", "Content-Length: 0", "hello"),
        head(
            "chunked_and_length",
            "is chunked and has a length",
            "Transfer-Encoding: chunked\r\nContent-Length: 3",
            chunks,
        ),
        head(
            "length_and_chunked",
            "has a length and is chunked",
            "Content-Length: 3\r\nTransfer-Encoding: chunked",
            chunks,
        ),
        head("chunked_twice", "is chunked twice", "Transfer-Encoding: chunked, chunked", chunks),
        head(
            "chunked_two_lines",
            "is chunked on two lines",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            chunks,
        ),
        head("chunked_upper_case", "is CHUNKED", "Transfer-Encoding: CHUNKED", chunks),
        head("chunked_tab", "is chunked after a tab", "Transfer-Encoding:\tchunked", chunks),
        head("chunked_quoted", "is chunked in quotes", "Transfer-Encoding: \"chunked\"", chunks),
        head("coding_identity", "has the coding identity", "Transfer-Encoding: identity", "hello"),
        head("coding_unknown", "has an unknown coding", "Transfer-Encoding: rot13", "hello"),
        head("coding_gzip_chunked", "is gzip and chunked in transfer", "Transfer-Encoding: gzip, chunked", chunks),
        head("coding_chunked_gzip", "is chunked and gzip in transfer", "Transfer-Encoding: chunked, gzip", chunks),
        head("coding_empty", "has an empty coding", "Transfer-Encoding: ", "hello"),
        Case::says(
            "chunked_in_1_0",
            "is chunked in HTTP/1.0",
            format!("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"),
        ),
        Case::says(
            "body_with_204",
            "sends a body with 204",
            "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
        ),
        Case::says(
            "body_with_304",
            "sends a body with 304",
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello",
        ),
        Case::says(
            "chunked_204",
            "is chunked with 204",
            format!("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"),
        ),
        Case::says("body_to_head", "sends a body to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            .method("HEAD"),
        Case::says(
            "chunked_to_head",
            "sends chunks to HEAD",
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"),
        )
        .method("HEAD"),
        Case::says("response_splitting", "hides a second response in the first", {
            format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n{GOOD}")
        })
        .times(2),
    ]
}
