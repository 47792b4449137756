//! `onrush selftest`: real measurements, so only what holds on every machine is looked at.

use serde_json::Value;

use crate::program::Program;

#[test]
fn it_measures_this_machine() {
    let done = Program::new(&["selftest", "--seconds", "1", "--json"]).run().expect(0);
    let found: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let number =
        |path: &str| found.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {found:#}"));
    assert!(number("/requestsPerSecond") > 100.0);
    assert!(number("/cpuMicrosecondsPerRequest") > 1.0);
    let added = found["addedLatency"].as_array().expect("a list");
    assert_eq!(added.len(), 4);
    for one in added {
        // Nobody is answered before the server answers.
        assert!(one["addedMedianMs"].as_f64().is_some_and(|ms| ms > -0.1), "{one}");
    }
    assert!(number("/timerLateMedianMs") > -0.1);
    assert!((2e3..200e3).contains(&number("/vuBytes")), "{found:#}");
}

#[test]
fn its_flags_are_checked() {
    Program::new(&["selftest", "script.js"]).run().expect(255).expect_log("takes no files");
    Program::new(&["selftest", "--seconds", "0"]).run().expect(255).expect_log("invalid --seconds");
}
