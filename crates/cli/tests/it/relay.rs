//! `onrush relay` between agents and their coordinator.

use crate::program::{Program, Running};

/// Every number once: what is lost or counts twice changes the sum.
const SCRIPT: &str = "
    import exec from 'k6/execution';
    import { sleep } from 'k6';
    import { Counter } from 'k6/metrics';
    const sum = new Counter('sum');
    export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 6, iterations: 120 } },
                             thresholds: { sum: ['count==7140'], iterations: ['count==120'] } };
    export default function () { sum.add(exec.scenario.iterationInTest); sleep(0.25); }";
/// A busy machine takes long to start a process.
const PATIENT: [&str; 4] = ["--agent-silence", "20s", "--agent-lease", "30s"];

fn port(line: &str) -> String {
    let end = line.trim().rsplit(':').next().expect("a port");
    end.chars().take_while(char::is_ascii_digit).collect()
}

fn token(line: &str) -> String {
    let token = line.split("ONRUSH_JOIN_TOKEN=").nth(1).and_then(|rest| rest.split(' ').next());
    token.expect("a token").to_owned()
}

fn coordinator(flags: &[&str]) -> Running {
    let args = [&["coordinator", "--agents", "2"], &PATIENT[..], flags, &["script.js"]].concat();
    Program::new(&args).file("script.js", SCRIPT).start()
}

#[test]
fn agents_join_over_a_relay() {
    for listen in ["127.0.0.1:0", "0.0.0.0:0"] {
        let mut coordinator = coordinator(&["--listen", listen]);
        let line = coordinator.wait_for("ONRUSH_JOIN_TOKEN=");
        let join = format!("127.0.0.1:{}", port(&line));
        let args = ["relay", "--listen", listen, "--join", &join];
        let mut relay = Program::new(&args).env("ONRUSH_JOIN_TOKEN", &token(&line)).start();
        let line = relay.wait_for("ONRUSH_JOIN_TOKEN=");
        let join = format!("127.0.0.1:{}", port(&line));
        let agent = || {
            let program = Program::new(&["agent", "--wait", "20s", "--join", &join]);
            program.env("ONRUSH_JOIN_TOKEN", &token(&line)).start()
        };
        let agents = [agent(), agent()];
        coordinator.wait().expect(0).expect_output("agents: 2");
        agents.into_iter().for_each(|agent| drop(agent.wait().expect(0)));
        relay.signal(rustix::process::Signal::TERM);
        relay.wait().expect(105).expect_log("connected with the coordinator 127.0.0.1:");
    }
}

#[test]
fn a_relay_that_is_killed_and_restarted_loses_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = |name: &str| dir.path().join(name).display().to_string();
    Program::new(&["cluster", "init", dir.path().to_str().expect("UTF-8")]).run().expect(0);
    let mut coordinator = coordinator(&["--listen", "127.0.0.1:0", "--tls", &folder("coordinator")]);
    let join =
        format!("localhost:{}", port(coordinator.wait_for("onrush agent --join").split(" --tls").next().expect("it")));
    let relay = |listen: &str| {
        let (tls, join_tls) = (folder("coordinator"), folder("agent"));
        let args = ["relay", "--listen", listen, "--join", &join, "--tls", &tls, "--join-tls", &join_tls];
        Program::new(&args).start()
    };
    let mut first = relay("127.0.0.1:0");
    let port = port(first.wait_for("onrush agent --join").split(" --tls").next().expect("it"));
    let over_relay = format!("localhost:{port}");
    let agent = || {
        let program = Program::new(&["agent", "--wait", "20s", "--join", &over_relay, "--tls", &folder("agent")]);
        let mut agent = program.start();
        agent.wait_for("Joined localhost:");
        agent
    };
    let agents = [agent(), agent()];
    // The test takes five seconds.
    std::thread::sleep(std::time::Duration::from_millis(2_300));
    first.signal(rustix::process::Signal::KILL);
    first.wait();
    let second = relay(&format!("127.0.0.1:{port}"));
    coordinator.wait().expect(0).expect_output("agents: 2");
    agents.into_iter().for_each(|agent| drop(agent.wait().expect(0)));
    second.signal(rustix::process::Signal::TERM);
    second.wait().expect(105);
}

#[test]
fn what_a_relay_lacks_is_said() {
    let refused = |args: &[&str], text: &str| drop(Program::new(args).run().expect(255).expect_log(text));
    refused(&["relay"], "--join is missing");
    refused(&["relay", "--join", "127.0.0.1:1"], "the join token is missing");
    refused(&["relay", "--join", "127.0.0.1:1", "script.js"], "a relay runs no test");
}
