//! `--log-output=loki`: what a Loki gets, and what becomes of lines that none takes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use onrush_testkit::{CertificateAuthority, GoodServer, Incoming, Reply};

use crate::program::Program;

const CHATTY: &str = "
    export default function () { console.log('one'); console.debug('no'); for (let i = 0; i < 10; i++) console.error('x'.repeat(20) + i); throw new Error('boom'); }";

/// The requests a Loki got.
type Requests = Arc<Mutex<Vec<Incoming>>>;

fn noting(requests: &Requests, reply: Reply) -> impl Fn(&Incoming) -> Reply + Send + Sync + 'static {
    let requests = Arc::clone(requests);
    move |request| {
        requests.lock().expect("no panic").push(request.clone());
        reply.clone()
    }
}

/// The streams of all requests: labels and lines.
fn streams(requests: &Requests) -> Vec<(serde_json::Value, Vec<String>)> {
    let requests = requests.lock().expect("no panic");
    let bodies = requests.iter().map(|request| serde_json::from_slice(&request.body).expect("JSON"));
    let streams = bodies.flat_map(|body: serde_json::Value| body["streams"].as_array().expect("a list").clone());
    let stream = |stream: serde_json::Value| {
        let lines = stream["values"].as_array().expect("a list").iter();
        (stream["stream"].clone(), lines.map(|line| line[1].as_str().expect("a text").to_owned()).collect())
    };
    streams.map(stream).collect()
}

fn run(url: &str, keys: &str, script: &str) -> crate::program::Done {
    let output = format!("--log-output=loki={url}{keys}");
    Program::script(&["-q", "--no-summary", &output], script).run().expect(0)
}

#[test]
fn lines_arrive_with_labels_and_headers() {
    let requests = Requests::default();
    let server = GoodServer::start(noting(&requests, Reply::status(204)));
    let keys = ",limit=4,pushPeriod=1h,label.foo=bar,label.run=1 7,header.X-Scope-OrgID=me,header.Authorization=Basic eA==,msgMaxSize=10";
    let done = run(&server.url("/loki/api/v1/push?tenant=a"), keys, CHATTY);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
    let first = requests.lock().expect("no panic")[0].clone();
    assert_eq!((first.method.as_str(), first.target.as_str()), ("POST", "/loki/api/v1/push?tenant=a"));
    let header = |name: &str| first.header(name).map(str::to_owned);
    assert_eq!(header("X-Scope-OrgID").as_deref(), Some("me"));
    assert_eq!(header("Authorization").as_deref(), Some("Basic eA=="));
    assert_eq!(header("Content-Type").as_deref(), Some("application/json"));
    let all = streams(&requests);
    let labels = serde_json::json!({"foo": "bar", "run": "1 7", "level": "info", "source": "console"});
    assert!(all.contains(&(labels, vec!["one".to_owned()])), "{all:?}");
    let text = format!("{all:?}");
    assert!(text.contains("xxxxx... omitting 11 characters ...xxxx0") && !text.contains("xxxx9"), "{text}");
    assert!(text.contains("Onrus... omitting "), "what was above the limit is told: {text}");
}

#[test]
fn secrets_do_not_reach_loki() {
    let requests = Requests::default();
    let server = GoodServer::start(noting(&requests, Reply::status(204)));
    let script = "
        import secrets from 'k6/secrets';
        export default async function () {
            const key = await secrets.get('key');
            console.log('the key is ' + key);
            console.log('x'.repeat((1 << 20) - 3) + key + key);
            throw new Error('no ' + key);
        }";
    let output = format!("--log-output=loki={}", server.url("/push"));
    let flags = ["-q", "--no-summary", "--secret-source=mock=key=hunter2hunter3", &output];
    let done = Program::script(&flags, script).run().expect(0);
    assert_eq!(done.stderr, "");
    let text = format!("{:?}", streams(&requests));
    assert!(text.contains("the key is ***SECRET_REDACTED***") && text.contains("no ***SECRET_REDACTED***"));
    assert!(!text.contains("hun"), "no part of it either, where a long line is cut");
}

#[test]
fn loki_over_tls() {
    let authority = CertificateAuthority::new();
    let requests = Requests::default();
    let identity = authority.identity(&["127.0.0.1"]).server();
    let server = GoodServer::start_tls(identity, noting(&requests, Reply::status(204)));
    let output = format!("--log-output=loki={}", server.url("/push"));
    let program = || Program::script(&["-q", "--no-summary", &output], CHATTY);
    let trusting = program().file("authority.pem", authority.pem()).env("SSL_CERT_FILE", "authority.pem").run();
    assert_eq!(trusting.expect(0).stderr, "");
    assert!(streams(&requests).iter().any(|(_, lines)| lines.contains(&"one".to_owned())));
    // Whom nobody vouches for gets nothing.
    let count = requests.lock().expect("no panic").len();
    program().run().expect(0).expect_log("unknown authority").expect_log("12 log lines did not reach Loki");
    assert_eq!(requests.lock().expect("no panic").len(), count);
}

#[test]
fn a_loki_that_refuses_is_quoted() {
    let server = GoodServer::start(|_| Reply { status: 400, ..Reply::text("entry too far behind\nmore") });
    let done = run(&server.url("/push"), ",level=error", CHATTY);
    assert!(!done.stderr.contains("xxx"), "{}", done.stderr);
    let done = done.expect_log(&format!(
        "failed to push 11 log lines to Loki at {}: it answered with status 400: entry too far behind\"",
        server.url("/push")
    ));
    done.expect_log("11 log lines did not reach Loki");
}

#[test]
fn a_loki_that_is_not_there() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
    let done = run(&format!("http://{closed}/push"), "", CHATTY).expect_log("dial: connection refused");
    done.expect_log(" log lines did not reach Loki");
}

/// More lines than its queue holds, to a Loki that takes none: the run does not wait, and every line is counted.
#[test]
fn a_loki_that_never_answers_holds_nothing_up() {
    let server = GoodServer::start(|_| Reply::status(204).after(Duration::from_secs(60)));
    let script = "
        export const options = { vus: 1, iterations: 1 };
        export default function () { for (let i = 0; i < 30000; i++) console.log('line ' + i); }";
    let done = run(&server.url("/push"), ",pushPeriod=10ms,limit=1000000", script);
    let mut lost = done.stderr.lines().filter_map(|line| {
        let (before, _) = line.split_once(" log lines did not reach")?;
        before.rsplit(['"', ' ']).next()?.parse::<u64>().ok()
    });
    assert_eq!(lost.next_back(), Some(30_000), "{}", done.stderr);
    assert!(!done.stderr.contains("line 1"), "{}", done.stderr);
}
