//! k6: Go, scripts in JavaScript. Version 2 is another Go module and cannot be installed by `go install`.

use std::{fs, process::Command};

use anyhow::{Context, Result};
use xtask::packages::find;

use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::Job,
    script::{SUMMARY, TREND_STATS, k6_script, k6_summary},
    shop::Shop,
};

#[derive(Debug)]
pub(super) struct K6 {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

impl Adapter for K6 {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "Go; JavaScript"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        let version = self.version;
        if version.starts_with("v1.") {
            return shop.go("k6", "go.k6.io/k6", version);
        }
        // Inside a module of its own the deprecation look-up that fails is not made.
        let module = shop.place("k6", version).join("module");
        fs::create_dir_all(&module).with_context(|| format!("cannot make {}", module.display()))?;
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!(
            "cd module && {go} get go.k6.io/k6/v2@{version} && {go} build -mod=mod -o ../k6 go.k6.io/k6/v2",
            go = find("go").context("Go is missing: install it from your distribution")?.display()
        ));
        let files = [("module/go.mod", "module lab\n\ngo 1.24\n"), ("module/tools.go", TOOLS)];
        // `go get` writes to go.mod: it is not laid again where k6 is built.
        let files = if module.join("../k6").is_file() { &files[1..] } else { &files[..] };
        let program = shop.built("k6", version, files, "k6", command)?;
        let installed_by = format!("go build go.k6.io/k6/v2@{version} in a module of its own");
        Ok(Program { version: version.to_owned(), installed_by, ..program })
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        let mut command = Command::new(&program.path);
        // Its REST API would need a port.
        command.args(["run", "--quiet", "--no-usage-report", "--address", "localhost:0"]);
        command.args(["--summary-trend-stats", TREND_STATS, "--summary-export", SUMMARY, "script.js"]);
        Ok(Run::new(command).file("script.js", k6_script(job)))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        k6_summary(&output.file(SUMMARY))
    }

    fn quirks(&self) -> &'static [&'static str] {
        &[
            "its rate counts the time after the last iteration's start, too",
            "latencies from the real start, not the intended one",
        ]
    }
}

const TOOLS: &str = "package main\n\nimport _ \"go.k6.io/k6/v2/cmd\"\n\nfunc main() {}\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, wrote};

    #[test]
    fn its_report() {
        let (_folder, output) = wrote(SUMMARY, include_str!("../recorded/k6.txt"));
        check(
            K6 { name: "k6-1", version: "v1.8.1" }.claim(&job(), &output),
            "requests=2172 rps=1084.184 errors=0 mean_ms=18.364 p50_ms=13.324 p90_ms=34.28 p95_ms=37.891 p99_ms=54.65 p999_ms=68.677",
        );
    }
}
