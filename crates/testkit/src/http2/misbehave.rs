//! The bad habits of HTTP/2 servers, one a line.
//!
//! Each is run for every connection the client makes. What k6 says to each is in the hostile suite of `net`;
//! `cargo run -p onrush-testkit --example hostile_http2` starts them all for another client to try.

use std::time::Duration;

use super::{
    Talk,
    frame::{
        ACK, CANCEL, CONTINUATION, DATA, END, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, GOAWAY, HEADERS,
        INTERNAL_ERROR, NO_ERROR, PADDED, PING, PRIORITY, PROTOCOL_ERROR, PUSH_PROMISE, REFUSED_STREAM, RST_STREAM,
        SETTINGS, WINDOW_UPDATE, block, data, frame, frame_of_length, goaway, headers, indexed_literal, integer, ping,
        reset, settings, string, window_update,
    },
};

/// One bad habit.
#[derive(Debug, Clone, Copy)]
pub struct Misbehaviour {
    /// What it is called.
    pub name: &'static str,
    /// What it does with a connection.
    pub run: fn(&mut Talk),
}

/// All of them. Those whose name begins with `second_` are about the second request of a connection, those with
/// `post_` about a request with a body of 200 KB.
pub fn misbehaviours() -> impl Iterator<Item = Misbehaviour> {
    let all = [GREETING, FLOW, HEADER_BLOCKS, MESSAGES, ENDS, FLOODS, SECOND_REQUESTS, UPLOADS];
    all.into_iter().flatten().map(|&(name, run)| Misbehaviour { name, run })
}

type Entry = (&'static str, fn(&mut Talk));

const OK: &[(&str, &str)] = &[(":status", "200")];
const EARLY_HINTS: &[(&str, &str)] = &[(":status", "103"), ("link", "x")];
const ALL_ONES: u32 = 0x7fff_ffff;

/// Greets, waits for the request, says something and then only listens.
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

/// Says something instead of its SETTINGS.
fn say_first(talk: &mut Talk, bytes: &[u8]) {
    if talk.preface() {
        talk.send(bytes);
        talk.hang();
    }
}

/// A response whose header block is given as bytes.
fn raw_headers(id: u32, flags: u8, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, flags, id, block)
}

fn status_and(extra: &[u8]) -> Vec<u8> {
    [&block(OK), extra].concat()
}

/// The beginning of a conversation, and what has no place in it.
const GREETING: &[Entry] = &[
    ("hang_after_preface", |talk| {
        if talk.preface() {
            talk.hang();
        }
    }),
    ("close_after_preface", |talk| {
        if talk.preface() {
            talk.close();
        }
    }),
    ("speaks_http1", |talk| say_first(talk, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")),
    ("garbage", |talk| say_first(talk, &[0xa5; 4096])),
    ("ping_before_settings", |talk| say_first(talk, &ping(0, &[1; 8]))),
    ("settings_on_stream", |talk| say_first(talk, &frame(SETTINGS, 0, 1, &[]))),
    ("settings_of_five_bytes", |talk| say_first(talk, &frame(SETTINGS, 0, 0, &[0; 5]))),
    ("settings_ack_with_payload", |talk| say(talk, |_| frame(SETTINGS, ACK, 0, &[0; 6]))),
    ("settings_window_too_large", |talk| say_first(talk, &settings(&[(4, 0x8000_0000)]))),
    ("settings_frame_too_small", |talk| say_first(talk, &settings(&[(5, 100)]))),
    ("settings_push_two", |talk| say_first(talk, &settings(&[(2, 2)]))),
    ("settings_no_streams", |talk| {
        if talk.greet(&[(3, 0)]) {
            while let Some(id) = talk.request() {
                talk.answer(id);
            }
        }
    }),
    ("settings_unknown_is_fine", |talk| {
        if talk.greet(&[(0x99, 7)])
            && let Some(id) = talk.request()
        {
            talk.answer(id);
            talk.hang();
        }
    }),
    ("unknown_frame_is_fine", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&frame(0xbb, 0xff, id, b"what"));
            talk.answer(id);
            talk.hang();
        }
    }),
    ("ping_of_seven_bytes", |talk| say(talk, |_| ping(0, &[0; 7]))),
    ("ping_on_stream", |talk| say(talk, |id| frame(PING, 0, id, &[0; 8]))),
    ("oversized_frame", |talk| say(talk, |id| frame_of_length(0xff_ffff, DATA, 0, id, &[0; 100]))),
    ("frame_just_too_long", |talk| {
        say(talk, |id| {
            let length = (1 << 20) + 1;
            [headers(id, END_HEADERS, OK), frame_of_length(length, DATA, 0, id, &vec![0; length])].concat()
        });
    }),
    ("truncated_frame_header", |talk| say_and_close(talk, |_| vec![0, 0, 8, DATA])),
    ("truncated_frame", |talk| say_and_close(talk, |id| frame_of_length(50, HEADERS, END, id, &[0; 5]))),
    ("stall_in_frame_header", |talk| say(talk, |_| vec![0, 0])),
    ("stall_in_frame", |talk| say(talk, |id| frame_of_length(50, HEADERS, END, id, &[0; 5]))),
    ("push_promise", |talk| {
        say(talk, |id| {
            let promised = [2_u32.to_be_bytes().to_vec(), block(&[(":method", "GET"), (":path", "/")])].concat();
            frame(PUSH_PROMISE, END_HEADERS, id, &promised)
        });
    }),
    ("priority_of_four_bytes", |talk| say(talk, |id| frame(PRIORITY, 0, id, &[0; 4]))),
];

/// Windows, and frames on streams that cannot take them.
const FLOW: &[Entry] = &[
    ("window_update_zero_connection", |talk| say(talk, |_| window_update(0, 0))),
    ("window_update_zero_stream", |talk| say(talk, |id| window_update(id, 0))),
    ("window_overflow_connection", |talk| say(talk, |_| window_update(0, ALL_ONES))),
    ("window_overflow_stream", |talk| say(talk, |id| window_update(id, ALL_ONES))),
    ("window_update_of_three_bytes", |talk| say(talk, |id| frame(WINDOW_UPDATE, 0, id, &[0; 3]))),
    ("window_update_on_idle_stream", |talk| say(talk, |_| window_update(99, 5))),
    ("settings_overflow_window", |talk| {
        say(talk, |id| [window_update(id, ALL_ONES - 65_535), settings(&[(4, ALL_ONES)])].concat());
    }),
    ("data_before_headers", |talk| say(talk, |id| data(id, END_STREAM, b"hi"))),
    ("data_on_idle_stream", |talk| say(talk, |_| data(99, END_STREAM, b"hi"))),
    ("data_on_stream_zero", |talk| say(talk, |_| data(0, END_STREAM, b"hi"))),
    ("data_with_long_padding", |talk| {
        say(talk, |id| [headers(id, END_HEADERS, OK), frame(DATA, PADDED, id, &[200, 1, 2])].concat());
    }),
    ("more_data_than_the_window", |talk| {
        say(talk, |id| {
            let piece = data(id, 0, &vec![0; 16_384]);
            // More than any client of 4 MB windows takes at once; the connection's may be larger.
            [headers(id, END_HEADERS, OK), piece.repeat(400)].concat()
        });
    }),
    ("headers_on_stream_zero", |talk| say(talk, |_| headers(0, END, OK))),
    ("headers_on_even_stream", |talk| say(talk, |_| headers(2, END, OK))),
    ("headers_on_idle_stream", |talk| say(talk, |_| headers(99, END, OK))),
    ("reset_on_stream_zero", |talk| say(talk, |_| reset(0, CANCEL))),
    ("reset_on_idle_stream", |talk| say(talk, |_| reset(99, CANCEL))),
    ("reset_of_three_bytes", |talk| say(talk, |id| frame(RST_STREAM, 0, id, &[0; 3]))),
    ("goaway_on_stream", |talk| say(talk, |id| frame(GOAWAY, 0, id, &[0; 8]))),
    ("goaway_of_four_bytes", |talk| say(talk, |_| frame(GOAWAY, 0, 0, &[0; 4]))),
];

/// Header blocks, as compression.
const HEADER_BLOCKS: &[Entry] = &[
    ("hpack_index_out_of_table", |talk| say(talk, |id| raw_headers(id, END, &[0xff, 0x80, 0x01]))),
    ("hpack_index_zero", |talk| say(talk, |id| raw_headers(id, END, &[0x80]))),
    ("hpack_huge_integer", |talk| say(talk, |id| raw_headers(id, END, &[[0xff; 12], [0xff; 12]].concat()))),
    ("hpack_bad_huffman", |talk| say(talk, |id| raw_headers(id, END, &status_and(&[0, 0x81, 0, 0x81, 0xff])))),
    ("hpack_eos_in_huffman", |talk| {
        say(talk, |id| raw_headers(id, END, &status_and(&[0, 1, b'a', 0x84, 0xff, 0xff, 0xff, 0xff])));
    }),
    ("hpack_string_beyond_block", |talk| say(talk, |id| raw_headers(id, END, &status_and(&[0, 0x7e, b'a'])))),
    ("hpack_ends_in_field", |talk| say(talk, |id| raw_headers(id, END, &status_and(&[0x40])))),
    ("hpack_table_size_too_large", |talk| {
        say(talk, |id| {
            let mut bytes = Vec::new();
            integer(&mut bytes, 0x20, 5, 1 << 20);
            bytes.extend_from_slice(&block(OK));
            raw_headers(id, END, &bytes)
        });
    }),
    ("hpack_table_size_after_field", |talk| say(talk, |id| raw_headers(id, END, &status_and(&[0x20])))),
    ("hpack_bomb", |talk| {
        say(talk, |id| {
            let mut bytes = block(OK);
            bytes.extend_from_slice(&indexed_literal(b"bomb", &[b'x'; 4000]));
            // Each byte repeats the field: 16,000 of them are 64 MB.
            bytes.extend_from_slice(&[0x80 | 62; 12_000]);
            raw_headers(id, END, &bytes)
        });
    }),
    ("header_list_of_12_mb", |talk| {
        if let Some(id) = talk.first_request() {
            let mut block = block(OK);
            for _ in 0..12 {
                block.push(0);
                string(&mut block, b"x-huge");
                string(&mut block, &vec![b'a'; 1 << 20]);
            }
            send_block(talk, id, &block);
            talk.hang();
        }
    }),
    ("header_list_of_1_mb_is_fine", |talk| {
        if let Some(id) = talk.first_request() {
            let mut block = block(OK);
            for _ in 0..1000 {
                block.push(0);
                string(&mut block, b"x-large");
                string(&mut block, &[b'a'; 1000]);
            }
            send_block(talk, id, &block);
            talk.hang();
        }
    }),
    ("header_padding_too_long", |talk| say(talk, |id| frame(HEADERS, END | PADDED, id, &[250, 0x88]))),
    ("continuation_without_headers", |talk| say(talk, |id| frame(CONTINUATION, END_HEADERS, id, &block(OK)))),
    ("continuation_of_other_stream", |talk| {
        say(talk, |id| [raw_headers(id, 0, &block(OK)), frame(CONTINUATION, END_HEADERS, id + 2, &[])].concat());
    }),
    ("ping_within_header_block", |talk| say(talk, |id| [raw_headers(id, 0, &block(OK)), ping(0, &[0; 8])].concat())),
    ("stall_within_header_block", |talk| say(talk, |id| raw_headers(id, END_STREAM, &block(OK)))),
];

/// Messages that are frame by frame correct.
const MESSAGES: &[Entry] = &[
    ("status_missing", |talk| say(talk, |id| headers(id, END, &[("a", "b")]))),
    ("status_twice", |talk| say(talk, |id| headers(id, END, &[(":status", "200"), (":status", "201")]))),
    ("status_abc", |talk| say(talk, |id| headers(id, END, &[(":status", "abc")]))),
    ("status_20", |talk| say(talk, |id| headers(id, END, &[(":status", "20")]))),
    ("status_1000", |talk| say(talk, |id| headers(id, END, &[(":status", "1000")]))),
    ("status_after_field", |talk| say(talk, |id| headers(id, END, &[("a", "b"), (":status", "200")]))),
    ("pseudo_unknown", |talk| say(talk, |id| headers(id, END, &[(":status", "200"), (":foo", "1")]))),
    ("pseudo_of_request", |talk| say(talk, |id| headers(id, END, &[(":status", "200"), (":path", "/")]))),
    ("upper_case_name", |talk| say(talk, |id| headers(id, END, &[(":status", "200"), ("X-Upper", "1")]))),
    ("blank_in_name", |talk| say(talk, |id| headers(id, END, &[(":status", "200"), ("a b", "1")]))),
    ("empty_name", |talk| say(talk, |id| headers(id, END, &[(":status", "200"), ("", "1")]))),
    ("newline_in_value", |talk| say(talk, |id| headers(id, END, &[(":status", "200"), ("a", "b\r\nc: d")]))),
    ("nul_in_value", |talk| say(talk, |id| headers(id, END, &[(":status", "200"), ("a", "b\0")]))),
    ("connection_field", |talk| say(talk, |id| headers(id, END, &[(":status", "200"), ("connection", "close")]))),
    ("transfer_encoding_field", |talk| {
        say(talk, |id| headers(id, END, &[(":status", "200"), ("transfer-encoding", "chunked")]));
    }),
    ("length_more_than_body", |talk| {
        say(talk, |id| {
            let head = headers(id, END_HEADERS, &[(":status", "200"), ("content-length", "10")]);
            [head, data(id, END_STREAM, b"hello")].concat()
        });
    }),
    ("length_less_than_body", |talk| {
        say(talk, |id| {
            let head = headers(id, END_HEADERS, &[(":status", "200"), ("content-length", "3")]);
            [head, data(id, END_STREAM, b"hello")].concat()
        });
    }),
    ("length_without_body", |talk| {
        say(talk, |id| headers(id, END, &[(":status", "200"), ("content-length", "5")]));
    }),
    ("length_abc", |talk| {
        say(talk, |id| {
            let head = headers(id, END_HEADERS, &[(":status", "200"), ("content-length", "abc")]);
            [head, data(id, END_STREAM, b"hello")].concat()
        });
    }),
    ("length_twice", |talk| {
        say(talk, |id| {
            let fields = &[(":status", "200"), ("content-length", "5"), ("content-length", "6")];
            [headers(id, END_HEADERS, fields), data(id, END_STREAM, b"hello")].concat()
        });
    }),
    ("status_101", |talk| say(talk, |id| headers(id, END_HEADERS, &[(":status", "101")]))),
    ("interim_is_fine", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&headers(id, END_HEADERS, EARLY_HINTS));
            talk.answer(id);
            talk.hang();
        }
    }),
    ("interim_ends_stream", |talk| say(talk, |id| headers(id, END, EARLY_HINTS))),
    ("no_content_with_data", |talk| {
        say(talk, |id| [headers(id, END_HEADERS, &[(":status", "204")]), data(id, END_STREAM, b"hello")].concat());
    }),
    ("trailers_are_fine", |talk| {
        say(talk, |id| {
            let trailers = headers(id, END, &[("x-sum", "1")]);
            [headers(id, END_HEADERS, OK), data(id, 0, b"hi"), trailers].concat()
        });
    }),
    ("trailers_without_end", |talk| {
        say(talk, |id| {
            let trailers = headers(id, END_HEADERS, &[("x-sum", "1")]);
            [headers(id, END_HEADERS, OK), data(id, 0, b"hi"), trailers].concat()
        });
    }),
    ("trailers_with_pseudo", |talk| {
        say(talk, |id| [headers(id, END_HEADERS, OK), data(id, 0, b"hi"), headers(id, END, OK)].concat());
    }),
    ("data_after_end", |talk| {
        say(talk, |id| {
            [headers(id, END_HEADERS, OK), data(id, END_STREAM, b"hi"), data(id, END_STREAM, b"more")].concat()
        });
    }),
    ("headers_after_end", |talk| say(talk, |id| [headers(id, END, OK), headers(id, END, OK)].concat())),
];

/// How streams and connections end.
const ENDS: &[Entry] = &[
    ("reset_no_error", |talk| say(talk, |id| reset(id, NO_ERROR))),
    ("reset_protocol_error", |talk| say(talk, |id| reset(id, PROTOCOL_ERROR))),
    ("reset_internal_error", |talk| say(talk, |id| reset(id, INTERNAL_ERROR))),
    ("reset_flow_control", |talk| say(talk, |id| reset(id, 3))),
    ("reset_cancel", |talk| say(talk, |id| reset(id, CANCEL))),
    ("reset_enhance_your_calm", |talk| say(talk, |id| reset(id, ENHANCE_YOUR_CALM))),
    ("reset_http11_required", |talk| say(talk, |id| reset(id, 13))),
    ("reset_code_14", |talk| say(talk, |id| reset(id, 14))),
    ("reset_code_99", |talk| say(talk, |id| reset(id, 99))),
    ("reset_in_body", |talk| {
        say(talk, |id| [headers(id, END_HEADERS, OK), data(id, 0, b"hello"), reset(id, INTERNAL_ERROR)].concat());
    }),
    ("reset_no_error_in_body", |talk| {
        say(talk, |id| [headers(id, END_HEADERS, OK), data(id, 0, b"hello"), reset(id, NO_ERROR)].concat());
    }),
    ("refuses_once", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&reset(id, REFUSED_STREAM));
            while let Some(id) = talk.request() {
                talk.answer(id);
            }
        }
    }),
    ("refuses_always", |talk| {
        if talk.greet(&[]) {
            while let Some(id) = talk.request() {
                talk.send(&reset(id, REFUSED_STREAM));
            }
        }
    }),
    ("goaway_then_answer", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&goaway(id, NO_ERROR, ""));
            talk.answer(id);
            talk.close();
        }
    }),
    ("goaway_no_error_and_close", |talk| say_and_close(talk, |id| goaway(id, NO_ERROR, ""))),
    ("goaway_calm_and_close", |talk| say_and_close(talk, |id| goaway(id, ENHANCE_YOUR_CALM, "too_many_pings"))),
    ("goaway_protocol_and_close", |talk| say_and_close(talk, |id| goaway(id, PROTOCOL_ERROR, ""))),
    ("goaway_code_99_and_close", |talk| say_and_close(talk, |id| goaway(id, 99, ""))),
    ("goaway_internal_and_hang", |talk| say(talk, |id| goaway(id, INTERNAL_ERROR, ""))),
    ("goaway_in_body_and_close", |talk| {
        say_and_close(talk, |id| {
            [headers(id, END_HEADERS, OK), data(id, 0, b"hello"), goaway(id, INTERNAL_ERROR, "")].concat()
        });
    }),
    ("goaway_unprocessed_once", |talk| {
        if talk.number == 0 {
            say(talk, |_| goaway(0, NO_ERROR, ""));
        } else if let Some(id) = talk.first_request() {
            talk.answer(id);
            talk.hang();
        }
    }),
    ("goaway_unprocessed_calm_once", |talk| {
        if talk.number == 0 {
            say(talk, |_| goaway(0, ENHANCE_YOUR_CALM, ""));
        } else if let Some(id) = talk.first_request() {
            talk.answer(id);
            talk.hang();
        }
    }),
    ("goaway_unprocessed_always", |talk| say(talk, |_| goaway(0, NO_ERROR, ""))),
    ("close_after_request", |talk| say_and_close(talk, |_| Vec::new())),
    ("close_after_head", |talk| say_and_close(talk, |id| headers(id, END_HEADERS, OK))),
    ("close_in_body", |talk| {
        say_and_close(talk, |id| {
            let head = headers(id, END_HEADERS, &[(":status", "200"), ("content-length", "50")]);
            [head, data(id, 0, b"hello")].concat()
        });
    }),
    ("abort_after_request", |talk| {
        if talk.first_request().is_some() {
            talk.abort();
        }
    }),
    ("abort_in_body", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&[headers(id, END_HEADERS, OK), data(id, 0, b"hello")].concat());
            talk.abort();
        }
    }),
    ("stall_after_request", |talk| say(talk, |_| Vec::new())),
    ("stall_after_head", |talk| say(talk, |id| headers(id, END_HEADERS, OK))),
    ("stall_in_body", |talk| say(talk, |id| [headers(id, END_HEADERS, OK), data(id, 0, b"hello")].concat())),
    ("trickle_is_fine", |talk| {
        if let Some(id) = talk.first_request() {
            let all = [headers(id, END_HEADERS, OK), data(id, 0, b"hi"), data(id, END_STREAM, b"")].concat();
            for byte in all {
                if !talk.send(&[byte]) || !talk.pause(Duration::from_millis(1)) {
                    return;
                }
            }
            talk.hang();
        }
    }),
];

/// More than anybody asked for.
const FLOODS: &[Entry] = &[
    ("ping_flood", |talk| flood(talk, |_| Vec::new(), |_| ping(0, &[7; 8]))),
    ("settings_flood", |talk| flood(talk, |_| Vec::new(), |_| settings(&[(3, 100)]))),
    ("priority_flood", |talk| flood(talk, |_| Vec::new(), |id| frame(PRIORITY, 0, id, &[0, 0, 0, 9, 5]))),
    ("window_update_flood", |talk| flood(talk, |_| Vec::new(), |id| window_update(id, 1))),
    ("unknown_frame_flood", |talk| flood(talk, |_| Vec::new(), |id| frame(0xbb, 0, id, &[0; 100]))),
    ("empty_data_flood", |talk| flood(talk, |id| headers(id, END_HEADERS, OK), |id| data(id, 0, b""))),
    ("endless_body", |talk| flood(talk, |id| headers(id, END_HEADERS, OK), |id| data(id, 0, &[b'x'; 8000]))),
    ("interim_flood", |talk| flood(talk, |_| Vec::new(), |id| headers(id, END_HEADERS, EARLY_HINTS))),
    ("continuation_flood", |talk| {
        let filler = block(&[("x-filler", "0123456789012345678901234567890123456789")]);
        flood(talk, |id| raw_headers(id, END_STREAM, &block(OK)), |id| frame(CONTINUATION, 0, id, &filler));
    }),
    ("empty_continuation_flood", |talk| {
        flood(talk, |id| raw_headers(id, END_STREAM, &block(OK)), |id| frame(CONTINUATION, 0, id, &[]));
    }),
    ("trailer_flood", |talk| {
        let filler = block(&[("x-filler", "0123456789012345678901234567890123456789")]);
        flood(
            talk,
            |id| [headers(id, END_HEADERS, OK), raw_headers(id, END_STREAM, &filler)].concat(),
            |id| frame(CONTINUATION, 0, id, &filler),
        );
    }),
];

/// Answers the first request of each connection.
fn greet_and_answer(talk: &mut Talk) -> bool {
    talk.first_request().is_some_and(|id| talk.answer(id))
}

/// What happens on a connection that is kept.
const SECOND_REQUESTS: &[Entry] = &[
    ("second_close", |talk| {
        if greet_and_answer(talk) && talk.request().is_some() {
            talk.close();
        }
    }),
    ("second_abort", |talk| {
        if greet_and_answer(talk) && talk.request().is_some() {
            talk.abort();
        }
    }),
    ("second_goaway_unprocessed", |talk| {
        if greet_and_answer(talk)
            && let Some(id) = talk.request()
        {
            talk.send(&goaway(id - 2, NO_ERROR, ""));
            talk.close();
        }
    }),
    ("second_after_goaway", |talk| {
        if let Some(id) = talk.first_request() {
            talk.answer(id);
            talk.send(&goaway(id, NO_ERROR, ""));
            talk.hang();
        }
    }),
    ("second_after_calm_goaway_and_close", |talk| {
        if let Some(id) = talk.first_request() {
            talk.answer(id);
            talk.send(&goaway(id, ENHANCE_YOUR_CALM, "too_many_pings"));
            talk.close();
        }
    }),
    ("second_after_garbage", |talk| {
        if greet_and_answer(talk) {
            talk.send(&[0xa5; 100]);
            talk.hang();
        }
    }),
    ("second_after_no_more_streams", |talk| {
        if greet_and_answer(talk) {
            talk.send(&settings(&[(3, 0)]));
            while let Some(id) = talk.request() {
                talk.answer(id);
            }
        }
    }),
    ("second_with_first_stream_again", |talk| {
        if greet_and_answer(talk) && talk.request().is_some() {
            talk.send(&headers(1, END, OK));
            talk.hang();
        }
    }),
];

/// What happens to bodies of requests.
const UPLOADS: &[Entry] = &[
    ("post_without_window", |talk| {
        if talk.greet(&[(4, 0)]) && talk.request().is_some() {
            talk.hang();
        }
    }),
    ("post_answered_early", |talk| {
        if let Some(id) = talk.first_request() {
            let head = headers(id, END_HEADERS, &[(":status", "413")]);
            talk.send(&[head, data(id, END_STREAM, b"no"), reset(id, NO_ERROR)].concat());
            talk.hang();
        }
    }),
    ("post_answered_early_without_reset", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&[headers(id, END_HEADERS, &[(":status", "413")]), data(id, END_STREAM, b"no")].concat());
            talk.hang();
        }
    }),
    ("post_reset_cancel", |talk| say(talk, |id| reset(id, CANCEL))),
    ("post_refused_once", |talk| {
        if let Some(id) = talk.first_request() {
            talk.send(&reset(id, REFUSED_STREAM));
            while let Some(id) = talk.request() {
                talk.answer(id);
            }
        }
    }),
    ("post_closed_early", |talk| say_and_close(talk, |_| Vec::new())),
    ("post_by_the_spoonful", |talk| {
        if talk.greet(&[(4, 1000)])
            && let Some(id) = talk.request()
        {
            while let Some(read) = talk.frame() {
                if read.kind == DATA && !read.payload.is_empty() {
                    let count = u32::try_from(read.payload.len()).unwrap_or(1);
                    talk.send(&[window_update(0, count), window_update(id, count)].concat());
                }
                if read.kind == DATA && read.flags & END_STREAM != 0 {
                    talk.answer(id);
                }
            }
        }
    }),
    ("post_into_a_negative_window", |talk| {
        if let Some(id) = talk.first_request() {
            let mut count = 0;
            while let Some(read) = talk.frame() {
                count += if read.kind == DATA { read.payload.len() } else { 0 };
                if count == 65_535 {
                    // 64 KB were allowed and are there: now the window is 64 KB below nothing, and then open.
                    count += 1;
                    talk.send(&settings(&[(4, 0)]));
                    talk.send(&[window_update(0, 1 << 20), window_update(id, 1 << 20)].concat());
                }
                if read.kind == DATA && read.flags & END_STREAM != 0 {
                    talk.answer(id);
                }
            }
        }
    }),
];

/// Says something, then one thing without end.
fn flood(talk: &mut Talk, start: impl FnOnce(u32) -> Vec<u8>, piece: impl FnOnce(u32) -> Vec<u8>) {
    if let Some(id) = talk.first_request()
        && talk.send(&start(id))
    {
        talk.flood(&piece(id));
    }
}

/// Sends a header block that needs CONTINUATION frames, and no body.
fn send_block(talk: &mut Talk, id: u32, block: &[u8]) {
    const FRAME_BYTES_MAX: usize = 16_384;
    let pieces: Vec<&[u8]> = block.chunks(FRAME_BYTES_MAX).collect();
    for (number, piece) in pieces.iter().enumerate() {
        let end = if number + 1 == pieces.len() { END_HEADERS } else { 0 };
        let frame =
            if number == 0 { frame(HEADERS, END_STREAM | end, id, piece) } else { frame(CONTINUATION, end, id, piece) };
        if !talk.send(&frame) {
            return;
        }
    }
}
