//! `--out`: which outputs were asked for, and their start and end.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use onrush_metrics::{Registry, SubMetric, SystemTag};
use onrush_output::{Config, Kind, MetricInfo, OutputReport, Outputs, Samples, Share, Target, TimeFormat};

use super::{otel, prepare::Prepared, prometheus, pushed, result_file::ResultFile};
use crate::{
    context::Context,
    failure::Failure,
    flags::Flags,
    log::{Level, Logger},
    terminal::Stdout,
};

/// The outputs there are.
const AVAILABLE: &str =
    "csv, experimental-opentelemetry, experimental-prometheus-rw, json, junit, opentelemetry, prometheus-rw, result";

/// Outputs of k6 that this version lacks.
const OF_K6: [&str; 8] =
    ["cloud", "datadog", "influxdb", "kafka", "prometheus", "statsd", "timescaledb", "web-dashboard"];

/// The default file of the result output.
const RESULT_FILE: &str = "result.onrush";
/// The default file of the JUnit report.
const JUNIT_FILE: &str = "junit.xml";
/// k6's default file of the csv output.
const CSV_FILE: &str = "file.csv";
/// k6's default of `saveInterval`.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// The outputs that were asked for.
#[derive(Default)]
pub(crate) struct Wanted {
    /// Of single samples.
    pub(super) raw: Vec<Config>,
    /// Result files.
    pub(super) results: Vec<PathBuf>,
    /// Prometheus servers.
    pub(super) prometheus: Vec<onrush_output::prometheus::Config>,
    /// Receivers of OpenTelemetry.
    pub(super) opentelemetry: Vec<onrush_output::otlp::Config>,
    /// JUnit reports.
    pub(super) junit: Vec<PathBuf>,
}

/// The outputs of a run under way.
pub(super) struct Running {
    /// Of single samples of this process or of all agents.
    pub(super) raw: Option<Outputs>,
    /// Result files.
    pub(super) results: Vec<ResultFile>,
    /// Outputs to servers.
    pub(super) pushed: Vec<pushed::Output>,
    /// Traces of this process.
    pub(super) traces: Option<otel::traces::Running>,
    /// Whether a JUnit report is wanted at the end.
    pub(super) junit: bool,
}

impl Wanted {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.raw.is_empty() && self.results.is_empty() && !self.has_series() && self.junit.is_empty()
    }

    /// Whether some want whole time series.
    pub(super) fn has_series(&self) -> bool {
        !self.prometheus.is_empty() || !self.opentelemetry.is_empty()
    }

    /// What the execution block says.
    pub(super) fn described(&self) -> String {
        if self.is_empty() {
            return "-".to_owned();
        }
        let results = self.results.iter().map(|path| format!("result ({})", path.display()));
        let prometheus = self.prometheus.iter().map(prometheus::described);
        let opentelemetry = self.opentelemetry.iter().map(otel::metrics::described);
        let junit = self.junit.iter().map(|path| format!("junit ({})", path.display()));
        self.raw
            .iter()
            .map(Config::to_string)
            .chain(results)
            .chain(prometheus)
            .chain(opentelemetry)
            .chain(junit)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The files that are written.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let raw = self.raw.iter().filter_map(|config| match &config.target {
            Target::File(path) => Some(path.as_path()),
            Target::Stdout => None,
        });
        raw.chain(self.results.iter().chain(&self.junit).map(PathBuf::as_path))
    }
}

/// Reads the flags or, without any, `K6_OUT`, else takes those of the config file.
///
/// # Errors
/// 255, k6's texts where it has them.
pub(super) fn wanted(flags: &Flags, config_file: &[String]) -> Result<Wanted, Failure> {
    // k6: an empty text is as no flag.
    let mut specs: Vec<String> = flags.values("out").into_iter().filter(|spec| !spec.is_empty()).collect();
    if specs.is_empty() {
        // k6: the variable is one value that commas split, whatever is in it.
        let variable = flags.env.get("K6_OUT").filter(|value| !value.is_empty());
        specs = variable.into_iter().flat_map(|value| value.split(',').map(str::to_owned)).collect();
    }
    if specs.is_empty() {
        specs = config_file.to_vec();
    }
    let mut wanted = Wanted::default();
    for spec in &specs {
        match spec.split_once('=').unwrap_or((spec, "")) {
            ("result", "") => wanted.results.push(RESULT_FILE.into()),
            ("result", "-" | "stdout") => {
                return Err(Failure::other("the result output has no file").hint("name one: --out result=run.onrush"));
            }
            ("result", file) => wanted.results.push(file.into()),
            ("junit", "") => wanted.junit.push(JUNIT_FILE.into()),
            ("junit", "-" | "stdout") => {
                return Err(Failure::other("the junit output has no file").hint("name one: --out junit=report.xml"));
            }
            ("junit", file) => wanted.junit.push(file.into()),
            (name, argument) if prometheus::NAMES.contains(&name) => {
                wanted.prometheus.push(prometheus::config(argument, flags)?);
            }
            (name, argument) if otel::metrics::NAMES.contains(&name) => {
                wanted.opentelemetry.push(otel::metrics::config(argument, flags)?);
            }
            _ => wanted.raw.push(config(spec, flags)?),
        }
    }
    let files: Vec<&Path> = wanted.files().collect();
    if let Some((_, file)) = files.iter().enumerate().find(|(index, file)| files[..*index].contains(file)) {
        return Err(Failure::other(format!("two outputs would write the same file {}", file.display()))
            .hint("give each --out a file of its own"));
    }
    Ok(wanted)
}

/// Reads `--out-share`.
///
/// # Errors
/// 255 for what is no fraction.
pub(super) fn share(flags: &Flags) -> Result<Share, Failure> {
    let Some(text) = flags.text("out-share") else { return Ok(Share::ALL) };
    text.parse().ok().and_then(Share::new).ok_or_else(|| {
        Failure::other(format!("invalid --out-share \"{text}\""))
            .hint("use a fraction above 0 and at most 1: 0.1 writes the samples of one request in ten")
    })
}

fn config(spec: &str, flags: &Flags) -> Result<Config, Failure> {
    let (kind, argument) = spec.split_once('=').unwrap_or((spec, ""));
    let variable = |name: &str| flags.env.get(name).filter(|value| !value.is_empty()).cloned();
    match kind {
        "json" => {
            let file = Some(argument.to_owned()).filter(|file| !file.is_empty());
            let file = file.or_else(|| variable("K6_JSON_FILENAME")).unwrap_or_else(|| "-".to_owned());
            Ok(Config { kind: Kind::Json, target: target(&file) })
        }
        "csv" => csv(argument, &variable).map_err(|failure| Failure {
            message: format!("could not create the 'csv' output: {}", failure.message),
            ..failure
        }),
        _ if OF_K6.contains(&kind) => Err(Failure::other(format!(
            "the output '{kind}' of k6 is not available in this version of Onrush, available types are: {AVAILABLE}"
        ))
        .hint(format!("remove --out {spec} to run the test without it"))),
        _ => Err(Failure::other(format!("invalid output type '{kind}', available types are: {AVAILABLE}"))),
    }
}

fn csv(argument: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Config, Failure> {
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

/// Opens the outputs, which get these samples; `None` when there are none.
///
/// # Errors
/// 255 with the one that cannot be opened.
pub(super) fn start(
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
pub(super) fn open(
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
    Outputs::start(configs, samples, metrics, enabled, &stdout, failed)
        .map_err(|error| Failure::other(error.to_string()))
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
pub(super) fn finish(outputs: Outputs, logger: &Arc<Logger>) -> u64 {
    let OutputReport { lost, failed, unfinished, late } = outputs.finish();
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
        logger.warn(format!(
            "the outputs took nothing for 30 s and were given up: they lack the last {samples} samples or more"
        ));
    }
    lost + failed.iter().map(|(_, missing)| missing).sum::<u64>() + unfinished.map_or(0, |samples| samples.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flags: &[&str], env: &[(&str, &str)], expect: Result<&str, &str>) {
        let flags = Flags {
            by_name: [("out", flags.iter().map(|&flag| flag.to_owned()).collect())].into(),
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        let described = wanted(&flags, &["json=c.json".to_owned()])
            .map(|wanted| wanted.described())
            .map_err(|failure| failure.message);
        assert_eq!(described.as_deref().map_err(String::as_str), expect, "{flags:?} {env:?}");
    }

    #[test]
    fn what_is_asked_for() {
        check(&[], &[], Ok("json (c.json)"));
        check(&[""], &[("K6_OUT", "")], Ok("json (c.json)"));
        check(&["json=e.json", "csv=e.csv", "json"], &[], Ok("json (e.json), csv (e.csv), json(stdout)"));
        check(&["json=-", "csv=-"], &[], Ok("json(stdout), csv (-)"));
        check(&["csv"], &[], Ok("csv (file.csv)"));
        check(&["csv"], &[("K6_CSV_FILENAME", "d.csv"), ("K6_OUT", "json=x")], Ok("csv (d.csv)"));
        check(&["csv=fileName=b.csv.gz,saveInterval=2s,timeFormat=rfc3339"], &[], Ok("csv (b.csv.gz)"));
        check(&[], &[("K6_OUT", "json=a=b.json,csv=c.csv")], Ok("json (a=b.json), csv (c.csv)"));
        check(&["json"], &[("K6_JSON_FILENAME", "e.json")], Ok("json (e.json)"));
        check(
            &["foo"],
            &[],
            Err(
                "invalid output type 'foo', available types are: csv, experimental-opentelemetry, experimental-prometheus-rw, json, junit, opentelemetry, prometheus-rw, result",
            ),
        );
        check(
            &["=a"],
            &[],
            Err(
                "invalid output type '', available types are: csv, experimental-opentelemetry, experimental-prometheus-rw, json, junit, opentelemetry, prometheus-rw, result",
            ),
        );
        check(
            &["influxdb=http://x"],
            &[],
            Err(
                "the output 'influxdb' of k6 is not available in this version of Onrush, available types are: csv, experimental-opentelemetry, experimental-prometheus-rw, json, junit, opentelemetry, prometheus-rw, result",
            ),
        );
        check(
            &["csv=foo=1"],
            &[],
            Err("could not create the 'csv' output: unknown key \"foo\" as argument for csv output"),
        );
        check(
            &["csv=c.csv,timeFormat=unix"],
            &[],
            Err(
                "could not create the 'csv' output: couldn't parse \"c.csv,timeFormat=unix\" as argument for csv output",
            ),
        );
        check(&["csv=saveInterval=x"], &[], Err("could not create the 'csv' output: time: invalid duration \"x\""));
        check(
            &["csv=saveInterval=0s"],
            &[],
            Err("could not create the 'csv' output: saveInterval must be longer than \"0s\""),
        );
        check(
            &["csv"],
            &[("K6_CSV_TIME_FORMAT", "zz")],
            Err("could not create the 'csv' output: zz does not belong to TimeFormat values"),
        );
        check(&["csv=fileName="], &[], Err("could not create the 'csv' output: fileName must not be empty"));
        check(&["csv=x", "json=x"], &[], Err("two outputs would write the same file x"));
        check(&["result=x", "json=x"], &[], Err("two outputs would write the same file x"));
        check(&["result", "json"], &[], Ok("json(stdout), result (result.onrush)"));
        check(&["result=a=b"], &[], Ok("result (a=b)"));
        check(&["junit", "junit=b"], &[], Ok("junit (junit.xml), junit (b)"));
        check(&["junit=x", "result=x"], &[], Err("two outputs would write the same file x"));
        check(&["result=-"], &[], Err("the result output has no file"));
    }
}
