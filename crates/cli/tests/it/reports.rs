//! Outputs for people and pipelines: a line a second, pages and reports of what failed, annotations on GitHub.

use serde_json::{Value, json};

use crate::{program::Program, server::SCRIPT};

#[test]
fn a_line_a_second_adds_up_to_the_summary() {
    for agents in [&[][..], &["--agents", "2"]] {
        let flags = [&["-q", "--out", "summary-json=lines.json", "--summary-export", "s.json"], agents].concat();
        let script =
            SCRIPT.replace("tags: {", "thresholds: { size: ['p(95)<1'], 'sum{parity:odd}': ['count>1'] }, tags: {");
        let done = Program::script(&flags, &script).run().expect(99);
        let text = done.text("lines.json");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let (end, periods) = lines.split_last().expect("some");
        assert!(periods.len() >= 4, "{text}");
        let summary = &done.json("s.json")["metrics"];
        let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
        for metric in ["iterations", "sum", "sum{parity:odd}"] {
            let counts = periods.iter().filter_map(|line| line["metrics"][metric]["period"]["count"].as_f64());
            assert_eq!(counts.sum::<f64>(), of(metric, "count"), "{metric}");
        }
        let run = &periods[periods.len() - 1]["metrics"];
        for stat in ["p(95)", "count", "max"] {
            assert_eq!(run["size"]["run"][stat].as_f64(), Some(of("size", stat)), "{stat}");
        }
        assert_eq!(run["checks"]["run"]["passes"], summary["checks"]["passes"]);
        for metric in ["iterations", "sum"] {
            assert_eq!(run[metric]["run"]["rate"].as_f64(), Some(of(metric, "rate")), "{metric}");
        }
        assert_eq!((&end["type"], &end["exit_code"], &end["version"]), (&json!("end"), &json!(99), &json!(1)));
        let crossed = json!({ "metric": "size", "threshold": "p(95)<1", "ok": false, "observed": of("size", "p(95)") });
        assert!(end["thresholds"].as_array().expect("a list").contains(&crossed), "{end}");
    }
}

/// The lines of a table by the names of its columns.
fn table(text: &str) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(|line| line.expect("a line")).collect()
}

#[test]
fn a_table_of_seconds_adds_up_to_the_summary() {
    for agents in [&[][..], &["--agents", "2"]] {
        let flags = [&["-q", "--out", "summary-csv=lines.csv", "--summary-export", "s.json"], agents].concat();
        let done = Program::script(&flags, SCRIPT).run().expect(0);
        let text = done.text("lines.csv");
        let head =
            "time,from,seconds,metric,type,tags,count,sum,rate,value,min,avg,med,p(90),p(95),p(99),p(99.9),max\n";
        assert!(text.starts_with(head), "{text}");
        let lines = table(&text);
        let summary = &done.json("s.json")["metrics"];
        let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
        let all = |metric: &'static str| lines.iter().filter(move |line| line["metric"] == metric);
        let total = |metric, column: &'static str| -> f64 {
            all(metric).map(|line| line[column].parse::<f64>().expect("a number")).sum()
        };
        assert_eq!(total("sum", "sum"), of("sum", "count"));
        assert_eq!(total("iterations", "sum"), of("iterations", "count"));
        assert_eq!(total("size", "count"), of("size", "count"));
        assert_eq!(
            (total("checks", "sum"), total("checks", "count")),
            (of("checks", "passes"), of("checks", "passes"))
        );
        assert_eq!(total("odd", "sum"), of("odd", "passes"));
        let largest = all("size").filter_map(|line| line["max"].parse().ok()).fold(0.0, f64::max);
        assert_eq!(largest, of("size", "max"));
        // A line a series and second, with all tags; what teardown() did has no time of the scenarios.
        let seconds = |tag: &str| {
            let own = all("sum").filter(|line| line["tags"].split('&').any(|own| own == tag));
            own.map(|line| line["from"].clone()).collect::<Vec<_>>()
        };
        assert!(seconds("parity=odd").starts_with(&["0", "1", "2"].map(str::to_owned)), "{text}");
        assert_eq!(seconds("parity=odd"), seconds("parity=even"));
        assert!(all("sum").any(|line| line["from"].is_empty() && line["sum"] == "1000000"), "{text}");
        assert!(all("level").all(|line| line["value"] == "5" && line["count"].is_empty()), "{text}");
        let times: Vec<&String> = all("iterations").map(|line| &line["time"]).collect();
        assert!(times.is_sorted() && times.iter().all(|time| time.contains('T')), "{times:?}");
    }
    let done = Program::script(&["-q", "--no-summary", "--out", "summary-csv"], SCRIPT).env("DURATION", "1s").run();
    assert!(table(&done.expect(0).stdout).iter().any(|line| line["metric"] == "iterations"));
    let full = Program::script(&["--out", "summary-csv=/dev/full"], "export default function () {}").run().expect(255);
    full.expect_log("lacks the end of the run");
}

#[test]
fn lines_on_standard_output_are_all_there_is() {
    let flags = ["-q", "--no-summary", "--out", "summary-json"];
    let done = Program::script(&flags, "export default function () {}").run().expect(0);
    let lines: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.last().map(|line| &line["type"]), Some(&json!("end")));
    let full = Program::script(&["--out", "summary-json=/dev/full"], "export default function () {}").run().expect(255);
    full.expect_log("lacks the end of the run");
}

const FAILING: &str = "import { check } from 'k6';
export const options = {
  thresholds: { checks: ['rate>0.9'], iterations: ['count>0'] },
};
export default function () {
  check(1, { 'one | two\\nerror: x': (n) => n === 2, 'is one': (n) => n === 1 });
}";

#[test]
fn github_is_told_what_failed() {
    let done = Program::script(&["-q"], FAILING)
        .file("summary.md", "before\n")
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", "summary.md")
        .run()
        .expect(99);
    let line = "::error file=script.js,line=3,title=Threshold crossed::checks: rate>0.9 was 50.00%25\n";
    assert!(done.stderr.contains(line), "{}", done.stderr);
    let line = "::warning file=script.js,title=Check failed::one | two%0Aerror: x: 1 of 1 failed\n";
    assert!(done.stderr.contains(line), "{}", done.stderr);
    assert!(!done.stdout.contains("::error"), "{}", done.stdout);
    let page = done.text("summary.md");
    assert!(page.starts_with("before\n### ❌ <code>script.js</code>: failed, 1 of 2 thresholds crossed\n"), "{page}");
    assert!(
        page.contains("| ❌ | <code>checks</code> | <code>rate&#62;0.9</code> | rate&#62;0.9 was 50.00% |"),
        "{page}"
    );
    assert!(page.contains("| ❌ | <code>one &#124; two error&#58; x</code> |"), "{page}");
    assert!(page.contains("| <code>iterations</code> | 1 ("), "{page}");
}

#[test]
fn nobody_is_told_where_nobody_asked() {
    let quiet = |flags: &[&str], github: &str| {
        let done = Program::script(&[&["-q"], flags].concat(), FAILING).env("GITHUB_ACTIONS", github).run().expect(99);
        assert!(!done.stderr.contains("::error"), "{}", done.stderr);
    };
    quiet(&[], "");
    quiet(&["--annotations", "off"], "true");
    let done = Program::script(&["-q", "--annotations", "github"], FAILING).run().expect(99);
    assert!(done.stderr.contains("::error"), "{}", done.stderr);
    Program::script(&["--annotations", "x"], FAILING).run().expect(255).expect_log("use auto, github or off");
}

/// Thresholds speak for themselves; what else makes a run fail is told as well, everywhere.
#[test]
fn why_a_run_failed_is_told_where_people_look() {
    let run = |flags: &[&str], script: &str, code: i32| {
        let files = ["-q", "--out", "junit", "--out", "code-quality=q.json"];
        Program::script(&[&files, flags].concat(), script)
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_STEP_SUMMARY", "page.md")
            .run()
            .expect(code)
    };
    let setup = "export function setup() { throw new Error('no token'); } export default function () {}";
    let thrown = "export default function () { throw new Error('no'); }";
    for (flags, script, code, why) in [
        (&[][..], setup, 107, "no token"),
        (&["--fail-on", "exceptions"], thrown, 99, "1 iterations ended in an exception (--fail-on exceptions)"),
    ] {
        let done = run(flags, script, code);
        let told = done.stderr.lines().find(|line| line.starts_with("::error")).expect("an annotation");
        assert!(told.contains("title=Run failed::") && told.contains(why), "{told}");
        let (report, page) = (done.text("junit.xml"), done.text("page.md"));
        assert!(report.contains("failures=\"1\"") && report.contains(why), "{report}");
        let why = why.split(" (").next().expect("a part");
        assert!(page.contains(why), "{page}");
        let issues = done.json("q.json");
        assert!(issues[0]["description"].as_str().is_some_and(|text| text.contains(why)), "{issues}");
    }
    // All of it is, also beside a crossed threshold, which decides about the code.
    let mixed = "import { Trend } from 'k6/metrics';
        new Trend('never');
        export const options = { thresholds: { iterations: ['count>5'], never: ['p(95)<5'] } };
        export default function () { throw new Error('no'); }";
    let reasons = [
        "1 iterations ended in an exception (--fail-on exceptions)",
        "thresholds were never judged (--fail-on unjudged): 'p(95)<5' on never",
    ];
    let done = run(&["--fail-on", "unjudged,exceptions,unanswered,invalid"], mixed, 99);
    let told: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("::error")).collect();
    assert!(told.len() == 2 && told[0].contains("title=Threshold crossed::iterations: count>5"), "{told:?}");
    let (report, page, issues) = (done.text("junit.xml"), done.text("page.md"), done.json("q.json").to_string());
    for reason in reasons {
        assert!(told[1].contains("title=Run failed::") && told[1].contains(reason), "{told:?}");
        let case = report.split("name=\"the run came to its end\"").nth(1).expect("a case");
        let escaped = reason.replace('\'', "&apos;").replace('<', "&lt;");
        assert!(case.contains("<failure") && case.contains(&escaped), "{report}");
        assert!(page.contains(reason.split(" (").next().expect("a part")), "{page}");
        assert!(issues.contains(reason), "{issues}");
    }
    // What ended a run is told once, and what it was refused for beside it.
    let aborted = "import exec from 'k6/execution';
        export default function () { if (__ITER > 0) exec.test.abort('enough'); throw new Error('no'); }";
    let done = run(&["--fail-on", "exceptions", "--iterations", "2"], aborted, 108);
    let page = done.text("page.md");
    assert_eq!(page.matches("enough").count(), 1, "{page}");
    assert!(page.contains("1 iterations ended in an exception"), "{page}");
    // Without a run there is no report, but an annotation.
    Program::script(&[], "export default function ( {}")
        .env("GITHUB_ACTIONS", "true")
        .run()
        .expect(107)
        .expect_log("::error title=Run failed::");
}

#[test]
fn pages_and_reports_are_files() {
    let flags = ["-q", "--out", "markdown", "--out", "code-quality=q.json"];
    let done = Program::script(&flags, FAILING).run().expect(99);
    assert!(done.text("summary.md").starts_with("### ❌ <code>script.js</code>"));
    let issues = done.json("q.json");
    let all = issues.as_array().expect("a list");
    assert_eq!(all.len(), 2, "{issues}");
    assert_eq!(all[0]["description"], "checks: rate>0.9 was 50.00%");
    assert_eq!(all[0]["location"], json!({ "path": "script.js", "lines": { "begin": 3 } }));
    let done = Program::script(&["--out", "markdown=/dev/full"], "export default function () {}").run().expect(255);
    done.expect_log("could not write the Markdown page /dev/full");
    Program::script(&["--out", "code-quality=-"], FAILING).run().expect(255).expect_log("has no file");
}
