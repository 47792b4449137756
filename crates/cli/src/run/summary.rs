//! The end of a run for its reader: `handleSummary()`, the built-in text, files, the verdict.

use std::time::Duration;

use onrush_fiber::Clock;
use onrush_metrics::{
    Merged, Thresholds,
    summary::{
        AgentsInfo, MachineInfo, RunInfo, SummaryMode, SummaryModel, TrendStat, Verdict, handle_summary, input_from,
        machine_readable, summary_export, to_file, to_stdout,
    },
};
use onrush_session::{
    Coordinator, Judgement, Moment, Steering,
    protocol::{Failure, FailureKind, SummaryFile, Time},
};

use super::{account::Account, prepare::Prepared};
use crate::{
    args::RunArgs,
    context::Context,
    full_screen::shape,
    log::{Level, rfc3339_nanos},
    save::save,
    terminal::Message,
    tools::http,
    version,
};

/// What a run ended with, for its reader.
pub(super) struct Results<'a> {
    cx: &'a Context,
    args: &'a RunArgs,
    prepared: &'a Prepared,
    account: Account,
    /// The journal of a steered run.
    steering: Option<serde_json::Value>,
    steering_text: Option<String>,
    /// The shape of its durations, where somebody sees it.
    shape: Option<String>,
    /// What is shown instead of the summary where no script was given.
    one_liner: Option<String>,
}

impl<'a> Results<'a> {
    /// Gathers them from a run that is closed.
    pub(super) fn new(
        cx: &'a Context,
        args: &'a RunArgs,
        prepared: &'a Prepared,
        coordinator: &Coordinator,
        agents: Option<AgentsInfo>,
        now: Time,
    ) -> Self {
        let moment = coordinator.moment(now);
        let look = cx.look;
        let info = RunInfo {
            duration_ns: u64::try_from(moment.test.as_nanos()).unwrap_or(u64::MAX),
            trend_stats: prepared.trend_stats.clone(),
            time_unit: prepared.time_unit,
            no_color: !look.color,
            stdout_tty: look.stdout_tty,
            stderr_tty: look.stderr_tty,
            setup_data: coordinator.setup_data().and_then(|data| serde_json::from_str(data).ok()),
        };
        let judgement = judgement(coordinator);
        let merged = coordinator.merged();
        let one_liner = || http::report(merged, moment.test, &judgement, cx.look.stdout_color());
        let one_liner = args.one_liner.as_ref().map(|_| one_liner());
        let mut account = Account::new(merged, coordinator.thresholds(), info, args.summary_mode, judgement);
        account.agents = agents;
        Self {
            cx,
            args,
            prepared,
            shape: (args.summary_mode == SummaryMode::Full).then(|| shape(merged, look)).flatten(),
            one_liner,
            account,
            steering: coordinator.steering().to_json(moment),
            steering_text: steering_text(coordinator.steering(), moment),
        }
    }

    /// What the script's own `handleSummary()` gets; `None` where it has none, or none that can be called.
    pub(super) fn for_script(&self) -> Option<String> {
        let (lifecycle, model) = (self.prepared.lifecycle, self.account.model.as_ref()?);
        if lifecycle.handle_summary_is_wrong {
            self.failed("exported identifier handleSummary must be a function".to_owned());
            return None;
        }
        if !lifecycle.handle_summary {
            return None;
        }
        let mut data = if self.args.machine_readable { self.newer_shape(model) } else { handle_summary(model) };
        self.add_steering(&mut data);
        self.account.add_to(&mut data);
        Some(data.to_string())
    }

    /// What `handleSummary()` returned; `None` for the built-in text.
    pub(super) fn returned_files(&self, result: Result<Option<Vec<SummaryFile>>, Failure>) -> Option<Vec<SummaryFile>> {
        match result {
            Ok(files) => files,
            Err(failure) if matches!(failure.kind, FailureKind::Script | FailureKind::Aborted) => {
                let fields = vec![("hint", "script exception".to_owned())];
                self.cx.logger.log(Level::Error, failure.message, fields);
                None
            }
            Err(failure) => {
                self.failed(failure.message);
                None
            }
        }
    }

    /// Shows and writes everything a run ends with. `custom` is what the script wants shown instead of the built-in text.
    /// Returns whether `--summary-export` was written, if it was asked for.
    pub(super) fn show(&self, custom: Option<Vec<SummaryFile>>) -> bool {
        let Some(model) = &self.account.model else {
            // Who wants no summary need not read that all is well.
            if self.account.judgement.verdict != Verdict::Valid {
                self.log_verdict();
            }
            return true;
        };
        let mut files = Vec::new();
        match custom {
            Some(custom) => {
                self.log_verdict();
                files = custom;
            }
            None if self.one_liner.is_some() => {
                let text = self.one_liner.clone().unwrap_or_default();
                self.cx.terminal.stdout(self.cx.look.fitted(text));
            }
            None => {
                let text = to_stdout(&self.account.text(self.args.summary_mode, self.cx.look.stdout_color()));
                self.cx.terminal.stdout(self.cx.look.fitted(text));
                if let Some(text) = &self.shape {
                    self.cx.terminal.stdout(text.clone());
                }
                if let Some(text) = &self.steering_text {
                    self.cx.terminal.stdout(self.cx.look.fitted(text.clone()));
                }
            }
        }
        if let Some(path) = &self.args.summary_export {
            let mut value = if self.args.machine_readable { self.newer_shape(model) } else { summary_export(model) };
            self.add_steering(&mut value);
            self.account.add_to(&mut value);
            files.push(SummaryFile { path: path.clone(), content: to_file(&value).into_bytes() });
        }
        self.write(files)
    }

    /// Where the built-in text does not say it.
    fn log_verdict(&self) {
        let (judgement, logger) = (&self.account.judgement, &self.cx.logger);
        let level = if judgement.verdict == Verdict::Valid { Level::Info } else { Level::Warn };
        let reasons = judgement.reasons.join("; ");
        let fields = if reasons.is_empty() { Vec::new() } else { vec![("reason", reasons)] };
        logger.log(level, format!("the measurement is {}", judgement.verdict.as_str()), fields);
        judgement.notes.iter().for_each(|note| logger.log(Level::Info, note.clone(), Vec::new()));
    }

    /// The journal of a steered run goes with its numbers: without it they cannot be explained.
    fn add_steering(&self, data: &mut serde_json::Value) {
        if let (Some(steering), Some(data)) = (&self.steering, data.as_object_mut()) {
            data.insert("steering".to_owned(), steering.clone());
        }
    }

    fn newer_shape(&self, model: &SummaryModel) -> serde_json::Value {
        let program = &self.prepared.run.script.program;
        let info = MachineInfo {
            script: program.module(program.entry).map_or("", |module| &module.source),
            generated_at: &rfc3339_nanos(Clock::unix_nanos(Clock::now())),
            onrush_version: version::VERSION,
            k6_version: version::K6_VERSION,
            mode: self.args.summary_mode,
        };
        machine_readable(model, &info)
    }

    fn failed(&self, error: String) {
        let fields = vec![("error", error)];
        self.cx.logger.log(Level::Error, "failed to handle the end-of-test summary", fields);
    }

    fn write(&self, files: Vec<SummaryFile>) -> bool {
        let mut errors = Vec::new();
        let mut is_exported = true;
        for SummaryFile { path, content } in files {
            match path.as_str() {
                "stdout" => self.cx.terminal.send(Message::Stdout(content)),
                "stderr" => self.cx.terminal.send(Message::Stderr(content)),
                _ => {
                    if let Err(error) = save(&path, content) {
                        is_exported &= self.args.summary_export.as_ref() != Some(&path);
                        let what = if is_about_path(&error) { "open" } else { "save" };
                        errors.push(format!("\t- could not {what} '{path}': {error}"));
                    }
                }
            }
        }
        if !errors.is_empty() {
            self.failed(format!("Could not save some summary information:\n{}", errors.join("\n")));
        }
        is_exported
    }
}

/// k6: a place that is none has another word than one that takes nothing.
fn is_about_path(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | PermissionDenied | IsADirectory | NotADirectory)
}

/// What `handleSummary()` would get now, with the statistics of k6's REST API.
pub(super) fn live(merged: &Merged, thresholds: &Thresholds, elapsed: Duration) -> serde_json::Value {
    let stats = ["avg", "max", "med", "min", "p(90)", "p(95)"].map(str::to_owned);
    let info = RunInfo {
        duration_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        trend_stats: TrendStat::parse_list(&stats).unwrap_or_default(),
        time_unit: None,
        no_color: true,
        stdout_tty: false,
        stderr_tty: false,
        setup_data: None,
    };
    handle_summary(&SummaryModel::new(input_from(merged, thresholds, info, SummaryMode::Compact)))
}

/// The summary as `--summary-export` writes it, as of now.
pub(super) fn exported(
    coordinator: &Coordinator,
    prepared: &Prepared,
    agents: Option<AgentsInfo>,
    now: Time,
) -> serde_json::Value {
    let moment = coordinator.moment(now);
    let info = RunInfo {
        duration_ns: u64::try_from(moment.test.as_nanos()).unwrap_or(u64::MAX),
        trend_stats: prepared.trend_stats.clone(),
        time_unit: prepared.time_unit,
        ..RunInfo::default()
    };
    let (merged, thresholds) = (coordinator.merged(), coordinator.thresholds());
    let mut account = Account::new(merged, thresholds, info, SummaryMode::Full, judgement(coordinator));
    account.agents = agents;
    let mut value = account.model.as_ref().map(summary_export).unwrap_or_default();
    account.add_to(&mut value);
    if let (Some(steering), Some(data)) = (coordinator.steering().to_json(moment), value.as_object_mut()) {
        data.insert("steering".to_owned(), steering);
    }
    value
}

/// The verdict on the measurement, with all there is to know about it.
pub(super) fn judgement(coordinator: &Coordinator) -> Judgement {
    let mut judgement = coordinator.judgement();
    judgement.notes.extend(interrupted(coordinator));
    judgement
}

/// Requests that are in no metric because their iterations were interrupted.
fn interrupted(coordinator: &Coordinator) -> Option<String> {
    let row = coordinator.merged().outcomes().interrupted()?;
    let (requests, counted) = if row.count == 1 { ("request was", "is") } else { ("requests were", "are") };
    let iterations = match coordinator.progress().interrupted {
        1 => "1 iteration was".to_owned(),
        count => format!("{count} iterations were"),
    };
    Some(format!(
        "{} {requests} under way when {} interrupted, and {counted} not counted in any metric; the first was {}",
        row.count, iterations, row.example
    ))
}

/// What was changed while the test ran, and how to have the same by plan.
fn steering_text(steering: &Steering, moment: Moment) -> Option<String> {
    /// More changes than a person reads.
    const SHOWN_MAX: usize = 20;
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
    let replay = steering.replay(moment);
    if !replay.is_empty() {
        let options = serde_json::json!({"scenarios": replay});
        text.push_str(&format!("\n    options that reproduce this load: {options}\n"));
    }
    text.push('\n');
    Some(text)
}
