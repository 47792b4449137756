//! One test over several processes: what comes out is what one process measures, and a process that is lost is missed.

use std::collections::BTreeMap;

use rustix::process::{Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::program::{Done, Program, Running};

/// Everything about it is the same however fast it runs.
const COUNTED: &str = "
    import { check, group, sleep } from 'k6';
    import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
    import { SharedArray } from 'k6/data';
    import exec from 'k6/execution';
    const numbers = new SharedArray('numbers', () => JSON.parse(open('./numbers.json')));
    const [sum, level, odd, size] = [new Counter('sum'), new Gauge('level'), new Rate('odd'), new Trend('size')];
    export const options = {
        setupTimeout: '20s',
        summaryTrendStats: ['min', 'med', 'max', 'p(90)', 'p(99)', 'count'],
        scenarios: {
            shared: { executor: 'shared-iterations', vus: 7, iterations: 101 },
            per_vu: { executor: 'per-vu-iterations', vus: 9, iterations: 3 },
            constant: { executor: 'constant-arrival-rate', rate: 47, duration: '1010ms', preAllocatedVUs: 11 },
            ramping: { executor: 'ramping-arrival-rate', startRate: 20, preAllocatedVUs: 11,
                       stages: [{ target: 60, duration: '1s' }] },
            vus: { executor: 'constant-vus', vus: 10, duration: '1s', exec: 'first' },
            stages: { executor: 'ramping-vus', startVUs: 1, exec: 'first',
                      stages: [{ target: 13, duration: '300ms' }, { target: 13, duration: '700ms' }] },
        },
        thresholds: { 'sum{scenario:shared}': ['count==5050'], 'size{scenario:constant}': ['max<50'], checks: ['rate>0.5'],
                      'iterations{scenario:constant}': ['count==48'], size: ['p(90)<0'] },
    };
    export function setup() { console.log('setup'); return { word: 'from setup' }; }
    export default function (data) {
        const { name } = exec.scenario;
        // k6: the numbers of a VU's own iterations depend on the segments.
        const iterationInTest = name === 'per_vu' ? exec.vu.iterationInScenario : exec.scenario.iterationInTest;
        sum.add(iterationInTest);
        level.add(5);
        odd.add(iterationInTest % 2);
        size.add(iterationInTest);
        group('a group', () => check(data, { 'setup data': data => data.word === 'from setup',
                                             'file': () => numbers.length === 3, 'third': () => iterationInTest % 3 === 0 }));
        console.log(`iteration ${name} ${iterationInTest} ${exec.vu.idInTest}`);
    }
    export function first() {
        if (exec.vu.iterationInScenario === 0) console.log(`vu ${exec.scenario.name} ${exec.vu.idInTest}`);
        sleep(0.05);
    }
    export function teardown(data) { console.log(`teardown ${data.word}`); }
    export function handleSummary(data) {
        console.log('summary');
        const kept = ['sum', 'level', 'odd', 'size', 'checks', 'sum{scenario:shared}', 'size{scenario:constant}',
                      'iterations{scenario:constant}'];
        const metrics = Object.fromEntries(kept.map(name => [name, data.metrics[name]]));
        for (const metric of Object.values(metrics)) delete metric.values.rate_per_second;
        return { 'out.json': JSON.stringify({ metrics, group: data.root_group, setup: data.setup_data }) };
    }";

fn counted(flags: &[&str]) -> Done {
    Program::script(&[&["--quiet"], flags].concat(), COUNTED).file("numbers.json", "[1, 2, 3]").run().expect(99)
}

/// What it counted; rates over time depend on how long it took.
fn result(done: &Done) -> Value {
    let mut value = done.json("out.json");
    for metric in value["metrics"].as_object_mut().expect("metrics").values_mut() {
        if metric["type"] == "counter" {
            metric["values"].as_object_mut().expect("values").remove("rate");
        }
    }
    value
}

/// The words of each line that begins with `kind`.
fn lines(done: &Done, kind: &str) -> Vec<Vec<String>> {
    let messages = done.stderr.lines().filter_map(|line| {
        let (_, rest) = line.split_once("msg=")?;
        Some(
            rest.strip_prefix('"')
                .and_then(|rest| rest.split('"').next())
                .unwrap_or_else(|| rest.split(' ').next().unwrap_or_default()),
        )
    });
    let words = messages.map(|message| message.split(' ').map(str::to_owned).collect::<Vec<_>>());
    words.filter(|words| words[0] == kind).collect()
}

/// The numbers of the iterations of each scenario, in order.
fn numbers(done: &Done) -> BTreeMap<String, Vec<u64>> {
    let mut numbers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for words in lines(done, "iteration") {
        numbers.entry(words[1].clone()).or_default().push(words[2].parse().expect("a number"));
    }
    numbers.values_mut().for_each(|own| own.sort_unstable());
    numbers
}

#[test]
fn any_number_of_agents_measures_what_one_process_does() {
    let one = counted(&[]);
    let expected = result(&one);
    for agents in ["1", "2", "5"] {
        let many = counted(&["--agents", agents]);
        assert_eq!(result(&many), expected, "{agents} agents");
        // Each iteration once, and none left out.
        let numbers = numbers(&many);
        assert_eq!(numbers.len(), 4);
        for (scenario, own) in numbers.iter().filter(|(scenario, _)| *scenario != "per_vu") {
            assert!(own.iter().copied().eq(0..own.len() as u64), "{agents} agents: {scenario} {own:?}");
        }
        assert_eq!(numbers, self::numbers(&one));
        for (scenario, count) in [("vus", 10), ("stages", 13)] {
            let vus: Vec<String> = lines(&many, "vu")
                .into_iter()
                .filter(|words| words[1] == scenario)
                .map(|words| words[2].clone())
                .collect();
            let distinct: std::collections::BTreeSet<&String> = vus.iter().collect();
            assert_eq!((vus.len(), distinct.len()), (count, count), "{agents} agents: {scenario}");
        }
        for once in ["setup", "teardown", "summary"] {
            assert_eq!(lines(&many, once).len(), 1, "{agents} agents: {once}");
        }
        many.expect_log("level=error msg=\"thresholds on metrics 'size' have been crossed\"");
    }
}

#[test]
fn the_summary_says_what_each_agent_did() {
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: { all: { executor: 'per-vu-iterations', vus: 6, iterations: 8 } } };
        export default function () { sleep(0.5); }";
    let flags = ["--agents", "2", "--verbose", "--summary-export", "out.json"];
    let done = Program::script(&flags, script).run().expect(0).expect_output("█ AGENTS");
    let done = done.expect_output("agents: 2, started within ").expect_log("msg=\"agent 1 (process 1): 3 of 3 VUs, ");
    let agents = &done.json("out.json")["agents"];
    assert_eq!((&agents["count"], agents["agents"].as_array().map(Vec::len)), (&2.into(), Some(2)));
    assert!(agents["clock_error_ms"].as_f64().is_some_and(|error| error > 0.0), "{agents}");
    for (number, agent) in agents["agents"].as_array().expect("agents").iter().enumerate() {
        let found = ["agent", "vus", "iterations", "requests"].map(|key| agent[key].as_u64());
        assert_eq!(found, [Some(number as u64), Some(3), Some(24), Some(0)], "{agents}");
        assert_eq!((agent["share"].as_f64(), agent["lost"].as_bool()), (Some(0.5), Some(false)), "{agents}");
        assert!(agent["cpu_cores_available"].as_f64().is_some_and(|cores| cores > 0.0), "{agents}");
    }
}

const LONG: &str = "
    import { sleep } from 'k6';
    export const options = { vus: 4, duration: '60s' };
    export default function () { sleep(0.1); }
    export function teardown() { console.log('teardown'); }";

fn started(flags: &[&str], script: &str) -> Running {
    let mut running = Program::script(&[&["--agents", "2"], flags].concat(), script).start();
    running.wait_for("running (0");
    assert_eq!(running.children().len(), 2);
    running
}

/// Nothing that was started is left.
fn expect_gone(children: &[rustix::process::Pid]) {
    for child in children {
        for _ in 0..1_000 {
            if test_kill_process(*child).is_err() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(test_kill_process(*child).is_err(), "{child:?} is still there");
    }
}

#[test]
fn a_killed_agent_ends_the_run_and_is_named() {
    let running = started(&[], LONG);
    let children = running.children();
    kill_process(children[1], Signal::KILL).expect("it is there");
    let done = running.wait().expect(120).expect_log("was lost at").expect_log("its process ended (signal 9)");
    done.expect_log("msg=teardown").expect_output("agent ");
    expect_gone(&children);
}

#[test]
fn a_killed_agent_is_tolerated_where_that_was_asked_for() {
    let script = LONG.replace("60s", "5s");
    let running = started(&["--on-agent-loss", "tolerate"], &script);
    kill_process(running.children()[0], Signal::KILL).expect("it is there");
    let done = running.wait().expect(0).expect_log("its process ended (signal 9)").expect_log("msg=teardown");
    done.expect_output("SUSPECT");
}

#[test]
fn a_frozen_agent_is_lost_and_stops_by_itself() {
    let running = started(&[], LONG);
    let children = running.children();
    kill_process(children[0], Signal::STOP).expect("it is there");
    running.wait().expect(120).expect_log("it said nothing for 3 s");
    expect_gone(&children);
}

#[test]
fn agents_end_with_their_coordinator() {
    let running = started(&[], LONG);
    let children = running.children();
    running.signal(Signal::KILL);
    expect_gone(&children);
    running.wait().expect(-1);
}

#[test]
fn the_first_signal_ends_the_run_in_order_and_the_second_at_once() {
    let running = started(&[], LONG);
    let children = running.children();
    running.signal(Signal::INT);
    let done = running.wait().expect(105).expect_log("msg=teardown").expect_output("█ TOTAL RESULTS");
    done.expect_log("msg=\"test run was aborted because Onrush received an 'interrupt' signal\"");
    expect_gone(&children);
    let slow = LONG.replace("console.log('teardown')", "console.log('teardown'); sleep(50)");
    let running = started(&[], &slow);
    let children = running.children();
    running.signal_until_it_ends(Signal::TERM).expect(105).expect_log("Aborting Onrush in response to signal");
    expect_gone(&children);
}

#[test]
fn an_abort_anywhere_ends_all() {
    let script = "
        import exec from 'k6/execution';
        import { sleep } from 'k6';
        export const options = { vus: 4, duration: '60s' };
        export default function () { if (exec.vu.idInTest === 3) exec.test.abort('enough'); sleep(1); }";
    Program::script(&["--agents", "3"], script).run().expect(108).expect_log("test aborted: enough");
}

#[test]
fn what_cannot_be_done_is_said() {
    let script = "export default function () {}";
    let refused = |flags: &[&str], text: &str| {
        Program::script(flags, script).run().expect(255).expect_log(text);
    };
    refused(&["--agents", "0"], "invalid --agents \\\"0\\\": use 1 to 256 or auto");
    refused(&["--agents", "2", "--out-local"], "--out-local needs an output whose file each agent writes");
    refused(&["--agents", "2", "--out-local", "--out", "json"], "--out-local: json(stdout) has no file");
    refused(&["--out-local", "--out", "json=x.json"], "--out-local is for tests on several agents");
}

#[test]
fn secrets_are_known_to_agents_and_not_shown() {
    let script = "
        import secrets from 'k6/secrets';
        export default async function () { const value = await secrets.get('key'); console.log(`it is ${value}`, value.length); }";
    let done =
        Program::script(&["--agents", "2", "-u", "2", "-i", "2", "--secret-source", "mock=key=swordfish"], script)
            .run();
    let done = done.expect(0).expect_log("it is ***SECRET_REDACTED*** 9");
    assert!(!done.stderr.contains("swordfish"), "{}", done.stderr);
}

/// More agents than work: those without any do no harm.
#[test]
fn agents_may_have_nothing_to_do() {
    let script =
        "export const options = { vus: 1, iterations: 2 }; export default function () { console.log('here'); }";
    let done = Program::script(&["--agents", "4"], script).run().expect(0).expect_output("agents: 4");
    assert_eq!(lines(&done, "here").len(), 2);
}

#[test]
fn auto_is_one_process_for_a_small_test() {
    let script = "export default function () {}";
    Program::script(&["--agents", "auto"], script).run().expect(0);
}
