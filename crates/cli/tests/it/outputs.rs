//! `--out json` and `--out csv`: what is in the files, and what happens when they cannot be written.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
};

use rustix::process::Signal;
use serde_json::Value;

use crate::program::Program;

/// The script k6's recorded files were made with, see `crates/output/tests/data/README.md`.
const RECORDED_SCRIPT: &str = include_str!("../../../output/tests/data/raw.js");
const RECORDED: &str = include_str!("../../../output/tests/data/raw.k6.json");

/// The server of the recording: its base URL. Its threads end with the tests.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone()?);
                let mut stream = stream;
                let mut line = String::new();
                while reader.read_line(&mut line)? > 0 {
                    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
                    while line.trim() != "" {
                        line.clear();
                        reader.read_line(&mut line)?;
                    }
                    line.clear();
                    let (status, head) = match path.split(['/', '?']).nth(1) {
                        Some("redirect") => ("302 Found", "Location: /final\r\n"),
                        Some("missing") => ("404 Not Found", ""),
                        _ => ("200 OK", ""),
                    };
                    stream.write_all(format!("HTTP/1.1 {status}\r\n{head}Content-Length: 0\r\n\r\n").as_bytes())?;
                }
                std::io::Result::Ok(())
            });
        }
    });
    format!("http://{address}")
}

/// Metric, tags and metadata of each sample, times and values left out.
fn shapes(text: &str, base: &str) -> Vec<String> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
    let points = lines.filter(|line| line["type"] == "Point");
    // A slow machine may need a second, after which these two come.
    let points = points.filter(|line| !["vus", "vus_max"].map(Value::from).contains(&line["metric"]));
    let shape = |point: Value| {
        let time = point["data"]["time"].as_str().expect("a time");
        assert!(time.len() > 20 && time.starts_with("20") && time.contains('T'), "{time}");
        let shape = format!("{} {} {}", point["metric"], point["data"]["tags"], point["data"]["metadata"]);
        shape.replace(base, "BASE")
    };
    points.map(shape).collect()
}

#[test]
fn a_run_has_k6s_samples_with_k6s_tags() {
    let base = server();
    let flags = ["-q", "-e", &format!("BASE={base}"), "--tag", "run=r 1", "--tag", "z=1", "--out", "json=a.json"];
    let done = Program::script(&flags, RECORDED_SCRIPT).run().expect(0);
    let (ours, theirs) = (shapes(&done.text("a.json"), &base), shapes(RECORDED, "http://127.0.0.1:19100"));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
    let declarations = |text: &str| {
        let mut lines: Vec<String> =
            text.lines().filter(|line| line.starts_with("{\"type\":\"Metric\"")).map(str::to_owned).collect();
        lines.retain(|line| !line.contains("\"vus"));
        lines.sort();
        lines
    };
    assert_eq!(declarations(&done.text("a.json")), declarations(RECORDED));
}

const SMALL: &str = "
    import { Counter } from 'k6/metrics';
    const c = new Counter('my_c');
    export const options = { iterations: 2 };
    export default function () { c.add(1, { odd: 'a,b \"c\"\\nd é' }); c.add(Infinity); }";

#[test]
fn several_outputs_and_formats() {
    let flags = ["--out=json", "--out=csv=fileName=b.csv,timeFormat=rfc3339_nano", "-o", "json=c.json.gz"];
    let done = Program::script(&flags, SMALL).env("TZ", "UTC").run().expect(0);
    let done = done.expect_output("        output: json(stdout), csv (b.csv), json (c.json.gz)\n");
    let done = done.expect_output("{\"metric\":\"my_c\",\"type\":\"Point\",\"data\":{\"time\":\"20");
    let csv = done.text("b.csv");
    assert!(csv.starts_with("metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata\nmy_c,20"), "{csv}");
    assert!(csv.contains("Z,1.000000,,,,,,,,,default,,,,,,\"odd=a,b \"\"c\"\"\nd é\",\n"), "{csv}");
    assert!(csv.contains(",+Inf,"), "{csv}");
    let mut text = String::new();
    let file = std::fs::File::open(done.path("c.json.gz")).expect("a file");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("a whole file");
    assert!(text.contains("\"value\":null,"), "{text}");
    assert_eq!(shapes(&text, "-").len(), 12, "{text}");
}

#[test]
fn system_tags_and_the_variable() {
    let done = Program::script(&["-q", "--system-tags=vu,iter,group"], SMALL)
        .env("K6_OUT", "json=a.json,csv=a.csv")
        .run()
        .expect(0);
    assert!(done.text("a.csv").starts_with("metric_name,timestamp,metric_value,group,extra_tags,metadata\n"));
    assert!(done.text("a.csv").ends_with(",1.000000,,,iter=1&vu=1\n"), "{}", done.text("a.csv"));
    let shapes = shapes(&done.text("a.json"), "-");
    assert_eq!(
        shapes.last().map(String::as_str),
        Some("\"iterations\" {\"group\":\"\"} {\"iter\":\"1\",\"vu\":\"1\"}")
    );
}

#[test]
fn a_share_of_the_samples_holds_whole_requests() {
    let base = server();
    let script = "import http from 'k6/http';
        export const options = { iterations: 400, vus: 4 };
        export default function () { http.get(`${__ENV.BASE}/empty`, { tags: { nr: String(__ITER) + '-' + __VU } }); }";
    let flags = ["-q", "--out-share=0.25", "--out=json=a.json", "-e", &format!("BASE={base}")];
    let done = Program::script(&flags, script).run().expect(0).expect_output("http_reqs");
    let mut requests = std::collections::BTreeMap::<String, usize>::new();
    for line in done.text("a.json").lines() {
        let line: Value = serde_json::from_str(line).expect("each line is JSON");
        if let Some(nr) = line["data"]["tags"]["nr"].as_str() {
            *requests.entry(nr.to_owned()).or_default() += 1;
        }
    }
    // By chance, so within five standard deviations of 100.
    assert!((57..=143).contains(&requests.len()), "{}", requests.len());
    assert!(requests.values().all(|samples| *samples == 9), "{requests:?}");
    for wrong in ["0", "1.5", "all", "NaN"] {
        Program::script(&["-q", "--out-share", wrong], SMALL)
            .run()
            .expect(255)
            .expect_log(&format!("invalid --out-share \\\"{wrong}\\\""));
    }
}

#[test]
fn what_cannot_be_opened_ends_the_run_before_it_starts() {
    let check = |out: &str, text: &str| {
        let done = Program::script(&["-q", "--out", out], SMALL).run().expect(255).expect_log(text);
        assert_eq!(done.stdout, "");
    };
    check("json=nowhere/a.json", "could not create the 'json' output: open nowhere/a.json: no such file or directory");
    check("csv=/", "could not create the 'csv' output: open /: is a directory");
    check("foo=bar", "invalid output type 'foo', available types are: ");
    check("csv=bogus=1", "the keys are fileName, saveInterval and timeFormat");
}

#[test]
fn a_full_disk_is_told_once_and_the_test_goes_on() {
    let flags = ["--out", "json=/dev/full", "--out", "csv=good.csv"];
    let done = Program::script(&flags, SMALL).run().expect(0).expect_output("measurement SUSPECT");
    assert_eq!(done.stderr.matches("no space left on device").count(), 1, "{}", done.stderr);
    let done = done.expect_log("error=\"no space left on device\" filename=/dev/full output=json");
    let done = done.expect_log("the output json (/dev/full) failed: it lacks 12 samples or more");
    assert_eq!(done.text("good.csv").lines().count(), 1 + 12 + 2, "two rows hold a line break");
}

/// Times are those of the machine's zone, which `TZ` may name.
#[test]
fn times_are_local() {
    // Small machines have no time zones.
    if !std::path::Path::new("/usr/share/zoneinfo/Asia/Kolkata").exists() {
        return;
    }
    let flags = ["--out=json=a.json", "--out=csv=fileName=a.csv,timeFormat=rfc3339"];
    let script = "export default function () { console.log('here'); }";
    let done =
        Program::script(&flags, script).env("TZ", "Asia/Kolkata").run().expect(0).expect_log("+05:30\" level=info");
    for name in ["a.json", "a.csv"] {
        assert!(done.text(name).contains("+05:30"), "{}", done.text(name));
    }
}

/// As in k6, which gives setup() and teardown() an iteration and no VU.
#[test]
fn metadata_of_setup_and_teardown() {
    let script = "
        import exec from 'k6/execution';
        import { Counter } from 'k6/metrics';
        const c = new Counter('my_c');
        export function setup() { c.add(1); exec.vu.metrics.metadata.own = 'x'; c.add(2); }
        export default function () { c.add(3); }
        export function teardown() { c.add(4); }";
    let done = Program::script(&["--out=json=a.json", "--system-tags=vu,iter"], script).run().expect(0);
    let text = done.text("a.json");
    let points = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let points = points.filter(|line| line["type"] == "Point" && line["metric"] == "my_c");
    let metadata: Vec<String> = points.map(|point| point["data"]["metadata"].to_string()).collect();
    assert_eq!(
        metadata,
        [r#"{"iter":"0"}"#, r#"{"iter":"0","own":"x"}"#, r#"{"iter":"0","vu":"1"}"#, r#"{"iter":"0"}"#]
    );
}

/// What a killed run leaves can be read up to its last second.
#[test]
fn a_killed_run_keeps_its_samples() {
    let script = "
        import { sleep } from 'k6';
        import { Counter } from 'k6/metrics';
        const c = new Counter('my_c');
        export const options = { vus: 3, duration: '60s' };
        export default function () { c.add(1); sleep(0.01); }";
    let mut running =
        Program::script(&["--out=json=a.json", "--out=csv=a.csv", "--out=json=a.json.gz"], script).start();
    running.wait_for("running (0m10");
    running.signal(Signal::KILL);
    let done = running.wait();
    let mut bytes = Vec::new();
    let file = std::fs::File::open(done.path("a.json.gz")).expect("a file");
    // The end is missing, everything before it is there.
    let _ = flate2::read::GzDecoder::new(file).read_to_end(&mut bytes);
    for text in [String::from_utf8_lossy(&bytes).into_owned(), done.text("a.json")] {
        let whole = &text[..=text.rfind('\n').expect("a line")];
        assert!(shapes(whole, "-").len() > 10, "{text}");
    }
    assert!(done.text("a.csv").lines().count() > 10);
}

/// What is there may be the result of a run that went well, or of one that is under way.
#[test]
fn a_run_that_cannot_begin_leaves_files_as_they_are() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let flags =
        ["--address", &address, "--out", "result=a", "--out", "json=b", "--out", "summary-json=c", "--out", "junit=d"];
    let mut program = Program::script(&flags, "export default function () {}");
    for name in ["a", "b", "c", "d"] {
        program = program.file(name, "before");
    }
    let done = program.run().expect(106);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(done.text(name), "before", "{name}");
    }
}

#[test]
fn no_output_is_written_over_the_script() {
    let done = Program::script(&["--out", "result=./script.js"], "export default function () {}").run().expect(255);
    done.expect_log("an output would be written over the script ./script.js");
}

/// A report that nobody could write is not found out after the test.
#[test]
fn places_of_reports_are_looked_at_before_the_run() {
    for (flags, flag) in [
        (["--out", "junit=nowhere/x"], "--out 'nowhere/x'"),
        (["--out", "markdown=nowhere/x"], "--out 'nowhere/x'"),
        (["--report", "nowhere/x"], "--report 'nowhere/x'"),
    ] {
        let done = Program::script(&flags, "export default function () {}").run().expect(255);
        done.expect_log(&format!("cannot write {flag}: the folder 'nowhere' does not exist"));
    }
}

#[test]
fn a_test_report() {
    let script = "import { check, group } from 'k6'; import { Counter, Trend } from 'k6/metrics';
        const c = new Counter('my_c'); new Trend('never');
        export const options = { iterations: 4, thresholds: { my_c: ['count<3', 'count>1'], never: ['p(95)<5'] } };
        export default function () {
            c.add(1);
            group('a <group>', () => check(__ITER, { 'less than \"3\" & more': i => i < 3, ok: () => true, 'bell \\x07': () => true }));
        }";
    let done = Program::script(&["-q", "--out", "junit", "--out", "junit=again/report.xml"], script)
        .file("again/x", "")
        .run()
        .expect(99);
    let text = done.text("junit.xml");
    assert_eq!(text, done.text("again/report.xml"));
    for line in [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
        "<testsuites name=\"script.js\" tests=\"8\" failures=\"2\" time=\"",
        "<testsuite name=\"thresholds\" tests=\"3\" failures=\"1\" skipped=\"1\">",
        // What passed has a figure as well.
        "<testcase classname=\"my_c\" name=\"count&gt;1\">\n      <system-out>observed 4</system-out>\n    </testcase>",
        "<failure message=\"count&lt;3 was 4\"/>\n      <system-out>observed 4</system-out>",
        // Nobody observed the 0 that it counts as.
        "<skipped message=\"never judged: no samples\"/>\n    </testcase>",
        "<testcase classname=\"::a &lt;group&gt;\" name=\"less than &quot;3&quot; &amp; more\">",
        "<failure message=\"1 of 4 failed\"/>\n      <system-out>3 of 4 passed</system-out>",
        "name=\"bell \u{fffd}\">\n      <system-out>4 of 4 passed</system-out>",
        "<testcase classname=\"onrush\" name=\"the measurement is valid\"",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    Program::script(&["-q", "--out", "junit=/dev/full"], "export default function () {}")
        .run()
        .expect(255)
        .expect_log("could not write the JUnit report /dev/full");
}

/// A limit on the size of files is a signal first, which would end the process.
#[test]
fn a_file_that_may_not_grow_ends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.js"), "export default function () {}").expect("a file");
    let limited = "ulimit -f 2 && exec \"$0\" \"$@\"";
    let flags = ["run", "-q", "-a", "", "-i", "500", "--out", "json=x.json", "s.js"];
    let done = std::process::Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_onrush")])
        .args(flags)
        .current_dir(folder.path())
        .output()
        .expect("it starts");
    let (out, log) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(out.contains("iterations...........: 500"), "{:?} {out}{log}", done.status);
    assert!(log.contains("x.json") && log.contains("file too large"), "{log}");
}
