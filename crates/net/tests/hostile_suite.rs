//! Every case of the hostile suite that needs no script, each against k6's recorded outcome, with an eye on
//! descriptors and connections; and answers that break off at every byte.

mod support;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use onrush_net::{Body, BodyMode, ClientOptions, Connections, Failure, Response, TlsOptions};
use onrush_testkit::{
    Behaviour, End, HostileServer,
    cases::{Authorities, Case, Outcome, RECORDED, cases, mask},
    open_fds,
};
use support::{PLENTY, on_fiber, send};

/// Cases that are under way at once: most wait, and each has a reactor of its own.
const AT_ONCE: usize = 24;

fn outcome(result: Result<Box<Response>, Box<Failure>>) -> Outcome {
    match result {
        Ok(response) => Outcome {
            status: response.status,
            code: if response.status >= 400 { 1000 + response.status } else { 0 },
            error: String::new(),
        },
        Err(failure) => {
            for phase in [failure.timings.blocked, failure.timings.connecting, failure.timings.tls_handshaking] {
                assert!(phase >= 0.0 && phase.is_finite());
            }
            Outcome { status: 0, code: failure.error.code, error: mask(&failure.error.message) }
        }
    }
}

fn ask(case: &Case, authorities: &Authorities) -> Vec<Outcome> {
    let server = case.start(authorities);
    let (url, ask) = (server.url(&case.ask), case.ask.clone());
    let tls = TlsOptions { extra_roots_pem: Some(authorities.trusted_pem()), ..TlsOptions::default() };
    let options = ClientOptions { tls, ..ClientOptions::default() };
    let outcomes = on_fiber(options, move |shared| {
        let connections = Connections::new(shared);
        let limit = Duration::from_millis(ask.timeout_ms);
        let outcomes = (0..ask.times).map(|_| {
            let body = match ask.body_bytes {
                0 => Body::None,
                bytes => Body::Bytes(Bytes::from(vec![b'x'; bytes])),
            };
            let result = send(&connections, ask.method, &url, body, BodyMode::Keep, limit);
            let failed = result.is_err();
            let outcome = outcome(result);
            if failed {
                assert_eq!(connections.idle_count(), 0, "a broken connection is not kept");
            }
            outcome
        });
        outcomes.collect()
    });
    // The client is gone: what it held is closed, whatever the server does.
    outcomes
}

/// Descriptors are counted for the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn every_case_comes_to_what_k6_makes_of_it_and_nothing_leaks() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let recorded = serde_json::from_str(RECORDED).expect("the recording is JSON");
    let authorities = Authorities::new();
    let mut all: Vec<Case> =
        cases().into_iter().filter(|case| !case.needs_script && case.name != "switches_protocols").collect();
    all.reverse();
    let before = open_fds();
    let queue = Mutex::new(all);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("no panic").pop();
                    let Some(case) = next else { return };
                    let outcomes = ask(&case, &authorities);
                    if !case.accepts(&outcomes, &recorded) {
                        let show = |outcomes: &[Outcome]| outcomes.iter().map(ToString::to_string).collect::<Vec<_>>();
                        let text = format!(
                            "{}: {:?}\n   not {:?}",
                            case.name,
                            show(&outcomes),
                            show(&case.expected(&recorded))
                        );
                        wrong.lock().expect("no panic").push(text);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(open_fds(), before, "descriptors leaked");
}

#[test]
fn an_answer_may_break_off_at_any_byte() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let answers: [(&str, &str); 3] = [
        ("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello", "length"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nX-T: 1\r\n\r\n",
            "chunks",
        ),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "interim"),
    ];
    let before = open_fds();
    for (answer, name) in answers {
        std::thread::scope(|scope| {
            for end in [End::Close, End::Reset] {
                scope.spawn(move || {
                    for at in 0..=answer.len() {
                        let server = HostileServer::start(Behaviour::Say(answer.as_bytes()[..at].to_vec(), end));
                        let url = server.url("/");
                        let result = on_fiber(ClientOptions::default(), move |shared| {
                            let connections = Connections::new(shared);
                            let result = send(&connections, "GET", &url, Body::None, BodyMode::Keep, PLENTY);
                            assert!(result.is_ok() || connections.idle_count() == 0);
                            result
                        });
                        match result {
                            Ok(response) => assert!(at == answer.len(), "{name} {end:?} at {at}: {}", response.status),
                            Err(failure) => {
                                assert!(at < answer.len(), "{name} {end:?} at {at}: {}", failure.error);
                                assert!(
                                    matches!(failure.error.code, 1000 | 1220),
                                    "{name} {end:?} at {at}: {}",
                                    failure.error
                                );
                            }
                        }
                    }
                });
            }
        });
    }
    assert_eq!(open_fds(), before, "descriptors leaked");
}
