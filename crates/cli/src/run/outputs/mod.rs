//! `--out`: which outputs were asked for, their start and their end.
//!
//! An output is a file here and a row of [`KINDS`]. Those of single samples (`raw`) go where the samples are made, so they are
//! known as configurations; all others are an [`Output`], which gets what all agents measured together.

mod asked;
mod at_end;
mod cases;
mod code_quality;
mod delivered;
mod folded;
pub(super) mod github;
mod influxdb;
mod junit;
#[cfg(feature = "kafka")]
mod kafka;
mod markdown;
pub(super) mod otel;
mod output;
mod place;
mod postgres;
mod prometheus;
pub(super) mod raw;
mod result;
mod seconds;
mod statsd;
mod summary_csv;
mod summary_json;
mod waiting;

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_output::{Config, Kind, Outputs};

use self::{
    asked::Asked,
    output::{Output, Wish},
    waiting::Waiting,
};
pub(super) use self::{
    delivered::counts,
    output::{Delivery, Finished, Started, Starting},
    result::fingerprint,
};
use super::{
    config_file::ConfigFile,
    prepare::Readers,
    view::{Dashboard, View},
};
use crate::{failure::Failure, flags::Flags, masked, tools::result as kept_runs};

/// Reads the options of an output.
type Read = fn(&Asked<'_>) -> Result<Wish, Failure>;

/// The outputs there are: their names, and what reads the options of one.
const KINDS: &[(&[&str], Read)] = &[
    (&["code-quality"], code_quality::read),
    (&["csv"], raw::csv),
    (&["datadog"], statsd::read_datadog),
    (&["influxdb"], influxdb::read_v1),
    (&["json"], raw::json),
    (&["junit"], junit::read),
    (&["kafka", "xk6-kafka"], kafka),
    (&["markdown"], markdown::read),
    (&["opentelemetry", "experimental-opentelemetry"], otel::metrics::read),
    (&["postgres", "timescaledb"], postgres::read),
    (&["prometheus-rw", "experimental-prometheus-rw"], prometheus::read),
    (&["result"], result::read),
    (&["statsd"], statsd::read_statsd),
    (&["summary-csv"], summary_csv::read),
    (&["summary-json"], summary_json::read),
    (&["web-dashboard", "dashboard"], dashboard),
    (&["xk6-influxdb"], influxdb::read_v2),
];

/// Outputs of k6 that this version may lack.
const OF_K6: [&str; 6] = ["cloud", "datadog", "influxdb", "prometheus", "statsd", "timescaledb"];

/// The outputs of a run under way.
pub(super) struct Running<'a> {
    /// Of single samples of this process or of all agents.
    pub(super) raw: Option<Outputs>,
    /// Of what all agents measured together.
    pub(super) folded: &'a mut [Box<dyn Started>],
    /// Dashboard and HTML reports.
    pub(super) view: Option<View>,
    /// The traces, if this process makes the spans.
    pub(super) traces: Option<otel::traces::Running>,
}

/// The outputs that were asked for.
#[derive(Default)]
pub(crate) struct Wanted {
    /// Those of `--out`, as they were asked for.
    specs: Vec<String>,
    /// Of single samples.
    pub(super) raw: Vec<Config>,
    /// Of what all agents measured together.
    folded: Vec<Box<dyn Output>>,
    /// The web dashboard.
    pub(super) dashboard: Option<Dashboard>,
    /// HTML reports.
    pub(super) reports: Vec<PathBuf>,
    /// The result file of `--keep`.
    kept: Option<PathBuf>,
}

impl Wanted {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.raw.is_empty() && self.folded.is_empty() && self.dashboard.is_none() && self.reports.is_empty()
    }

    /// What the execution block says.
    pub(super) fn described(&self) -> String {
        if self.is_empty() {
            return "-".to_owned();
        }
        let folded = self.folded.iter().map(|output| output.described());
        // Where it is follows once that is known.
        let dashboard = self.dashboard.iter().map(|_| "web-dashboard".to_owned());
        let reports = self.reports.iter().map(|path| format!("report ({})", path.display()));
        let all = self.raw.iter().map(Config::to_string).chain(folded).chain(dashboard).chain(reports);
        all.collect::<Vec<_>>().join(", ")
    }

    /// Whether some of what was measured goes to somebody else while the run lasts: it cannot be written anew.
    pub(super) fn leave_the_machine(&self) -> bool {
        self.dashboard.is_some()
            || self.folded.iter().any(|output| output.file().is_none())
            || self.raw.iter().any(|config| matches!(config.kind, Kind::Messages(_)))
    }

    /// The files that are written.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let folded = self.folded.iter().filter_map(|output| output.file());
        self.raw.iter().filter_map(raw::file).chain(folded).chain(self.reports.iter().map(PathBuf::as_path))
    }

    /// Those that are opened only when the run is over, and the flags that ask for them.
    pub(super) fn files_of_the_end(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let outputs = self.folded.iter().filter(|output| output.is_of_the_end()).filter_map(|output| output.file());
        let reports = self.reports.iter().map(|path| ("--report", path.as_path()));
        outputs.map(|path| ("--out", path)).chain(reports)
    }

    /// The first one that is more than a file of results, and why a coordinator that serves runs does not write it.
    pub(super) fn stays_here(&self) -> Option<(String, &'static str)> {
        const DELIVERED: &str = "what lets it in there stays on this machine";
        if let Some(raw) = self.raw.first() {
            let is_file = raw::file(raw).is_some();
            let why = if is_file { "it may be larger than what is kept for whoever sends a test" } else { DELIVERED };
            return Some((raw.to_string(), why));
        }
        if self.dashboard.is_some() {
            return Some(("web-dashboard".to_owned(), "its address would be one of the coordinator's machine"));
        }
        let elsewhere = self.folded.iter().find(|output| output.file().is_none())?;
        Some((elsewhere.described(), DELIVERED))
    }

    /// The flags that ask for the same elsewhere.
    pub(super) fn flags(&self) -> [(&'static str, Vec<String>); 2] {
        let kept = self.kept.iter().map(|path| format!("result={}", path.display()));
        let reports = self.reports.iter().map(|path| path.display().to_string());
        [("out", self.specs.iter().cloned().chain(kept).collect()), ("report", reports.collect())]
    }

    /// What they need of the samples.
    pub(super) fn readers(&self) -> Readers {
        let tags = self.dashboard.as_ref().map(|dashboard| dashboard.tags().to_vec());
        let view = tags.or_else(|| (!self.reports.is_empty()).then(Vec::new));
        let raw = Readers { raw: !self.raw.is_empty(), view, ..Readers::default() };
        self.folded.iter().map(|output| output.readers()).fold(raw, Readers::and)
    }

    /// Starts those of what all agents measured.
    ///
    /// # Errors
    /// 255 with the first one that cannot be started.
    pub(super) fn start(&self, starting: &Starting<'_>) -> Result<Vec<Box<dyn Started>>, Failure> {
        self.folded.iter().map(|output| output.start(starting)).collect()
    }
}

/// Reads the flags or, without any, `K6_OUT`, else takes those of the config file.
///
/// # Errors
/// 255, k6's texts where it has them.
pub(super) fn wanted(flags: &Flags, config_file: &ConfigFile, script: &str) -> Result<Wanted, Failure> {
    // k6: an empty text is as no flag.
    let mut specs: Vec<String> = flags.values("out").into_iter().filter(|spec| !spec.is_empty()).collect();
    if specs.is_empty() {
        // k6: the variable is one value that commas split, whatever is in it.
        let variable = flags.env.get("K6_OUT").filter(|value| !value.is_empty());
        specs = variable.into_iter().flat_map(|value| value.split(',').map(str::to_owned)).collect();
    }
    if specs.is_empty() {
        specs.clone_from(&config_file.out);
    }
    let mut wanted = Wanted::default();
    for spec in &specs {
        let (name, argument) = spec.split_once('=').unwrap_or((spec, ""));
        let Some((names, read)) = KINDS.iter().find(|(names, _)| names.contains(&name)) else {
            return Err(unknown(name));
        };
        match read(&Asked::new(names, argument, flags, &config_file.collectors))? {
            Wish::Raw(config) => wanted.raw.push(config),
            Wish::Folded(output) => wanted.folded.push(output),
            Wish::Dashboard(dashboard) => wanted.dashboard = Some(dashboard),
        }
    }
    let opens = flags.switch("open")?.unwrap_or(false);
    if wanted.dashboard.is_none() && (opens || Dashboard::is_on(flags)?.unwrap_or(config_file.dashboard)) {
        wanted.dashboard = Some(Dashboard::read("", flags)?);
    }
    let report = flags.text("report").filter(|path| !path.is_empty()).map(PathBuf::from);
    let of_dashboard = wanted.dashboard.as_ref().and_then(Dashboard::report);
    wanted.reports = report.into_iter().chain(of_dashboard).collect();
    // The flag and k6's variable may well name the same.
    wanted.reports.dedup();
    if flags.switch("keep")?.unwrap_or(false) {
        let place = kept_runs::place(&flags.env, script)?;
        wanted.kept = Some(place.clone());
        wanted.folded.push(result::kept(place));
    }
    wanted.specs = specs;
    let others = files_besides(flags);
    let files: Vec<&Path> = wanted.files().chain(others.iter().map(PathBuf::as_path)).collect();
    if let Some((_, file)) = files.iter().enumerate().find(|(index, file)| files[..*index].contains(file)) {
        return Err(Failure::other(format!("two outputs would write the same file {}", file.display()))
            .hint("give each --out, --report, --summary-export, --console-output and --log-output a file of its own"));
    }
    let is_script = |file: &&Path| {
        let same = |path: &Path| std::fs::canonicalize(path).ok();
        same(file).is_some_and(|file| Some(file) == same(Path::new(script)))
    };
    if let Some(file) = files.iter().copied().find(is_script) {
        return Err(Failure::other(format!("an output would be written over the script {}", file.display()))
            .hint("give it another file"));
    }
    Ok(wanted)
}

/// Files that are written because of other flags than `--out` and `--report`. The log and the console may share one.
fn files_besides(flags: &Flags) -> Vec<PathBuf> {
    let log = flags.text("log-output");
    let log = log.as_deref().and_then(|text| text.strip_prefix("file=")).and_then(|rest| rest.split(',').next());
    let console = flags.text("console-output").filter(|path| Some(path.as_str()) != log);
    let all = [flags.text("summary-export"), console, log.map(str::to_owned)].into_iter().flatten();
    let all = all.filter(|path| !path.is_empty() && path != "-").map(PathBuf::from);
    // A pipe or a terminal takes what everybody writes.
    all.filter(|path| std::fs::metadata(path).map_or(true, |about| about.is_file())).collect()
}

/// `web-dashboard`, with its own kind of options.
fn dashboard(asked: &Asked<'_>) -> Result<Wish, Failure> {
    Dashboard::read(asked.argument_or_empty(), asked.flags).map(Wish::Dashboard)
}

/// `kafka`, in builds that have it.
fn kafka(asked: &Asked<'_>) -> Result<Wish, Failure> {
    #[cfg(feature = "kafka")]
    return kafka::read(asked);
    #[cfg(not(feature = "kafka"))]
    asked.naming(Err(Failure::other("this build of Onrush has no Kafka").hint("build it with the cargo feature kafka")))
}

fn unknown(name: &str) -> Failure {
    let available = available();
    if !OF_K6.contains(&name) {
        let name = masked::address(name);
        return Failure::other(format!("invalid output type '{name}', available types are: {available}"));
    }
    Failure::other(format!(
        "the output '{name}' of k6 is not available in this version of Onrush, available types are: {available}"
    ))
    .hint(format!("remove --out {name} to run the test without it"))
}

/// The names of all outputs, for people.
fn available() -> String {
    let mut names: Vec<&str> = KINDS.iter().flat_map(|(names, _)| names.iter().copied()).collect();
    names.sort_unstable();
    names.join(", ")
}

/// Has outputs and traces bring the rest to their receivers, all at the same time: one that waits for its receiver holds up no other.
/// Returns what receivers lack, a sentence each.
pub(super) fn deliver(
    outputs: &mut [Box<dyn Started>],
    traces: Option<otel::traces::Running>,
    delivery: &Delivery<'_>,
) -> Vec<String> {
    /// How often is looked whether there is something to say.
    const LOOKS: Duration = Duration::from_millis(100);
    let Delivery { logger, patience, .. } = *delivery;
    let (done, ended) = channel();
    let mut receivers: Vec<Option<String>> = outputs.iter().map(|output| output.receiver()).collect();
    receivers.push(traces.as_ref().map(otel::traces::Running::receiver));
    std::thread::scope(|scope| {
        let ends: Vec<_> = outputs
            .iter_mut()
            .enumerate()
            .map(|(index, output)| {
                let done = done.clone();
                scope.spawn(move || {
                    let lacking = output.deliver(delivery);
                    let _ = done.send(index);
                    lacking
                })
            })
            .collect();
        if let Some(traces) = traces {
            let (done, index) = (done.clone(), ends.len());
            scope.spawn(move || {
                traces.finish(logger, patience);
                let _ = done.send(index);
            });
        }
        drop(done);
        let mut waiting = Waiting::new(logger);
        loop {
            match ended.recv_timeout(LOOKS) {
                Ok(index) => receivers[index] = None,
                Err(RecvTimeoutError::Timeout) => {
                    let names: Vec<String> = receivers.iter().flatten().cloned().collect();
                    let left = patience.until.saturating_sub(Clock::now()).as_duration().as_secs();
                    waiting.look(&names, || format!("for {left} s at most"));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        ends.into_iter().filter_map(|end| end.join().ok().flatten()).collect()
    })
}

/// Ends outputs, all at the same time: one whose disk is slow holds up no other. Returns whether the exit code may be that of success.
pub(super) fn finish(outputs: Vec<Box<dyn Started>>, finished: &Finished<'_>) -> bool {
    std::thread::scope(|scope| {
        let ends: Vec<_> = outputs.into_iter().map(|output| scope.spawn(move || output.finish(finished))).collect();
        // Every one is waited for.
        let are_whole: Vec<bool> = ends.into_iter().map(|end| end.join().unwrap_or(false)).collect();
        are_whole.into_iter().all(|is_whole| is_whole)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flags: &[&str], env: &[(&str, &str)], expect: Result<&str, &str>) {
        let flags = Flags {
            by_name: [("out", flags.iter().map(|&flag| flag.to_owned()).collect())].into(),
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        let config_file = ConfigFile { out: vec!["json=c.json".to_owned()], ..ConfigFile::default() };
        let described =
            wanted(&flags, &config_file, "a.js").map(|wanted| wanted.described()).map_err(|failure| failure.message);
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
        check(&["foo"], &[], Err(&format!("invalid output type 'foo', available types are: {}", available())));
        check(&["=a"], &[], Err(&format!("invalid output type '', available types are: {}", available())));
        let lacking = "the output 'cloud' of k6 is not available in this version of Onrush, available types are: ";
        check(&["cloud"], &[], Err(&format!("{lacking}{}", available())));
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
        check(&["web-dashboard=port=0&report=a"], &[], Ok("web-dashboard, report (a)"));
        check(&["json"], &[("K6_WEB_DASHBOARD", "true")], Ok("json(stdout), web-dashboard"));
        check(&["json"], &[("K6_WEB_DASHBOARD", "false"), ("K6_WEB_DASHBOARD_EXPORT", "x")], Ok("json(stdout)"));
        check(&["json"], &[("K6_WEB_DASHBOARD", "maybe")], Err("invalid K6_WEB_DASHBOARD \"maybe\""));
        check(&["junit=x", "dashboard=report=x"], &[], Err("two outputs would write the same file x"));
    }

    #[test]
    fn no_other_flag_writes_into_the_file_of_an_output() {
        let check = |flag: &'static str, value: &str, expect: Option<&str>| {
            let by_name = [("out", vec!["result=x".to_owned()]), (flag, vec![value.to_owned()])].into();
            let flags = Flags { by_name, env: [].into() };
            let refused = wanted(&flags, &ConfigFile::default(), "Cargo.toml").err().map(|failure| failure.message);
            assert_eq!(refused.as_deref(), expect, "--{flag} {value}");
        };
        let same = Some("two outputs would write the same file x");
        check("summary-export", "x", same);
        check("console-output", "x", same);
        check("log-output", "file=x,level=info", same);
        check("summary-export", "y", None);
        check("log-output", "stdout", None);
        check("console-output", "/dev/null", None);
        let script = Some("an output would be written over the script Cargo.toml");
        check("summary-export", "Cargo.toml", script);
        check("console-output", "./Cargo.toml", Some("an output would be written over the script ./Cargo.toml"));
    }
}
