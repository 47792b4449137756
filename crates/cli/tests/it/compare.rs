//! `onrush compare`: two files in, words and an exit code out. The arithmetic has tests of its own (crate analysis).

use onrush_metrics::{Delta, Histogram, Registry, Sink, Span, Step, Steps, TagPairs, ThresholdSource, builtin};
use onrush_results::{End, Head, MetricRow, Writer};
use serde_json::Value;

use crate::program::{Done, Program};

const NS_PER_S: u64 = 1_000_000_000;
const SECONDS: u64 = 180;
/// Too short for any measure.
const SHORT: u64 = 20;

/// A run of three minutes with 100 requests a second, each of two names, whose times are so many times those of another.
fn run(times: f64, seed: u64, change: impl FnOnce(&mut Head)) -> Vec<u8> {
    run_with(times, seed, [50, 50], change)
}

/// The same with so many requests a second of either name.
fn run_with(times: f64, seed: u64, counts: [u64; 2], change: impl FnOnce(&mut Head)) -> Vec<u8> {
    run_of(SECONDS, "VALID", times, seed, counts, change)
}

/// A run that lasted so long, and this verdict on its measurement.
fn run_of(
    seconds: u64,
    verdict: &str,
    times: f64,
    seed: u64,
    counts: [u64; 2],
    change: impl FnOnce(&mut Head),
) -> Vec<u8> {
    let threshold = ThresholdSource { expression: "p(90)<500".to_owned(), ..ThresholdSource::default() };
    let mut head = Head {
        onrush: "0.1.0".to_owned(),
        started: format!("2026-01-02T03:04:{seed:02}Z"),
        script: "script.js".to_owned(),
        fingerprint: "f".to_owned(),
        scenarios: vec!["default: 10 VUs for 3m".to_owned()],
        agents: 1,
        steady: vec![Span { from_ns: 0, until_ns: seconds * NS_PER_S }],
        metrics: MetricRow::all(&Registry::new()),
        thresholds: [("http_req_duration".to_owned(), vec![threshold])].into(),
        ..Head::default()
    };
    change(&mut head);
    let mut writer = Writer::new(Vec::new(), &head).expect("memory takes everything");
    let mut steps = Steps::for_keeping();
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as f64 / (1_u64 << 53) as f64
    };
    for second in 0..seconds {
        let mut delta = Delta::default();
        for ((name, around), count) in [("/a", 20.0), ("/b", 40.0)].into_iter().zip(counts) {
            let tags: TagPairs = [("name".into(), name.into())].into();
            let mut durations = Histogram::new();
            for _ in 0..count {
                let bell: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
                // The start is slower.
                let start = if second < 10 { 3.0 } else { 1.0 };
                durations.record(around * times * start * (0.2 * bell).exp());
            }
            delta.push(builtin::HTTP_REQ_DURATION, tags.clone(), Sink::Trend(durations));
            delta.push(builtin::HTTP_REQ_FAILED, tags, Sink::Rate { hits: u64::from(second % 7 == 0), total: count });
        }
        let span = Span { from_ns: second * NS_PER_S, until_ns: (second + 1) * NS_PER_S };
        steps.add(&delta, Some(span)).into_iter().for_each(|step: Step| writer.step(step).expect("it is written"));
    }
    steps.rest().into_iter().for_each(|step| writer.step(step).expect("it is written"));
    let end = End { duration_ns: seconds * NS_PER_S, verdict: verdict.to_owned(), ..End::default() };
    writer.end(&end).expect("it is written")
}

fn compare(flags: &[&str], before: &[u8], after: &[u8]) -> Done {
    let words = [&["compare"], flags, &["a.onrush", "b.onrush"]].concat();
    Program::new(&words).bytes("a.onrush", before).bytes("b.onrush", after).run()
}

#[test]
fn an_unchanged_system_is_the_same() {
    let done = compare(&[], &run(1.0, 1, |_| {}), &run(1.0, 2, |_| {})).expect(0);
    let done = done.expect_output("http_req_duration p(95)").expect_output("same (within 5 %)");
    // The slow start is left out of both.
    let done = done.expect_output("170 s of each without the first 10 s");
    let done = done.expect_output("how much runs of an unchanged system differ is not known");
    assert!(!done.stdout.contains("worse") && !done.stdout.contains("better"), "{}", done.stdout);
}

#[test]
fn a_system_that_got_slower_fails() {
    let done = compare(&[], &run(1.0, 1, |_| {}), &run(1.2, 2, |_| {})).expect(81);
    // The threshold's percentile is judged, too.
    let done = done.expect_output("http_req_duration p(90)").expect_output("worse").expect_output("requests by name");
    done.expect_log("worse than before: http_req_duration p(90) (+");
    compare(&[], &run(1.2, 1, |_| {}), &run(1.0, 2, |_| {})).expect(0).expect_output("better");
    // What somebody calls too small to matter is.
    compare(&["--margin", "30%"], &run(1.0, 1, |_| {}), &run(1.2, 2, |_| {}))
        .expect(0)
        .expect_output("same (within 30 %)");
}

#[test]
fn a_small_change_needs_earlier_runs_to_fail() {
    let slower = run(1.045, 50, |_| {});
    compare(&[], &run(1.0, 1, |_| {}), &slower).expect(0).expect_output("worse");
    let after = |words: &[&str], times: &dyn Fn(u64) -> f64| {
        let mut program = Program::new(&[&["compare", "--baseline", "runs"], words, &["after.onrush"]].concat());
        for seed in 1..=6 {
            program = program.bytes(&format!("runs/{seed}.onrush"), &run(times(seed), seed, |_| {}));
        }
        let other = run(9.0, 49, |head| head.fingerprint = "another".to_owned());
        program.bytes("runs/other.onrush", &other).file("runs/README", "text").bytes("after.onrush", &slower).run()
    };
    let done = after(&[], &|_| 1.0).expect(81).expect_output("6 runs say how they differ");
    // The latest of the same test is what it is compared with.
    done.expect_output("before  runs/6.onrush");
    // The first run of a test has nothing to be compared with, and a later one would never come if that failed.
    let other = run(9.0, 49, |head| head.fingerprint = "another".to_owned());
    Program::new(&["compare", "--baseline", "runs", "--json", "after.onrush"])
        .bytes("runs/other.onrush", &other)
        .bytes("after.onrush", &slower)
        .run()
        .expect(0)
        .expect_log("nothing is compared: runs has no result file of an earlier run of this test")
        .expect_output("\"worse\": []");
    after(&["--margin", "nosuch=3%"], &|_| 1.0).expect_log("--margin nosuch=… is for nothing that is compared");
    // Where unchanged runs differ as much, it is no news.
    after(&[], &|seed| if seed % 2 == 0 { 1.0 } else { 1.12 }).expect(0).expect_output("cannot tell (more runs could)");
}

#[test]
fn programs_read_it_as_json() {
    let done = compare(&["--json"], &run(1.0, 1, |_| {}), &run(1.2, 2, |_| {})).expect(81);
    let json: Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!((&json["warm_up_seconds"], &json["before"]["file"]), (&10.0.into(), &"a.onrush".into()));
    let rows = json["measures"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["statistic"] == "p(95)").expect("it is judged");
    assert_eq!((&row["verdict"], &row["fails"], &row["better"]), (&"worse".into(), &true.into(), &"lower".into()));
    let number = |name: &str| row[name].as_f64().expect(name);
    assert!(number("low") < 0.2 && 0.2 < number("high") && (number("change") - 0.2).abs() < 0.03, "{row}");
    assert_eq!(json["names"].as_array().map(Vec::len), Some(2));
    assert!(json["worse"].as_array().is_some_and(|worse| !worse.is_empty()));
}

/// A gate that has nothing to say must not look like one that says yes.
#[test]
fn what_could_not_be_judged_fails_on_request() {
    let short = |seed: u64| run_of(SHORT, "VALID", 1.0, seed, [50, 50], |_| {});
    let done = compare(&["--warm-up", "0s"], &short(1), &short(2)).expect(0).expect_output("too short (needs");
    done.expect_log("not judged: http_req_duration p(90): too short (needs ")
        .expect_log("; --fail-on unjudged gives such a comparison exit code 82");
    let done = compare(&["--warm-up", "0s", "--fail-on", "unjudged", "--json"], &short(1), &short(2)).expect(82);
    let done = done.expect_log("could not judge (--fail-on unjudged): http_req_duration p(90): too short (needs ");
    let json: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let lengths = ["measures", "unjudged", "worse"].map(|name| json[name].as_array().map(Vec::len));
    assert!(lengths[0] == lengths[1] && lengths[2] == Some(0), "{json}");
    // One measure of a threshold is enough, whatever the others say.
    let extreme = |head: &mut Head| {
        let threshold = ThresholdSource { expression: "p(99.99)<500".to_owned(), ..ThresholdSource::default() };
        head.thresholds.insert("http_req_duration".to_owned(), vec![threshold]);
    };
    let done = compare(&["--fail-on", "unjudged"], &run(1.0, 1, extreme), &run(1.0, 2, extreme)).expect(82);
    done.expect_log("could not judge (--fail-on unjudged): http_req_duration p(99.99): only ")
        .expect_output("same (within 5 %)");
    // What was judged is no such case, and what got worse is worse.
    let (before, same, slower) = (run(1.0, 1, |_| {}), run(1.0, 2, |_| {}), run(1.2, 2, |_| {}));
    compare(&["--fail-on", "unjudged"], &before, &same).expect(0);
    compare(&["--fail-on", "unjudged,invalid"], &before, &slower).expect(81);
    compare(&["--fail-on", "loud"], &before, &same).expect(255).expect_log("invalid --fail-on");
    // No earlier run of this test.
    let first = |words: &[&str], after: &[u8]| {
        let words = [&["compare", "--baseline", "runs", "--json"], words, &["after.onrush"]].concat();
        Program::new(&words).file("runs/README", "text").bytes("after.onrush", after)
    };
    let done = first(&["--fail-on", "unjudged"], &same).run().expect(82).expect_output("\"unjudged\": [");
    done.expect_log("nothing is compared: runs has no result file of an earlier run");
    // One variable is good for a whole pipeline, with names that mean nothing here.
    let done = first(&[], &same).env("ONRUSH_FAIL_ON", "unjudged,exceptions,unanswered,invalid").run();
    done.expect(82);
    first(&[], &same).env("ONRUSH_FAIL_ON", "exceptions,unanswered").run().expect(0);
    // Numbers that are the generator's.
    let invalid = run_of(SECONDS, "INVALID", 1.0, 2, [50, 50], |_| {});
    compare(&[], &before, &invalid).expect(0);
    let done = compare(&["--fail-on", "unjudged,invalid"], &before, &invalid).expect(80);
    done.expect_log("the measurement of b.onrush is INVALID (--fail-on)");
    first(&["--fail-on", "suspect"], &invalid).run().expect(80);
}

#[test]
fn whole_distributions_are_compared_on_request() {
    let (before, after) = (run(1.0, 1, |_| {}), run(1.2, 2, |_| {}));
    let done = compare(&["--curves"], &before, &after).expect(81);
    let done = done.expect_output("http_req_duration, quantile by quantile");
    let row = done.stdout.lines().find(|line| line.trim_start().starts_with("p(25) ")).expect("a row");
    assert!(row.contains('|') && row.contains('*') && row.contains("+2") | row.contains("+1"), "{row}");
    let done = compare(&["--curves", "--json"], &before, &after).expect(81);
    let json: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let quantiles = json["curves"]["quantiles"].as_array().expect("points");
    let median = quantiles.iter().find(|point| point["quantile"] == 0.5).expect("a median");
    let number = |name: &str| median[name].as_f64().expect(name);
    assert!(number("low") < 0.2 && 0.2 < number("high"), "{median}");
    let below = json["curves"]["distributions"].as_array().expect("points");
    assert_eq!((&below[below.len() - 1]["before"], &below[below.len() - 1]["after"]), (&1.0.into(), &1.0.into()));
    // Nobody asked.
    let done = compare(&["--json"], &before, &after).expect(81);
    assert!(serde_json::from_str::<Value>(&done.stdout).expect("JSON")["curves"].is_null());
}

#[test]
fn another_mix_is_taken_out() {
    let (before, after) = (run_with(1.0, 1, [80, 20], |_| {}), run_with(1.0, 2, [20, 80], |_| {}));
    let done = compare(&[], &before, &after).expect(81).expect_output("the mix of requests differs");
    let done = done.expect_output("as if both had made the first run's mix of requests (of 100 % of them");
    drop(done);
    let done = compare(&["--json"], &before, &after).expect(81);
    let json: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let rows = json["mix_adjusted"]["rows"].as_array().expect("rows");
    for row in rows {
        let change = row["change"].as_f64().expect("a change");
        // The system is the same.
        assert!(change.abs() < 0.03, "{row}");
    }
    let done = compare(&["--json"], &before, &before).expect(0);
    assert!(serde_json::from_str::<Value>(&done.stdout).expect("JSON")["mix_adjusted"].is_null());
}

#[test]
fn a_series_of_runs_tells_since_when() {
    let mut program = Program::new(&["compare", "--baseline", "runs", "--against", "last", "after.onrush"]);
    for seed in 1..=12 {
        let times = if seed < 8 { 1.0 } else { 1.3 };
        program = program.bytes(&format!("runs/{seed}.onrush"), &run(times, seed, |_| {}));
    }
    let done = program.bytes("after.onrush", &run(1.3, 50, |_| {})).run().expect(0);
    let done = done.expect_output("before  runs/12.onrush").expect_output("changes in these 13 runs");
    let line = done.stdout.lines().find(|line| line.contains("* http_req_duration p(95):")).expect("a line");
    assert!(line.contains("with runs/8.onrush of 2026-01-02T03:04:08Z, 6 runs up to this one"), "{line}");
}

#[test]
fn the_last_run_is_looked_for_where_runs_are_kept() {
    let program = Program::new(&["compare", "--against", "last", "after.onrush"]);
    let program = program.bytes("after.onrush", &run(1.0, 9, |_| {}));
    let state = program.path("state").to_string_lossy().into_owned();
    let none = program.env("XDG_STATE_HOME", &state).run().expect(255);
    none.expect_log("--against last needs earlier runs, and none are kept");
    let mut program = Program::new(&["compare", "--against", "last", "after.onrush"]);
    let state = program.path("state").to_string_lossy().into_owned();
    for seed in 1..=2 {
        program = program.bytes(&format!("state/onrush/runs/{seed}.onrush"), &run(1.0, seed, |_| {}));
    }
    let program = program.bytes("after.onrush", &run(1.0, 9, |_| {})).env("XDG_STATE_HOME", &state);
    program.run().expect(0).expect_output("runs/2.onrush: script.js");
    let file = Program::new(&["compare", "--against", "a.onrush", "b.onrush"]);
    let file = file.bytes("a.onrush", &run(1.0, 1, |_| {})).bytes("b.onrush", &run(1.0, 2, |_| {}));
    file.run().expect(0).expect_output("before  a.onrush");
}

#[test]
fn what_makes_a_comparison_unfair_is_said_first() {
    let other = run(1.0, 2, |head| {
        head.fingerprint = "g".to_owned();
        head.scenarios = vec!["default: 20 VUs for 3m".to_owned()];
        head.onrush = "0.2.0".to_owned();
        head.agents = 3;
        head.steady = Vec::new();
    });
    let mut torn = run(1.0, 1, |_| {});
    torn.truncate(torn.len() - 10);
    let done = compare(&["--warm-up", "0s"], &torn, &other).expect(0).expect_log("a.onrush ends after byte");
    let done = done
        .expect_output("! these are different tests: the scenarios were default: 10 VUs for 3m and default: 20 VUs");
    let done = done.expect_output("! they were run by different versions of Onrush: 0.1.0 and 0.2.0");
    let done = done
        .expect_output("! they were run by 1 and by 3 agents")
        .expect_output("a.onrush is of a run that was killed");
    done.expect_output("! the plan never asks for the same load for a while").expect_output("180 s of each\n");
    let evil = run(1.0, 3, |head| {
        head.script = "\x1b[2Jgone".to_owned();
        head.scenarios = vec!["\x1b]0;title\x07".to_owned()];
        head.fingerprint = "h".to_owned();
    });
    let done = compare(&[], &run(1.0, 1, |_| {}), &evil).expect(0);
    assert!(!done.stdout.contains('\x1b') && done.stdout.contains("[2Jgone"), "{}", done.stdout);
    for wrong in [&["--margin", "x"][..], &["--warm-up", "-1s"], &["--warm-up", "5m"]] {
        compare(wrong, &run(1.0, 1, |_| {}), &run(1.0, 2, |_| {})).expect(255);
    }
}
