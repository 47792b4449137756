//! A run whose every VU meets another server that misbehaves: each request comes to what k6 makes of it, every VU ends
//! its iteration, and memory stays within bounds.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use onrush_testkit::{
    Behaviour, HostileServer,
    cases::{Authorities, Case, CaseServer, Outcome, RECORDED, SCRIPT, cases, mask, script_input},
};
use serde_json::Value;

use crate::program::Program;

/// Three hundred VUs, some of them with uploads and decoded bombs of tens of megabytes, all at once: measured 0.26 GB,
/// and one that grew without a limit would have ten times this.
const PEAK_BYTES_MAX: u64 = 1_000_000_000;

#[test]
fn every_hostile_server_at_once() {
    let (all, authorities) = (cases(), Authorities::new());
    let servers: Vec<CaseServer> = all.iter().map(|case| case.start(&authorities)).collect();
    let done = Program::new(&["run", "--quiet", "--log-format", "raw", "script.js"])
        .file("script.js", SCRIPT)
        .file("cases.json", &script_input(&all, &servers).to_string())
        .file("authority.pem", &authorities.trusted_pem())
        .env("SSL_CERT_FILE", "authority.pem")
        .run()
        .expect(0);
    let recorded = serde_json::from_str(RECORDED).expect("the recording is JSON");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for line in done.stderr.lines().filter_map(|line| line.strip_prefix("CASE ")) {
        let value: Value = serde_json::from_str(line).expect("the script prints JSON");
        let case: &Case = all.iter().find(|case| value["name"] == case.name).expect("one of the cases");
        let outcomes: Vec<Outcome> =
            value["outcomes"].as_array().expect("a list").iter().map(Outcome::from_json).collect();
        seen += 1;
        if !case.accepts(&outcomes, &recorded) {
            wrong.push(format!("{}: {outcomes:?}\n   not {:?}", case.name, case.expected(&recorded)));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), mask(&wrong.join("\n")));
    assert_eq!(seen, all.len());
    // Every VU came to the end of its iteration.
    assert_eq!(done.json("totals.json")["iterations"], all.len());
    assert!(done.peak_bytes < PEAK_BYTES_MAX, "{} bytes at the peak", done.peak_bytes);
}

/// The library behind selectors calls itself for each level: unbounded, this ended the process.
#[test]
fn json_that_is_nested_without_end() {
    let server = onrush_testkit::GoodServer::start(|request| {
        let deep = match request.target.as_str() {
            "/open" => "[".repeat(1_000_000),
            "/closed" => "[".repeat(1_000_000) + &"]".repeat(1_000_000),
            "/objects" => "{\"a\":".repeat(300_000) + "1" + &"}".repeat(300_000),
            _ => "{\"a\":".repeat(400) + "1" + &"}".repeat(400),
        };
        onrush_testkit::Reply::text(deep)
    });
    let script = "
        import http from 'k6/http';
        export default function () {
            const tried = (res, selector) => { try { return String(res.json(selector)); } catch (e) { return String(e); } };
            for (const path of ['/open', '/closed', '/objects']) {
                const res = http.get(__ENV.URL + path);
                for (const selector of ['a.b', '0.0', '#', '@this', '@keys', '..#']) console.log(path + ' ' + tried(res, selector));
                console.log(path + ' ' + tried(res));
            }
            const fine = http.get(__ENV.URL + '/fine');
            console.log('fine ' + tried(fine, 'a.'.repeat(49) + 'a').length);
            for (const part of ['{', '[', 'a.', '#(', '|@this', '@pretty:', '!\"']) {
                console.log('selector ' + tried(fine, part.repeat(100000)));
                // The most that is looked for must fit the stack.
                tried(fine, part.repeat(Math.floor(250 / (part.match(/[{[(|.@!#]/g) || ['']).length)));
            }
            console.log('done');
        }";
    let done =
        Program::script(&["--log-format", "raw", "-e", &format!("URL={}", server.url(""))], script).run().expect(0);
    let deep = done.stderr.lines().filter(|line| line.contains("nested more than 500 levels deep")).count();
    // An argument that is undefined is a selector, too.
    assert_eq!(deep, 3 * 7, "{}", done.stderr);
    assert!(done.stderr.lines().any(|line| line == "done"), "{}", done.stderr);
}

/// A body without end and one that decompresses to far more: the request fails, not the VU, whose heap they would fill.
#[test]
fn bodies_larger_than_the_heap_fail_their_requests() {
    let endless = HostileServer::start(Behaviour::EndlessBody);
    let packed = |bytes: usize| {
        let mut sink = GzEncoder::new(Vec::new(), Compression::fast());
        sink.write_all(&vec![b' '; bytes]).expect("memory");
        sink.finish().expect("memory")
    };
    let (bomb, fits) = (packed(40 << 20), packed(4_000_000));
    let server = onrush_testkit::GoodServer::start(move |request| {
        let body = if request.target == "/bomb" { &bomb } else { &fits };
        onrush_testkit::Reply::text(body.clone()).header("Content-Encoding", "gzip")
    });
    let script = "
        import http from 'k6/http';
        export default function () {
            for (const url of [__ENV.ENDLESS, `${__ENV.BASE}/bomb`, `${__ENV.BASE}/fits`]) {
                const res = http.get(url, { responseCallback: null });
                console.log(`${res.status} ${res.error_code} ${res.error} ${(res.body || '').trim().length} ${(res.body || '').length}`);
            }
        }";
    let (to_endless, base) = (endless.url("/"), server.url(""));
    let done = Program::script(&["--vu-memory-limit=16MiB", "--log-format=raw"], script)
        .env("ENDLESS", &to_endless)
        .env("BASE", &base)
        .run()
        .expect(0);
    let lines: Vec<&str> =
        done.stderr.lines().filter(|line| line.starts_with("0 ") || line.starts_with("200 ")).collect();
    assert_eq!(
        lines,
        [
            "0 1000 response body exceeds 4194304 bytes (--response-body-limit) 0 0",
            "0 1701 error decompressing response body (more than 4194304 bytes, see --response-body-limit) 0 4194304",
            "200 0  0 4000000",
        ],
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains("out of memory"), "{}", done.stderr);
}

/// Calls that would go on for minutes, cut without any grace: no thread is held past the end and given up, memory stays
/// within the VU's limit, and the neighbour's measurements are all there.
#[test]
fn work_past_its_time_ends_and_the_summary_is_whole() {
    const SCRIPT: &str = "
        import { sleep } from 'k6';
        import { hostile } from './hostile.js';
        const scenario = (exec, vus) => ({ executor: 'constant-vus', exec, vus, duration: '1s', gracefulStop: '0s' });
        const names = JSON.parse(__ENV.NAMES);
        export const options = { scenarios: { work: scenario('work', names.length), neighbour: scenario('neighbour', 1) } };
        export function work() { return hostile[names[__VU % names.length]](); }
        export function neighbour() { sleep(0.01); }
        export function handleSummary(data) {
            return { stdout: `${data.metrics.iterations.values.count > 1}` };
        }";
    let names = [
        "typed sort",
        "deep JSON",
        "backtracking pattern",
        "array-like: Array.from",
        "100,000 timers",
        "sort of numbers as texts",
    ];
    let done = Program::script(&["--quiet", "--threads=1", "--vu-memory-limit=128MiB"], SCRIPT)
        .file("hostile.js", include_str!("../../../../bench/scripts/hostile.js"))
        .env("NAMES", &serde_json::json!(names).to_string())
        .run()
        .expect(0);
    assert_eq!(done.stdout, "true", "{done:#?}");
    assert!(!done.stderr.contains("given up"), "{done:#?}");
    assert!(done.peak_bytes < (names.len() as u64 + 1) * (128 << 20), "{} bytes at the peak", done.peak_bytes);
}
