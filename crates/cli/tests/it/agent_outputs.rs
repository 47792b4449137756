//! `--out` with agents: one file in order, or one of each agent.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::program::{Done, Program};

const SCRIPT: &str = "
    import exec from 'k6/execution';
    import { Counter } from 'k6/metrics';
    const number = new Counter('number');
    const never = new Counter('never');
    export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 9, iterations: 600 } } };
    export default function () { number.add(exec.scenario.iterationInTest, { parity: `${exec.scenario.iterationInTest % 2}` }); }";

fn run(flags: &[&str]) -> Done {
    Program::script(&[&["--agents", "3"], flags].concat(), SCRIPT).run().expect(0)
}

/// The samples of a file, and the metrics it declares.
fn read(text: &str) -> (Vec<Value>, Vec<String>) {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let (points, declared): (Vec<Value>, Vec<Value>) = lines.partition(|line| line["type"] == "Point");
    (points, declared.iter().map(|line| line["metric"].as_str().expect("a name").to_owned()).collect())
}

fn numbers(points: &[Value]) -> BTreeSet<u64> {
    let own = points.iter().filter(|point| point["metric"] == "number");
    own.map(|point| {
        let number = point["data"]["value"].as_u64().expect("a number");
        // The tags are the sample's own, whichever agent it came from.
        assert_eq!(point["data"]["tags"]["parity"], (number % 2).to_string());
        number
    })
    .collect()
}

/// A time as a text that sorts: fractions have as many digits as they need.
fn moment(time: &str) -> String {
    let (seconds, rest) = time.split_at("2026-01-01T00:00:00".len());
    let fraction: String = rest.chars().skip(1).take_while(char::is_ascii_digit).collect();
    format!("{seconds}.{fraction:0<9}")
}

#[test]
fn samples_of_all_agents_are_in_one_file_in_order() {
    let done = run(&["--out", "json=all.json", "--out", "csv=all.csv.gz"]);
    let (points, declared) = read(&done.text("all.json"));
    assert_eq!(numbers(&points), (0..600).collect());
    let count = |metric: &str| points.iter().filter(|point| point["metric"] == metric).count();
    assert_eq!((count("number"), count("iterations"), count("iteration_duration"), count("never")), (600, 600, 600, 0));
    let once: BTreeSet<&String> = declared.iter().collect();
    assert_eq!(once.len(), declared.len(), "{declared:?}");
    let times: Vec<&str> = points.iter().map(|point| point["data"]["time"].as_str().expect("a time")).collect();
    // A busy machine may be more than a second late, and says so.
    if !done.stderr.contains("more than a second late") {
        let moments: Vec<String> = times.iter().map(|time| moment(time)).collect();
        assert!(moments.is_sorted());
    }
    let bytes = std::fs::read(done.path("all.csv.gz")).expect("a file");
    let mut csv = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut csv).expect("it is whole");
    assert_eq!(csv.lines().filter(|line| line.starts_with("number,")).count(), 600);
    done.expect_output("output: json (all.json), csv (all.csv.gz)");
}

#[test]
fn a_share_of_the_samples_comes_from_all_agents() {
    let done = run(&["--out", "json=part.json", "--out-share", "0.5"]);
    let (points, _) = read(&done.text("part.json"));
    let found = numbers(&points).len();
    // 600 throws of a coin: ten standard deviations.
    assert!((180..=420).contains(&found), "{found}");
}

#[test]
fn each_agent_may_write_files_of_its_own() {
    let done = run(&["--out", "json=samples.json", "--out-local"]);
    assert!(!done.path("samples.json").exists());
    let mut all = BTreeSet::new();
    for agent in 0..3 {
        let (points, declared) = read(&done.text(&format!("samples.agent-{agent}.json")));
        assert!(declared.contains(&"number".to_owned()));
        let own = numbers(&points);
        assert!(own.is_disjoint(&all), "an iteration was run twice");
        all.extend(own);
    }
    assert_eq!(all, (0..600).collect());
    done.expect_output("output: json (samples.json) of each agent");
}

#[test]
fn a_file_that_an_agent_cannot_write_ends_the_run_with_its_name() {
    let done = Program::script(&["--agents", "2", "--out", "json=missing/samples.json", "--out-local"], SCRIPT).run();
    let done =
        done.expect_log("agent 0 cannot run the test: could not create the 'json' output: open missing/samples.agent-");
    assert_ne!(done.code, 0);
}
