//! `onrush capacity`: the highest load that holds its goals.
//!
//! The search itself is `onrush_analysis::capacity`. Each load is a run of its own, in a process of its own: whatever a load
//! does to a script or to the generator, the next one starts afresh.

mod report;
mod slo;
mod trial;

use std::{fs, path::PathBuf, time::Duration};

use onrush_analysis::capacity::{End, Found, Search, Step, Trial, next};
use onrush_session::ExitCode;
use serde::{Deserialize, Serialize};

use self::{
    slo::Slo,
    trial::{Bench, Figures, Kind, absolute},
};
use crate::{
    args::RunArgs,
    context::Context,
    failure::Failure,
    run::{Ready, config_file::ConfigFile, ready},
    tools::child,
};

/// What is tried if nobody says otherwise.
const START: f64 = 10.0;
const RATE_MAX: f64 = 100_000.0;
const STEP: Duration = Duration::from_secs(20);
const WARM_UP: Duration = Duration::from_secs(5);
const PRECISION: f64 = 0.05;
/// VUs a rate may take at most.
const VUS_MAX: u64 = 50_000;
/// Flags of `run` that a trial has of its own.
const OWN_FLAGS: [&str; 20] = [
    "address",
    "duration",
    "iterations",
    "json",
    "linger",
    "max-rate",
    "max-vus",
    "open",
    "out",
    "paused",
    "precision",
    "quiet",
    "slo",
    "stage",
    "start",
    "state",
    "step",
    "summary-export",
    "vus",
    "warm-up",
];

/// A load and what it came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Tried {
    #[serde(flatten)]
    trial: Trial,
    figures: Figures,
}

/// What `--state` keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State {
    version: u32,
    /// What was searched for: another search cannot go on from it.
    search: String,
    trials: Vec<Tried>,
}

/// Searches.
///
/// # Errors
/// As `run` before its start; 255 for trials that cannot be run.
pub(crate) fn capacity(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let [file] = files else {
        return Err(Failure::other(format!("onrush capacity takes a script, not {} files", files.len()))
            .hint("onrush capacity --slo 'http_req_duration p(95)<200' script.js"));
    };
    let script = absolute(file)?;
    let config = ConfigFile::read(cx)?;
    let args = RunArgs::new(&cx.flags, &config, files)?;
    let ready = ready(cx, config, &args)?;
    let slos: Vec<Slo> = cx
        .flags
        .values("slo")
        .iter()
        .map(|text| Slo::parse(text, &ready.prepared.run.registry))
        .collect::<Result<_, _>>()?;
    if slos.is_empty() {
        return Err(Failure::other("onrush capacity needs goals that a load has to hold")
            .hint("--slo 'http_req_duration p(95)<200' --slo 'http_req_failed rate<0.01'"));
    }
    let (search, bench) = wanted(cx, script, slos, &ready)?;
    let mut state = State::open(cx, &search, &bench)?;
    let is_json = cx.flags.switch("json")?.unwrap_or(false);
    let tell = |text: String| if is_json { cx.logger.info(text.trim()) } else { cx.terminal.stdout(text) };
    if !is_json {
        tell(report::heading(&bench, &search, state.trials.len()));
    }
    let found = loop {
        let trials: Vec<Trial> = state.trials.iter().map(|tried| tried.trial).collect();
        let (load, purpose) = match next(&search, &trials) {
            Step::Done(found) => break found,
            Step::Try(load, purpose) => (load, purpose),
        };
        let (outcome, figures) = bench.tries(load)?;
        let tried = Tried { trial: Trial { load, purpose, outcome }, figures };
        tell(report::row(&bench, &tried));
        state.trials.push(tried);
        state.keep(cx)?;
    };
    cx.terminal.stdout(match is_json {
        true => format!("{:#}\n", report::to_json(&bench, &found, &state.trials)),
        false => report::text(&bench, &found, &state.trials),
    });
    Ok(code(&found))
}

fn code(found: &Found) -> ExitCode {
    match found.end {
        End::Found | End::Unbroken => ExitCode::Success,
        End::GeneratorLimit | End::TooNoisy => ExitCode::MeasurementRefused,
        End::Broken | End::NotRecovered => ExitCode::ThresholdsHaveFailed,
    }
}

fn wanted(cx: &Context, script: PathBuf, slos: Vec<Slo>, ready: &Ready) -> Result<(Search, Bench), Failure> {
    let (flags, prepared) = (&cx.flags, &ready.prepared);
    let number = |name: &str| -> Result<Option<f64>, Failure> {
        let Some(text) = flags.text(name) else { return Ok(None) };
        let number = text.parse::<f64>().ok().filter(|number| (1.0..=1e9).contains(number));
        let wrong = || Failure::other(format!("invalid --{name} \"{text}\"")).hint("use a number of 1 or more");
        number.map(|number| Some(number.round())).ok_or_else(wrong)
    };
    let time = |name: &str, usual: Duration| -> Result<Duration, Failure> {
        let Some(text) = flags.text(name) else { return Ok(usual) };
        let parsed = onrush_plan::parse_go_duration(&text).ok().and_then(|time| u64::try_from(time.ns()).ok());
        let wrong = || Failure::other(format!("invalid --{name} \"{text}\"")).hint("use a duration, such as 20s");
        parsed.map(Duration::from_nanos).ok_or_else(wrong)
    };
    let (max_rate, max_vus) = (number("max-rate")?, number("max-vus")?);
    let (kind, max) = match (max_rate, max_vus) {
        (Some(_), Some(_)) => {
            return Err(Failure::other(
                "--max-rate searches for a rate, --max-vus for a number of VUs: give one of them",
            ));
        }
        (_, Some(vus)) => (Kind::Vus, vus),
        (rate, None) => (Kind::Rate, rate.unwrap_or(RATE_MAX)),
    };
    let precision = match flags.text("precision") {
        None => PRECISION,
        Some(text) => {
            let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
            let wrong =
                || Failure::other(format!("invalid --precision \"{text}\"")).hint("use a percentage from 0.1% to 50%");
            percent.filter(|percent| (0.1..=50.0).contains(percent)).ok_or_else(wrong)? / 100.0
        }
    };
    let step = time("step", STEP)?;
    if step < Duration::from_secs(1) {
        return Err(Failure::other("--step is too short to measure anything: use 1s or more"));
    }
    let warm_up = time("warm-up", WARM_UP)?;
    // As of all scenarios.
    if warm_up > Duration::ZERO && warm_up < Duration::from_secs(1) {
        return Err(Failure::other("--warm-up is 0s, or 1s and more"));
    }
    let exec =
        prepared.plan.scenarios.first().map_or_else(|| "default".to_owned(), |first| first.scenario.exec.clone());
    let lifecycle = prepared.lifecycle;
    let search = Search { start: number("start")?.unwrap_or(START).min(max), max, precision, is_whole: true };
    let bench = Bench {
        kind,
        script,
        fingerprint: ready.fingerprint(),
        exec,
        lifecycle: [("setup", lifecycle.setup), ("teardown", lifecycle.teardown)]
            .into_iter()
            .filter_map(|(name, is_there)| is_there.then_some(name))
            .collect(),
        slos,
        warm_up,
        step,
        vus_max: number("vus")?.map_or(VUS_MAX, |vus| vus as u64),
        flags: child::given(flags, &OWN_FLAGS),
    };
    Ok((search, bench))
}

impl State {
    /// What was kept of the same search, or an empty one.
    fn open(cx: &Context, search: &Search, bench: &Bench) -> Result<Self, Failure> {
        let slos: Vec<&str> = bench.slos.iter().map(|slo| slo.text.as_str()).collect();
        let Search { start, max, precision, .. } = search;
        let wanted = format!(
            "{} {}: {} from {start} to {max} within {precision}, {:?} after {:?}",
            bench.fingerprint,
            slos.join(", "),
            match bench.kind {
                Kind::Rate => "rate",
                Kind::Vus => "VUs",
            },
            bench.step,
            bench.warm_up
        );
        let new = Self { version: 1, search: wanted, trials: Vec::new() };
        let Some(path) = cx.flags.text("state") else { return Ok(new) };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(new),
            Err(error) => return Err(Failure::other(format!("cannot read --state {path}: {error}"))),
        };
        let known: Self = serde_json::from_str(&text)
            .map_err(|error| Failure::other(format!("--state {path} is no state of a search: {error}")))?;
        if (known.version, &known.search) != (new.version, &new.search) {
            return Err(Failure::other(format!("--state {path} is of another search: {}", known.search))
                .hint("remove it to begin anew, or ask for the same as then"));
        }
        Ok(known)
    }

    /// After each trial: a search that is cut loses the trial under way.
    fn keep(&self, cx: &Context) -> Result<(), Failure> {
        let Some(path) = cx.flags.text("state") else { return Ok(()) };
        let write = || -> std::io::Result<()> {
            let text = serde_json::to_string_pretty(self)?;
            let beside = format!("{path}.new");
            fs::write(&beside, text + "\n")?;
            fs::rename(&beside, &path)
        };
        write().map_err(|error| Failure::other(format!("cannot write --state {path}: {error}")))
    }
}
