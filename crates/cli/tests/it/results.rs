//! `--out result`: what the file says afterwards is what the run said, whatever became of the run.

use std::io::Read as _;

use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::Signal,
};
use serde_json::Value;

use crate::program::{Done, Program};

/// All kinds of metrics, tags, checks and groups, thresholds with windows, arrivals that come late.
const SCRIPT: &str = "
    import { check, group, sleep } from 'k6';
    import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
    import exec from 'k6/execution';
    const [sum, level, odd, size] = [new Counter('sum'), new Gauge('level'), new Rate('odd'), new Trend('size', true)];
    export const options = {
        summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(99.9)', 'count'],
        summaryTimeUnit: 'us',
        scenarios: {
            vus: { executor: 'constant-vus', vus: 5, duration: '2s' },
            rate: { executor: 'constant-arrival-rate', rate: 40, duration: '2s', preAllocatedVUs: 4, startTime: '500ms' },
        },
        thresholds: { 'sum{scenario:rate}': ['count>10'], checks: ['rate>0.99'], size: ['p(90)<1', { threshold: 'max<1e9', over: '1s' }] },
    };
    export function setup() { sum.add(1000); }
    export default function () {
        const { iterationInTest, name } = exec.scenario;
        group('a group', () => check(iterationInTest, { even: n => n % 2 === 0, 'any | \"kind\"': () => true }));
        sum.add(iterationInTest, { mine: `m${iterationInTest % 3}` });
        level.add(iterationInTest);
        odd.add(iterationInTest % 2);
        size.add(iterationInTest * 1.5);
        sleep(0.02);
    }
    export function teardown() { level.add(-7); }";

fn exported(done: &Done, name: &str) -> Value {
    let mut value = done.json(name);
    // Which agent did what is not in the file.
    value.as_object_mut().expect("an object").remove("agents");
    value
}

/// Has another process show a file of a run.
fn shown(done: &Done, file: &str, flags: &[&str]) -> Done {
    let words = [&["result", "show"], flags, &["r.onrush"]].concat();
    let bytes = std::fs::read(done.path(file)).expect("it was written");
    Program::new(&words).bytes("r.onrush", &bytes).run()
}

#[test]
fn the_file_says_what_the_run_said() {
    for agents in [&[][..], &["--agents", "1"], &["--agents", "3"]] {
        for mode in ["compact", "full", "legacy"] {
            let flags =
                [&["-q", "--out", "result=r.onrush", "--summary-export", "a.json", "--summary-mode", mode], agents];
            let run = Program::script(&flags.concat(), SCRIPT).run().expect(99);
            let again = shown(&run, "r.onrush", &["--summary-mode", mode, "--summary-export", "b.json"]).expect(0);
            assert_eq!(exported(&run, "a.json"), exported(&again, "b.json"), "{mode} {agents:?}");
            if agents.is_empty() {
                assert!(again.stdout.ends_with(&run.stdout), "{}\n{}", run.stdout, again.stdout);
            }
            assert!(
                again.stdout.contains("exit code 99") && again.stdout.contains("* rate: 40.00 iterations/s for 2s")
            );
        }
    }
}

#[test]
fn all_steps_can_be_exported() {
    let run = Program::script(&["-q", "--out", "result", "--summary-export", "a.json"], SCRIPT).run().expect(99);
    let bytes = std::fs::read(run.path("result.onrush")).expect("it was written");
    let export = |to: &str| {
        Program::new(&["result", "export", "--to", to, "r.onrush"]).bytes("r.onrush", &bytes).run().expect(0).stdout
    };
    let lines: Vec<Value> = export("json").lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!((&lines[0]["type"], &lines[0]["data"]["script"]), (&"run".into(), &"script.js".into()));
    let last = lines.last().expect("an end");
    assert_eq!((&last["type"], &last["data"]["exit_code"]), (&"end".into(), &99.into()));
    let steps = || lines.iter().filter(|line| line["type"] == "step");
    let of = |metric: &'static str| steps().filter(move |line| line["metric"] == metric);
    let total = |metric, value: &'static str| of(metric).filter_map(|line| line["values"][value].as_f64()).sum::<f64>();
    let summary = &run.json("a.json")["metrics"];
    assert_eq!(Some(total("sum", "sum")), summary["sum"]["count"].as_f64());
    assert_eq!(Some(total("size", "count")), summary["size"]["count"].as_f64());
    assert_eq!(Some(total("odd", "sum")), summary["odd"]["passes"].as_f64());
    // setup() was before all steps of the scenarios.
    assert!(of("sum").any(|line| line["from"].is_null() && line["values"]["sum"] == 1000.0));
    assert!(of("sum").any(|line| line["from"] == 1.0 && line["seconds"] == 1.0), "{:?}", of("sum").collect::<Vec<_>>());
    let table = export("csv");
    assert!(table.starts_with("from,seconds,metric,type,tags,count,sum,rate,value,min,avg,med,p(90)"), "{table}");
    assert_eq!(table.lines().count() - 1, steps().count());
}

#[test]
fn the_file_of_a_killed_run_is_read_up_to_there() {
    let script = "import { sleep } from 'k6'; export const options = { vus: 2, duration: '10m' };
        let n = 0; export default function () { sleep(0.1); if (++n === 60) console.log('now'); }";
    let mut run = Program::script(&["--out", "result=r.onrush", "--console-output", "/dev/stdout"], script).start();
    run.wait_for("now");
    run.signal(Signal::KILL);
    let run = run.wait();
    let again = shown(&run, "r.onrush", &[]).expect(0);
    let again = again.expect_log("r.onrush ends after byte").expect_log("before the run did");
    again.expect_output("SUSPECT").expect_output("the run was killed before").expect_output("iterations");
}

#[test]
fn a_disk_that_is_full_is_told_and_fails_the_run() {
    let script = "import { sleep } from 'k6'; export const options = { vus: 2, duration: '6s' };
        export default function () { sleep(0.1); }";
    Program::script(&["-q", "--out", "result=/dev/full"], script)
        .run()
        .expect(255)
        .expect_log("could not create the 'result' output: open /dev/full: no space left on device");
    // One that takes the beginning only.
    let program = Program::script(&["-q", "--out", "result=pipe"], script);
    let path = program.path("pipe");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut file = std::fs::File::open(path)?;
        file.read_exact(&mut [0; 100])
    });
    let done = program.run().expect(255).expect_output("iterations");
    reader.join().expect("no panic").expect("it read the beginning");
    let done = done.expect_log("an output failed and gets no more samples; the test goes on").expect_log("broken pipe");
    done.expect_log("the result file pipe lacks the end of the run: broken pipe");
}

#[test]
fn what_is_no_result_file_is_refused() {
    let check = |words: &[&str], code: i32, expect: &str| {
        let program = Program::new(words).file("script.js", SCRIPT).file("old.onrush", "onrush result 9\n");
        program.run().expect(code).expect_log(expect);
    };
    check(&["result", "show", "script.js"], 255, "it is no result file");
    check(&["result", "show", "script.js"], 255, "onrush run --out result=FILE writes result files");
    check(&["result", "show", "none.onrush"], 255, "No such file or directory");
    check(&["result", "show", "old.onrush"], 255, "it has version 9 of the format");
    check(&["result", "export", "--to", "xml", "script.js"], 255, "invalid --to");
    check(&["result", "list", "script.js"], 255, "show FILE, export FILE, recover JOURNAL or list");
    check(&["result"], 255, "show FILE, export FILE, recover JOURNAL or list");
    check(&["compare", "script.js", "none.onrush"], 255, "could not read the result file none.onrush");
    check(&["compare", "script.js"], 255, "needs a second file");
    check(
        &["run", "--out", "result=script.js/x", "script.js"],
        255,
        "could not create the 'result' output: open script.js/x",
    );
    check(&["run", "--out", "result=-", "script.js"], 255, "the result output has no file");
}

#[test]
fn a_reader_that_goes_away_ends_an_export() {
    let run = Program::script(&["-q", "--out", "result=r.onrush"], SCRIPT).run().expect(99);
    let bytes = std::fs::read(run.path("r.onrush")).expect("it was written");
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let export = Program::new(&["result", "export", "r.onrush"]).bytes("r.onrush", &bytes).stdout(writer).start();
    let mut first = [0; 1];
    reader.read_exact(&mut first).expect("it prints");
    drop(reader);
    // What fits into the pipe may have been taken.
    let done = export.wait();
    assert!([0, 255].contains(&done.code) && !done.stderr.contains("panic"), "{}", done.stderr);
}
