//! Coordinator and agents on machines of their own, as far as network namespaces are such, and what happens to them there: the
//! network goes away and comes back, processes freeze and die. Where namespaces are not permitted this says so and passes.
#![expect(clippy::print_stderr, reason = "says what is skipped, and why")]

use std::{
    path::Path,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use onrush_testkit::{Relay, Weather};
use rustix::process::Signal;
use serde_json::Value;

use crate::program::{Done, Program, Running};

/// Namespaces on a bridge, which is in one of its own: nothing of this can be seen from outside.
struct Network {
    prefix: String,
    hosts: u32,
}

impl Network {
    /// A network of so many hosts; `None` where it is not permitted.
    fn new(hosts: u32) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let network = Self { prefix: format!("onrush-{}-{number}", std::process::id()), hosts };
        if let Err(why) = network.make() {
            eprintln!("skipped: network namespaces cannot be had here: {why}");
            return None;
        }
        Some(network)
    }

    fn make(&self) -> Result<(), String> {
        let middle = self.middle();
        ip(&["netns", "add", &middle])?;
        ip(&["-n", &middle, "link", "add", "bridge", "type", "bridge"])?;
        ip(&["-n", &middle, "link", "set", "bridge", "up"])?;
        for host in 0..self.hosts {
            let (own, port, address) = (self.namespace(host), port(host), format!("{}/24", address(host)));
            ip(&["netns", "add", &own])?;
            ip(&["-n", &middle, "link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns", &own])?;
            ip(&["-n", &middle, "link", "set", &port, "master", "bridge", "up"])?;
            ip(&["-n", &own, "addr", "add", &address, "dev", "eth0"])?;
            ip(&["-n", &own, "link", "set", "eth0", "up"])?;
            ip(&["-n", &own, "link", "set", "lo", "up"])?;
        }
        Ok(())
    }

    fn middle(&self) -> String {
        format!("{}-net", self.prefix)
    }

    fn namespace(&self, host: u32) -> String {
        format!("{}-{host}", self.prefix)
    }

    /// Pulls a host's cable, or puts it back.
    fn link(&self, host: u32, is_up: bool) {
        let state = if is_up { "up" } else { "down" };
        ip(&["-n", &self.middle(), "link", "set", &port(host), state]).expect("the port is there");
    }

    /// A program on a host.
    fn start(&self, host: u32, program: Program) -> Running {
        program.start_with(&[IP, "netns", "exec", &self.namespace(host)])
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in (0..self.hosts).map(|host| self.namespace(host)).chain([self.middle()]) {
            // What was never made cannot be removed.
            let _ = ip(&["netns", "delete", &name]);
        }
    }
}

/// The program is started without the variables of whoever runs the tests.
const IP: &str = "/sbin/ip";

fn ip(args: &[&str]) -> Result<(), String> {
    if !Path::new(IP).exists() {
        return Err(format!("there is no {IP}"));
    }
    let done = Command::new(IP).args(args).output().map_err(|error| error.to_string())?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()) }
}

fn port(host: u32) -> String {
    format!("port{host}")
}

fn address(host: u32) -> String {
    format!("10.111.0.{}", host + 1)
}

fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Starts a coordinator on host 0 and returns it with the token that it prints.
fn coordinate(network: &Network, flags: &[&str], script: &str) -> (Running, String) {
    let listen = format!("{}:6567", address(0));
    let args = [&["coordinator", "--listen", &listen], flags, &["script.js"]].concat();
    let mut running = network.start(0, Program::new(&args).file("script.js", script));
    let token = token(&running.wait_for("ONRUSH_JOIN_TOKEN="));
    (running, token)
}

fn token(line: &str) -> String {
    let rest = line.split("ONRUSH_JOIN_TOKEN=").nth(1).expect("a token");
    rest.split(' ').next().expect("a token").to_owned()
}

fn agent(network: &Network, host: u32, name: &str, token: &str) -> Running {
    let join = address(0);
    let program = Program::new(&["agent", "--wait", "60s", "--name", name, "--join", &join]);
    network.start(host, program.env("ONRUSH_JOIN_TOKEN", token))
}

/// What the summary says of the agent of that name.
fn told(done: &Done, name: &str) -> Value {
    let agents = done.json("out.json")["agents"]["agents"].clone();
    let own = agents.as_array().expect("agents").iter().find(|agent| agent["name"] == name).cloned();
    own.unwrap_or_else(|| panic!("no {name} in {agents}"))
}

#[test]
fn who_is_away_for_a_moment_stays_and_who_is_gone_is_missed() {
    let Some(network) = Network::new(6) else { return };
    let script = "
        import { sleep } from 'k6';
        export const options = { vus: 10, duration: '12s' };
        export default function () { sleep(0.1); }";
    let flags = ["--agents", "5", "--on-agent-loss", "tolerate", "--summary-export", "out.json"];
    let (mut coordinator, token) = coordinate(&network, &flags, script);
    assert!(token.contains('.'), "it is encrypted: {token}");
    let names = ["unplugged", "paused", "cut", "frozen", "killed"];
    let start = |(index, name): (usize, &&str)| agent(&network, index as u32 + 1, name, &token);
    let agents: Vec<Running> = names.iter().enumerate().map(start).collect();
    coordinator.wait_for("running (0");
    // Somebody will miss these.
    network.link(3, false);
    agents[3].signal(Signal::STOP);
    agents[4].signal(Signal::KILL);
    // These two are back before anybody does.
    network.link(1, false);
    agents[1].signal(Signal::STOP);
    pause(500);
    network.link(1, true);
    agents[1].signal(Signal::CONT);
    let done = coordinator.wait().expect(0).expect_output("█ AGENTS");
    let done = done.expect_output(": the process was stopped once (SIGSTOP or Ctrl+Z) while scenarios ran");
    for (name, is_lost) in names.iter().zip([false, false, true, true, true]) {
        assert_eq!(told(&done, name)["lost"], is_lost, "{name}\n{}", done.stderr);
    }
    // A process that is gone leaves a connection that breaks; the others say nothing any more.
    let done = done.expect_log("its connection broke (").expect_log("it said nothing for 3 s");
    assert_eq!(done.stderr.matches(" was lost at ").count(), 3, "{}", done.stderr);
    let [unplugged, paused, cut, frozen, killed] = <[Running; 5]>::try_from(agents).ok().expect("five");
    unplugged.wait().expect(0);
    paused.wait().expect(0);
    killed.wait().expect(-1);
    // It has stopped its load by itself, while nobody could tell it to.
    cut.wait().expect(120).expect_log("left the run: nothing was heard of the coordinator for 5 s");
    // It cannot know how long it was away, but finds nobody who knows it, or that it was told to stop meanwhile.
    frozen.signal(Signal::CONT);
    let frozen = frozen.wait();
    assert!(frozen.code == 0 || frozen.code == 120 && frozen.stderr.contains("left the run: "), "{}", frozen.stderr);
}

#[test]
fn three_machines_give_one_result() {
    let Some(network) = Network::new(4) else { return };
    let script = "
        import exec from 'k6/execution';
        import { Counter } from 'k6/metrics';
        const sum = new Counter('sum');
        export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 6, iterations: 60 } },
                                 thresholds: { sum: ['count==1770'] } };
        export default function () { sum.add(exec.scenario.iterationInTest); }";
    let flags = ["--agents", "3", "--summary-export", "out.json", "--out", "json=samples.json"];
    let (coordinator, token) = coordinate(&network, &flags, script);
    let names = ["a", "b", "c"];
    let start = |(index, name): (usize, &&str)| agent(&network, index as u32 + 1, name, &token);
    let agents: Vec<Running> = names.iter().enumerate().map(start).collect();
    let done = coordinator.wait().expect(0).expect_output("agents: 3, started within ");
    for agent in agents {
        agent.wait().expect(0);
    }
    let iterations: u64 = names.map(|name| told(&done, name)["iterations"].as_u64().expect("a number")).iter().sum();
    assert_eq!(iterations, 60);
    assert_eq!(done.text("samples.json").matches("\"metric\":\"sum\",\"type\":\"Point\"").count(), 60);
}

/// No namespace is needed for this one, but TLS, as the address is not only for this machine.
#[test]
fn a_slow_network_that_breaks_again_and_again_loses_nothing() {
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 4, iterations: 500 } } };
        export default function () { sleep(0.08); }";
    let flags = ["--agents", "2", "--summary-export", "out.json", "--out", "json=samples.json"];
    let args = [&["coordinator", "--listen", "0.0.0.0:0"], &flags[..], &["script.js"]].concat();
    let mut coordinator = Program::new(&args).file("script.js", script).start();
    let line = coordinator.wait_for("ONRUSH_JOIN_TOKEN=");
    let port: u16 = line.trim().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let weather = Weather {
        delay: Duration::from_millis(20),
        lost_every: 20_000,
        stall: Duration::from_millis(400),
        // Shorter than the run, and long enough to join on a busy machine.
        life: Duration::from_secs(8),
    };
    let relay = Relay::start(([127, 0, 0, 1], port).into(), weather);
    let join = relay.address().to_string();
    let token = token(&line);
    let agent = || Program::new(&["agent", "--wait", "60s", "--join", &join]).env("ONRUSH_JOIN_TOKEN", &token).start();
    let agents = [agent(), agent()];
    let done = coordinator.wait().expect(0);
    for agent in agents {
        agent.wait().expect(0);
    }
    assert!(relay.connections() > 2, "no connection ever broke");
    let result = done.json("out.json");
    assert_eq!(result["metrics"]["iterations"]["count"], 500, "{}", done.stderr);
    // Half of a round trip at least.
    assert!(result["agents"]["clock_error_ms"].as_f64().is_some_and(|error| error >= 20.0), "{}", result["agents"]);
    assert_eq!(done.text("samples.json").matches("\"metric\":\"iterations\",\"type\":\"Point\"").count(), 500);
}

/// The folder for results is full before the run is over.
#[test]
fn a_full_disk_costs_the_files_and_not_the_run() {
    const MOUNT: &str = "mount -t tmpfs -o size=128k tmpfs disk && exec \"$0\" \"$@\"";
    let may_mount = Command::new("/usr/bin/unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    if !may_mount {
        return eprintln!("skipped: mount namespaces cannot be had here");
    }
    let script = "
        import { Counter } from 'k6/metrics';
        const long = new Counter('long');
        export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 4, iterations: 1200 } } };
        export default function () { long.add(1, { text: 'x'.repeat(200) }); }";
    let flags = ["--agents", "2", "--out", "json=disk/samples.json", "--summary-export", "disk/out.json"];
    let program = Program::script(&flags, script).file("disk/is-here", "");
    let done = program.start_with(&["/usr/bin/unshare", "-m", "/bin/sh", "-c", MOUNT]).wait();
    let done = done.expect_log("an output failed and gets no more samples; the test goes on");
    let done = done
        .expect_log("the output json (disk/samples.json) failed: it lacks ")
        .expect_log("could not save 'disk/out.json'");
    // The result is on the screen all the same; whoever waits for the file learns that there is none.
    done.expect(255).expect_output("█ TOTAL RESULTS").expect_output("1200").expect_output("SUSPECT");
}
