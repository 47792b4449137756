//! `onrush coordinator` and the agents that join it.

use crate::program::{Program, Running};

const SCRIPT: &str = "
    import exec from 'k6/execution';
    import { Counter } from 'k6/metrics';
    const sum = new Counter('sum');
    export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 6, iterations: 60 } },
                             thresholds: { sum: ['count==1770'] } };
    export default function () { sum.add(exec.scenario.iterationInTest); console.log(`from ${__ENV.WHERE} ${exec.scenario.iterationInTest}`); }";

struct Coordinator {
    running: Running,
    address: String,
    token: String,
}

fn coordinator(flags: &[&str]) -> Coordinator {
    let args = [&["coordinator"], flags, &["-e", "WHERE=here", "script.js"]].concat();
    let mut running = Program::new(&args).file("script.js", SCRIPT).start();
    let first = running.wait_for("Waiting for ");
    let line = running.wait_for("ONRUSH_JOIN_TOKEN=");
    let token = line.split("ONRUSH_JOIN_TOKEN=").nth(1).and_then(|rest| rest.split(' ').next()).expect("a token");
    let port = line.trim().rsplit(':').next().expect("a port");
    let address = format!("127.0.0.1:{port}");
    assert!(first.contains("on "), "{first}");
    Coordinator { address, token: token.to_owned(), running }
}

impl Coordinator {
    fn agent(&self) -> Program {
        Program::new(&["agent", "--wait", "20s", "--join", &self.address]).env("ONRUSH_JOIN_TOKEN", &self.token)
    }
}

fn runs(listen: &str, has_fingerprint: bool) {
    let coordinator = coordinator(&["--listen", listen, "--agents", "2"]);
    assert_eq!(coordinator.token.contains('.'), has_fingerprint);
    let agents = [coordinator.agent().start(), coordinator.agent().env("WHERE", "there").start()];
    let done = coordinator.running.wait().expect(0).expect_output("agents: 2");
    // The script's variables are the coordinator's.
    assert_eq!(done.stderr.matches("from here").count(), 60, "{}", done.stderr);
    for agent in agents {
        agent.wait().expect(0).expect_output("Joined 127.0.0.1:");
    }
}

#[test]
fn agents_join_and_run_their_shares() {
    runs("127.0.0.1:0", false);
}

#[test]
fn addresses_of_other_machines_are_encrypted() {
    runs("0.0.0.0:0", true);
}

#[test]
fn who_is_not_let_in_is_told_why() {
    let coordinator = coordinator(&["--listen", "127.0.0.1:0", "--agents", "1", "--wait", "60s"]);
    let stranger = Program::new(&["agent", "--join", &coordinator.address]).env("ONRUSH_JOIN_TOKEN", "not-the-token");
    stranger.run().expect(255).expect_log("the token is wrong: use the one that this coordinator printed");
    let agent = coordinator.agent().start();
    coordinator.running.wait().expect(0).expect_log("refused an agent from 127.0.0.1: the token is wrong");
    agent.wait().expect(0);
}

#[test]
fn a_secret_that_somebody_chose_is_not_printed() {
    const SECRET: &str = "known-to-few";
    for script in [&["--agents", "1", "script.js"][..], &[]] {
        let args = [&["coordinator", "--listen", "0.0.0.0:0"], script].concat();
        let program = Program::new(&args).file("script.js", SCRIPT);
        let program = program.env("ONRUSH_JOIN_TOKEN", SECRET).env("ONRUSH_USER_TOKEN", "known-to-others");
        let mut running = program.start();
        running.wait_for("ONRUSH_JOIN_TOKEN=YOUR_SECRET.");
        running.signal(rustix::process::Signal::INT);
        let done = running.wait();
        assert!(!format!("{}{}", done.stdout, done.stderr).contains("known-to-"), "{}{}", done.stdout, done.stderr);
    }
}

#[test]
fn a_coordinator_waits_only_so_long() {
    let args = ["coordinator", "--listen", "127.0.0.1:0", "--agents", "3", "--wait", "300ms", "script.js"];
    Program::new(&args)
        .file("script.js", SCRIPT)
        .run()
        .expect(120)
        .expect_log("only 0 of 3 agents joined within 0.3 s");
}

#[test]
fn what_is_missing_is_said() {
    let refused = |args: &[&str], text: &str| {
        Program::new(args).file("script.js", SCRIPT).run().expect(255).expect_log(text);
    };
    refused(&["coordinator", "script.js"], "--agents is missing");
    refused(&["agent"], "--join is missing");
    refused(&["agent", "--join", "127.0.0.1:1"], "the join token is missing");
    refused(&["agent", "--join", "127.0.0.1:1", "--join-token", "short"], "invalid token");
    refused(&["agent", "script.js", "--join", "127.0.0.1:1"], "agents get their test from the coordinator");
    let nobody = ["agent", "--wait", "0s", "--join", "127.0.0.1:1", "--join-token", "long-enough"];
    refused(&nobody, "failed to join the coordinator 127.0.0.1:1: ");
}

#[test]
fn agents_ask_the_coordinator_for_secrets() {
    let script = "
        import secrets from 'k6/secrets';
        export const options = { scenarios: { all: { executor: 'per-vu-iterations', vus: 4, iterations: 1 } } };
        export default async function () {
            const [key, other] = [await secrets.get('key'), await secrets.source('second').get('other')];
            console.log(`got ${key} ${key.length} ${other.length}`);
            try { await secrets.get('missing'); } catch (error) { console.log(`no secret: ${error.message}`); }
        }";
    let sources = ["--secret-source", "file=default,secrets.txt", "--secret-source", "mock=name=second,other=hunter2"];
    let args = [&["coordinator", "--listen", "0.0.0.0:0", "--agents", "2"], &sources[..], &["script.js"]].concat();
    let program = Program::new(&args).file("script.js", script).file("secrets.txt", "key=swordfish\n");
    let mut running = program.start();
    let line = running.wait_for("ONRUSH_JOIN_TOKEN=");
    let token = line.split("ONRUSH_JOIN_TOKEN=").nth(1).and_then(|rest| rest.split(' ').next()).expect("a token");
    let address = format!("127.0.0.1:{}", line.trim().rsplit(':').next().expect("a port"));
    let agent = || {
        // What is set for an agent is not the test's.
        let program = Program::new(&["agent", "--wait", "20s", "--join", &address]).env("ONRUSH_JOIN_TOKEN", token);
        program.env("K6_SECRET_SOURCE", "mock=key=another").start()
    };
    let agents = [agent(), agent()];
    let done = running.wait().expect(0).expect_log("got ***SECRET_REDACTED*** 9 7");
    assert_eq!(done.stderr.matches("got ***SECRET_REDACTED*** 9 7").count(), 4, "{}", done.stderr);
    assert_eq!(done.stderr.matches("no secret: no value").count(), 4, "{}", done.stderr);
    for done in agents.map(Running::wait).into_iter().chain([done]) {
        assert!(!format!("{}{}", done.stdout, done.stderr).contains("swordfish"), "{done:?}");
    }
}
