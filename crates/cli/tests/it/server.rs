//! Programs that results are pushed to, started for a test on a port of this machine and ended with it.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

/// One of them. Dropping it ends it.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    folder: TempDir,
}

impl Server {
    /// Starts a program, which `command` makes of the address and a folder of its own, and waits until this path is answered
    /// without an error.
    pub(crate) fn start(address: &str, ready: &str, command: impl Fn(&str, &Path) -> Command) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let child = spawn(command(address, folder.path()), folder.path());
        let mut server = Self { child, address: address.to_owned(), folder };
        server.wait(ready);
        server
    }

    /// Ends it at once, and starts it again over what it has kept.
    pub(crate) fn start_again(&mut self, ready: &str, command: impl Fn(&str, &Path) -> Command) {
        self.child = spawn(command(&self.address, self.folder.path()), self.folder.path());
        self.wait(ready);
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait(&mut self, ready: &str) {
        while self.get(ready).is_none_or(|(status, _)| !(200..300).contains(&status)) {
            assert!(self.child.try_wait().expect("a child").is_none(), "it ended");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What it answers; `None` where nobody does.
    pub(crate) fn get(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let status = text.split(' ').nth(1)?.parse().ok()?;
        Some((status, text.split_once("\r\n\r\n")?.1.to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(mut command: Command, folder: &Path) -> Child {
    let command = command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("it starts")
}

/// A program of the system; `package` is the one it comes with.
pub(crate) fn installed(name: &str, package: &str) -> String {
    let paths = ["/usr/bin", "/usr/local/bin", "/usr/sbin"].map(|folder| format!("{folder}/{name}"));
    let found = paths.into_iter().find(|path| Path::new(path).exists());
    found.unwrap_or_else(|| panic!("{name} is missing; `make test` installs it: apt-get install {package}"))
}

/// A part of a query.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// An address of this machine that nobody listens at.
pub(crate) fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound").to_string()
}

/// Samples of all kinds of metrics, with tags, groups of values and what happens outside of scenarios.
pub(crate) const SCRIPT: &str = "
    import { check, sleep } from 'k6';
    import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
    import exec from 'k6/execution';
    const [sum, level, odd, size, time] = [new Counter('sum'), new Gauge('level'), new Rate('odd'), new Trend('size'), new Trend('time', true)];
    export const options = { vus: 4, duration: __ENV.DURATION || '4s', tags: { testid: 't 1' }, summaryTrendStats: ['p(95)', 'count', 'max'] };
    export default function () {
        const n = exec.scenario.iterationInTest;
        check(n, { 'is \"a\" number\\n': () => true });
        sum.add(n, { parity: n % 2 ? 'odd' : 'even' });
        level.add(5);
        odd.add(n % 2);
        size.add(n % 100 + 1);
        time.add((n % 100 + 1) * 10);
        sleep(0.02);
    }
    export function teardown() { sum.add(1000000); }";
