//! `onrush check`: everything a run does before its first VU, and what it found.

use onrush_script::{Program, Target};
use onrush_session::ExitCode;
use serde_json::{Value, json};

use crate::{
    args::RunArgs,
    cluster::ClusterArgs,
    context::Context,
    failure::Failure,
    flags::Command,
    run::{
        Ready, cluster,
        config_file::ConfigFile,
        needs::{self, size, vus},
        ready,
    },
};

/// Checks a test without sending a request.
///
/// # Errors
/// As `run`, and 255 when this machine has too little for the test.
pub(crate) fn check(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let is_json = cx.flags.switch("json")?.unwrap_or(false);
    let found = examine(cx, files);
    if is_json {
        let json = match &found {
            Ok(found) => found.to_json(),
            Err(failure) => json!({
                "ok": false, "exitCode": failure.code as u8, "problem": failure.message, "hint": failure.hint,
            }),
        };
        cx.terminal.stdout(format!("{json:#}\n"));
    }
    let found = found?;
    found.warnings.iter().for_each(|warning| cx.logger.warn(warning.clone()));
    if !is_json {
        cx.terminal.stdout(found.text());
    }
    match found.problem {
        Some(problem) => Err(Failure::other(problem).hint(needs::HINT)),
        None => Ok(ExitCode::Success),
    }
}

/// What a test consists of and needs.
struct Found {
    file: String,
    ready: Ready,
    writes: Vec<String>,
    problem: Option<String>,
    warnings: Vec<String>,
}

fn examine(cx: &Context, files: &[String]) -> Result<Found, Failure> {
    cx.flags.refuse_unavailable(Command::Run)?;
    let config = ConfigFile::read(cx)?;
    let args = RunArgs::new(&cx.flags, &config, files)?;
    let mut ready = ready(cx, config, &args)?;
    ready.check_outputs()?;
    // As a run with its agents has it; what runs elsewhere needs nothing here.
    let agents = ClusterArgs::new(&cx.flags, Command::Run, &mut |_| {})?;
    ready.needs = cluster::needs(agents.as_ref(), ready.needs);
    if !cx.flags.values("on").is_empty() {
        (ready.needs.vus, ready.needs.vus_max) = (0, 0);
    }
    let writes = args.summary_export.iter().cloned().chain(ready.output_names()).collect();
    let (mut problem, mut warnings) = (ready.needs.problem(), ready.needs.warnings());
    if args.force {
        // Asked to run all the same: said, but no failure.
        warnings.extend(problem.take().map(|problem| format!("{problem} (--force starts it nevertheless)")));
    }
    Ok(Found { file: args.script.file, ready, writes, problem, warnings })
}

impl Found {
    fn text(&self) -> String {
        let (prepared, needs) = (&self.ready.prepared, &self.ready.needs);
        let plan = &prepared.plan;
        let can = if self.problem.is_some() { "is correct, but too large for this machine" } else { "can run" };
        let mut text = format!("{} {can}.\n\n", self.file);
        let mut row = |name: &str, value: String| text.push_str(&format!("  {name:<12} {value}\n"));
        let count = plan.descriptions.len();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        row("scenarios", format!("{count}, at most {}, at most {}", vus(plan.max_vus), plan.end_offset));
        for description in plan.descriptions.iter() {
            row("", format!("{}: {}", description.name, description.text));
        }
        let (files, builtins) = modules(&prepared.run.script.program);
        let builtins = if builtins.is_empty() { String::new() } else { format!("; {}", builtins.join(", ")) };
        row("modules", format!("{files} file{}{builtins}", plural(files)));
        let lifecycle = self.lifecycle();
        if !lifecycle.is_empty() {
            row("life cycle", lifecycle.iter().map(|name| format!("{name}()")).collect::<Vec<_>>().join(", "));
        }
        row("thresholds", self.thresholds().to_string());
        row("VU layout", format!("{} ({})", prepared.isolation.isolation.as_str(), prepared.isolation.reason));
        let memory = if needs.memory_bytes > 0 {
            format!("; this machine has {}", size(needs.memory_bytes))
        } else {
            String::new()
        };
        row(
            "memory",
            format!(
                "at least {}: {}, {} each{memory}",
                size(needs.total_bytes()),
                vus(needs.vus),
                size(needs.vu_bytes)
            ),
        );
        if needs.has_network {
            let allowed = needs.files_max.map_or_else(String::new, |allowed| format!(" of at most {allowed}"));
            row("open files", format!("at least {}{allowed}", needs.files(needs.vus_max)));
        }
        row("rate", if self.has_rate() { RATE_NOT_TRIED } else { RATE_OF_VUS }.to_owned());
        if !self.writes.is_empty() {
            row("writes", self.writes.join(", "));
        }
        text
    }

    fn to_json(&self) -> Value {
        let (prepared, needs) = (&self.ready.prepared, &self.ready.needs);
        let plan = &prepared.plan;
        let (files, builtins) = modules(&prepared.run.script.program);
        let scenarios = plan.descriptions.iter().map(|one| json!({"name": one.name, "description": one.text}));
        json!({
            "ok": self.problem.is_none(),
            "exitCode": if self.problem.is_some() { ExitCode::Other as u8 } else { 0 },
            "problem": self.problem,
            "hint": self.problem.as_ref().map(|_| needs::HINT),
            "warnings": self.warnings,
            "scenarios": scenarios.collect::<Vec<Value>>(),
            "totalDuration": plan.end_offset.to_string(),
            "files": files,
            "modules": builtins,
            "lifecycle": self.lifecycle(),
            "thresholds": self.thresholds(),
            "vuLayout": prepared.isolation.isolation.as_str(),
            "needs": {
                "vus": needs.vus,
                "maxVUs": needs.vus_max,
                "vuBytes": needs.vu_bytes,
                "memoryBytes": needs.total_bytes(),
                "memoryBytesAvailable": needs.memory_bytes,
                "openFiles": needs.files(needs.vus_max),
                "openFilesAllowed": needs.files_max,
                "localPorts": needs.ports,
            },
            "writes": self.writes,
        })
    }

    /// Whether a scenario starts iterations at a rate.
    fn has_rate(&self) -> bool {
        self.ready.prepared.plan.scenarios.iter().any(|scenario| scenario.rate_at(0).is_some())
    }

    fn thresholds(&self) -> usize {
        self.ready.prepared.thresholds.results().iter().map(|metric| metric.expressions.len()).sum()
    }

    fn lifecycle(&self) -> Vec<&'static str> {
        let lifecycle = self.ready.prepared.lifecycle;
        let all =
            [("setup", lifecycle.setup), ("teardown", lifecycle.teardown), ("handleSummary", lifecycle.handle_summary)];
        all.into_iter().filter(|(_, is_exported)| *is_exported).map(|(name, _)| name).collect()
    }
}

/// Only a run shows whether VUs and machine keep up with a rate.
const RATE_NOT_TRIED: &str =
    "not tried; onrush selftest shows what this machine reaches, and the run itself counts dropped iterations";

/// VUs that go on as soon as they have an answer send as much as machine and server let them.
const RATE_OF_VUS: &str = "what VUs and server reach; onrush selftest shows what this machine does";

/// How many files a program has, and which modules of k6 it imports.
fn modules(program: &Program) -> (usize, Vec<String>) {
    let imports = program.modules.iter().flat_map(|module| &module.imports);
    let mut builtins: Vec<String> = imports
        .filter_map(|import| match &import.target {
            Target::Builtin(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    builtins.sort();
    builtins.dedup();
    (program.modules.len(), builtins)
}
