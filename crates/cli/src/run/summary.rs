//! The end of a run for its reader: `handleSummary()`, the built-in text, files, the verdict.

use onrush_engine::LifecycleError;
use onrush_fiber::{Clock, Nanos};
use onrush_js::HandleSummaryFile;
use onrush_metrics::{
    RELATIVE_ERROR,
    summary::{
        Footer, MachineInfo, RunInfo, SummaryMode, SummaryModel, TextOptions, TrendStat, Verdict, handle_summary,
        input_from, machine_readable, render, summary_export, to_file, to_stdout,
    },
};
use onrush_session::{Judgement, ScenarioLoad};

use super::drive::Drive;
use crate::{
    log::{Level, rfc3339_nanos},
    save::save,
    terminal::Message,
    tools::http,
    version,
};

/// Shows and writes everything a run ends with. `elapsed` is the test's duration.
pub(super) fn show(drive: &mut Drive<'_>, elapsed: Nanos) {
    let judgement = judge(drive);
    let mode = drive.args.summary_mode;
    if mode == SummaryMode::Disabled {
        // Who wants no summary need not read that all is well.
        if judgement.verdict != onrush_session::Verdict::Valid {
            log_verdict(drive, &judgement);
        }
        return;
    }
    let model = model(drive, elapsed);
    let custom = custom(drive, &model, &judgement);
    let mut files = Vec::new();
    match custom {
        Some(custom) => {
            log_verdict(drive, &judgement);
            files = custom;
        }
        None if drive.args.one_liner.is_some() => {
            let report = http::report(
                drive.coordinator.merged(),
                elapsed.as_duration(),
                &judgement,
                drive.around.look.stdout_color(),
            );
            drive.around.terminal.stdout(report);
        }
        None => {
            let footer = footer(&judgement);
            let options = TextOptions { mode, color: drive.around.look.stdout_color(), footer: Some(&footer) };
            drive.around.terminal.stdout(to_stdout(&render(&model, &options)));
            if let Some(text) = steering_text(drive) {
                drive.around.terminal.stdout(text);
            }
        }
    }
    if let Some(path) = &drive.args.summary_export {
        let mut value = if drive.args.machine_readable { newer_shape(drive, &model) } else { summary_export(&model) };
        add_steering(drive, &mut value);
        add_measurement(&judgement, &mut value);
        files.push(HandleSummaryFile { path: path.clone(), content: to_file(&value).into_bytes() });
    }
    drive.export_failed = !write(drive, files);
}

fn judge(drive: &mut Drive<'_>) -> Judgement {
    let lost = drive.coordinator.merged().samples_lost();
    let loads: Vec<_> = drive
        .prepared
        .plan
        .scenarios
        .iter()
        .zip(drive.engine.progress())
        .map(|(plan, progress)| ScenarioLoad {
            scenario: plan.scenario.name.clone(),
            is_open: plan.executor.is_open(),
            done: progress.done,
            dropped: progress.dropped,
        })
        .collect();
    std::mem::take(&mut drive.health).into_judge(lost, drive.output_samples_missing).judge(&loads)
}

fn model(drive: &Drive<'_>, elapsed: Nanos) -> SummaryModel {
    let look = drive.around.look;
    let info = RunInfo {
        duration_ns: elapsed.0,
        trend_stats: drive.prepared.trend_stats.clone(),
        time_unit: drive.prepared.time_unit,
        no_color: !look.color,
        stdout_tty: look.stdout_tty,
        stderr_tty: look.stderr_tty,
        setup_data: drive.coordinator.setup_data().and_then(|data| serde_json::from_str(data).ok()),
        scopes: drive.args.summary_mode == SummaryMode::Full,
    };
    SummaryModel::new(input_from(drive.coordinator.merged(), drive.coordinator.thresholds(), info))
}

/// What `handleSummary()` would get now, with the statistics of k6's REST API.
pub(super) fn live(drive: &Drive<'_>, elapsed: Nanos) -> serde_json::Value {
    let stats = ["avg", "max", "med", "min", "p(90)", "p(95)"].map(str::to_owned);
    let info = RunInfo {
        duration_ns: elapsed.0,
        trend_stats: TrendStat::parse_list(&stats).unwrap_or_default(),
        time_unit: None,
        no_color: true,
        stdout_tty: false,
        stderr_tty: false,
        setup_data: None,
        scopes: false,
    };
    handle_summary(&SummaryModel::new(input_from(drive.coordinator.merged(), drive.coordinator.thresholds(), info)))
}

fn footer(judgement: &Judgement) -> Footer {
    let verdict = match judgement.verdict {
        onrush_session::Verdict::Valid => Verdict::Valid,
        onrush_session::Verdict::Suspect => Verdict::Suspect,
        onrush_session::Verdict::Invalid => Verdict::Invalid,
    };
    Footer {
        percentile_error: Some(RELATIVE_ERROR),
        verdict: Some(verdict),
        reasons: judgement.reasons.clone(),
        notes: judgement.notes.iter().cloned().chain(judgement.start_lag.map(|lag| lag.to_string())).collect(),
    }
}

/// Where the built-in text does not say it.
fn log_verdict(drive: &Drive<'_>, judgement: &Judgement) {
    let level = if judgement.verdict == onrush_session::Verdict::Valid { Level::Info } else { Level::Warn };
    let fields = if judgement.reasons.is_empty() { Vec::new() } else { vec![("reason", judgement.reasons.join("; "))] };
    drive.around.logger.log(level, format!("the measurement is {}", judgement.verdict.as_str()), fields);
    judgement.notes.iter().for_each(|note| drive.around.logger.log(Level::Info, note.clone(), Vec::new()));
}

/// What the script's own `handleSummary()` returned; `None` for the built-in text.
fn custom(drive: &mut Drive<'_>, model: &SummaryModel, judgement: &Judgement) -> Option<Vec<HandleSummaryFile>> {
    let lifecycle = drive.prepared.lifecycle;
    if lifecycle.handle_summary_is_wrong {
        failed(drive, "exported identifier handleSummary must be a function".to_owned());
        return None;
    }
    if !lifecycle.handle_summary {
        return None;
    }
    let mut data = if drive.args.machine_readable { newer_shape(drive, model) } else { handle_summary(model) };
    add_steering(drive, &mut data);
    add_measurement(judgement, &mut data);
    drive.engine.handle_summary(data.to_string());
    while drive.handle_summary.is_none() && !drive.is_thread_gone {
        drive.step(false);
    }
    match drive.handle_summary.take()? {
        Ok(files) => files,
        Err(LifecycleError::Script(failure)) => {
            let fields = vec![("hint", "script exception".to_owned())];
            drive.around.logger.log(Level::Error, failure.text, fields);
            None
        }
        Err(error) => {
            failed(drive, error.to_string());
            None
        }
    }
}

/// The verdict goes with the numbers it is about.
fn add_measurement(judgement: &Judgement, data: &mut serde_json::Value) {
    let Some(data) = data.as_object_mut() else { return };
    let start_lag = judgement
        .start_lag
        .map(|lag| serde_json::json!({ "iterations": lag.iterations, "p(99)": lag.p99_ms, "max": lag.max_ms }));
    let measurement = serde_json::json!({
        "verdict": judgement.verdict.as_str(),
        "reasons": judgement.reasons,
        "notes": judgement.notes,
        "percentile_error": RELATIVE_ERROR,
        "start_lag_ms": start_lag,
    });
    data.insert("measurement".to_owned(), measurement);
}

/// The journal of a steered run goes with its numbers: without it they cannot be explained.
fn add_steering(drive: &Drive<'_>, data: &mut serde_json::Value) {
    let moment = drive.moment(Clock::now());
    if let (Some(steering), Some(data)) = (drive.coordinator.steering().to_json(moment), data.as_object_mut()) {
        data.insert("steering".to_owned(), steering);
    }
}

/// What was changed while the test ran, and how to have the same by plan.
fn steering_text(drive: &Drive<'_>) -> Option<String> {
    /// More changes than a person reads.
    const SHOWN_MAX: usize = 20;
    let steering = drive.coordinator.steering();
    let journal = steering.journal();
    if journal.is_empty() {
        return None;
    }
    let plural = if journal.len() == 1 { "change" } else { "changes" };
    let mut text = format!("  █ STEERED: {} {plural} while the test ran\n\n", journal.len());
    for change in journal.iter().take(SHOWN_MAX) {
        text.push_str(&format!("    {}\n", change.text()));
    }
    if let Some(more) = journal.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("    … and {more} more, all of them in --summary-export and handleSummary()\n"));
    }
    let replay = steering.replay(drive.moment(Clock::now()));
    if !replay.is_empty() {
        let options = serde_json::json!({"scenarios": replay});
        text.push_str(&format!("\n    options that do the same by plan: {options}\n"));
    }
    text.push('\n');
    Some(text)
}

fn failed(drive: &Drive<'_>, error: String) {
    drive.around.logger.log(Level::Error, "failed to handle the end-of-test summary", vec![("error", error)]);
}

fn newer_shape(drive: &Drive<'_>, model: &SummaryModel) -> serde_json::Value {
    let program = &drive.prepared.run.script.program;
    let info = MachineInfo {
        script: program.module(program.entry).map_or("", |module| &module.source),
        generated_at: &rfc3339_nanos(Clock::unix_nanos(Clock::now())),
        onrush_version: version::VERSION,
        k6_version: version::K6_VERSION,
        mode: drive.args.summary_mode,
    };
    machine_readable(model, &info)
}

/// Returns whether `--summary-export` was written, if it was asked for.
fn write(drive: &Drive<'_>, files: Vec<HandleSummaryFile>) -> bool {
    let mut errors = Vec::new();
    let mut exported = true;
    for HandleSummaryFile { path, content } in files {
        match path.as_str() {
            "stdout" => drive.around.terminal.send(Message::Stdout(content)),
            "stderr" => drive.around.terminal.send(Message::Stderr(content)),
            _ => {
                if let Err(error) = save(&path, content) {
                    exported &= drive.args.summary_export.as_ref() != Some(&path);
                    errors.push(format!("\t- could not save '{path}': {error}"));
                }
            }
        }
    }
    if !errors.is_empty() {
        failed(drive, format!("Could not save some summary information:\n{}", errors.join("\n")));
    }
    exported
}
