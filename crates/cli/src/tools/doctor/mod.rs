//! `onrush doctor`: whether this machine is fit for a test, and what mends it.

mod checks;
mod facts;

use std::{
    fs,
    io::{BufRead as _, IsTerminal as _},
    process::{Command as Process, Stdio},
};

use onrush_session::ExitCode;
use serde_json::{Value, json};

use self::{
    checks::{Check, Demands, Fix, Status, checks},
    facts::Facts,
};
use crate::{
    args::RunArgs,
    context::Context,
    failure::Failure,
    run::{Ready, config_file::ConfigFile, needs::size, ready},
    tools::child,
};

/// What a large test has, where no script says anything else.
const LARGE_VUS: u64 = 30_000;
/// VUs that are tried.
const TRIED_VUS: u64 = 10;
/// Flags that a trial has of its own, or that are the doctor's.
const OWN_FLAGS: [&str; 19] = [
    "address",
    "duration",
    "fix",
    "iterations",
    "json",
    "linger",
    "no-summary",
    "no-thresholds",
    "open",
    "out",
    "paused",
    "quiet",
    "stage",
    "summary-export",
    "summary-mode",
    "threads",
    "try",
    "vus",
    "yes",
];

/// Checks this machine for a test.
///
/// # Errors
/// As `check` where a script is given; 255 when something would make the test fail.
pub(crate) fn doctor(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let on = |name: &str| cx.flags.switch(name).map(|switch| switch.unwrap_or(false));
    let (is_json, fixes, tries) = (on("json")?, on("fix")?, on("try")?);
    let ready = match files {
        [] => None,
        files => {
            let config = ConfigFile::read(cx)?;
            let args = RunArgs::new(&cx.flags, &config, files)?;
            Some(ready(cx, config, &args)?)
        }
    };
    if tries && files.is_empty() {
        return Err(Failure::other("--try runs a script, and none was given").hint("onrush doctor --try script.js"));
    }
    let tried = if tries { Some(memory_of_vu(cx, files)?) } else { None };
    let demands = demands(ready.as_ref(), tried);
    let hosts = ready.as_ref().map(hosts).unwrap_or_default();
    let mut found = checks(&Facts::gather(&hosts), &demands);
    if fixes && mend(cx, &found, on("yes")?)? {
        found = checks(&Facts::gather(&hosts), &demands);
    }
    if is_json {
        cx.terminal.stdout(format!("{:#}\n", to_json(&found, &demands)));
    } else {
        cx.terminal.stdout(text(&found, &demands));
    }
    match found.iter().filter(|check| check.status == Status::Bad).count() {
        0 => Ok(ExitCode::Success),
        1 => Err(Failure::other("1 thing here would make the test fail")),
        count => Err(Failure::other(format!("{count} things here would make the test fail"))),
    }
}

fn demands(ready: Option<&Ready>, tried: Option<u64>) -> Demands {
    let Some(ready) = ready else {
        return Demands { vus: LARGE_VUS, vu_bytes: None, has_no_reuse: false, local_ips: false, is_assumed: true };
    };
    let settings = &ready.prepared.test.settings;
    Demands {
        vus: ready.needs.vus_max,
        vu_bytes: Some(tried.unwrap_or(ready.needs.vu_bytes).max(ready.needs.vu_bytes)),
        has_no_reuse: settings.no_connection_reuse || settings.no_vu_connection_reuse,
        local_ips: ready.needs.ports.is_none(),
        is_assumed: false,
    }
}

/// Names of servers in the URLs that a script's files write out, the first few.
fn hosts(ready: &Ready) -> Vec<String> {
    const HOSTS_MAX: usize = 5;
    let mut hosts: Vec<String> = Vec::new();
    for module in &ready.prepared.run.script.program.modules {
        for rest in module.code.split("://").skip(1) {
            let host: String =
                rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).collect();
            let is_name = host.contains('.') && host.chars().any(char::is_alphabetic) && !host.ends_with('.');
            if is_name && !hosts.contains(&host) && hosts.len() < HOSTS_MAX {
                hosts.push(host);
            }
        }
    }
    hosts
}

/// Runs one iteration of a script in one VU and in some more: what each of these took, bytes.
fn memory_of_vu(cx: &Context, files: &[String]) -> Result<u64, Failure> {
    let [file] = files else { return Err(Failure::other("--try needs one script")) };
    let peak = |vus: u64| -> Result<u64, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::other(format!("the script could not be tried: {error}"));
        let program = std::env::current_exe().map_err(|error| failed(&error))?;
        let count = vus.to_string();
        let own = [
            "run",
            "--threads",
            "1",
            "--quiet",
            "--no-summary",
            "--no-thresholds",
            "--address",
            "",
            "-u",
            &count,
            "-i",
            &count,
        ];
        let child = Process::new(program)
            .args(own)
            .args(child::given(&cx.flags, &OWN_FLAGS))
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.map_err(|error| failed(&error))?;
        let status = format!("/proc/{}/status", child.id());
        let mut most = 0;
        loop {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let peak = text
                .lines()
                .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
            most = peak.unwrap_or(0).max(most);
            match child.try_wait().map_err(|error| failed(&error))? {
                Some(status) if status.success() => return Ok(most << 10),
                Some(status) => {
                    return Err(failed(&format!("{vus} iterations ended with {status}: run it by itself first")));
                }
                None => std::thread::park_timeout(std::time::Duration::from_millis(2)),
            }
        }
    };
    let (one, more) = (peak(1)?, peak(1 + TRIED_VUS)?);
    Ok(more.saturating_sub(one) / TRIED_VUS)
}

/// Does what can be done without a new start; whether anything was done.
fn mend(cx: &Context, found: &[Check], is_agreed: bool) -> Result<bool, Failure> {
    let fixes: Vec<(&Check, &Fix)> = found
        .iter()
        .filter(|check| check.status > Status::Fine)
        .filter_map(|check| Some((check, check.fix.as_ref()?)))
        .collect();
    if fixes.is_empty() {
        cx.logger.info("there is nothing that --fix can mend");
        return Ok(false);
    }
    if !is_agreed {
        let list: String =
            fixes.iter().map(|(check, _)| format!("  {}\n", check.now.as_deref().unwrap_or_default())).collect();
        if !std::io::stdin().is_terminal() {
            return Err(
                Failure::other("--fix asks first, and there is no terminal to ask").hint("--yes agrees to all of it")
            );
        }
        cx.terminal.stdout(format!("--fix does, until the next start of this machine:\n{list}Do it? [y/N] "));
        let mut answer = String::new();
        let _ = std::io::stdin().lock().read_line(&mut answer);
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            return Ok(false);
        }
    }
    for (check, fix) in fixes {
        match fs::write(&fix.path, &fix.value) {
            Ok(()) => cx.logger.info(format!("{}: {} is now {}", check.name, fix.path, fix.value)),
            Err(error) => cx.logger.error(format!("{}: cannot write {}: {error}", check.name, fix.path)),
        }
    }
    Ok(true)
}

fn to_json(found: &[Check], demands: &Demands) -> Value {
    json!({
        "ok": found.iter().all(|check| check.status < Status::Bad),
        "vus": demands.vus,
        "vuBytes": demands.vu_bytes,
        "checks": found.iter().map(Check::to_json).collect::<Vec<_>>(),
    })
}

fn text(found: &[Check], demands: &Demands) -> String {
    let each = demands.vu_bytes.map(|bytes| format!(" of {} each", size(bytes))).unwrap_or_default();
    let of = if demands.is_assumed { " (no script was given: a large test)" } else { "" };
    let mut text = format!("For {} VUs{each}{of}:\n\n", demands.vus);
    for check in found {
        let mark = match check.status {
            Status::Fine => "✓",
            Status::Warning => "!",
            Status::Bad => "✗",
        };
        text.push_str(&format!("  {mark} {:<28} {}\n", check.name, check.text));
        if check.status > Status::Fine {
            for (label, command) in [("now", &check.now), ("for good", &check.for_good)] {
                if let Some(command) = command {
                    text.push_str(&format!("      {label:<9} {command}\n"));
                }
            }
        }
    }
    if found.iter().any(|check| check.status > Status::Fine && check.fix.is_some()) {
        text.push_str(
            "\n  onrush doctor --fix changes settings of the kernel for you, until the next start of this machine.\n",
        );
    }
    text
}
