//! Runs that are watched and steered over the REST API.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    program::{Done, Program, Running},
    server::free_address,
};

/// A run with a REST API, and the commands that ask it.
struct Steered {
    address: String,
    running: Running,
}

impl Steered {
    fn start(flags: &[&str], script: &str) -> Self {
        let address = free_address();
        let flags: Vec<&str> = flags.iter().copied().chain(["--address", &address]).collect();
        let running = Program::script(&flags, script).start();
        Self { address, running }
    }

    fn ask(&self, command: &[&str]) -> Done {
        Program::new(command).env("K6_ADDRESS", &self.address).run()
    }

    fn get(&self, path: &str) -> (u16, Value) {
        self.request("GET", path, "")
    }

    fn patch(&self, path: &str, attributes: &Value) -> (u16, Value) {
        self.request("PATCH", path, &json!({"data": {"attributes": attributes}}).to_string())
    }

    fn request(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(&self.address).expect("the REST API is there");
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}",
            self.address
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    /// Asks until the run is as wanted.
    fn until(&self, path: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            if std::net::TcpStream::connect(&self.address).is_ok() {
                let (_, body) = self.get(path);
                if is_wanted(&body) {
                    return body;
                }
                assert!(began.elapsed() < Duration::from_secs(30), "{path}: {body}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn until_status(&self, status: u8) {
        self.until("/v1/status", |body| body["data"]["attributes"]["status"] == status);
    }
}

const EXTERNAL: &str = "
    import { sleep } from 'k6';
    export const options = { scenarios: { ext: { executor: 'externally-controlled', vus: 2, maxVUs: 5, duration: 0 } } };
    export default function () { sleep(0.05); }
    export function handleSummary(data) { return { 'out.json': JSON.stringify(data) }; }";

#[test]
fn an_externally_controlled_run_is_scaled_paused_and_stopped() {
    let run = Steered::start(&[], EXTERNAL);
    run.until("/v1/status", |body| body["data"]["attributes"]["vus"] == 2);
    run.ask(&["status"]).expect(0).expect_output(
        "running: 2 of 5 VUs active, no threshold is crossed\n  ext (externally-controlled): 2 VUs, at most 5 VUs, ",
    );
    let status = run.ask(&["status", "--json"]).expect(0);
    let status: Value = serde_json::from_str(&status.stdout).expect("JSON");
    // The values are k6's, of 1.8.1.
    assert_eq!(
        status["data"]["attributes"],
        json!({"status": 7, "paused": false, "vus": 2, "vus-max": 5, "stopped": false, "running": true, "tainted": false})
    );
    run.ask(&["scenarios"]).expect(0).expect_output("  ext (externally-controlled): 2 VUs, at most 5 VUs, ");
    run.ask(&["scale", "-u", "4"]).expect(0).expect_output("running: 4 of 5 VUs active");
    run.ask(&["scale", "-u", "9"]).expect(255).expect_log(
        "Config update error: invalid configuration supplied: the number of active VUs (9) must be less than or equal to the number of maxVUs (5)",
    );
    run.ask(&["scale", "-u", "7", "-m", "8"]).expect(0).expect_output("running: 7 of 8 VUs active");
    run.ask(&["scale", "-m", "4"]).expect(255).expect_log("active VUs (7)");
    run.ask(&["scale"]).expect(255).expect_log("Specify either -u/--vus or -m/--max");
    // `pause` answers after two seconds at most; a busy machine may need longer to see the last iteration end.
    run.ask(&["pause"]).expect(0).expect_output("paused: ");
    run.until("/v1/status", |body| body["data"]["attributes"]["vus"] == 0);
    run.ask(&["pause"]).expect(255).expect_log("Pause error: test execution was already paused");
    let (_, before) = run.get("/v1/metrics/iterations");
    run.ask(&["resume"]).expect(0).expect_output("running: ");
    run.until("/v1/status", |body| body["data"]["attributes"]["vus"] == 7);
    run.ask(&["resume"]).expect(255).expect_log("Pause error: test execution wasn't paused");
    run.until("/v1/metrics/iterations", |body| {
        body["data"]["attributes"]["sample"]["count"].as_f64()
            > before["data"]["attributes"]["sample"]["count"].as_f64()
    });
    run.ask(&["stats"]).expect(0).expect_output("- name: iterations\n  type:\n    type: counter\n    valid: true\n");
    run.ask(&["stop"]).expect(0).expect_output("The test is stopping");
    let done = run.running.wait().expect(103).expect_log("test run stopped from REST API");
    let changes = &done.json("out.json")["steering"]["changes"];
    let what: Vec<String> = changes
        .as_array()
        .expect("a journal")
        .iter()
        .map(|change| format!("{} {}", change["what"], change["to"]))
        .collect();
    assert_eq!(what, ["\"vus\" 4", "\"maxVUs\" 8", "\"vus\" 7", "\"paused\" true", "\"paused\" false"]);
}

const RATE: &str = "
    export const options = { scenarios: {
        users: { executor: 'constant-vus', vus: 1, duration: '4s', exec: 'user' },
        rate: { executor: 'constant-arrival-rate', rate: 10, duration: '4s', preAllocatedVUs: 5 } } };
    import { sleep } from 'k6';
    export default function () {}
    export function user() { sleep(0.05); }";

/// What was planned after a change of the rate is what ran, to the iteration.
#[test]
fn any_scenario_is_steered_and_the_journal_explains_it() {
    let run = Steered::start(&["--summary-export", "out.json"], RATE);
    run.until_status(7);
    run.ask(&["scale", "--scenario", "rate", "--rate", "200"])
        .expect(0)
        .expect_output("rate (constant-arrival-rate): 200 iterations/s, ");
    run.ask(&["scale", "--scenario", "users", "--vus", "6"]).expect(0).expect_output("users (constant-vus): 6 VUs, ");
    let scenario = run.until("/v1/scenarios/users", |body| body["data"]["attributes"]["runningVUs"] == 6);
    assert_eq!(scenario["meta"]["version"], 1);
    run.ask(&["scale", "--scenario", "rate", "--vus", "6"]).expect(255).expect_log("change its rate or its maxVUs");
    run.ask(&["scale", "--scenario", "nobody", "--vus", "6"]).expect(255).expect_log("there are: rate, users");
    let which = "which scenario? The test has 2\" hint=\"name one with --scenario: rate (constant-arrival-rate): ";
    run.ask(&["scale", "--rate", "6"]).expect(255).expect_log(which);
    run.ask(&["pause"])
        .expect(255)
        .expect_log("constant-arrival-rate executor 'rate' doesn't support pause and resume");
    run.ask(&["scale", "-u", "6"]).expect(255).expect_log(which);
    // k6's text where k6 is asked as k6 is.
    let body = run.patch("/v1/status", &json!({"vus": 6})).1.to_string();
    assert!(
        body.contains("an externally-controlled executor needs to be configured for live configuration updates"),
        "{body}"
    );
    let done = run.running.wait().expect(0).expect_output("STEERED: 2 changes while the test ran");
    let steering = &done.json("out.json")["steering"];
    let change = &steering["changes"][0];
    assert_eq!((&change["from"], &change["to"], &change["scenario"]), (&json!(10), &json!(200), &json!("rate")));
    let at = change["scenarioClockSeconds"].as_f64().expect("a time");
    let options = steering["options"].to_string();
    // The options are valid, and a run of them plans the same number of iterations.
    let planned = (10.0 * at + 200.0 * (4.0 - at)).ceil();
    let dropped = done.json("out.json")["metrics"]["dropped_iterations"]["count"].as_f64().unwrap_or(0.0);
    let users = done.json("out.json")["metrics"]["iterations"]["count"].as_f64().expect("counted") + dropped - planned;
    assert!((20.0..=6.0 * 81.0).contains(&users), "{planned} planned, {users} of users, {options}");
    let script =
        format!("export const options = {options}; export default function () {{}} export function user() {{}}");
    Program::script(&["--paused", "--address", ""], &script).run().expect(104);
}

/// A change that takes its time, and the same again from the journal: the same schedule to the nanosecond.
#[test]
fn a_run_is_steered_gently_and_replayed() {
    let run = Steered::start(&["--summary-export", "out.json"], RATE);
    run.until_status(7);
    let scale = ["scale", "--scenario", "rate", "--rate", "100", "--over", "1s"];
    run.ask(&scale).expect(0).expect_output("on the way to 100 for ");
    run.ask(&["scale", "--scenario", "users", "--vus", "5", "--over", "500ms"]).expect(0);
    run.until("/v1/scenarios/users", |body| body["data"]["attributes"]["runningVUs"] == 5);
    run.ask(&["scale", "--vus", "5", "--over", "1s"]).expect(255).expect_log("which scenario?");
    run.ask(&["scale", "--scenario", "users", "--vus", "5", "--over", "x"])
        .expect(255)
        .expect_log("invalid argument \\\"x\\\" for \\\"--over\\\" flag");
    assert_eq!(run.patch("/v1/scenarios/users", &json!({"vus": 3, "overSeconds": -1})).0, 400);
    let done = run.running.wait().expect(0).expect_output("rate of 'rate' from 10 to 100 over 1s");
    let result = done.json("out.json");
    let text = done.text("out.json");
    let steering = &result["steering"];
    assert_eq!(steering["changes"][0]["overSeconds"], 1.0);
    let stages = steering["options"]["scenarios"]["rate"]["stages"].as_array().expect("stages");
    assert_eq!((&stages[1]["duration"], &stages[1]["target"]), (&json!("1s"), &json!(100)));
    let replayed = Program::script(&["--address", "", "--replay", "r.json", "--summary-export", "out.json"], RATE)
        .file("r.json", &text)
        .run()
        .expect(0)
        .expect_output("over 1s (replay)");
    let again = &replayed.json("out.json")["steering"];
    assert_eq!(again["options"], steering["options"]);
    for (index, change) in steering["changes"].as_array().expect("changes").iter().enumerate() {
        assert_eq!(again["changes"][index]["scenarioClockSeconds"], change["scenarioClockSeconds"]);
    }
    let wrong = |file: &str, code: i32, expect: &str| {
        Program::script(&["--address", "", "--replay", "r.json"], RATE)
            .file("r.json", file)
            .run()
            .expect(code)
            .expect_log(expect);
    };
    wrong("{}", 104, "there is no journal of changes in it");
    wrong("nope", 104, "it is not JSON");
    wrong(&text.replace("\"users\"", "\"nobody\""), 104, "there is no scenario 'nobody' here; there are: rate, users");
    Program::script(&["--replay", "nowhere"], RATE).run().expect(255).expect_log("failed to read --replay nowhere");
}

/// Setup data that no VU could read would fail every iteration from then on.
#[test]
fn setup_data_that_are_nested_too_deeply_are_refused() {
    let script = "import { sleep } from 'k6'; export default function (d) { sleep(0.01); if (!d) console.log('none'); }
        export function setup() { return [1]; }";
    let run = Steered::start(&["-u", "2", "-d", "2s"], script);
    run.until_status(7);
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(run.request("PUT", "/v1/setup", &nested(100_000)).0, 400);
    assert_eq!(run.request("PUT", "/v1/setup", &nested(9_000)).0, 200);
    let (status, _) = run.request("GET", "/v1/metrics/%ff", "");
    assert_eq!(status, 400);
    let done = run.running.wait().expect(0);
    assert!(!done.stderr.contains("RangeError") && !done.stderr.contains("none"), "{}", done.stderr);
}

#[test]
fn a_paused_run_waits_and_its_setup_can_be_run_and_replaced() {
    let run = Steered::start(
        &["--paused", "--no-setup", "-i", "1"],
        "export function setup() { return { from: 'setup' }; }
         export default function (data) { console.log('got ' + JSON.stringify(data)); }
         export function teardown(data) { console.log('teardown ' + JSON.stringify(data)); }",
    );
    run.until_status(4);
    assert_eq!(run.get("/v1/setup").1["data"]["attributes"], json!({}));
    assert_eq!(run.request("POST", "/v1/setup", "").1["data"]["attributes"]["data"], json!({"from": "setup"}));
    assert_eq!(run.request("PUT", "/v1/setup", "{bad").0, 400);
    assert_eq!(run.request("PUT", "/v1/setup", "{\"put\": 1}").1["data"]["attributes"]["data"], json!({"put": 1}));
    run.ask(&["pause"]).expect(255).expect_log("execution is already paused");
    run.ask(&["resume"]).expect(0);
    run.running.wait().expect(0).expect_log("got {\\\"put\\\":1}").expect_log("teardown {\\\"put\\\":1}");
}

#[test]
fn a_paused_run_ends_when_it_is_stopped() {
    let run = Steered::start(&["--paused"], "export default function () {}");
    run.until_status(4);
    run.patch("/v1/status", &json!({"stopped": true}));
    run.running.wait().expect(103);
}

#[test]
fn a_lingering_run_still_answers_and_is_not_changed_any_more() {
    let mut run = Steered::start(
        &["--linger", "-d", "1s"],
        "import { sleep } from 'k6'; export default function () { sleep(0.1); }",
    );
    run.running.wait_for("--linger was enabled");
    run.until_status(9);
    assert_eq!(run.patch("/v1/scenarios/default", &json!({"vus": 5})).0, 409);
    assert_eq!(run.request("POST", "/v1/teardown", "").0, 500);
    assert_eq!(run.get("/v1/metrics/iterations").0, 200);
    run.running.signal(Signal::INT);
    run.running.wait().expect(0).expect_output("iterations");
}

#[test]
fn changes_come_too_late_in_teardown() {
    let run = Steered::start(
        &["-i", "1"],
        "import { sleep } from 'k6'; export default function () {} export function teardown() { sleep(3); }",
    );
    run.until_status(8);
    assert_eq!(run.patch("/v1/scenarios/default", &json!({"vus": 5})).0, 409);
    assert_eq!(run.request("POST", "/v1/teardown", "").0, 500);
    assert_eq!(run.patch("/v1/status", &json!({"stopped": true})).0, 200);
    run.running.wait();
}

#[test]
fn a_taken_port_is_an_error_only_for_who_asked_for_it() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let script = "export default function () {}";
    Program::script(&["--address", &address], script).run().expect(106).expect_log("the REST API cannot listen on");
    Program::script(&[], script).env("K6_ADDRESS", &address).run().expect(0).expect_log("the test runs without it");
    Program::script(&["--address", ""], script).run().expect(0);
    Program::script(&["--address", "nonsense"], script).run().expect(106).expect_log("use HOST:PORT");
    Program::script(&["--address", "", "--paused"], script).run().expect(104).expect_log("resumed over the REST API");
}

const TOKEN: &str = "hush-hush-hush-hush";

#[test]
fn what_others_can_reach_needs_a_token_which_no_script_sees() {
    let script = "export default function () { console.log('token: ' + __ENV.ONRUSH_API_TOKEN); }";
    Program::script(&["--address", "0.0.0.0:0"], script).run().expect(106).expect_log("which needs a token");
    let done = Program::script(&["--verbose", "--address", "0.0.0.0:0"], script)
        .env("ONRUSH_API_TOKEN", TOKEN)
        .run()
        .expect(0);
    assert!(done.stderr.contains("token: undefined") && !done.stderr.contains(TOKEN), "{}", done.stderr);
    // On this machine alone a token is asked for as well, if there is one.
    let address = free_address();
    let run = Program::script(&["--paused", "--address", &address], script).env("ONRUSH_API_TOKEN", TOKEN).start();
    let run = Steered { address, running: run };
    while std::net::TcpStream::connect(&run.address).is_err() {
        std::thread::sleep(Duration::from_millis(20));
    }
    run.ask(&["status"]).expect(255).expect_log("set ONRUSH_API_TOKEN");
    Program::new(&["status", "--address", &run.address]).env("ONRUSH_API_TOKEN", TOKEN).run().expect(0);
    run.running.signal(Signal::INT);
    run.running.wait().expect(105);
}

#[test]
fn what_others_can_reach_speaks_tls() {
    let script = "export default function () {}";
    let mut run = Program::script(&["--paused", "--log-output", "stdout", "--address", "0.0.0.0:0"], script)
        .env("ONRUSH_API_TOKEN", TOKEN)
        .start();
    let line = run.wait_for("SHA-256 fingerprint");
    let port = line.split("https://0.0.0.0:").nth(1).and_then(|rest| rest.split(',').next()).expect("an address");
    let fingerprint: String =
        line.split("fingerprint ").nth(1).expect("it is there").chars().take_while(char::is_ascii_hexdigit).collect();
    let address = format!("127.0.0.1:{port}");
    let ask = |more: &[&str]| {
        let args: Vec<&str> = ["status", "--address", &address].iter().chain(more).copied().collect();
        Program::new(&args).env("ONRUSH_API_TOKEN", TOKEN).run()
    };
    ask(&["--api-fingerprint", &fingerprint]).expect(0).expect_output("paused: 0 of ");
    ask(&["--api-fingerprint", &"0".repeat(64)]).expect(255).expect_log("another fingerprint");
    ask(&["--api-fingerprint", "abc"]).expect(255).expect_log("invalid fingerprint");
    ask(&["--api-tls-ca", "/nowhere"]).expect(255).expect_log("the authority's certificate /nowhere");
    ask(&[]).expect(255).expect_log("the REST API speaks HTTPS");
    run.signal(Signal::INT);
    run.wait().expect(105);
    Program::script(&["--api-tls-cert", "cert.pem"], script).run().expect(255).expect_log("needs --api-tls-key");
    Program::script(&["--address", "127.0.0.1:0", "--api-tls-cert", "no.pem", "--api-tls-key", "no.pem"], script)
        .run()
        .expect(106)
        .expect_log("the certificate no.pem: ");
}

/// A test with one scenario needs no name.
#[test]
fn the_only_scenario_is_the_one_to_scale() {
    let script = "import { sleep } from 'k6'; export const options = { vus: 1, duration: '30s' };
        export default function () { sleep(0.01); }";
    let run = Steered::start(&[], script);
    run.until_status(7);
    run.ask(&["scale", "--vus", "3"]).expect(0).expect_output("default (constant-vus): 3 VUs, ");
    run.until("/v1/scenarios/default", |body| body["data"]["attributes"]["runningVUs"] == 3);
    run.ask(&["scale", "--vus", "4", "--json"]).expect(0).expect_output("\"vus\": 4");
    run.ask(&["stop", "--json"]).expect(0).expect_output("\"stopped\": true");
    run.running.wait().expect(103);
}
