//! A coordinator that serves runs: agents that stay, tests that are sent to it, and those who follow and steer them.

use rustix::process::Signal;

use crate::program::{Done, Program, Running};

/// A process that would stay; it goes with the test.
struct Staying(Option<Running>);

impl Staying {
    fn end(mut self, signal: Signal) -> Done {
        let running = self.0.take().expect("it ends once");
        running.signal(signal);
        running.wait()
    }

    fn wait(mut self) -> Done {
        self.0.take().expect("it ends once").wait()
    }
}

impl Drop for Staying {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            running.signal(Signal::TERM);
            drop(running.wait());
        }
    }
}

struct Pool {
    running: Staying,
    address: String,
    agent_token: String,
    user_token: String,
}

fn pool() -> Pool {
    let mut running = Program::new(&["coordinator", "--listen", "127.0.0.1:0"]).start();
    let mut token = |name: &str| {
        let line = running.wait_for(&format!("{name}="));
        let token = line.split(&format!("{name}=")).nth(1).and_then(|rest| rest.split(' ').next());
        (token.expect("a token").to_owned(), line)
    };
    let (agent_token, line) = token("ONRUSH_JOIN_TOKEN");
    let (user_token, _) = token("ONRUSH_USER_TOKEN");
    let port = line.trim().rsplit(':').next().expect("a port");
    Pool { address: format!("127.0.0.1:{port}"), agent_token, user_token, running: Staying(Some(running)) }
}

impl Pool {
    /// An agent that has joined.
    fn agent(&self, flags: &[&str]) -> Staying {
        let args = [&["agent", "--join", &self.address], flags].concat();
        let mut running = Program::new(&args).env("ONRUSH_JOIN_TOKEN", &self.agent_token).start();
        running.wait_for("waits for runs");
        Staying(Some(running))
    }

    /// A command of a user.
    fn user(&self, command: &str, args: &[&str]) -> Program {
        let args = [&[command, "--on", &self.address], args].concat();
        Program::new(&args).env("ONRUSH_USER_TOKEN", &self.user_token)
    }

    fn send(&self, args: &[&str], script: &str) -> Program {
        self.user("run", &[args, &["script.js"]].concat()).file("script.js", script)
    }

    fn end(self) -> Done {
        self.running.end(Signal::TERM).expect(105)
    }
}

const SHARED: &str = "
    import exec from 'k6/execution';
    import { Counter } from 'k6/metrics';
    const sum = new Counter('sum');
    export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 10, iterations: 100 } },
                             thresholds: { 'sum{load_zone:eu}': ['count==70'], 'sum{load_zone:us}': ['count==30'],
                                           sum: ['count<100'] } };
    export default function () { sum.add(1); if (exec.scenario.iterationInTest === 0) console.log(`from ${__ENV.WHERE}`); }
    export function handleSummary(data) {
      return { stdout: `sum ${data.metrics.sum.values.count}\\n`, 'result.txt': 'the result', [__ENV.OUTSIDE]: 'x' };
    }";

#[test]
fn tests_are_sent_followed_and_their_files_come_back() {
    let pool = pool();
    let agents = [pool.agent(&["--label", "zone=eu"]), pool.agent(&["--label", "zone=us"])];
    let elsewhere = tempfile::tempdir().expect("a folder");
    let outside = elsewhere.path().join("outside.txt").display().to_string();
    let variable = format!("OUTSIDE={outside}");
    let flags = [
        "-e",
        &variable,
        "--agents",
        "2",
        "--zone",
        "eu=70,us=30",
        "-e",
        "WHERE=the laptop",
        "--summary-export",
        "export.json",
    ];
    let done = pool.send(&flags, SHARED).run().expect(99).expect_output("sum 100").expect_log("from the laptop");
    assert_eq!(done.text("result.txt"), "the result");
    std::fs::remove_file(&outside).expect("whoever sent the test gets all of its files");
    assert_eq!(done.json("export.json")["metrics"]["sum"]["count"], 100);
    // Another one sees the same, and gets no file that is not below its folder.
    let listed = pool.user("attach", &[]).run().expect(0).expect_output("ended with exit code 99");
    let number = first_run(&listed);
    let attached = pool.user("attach", &[&number]).run().expect(99).expect_output("sum 100");
    assert_eq!(attached.text("result.txt"), "the result");
    attached.expect_log(&format!("{outside} was not written"));
    pool.user("attach", &["77"]).run().expect(255).expect_log("there is no run 77");
    // The same agents take the next run, and two runs at once one each.
    let small = "export const options = { iterations: 5 }; export default function () {}";
    let two = [pool.send(&[], small).start(), pool.send(&[], small).start()];
    for run in two {
        run.wait().expect(0).expect_output("iterations");
    }
    pool.end();
    for agent in agents {
        agent.end(Signal::INT).expect(105).expect_log("left the coordinator");
    }
}

/// The number of the first run of a list.
fn first_run(listed: &Done) -> String {
    let number = listed.stdout.lines().find_map(|line| line.strip_prefix("run ")?.split(' ').next());
    number.expect("a run is listed").to_owned()
}

const LONG: &str = "
    import { sleep } from 'k6';
    export const options = { scenarios: { long: { executor: 'constant-vus', vus: 2, duration: '10m', gracefulStop: '0s' } } };
    export default function () { sleep(0.1); }
    export function teardown() { console.log('torn down'); }";

/// Until somebody says that the run is under way.
fn wait_until_it_runs(pool: &Pool) {
    loop {
        let done = pool.user("status", &[]).run();
        if done.code == 0 && done.stdout.contains("running") {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// Files of results are made at the coordinator and come back, as those of a run here would be.
#[test]
fn results_reports_and_replays() {
    let pool = pool();
    let _agent = pool.agent(&[]);
    let script = "
        export const options = { scenarios: { rate: { executor: 'constant-arrival-rate', rate: 10, duration: '2s', preAllocatedVUs: 2 } } };
        export default function () {}";
    let journal =
        r#"{"changes": [{"scenarioClockSeconds": 1, "scenario": "rate", "what": "rate", "from": 10, "to": 50}]}"#;
    let flags = ["--out", "result=out.onrush", "--out", "summary-json=out.json.gz", "--out", "junit=j.xml"];
    let more = ["--report", "r.html", "--replay", "journal.json", "--summary-export", "export.json", "--keep"];
    let state = tempfile::tempdir().expect("a folder");
    let done = pool
        .send(&[&flags[..], &more].concat(), script)
        .file("journal.json", journal)
        .env("XDG_STATE_HOME", &state.path().display().to_string())
        .run()
        .expect(0);
    assert!(!done.stdout.contains("--vu-isolation"), "nobody asked for a layout: {}", done.stdout);
    let export = done.json("export.json");
    assert_eq!(export["steering"]["changes"][0]["source"], "replay");
    let iterations = export["metrics"]["iterations"]["count"].as_u64().expect("counted");
    assert!((55..=61).contains(&iterations), "10 in the first second, 50 in the next: {iterations}");
    let path = done.path("out.onrush").display().to_string();
    let shown = Program::new(&["result", "show", &path]).run().expect(0);
    let row = shown.stdout.lines().find(|line| line.trim_start().starts_with("iterations.")).expect("a row");
    assert!(row.contains(&format!(": {iterations} ")), "{row}, not {iterations}");
    assert!(done.text("r.html").contains("<title>"), "a report");
    assert!(done.text("j.xml").contains("<testsuites"), "a report for CI");
    let packed = std::fs::read(done.path("out.json.gz")).expect("lines");
    assert_eq!(packed[..2], [0x1f, 0x8b], "compressed");
    let kept = walk(state.path());
    assert!(kept.iter().any(|name| name.ends_with("script.onrush")), "{kept:?}");
}

/// The names of all files below a folder.
fn walk(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path.display().to_string()] }).collect()
}

#[test]
fn runs_are_steered_through_their_coordinator() {
    let pool = pool();
    let _agent = pool.agent(&["--name", "the-agent"]);
    let running = pool.send(&[], LONG).start();
    wait_until_it_runs(&pool);
    pool.user("attach", &[]).run().expect(0).expect_output("agent the-agent  in run");
    pool.user("scale", &["--vus", "5"]).run().expect(0);
    pool.user("stop", &[]).run().expect(0);
    running.wait().expect(103).expect_log("torn down").expect_output("iterations");
    // Ctrl+C asks for the same.
    let running = pool.send(&[], LONG).start();
    wait_until_it_runs(&pool);
    running.signal(Signal::INT);
    running.wait().expect(105).expect_log("torn down").expect_output("iterations");
    pool.user("status", &[]).run().expect(255).expect_log("no run is under way there");
}

#[test]
fn whoever_sent_a_run_may_go_away() {
    let pool = pool();
    let _agent = pool.agent(&[]);
    let running = pool.send(&[], LONG).start();
    wait_until_it_runs(&pool);
    running.signal(Signal::KILL);
    drop(running.wait());
    let listed = pool.user("attach", &[]).run().expect(0).expect_output("running");
    let attached = pool.user("attach", &[&first_run(&listed)]).start();
    pool.user("stop", &[]).run().expect(0);
    attached.wait().expect(103).expect_log("torn down").expect_output("iterations");
}

#[test]
fn who_may_not_send_runs_is_told_so() {
    let pool = pool();
    let script = "export default function () {}";
    let as_agent = pool.send(&[], script).env("ONRUSH_USER_TOKEN", &pool.agent_token);
    as_agent.run().expect(255).expect_log("an agent's credential is not good for sending");
    let as_nobody = pool.send(&[], script).env("ONRUSH_USER_TOKEN", "nobody-knows-it");
    as_nobody.run().expect(255).expect_log("the token is wrong");
    let as_user = Program::new(&["agent", "--join", &pool.address]).env("ONRUSH_JOIN_TOKEN", &pool.user_token);
    as_user.run().expect(255).expect_log("a user's credential does not let an agent in");
    pool.send(&["--wait", "200ms"], script).run().expect(120).expect_log("it needs 1 agent,");
    let refused = |output: &str, why: &str| {
        pool.send(&["--out", output], script).run().expect(255).expect_log(why);
    };
    refused("json=x.json", "the output json (x.json) is not available with --on: it may be larger");
    refused("web-dashboard", "the output web-dashboard is not available with --on");
    refused("statsd=127.0.0.1:1", "is not available with --on: what lets it in there stays on this machine");
    refused("summary-json", "the output summary-json (stdout) is not available with --on");
    refused("result=nowhere/x", "cannot write --out 'nowhere/x': the folder 'nowhere' does not exist");
    for flag in [["--agents", "3"], ["--vus", "5"], ["--journal", "j"], ["--out", "json=x"]] {
        let args = [&["coordinator", "--listen", "127.0.0.1:0"][..], &flag].concat();
        Program::new(&args).run().expect(255).expect_log(&format!("{} is for a test, and no script is named", flag[0]));
    }
    pool.send(&["--zone", "eu=0"], script).run().expect(255).expect_log("invalid --zone");
    let nobody = Program::new(&["run", "--on", "127.0.0.1:1", "script.js"]).file("script.js", script);
    nobody.env("ONRUSH_USER_TOKEN", "long-enough").run().expect(255).expect_log("failed to reach the coordinator");
    pool.end();
}

#[test]
fn an_agent_takes_one_run_where_it_should() {
    let pool = pool();
    let once = pool.agent(&["--once"]);
    let script = "export const options = { iterations: 1 }; export default function () {}";
    pool.send(&[], script).run().expect(0);
    once.wait().expect(0);
}
