//! `--journal`: a coordinator is killed and another goes on with its run, or nobody does and what agents kept is added later.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
};

use onrush_testkit::{GoodServer, Reply};
use rustix::process::Signal;

use crate::program::{Program, Running};

/// Every number of an iteration is counted once: their sum says whether one is missing or there twice.
const SCRIPT: &str = "
    import exec from 'k6/execution';
    import http from 'k6/http';
    import { Counter } from 'k6/metrics';
    const sum = new Counter('sum');
    export const options = {
        scenarios: { rate: { executor: 'constant-arrival-rate', rate: 40, duration: '10s', preAllocatedVUs: 20 } },
        thresholds: { iterations: ['count==400'], sum: ['count==79800'] },
    };
    export function setup() { return { by: 1 }; }
    export default function (data) {
        const number = exec.scenario.iterationInTest;
        // In the fourth second.
        if (number === 120) http.get(__ENV.TARGET);
        sum.add(number * data.by);
    }";
const TOKEN: &str = "a-token-for-tests";

/// A coordinator with a journal, and its two agents, in the middle of the run.
struct Begun {
    coordinator: Running,
    agents: Vec<Running>,
    /// The journal, and the folder it is in.
    journal: PathBuf,
    _folder: tempfile::TempDir,
}

fn begin(lease: &str) -> Begun {
    begin_with(lease, None)
}

/// With a token, or with certificates of this folder.
fn begin_with(lease: &str, certificates: Option<&Path>) -> Begun {
    let folder_of = |role: &str| certificates.map(|folder| folder.join(role).display().to_string());
    let (own, of_agents) = (folder_of("coordinator"), folder_of("agent"));
    let tls = |folder: &Option<String>| folder.iter().flat_map(|folder| ["--tls".to_owned(), folder.clone()]).collect();
    let (own, of_agents): (Vec<String>, Vec<String>) = (tls(&own), tls(&of_agents));
    let let_in = |program: Program| match certificates {
        Some(_) => program,
        None => program.env("ONRUSH_JOIN_TOKEN", TOKEN),
    };
    let (is_time, time) = mpsc::channel();
    let server = GoodServer::start(move |_| {
        // Whoever waits for it may have gone.
        let _ = is_time.send(());
        Reply::text("ok")
    });
    let target = format!("TARGET={}", server.url("/"));
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("run.journal");
    let path = journal.to_str().expect("a text").to_owned();
    let args = [
        "coordinator",
        "--listen",
        "127.0.0.1:0",
        "--address",
        "",
        "--agents",
        "2",
        "--agent-lease",
        lease,
        "--journal",
        &path,
        "-e",
        &target,
        "script.js",
    ];
    let args: Vec<&str> = args.into_iter().chain(own.iter().map(String::as_str)).collect();
    let mut coordinator = let_in(Program::new(&args).file("script.js", SCRIPT)).start();
    let line = coordinator.wait_for("onrush agent --join");
    let port = line.rsplit(':').next().and_then(|rest| rest.split_whitespace().next()).expect("a port");
    let address = format!("127.0.0.1:{port}");
    let args = ["agent", "--wait", "20s", "--join", &address];
    let args: Vec<&str> = args.into_iter().chain(of_agents.iter().map(String::as_str)).collect();
    let agent = || let_in(Program::new(&args)).start();
    let agents = vec![agent(), agent()];
    time.recv().expect("the server is there");
    Begun { coordinator, agents, journal, _folder: folder }
}

impl Begun {
    /// Kills the coordinator.
    fn kill(self) -> (Vec<Running>, PathBuf, tempfile::TempDir) {
        self.coordinator.signal(Signal::KILL);
        self.coordinator.wait();
        (self.agents, self.journal, self._folder)
    }
}

#[test]
fn a_killed_coordinator_is_restarted_and_nothing_is_missing() {
    let (agents, journal, _folder) = begin("30s").kill();
    let path = journal.to_str().expect("a text");
    let resume = || Program::new(&["coordinator", "--journal", path, "--resume", "--summary-export", "out.json"]);
    let done = resume().run().expect(0).expect_log("the run goes on: its coordinator was gone");
    assert!(done.stdout.contains("count=400") && done.stdout.contains("count=79800"), "{}", done.stdout);
    for agent in agents {
        agent.wait().expect(0);
    }
    resume().run().expect(255).expect_log("is over: its coordinator has told its result");
}

/// Agents that trust an authority believe a coordinator with the same certificate only.
#[test]
fn a_coordinator_with_certificates_is_restarted() {
    let certificates = tempfile::tempdir().expect("a folder");
    let place = certificates.path().join("cluster");
    let path = place.to_str().expect("a text");
    Program::new(&["cluster", "init", "--name", "127.0.0.1", path]).run().expect(0);
    let (agents, journal, _folder) = begin_with("30s", Some(&place)).kill();
    let path = journal.to_str().expect("a text");
    let done = Program::new(&["coordinator", "--journal", path, "--resume"]).run().expect(0);
    assert!(done.stdout.contains("count=400") && done.stdout.contains("count=79800"), "{}", done.stdout);
    for agent in agents {
        agent.wait().expect(0);
    }
}

#[test]
fn what_agents_keep_that_lost_their_coordinator_is_added_later() {
    let (agents, journal, _folder) = begin("4s").kill();
    let agents: Vec<_> = agents.into_iter().map(|agent| agent.wait().expect(120)).collect();
    let mut files = Vec::new();
    for agent in &agents {
        assert!(agent.stderr.contains("what the coordinator may not have is in onrush-agent-"), "{}", agent.stderr);
        let name = (0..2).map(|number| format!("onrush-agent-{number}.unheard")).find(|name| agent.path(name).exists());
        files.push(agent.path(&name.expect("one of the names")).to_str().expect("a text").to_owned());
    }
    let path = journal.to_str().expect("a text");
    // It is too late to go on, and what is to be recovered stays.
    let late = Program::new(&["coordinator", "--journal", path, "--resume"]).run().expect(255);
    late.expect_log("and agents stop after 4 s (--agent-lease)").expect_log("onrush result recover");
    let recover = |files: &[&str]| Program::new(&[&["result", "recover", path], files].concat()).run().expect(120);
    let count = |text: &str, what: &str| -> u64 {
        let line = text.lines().find(|line| line.trim_start().starts_with(what)).expect("a line of the summary");
        line.split(':').nth(1).and_then(|rest| rest.split_whitespace().next()?.parse().ok()).expect("a number")
    };
    let all = recover(&[&files[0], &files[1]]);
    let (iterations, sum) = (count(&all.stdout, "iterations."), count(&all.stdout, "sum."));
    // The numbers from 0 on, each once.
    assert!(iterations > 200 && sum == iterations * (iterations - 1) / 2, "{iterations} {sum}\n{}", all.stdout);
    assert!(count(&recover(&[]).stdout, "iterations.") < iterations, "the files add something");
    // A power cut leaves zeros behind what was written.
    let cut = journal.with_extension("cut");
    let bytes = [fs::read(&journal).expect("a journal"), vec![0; 4_096]].concat();
    fs::write(&cut, bytes).expect("a file");
    let after = Program::new(&["result", "recover", cut.to_str().expect("a text"), &files[0], &files[1]]).run();
    let after = after.expect(120).expect_log("what was noted behind that is missing");
    assert_eq!(count(&after.stdout, "iterations."), iterations);
    let twice = Program::new(&["result", "recover", path, &files[0], &files[0]]).run();
    twice.expect(255).expect_log("has another file");
}

#[test]
fn what_cannot_go_on_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let foreign = folder.path().join("foreign");
    fs::write(&foreign, "{}").expect("a file");
    let foreign = foreign.to_str().expect("a text");
    let refused = |args: &[&str], text: &str| {
        Program::new(&[&["coordinator"], args].concat()).file("script.js", SCRIPT).run().expect(255).expect_log(text);
    };
    refused(&["--resume"], "--resume needs --journal FILE");
    refused(&["--resume", "--journal", foreign], "it is no journal of a run");
    refused(&["--agents", "1", "--journal", foreign, "script.js"], "it is no journal of a run");
    refused(
        &["--agents", "1", "--journal", "new", "--out", "json=a.json", "script.js"],
        "is not available yet with --journal",
    );
    let begun = begin("30s");
    let path = begun.journal.to_str().expect("a text");
    refused(&["--resume", "--journal", path], "its coordinator is still there");
    refused(&["--agents", "1", "--journal", path, "script.js"], "the journal of a run that has not ended");
    for agent in begun.agents {
        agent.signal(Signal::KILL);
        agent.wait();
    }
    begun.coordinator.wait().expect(120);
}
