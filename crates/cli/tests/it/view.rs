//! The dashboard's stream and the report say what the summary says, and nobody who looks holds up a run.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::program::{Done, Program, Running};

/// Checks, groups, custom metrics with tags, a threshold, a log line that comes again.
const SCRIPT: &str = "
    import { check, group, sleep } from 'k6';
    import { Counter, Trend } from 'k6/metrics';
    const [sum, size] = [new Counter('sum'), new Trend('size')];
    export const options = {
        scenarios: { vus: { executor: 'constant-vus', vus: 3, duration: '2500ms' } },
        thresholds: { 'sum{mine:b}': ['count>1'], size: ['p(90)<1'] },
        summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(99)', 'count'],
    };
    export function setup() { sum.add(1000); }
    export default function () {
        group('a <group>', () => check(__ITER, { 'even </script>': n => n % 2 === 0 }));
        sum.add(1, { mine: __ITER % 2 ? 'a' : 'b' });
        size.add(__ITER * 1.5);
        if (__ITER === 3) console.warn('three');
        sleep(0.01);
    }";

/// The records of a run.
struct Records(Vec<(String, Value)>);

impl Records {
    fn of_events(text: &str) -> Self {
        let event = |event: &str| {
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            Some((field("event: ")?.to_owned(), serde_json::from_str(field("data: ")?).expect("JSON")))
        };
        Self(text.split("\n\n").filter_map(event).collect())
    }

    fn of_report(html: &str) -> Self {
        let start = "id=\"onrush-stream\">";
        let data = html.split(start).nth(1).and_then(|rest| rest.split("</script>").next()).expect("it has records");
        let bytes = STANDARD.decode(data.trim()).expect("Base64");
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("gzip");
        let record = |line: &str| {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            (line["event"].as_str().expect("a name").to_owned(), line["data"].take())
        };
        Self(text.lines().map(record).collect())
    }

    fn of(&self, name: &str) -> Vec<&Value> {
        self.0.iter().filter(|(event, _)| event == name).map(|(_, data)| data).collect()
    }

    fn last(&self, name: &str) -> &Value {
        self.of(name).pop().unwrap_or(&Value::Null)
    }

    /// Sums of a metric's values in all steps, by what `of` takes from each, for series with this tag.
    fn sum(&self, metric: &str, tag: Option<(&str, &str)>, of: impl Fn(&Value) -> f64) -> f64 {
        let metrics = self.last("head")["metrics"].as_array().expect("a list");
        let place = metrics.iter().position(|row| row["name"] == metric).expect("a metric");
        let rows = self.of("series").into_iter().flat_map(|record| record["series"].as_array().expect("a list"));
        let series: BTreeMap<u64, &Value> = rows.map(|row| (row["id"].as_u64().expect("a number"), row)).collect();
        let pairs = self.of("step").into_iter().flat_map(|step| step["values"].as_array().expect("a list"));
        let is_of = |pair: &&Value| {
            let row = series[&pair[0].as_u64().expect("a number")];
            row["metric"] == place && tag.is_none_or(|(name, value)| row["tags"][name] == value)
        };
        pairs.filter(is_of).map(|pair| of(&pair[1])).sum()
    }

    /// Held against what `--summary-export` wrote.
    fn check(&self, done: &Done) {
        let metrics = &done.json("s.json")["metrics"];
        let number = |value: &Value| value.as_f64().unwrap_or_default();
        assert_eq!(self.sum("sum", None, number), metrics["sum"]["count"].as_f64().expect("a count"));
        let of_b = self.sum("sum", Some(("mine", "b")), number);
        assert_eq!(of_b, metrics["sum{mine:b}"]["count"].as_f64().expect("a count"));
        assert_eq!(
            self.sum("size", None, |value| number(&value["n"])),
            metrics["size"]["count"].as_f64().expect("a count")
        );
        let hits = self.sum("checks", Some(("check", "even </script>")), |value| number(&value[0]));
        assert_eq!(hits, metrics["checks"]["passes"].as_f64().expect("passes"));
        assert_eq!(self.sum("iterations", None, number), metrics["iterations"]["count"].as_f64().expect("a count"));
        let end = self.last("end");
        assert_eq!((&end["exitCode"], &end["verdict"]), (&99.into(), &done.json("s.json")["measurement"]["verdict"]));
        let state = self.last("state");
        assert_eq!((&state["phase"], &state["iterations"]), (&"closed".into(), &metrics["iterations"]["count"]));
        let thresholds = state["thresholds"].as_array().expect("a list");
        let judged: Vec<_> = thresholds.iter().map(|row| (row["metric"].as_str(), row["ok"].as_bool())).collect();
        assert_eq!(judged, [(Some("size"), Some(false)), (Some("sum{mine:b}"), Some(true))]);
        let lines: BTreeMap<u64, &Value> =
            self.of("log").into_iter().map(|row| (row["line"].as_u64().expect("a number"), row)).collect();
        let three = lines.values().filter(|row| row["message"] == "three" && row["level"] == "warning");
        assert_eq!(three.filter_map(|row| row["count"].as_u64()).sum::<u64>(), 3);
        assert!(!self.of("health").is_empty());
        let head = self.last("head");
        assert_eq!(head["scenarios"][0]["planned"], serde_json::json!([[0.0, 3.0], [2500.0, 3.0]]));
    }
}

/// Where the dashboard of a run is.
fn address(running: &mut Running) -> String {
    let line = running.wait_for("web dashboard: ");
    line.trim().rsplit("http://").next().expect("an address").to_owned()
}

fn ask(address: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").expect("it reads");
    stream
}

fn read_all(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it ends");
    text.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned())
}

#[test]
fn stream_report_and_summary_say_the_same() {
    for agents in [&[][..], &["--agents", "3"]] {
        let flags = [
            "--out",
            "web-dashboard=port=0&tag=mine&report=r.html",
            "--out",
            "result=r.onrush",
            "--summary-export",
            "s.json",
        ];
        let mut running = Program::script(&[&flags, agents].concat(), SCRIPT).start();
        let address = address(&mut running);
        // One reads all, one reads nothing, and the run ends all the same.
        let (reader, silent) = (ask(&address, "/events"), ask(&address, "/events"));
        let page = read_all(ask(&address, "/"));
        assert!(page.contains("<html"), "{page}");
        let live = Records::of_events(&read_all(reader));
        let done = running.wait().expect(99);
        drop(silent);
        live.check(&done);
        assert!(!live.of("open").is_empty());
        let html = done.text("r.html");
        assert!(!html.contains("even </script>"));
        let report = Records::of_report(&html);
        report.check(&done);
        let expect = if agents.is_empty() { 1 } else { 3 };
        assert_eq!(report.last("state")["agents"].as_array().map(Vec::len), Some(expect));
        // The file has the same, but for the tags that nobody keeps in it.
        let bytes = std::fs::read(done.path("r.onrush")).expect("it was written");
        let later = Program::new(&["report", "r.onrush"]).bytes("r.onrush", &bytes).run().expect(0);
        Records::of_report(&later.text("r.html")).check(&done);
    }
}

/// A browser that notes what it was asked to show.
fn with_browser(program: Program) -> Program {
    let program = program.file("browser", "#!/bin/sh\necho \"$@\" >> \"$HOME/opened\"\n");
    let browser = program.path("browser");
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).expect("a file");
    program.env("BROWSER", &browser.display().to_string())
}

#[test]
fn the_dashboard_is_opened_where_that_is_asked_for() {
    let script = "import { sleep } from 'k6'; export default function () { sleep(1); }";
    let port_0 = "web-dashboard=port=0";
    for (flags, variable, expect) in [
        (&["--open", "--out", port_0][..], "", true),
        (&["--out", "web-dashboard=port=0&open"], "", true),
        (&["--out", port_0], "K6_WEB_DASHBOARD_OPEN", true),
        // It asks for the dashboard as well.
        (&["--open"], "", true),
        (&["--open"], "K6_WEB_DASHBOARD", true),
        (&["--out", port_0], "", false),
        (&["--open=false", "--out", port_0], "K6_WEB_DASHBOARD_OPEN", false),
    ] {
        let program = Program::script(flags, script).env("K6_WEB_DASHBOARD_PORT", "0");
        let program = if variable.is_empty() { program } else { program.env(variable, "true") };
        let done = with_browser(program).run().expect(0);
        let address = done.stdout.lines().find_map(|line| line.trim().strip_prefix("web dashboard: "));
        let address = address.unwrap_or_else(|| panic!("no dashboard with {flags:?} {variable}: {}", done.stdout));
        let opened = std::fs::read_to_string(done.path("opened")).unwrap_or_default();
        assert_eq!(opened, if expect { format!("{address}\n") } else { String::new() }, "{flags:?} {variable}");
    }
    let done =
        Program::script(&["--open"], script).env("K6_WEB_DASHBOARD_PORT", "0").env("BROWSER", "/no/browser").run();
    done.expect(0).expect_log("the dashboard could not be opened with /no/browser");
    let done = Program::script(&["--open", "--out", "web-dashboard=port=-1"], script).run().expect(255);
    done.expect_log("--open has no page to show");
}

#[test]
fn the_report_of_a_run_under_way_is_at_the_dashboard() {
    let flags = ["--out", "web-dashboard=port=0", "--address", "127.0.0.1:0", "-d", "10m"];
    let script = "import { sleep } from 'k6'; export default function () { sleep(0.1); }";
    let token = "0123456789abcdef";
    let mut running = Program::script(&flags, script).env("ONRUSH_API_TOKEN", token).start();
    let address = address(&mut running);
    std::thread::sleep(Duration::from_millis(1_500));
    let request = |path: &str, header: &str| {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n{header}\r\n").expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it ends");
        text
    };
    let refused = request("/report", "");
    assert!(refused.starts_with("HTTP/1.0 401") || refused.starts_with("HTTP/1.1 401"), "{refused}");
    let answer = request("/report", &format!("Authorization: Bearer {token}\r\n"));
    assert!(answer.contains("text/html") && answer.contains("200 OK"), "{answer}");
    let report = Records::of_report(&answer);
    assert_eq!((report.last("end"), &report.last("state")["phase"]), (&Value::Null, &"running".into()));
    running.signal(rustix::process::Signal::INT);
    running.wait().expect(105);
}

#[test]
fn a_report_alone_needs_no_server_and_is_written_when_a_run_is_aborted() {
    let mut running = Program::script(
        &["--report", "r.html.gz", "--summary-export", "s.json", "-d", "10m"],
        "import { sleep } from 'k6'; export default function () { console.log('begun'); sleep(0.1); }",
    )
    .start();
    running.wait_for("execution");
    std::thread::sleep(Duration::from_millis(1_500));
    running.signal(rustix::process::Signal::INT);
    let done = running.wait().expect(105);
    let bytes = std::fs::read(done.path("r.html.gz")).expect("it was written");
    let mut html = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut html).expect("gzip");
    let report = Records::of_report(&html);
    assert_eq!(report.last("end")["exitCode"], 105);
    assert!(report.last("end")["stopped"].as_str().is_some_and(|why| why.contains("interrupt")));
}

#[test]
fn reports_are_made_of_exported_summaries() {
    let summary = r#"{"metrics": {"iterations": {"count": 5, "rate": 1}}, "root_group": {"name": "", "groups": {}, "checks": {}}}"#;
    let done =
        Program::new(&["report", "summary.json", "-o", "out.html"]).file("summary.json", summary).run().expect(0);
    let html = done.text("out.html");
    assert!(html.contains("\"iterations\":{\"count\":5,\"rate\":1}"), "{html}");
    assert_eq!(Records::of_report(&html).last("end")["verdict"], Value::Null);
    Program::new(&["report", "a.txt"]).file("a.txt", "hello").run().expect(255).expect_log("no result file");
    Program::new(&["report"]).run().expect(255).expect_log("needs one file");
    Program::new(&["report", "last"])
        .env("HOME", "/nowhere")
        .env("XDG_STATE_HOME", "")
        .run()
        .expect(255)
        .expect_log("no run was kept");
}

#[test]
fn a_place_that_is_taken_is_an_error_where_it_was_chosen() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("bound").port();
    let out = format!("web-dashboard=port={port}");
    let script = "export default function () {}";
    Program::script(&["--out", &out], script).run().expect(255).expect_log("cannot listen on");
    Program::script(&["--out", "web-dashboard=host=0.0.0.0&port=0"], script)
        .run()
        .expect(255)
        .expect_log("needs a token");
    Program::script(&["--out", "web-dashboard=port=-1&period=5s"], script)
        .run()
        .expect(0)
        .expect_log("its period changes nothing");
    Program::script(&["--out", "web-dashboard=colour=red"], script).run().expect(255).expect_log("unknown parameter");
}

#[test]
fn runs_that_are_kept_are_found_again() {
    let state = tempfile::tempdir().expect("a folder");
    let home = state.path().display().to_string();
    let program = |words: &[&str]| Program::new(words).env("XDG_STATE_HOME", &home);
    for iterations in ["1", "2"] {
        let script = "export default function () {}";
        Program::script(&["--keep", "-i", iterations], script).env("XDG_STATE_HOME", &home).run().expect(0);
    }
    let listed = program(&["result", "list"]).run().expect(0).stdout;
    let paths: Vec<&str> = listed.lines().collect();
    assert_eq!(paths.len(), 2, "{listed}");
    program(&["result", "show", "last"]).run().expect(0).expect_output("2 iterations shared");
    program(&["result", "show", paths[0]]).run().expect(0).expect_output("1 iterations shared");
    program(&["report", "last", "-o", "r.html"]).run().expect(0);
}
