//! Redis servers of a test's own, which end with it.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// A server and its folder.
pub(super) struct Server {
    process: Child,
    pub(super) port: u16,
    _folder: TempDir,
}

impl Server {
    /// Nothing where the program is not installed.
    pub(super) fn start() -> Option<Self> {
        Self::start_with(&[], &[])
    }

    /// With flags besides `--port`, and files in its folder.
    pub(super) fn start_with(flags: &[&str], files: &[(&str, &str)]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary directory");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file can be written");
        }
        let port = free_port();
        let mut command = Command::new("redis-server");
        command.args(flags).args(["--port", &port.to_string()]);
        if !flags.contains(&"--sentinel") {
            command.args(["--bind", "127.0.0.1", "--save", ""]);
        }
        let process = command.current_dir(folder.path()).stdout(Stdio::null()).spawn();
        let Ok(process) = process else {
            let _ = writeln!(std::io::stderr(), "skipped: redis-server is not installed");
            return None;
        };
        let server = Self { process, port, _folder: folder };
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "the server does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(server)
    }

    /// Sends a line, and gives the first line of the answer; of a text, the text.
    pub(super) fn say(&self, line: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.write_all(format!("{line}\r\n").as_bytes()).expect("it reads");
        let mut lines = BufReader::new(stream).lines().map(|line| line.expect("it answers"));
        let first = lines.next().expect("an answer");
        if first.starts_with('$') { lines.next().unwrap_or_default() } else { first }
    }

    /// Waits until the answer to a line, all of it, contains a text.
    pub(super) fn wait_for(&self, line: &str, text: &str) {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
            stream.write_all(format!("{line}\r\nQUIT\r\n").as_bytes()).expect("it reads");
            let answer = std::io::read_to_string(stream).expect("it answers");
            if answer.contains(text) {
                return;
            }
            assert!(Instant::now() < until, "{line} does not say {text}: {answer}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(super) fn free_port() -> u16 {
    let free = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    free.local_addr().expect("it is bound").port()
}
