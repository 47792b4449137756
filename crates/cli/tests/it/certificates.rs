//! `onrush cluster`, and coordinators and agents with the certificates it makes.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use tempfile::TempDir;

use crate::program::{Done, Program};

const SCRIPT: &str = "export const options = { iterations: 3 }; export default function () {}";

fn cluster(dir: &TempDir, args: &[&str]) -> Done {
    let dir = dir.path().to_str().expect("UTF-8");
    Program::new(&[&["cluster"], args, &[dir]].concat()).run()
}

fn folder(dir: &TempDir, name: &str) -> String {
    dir.path().join(name).display().to_string()
}

#[test]
fn an_authority_is_made_and_used() {
    let dir = tempfile::tempdir().expect("a folder");
    cluster(&dir, &["init", "--name", "loadgen-1"]).expect(0).expect_output("loadgen-1");
    cluster(&dir, &["init"]).expect(255).expect_log("has an authority already");
    cluster(&dir, &["add", "agent", "eu-1"]).expect(0);
    cluster(&dir, &["renew", "eu-1"]).expect(0).expect_output("restart what uses it");
    let mode = |path: &Path| fs::metadata(path).expect("it was made").permissions().mode() & 0o777;
    assert_eq!(mode(&dir.path().join("eu-1/key.pem")), 0o600);
    let coordinator = folder(&dir, "coordinator");
    let args = ["coordinator", "--listen", "0.0.0.0:0", "--agents", "2", "--tls", &coordinator, "script.js"];
    let mut running = Program::new(&args).file("script.js", SCRIPT).start();
    let line = running.wait_for("onrush agent --join THIS_HOST:");
    assert!(!line.contains("TOKEN") && line.contains("--tls"), "{line}");
    let port = line.split("THIS_HOST:").nth(1).and_then(|rest| rest.split(' ').next()).expect("a port");
    let address = format!("localhost:{port}");
    let agent = |name: &str| Program::new(&["agent", "--join", &address, "--tls", &folder(&dir, name)]);
    // Whoever may not come in is told at once, and does not wait for five minutes.
    let token = Program::new(&["agent", "--join", &address, "--join-token", "some-secret"]);
    token.run().expect(255).expect_log("it encrypts its connections, and the join token has no fingerprint");
    agent("user").run().expect(255).expect_log("it is for the role user, and this is agent");
    let agents = [agent("agent").start(), agent("eu-1").start()];
    running.wait().expect(0).expect_output("agents: 2");
    for agent in agents {
        agent.wait().expect(0);
    }
}

#[test]
fn what_cannot_be_used_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let refused = |args: &[&str], text: &str| {
        cluster(&dir, args).expect(255).expect_log(text);
    };
    refused(&["add", "agent", "eu-1"], "has no authority");
    refused(&["init", "--days", "0"], "invalid --days");
    refused(&["grow"], "onrush cluster needs to know what to do");
    cluster(&dir, &["init", "--days", "10"]).expect(0);
    refused(&["add", "root", "eu-1"], "invalid role");
    refused(&["add", "agent", "a/b"], "invalid member name");
    refused(&["add", "agent", "agent"], "exists already");
    refused(&["add", "coordinator", "second"], "needs the names or addresses");
    refused(&["renew", "nobody"], "no member is called");
    // It ends within 30 days.
    let agent = folder(&dir, "agent");
    let soon = ["agent", "--wait", "0s", "--join", "127.0.0.1:1", "--tls", &agent];
    Program::new(&soon).run().expect(255).expect_log("expires on");
    let empty = ["agent", "--join", "127.0.0.1:1", "--tls", dir.path().to_str().expect("UTF-8")];
    Program::new(&empty).run().expect(255).expect_log("has no ca.pem, cert.pem and key.pem");
}
