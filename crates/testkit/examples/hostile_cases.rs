//! The hostile suite by hand.
//!
//! ```text
//! hostile_cases                        lists the cases
//! hostile_cases serve                  starts all servers, prints their addresses as JSON, until stdin ends
//! hostile_cases page                   writes docs/reference/hostile-servers.md
//! hostile_cases run PROGRAM            what PROGRAM (k6 or onrush) makes of each case, as JSON
//! hostile_cases record K6              the same, into crates/testkit/hostile/k6.json
//! hostile_cases compare K6 ONRUSH      both, side by side; exit code 1 where a difference is not reviewed
//! ```
#![expect(clippy::print_stdout, reason = "a tool talks to its user")]

use std::{
    collections::BTreeMap,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, Result, bail};
use onrush_testkit::cases::{
    Authorities, Case, CaseServer, Outcome, PAGE, RECORDED, SCRIPT, cases, mask, page, script_input,
};
use serde_json::{Value, json};

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/hostile/k6.json");

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => list(),
        ["serve"] => serve()?,
        ["page"] => std::fs::write(PAGE, page()).context(PAGE)?,
        ["run", program] => println!("{}", pretty(&run(program)?)),
        ["record", program] => std::fs::write(RECORDING, pretty(&run(program)?) + "\n").context(RECORDING)?,
        ["compare", k6, onrush] => return compare(k6, onrush),
        _ => bail!("see the beginning of this file"),
    }
    Ok(ExitCode::SUCCESS)
}

fn list() {
    let recorded: Value = serde_json::from_str(RECORDED).unwrap_or_default();
    let all = cases();
    for case in &all {
        println!("{:<34} {}", case.name, case.about);
        let rows = recorded[case.name].as_array().cloned().unwrap_or_default();
        let k6: Vec<String> = rows.iter().map(|row| Outcome::from_json(row).to_string()).collect();
        println!("{:<34}   k6: {}", "", k6.join(" | "));
        if let Some(difference) = &case.differs {
            let ours: Vec<String> = difference.outcomes.iter().map(ToString::to_string).collect();
            println!("{:<34}   onrush: {}: {}", "", ours.join(" | "), difference.why);
        }
    }
    println!("{} cases", all.len());
}

fn serve() -> Result<()> {
    let (all, authorities) = (cases(), Authorities::new());
    let servers: Vec<CaseServer> = all.iter().map(|case| case.start(&authorities)).collect();
    Ok(onrush_testkit::serve_until_input_ends(&script_input(&all, &servers))?)
}

/// Each case's outcomes as `[status, error_code, error]`.
fn run(program: &str) -> Result<BTreeMap<String, Vec<Value>>> {
    let (all, authorities) = (cases(), Authorities::new());
    let servers: Vec<CaseServer> = all.iter().map(|case| case.start(&authorities)).collect();
    let dir = tempfile::tempdir()?;
    let file = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).context(name.to_owned());
    file("script.js", SCRIPT)?;
    file("cases.json", &script_input(&all, &servers).to_string())?;
    file("authority.pem", &authorities.trusted_pem())?;
    let output = Command::new(program)
        .args(["run", "--quiet", "--log-format", "raw", "script.js"])
        .current_dir(dir.path())
        .env_clear()
        .env("HOME", dir.path())
        .env("SSL_CERT_FILE", dir.path().join("authority.pem"))
        .env("SSL_CERT_DIR", "/nonexistent")
        .env("K6_ADDRESS", "")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .context(program.to_owned())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut outcomes = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("CASE ")) {
        let value: Value = serde_json::from_str(line)?;
        let rows = value["outcomes"].as_array().cloned().unwrap_or_default();
        let rows = rows.iter().map(|row| {
            let error = mask(row[2].as_str().unwrap_or_default());
            json!([row[0], row[1], error])
        });
        outcomes.insert(value["name"].as_str().unwrap_or_default().to_owned(), rows.collect());
    }
    for Case { name, .. } in &all {
        if !outcomes.contains_key(*name) {
            eprintln_missing(name);
        }
    }
    Ok(outcomes)
}

#[expect(clippy::print_stderr, reason = "a tool talks to its user")]
fn eprintln_missing(name: &str) {
    eprintln!("{name}: no outcome");
}

fn pretty(outcomes: &BTreeMap<String, Vec<Value>>) -> String {
    let lines: Vec<String> =
        outcomes.iter().map(|(name, rows)| format!("  {}: {}", json!(name), Value::from(rows.clone()))).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

fn compare(k6: &str, onrush: &str) -> Result<ExitCode> {
    let (theirs, ours) = (run(k6)?, run(onrush)?);
    let mut bad = 0;
    for case in cases() {
        let rows = |from: &BTreeMap<String, Vec<Value>>| -> Vec<Outcome> {
            from.get(case.name).map_or_else(Vec::new, |rows| rows.iter().map(Outcome::from_json).collect())
        };
        let (theirs, ours) = (rows(&theirs), rows(&ours));
        let show = |outcomes: &[Outcome]| outcomes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
        let verdict = match &case.differs {
            Some(difference) if difference.outcomes == ours && theirs != ours => "reviewed",
            None if theirs == ours => "same",
            None if case.also.contains(&ours) => "reviewed",
            _ => {
                bad += 1;
                "DIFFERS"
            }
        };
        println!("{verdict:<8} {:<34} k6: {}", case.name, show(&theirs));
        if theirs != ours {
            println!("{:<43} onrush: {}", "", show(&ours));
        }
    }
    println!("{bad} differences that are not reviewed");
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
