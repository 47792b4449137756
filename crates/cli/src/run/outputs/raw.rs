//! `--out json`, `--out csv`, `--out kafka`: single samples, written as k6 writes them.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_metrics::{Registry, SubMetric, SystemTag};
use onrush_output::{
    Config, Kind, MetricInfo, OutputReport, Outputs, Samples, Share, Target, Tell, TimeFormat, Told, Undelivered,
};

use super::{super::prepare::Prepared, asked::Asked, output::Wish, waiting::Waiting};
use crate::{
    context::Context,
    failure::Failure,
    flags::Flags,
    log::{Level, Logger},
    signals::Watch,
    terminal::Stdout,
};

/// k6's default file of the csv output.
const CSV_FILE: &str = "file.csv";
/// k6's default of `saveInterval`.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// Reads `--out-share`.
///
/// # Errors
/// 255 for what is no fraction.
pub(in crate::run) fn share(flags: &Flags) -> Result<Share, Failure> {
    let Some(text) = flags.text("out-share") else { return Ok(Share::ALL) };
    text.parse().ok().and_then(Share::new).ok_or_else(|| {
        Failure::other(format!("invalid --out-share \"{text}\""))
            .hint("use a fraction above 0 and at most 1: 0.1 writes the samples of one request in ten")
    })
}

/// `json=FILE`.
pub(super) fn json(asked: &Asked<'_>) -> Result<Wish, Failure> {
    let file = asked.argument().or_else(|| asked.variable("K6_JSON_FILENAME")).unwrap_or_else(|| "-".to_owned());
    Ok(Wish::Raw(Config { kind: Kind::Json, target: target(&file) }))
}

/// `csv=FILE` or `csv=fileName=FILE,saveInterval=1s,timeFormat=unix`.
pub(super) fn csv(asked: &Asked<'_>) -> Result<Wish, Failure> {
    asked.naming(csv_config(asked.argument_or_empty(), &|name| asked.variable(name)).map(Wish::Raw))
}

fn csv_config(argument: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Config, Failure> {
    let mut file = variable("K6_CSV_FILENAME").unwrap_or_else(|| CSV_FILE.to_owned());
    let mut interval = match variable("K6_CSV_SAVE_INTERVAL") {
        // k6: variables may be bare milliseconds.
        Some(text) => save_interval(&text, onrush_plan::parse_extended_duration(&text))?,
        None => SAVE_INTERVAL,
    };
    let mut time =
        variable("K6_CSV_TIME_FORMAT").map_or_else(|| Ok(TimeFormat::default()), |name| time_format(&name))?;
    if !argument.is_empty() && !argument.contains('=') {
        argument.clone_into(&mut file);
    } else if !argument.is_empty() {
        for pair in argument.split(',') {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(Failure::other(format!("couldn't parse \"{argument}\" as argument for csv output"))
                    .hint(format!("write {pair} as fileName={pair}; the keys are {CSV_KEYS}")));
            };
            match key {
                "fileName" | "filename" | "file_name" => value.clone_into(&mut file),
                "saveInterval" | "save_interval" => {
                    interval = save_interval(value, onrush_plan::parse_go_duration(value))?;
                }
                "timeFormat" | "time_format" => time = time_format(value)?,
                _ => {
                    return Err(Failure::other(format!("unknown key \"{key}\" as argument for csv output"))
                        .hint(format!("the keys are {CSV_KEYS}")));
                }
            }
        }
    }
    if file.is_empty() {
        return Err(Failure::other("fileName must not be empty"));
    }
    Ok(Config { kind: Kind::Csv { time, save_interval: interval }, target: target(&file) })
}

const CSV_KEYS: &str = "fileName, saveInterval and timeFormat";

fn save_interval(
    text: &str,
    parsed: Result<onrush_plan::GoDuration, onrush_plan::DurationError>,
) -> Result<Duration, Failure> {
    let duration = parsed.map_err(|error| Failure::other(error.to_string()))?;
    let duration = duration.as_std();
    if duration.is_zero() {
        return Err(Failure::other(format!("saveInterval must be longer than \"{text}\"")));
    }
    Ok(duration)
}

fn time_format(name: &str) -> Result<TimeFormat, Failure> {
    TimeFormat::parse(name).ok_or_else(|| {
        let names = TimeFormat::NAMES.map(|(name, _)| name).join(", ");
        Failure::other(format!("{name} does not belong to TimeFormat values")).hint(format!("use one of {names}"))
    })
}

fn target(file: &str) -> Target {
    match file {
        "-" | "stdout" => Target::Stdout,
        file => Target::File(PathBuf::from(file)),
    }
}

/// The file it writes, if it writes one.
pub(super) fn file(config: &Config) -> Option<&Path> {
    if let Target::File(path) = &config.target { Some(path) } else { None }
}

/// Opens the outputs, which get these samples; `None` when there are none.
///
/// # Errors
/// 255 with the one that cannot be opened.
pub(in crate::run) fn start(
    cx: &Context,
    configs: &[Config],
    samples: Samples,
    prepared: &Prepared,
) -> Result<Option<Outputs>, Failure> {
    if configs.is_empty() { Ok(None) } else { open(cx, configs, samples, prepared).map(Some) }
}

/// The same where there are some.
///
/// # Errors
/// 255 with the one that cannot be opened.
pub(in crate::run) fn open(
    cx: &Context,
    configs: &[Config],
    samples: Samples,
    prepared: &Prepared,
) -> Result<Outputs, Failure> {
    let enabled = prepared.test.settings.system_tags.iter().filter_map(SystemTag::from_str).collect();
    let terminal = cx.terminal.clone();
    let stdout = move || -> Box<dyn io::Write + Send> { Box::new(Stdout(terminal.clone())) };
    let logger = cx.logger.clone();
    let failed = move |kind: &str, path: &str, error: String| {
        let fields = vec![("error", error), ("filename", path.to_owned()), ("output", kind.to_owned())];
        logger.log(Level::Error, "an output failed and gets no more samples; the test goes on", fields);
    };
    let metrics = metrics(prepared);
    Outputs::start(configs, samples, metrics, enabled, &stdout, failed, &|config| tell(cx, config))
        .map_err(|error| Failure::other(error.to_string()))
}

/// Says in the log how it goes with an output of messages.
fn tell(cx: &Context, config: &Config) -> Tell {
    #[cfg(feature = "kafka")]
    if let Target::Kafka(target) = &config.target
        && target.is_silent
    {
        return Box::new(|_| {});
    }
    let (logger, receiver) = (cx.logger.clone(), config.to_string());
    Box::new(move |told| match told {
        Told::Failed(why) => logger.error(format!(
            "{receiver} takes nothing: {why}; what waits is sent again and again, as long as there is room for it"
        )),
        Told::Lost(why) | Told::Older(why) => {
            logger.error(format!("{receiver} refused samples, which it lacks: {why}"));
        }
        Told::Again { failed } => {
            logger.warn(format!("{receiver} takes what it is sent again, after {failed} attempts"));
        }
    })
}

/// What outputs say about each metric.
fn metrics(prepared: &Prepared) -> Vec<MetricInfo> {
    let registry: &Registry = &prepared.run.registry;
    let expected = SubMetric::expected_response(registry);
    let mut submetrics: Vec<&SubMetric> = prepared.thresholds.submetrics().iter().collect();
    if prepared.run.subscriptions.is_enabled(SystemTag::ExpectedResponse)
        && !submetrics.iter().any(|submetric| submetric.name == expected.name)
    {
        submetrics.push(&expected);
    }
    let thresholds = |name: &str| -> Vec<serde_json::Value> {
        let configs = prepared.test.options.thresholds.iter().flatten().filter(|(metric, _)| *metric == name);
        configs.flat_map(|(_, configs)| configs).filter_map(|config| serde_json::to_value(config).ok()).collect()
    };
    let info = registry.iter().map(|metric| {
        let own: Vec<&SubMetric> =
            submetrics.iter().copied().filter(|submetric| submetric.metric == metric.id).collect();
        MetricInfo::new(metric, &thresholds(&metric.name), &own)
    });
    info.collect()
}

/// Waits for the outputs and says what they lack. Returns how many samples are missing somewhere.
pub(in crate::run) fn finish(outputs: Outputs, logger: &Arc<Logger>, signals: Option<&Arc<Watch>>) -> u64 {
    let is_given_up = || signals.is_some_and(|signals| signals.is_given_up());
    let (mut waiting, since) = (Waiting::new(logger), Clock::now());
    let OutputReport { lost, failed, unfinished, late, undelivered } = outputs.finish(&mut |names| {
        waiting.look(names, || "for 30 s at most after it has taken something".to_owned());
        !is_given_up()
    });
    signals.iter().for_each(|signals| signals.has_waited(Clock::now().saturating_sub(since).as_duration()));
    if late > 0 {
        let message = format!(
            "{late} samples reached the coordinator more than a second late: in the outputs they stand behind later ones"
        );
        logger.log(Level::Info, message, Vec::new());
    }
    if lost > 0 {
        logger.warn(format!(
            "{lost} samples came faster than the outputs could be written, and are in none of them; the summary has them"
        ));
    }
    for (name, missing) in &failed {
        logger.warn(format!("the output {name} failed: it lacks {missing} samples or more"));
    }
    if let Some(samples) = unfinished {
        let why = if is_given_up() { "" } else { " took nothing for 30 s and" };
        logger.warn(format!("the outputs{why} were given up: they lack the last {samples} samples or more"));
    }
    let undelivered: u64 = undelivered.iter().map(|end| tell_undelivered(end, logger)).sum();
    lost + undelivered
        + failed.iter().map(|(_, missing)| missing).sum::<u64>()
        + unfinished.map_or(0, |samples| samples.max(1))
}

/// Says what somebody who takes messages lacks, or has twice. Returns how many are lacking.
fn tell_undelivered(end: &Undelivered, logger: &Logger) -> u64 {
    let Undelivered { name, of, lacking, unconfirmed, overflowed, unspeakable, repeated, why } = end;
    if *lacking > 0 {
        let parts = [
            (unconfirmed, "were sent without an answer, so they may be there"),
            (overflowed, "found no room while others waited"),
            (unspeakable, "have values that the format has no way to write"),
        ];
        let told: Vec<_> =
            parts.iter().filter(|(count, _)| **count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let told = if told.is_empty() { String::new() } else { format!(" (of these {})", told.join(", ")) };
        let why = why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        logger.error(format!("{name} lacks {lacking} of {of} samples{told}{why}"));
    }
    if *repeated > 0 {
        logger.warn(format!(
            "{name} may have {repeated} samples twice: the first answer did not come, and they were sent again"
        ));
    }
    *lacking
}
