//! A test as agents get it: an archive of the script, and the settings that are no options.
//!
//! The bytes are known by their hash. They begin with the length of the settings (JSON), then these, then the archive.

use std::{collections::BTreeMap, sync::Arc};

use onrush_agent::Test;
use onrush_engine::Allowance;
use onrush_secrets::Secrets;
use onrush_session::protocol::{Failure as AgentFailure, FailureKind, Init};
use serde_json::{Value, json};

use super::{
    ConfigFile, Features, limit_bodies, load,
    outputs::{Wanted, otel},
    prepare,
    prepare::{Prepared, Readers},
    raw_samples::{RawSamples, Way},
    tiers,
};
use crate::{
    args::RunArgs,
    context::Context,
    failure::Failure,
    flags::{self, Flags},
    labels,
    line::Level,
    tools,
};

/// Settings that agents need as they were given.
const SETTINGS: [&str; 9] = [
    "no-thresholds",
    "summary-mode",
    "no-summary",
    "vu-memory-limit",
    "response-body-limit",
    "own-delay",
    "latency",
    "intended-latency",
    "traces-output",
];

/// Settings that a coordinator needs beside these, for a test that somebody sent.
const OF_COORDINATOR: [&str; 6] =
    ["summary-export", "new-machine-readable-summary", "on-agent-loss", "fail-on", "force", "quiet"];

/// Who gets a test.
#[derive(Clone, Copy)]
pub(super) enum Receiver<'a> {
    /// So many agents on this machine.
    AgentsHere(u32),
    /// Agents on other machines.
    Agents,
    /// A coordinator, which gives it to agents and has these outputs.
    Coordinator(&'a Wanted),
}

/// Packs a test.
///
/// # Errors
/// When a file cannot be in an archive.
pub(super) fn pack(
    cx: &Context,
    args: &RunArgs,
    prepared: &Prepared,
    receiver: Receiver<'_>,
    raw: &RawSamples,
) -> Result<Arc<[u8]>, Failure> {
    let flags = &cx.flags;
    let on_this_machine = match receiver {
        Receiver::AgentsHere(agents) => Some(agents),
        Receiver::Agents | Receiver::Coordinator(_) => None,
    };
    let (more, outputs): (&[&str], _) = match receiver {
        Receiver::Coordinator(outputs) => (&OF_COORDINATOR, Some(outputs.flags())),
        Receiver::AgentsHere(_) | Receiver::Agents => (&[], None),
    };
    let names = SETTINGS.iter().chain(more);
    let mut settings: BTreeMap<&str, Vec<String>> =
        names.filter_map(|name| Some((*name, vec![flags.text(name)?]))).collect();
    settings.extend(outputs.into_iter().flatten().filter(|(_, values)| !values.is_empty()));
    // Agents have the layout that their coordinator has found; one that gets the test finds it itself.
    if !matches!(receiver, Receiver::Coordinator(_)) || flags.text("vu-isolation").is_some() {
        settings.insert("vu-isolation", vec![prepared.isolation.isolation.as_str().to_owned()]);
    }
    if !prepared.features.is_empty() {
        settings.insert("features", vec![prepared.features.clone()]);
    }
    let threads = on_this_machine.map(|agents| prepared.threads_of_each(args, agents)).or(args.threads);
    settings.extend(threads.map(|threads| ("threads", vec![threads.to_string()])));
    // Only names: the sources stay here, and agents ask.
    let (names, default) = prepared.run.script.secrets.names();
    let mut head = json!({
        "file": args.script.file,
        "settings": settings,
        "verbose": cx.logger.level() == Level::Debug,
        "processes": on_this_machine.unwrap_or(1),
        "samples": raw.to_json(),
        "results": prepared.readers.results,
        "series": prepared.readers.series,
        "view": prepared.readers.view,
        "secrets": { "names": names, "default": default },
    });
    if let (Receiver::Coordinator(_), Some(file)) = (receiver, &args.replay) {
        // It was read and checked a moment ago.
        let journal = std::fs::read_to_string(file);
        head["replay"] =
            Value::from(journal.map_err(|error| Failure::other(format!("failed to read --replay {file}: {error}")))?);
    }
    let head = head.to_string();
    let archive = tools::pack(&prepared.run.script, &prepared.test, flags, true)?;
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(head.as_bytes());
    archive
        .write(&mut bytes)
        .map_err(|error| Failure::other(format!("failed to pack the test for its agents: {error}")))?;
    Ok(bytes.into())
}

/// A test that came from a coordinator.
pub(crate) struct Bundle {
    head: Value,
    archive: Arc<[u8]>,
}

impl Bundle {
    /// Reads what [`pack`] wrote.
    ///
    /// # Errors
    /// When it is something else.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Failure> {
        let wrong = || Failure::other("the coordinator sent something that is no test");
        let (length, rest) = bytes.split_first_chunk().ok_or_else(wrong)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok().ok_or_else(wrong)?;
        let (head, archive) = rest.split_at_checked(length).ok_or_else(wrong)?;
        Ok(Self { head: serde_json::from_slice(head).map_err(|_| wrong())?, archive: archive.into() })
    }

    /// The least level of lines that the coordinator shows.
    pub(crate) fn level(&self) -> Level {
        if self.head["verbose"] == Value::Bool(true) { Level::Debug } else { Level::Info }
    }

    /// The journal of the run it is steered by.
    pub(super) fn replay(&self) -> Option<&str> {
        self.head["replay"].as_str()
    }

    /// What an agent's engine is started with.
    ///
    /// # Errors
    /// What is wrong on this machine: the coordinator has run the init code already.
    pub(crate) fn prepare(&self, cx: &Context, init: &Init, way: &Way) -> Result<Test, AgentFailure> {
        let raw = RawSamples::from_json(&self.head["samples"]);
        let raw = raw.ok_or_else(|| Failure::other("the coordinator wants outputs that this agent does not know"));
        let test = raw.and_then(|raw| {
            let is_on = |name: &str| self.head[name] == Value::Bool(true);
            let texts = |tags: &Vec<Value>| tags.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            let readers = Readers {
                raw: raw != RawSamples::Unwanted,
                results: is_on("results"),
                series: is_on("series"),
                view: self.head["view"].as_array().map(texts),
            };
            let prepared = self.prepared(cx, init, self.secrets(cx, way), readers)?;
            let test = raw.start(cx, init.agent, way, &prepared)?;
            let traces = otel::traces::start(cx, otel::traces::wanted(&self.flags(&cx.flags))?)?;
            Ok(match traces {
                Some(traces) => traces.attached(test, cx.logger.clone()),
                None => test,
            })
        });
        test.map_err(|failure| {
            let hint = failure.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            AgentFailure::new(
                FailureKind::Engine,
                format!("agent {} cannot run the test: {}{hint}", init.agent, failure.message),
            )
        })
    }

    /// The coordinator's sources of secrets.
    fn secrets(&self, cx: &Context, way: &Way) -> Secrets {
        let sources = &self.head["secrets"];
        let names = sources["names"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let default = sources["default"].as_u64().and_then(|number| usize::try_from(number).ok());
        Secrets::elsewhere(names.collect(), default, &way.secrets, cx.logger.redactor())
    }

    /// The settings of a run of this test.
    ///
    /// # Errors
    /// For a value that cannot be used.
    pub(super) fn args(&self, flags: &Flags) -> Result<RunArgs, Failure> {
        let file = self.head["file"].as_str().unwrap_or("script.js").to_owned();
        let mut args = RunArgs::new(flags, &ConfigFile::default(), &[file])?;
        args.script.archive = Some(self.archive.clone());
        Ok(args)
    }

    fn prepared(&self, cx: &Context, init: &Init, secrets: Secrets, readers: Readers) -> Result<Prepared, Failure> {
        let tags = labels::tags(&labels::labels(&cx.flags)?, init.agent);
        let flags = self.flags(&cx.flags);
        let config = ConfigFile::default();
        let mut args = self.args(&flags)?;
        args.script.secrets = Some(Arc::new(secrets));
        let features = Features::read(&flags, &[])?;
        onrush_fiber::raise_fd_limit();
        let script = load::load(&args.script, &features, &flags, &cx.logger)?;
        let cx = Context { flags, logger: cx.logger.clone(), terminal: cx.terminal.clone(), look: cx.look };
        let feature_names = features.names();
        let mut test = tiers::consolidate(&cx, config, features, &script)?;
        let wrong = |error: onrush_plan::SegmentError| Failure::other(format!("the agent's share: {error}"));
        test.share = init.share().map_err(wrong)?;
        test.settings.tags.extend(tags);
        let processes = self.head["processes"].as_u64().unwrap_or(1).max(1);
        limit_bodies(Allowance::of_process().memory_bytes / processes);
        prepare::prepare(&args, &cx.logger, script, test, readers, feature_names)
    }

    /// The coordinator's settings over this process's environment, in which those of its own do not count.
    pub(super) fn flags(&self, own: &Flags) -> Flags {
        let mut by_name: BTreeMap<&'static str, Vec<String>> =
            [("include-system-env-vars", "false"), ("address", ""), ("type", "archive")]
                .map(|(name, value)| (name, vec![value.to_owned()]))
                .into();
        for (name, values) in self.head["settings"].as_object().into_iter().flatten() {
            let values = values.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            by_name.extend(flags::find(name).map(|flag| (flag.long, values.collect())));
        }
        let is_setting = |name: &String| flags::FLAGS.iter().any(|flag| flag.env == Some(name));
        let env = own.env.iter().filter(|(name, _)| !is_setting(name));
        Flags { by_name, env: env.map(|(name, value)| (name.clone(), value.clone())).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_test_is_refused() {
        let huge = [&u64::MAX.to_le_bytes()[..], b"{}"].concat();
        let short = [&9_u64.to_le_bytes()[..], b"{}"].concat();
        let text = [&2_u64.to_le_bytes()[..], b"no"].concat();
        for bytes in [&b""[..], b"1234", &huge, &short, &text] {
            assert!(Bundle::read(bytes).is_err(), "{bytes:?}");
        }
        let right = [&2_u64.to_le_bytes()[..], b"{}"].concat();
        assert_eq!(Bundle::read(&right).map(|bundle| bundle.level()).ok(), Some(Level::Info));
    }
}
