//! Scripts whose log k6 has recorded: Onrush must say the same.
//!
//! Each `k6/NAME.js` has a `k6/NAME.txt`: the lines k6 logged, then its exit code. They are recorded with
//!
//! ```text
//! K6=/path/to/k6 cargo test -p onrush-engine --test it record -- --ignored
//! ```
//!
//! which runs `k6 run --quiet --no-usage-report --log-format json` (k6 v1.8.1) on every script against the built-in target and
//! keeps what does not vary: level, text and `error` field; of an exception only the first line, because both engines
//! number columns and frames in their own way (`language` tests those). Lines k6's own runner prints (thresholds, the
//! reason of a non-zero exit code) are left out: the exit code says the same. What Onrush does differently on purpose
//! (wordings of the language's own errors, orders that are random in k6) is kept out of the scripts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use onrush_js::init::IsolationMode;

use crate::harness::{case, shown, target, tls_target};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/k6")
}

fn scripts() -> Vec<PathBuf> {
    let mut scripts: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the folder of scripts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js" || extension == "ts"))
        .collect();
    scripts.sort();
    scripts
}

fn name(path: &Path) -> String {
    path.file_name().expect("a file").to_string_lossy().into_owned()
}

/// What stays of a log for comparison.
fn transcript(lines: &[String], exit: u8) -> String {
    let mut out = String::new();
    for line in lines {
        let line = line.split("\n\tat ").next().unwrap_or_default().split("\n    at ").next().unwrap_or_default();
        let line = line.replace(&target(), "TARGET").replace(&tls_target(), "TLS_TARGET").replace('\n', "\\n");
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push_str(&format!("exit {exit}\n"));
    out
}

fn replay(mode: IsolationMode) {
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut differences = String::new();
    for script in scripts().into_iter().filter(|script| name(script).contains(&only)) {
        let source = fs::read_to_string(&script).expect("a script");
        let recorded = script.with_extension("txt");
        let Ok(expected) = fs::read_to_string(&recorded) else {
            differences.push_str(&format!("{}: nothing recorded\n", name(&script)));
            continue;
        };
        let report = case(&source)
            .named(&name(&script))
            .file("data.txt", "some text\n")
            .file("lib.cjs.js", CJS)
            .isolation(mode)
            .run();
        // k6 shows debug lines with --verbose only.
        let mut lines: Vec<String> = report.lines.iter().filter(|line| !line.starts_with("debug ")).cloned().collect();
        if let (Some(stop), 107) = (&report.stop, report.exit as u8) {
            lines.push(format!("error {stop}"));
        }
        let got = transcript(&lines, report.exit as u8);
        if got != expected {
            differences.push_str(&format!("== {}\n{}", name(&script), compare(&expected, &got)));
        }
    }
    assert!(differences.is_empty(), "Onrush differs from what k6 said (-: k6, +: Onrush):\n{differences}");
}

/// A CommonJS module scripts import.
const CJS: &str = "exports.answer = 42;\nexports.twice = function (n) { return n * 2; };\n";

fn compare(expected: &str, got: &str) -> String {
    let (expected, got): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), got.lines().collect());
    let mut out = String::new();
    for index in 0..expected.len().max(got.len()) {
        let (old, new) = (expected.get(index), got.get(index));
        if old != new {
            old.into_iter().for_each(|line| out.push_str(&format!("{index:>3} - {line}\n")));
            new.into_iter().for_each(|line| out.push_str(&format!("{index:>3} + {line}\n")));
        }
    }
    out
}

#[test]
fn dense_vus_say_what_k6_says() {
    replay(IsolationMode::Dense);
}

#[test]
fn isolated_vus_say_what_k6_says() {
    replay(IsolationMode::Isolated);
}

#[test]
#[ignore = "needs k6: set K6 to its path"]
fn record() {
    let k6 = std::env::var("K6").expect("K6=/path/to/k6");
    let only = std::env::var("ONLY").unwrap_or_default();
    for script in scripts().into_iter().filter(|script| name(script).contains(&only)) {
        let directory = tempfile::tempdir().expect("a directory");
        let copy = directory.path().join(name(&script));
        fs::copy(&script, &copy).expect("a copy");
        fs::write(directory.path().join("data.txt"), "some text\n").expect("a file");
        fs::write(directory.path().join("lib.cjs.js"), CJS).expect("a file");
        // k6 runs the init code once more for a summary, which shows.
        let summary: &[&str] = if fs::read_to_string(&script).expect("a script").contains("handleSummary") {
            &[]
        } else {
            &["--no-summary"]
        };
        let output = Command::new(&k6)
            .args(["run", "--quiet", "--no-usage-report", "--address", "", "--log-format", "json", "--env"])
            .arg(format!("TARGET={}", target()))
            .arg("--env")
            .arg(format!("TLS_TARGET={}", tls_target()))
            .args(summary)
            .arg(&copy)
            .env("HOME", directory.path())
            .output()
            .expect("k6 runs");
        let lines: Vec<String> = String::from_utf8_lossy(&output.stderr)
            .lines()
            .filter_map(recorded_line)
            .map(|line| line.replace(&directory.path().display().to_string(), "DIR"))
            .collect();
        let exit = output.status.code().expect("k6 exits") as u8;
        fs::write(script.with_extension("txt"), transcript(&lines, exit)).expect("the record");
    }
}

/// One JSON log line of k6 as the harness shows it; `None` for lines of k6's own runner.
fn recorded_line(text: &str) -> Option<String> {
    let line: serde_json::Value = serde_json::from_str(text).ok()?;
    let field = |name: &str| line.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let message = field("msg");
    let runner = message.starts_with("thresholds on metrics")
        || message.starts_with("test run was marked")
        || message.starts_with("test aborted")
        || message.starts_with("No script iterations")
        || message.starts_with("could not initialize");
    let error: Vec<(&str, String)> = line
        .get("error")
        .and_then(|value| value.as_str())
        .map(|error| ("error", error.to_owned()))
        .into_iter()
        .collect();
    (!runner).then(|| shown(field("level"), message, &error))
}
