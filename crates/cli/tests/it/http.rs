//! `onrush http`: one-liners.

use std::sync::{Arc, Mutex};

use onrush_testkit::{GoodServer, Reply};

use crate::program::Program;

fn http(flags: &[&str], url: &str) -> Program {
    Program::new(&[&["http"], flags, &[url]].concat())
}

#[test]
fn a_number_of_requests_over_some_connections() {
    // Slow enough for each connection to get its part.
    let server = GoodServer::start(|_| {
        std::thread::sleep(std::time::Duration::from_millis(2));
        Reply::text("hello")
    });
    let done = http(&["-c", "3", "-n", "200"], &server.url("/")).run().expect(0);
    assert_eq!((server.requests(), server.accepted()), (200, 3));
    for expect in [
        "200 requests, 3 connections",
        "requests   200 in ",
        "failed     0 (0.00%)",
        "200        200 (100.00%)",
        "99.9%",
        "■",
        "measurement ",
    ] {
        assert!(done.stdout.contains(expect), "no {expect:?} in\n{}", done.stdout);
    }
    assert!(!done.stdout.contains("not sent") && !done.stdout.contains("Errors"), "{}", done.stdout);
}

#[test]
fn method_headers_and_body_arrive() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = seen.clone();
    let server = GoodServer::start(move |request| {
        let header = |name: &str| request.header(name).unwrap_or("-").to_owned();
        let body = String::from_utf8_lossy(&request.body).into_owned();
        log.lock().expect("no panic").push(format!(
            "{} {} {} {body}",
            request.method,
            header("x-a"),
            header("content-type")
        ));
        Reply::text("hello")
    });
    let one = ["-n", "1", "-c", "1"];
    http(&[&one[..], &["-X", "PUT", "-H", "X-A: b: c", "-b", "say \"hi\" ${x}"]].concat(), &server.url("/"))
        .run()
        .expect(0);
    http(&[&one[..], &["-b", "@data.bin", "-H", "content-type: text/csv"]].concat(), &server.url("/"))
        .file("data.bin", "1,2")
        .run()
        .expect(0);
    assert_eq!(*seen.lock().expect("no panic"), ["PUT b: c - say \"hi\" ${x}", "POST - text/csv 1,2"]);
}

/// What is sent on schedule is also measured from there.
#[test]
fn a_rate_reports_latency_from_the_intended_start() {
    let server = GoodServer::start(|_| Reply::text("hello"));
    let done = http(&["-c", "5", "--rate", "50", "-n", "50"], &server.url("/")).run().expect(0);
    assert_eq!(server.requests(), 50);
    done.expect_output("50 requests, 50/s, 5 connections")
        .expect_output("from intended start")
        .expect_output("after their intended start at p(99)");
}

/// One connection, answers after 200 ms, 50 a second: most are never sent, and the report says so.
#[test]
fn a_server_that_stalls_cannot_hide_it() {
    let server = GoodServer::start(|_| Reply::text("hello").after(std::time::Duration::from_millis(200)));
    let done = http(&["-c", "1", "--rate", "50", "-d", "1s"], &server.url("/")).run().expect(0);
    done.expect_output("all connections were busy; allow more with -c");
}

#[test]
fn statuses_and_errors_are_counted() {
    let server = GoodServer::start(|_| Reply::status(503));
    http(&["-n", "7", "-c", "1"], &server.url("/"))
        .run()
        .expect(99)
        .expect_log("no request succeeded")
        .expect_output("503        7 (100.00%)")
        .expect_output("failed     7 (100.00%)");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    drop(listener);
    http(&["-n", "4", "-c", "2"], &url)
        .run()
        .expect(99)
        .expect_log("no request succeeded")
        .expect_output("1212       4 ")
        .expect_output("connection refused");
}

/// The script a one-liner prints is the one it runs.
#[test]
fn its_script_runs_by_itself() {
    let server = GoodServer::start(|_| Reply::text("hello"));
    let script = http(&["-n", "5", "-c", "2", "--script"], &server.url("/")).run().expect(0).stdout;
    assert_eq!(server.requests(), 0);
    assert!(script.contains("import http from 'k6/http'"), "{script}");
    Program::script(&[], &script).run().expect(0).expect_output("http_reqs");
    assert_eq!(server.requests(), 5);
}

/// A variable meant for scripts does not change what the flags say.
#[test]
fn variables_for_scripts_do_not_count() {
    let server = GoodServer::start(|_| Reply::text("hello"));
    http(&["-n", "5", "-c", "1"], &server.url("/")).env("K6_VUS", "9").env("K6_ITERATIONS", "77").run().expect(0);
    assert_eq!(server.requests(), 5);
}

#[test]
fn results_go_to_files_as_of_any_run() {
    let server = GoodServer::start(|_| Reply::text("hello"));
    let done = http(&["-n", "5", "-c", "1", "--summary-export", "out.json"], &server.url("/")).run().expect(0);
    assert_eq!(done.json("out.json")["metrics"]["http_reqs"]["count"], 5);
}

#[test]
fn mistakes_have_a_hint() {
    http(&[], "127.0.0.1:8080").run().expect(255).expect_log("onrush http http://127.0.0.1:8080");
    http(&["-c", "0"], "http://a/").run().expect(255).expect_log("must be a whole number from 1");
    http(&["-n", "5", "--rate", "10"], "http://a/").run().expect(255).expect_log("at least 10 requests");
    Program::new(&["http"]).run().expect(255).expect_log("accepts 1 arg(s), received 0: the URL");
}
