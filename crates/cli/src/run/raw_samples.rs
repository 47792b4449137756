//! `--out` in a run with agents: raw samples come to one file here, or stay in files of each agent (`--out-local`).

use std::{
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use onrush_agent::Test;
use onrush_cluster::{CoordinatorClock, Event, Reporter};
use onrush_metrics::Registry;
use onrush_output::{Collector, Config, Forward, Kind, Outputs, Samples, Share, Target, TimeFormat};
use onrush_secrets::Elsewhere;
use onrush_session::protocol::{MetricName, Report, ThreadSamples};
use serde_json::{Value, json};

use super::{outputs::raw, prepare::Prepared, secret_answers::SecretAnswers};
use crate::{context::Context, failure::Failure, log::Logger};

/// What becomes of agents' raw samples.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RawSamples {
    /// Nobody wants them.
    Unwanted,
    /// This part of them goes to the coordinator.
    Collected(Share),
    /// This part of them goes to files of each agent.
    Local(Share, Vec<Config>),
}

impl RawSamples {
    /// What `--out`, `--out-share` and `--out-local` ask for. `is_remote`: agents may be on other machines.
    ///
    /// # Errors
    /// 255 for files that agents cannot have.
    pub(super) fn new(configs: &[Config], share: Share, is_local: bool, is_remote: bool) -> Result<Self, Failure> {
        match (configs, is_local) {
            ([], true) => Err(Failure::other("--out-local needs an output whose file each agent writes")
                .hint("name one, such as --out json=samples.json, or remove --out-local")),
            ([], false) => Ok(Self::Unwanted),
            (_, false) => Ok(Self::Collected(share)),
            (configs, true) => {
                for config in configs {
                    let Target::File(path) = &config.target else {
                        return Err(Failure::other(format!("--out-local: {config} has no file"))
                            .hint("agents write files only: name one, or remove --out-local"));
                    };
                    if is_remote && !is_below(path) {
                        return Err(Failure::other(format!("--out-local: {config} is not below the agents' folder"))
                            .hint("use a name without / at its beginning and without .."));
                    }
                }
                Ok(Self::Local(share, configs.to_vec()))
            }
        }
    }

    /// As agents get it.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Unwanted => Value::Null,
            Self::Collected(share) => json!({ "share": share.fraction() }),
            Self::Local(share, configs) => {
                let files: Vec<Value> = configs.iter().filter_map(file).collect();
                json!({ "share": share.fraction(), "files": files })
            }
        }
    }

    /// Reads what [`RawSamples::to_json`] made; `None` for something else.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        if value.is_null() {
            return Some(Self::Unwanted);
        }
        let share = Share::new(value["share"].as_f64()?)?;
        match value.get("files") {
            None => Some(Self::Collected(share)),
            Some(files) => {
                let files = files.as_array()?.iter().map(config).collect::<Option<Vec<_>>>()?;
                Some(Self::Local(share, files))
            }
        }
    }

    /// Starts what takes the samples of this agent, and the test that makes them.
    ///
    /// # Errors
    /// 255 when a file cannot be opened.
    pub(super) fn start(self, cx: &Context, agent: u32, way: &Way, prepared: &Prepared) -> Result<Test, Failure> {
        let logger = cx.logger.clone();
        let scenarios = prepared.test.scenarios.clone().into();
        let (taps, finish): (_, Box<dyn FnOnce() -> u64 + Send>) = match self {
            Self::Unwanted => {
                return Ok(Test { engine: prepared.engine(None), scenarios, finish_outputs: None, stops: None });
            }
            Self::Collected(share) => {
                let (clock, reporter) = (way.clock.clone(), way.reporter.clone());
                let send = move |thread: usize, batch| {
                    let thread = u32::try_from(thread).unwrap_or(u32::MAX);
                    let samples = Box::new(ThreadSamples { thread, batch });
                    reporter.offer(samples).map_err(|samples| samples.batch)
                };
                let forward = Forward::start(share, move || clock.offset().ahead_ns, send)
                    .map_err(|error| Failure::other(error.to_string()))?;
                (forward.taps(), Box::new(move || finish(forward, agent, &logger)))
            }
            Self::Local(share, configs) => {
                let own = configs.into_iter().map(|config| of_agent(config, agent)).collect::<Vec<_>>();
                let outputs = raw::open(cx, &own, Samples::Own(share), prepared)?;
                (outputs.taps(), Box::new(move || raw::finish(outputs, &logger, None)))
            }
        };
        Ok(Test { engine: prepared.engine(Some(taps)), scenarios, finish_outputs: Some(finish), stops: None })
    }
}

/// The way from an agent to its coordinator.
pub(crate) struct Way {
    pub(crate) reporter: Reporter,
    pub(crate) clock: CoordinatorClock,
    /// Asks it for secrets.
    pub(crate) secrets: Arc<Elsewhere>,
}

/// Waits until the samples are sent, and says how many are not.
fn finish(forward: Forward, agent: u32, logger: &Logger) -> u64 {
    let lost = forward.finish();
    if lost > 0 {
        logger.warn(format!(
            "{lost} samples of agent {agent} came faster than they could be sent to the coordinator, and are in none of its outputs; the summary has them. Write a part of them (--out-share 0.1), or files of each agent (--out-local)"
        ));
    }
    lost
}

/// Takes out of what agents report what is not for the loop of the run: raw samples, which would keep it busy, and questions
/// for secrets.
pub(super) struct Intake {
    collector: Option<Mutex<Collector>>,
    registry: Registry,
    secrets: SecretAnswers,
}

impl Intake {
    pub(super) fn new(outputs: Option<&Outputs>, registry: &Registry, secrets: SecretAnswers) -> Self {
        let collector = outputs.map(|outputs| Mutex::new(outputs.collector()));
        Self { collector, registry: registry.clone(), secrets }
    }

    /// Whatever is for the loop.
    pub(super) fn take(&self, event: Event) -> Option<Event> {
        let Event::Report { from, report, ticket } = event else { return Some(event) };
        let collector = self.collector.as_ref().map(|own| own.lock().unwrap_or_else(PoisonError::into_inner));
        match report {
            Report::Samples(samples) => {
                let ThreadSamples { thread, batch } = *samples;
                // Nobody asked for those that nobody collects.
                if let Some(mut own) = collector {
                    own.take(from.0, thread, batch);
                }
                return None;
            }
            Report::SecretWanted(wanted) => {
                self.secrets.take(from, wanted);
                return None;
            }
            Report::Accepted(ref accepted) => {
                let known = |metric: &MetricName| self.registry.lookup(&metric.name);
                if let Some(mut own) = collector {
                    own.know(from.0, accepted.metrics.iter().map(known).collect());
                }
            }
            _ => {}
        }
        Some(Event::Report { from, report, ticket })
    }
}

/// The file of one agent: `samples.json.gz` is `samples.agent-3.json.gz`.
fn of_agent(config: Config, agent: u32) -> Config {
    let Target::File(path) = &config.target else { return config };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The first character may be a dot that begins no extension.
    let dot = name.char_indices().skip(1).find(|(_, char)| *char == '.').map_or(name.len(), |(at, _)| at);
    let (stem, extension) = name.split_at(dot);
    Config { target: Target::File(path.with_file_name(format!("{stem}.agent-{agent}{extension}"))), ..config }
}

/// Below the folder it is relative to.
fn is_below(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
}

fn file(config: &Config) -> Option<Value> {
    let Target::File(path) = &config.target else { return None };
    let path = path.to_string_lossy();
    Some(match &config.kind {
        Kind::Json => json!({ "json": path }),
        Kind::Csv { time, save_interval } => {
            let (name, _) = TimeFormat::NAMES.iter().find(|(_, format)| format == time)?;
            json!({ "csv": path, "time": name, "save_interval_ns": u64::try_from(save_interval.as_nanos()).ok()? })
        }
        // They are in no file.
        Kind::Messages(_) => return None,
    })
}

fn config(value: &Value) -> Option<Config> {
    let target = |name: &str| Some(Target::File(PathBuf::from(value[name].as_str()?)));
    if let Some(target) = target("json") {
        return Some(Config { kind: Kind::Json, target });
    }
    let time = TimeFormat::parse(value["time"].as_str()?)?;
    let save_interval = Duration::from_nanos(value["save_interval_ns"].as_u64()?);
    Some(Config { kind: Kind::Csv { time, save_interval }, target: target("csv")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json_to(path: &str) -> Config {
        Config { kind: Kind::Json, target: Target::File(PathBuf::from(path)) }
    }

    #[test]
    fn what_agents_get_is_what_was_asked_for() {
        let csv = |time| Config {
            kind: Kind::Csv { time, save_interval: Duration::from_millis(1_500) },
            target: Target::File(PathBuf::from("a,b=c.csv.gz")),
        };
        let part = Share::new(0.1).expect("a part");
        let formats = TimeFormat::NAMES.map(|(_, format)| csv(format));
        for wanted in [
            RawSamples::Unwanted,
            RawSamples::Collected(Share::ALL),
            RawSamples::Collected(part),
            RawSamples::Local(part, [&[json_to("out.json")][..], &formats].concat()),
        ] {
            assert_eq!(RawSamples::from_json(&wanted.to_json()), Some(wanted));
        }
        for wrong in [json!({}), json!({ "share": 2 }), json!({ "share": 1, "files": [{}] }), json!([])] {
            assert_eq!(RawSamples::from_json(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_agent_has_files_of_its_own() {
        let check = |path: &str, expect: &str| {
            assert_eq!(of_agent(json_to(path), 12).target, Target::File(PathBuf::from(expect)));
        };
        check("samples.json", "samples.agent-12.json");
        check("a.b/samples.csv.gz", "a.b/samples.agent-12.csv.gz");
        check(".hidden.json", ".hidden.agent-12.json");
        check("/tmp/samples", "/tmp/samples.agent-12");
    }

    #[test]
    fn files_that_agents_cannot_have_are_refused() {
        let local = |configs: &[Config], is_remote| {
            RawSamples::new(configs, Share::ALL, true, is_remote).map(drop).map_err(|failure| failure.message)
        };
        assert_eq!(local(&[json_to("a/b.json")], true), Ok(()));
        assert_eq!(local(&[json_to("/tmp/b.json")], false), Ok(()));
        for outside in ["/tmp/b.json", "../b.json", "a/../../b.json"] {
            let error = local(&[json_to(outside)], true).expect_err("not below");
            assert!(error.contains("is not below the agents' folder"), "{error}");
        }
        let stdout = Config { kind: Kind::Json, target: Target::Stdout };
        assert!(local(&[stdout], false).expect_err("no file").contains("has no file"));
        assert!(local(&[], false).expect_err("nothing").contains("--out-local needs an output"));
    }
}
