//! An agent that joins a run under way: it has nothing to do at first, and its share from the next step on.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{
    program::{Program, Running},
    server::free_address,
};

const SCRIPT: &str = "
    import { sleep } from 'k6';
    import exec from 'k6/execution';
    export const options = { scenarios: { ext: { executor: 'externally-controlled', vus: 2, maxVUs: 12, duration: 0 } } };
    export default function (data) {
        console.log(`seen ${exec.vu.idInTest} ${exec.scenario.iterationInTest} ${data.name}`);
        sleep(0.1);
    }
    export function setup() { return { name: 'made once' }; }";

struct Run {
    running: Running,
    api: String,
    address: String,
    token: String,
}

impl Run {
    fn start(agents: &str, script: &str) -> Self {
        let api = free_address();
        let flags = ["--listen", "127.0.0.1:0", "--agents", agents, "--address", &api, "--summary-export", "out.json"];
        let args = [&["coordinator"], &flags[..], &["script.js"]].concat();
        let mut running = Program::new(&args).file("script.js", script).start();
        let line = running.wait_for("ONRUSH_JOIN_TOKEN=");
        let token = line.split("ONRUSH_JOIN_TOKEN=").nth(1).and_then(|rest| rest.split(' ').next()).expect("a token");
        let address = format!("127.0.0.1:{}", line.trim().rsplit(':').next().expect("a port"));
        Self { token: token.to_owned(), running, api, address }
    }

    fn agent(&self, name: &str) -> Program {
        Program::new(&["agent", "--wait", "20s", "--name", name, "--join", &self.address])
            .env("ONRUSH_JOIN_TOKEN", &self.token)
    }

    fn ask(&self, command: &[&str]) {
        Program::new(command).env("K6_ADDRESS", &self.api).run().expect(0);
    }

    /// Until so many VUs of all agents together are inside an iteration.
    fn until_vus(&self, vus: u64) {
        self.until("vus", vus);
    }

    fn until(&self, what: &str, wanted: u64) {
        let began = Instant::now();
        loop {
            let done = Program::new(&["status", "--json"]).env("K6_ADDRESS", &self.api).run();
            let status: Value = serde_json::from_str(&done.stdout).unwrap_or(Value::Null);
            if status["data"]["attributes"][what] == wanted {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{wanted} {what}: {status}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn an_agent_that_joins_takes_its_share_from_the_next_step() {
    let run = Run::start("2", SCRIPT);
    let agents = [run.agent("first").start(), run.agent("second").start()];
    run.until_vus(2);
    let late = run.agent("late").start();
    // It has made as many as it may expect.
    run.until("vus-max", 16);
    run.until_vus(2);
    run.ask(&["scale", "-u", "9"]);
    run.until_vus(9);
    // Down again, and a third of it everywhere.
    run.ask(&["scale", "-u", "6"]);
    run.until_vus(6);
    run.ask(&["stop"]);
    let done = run.running.wait().expect(103).expect_output("agents: 3").expect_output("joined at ");
    for agent in agents.into_iter().chain([late]) {
        agent.wait().expect(0);
    }

    // Nobody had the number of another, and all had what setup() returned.
    let seen: Vec<(u64, u64)> = done
        .stderr
        .lines()
        .filter_map(|line| line.split_once("seen ").map(|(_, rest)| rest))
        .map(|rest| {
            let mut words = rest.split([' ', '"']);
            let mut next = || words.next().and_then(|word| word.parse().ok()).expect("a number");
            assert!(rest.contains("made once"), "{rest}");
            (next(), next())
        })
        .collect();
    let mut numbers: Vec<u64> = seen.iter().map(|(_, iteration)| *iteration).collect();
    numbers.sort_unstable();
    let count = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "an iteration has the number of another");
    assert!(seen.iter().any(|(vu, _)| *vu > 1_000_000_000), "the agent that joined ran iterations");

    let summary = done.json("out.json");
    let agents = summary["agents"]["agents"].as_array().expect("agents");
    let [first, _, late] = &agents[..] else { panic!("{agents:?}") };
    assert_eq!((&late["name"], &first["joined_at_seconds"]), (&"late".into(), &Value::Null), "{agents:?}");
    assert!(late["joined_at_seconds"].as_f64().is_some_and(|at| at > 0.0), "{late}");
    assert!(late["iterations"].as_u64().is_some_and(|count| count > 0), "{late}");
    let complete: u64 = agents.iter().filter_map(|agent| agent["iterations"].as_u64()).sum();
    assert_eq!(summary["metrics"]["iterations"]["count"], complete, "{summary}");
}

#[test]
fn a_run_without_anything_to_steer_takes_nobody_else() {
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: { all: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
        export default function () { sleep(5); }";
    let run = Run::start("1", script);
    let agent = run.agent("first").start();
    run.until_vus(2);
    run.agent("late").run().expect(255).expect_log("all scenarios of the test have a given number of iterations");
    run.running.wait().expect(0).expect_log("refused an agent from 127.0.0.1: all scenarios of the test");
    agent.wait().expect(0);
}
