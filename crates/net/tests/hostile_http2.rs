//! Every HTTP/2 server that misbehaves gets k6's verdict, in time, and leaves nothing behind.
//!
//! The expected codes and texts were taken from k6 1.8.1 against these very servers
//! (`cargo run -p onrush-testkit --example hostile_http2`); where we say something else, a comment has k6's.
//! They are all asked at once, each by a VU of its own.

// One test in this binary: it counts the process's descriptors and its memory.

mod support;

use std::{cell::RefCell, rc::Rc, time::Duration};

use onrush_fiber::spawn;
use onrush_net::{Body, BodyMode, ClientOptions, ClientShared, Connections};
use onrush_testkit::{
    CertificateAuthority,
    http2::{FrameServer, misbehaviours},
    open_fds,
};
use support::{PLENTY, on_fiber, send};

use Verdict::{Bad, Connection, GoAway, Good, Late, Stream};

/// For the servers that never finish.
const SHORT: Duration = Duration::from_millis(400);
/// Bodies without end end here.
const BODY_BYTES_MAX: u64 = 8 << 20;
/// All of them together may not need more than this. A header list may be 10 MB, and a few are.
const RESIDENT_BYTES_MAX: u64 = 400 << 20;

/// What comes of a request. The last field is the body; `*` is any.
#[derive(Debug, Clone, Copy)]
enum Verdict {
    Good(u16, &'static str),
    Late(Option<&'static str>),
    Stream(u16, &'static str, Option<&'static str>),
    Connection(u16, &'static str, Option<&'static str>),
    GoAway(u16, &'static str, Option<&'static str>),
    Bad(u16, &'static str, Option<&'static str>),
}

#[rustfmt::skip]
const VERDICTS: &[(&str, Verdict)] = &[
    ("hang_after_preface", Late(None)),
    ("close_after_preface", Bad(1000, "unexpected EOF", None)),
    ("speaks_http1", Bad(1000, "http2: frame too large", None)),
    ("garbage", Bad(1000, "http2: frame too large", None)),
    ("ping_before_settings", Connection(1652, "PROTOCOL_ERROR", None)),
    ("settings_on_stream", Connection(1652, "PROTOCOL_ERROR", None)),
    ("settings_of_five_bytes", Connection(1657, "FRAME_SIZE_ERROR", None)),
    ("settings_ack_with_payload", Connection(1657, "FRAME_SIZE_ERROR", None)),
    ("settings_window_too_large", Connection(1654, "FLOW_CONTROL_ERROR", None)),
    ("settings_frame_too_small", Connection(1652, "PROTOCOL_ERROR", None)),
    ("settings_push_two", Connection(1652, "PROTOCOL_ERROR", None)),
    ("settings_no_streams", Good(200, "hi")),
    ("settings_unknown_is_fine", Good(200, "hi")),
    ("unknown_frame_is_fine", Good(200, "hi")),
    ("ping_of_seven_bytes", Connection(1657, "FRAME_SIZE_ERROR", None)),
    ("ping_on_stream", Connection(1652, "PROTOCOL_ERROR", None)),
    ("oversized_frame", Bad(1000, "http2: frame too large", None)),
    ("frame_just_too_long", Bad(1000, "http2: frame too large", Some(""))),
    ("truncated_frame_header", Bad(1000, "unexpected EOF", None)),
    ("truncated_frame", Bad(1000, "unexpected EOF", None)),
    ("stall_in_frame_header", Late(None)),
    ("stall_in_frame", Late(None)),
    ("push_promise", Connection(1652, "PROTOCOL_ERROR", None)),
    ("priority_of_four_bytes", Connection(1657, "FRAME_SIZE_ERROR", None)),
    ("window_update_zero_connection", Connection(1652, "PROTOCOL_ERROR", None)),
    ("window_update_zero_stream", Stream(1632, "PROTOCOL_ERROR", None)),
    ("window_overflow_connection", Connection(1654, "FLOW_CONTROL_ERROR", None)),
    // k6 hangs, timeout or not
    ("window_overflow_stream", Late(None)),
    ("window_update_of_three_bytes", Connection(1657, "FRAME_SIZE_ERROR", None)),
    // k6: 1050
    ("window_update_on_idle_stream", Connection(1652, "PROTOCOL_ERROR", None)),
    ("settings_overflow_window", Late(None)),
    // k6: 1632
    ("data_before_headers", Connection(1652, "PROTOCOL_ERROR", None)),
    ("data_on_idle_stream", Connection(1652, "PROTOCOL_ERROR", None)),
    ("data_on_stream_zero", Connection(1652, "PROTOCOL_ERROR", None)),
    ("data_with_long_padding", Connection(1652, "PROTOCOL_ERROR", Some(""))),
    // k6: 1654; here the window has been opened again by then
    ("more_data_than_the_window", Late(Some("*"))),
    ("headers_on_stream_zero", Connection(1652, "PROTOCOL_ERROR", None)),
    // k6: 1050
    ("headers_on_even_stream", Connection(1652, "PROTOCOL_ERROR", None)),
    // k6: 1050
    ("headers_on_idle_stream", Connection(1652, "PROTOCOL_ERROR", None)),
    ("reset_on_stream_zero", Connection(1652, "PROTOCOL_ERROR", None)),
    // k6: 1050
    ("reset_on_idle_stream", Connection(1652, "PROTOCOL_ERROR", None)),
    ("reset_of_three_bytes", Connection(1657, "FRAME_SIZE_ERROR", None)),
    ("goaway_on_stream", Connection(1652, "PROTOCOL_ERROR", None)),
    ("goaway_of_four_bytes", Connection(1657, "FRAME_SIZE_ERROR", None)),
    ("hpack_index_out_of_table", Connection(1660, "COMPRESSION_ERROR", None)),
    ("hpack_index_zero", Connection(1660, "COMPRESSION_ERROR", None)),
    ("hpack_huge_integer", Connection(1660, "COMPRESSION_ERROR", None)),
    // k6: 1660
    ("hpack_bad_huffman", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6: 1660
    ("hpack_eos_in_huffman", Stream(1632, "PROTOCOL_ERROR", None)),
    ("hpack_string_beyond_block", Connection(1660, "COMPRESSION_ERROR", None)),
    ("hpack_ends_in_field", Connection(1660, "COMPRESSION_ERROR", None)),
    ("hpack_table_size_too_large", Connection(1660, "COMPRESSION_ERROR", None)),
    // k6: 200
    ("hpack_table_size_after_field", Connection(1660, "COMPRESSION_ERROR", None)),
    // k6: 1632
    ("hpack_bomb", Connection(1652, "PROTOCOL_ERROR", None)),
    // k6: 1652
    ("header_list_of_12_mb", Stream(1632, "PROTOCOL_ERROR", None)),
    ("header_list_of_1_mb_is_fine", Good(200, "")),
    ("header_padding_too_long", Stream(1632, "PROTOCOL_ERROR", None)),
    ("continuation_without_headers", Connection(1652, "PROTOCOL_ERROR", None)),
    ("continuation_of_other_stream", Connection(1652, "PROTOCOL_ERROR", None)),
    ("ping_within_header_block", Connection(1652, "PROTOCOL_ERROR", None)),
    ("stall_within_header_block", Late(None)),
    ("status_missing", Stream(1632, "PROTOCOL_ERROR", None)),
    ("status_twice", Stream(1632, "PROTOCOL_ERROR", None)),
    ("status_abc", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6: 20
    ("status_20", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6: 1000
    ("status_1000", Stream(1632, "PROTOCOL_ERROR", None)),
    ("status_after_field", Stream(1632, "PROTOCOL_ERROR", None)),
    ("pseudo_unknown", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6: 1632
    ("pseudo_of_request", Good(200, "")),
    ("upper_case_name", Stream(1632, "PROTOCOL_ERROR", None)),
    ("blank_in_name", Stream(1632, "PROTOCOL_ERROR", None)),
    ("empty_name", Stream(1632, "PROTOCOL_ERROR", None)),
    ("newline_in_value", Stream(1632, "PROTOCOL_ERROR", None)),
    ("nul_in_value", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6: 200
    ("connection_field", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6: 200
    ("transfer_encoding_field", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6: 1000, "hello"
    ("length_more_than_body", Bad(1000, "unexpected EOF", Some(""))),
    // k6: 1000, "hel"
    ("length_less_than_body", Bad(1000, "net/http: server replied with more than declared Content-Length; truncated", Some(""))),
    // k6: 1000, ""
    ("length_without_body", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6: 200
    ("length_abc", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6: 200
    ("length_twice", Stream(1632, "PROTOCOL_ERROR", None)),
    ("status_101", Late(None)),
    ("interim_is_fine", Good(200, "hi")),
    ("interim_ends_stream", Stream(1632, "PROTOCOL_ERROR", None)),
    // k6 shows null; so does the Response made of this
    ("no_content_with_data", Good(204, "hello")),
    ("trailers_are_fine", Good(200, "hi")),
    // k6: 1652, "hi"
    ("trailers_without_end", Stream(1632, "PROTOCOL_ERROR", Some("hi"))),
    // k6: 1652, "hi"
    ("trailers_with_pseudo", Good(200, "hi")),
    ("data_after_end", Good(200, "hi")),
    ("headers_after_end", Good(200, "")),
    ("reset_no_error", Stream(1631, "NO_ERROR", None)),
    ("reset_protocol_error", Late(None)),
    ("reset_internal_error", Stream(1633, "INTERNAL_ERROR", None)),
    ("reset_flow_control", Stream(1634, "FLOW_CONTROL_ERROR", None)),
    ("reset_cancel", Stream(1639, "CANCEL", None)),
    ("reset_enhance_your_calm", Stream(1642, "ENHANCE_YOUR_CALM", None)),
    ("reset_http11_required", Stream(1644, "HTTP_1_1_REQUIRED", None)),
    ("reset_code_14", Stream(1630, "unknown error code 0xe", None)),
    ("reset_code_99", Stream(1630, "unknown error code 0x63", None)),
    ("reset_in_body", Stream(1633, "INTERNAL_ERROR", Some("hello"))),
    ("reset_no_error_in_body", Stream(1631, "NO_ERROR", Some("hello"))),
    ("refuses_once", Good(200, "hi")),
    ("refuses_always", Late(None)),
    ("goaway_then_answer", Good(200, "hi")),
    ("goaway_no_error_and_close", GoAway(1611, "NO_ERROR", None)),
    ("goaway_calm_and_close", GoAway(1622, "ENHANCE_YOUR_CALM", None)),
    ("goaway_protocol_and_close", GoAway(1612, "PROTOCOL_ERROR", None)),
    ("goaway_code_99_and_close", GoAway(1610, "unknown error code 0x63", None)),
    ("goaway_internal_and_hang", Late(None)),
    ("goaway_in_body_and_close", GoAway(1613, "INTERNAL_ERROR", Some("hello"))),
    ("goaway_unprocessed_once", Good(200, "hi")),
    ("goaway_unprocessed_calm_once", Bad(1000, "http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM", None)),
    ("goaway_unprocessed_always", Late(None)),
    ("close_after_request", Bad(1000, "unexpected EOF", None)),
    ("close_after_head", Bad(1000, "unexpected EOF", Some(""))),
    ("close_in_body", Bad(1000, "unexpected EOF", Some("hello"))),
    ("abort_after_request", Bad(1220, "read: connection reset by peer", None)),
    ("abort_in_body", Bad(1220, "read: connection reset by peer", Some("hello"))),
    ("stall_after_request", Late(None)),
    ("stall_after_head", Late(Some(""))),
    ("stall_in_body", Late(Some("hello"))),
    ("trickle_is_fine", Good(200, "hi")),
    ("ping_flood", Late(None)),
    ("settings_flood", Late(None)),
    ("priority_flood", Late(None)),
    ("window_update_flood", Late(None)),
    ("unknown_frame_flood", Late(None)),
    // k6: 1050, ""
    ("empty_data_flood", Connection(1662, "ENHANCE_YOUR_CALM", Some(""))),
    // k6: 1654; its client is too slow for the window
    ("endless_body", Bad(1000, "response body exceeds 8388608 bytes (--response-body-limit)", Some("*"))),
    ("interim_flood", Stream(1632, "PROTOCOL_ERROR", None)),
    ("continuation_flood", Connection(1652, "PROTOCOL_ERROR", None)),
    // k6: 1050
    ("empty_continuation_flood", Connection(1652, "PROTOCOL_ERROR", None)),
    ("trailer_flood", Connection(1652, "PROTOCOL_ERROR", Some(""))),
    ("second_close", Bad(1000, "unexpected EOF", None)),
    ("second_abort", Bad(1220, "read: connection reset by peer", None)),
    ("second_goaway_unprocessed", Good(200, "hi")),
    ("second_after_goaway", Good(200, "hi")),
    ("second_after_calm_goaway_and_close", Good(200, "hi")),
    ("second_after_garbage", Good(200, "hi")),
    ("second_after_no_more_streams", Good(200, "hi")),
    ("second_with_first_stream_again", Late(None)),
    ("post_without_window", Late(None)),
    ("post_answered_early", Good(413, "no")),
    ("post_answered_early_without_reset", Good(413, "no")),
    ("post_reset_cancel", Stream(1639, "CANCEL", None)),
    ("post_refused_once", Good(200, "hi")),
    ("post_closed_early", Bad(1000, "unexpected EOF", None)),
    ("post_by_the_spoonful", Good(200, "hi")),
    ("post_into_a_negative_window", Good(200, "hi")),
];

impl Verdict {
    fn limit(self) -> Duration {
        if matches!(self, Late(_)) { SHORT } else { PLENTY }
    }

    /// Status, code, text and body.
    fn expect(self) -> (u16, u16, String, Option<&'static str>) {
        let http2 = |what: &str, name: &str| format!("http2: {what} with http2 ErrCode {name}");
        match self {
            Good(status, body) => (status, 0, String::new(), Some(body)),
            Late(body) => (0, 1050, "request timeout".to_owned(), body),
            Stream(code, name, body) => (0, code, http2("stream error", name), body),
            Connection(code, name, body) => (0, code, http2("connection error", name), body),
            GoAway(code, name, body) => (0, code, http2("received GoAway", name), body),
            Bad(code, text, body) => (0, code, text.to_owned(), body),
        }
    }
}

/// One VU, one request.
fn ask(shared: Rc<ClientShared>, name: &str, url: &str, verdict: Verdict) -> Option<String> {
    let connections = Connections::new(shared);
    let is_post = name.starts_with("post_");
    let (method, body) = if is_post { ("POST", Body::Bytes(vec![b'x'; 200_000].into())) } else { ("GET", Body::None) };
    if name.starts_with("second_") {
        send(&connections, "GET", url, Body::None, BodyMode::Keep, PLENTY).expect("the first one is well");
        support::pause(50);
    }
    let (expect, got) = match send(&connections, method, url, body, BodyMode::Keep, verdict.limit()) {
        Ok(response) => {
            let body = String::from_utf8_lossy(&response.body).into_owned();
            (verdict.expect(), (response.status, 0, String::new(), Some(body)))
        }
        Err(failure) => {
            let timings = failure.timings;
            for phase in [timings.blocked, timings.connecting, timings.sending, timings.waiting, timings.receiving] {
                assert!(phase >= 0.0 && phase.is_finite(), "{name}: {timings:?}");
            }
            let body = failure.partial_body.map(|body| String::from_utf8_lossy(&body).into_owned());
            (verdict.expect(), (0, failure.error.code, failure.error.message, body))
        }
    };
    let same_body = expect.3 == Some("*") || expect.3 == got.3.as_deref();
    let same = (expect.0, expect.1, &expect.2) == (got.0, got.1, &got.2) && same_body;
    let shown: String = got.3.unwrap_or_default().chars().take(80).collect();
    (!same).then(|| format!("{name}: {verdict:?}, got {} {} {:?} {shown:?}", got.0, got.1, got.2))
}

#[test]
fn every_hostile_server_gets_its_verdict_and_nothing_leaks() {
    let before = open_fds();
    check_all(|run| FrameServer::start(run));
    assert_eq!(open_fds(), before, "descriptors leaked");
    let authority = CertificateAuthority::new();
    let config = authority.identity(&["127.0.0.1"]).http2_server();
    check_all(|run| FrameServer::start_tls(config.clone(), run));
    assert_eq!(open_fds(), before, "descriptors leaked");
    let peak = resident_peak_bytes();
    assert!(peak < RESIDENT_BYTES_MAX, "{peak} bytes resident");
}

fn check_all(start: impl Fn(fn(&mut onrush_testkit::http2::Talk)) -> FrameServer) {
    let servers: Vec<_> = misbehaviours().map(|case| (case.name, start(case.run))).collect();
    let known: Vec<&str> = VERDICTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(servers.iter().map(|(name, _)| *name).collect::<Vec<_>>(), known);
    assert!(known.len() >= 100);
    let urls: Vec<String> = servers.iter().map(|(_, server)| server.url("/")).collect();
    let mut options = ClientOptions { http2_prior_knowledge: true, ..ClientOptions::default() };
    options.tls.insecure_skip_verify = true;
    options.limits.body_bytes_max = BODY_BYTES_MAX;
    let wrong = Rc::new(RefCell::new(Vec::new()));
    let all = on_fiber(options, move |shared| {
        for ((name, verdict), url) in VERDICTS.iter().zip(urls) {
            let (shared, wrong) = (Rc::clone(&shared), Rc::clone(&wrong));
            spawn(None, move || wrong.borrow_mut().extend(ask(shared, name, &url, *verdict)));
        }
        wrong
    });
    assert!(all.borrow().is_empty(), "{:#?}", all.borrow());
}

/// The most memory the process has had so far.
fn resident_peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has /proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel counts it");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
