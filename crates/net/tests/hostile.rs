//! Every hostile peer gets k6's verdict, in time, and leaves nothing behind.
//!
//! The expected codes and texts were taken from k6 1.8.1 against these very peers
//! (`cargo run -p onrush-testkit --example hostile_peers`).

// One test in this binary: it counts the process's descriptors.

mod support;

use std::time::Duration;

use onrush_net::{Body, BodyBudget, BodyMode, ClientOptions, Connections, Failure, Response};
use onrush_testkit::{Behaviour, End, HostileServer, open_fds};
use support::{PLENTY, get, on_fiber, send};

/// Short: the peers that get it never finish.
const SHORT: Duration = Duration::from_millis(120);

/// One request to one hostile peer.
fn ask(behaviour: Behaviour, tls: bool, mode: BodyMode, limit: Duration) -> Result<Box<Response>, Box<Failure>> {
    let server = HostileServer::start(behaviour);
    let url = if tls { server.https_url("/") } else { server.url("/") };
    // An endless body is to meet the deadline first, however fast the machine is.
    let mut options = ClientOptions::default();
    options.limits.body_bytes_max = 1 << 40;
    on_fiber(options, move |shared| {
        let connections = Connections::new(shared);
        let outcome = send(&connections, "GET", &url, Body::None, mode, limit);
        if outcome.is_err() {
            assert_eq!(connections.idle_count(), 0, "a broken connection is not kept");
        }
        outcome
    })
}

#[track_caller]
fn fails(behaviour: Behaviour, limit: Duration, code: u16, message: &str, body: Option<&str>) {
    let tls = format!("{behaviour:?}").starts_with("Tls");
    let failure = ask(behaviour.clone(), tls, BodyMode::Keep, limit).expect_err("a failure");
    assert_eq!((failure.error.code, failure.error.message.as_str()), (code, message), "{behaviour:?}");
    let partial = failure.partial_body.as_ref().map(|body| String::from_utf8_lossy(body).into_owned());
    if body != Some("*") {
        assert_eq!(partial.as_deref(), body, "{behaviour:?}");
    }
    let timings = failure.timings;
    for phase in [timings.blocked, timings.connecting, timings.sending, timings.waiting, timings.receiving] {
        assert!(phase >= 0.0 && phase.is_finite(), "{behaviour:?}: {timings:?}");
    }
}

fn say(text: &str, end: End) -> Behaviour {
    Behaviour::Say(format!("HTTP/1.1 200 OK\r\n{text}").into_bytes(), end)
}

#[test]
fn every_hostile_peer_gets_k6s_verdict_and_nothing_leaks() {
    let before = open_fds();
    let reset = "read: connection reset by peer";
    let eof = "unexpected EOF";
    let timeout = "request timeout";
    let head_limit = "net/http: server response headers exceeded 10485760 bytes; aborted";
    let no_colon = "malformed MIME header: missing colon: \"Content-Le\"";
    let slow = Duration::from_millis(40);

    fails(Behaviour::Hang, SHORT, 1050, timeout, None);
    fails(Behaviour::Say(Vec::new(), End::Close), PLENTY, 1000, "EOF", None);
    fails(Behaviour::Say(Vec::new(), End::Reset), PLENTY, 1220, reset, None);
    fails(Behaviour::Say(b"garbage".to_vec(), End::Close), PLENTY, 1000, "malformed HTTP response \"garbage\"", None);
    fails(
        Behaviour::Say(b"garbage here\r\n\r\n".to_vec(), End::Hang),
        PLENTY,
        1000,
        "malformed HTTP status code \"here\"",
        None,
    );
    fails(Behaviour::Say(b"HTTP/1.1 200".to_vec(), End::Close), PLENTY, 1000, eof, None);
    fails(Behaviour::Say(b"HTTP/1.1 200".to_vec(), End::Reset), PLENTY, 1000, eof, None);
    fails(say("Content-Le", End::Close), PLENTY, 1000, no_colon, None);
    fails(say("Content-Le", End::Reset), PLENTY, 1000, no_colon, None);
    fails(say("Content-Length: 5\r\n", End::Reset), PLENTY, 1000, eof, None);
    fails(say("Content-Length: 50\r\n\r\nhello", End::Close), PLENTY, 1000, eof, Some("hello"));
    fails(say("Content-Length: 50\r\n\r\nhello", End::Reset), PLENTY, 1220, reset, Some("hello"));
    fails(say("Content-Length: 50\r\n", End::Hang), SHORT, 1050, timeout, None);
    fails(say("Content-Length: 50\r\n\r\nhello", End::Hang), SHORT, 1050, timeout, Some("hello"));
    fails(say("nonsense\r\n", End::Hang), PLENTY, 1000, "malformed MIME header: missing colon: \"nonsense\"", None);
    fails(
        say("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", End::Close),
        PLENTY,
        1000,
        "http: message cannot contain multiple Content-Length headers; got [\"5\" \"6\"]",
        None,
    );
    fails(say("Content-Length: abc\r\n\r\nhello", End::Close), PLENTY, 1000, "bad Content-Length \"abc\"", None);

    let chunked = |text: &str| say(&format!("Transfer-Encoding: chunked\r\n\r\n{text}"), End::Close);
    fails(chunked("zz\r\nhello\r\n0\r\n\r\n"), PLENTY, 1000, "invalid byte in chunk length", Some(""));
    fails(chunked("5\r\nhelloXX0\r\n\r\n"), PLENTY, 1000, "malformed chunked encoding", Some("hello"));
    fails(chunked("5\nhello\r\n0\r\n\r\n"), PLENTY, 1000, "chunked line ends with bare LF", Some(""));
    fails(chunked("fffffffffffffffff\r\nhello"), PLENTY, 1000, "http chunk length too large", Some(""));
    fails(chunked("5\r\nhel"), PLENTY, 1000, eof, Some("hel"));

    fails(Behaviour::SlowHead { every: slow }, SHORT, 1050, timeout, None);
    fails(Behaviour::SlowBody { every: slow }, SHORT, 1050, timeout, Some("*"));
    fails(Behaviour::EndlessHead, PLENTY, 1000, head_limit, None);
    fails(Behaviour::EndlessHeaderLine, PLENTY, 1000, head_limit, None);
    fails(Behaviour::EndlessInterim, PLENTY, 1000, head_limit, None);
    fails(Behaviour::HugeHeader(12 << 20), PLENTY, 1000, head_limit, None);
    fails(Behaviour::EndlessChunkExtension, PLENTY, 1000, "header line too long", Some(""));
    fails(Behaviour::EndlessTrailer, PLENTY, 1000, "http: suspiciously long trailer after chunked body", Some(""));
    fails(Behaviour::EndlessChunks, SHORT, 1050, timeout, Some("*"));
    fails(Behaviour::EndlessBody, SHORT, 1050, timeout, Some("*"));

    fails(Behaviour::TlsPlainText, PLENTY, 1301, "tls: first record does not look like a TLS handshake", None);
    fails(Behaviour::TlsSilence, SHORT, 1050, timeout, None);
    fails(Behaviour::TlsHalfRecord, SHORT, 1050, timeout, None);
    fails(Behaviour::TlsAlert, PLENTY, 1010, "remote error: tls: handshake failure", None);
    fails(Behaviour::TlsClose, PLENTY, 1000, "EOF", None);
    let garbage = ask(Behaviour::TlsGarbage, true, BodyMode::Keep, PLENTY).expect_err("a failure");
    assert_eq!(garbage.error.code, 1000);

    // A discarded body may be endless too; the deadline ends it and nothing has been kept.
    let failure = ask(Behaviour::EndlessBody, false, BodyMode::Discard, SHORT).expect_err("a failure");
    assert_eq!((failure.error.code, failure.partial_body.map(|body| body.len())), (1050, Some(0)));

    limits_on_kept_bodies_hold();

    assert_eq!(open_fds(), before, "descriptors leaked");
}

fn limits_on_kept_bodies_hold() {
    let mut options = ClientOptions::default();
    options.limits.body_bytes_max = 100_000;
    for behaviour in [Behaviour::EndlessBody, Behaviour::EndlessChunks] {
        let server = HostileServer::start(behaviour);
        let url = server.url("/");
        let failure = on_fiber(options.clone(), move |shared| get(&Connections::new(shared), &url)).unwrap_err();
        assert_eq!(failure.error.message, "response body exceeds 100000 bytes (--response-body-limit)");
        assert_eq!(failure.partial_body.map(|body| body.len()), Some(0), "nothing of it is kept");
    }
    // Together they may take less than one of them.
    let mut options = ClientOptions::default();
    let budget: &'static BodyBudget = Box::leak(Box::new(BodyBudget::new(2 << 20)));
    options.limits.bodies = budget;
    for behaviour in [Behaviour::EndlessBody, Behaviour::EndlessChunks] {
        let server = HostileServer::start(behaviour);
        let url = server.url("/");
        let failure = on_fiber(options.clone(), move |shared| get(&Connections::new(shared), &url)).unwrap_err();
        assert!(
            failure.error.message.starts_with("response bodies of all VUs exceed 2097152 bytes"),
            "{:?}",
            failure.error
        );
        assert_eq!((failure.error.code, budget.held()), (1000, 0));
    }
    let long = vec![b'x'; 1 << 20];
    let mut answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n".to_vec();
    answer.extend_from_slice(&long);
    let server = HostileServer::start(Behaviour::Say(answer, End::Close));
    let url = server.url("/");
    let response = on_fiber(options, move |shared| get(&Connections::new(shared), &url)).expect("a response");
    assert_eq!(response.body, long);
    assert!((1 << 20..2 << 20).contains(&budget.held()), "{}", budget.held());
    drop(response);
    assert_eq!(budget.held(), 0);
}
