//! `cargo xtask test`: everything that must hold before a change goes in.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use xtask::{packages, workspace};

use crate::{conformance, graphs, web};

/// One step: what it is for and the arguments of cargo.
struct Step {
    title: &'static str,
    arguments: &'static [&'static str],
    /// A cargo command that not every installation has; without it the step is left out, with a word.
    needs: Option<&'static str>,
}

const STEPS: &[Step] = &[
    Step { title: "format", arguments: &["fmt", "--all", "--check"], needs: Some("fmt") },
    Step {
        title: "lints",
        arguments: &["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"],
        needs: Some("clippy"),
    },
    // Tidy is one of them.
    Step { title: "tests", arguments: &["test", "--locked", "--workspace"], needs: None },
];

/// As many as a few seconds are enough for; `cargo xtask fuzz graphs` runs more, under AddressSanitizer.
const GRAPHS: &str = "200";

/// Runs all steps, also after one has failed, and says at the end which did.
pub(crate) fn run(_: &[String]) -> Result<ExitCode> {
    packages::packaged("nginx", "nginx", "the web server that requests are tried against besides our own")?;
    packages::packaged("prometheus", "prometheus", "what metrics are pushed to")?;
    packages::packaged("influxd", "influxdb", "what points are written to")?;
    packages::packaged("pg_ctlcluster", "postgresql", "what rows are inserted into")?;
    packages::packaged("redis-server", "redis-server", "what keys are written to")?;
    packages::packaged("mosquitto", "mosquitto", "what messages are published to")?;
    packages::packaged("mariadbd", "mariadb-server-core", "what scripts query as MySQL")?;
    packages::packaged("my_print_defaults", "mariadb-client", "what makes a database for it")?;
    let root = workspace::root();
    let mut failed = Vec::new();
    for step in STEPS {
        if let Some(command) = step.needs
            && !is_installed(command)
        {
            eprintln!(
                "== {}: left out, `cargo {command}` is not installed (rustup component add {})",
                step.title,
                component(command)
            );
            continue;
        }
        eprintln!("== {}: cargo {}", step.title, step.arguments.join(" "));
        let status = workspace::cargo(&root).args(step.arguments).status().context("cannot run cargo")?;
        if !status.success() {
            failed.push(step.title);
        }
    }
    // The tests have built the program; it is not built again, with other features of its packages.
    if !failed.contains(&"tests") {
        let onrush = conformance::debug_program(&root)?.display().to_string();
        eprintln!("== conformance: cargo xtask conformance --onrush {onrush}");
        if conformance::run(&["--onrush".to_owned(), onrush])? != ExitCode::SUCCESS {
            failed.push("conformance");
        }
    }
    if !failed.contains(&"tests") {
        let onrush = conformance::debug_program(&root)?.display().to_string();
        let arguments = ["--seed", "1", "--runs", GRAPHS, "--onrush", &onrush].map(str::to_owned);
        eprintln!("== graphs of modules: cargo xtask fuzz graphs {}", arguments.join(" "));
        if graphs::run(&arguments)? != ExitCode::SUCCESS {
            failed.push("graphs of modules");
        }
    }
    // Seconds; the browser's part of it takes minutes.
    eprintln!("== web: as cargo xtask web --check, without a browser");
    if web::step()? != ExitCode::SUCCESS {
        failed.push("web");
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("== failed: {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

fn is_installed(command: &str) -> bool {
    // rustup puts proxies in PATH for components that are not installed; only running one tells.
    let status = Command::new("cargo")
        .args([command, "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn component(command: &str) -> &str {
    if command == "fmt" { "rustfmt" } else { command }
}
