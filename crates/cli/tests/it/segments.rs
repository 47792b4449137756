//! One test over several instances: each does what k6's instance does, and together they do all of it.

use crate::program::Program;

const SCRIPT: &str = "
    import { Counter } from 'k6/metrics';
    import exec from 'k6/execution';
    const sum = new Counter('sum_of_numbers');
    export const options = { scenarios: {
        shared: { executor: 'shared-iterations', vus: 7, iterations: 101 },
        per_vu: { executor: 'per-vu-iterations', vus: 9, iterations: 3 },
        arrival: { executor: 'constant-arrival-rate', rate: 47, duration: '1010ms', preAllocatedVUs: 11, maxVUs: 11 },
    }, thresholds: {
        'iterations{scenario:shared}': [], 'iterations{scenario:per_vu}': [], 'iterations{scenario:arrival}': [],
        'sum_of_numbers{scenario:shared}': [],
    } };
    export default function () { sum.add(exec.scenario.iterationInTest); }";

const SHOWN: [&str; 4] = [
    "iterations{scenario:shared}",
    "iterations{scenario:per_vu}",
    "iterations{scenario:arrival}",
    "sum_of_numbers{scenario:shared}",
];

/// What k6 1.8.1 counted for the script above with `--execution-segment-sequence`, `--execution-segment` and
/// `--summary-export`: iterations of each scenario, and the sum of the numbers of shared iterations.
const K6: &[(&str, &str, [u64; 4])] = &[
    ("0,1/2,1", "0:1/2", [58, 15, 26, 2914]),
    ("0,1/2,1", "1/2:1", [43, 12, 22, 2136]),
    ("0,1/3,2/3,1", "0:1/3", [43, 9, 18, 2121]),
    ("0,1/3,2/3,1", "1/3:2/3", [29, 9, 17, 1443]),
    ("0,1/3,2/3,1", "2/3:1", [29, 9, 13, 1486]),
    ("0,1/4,2/4,3/4,1", "0:1/4", [29, 9, 13, 1428]),
    ("0,1/4,2/4,3/4,1", "1/4:2/4", [29, 6, 13, 1457]),
    ("0,1/4,2/4,3/4,1", "2/4:3/4", [29, 6, 13, 1486]),
    ("0,1/4,2/4,3/4,1", "3/4:1", [14, 6, 9, 679]),
    ("0,1/7,2/7,3/7,4/7,5/7,6/7,1", "0:1/7", [15, 6, 9, 735]),
    ("0,1/7,2/7,3/7,4/7,5/7,6/7,1", "1/7:2/7", [15, 6, 9, 750]),
    ("0,1/7,2/7,3/7,4/7,5/7,6/7,1", "2/7:3/7", [15, 3, 9, 765]),
    ("0,1/7,2/7,3/7,4/7,5/7,6/7,1", "3/7:4/7", [14, 3, 9, 679]),
    ("0,1/7,2/7,3/7,4/7,5/7,6/7,1", "4/7:5/7", [14, 3, 4, 693]),
    ("0,1/7,2/7,3/7,4/7,5/7,6/7,1", "5/7:6/7", [14, 3, 4, 707]),
    ("0,1/7,2/7,3/7,4/7,5/7,6/7,1", "6/7:1", [14, 3, 4, 721]),
    ("0,1/7,5/7,1", "0:1/7", [14, 3, 9, 679]),
    ("0,1/7,5/7,1", "1/7:5/7", [58, 15, 26, 2914]),
    ("0,1/7,5/7,1", "5/7:1", [29, 9, 13, 1457]),
    ("0,10%,1", "0:10%", [15, 3, 5, 750]),
    ("0,10%,1", "10%:1", [86, 24, 43, 4300]),
];

fn counts(sequence: &str, segment: &str, threads: usize) -> [u64; 4] {
    counts_of(&format!("--threads={threads}"), sequence, segment)
}

fn counts_of(parts: &str, sequence: &str, segment: &str) -> [u64; 4] {
    let flags = ["-q", "--summary-export=out.json", parts, "--execution-segment", segment];
    let done = Program::script(&[&flags[..], &["--execution-segment-sequence", sequence]].concat(), SCRIPT).run();
    let json = done.expect(0).json("out.json");
    SHOWN.map(|name| json["metrics"][name]["count"].as_u64().unwrap_or(0))
}

#[test]
fn instances_do_what_k6s_do() {
    let whole = counts("0,1", "0:1", 2);
    assert_eq!(whole, [101, 27, 48, 5_050]);
    let mut sums: std::collections::BTreeMap<&str, [u64; 4]> = std::collections::BTreeMap::new();
    std::thread::scope(|scope| {
        let runs: Vec<_> = K6
            .iter()
            .enumerate()
            .map(|(row, (sequence, segment, _))| scope.spawn(move || counts(sequence, segment, 1 + row % 3)))
            .collect();
        for (run, (sequence, segment, k6)) in runs.into_iter().zip(K6) {
            let own = run.join().expect("no panic");
            assert_eq!(own, *k6, "{sequence} {segment}");
            let sum = sums.entry(sequence).or_default();
            *sum = std::array::from_fn(|at| sum[at] + own[at]);
        }
    });
    for (sequence, sum) in sums {
        assert_eq!(sum, whole, "{sequence}");
    }
}

#[test]
fn agents_of_an_instance_do_together_what_k6s_does() {
    let rows = K6.iter().filter(|(sequence, ..)| ["0,1/2,1", "0,1/7,5/7,1", "0,10%,1"].contains(sequence));
    for ((sequence, segment, k6), agents) in rows.zip((1..=4).cycle()) {
        assert_eq!(counts_of(&format!("--agents={agents}"), sequence, segment), *k6, "{agents} agents, {segment}");
    }
}
