//! `--out postgres` into a real PostgreSQL: counts are the summary's, nothing counts twice or is lost when the server is away.

use std::{
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    program::{Done, Program},
    server::{SCRIPT, free_address},
};

/// A running server of a user of its own: it refuses to run as root.
pub(crate) struct Postgres {
    child: Option<Child>,
    port: String,
    bin: PathBuf,
    folder: TempDir,
}

/// The programs of the newest version that is installed.
fn bin() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("postgres").exists()).max();
    newest.expect("PostgreSQL is missing; `make test` installs it: apt-get install postgresql")
}

/// As somebody else, if we are root.
fn command(program: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

impl Postgres {
    pub(crate) fn start() -> Self {
        let (folder, bin) = (tempfile::tempdir().expect("a folder"), bin());
        if rustix::process::geteuid().is_root() {
            let id = |flag: &str| {
                let output = Command::new("id").args([flag, "postgres"]).output().expect("id runs").stdout;
                String::from_utf8_lossy(&output).trim().parse().expect("a number")
            };
            chown(folder.path(), Some(id("-u")), Some(id("-g"))).expect("its folder");
        }
        let data = folder.path().join("data");
        let made = command(&bin.join("initdb"))
            .args(["--username=load", "--auth=trust", "--no-sync", "-D"])
            .arg(&data)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .status();
        assert!(made.expect("initdb runs").success());
        let port = free_address().split(':').nth(1).expect("a port").to_owned();
        let mut postgres = Self { child: None, port, bin, folder };
        postgres.start_again();
        postgres
    }

    pub(crate) fn start_again(&mut self) {
        let folder = self.folder.path();
        let child = command(&self.bin.join("postgres"))
            .arg("-D")
            .arg(folder.join("data"))
            .args(["-h", "127.0.0.1", "-p", &self.port, "-F", "-k"])
            .arg(folder)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.child = Some(child.expect("it starts"));
        while self.query("SELECT 1").is_none() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It takes its own processes with it.
            if let Some(pid) = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap_or(0)) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
            }
            let _ = child.wait();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://load:s3cret@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }

    fn query(&self, query: &str) -> Option<String> {
        let output = Command::new(self.bin.join("psql"))
            .args(["-h", "127.0.0.1", "-p", &self.port, "-U", "load", "-d", "postgres", "-At", "-c", query])
            .stderr(Stdio::null())
            .output()
            .expect("psql runs");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    pub(crate) fn number(&self, query: &str) -> f64 {
        let found = self.query(query).expect(query);
        found.parse().unwrap_or_else(|_| panic!("{query}: {found}"))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}

fn run(url: &str, flags: &[&str]) -> Done {
    let out = format!("postgres={url}");
    Program::script(&[&["-q", "--out", &out, "--summary-export", "s.json"], flags].concat(), SCRIPT).run()
}

#[test]
fn it_has_what_the_summary_has() {
    let postgres = Postgres::start();
    for (testid, agents) in [("one", &[][..]), ("two", &["--agents", "2"])] {
        let tag = format!("testid={testid}");
        let done = run(&postgres.url(), &[&["--tag", &tag][..], agents].concat()).expect(0);
        let summary = &done.json("s.json")["metrics"];
        let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
        let number = |what: &str, metric: &str| {
            postgres.number(&format!(
                "SELECT {what} FROM onrush_samples WHERE metric = '{metric}' AND tags->>'testid' = '{testid}'"
            ))
        };
        assert_eq!(number("sum(value)", "iterations"), of("iterations", "count"));
        assert_eq!(number("sum(value)", "sum"), of("sum", "count"));
        assert_eq!(number("sum(value)", "checks"), of("checks", "passes"));
        assert_eq!(number("sum(count)", "size"), of("size", "count"));
        assert_eq!(number("max(max)", "size"), of("size", "max"));
        assert!(number("count(DISTINCT ts)", "iterations") >= 4.0);
        assert!(!done.stderr.contains("s3cret") && !done.stdout.contains("s3cret"), "{}", done.stderr);
    }
}

#[test]
fn a_server_that_is_killed_lacks_nothing() {
    let mut postgres = Postgres::start();
    let url = postgres.url();
    let run = std::thread::spawn(move || run(&url, &["-e", "DURATION=10s"]));
    std::thread::sleep(Duration::from_secs(6));
    postgres.kill();
    std::thread::sleep(Duration::from_secs(2));
    postgres.start_again();
    let done = run.join().expect("no panic").expect(0).expect_log("takes nothing: ");
    let summary = &done.json("s.json")["metrics"];
    let number =
        |metric: &str| postgres.number(&format!("SELECT sum(value) FROM onrush_samples WHERE metric = '{metric}'"));
    assert_eq!(Some(number("iterations")), summary["iterations"]["count"].as_f64());
    assert_eq!(Some(number("sum")), summary["sum"]["count"].as_f64());
}

#[test]
fn a_server_without_tls_is_told_with_what_to_do() {
    let postgres = Postgres::start();
    let url = postgres.url().replace("?sslmode=disable", "");
    let out = format!("postgres={url}");
    let flags = ["--out", &out, "--log-output=stdout", "-e", "DURATION=60s"];
    let mut running = Program::script(&flags, SCRIPT).start();
    let line = running.wait_for("takes nothing: ");
    assert!(line.contains("SSL is not enabled on the server (if it is to be used without TLS, "), "{line}");
    assert!(line.contains("end its URL with ?sslmode=disable)") && !line.contains("s3cret"), "{line}");
    // The second ends the wait for the server.
    running.signal(rustix::process::Signal::INT);
    running.wait_for("the run is over; waiting for ");
    running.signal(rustix::process::Signal::INT);
    running.wait().expect(105);
}

#[test]
fn what_cannot_be_is_refused() {
    let check = |out: &str, expect: &str| {
        let done = Program::script(&["--out", out], SCRIPT).run().expect(255).expect_log(expect);
        assert!(!done.stderr.contains("s3cret"), "{}", done.stderr);
    };
    check("postgres", "could not create the 'postgres' output: it needs a database");
    check("timescaledb=postgres://u:s3cret@h:x/d", "the database is not named in a way that is understood");
}
