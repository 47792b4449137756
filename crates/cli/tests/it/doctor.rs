//! `onrush doctor`: what it says of this machine, and of one made bad.

use onrush_testkit::{GoodServer, Reply};
use serde_json::Value;

use crate::program::Program;

const SCRIPT: &str = "import http from 'k6/http'; export const options = { vus: 50, duration: '1s' }; export default () => { http.get(__ENV.URL || 'http://localhost.localdomain/'); }";

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn status<'a>(found: &'a Value, name: &str) -> &'a Value {
    let checks = found["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name} in {found:#}"))
}

#[test]
fn without_a_script_it_counts_with_a_large_test() {
    let done = Program::new(&["doctor"]).run();
    assert!(done.stdout.starts_with("For 30000 VUs (no script was given: a large test):"), "{}", done.stdout);
    for name in ["cores", "memory", "open files", "local ports", "clock", "arrival times"] {
        assert!(done.stdout.contains(name), "no {name} in\n{}", done.stdout);
    }
}

#[test]
fn a_limit_is_found_before_the_test_meets_it() {
    let program = Program::new(&["doctor", "--json", "-u", "300", "script.js"]).file("script.js", SCRIPT);
    let done = program.start_with_limit(100).wait().expect(255);
    let found = json(&done.stdout);
    assert_eq!((&found["ok"], &found["vus"]), (&Value::Bool(false), &Value::from(300)));
    let files = status(&found, "open files");
    assert_eq!(files["status"], "bad");
    assert!(files["text"].as_str().is_some_and(|text| text.contains("fail from VU 37 on")), "{files}");
    assert!(files["now"].as_str().is_some_and(|now| now.starts_with("ulimit -Hn ")), "{files}");
    // What it looks up is what the script asks for.
    assert!(status(&found, "names")["text"].as_str().is_some_and(|text| text.starts_with("localhost.localdomain ")));
    done.expect_log("would make the test fail");
}

#[test]
fn a_vu_can_be_tried() {
    let server = GoodServer::start(|_| Reply::text("x".repeat(100_000)));
    let script = "import http from 'k6/http';
        const kept = [];
        export const options = { vus: 4, duration: '1s' };
        export default () => { for (let i = 0; i < 10; i++) kept.push(http.get(__ENV.URL).body); }";
    let bytes = |flags: &[&str]| {
        let url = format!("URL={}", server.url("/"));
        let words = [&["doctor", "--json", "-e", &url], flags, &["script.js"]].concat();
        let done = Program::new(&words).file("script.js", script).run();
        json(&done.stdout)["vuBytes"].as_f64().expect("a number")
    };
    let (estimated, tried) = (bytes(&[]), bytes(&["--try"]));
    // Ten bodies of 100 KB are what an iteration leaves.
    assert!(estimated < 100e3 && (700e3..3e6).contains(&tried), "{estimated} estimated, {tried} tried");
    assert_eq!(server.requests(), 120);
    Program::new(&["doctor", "--try"]).run().expect(255).expect_log("--try runs a script, and none was given");
}

#[test]
fn mending_asks_first() {
    // Nobody may change this machine's settings without being asked; in tests nobody can be asked.
    let program = Program::new(&["doctor", "--fix", "-u", "65000", "script.js"]).file("script.js", SCRIPT);
    let done = program.stdin("").run();
    let is_refused = done.stderr.contains("--fix asks first, and there is no terminal to ask");
    assert!(is_refused || done.stderr.contains("nothing that --fix can mend"), "{}", done.stderr);
}
