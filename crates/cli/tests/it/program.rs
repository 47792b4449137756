//! Starting the program in a directory of its own and collecting what it does.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::JoinHandle,
};

use tempfile::TempDir;
use wait4::Wait4 as _;

/// The program, about to be run.
pub(crate) struct Program {
    dir: TempDir,
    args: Vec<String>,
    stdin: Option<Vec<u8>>,
    stdout: Option<Stdio>,
    stderr: Option<Stdio>,
    env: Vec<(String, String)>,
}

/// What it did.
#[derive(Debug)]
pub(crate) struct Done {
    /// Its exit code.
    pub(crate) code: i32,
    /// Its standard output.
    pub(crate) stdout: String,
    /// Its log.
    pub(crate) stderr: String,
    /// The most memory it held.
    pub(crate) peak_bytes: u64,
    dir: TempDir,
}

impl Program {
    /// `onrush` with these arguments.
    pub(crate) fn new(args: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self {
            dir,
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            stdin: None,
            stdout: None,
            stderr: None,
            env: Vec::new(),
        }
    }

    /// `onrush run`, flags and then `script.js` with this text.
    pub(crate) fn script(flags: &[&str], script: &str) -> Self {
        let mut program = Self::new(&["run"]);
        program.args.extend(flags.iter().map(|&flag| flag.to_owned()));
        program.args.push("script.js".to_owned());
        program.file("script.js", script)
    }

    /// Puts a file into the program's directory.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        self.bytes(name, text.as_bytes())
    }

    /// The same for what is no text.
    pub(crate) fn bytes(self, name: &str, text: &[u8]) -> Self {
        let path = self.dir.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a directory");
        }
        std::fs::write(path, text).expect("a file");
        self
    }

    /// What it reads from its standard input.
    pub(crate) fn stdin(self, text: &str) -> Self {
        self.stdin_bytes(text.as_bytes())
    }

    /// The same for what is no text.
    pub(crate) fn stdin_bytes(mut self, bytes: &[u8]) -> Self {
        self.stdin = Some(bytes.to_owned());
        self
    }

    /// Where its standard output goes instead of to us.
    pub(crate) fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.stdout = Some(stdout.into());
        self
    }

    /// Where its log goes instead of to us.
    pub(crate) fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.stderr = Some(stderr.into());
        self
    }

    /// Where a file of its will be.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Done {
        self.start().wait()
    }

    /// Starts it.
    pub(crate) fn start(self) -> Running {
        self.start_as(Command::new(env!("CARGO_BIN_EXE_onrush")))
    }

    /// Starts it with hangups ignored.
    pub(crate) fn start_with_nohup(self) -> Running {
        self.start_with(&["nohup"])
    }

    /// Starts it by another program, which gets it and its arguments behind its own.
    pub(crate) fn start_with(self, by: &[&str]) -> Running {
        let mut command = Command::new(by[0]);
        command.args(&by[1..]).arg(env!("CARGO_BIN_EXE_onrush"));
        self.start_as(command)
    }

    /// Starts it with so many file descriptors.
    pub(crate) fn start_with_limit(self, descriptors: u32) -> Running {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {descriptors} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_onrush")]);
        self.start_as(command)
    }

    fn start_as(self, mut command: Command) -> Running {
        command
            .args(&self.args)
            .current_dir(self.dir.path())
            // The variables of whoever runs the tests must not matter.
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.dir.path())
            // Tests that run side by side would all want the same port.
            .env("K6_ADDRESS", "")
            .envs(self.env)
            .stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(self.stdout.unwrap_or_else(Stdio::piped))
            .stderr(self.stderr.unwrap_or_else(Stdio::piped));
        let mut child = command.spawn().expect("the program starts");
        if let (Some(text), Some(mut stdin)) = (self.stdin, child.stdin.take()) {
            stdin.write_all(&text).expect("the program reads");
        }
        // Our copies of its streams keep readers of the other ends waiting.
        drop(command);
        let stderr = child.stderr.take();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            if let Some(mut stderr) = stderr {
                stderr.read_to_string(&mut text).expect("UTF-8");
            }
            text
        });
        let stdout: Box<dyn std::io::Read> = match child.stdout.take() {
            Some(stdout) => Box::new(stdout),
            None => Box::new(std::io::empty()),
        };
        Running { child, stdout: BufReader::new(stdout), seen: String::new(), stderr, dir: self.dir }
    }
}

/// The program at work.
pub(crate) struct Running {
    child: Child,
    stdout: BufReader<Box<dyn std::io::Read>>,
    seen: String,
    stderr: JoinHandle<String>,
    dir: TempDir,
}

impl Running {
    /// Reads its output up to a line that contains this, and returns the line.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        loop {
            let start = self.seen.len();
            let read = self.stdout.read_line(&mut self.seen).expect("UTF-8");
            assert!(read > 0, "the program ended before it said {text:?}:\n{}", self.seen);
            if self.seen[start..].contains(text) {
                return self.seen[start..].to_owned();
            }
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is still there");
    }

    /// The processes it has started.
    pub(crate) fn children(&self) -> Vec<rustix::process::Pid> {
        let own = self.child.id().to_string();
        let all = std::fs::read_dir("/proc").expect("there are processes").flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let is_child = |pid: &i32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The name before may contain anything.
            let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
            after.split(' ').nth(1) == Some(&own)
        };
        pids.filter(is_child).filter_map(rustix::process::Pid::from_raw).collect()
    }

    /// Waits until a signal has stopped it.
    pub(crate) fn wait_until_it_is_stopped(&self) {
        let stat = format!("/proc/{}/stat", self.child.id());
        while !std::fs::read_to_string(&stat).expect("it is still there").contains(") T ") {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Sends it a signal again and again, once it listens.
    pub(crate) fn signal_until_it_ends(self, signal: rustix::process::Signal) -> Done {
        let status = format!("/proc/{}/status", self.child.id());
        let listens = || {
            let text = std::fs::read_to_string(&status).expect("it is still there");
            let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
            mask.and_then(|mask| u64::from_str_radix(mask, 16).ok())
                .is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
        };
        while !listens() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        // A zombie has ended, and is still to be waited for.
        let stat = format!("/proc/{}/stat", self.child.id());
        while std::fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
            self.signal(signal);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        self.wait()
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Done {
        let mut stdout = self.seen;
        self.stdout.read_to_string(&mut stdout).expect("UTF-8");
        let ended = self.child.wait4().expect("it ends");
        let stderr = self.stderr.join().expect("no panic");
        Done { code: ended.status.code().unwrap_or(-1), stdout, stderr, peak_bytes: ended.rusage.maxrss, dir: self.dir }
    }
}

impl Done {
    /// Where it wrote a file.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file it wrote.
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}\n{self:#?}"))
    }

    /// A file it wrote, as JSON.
    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(name)).expect("JSON")
    }

    /// Fails unless it ended with this code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless its log contains this.
    #[track_caller]
    pub(crate) fn expect_log(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "no {text:?} in\n{}", self.stderr);
        self
    }

    /// Fails unless its output contains this.
    #[track_caller]
    pub(crate) fn expect_output(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "no {text:?} in\n{}", self.stdout);
        self
    }
}
