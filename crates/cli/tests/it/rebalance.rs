//! `--on-agent-loss rebalance`: one of three processes is killed, the others take up its share. A server of our own counts.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
};

use onrush_testkit::{GoodServer, Reply};
use rustix::process::{Signal, kill_process};

use crate::program::{Done, Program};

/// Every executor; requests say whose they are.
const SCRIPT: &str = "
    import { sleep } from 'k6';
    import http from 'k6/http';
    import exec from 'k6/execution';
    const rest = { exec: 'slow', gracefulStop: '5s' };
    export const options = {
        scenarios: {
            shared: { executor: 'shared-iterations', vus: 6, iterations: 300, maxDuration: '2m', ...rest },
            own: { executor: 'per-vu-iterations', vus: 6, iterations: 50, maxDuration: '2m', ...rest },
            constant: { executor: 'constant-arrival-rate', rate: 20, duration: '24s', preAllocatedVUs: 30 },
            ramping: { executor: 'ramping-arrival-rate', startRate: 5, preAllocatedVUs: 30,
                       stages: [{ target: 20, duration: '24s' }] },
            vus: { executor: 'constant-vus', vus: 6, duration: '24s', ...rest },
            stages: { executor: 'ramping-vus', startVUs: 1, ...rest,
                      stages: [{ target: 6, duration: '2s' }, { target: 6, duration: '22s' }] },
            outside: { executor: 'externally-controlled', vus: 3, maxVUs: 6, duration: '24s', exec: 'slow' },
        },
        thresholds: Object.fromEntries(['shared', 'own', 'constant', 'ramping'].flatMap(name =>
            [[`iterations{scenario:${name}}`, ['count>=0']], [`dropped_iterations{scenario:${name}}`, ['count>=0']]])),
    };
    export default function (data) { request(data); }
    function request(data) {
        const { name, iterationInTest } = exec.scenario;
        const number = name === 'own' ? exec.vu.iterationInScenario : iterationInTest;
        http.get(`${data.url}/${name}/${number}/${exec.vu.idInTest}`);
    }
    export function slow(data) { request(data); sleep(0.2); }
    export function setup() { return { url: __ENV.TARGET }; }
    export function handleSummary(data) {
        const count = name => data.metrics[name] ? data.metrics[name].values.count : 0;
        const names = ['shared', 'own', 'constant', 'ramping'];
        return { 'out.json': JSON.stringify({
            requests: count('http_reqs'),
            iterations: Object.fromEntries(names.map(name => [name, count(`iterations{scenario:${name}}`)])),
            dropped: Object.fromEntries(names.map(name => [name, count(`dropped_iterations{scenario:${name}}`)])),
        }) };
    }";

/// What the server saw: scenario, number of the iteration, number of the VU, in the order in which they came.
type Seen = Arc<Mutex<Vec<(String, u64, u64)>>>;

fn all(seen: &Seen) -> MutexGuard<'_, Vec<(String, u64, u64)>> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often each number of a scenario came.
fn numbers(seen: &Seen, scenario: &str) -> BTreeMap<u64, u32> {
    let mut numbers = BTreeMap::new();
    for (_, number, _) in all(seen).iter().filter(|(name, ..)| name == scenario) {
        *numbers.entry(*number).or_default() += 1;
    }
    numbers
}

/// Iterations of a scenario that are said to be missing.
fn stated(done: &Done, scenario: &str) -> u64 {
    let of = format!("of scenario '{scenario}' ");
    let parts =
        done.stderr.lines().filter(|line| line.contains("taken up the share")).flat_map(|line| line.split("; "));
    let stated = parts.filter_map(|part| {
        let (count, rest) = part.strip_prefix(&of)?.split_once(' ')?;
        rest.starts_with("due iteration").then(|| count.parse::<u64>().ok())?
    });
    // Warnings are repeated at the end.
    stated.max().unwrap_or(0)
}

#[test]
fn the_others_take_up_what_a_killed_agent_had_to_do() {
    let seen: Seen = Arc::default();
    let (is_time, time) = mpsc::channel();
    let noted = seen.clone();
    let server = GoodServer::start(move |request| {
        let mut parts = request.target.trim_start_matches('/').split('/');
        let mut next = || parts.next().unwrap_or_default();
        let (scenario, number, vu) = (next().to_owned(), next().parse().unwrap_or(0), next().parse().unwrap_or(0));
        // In the fifth second. Whoever waits for it may have gone.
        if scenario == "constant" && number == 100 {
            let _ = is_time.send(());
        }
        all(&noted).push((scenario, number, vu));
        Reply::text("ok")
    });
    let target = format!("TARGET={}", server.url(""));
    let flags = ["--agents", "3", "--on-agent-loss", "rebalance", "-e", &target, "--summary-export", "export.json"];
    let mut running = Program::script(&flags, SCRIPT).start();
    running.wait_for("running (0");
    let children = running.children();
    assert_eq!(children.len(), 3);
    time.recv().expect("the server is there");
    kill_process(children[1], Signal::KILL).expect("it is there");
    let done =
        running.wait().expect(0).expect_log("its process ended (signal 9)").expect_log("taken up the share of agent");
    assert_ne!(done.json("export.json")["measurement"]["verdict"], "VALID", "the gap is told");
    let summary = done.json("out.json");
    let of = |what: &str, scenario: &str| summary[what][scenario].as_u64().expect("a count");

    // What is counted is run to the last iteration.
    assert_eq!((of("iterations", "shared"), of("iterations", "own")), (300, 300), "{}", done.stderr);
    let shared = numbers(&seen, "shared");
    assert!(shared.keys().copied().eq(0..300), "each number came: {shared:?}");
    // Each VU has all of its own.
    let own = numbers(&seen, "own");
    assert!(own.keys().copied().eq(0..50), "{own:?}");

    // Arrivals come once, and what is missing in the result is stated to the iteration.
    for (scenario, planned) in [("constant", 480), ("ramping", 300)] {
        let there = of("iterations", scenario) + of("dropped", scenario);
        let missing = stated(&done, scenario);
        assert_eq!(there + missing, planned, "{scenario}: {there} and {missing}\n{}", done.stderr);
        let came = numbers(&seen, scenario);
        assert!(came.values().all(|times| *times == 1), "{scenario}: {came:?}");
        let came = came.len() as u64;
        assert!(
            (there - of("dropped", scenario)..=planned).contains(&came),
            "{scenario}: {came} came, {there} are counted"
        );
    }
    // The plan is met again: the last three seconds are whole.
    let constant = numbers(&seen, "constant");
    assert!((420..480).all(|number| constant.contains_key(&number)), "{constant:?}");
    // So many VUs loop as planned, each with a number of its own.
    let late: Vec<(String, u64, u64)> = {
        let seen = all(&seen);
        let from = seen.iter().position(|(name, number, _)| name == "constant" && *number >= 420).expect("it came");
        seen[from..].to_vec()
    };
    for (scenario, count) in [("vus", 6), ("stages", 6), ("outside", 3)] {
        let vus: std::collections::BTreeSet<u64> =
            late.iter().filter(|(name, ..)| name == scenario).map(|(.., vu)| *vu).collect();
        assert_eq!(vus.len(), count, "{scenario}: {vus:?}");
    }
    // The server saw what the result has, and what the killed agent could not report.
    let total = all(&seen).len() as u64;
    let requests = summary["requests"].as_u64().expect("a count");
    assert!(total >= requests, "{total} {requests}");
}
