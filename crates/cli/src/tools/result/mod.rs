//! `onrush result`: what is in a result file, as the summary of its run or step by step.

mod export;
mod kept;
mod openmetrics;
pub(crate) mod rows;

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use onrush_metrics::{
    Registry, Step,
    summary::{RunInfo, SummaryMode, TimeUnit, TrendStat, Verdict, summary_export, to_file, to_stdout},
};
use onrush_results::{End, Ending, Head, ReadError, Reader, ReplayError, Replayed};
use onrush_session::{ExitCode, Judgement, StartLag};

pub(crate) use self::kept::{found, place};
use crate::{
    args::summary_mode,
    context::Context,
    failure::Failure,
    flags::Command,
    full_screen::shape,
    run::{self, account::Account},
    save::save,
};

/// Shows or exports a file.
///
/// # Errors
/// 255 for words that are none of its commands, and for a file that cannot be read.
pub(crate) fn result(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Result)?;
    let words: Vec<&str> = files.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["show", file] => show(cx, &found(cx, file)?),
        ["export", file] => export::export(cx, &found(cx, file)?),
        ["recover", journal, files @ ..] => run::recover(cx, journal, files),
        ["list"] => kept::list(cx),
        _ => Err(Failure::other(
            "onrush result needs to know what to do with which file: show FILE, export FILE, recover JOURNAL or list",
        )
        .hint("onrush help result shows examples")),
    }
}

/// Reads a whole file; `each` sees every step.
///
/// # Errors
/// 255 with what is wrong with it.
pub(crate) fn read(cx: &Context, path: &str, each: impl FnMut(&Registry, &Step)) -> Result<Replayed, Failure> {
    read_all(cx, path, each, |_, _| {})
}

/// The same; `note` sees the name and the JSON of whatever else is kept.
///
/// # Errors
/// 255 with what is wrong with it.
pub(crate) fn read_all(
    cx: &Context,
    path: &str,
    each: impl FnMut(&Registry, &Step),
    note: impl FnMut(&str, &str),
) -> Result<Replayed, Failure> {
    let mut replayed = Replayed::read_all(open(path)?, each, note).map_err(|error| failed(path, &error))?;
    make_plain(&mut replayed.head, replayed.end.as_mut());
    if let Ending::Torn { at } = replayed.ending {
        let after = duration(replayed.duration_ns);
        cx.logger.warn(format!(
            "{path} ends after byte {at}, before the run did: Onrush was killed, or the disk was full. What follows is of the first {after}"
        ));
    }
    Ok(replayed)
}

/// Texts of a file that anybody may have written reach a terminal.
fn make_plain(head: &mut Head, end: Option<&mut End>) {
    let Head { onrush, started, script, scenarios, .. } = head;
    [onrush, started, script].into_iter().chain(scenarios).for_each(|text| *text = plain(text));
    if let Some(End { stopped, verdict, reasons, notes, .. }) = end {
        stopped.iter_mut().chain([verdict]).chain(reasons).chain(notes).for_each(|text| *text = plain(text));
    }
}

/// A text without control characters.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { '\u{fffd}' } else { sign }).collect()
}

/// The head of a file.
///
/// # Errors
/// 255 with what is wrong with it.
pub(crate) fn head(path: &Path) -> Result<Head, Failure> {
    let name = path.display().to_string();
    let reader = Reader::new(open(&name)?).map_err(|error| failed(&name, &error.into()))?;
    Ok(reader.head().clone())
}

/// The steps of a file that has been read.
///
/// # Errors
/// 255 when it has changed since.
pub(crate) fn again(path: &str, mut each: impl FnMut(&Step)) -> Result<(), Failure> {
    Replayed::read(open(path)?, |_, step| each(step)).map(|_| ()).map_err(|error| failed(path, &error))
}

fn open(path: &str) -> Result<impl Read, Failure> {
    let file = File::open(path).map_err(|error| failed(path, &ReplayError::Read(error.into())))?;
    Ok(BufReader::new(file))
}

fn failed(path: &str, error: &ReplayError) -> Failure {
    let failure = Failure::other(format!("could not read the result file {path}: {error}"));
    match error {
        ReplayError::Read(ReadError::Foreign) => failure.hint("onrush run --out result=FILE writes result files"),
        _ => failure,
    }
}

/// The verdict as a file has it. A run that was killed has none.
fn judgement(end: Option<&End>) -> Judgement {
    let end = end.cloned().unwrap_or_else(|| End {
        verdict: Verdict::Suspect.as_str().to_owned(),
        reasons: vec!["the run was killed before its measurement could be judged".to_owned()],
        ..End::default()
    });
    let verdicts = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];
    let start_lag =
        end.start_lag.map(|lag| StartLag { iterations: lag.iterations, p99_ms: lag.p99_ms, max_ms: lag.max_ms });
    Judgement {
        verdict: verdicts.into_iter().find(|verdict| verdict.as_str() == end.verdict).unwrap_or(Verdict::Suspect),
        reasons: end.reasons,
        notes: end.notes,
        thrown: 0,
        lacks_answers: false,
        start_lag,
        // Files of other versions may have others.
        own_delay: end.own_delay.and_then(|delay| serde_json::from_value(delay).ok()),
        generator: end.generator.and_then(|record| serde_json::from_value(record).ok()),
    }
}

fn show(cx: &Context, path: &str) -> Result<ExitCode, Failure> {
    let mode = summary_mode(&cx.flags)?;
    let replayed = read(cx, path, |_, _| {})?;
    let account = account(cx, &replayed, mode)?;
    if mode != SummaryMode::Disabled {
        let text = about(&replayed) + &to_stdout(&account.text(mode, cx.look.stdout_color()));
        cx.terminal.stdout(cx.look.fitted(text));
    }
    if let Some(picture) = shape(&replayed.merged, cx.look).filter(|_| mode == SummaryMode::Full) {
        cx.terminal.stdout(picture);
    }
    if let (Some(file), Some(model)) = (cx.flags.text("summary-export"), &account.model) {
        let mut value = summary_export(model);
        account.add_to(&mut value);
        save(&file, to_file(&value).into_bytes())
            .map_err(|error| Failure::other(format!("failed to write {file}: {error}")))?;
    }
    Ok(ExitCode::Success)
}

/// What a run's summary says, as `--summary-export` writes it.
///
/// # Errors
/// 104 for statistics or a unit that are none.
pub(crate) fn exported(cx: &Context, replayed: &Replayed) -> Result<serde_json::Value, Failure> {
    let account = account(cx, replayed, SummaryMode::Full)?;
    let mut value = account.model.as_ref().map(summary_export).unwrap_or_default();
    account.add_to(&mut value);
    Ok(value)
}

fn account(cx: &Context, replayed: &Replayed, mode: SummaryMode) -> Result<Account, Failure> {
    let (head, end) = (&replayed.head, replayed.end.as_ref());
    let info = RunInfo {
        duration_ns: replayed.duration_ns,
        trend_stats: trend_stats(cx, &head.trend_stats)?,
        time_unit: time_unit(cx, &head.time_unit)?,
        no_color: !cx.look.color,
        stdout_tty: cx.look.stdout_tty,
        stderr_tty: cx.look.stderr_tty,
        setup_data: None,
    };
    Ok(Account::new(&replayed.merged, &replayed.thresholds, info, mode, judgement(end)))
}

/// The lines above the summary: which run it is.
fn about(replayed: &Replayed) -> String {
    let head = &replayed.head;
    let mut text = format!("\n  {}  {}, {}", head.script, head.started, duration(replayed.duration_ns));
    if head.agents > 1 {
        text.push_str(&format!(", {} agents", head.agents));
    }
    if let Some(end) = &replayed.end {
        text.push_str(&format!(", exit code {}", end.exit_code));
        text.extend(end.stopped.iter().map(|why| format!(": {why}")));
    }
    text.push('\n');
    head.scenarios.iter().for_each(|scenario| text.push_str(&format!("    * {scenario}\n")));
    text
}

fn duration(ns: u64) -> String {
    // Tenths of a second are enough to know it by.
    let tenths = ns / 100_000_000 * 100_000_000;
    onrush_plan::format_go_duration(i64::try_from(tenths).unwrap_or(i64::MAX))
}

/// The flag, else what the run had.
fn trend_stats(cx: &Context, of_run: &[String]) -> Result<Vec<TrendStat>, Failure> {
    let flag = cx.flags.text("summary-trend-stats").filter(|text| !text.is_empty());
    let wanted: Vec<String> =
        flag.map_or_else(|| of_run.to_vec(), |text| text.split(',').map(|part| part.trim().to_owned()).collect());
    if wanted.is_empty() {
        return Ok(TrendStat::defaults());
    }
    TrendStat::parse_list(&wanted).map_err(|error| Failure::config(error.to_string()))
}

/// The flag, else what the run had.
fn time_unit(cx: &Context, of_run: &str) -> Result<Option<TimeUnit>, Failure> {
    let flag = cx.flags.text("summary-time-unit");
    TimeUnit::parse(flag.as_deref().unwrap_or(of_run)).map_err(|error| Failure::config(error.to_string()))
}
