//! `onrush run`: from arguments to an exit code, one step a file.
//!
//! load the script and run its init code → lay the option tiers over each other → prepare what the engine needs →
//! drive the coordinator and its agent until nothing is left to run → print the summary.

pub(crate) mod account;
mod agents;
mod begin;
pub(crate) mod bundle;
pub(crate) mod cluster;
pub(crate) mod config_file;
mod constraint;
pub(crate) mod dependencies;
mod drive;
mod ended;
pub(crate) mod features;
pub(crate) mod imports;
pub(crate) mod input;
mod journal;
mod key_log;
mod live;
pub(crate) mod load;
mod local;
pub(crate) mod needs;
mod network;
mod outputs;
mod paths;
pub(crate) mod prepare;
pub(crate) mod raw_samples;
mod recover;
mod repeated;
mod replay;
mod rest;
pub(crate) mod run_folder;
mod screen;
mod secret_answers;
pub(crate) mod submitted;
mod summary;
pub(crate) mod tiers;
pub(crate) mod view;
mod warnings;

pub(crate) use cluster::{NUMBER as AGENT_NUMBER, how};
use onrush_net::BodyBudget;
use onrush_output::{Config, Samples, Share};
use onrush_session::{ExitCode, LossPolicy};
pub(crate) use outputs::github::tell_failure;
pub(crate) use recover::recover;

use self::{
    config_file::ConfigFile,
    drive::Beginning,
    ended::Ended,
    features::Features,
    journal::Kept,
    needs::Needs,
    outputs::{Finished, Running, Starting, Wanted, github, otel, raw},
    prepare::Prepared,
    raw_samples::RawSamples,
    view::View,
};
use crate::{
    args::{RunArgs, Shown},
    banner,
    cluster::{ClusterArgs, Place},
    context::Context,
    failure::Failure,
    flags::Command,
    log::{Level, Logger},
    signals::Watch,
};

/// Runs a test.
///
/// # Errors
/// What ended the run before its first VU was made.
pub(crate) fn run(cx: &Context, files: &[String], command: Command) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(command)?;
    let config = ConfigFile::read(cx)?;
    let mut args = RunArgs::new(&cx.flags, &config, files)?;
    args.cluster = ClusterArgs::new(&cx.flags, command, &mut |warning| cx.logger.warn(warning))?;
    let kept = match command {
        Command::Coordinator => journal::wanted(&cx.flags)?,
        _ => Kept::Nothing,
    };
    execute_kept(cx, config, &args, kept)
}

/// Goes on with the run of a coordinator that is gone.
///
/// # Errors
/// As [`run`], and when it cannot.
pub(crate) fn resume(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    if let [file, ..] = files {
        return Err(Failure::other(format!("--resume goes on with the test in the journal: remove {file}")));
    }
    let before = journal::before(&cx.flags)?;
    let (bundle, flags) = before.settings(&cx.flags)?;
    let mut args = bundle.args(&flags)?;
    let access = before.access()?;
    args.cluster = Some(ClusterArgs::resumed(&flags, before.listen(), access, &mut |warning| cx.logger.warn(warning))?);
    let cx = Context { flags, logger: cx.logger.clone(), terminal: cx.terminal.clone(), look: cx.look };
    execute_kept(&cx, ConfigFile::default(), &args, Kept::Before(Box::new(before)))
}

/// Runs a test whose settings are known.
///
/// # Errors
/// As [`run`].
pub(crate) fn execute(cx: &Context, config: ConfigFile, args: &RunArgs) -> Result<ExitCode, Failure> {
    execute_kept(cx, config, args, Kept::Nothing)
}

fn execute_kept(cx: &Context, config: ConfigFile, args: &RunArgs, kept: Kept) -> Result<ExitCode, Failure> {
    if args.view == Shown::View {
        has_terminal(cx, args.quiet)?;
    }
    let signals = Watch::start(cx.logger.clone(), cx.terminal.clone())
        .map_err(|error| Failure::other(format!("failed to watch for signals: {error}")))?;
    let Ready { prepared, outputs: wanted, traces, share, replay, needs } = ready(cx, config, args)?;
    let (samples, raw_samples) = samples(cx, args, &wanted.raw, share)?;
    if !matches!(kept, Kept::Nothing) {
        let has_secrets = !prepared.run.script.secrets.names().0.is_empty();
        can_be_kept(&raw_samples, wanted.leave_the_machine(), has_secrets)?;
    }
    let agents = args.cluster.as_ref().map(|cluster| cluster::agents(cluster, &needs));
    let needs = cluster::needs(args.cluster.as_ref(), needs);
    needs.warnings().into_iter().for_each(|warning| cx.logger.warn(warning));
    let (local_ips, vus) = (&prepared.run.local_ips, prepared.plan.max_vus);
    if let Some(address) = local_ips.as_ref().and_then(|pool| network::foreign_address(pool, vus)) {
        cx.logger.warn(format!(
            "{address} (localIPs) is no address of this machine: connections of the VUs that get it will fail; `ip address` shows those there are"
        ));
    }
    if let Some(problem) = needs.problem() {
        if !args.force {
            return Err(Failure::other(problem).hint(needs::HINT));
        }
        cx.logger.warn(problem);
    }
    cx.logger.debug(format!(
        "initializing {} VUs on {} threads, layout {}",
        prepared.plan.planned_vus,
        prepared.threads(),
        prepared.isolation.isolation.as_str()
    ));
    // First what may be taken already, then what is written over.
    let api = rest::bind(args.api.as_ref(), &cx.logger, run_folder::folder(&cx.flags).is_some())?;
    let view = View::start(cx, args, &wanted, &prepared, agents.unwrap_or(1))?;
    // What stays with the agents is written there.
    let own = if matches!(raw_samples, RawSamples::Local(..)) { &[][..] } else { &wanted.raw };
    let described = wanted.described() + if own.is_empty() && !wanted.raw.is_empty() { " of each agent" } else { "" };
    let raw_outputs = raw::start(cx, own, samples, &prepared)?;
    let mut started = wanted.start(&Starting { cx, args, prepared: &prepared, agents: agents.unwrap_or(1) })?;
    let url = view.as_ref().and_then(|view| view.url.clone());
    if let Some(view) = &view {
        view.open(cx);
    }
    if !args.quiet {
        let color = cx.look.stdout_color();
        match &args.one_liner {
            Some(heading) => cx.terminal.stdout(format!("{heading}\n")),
            None => {
                cx.terminal.stdout(banner::banner(color));
                let file = &args.script.file;
                let execution = banner::execution(file, &described, agents, &prepared.isolation, &prepared.plan, color);
                cx.terminal.stdout(cx.look.fitted(execution));
            }
        }
        if let Some(url) = url {
            cx.terminal.stdout(cx.look.fitted(format!(" web dashboard: {url}\n\n")));
        }
    }
    limit_bodies(needs.memory_bytes);
    let of_agents = agents.map(|count| (count, raw_samples));
    // Agents send their own.
    let traces = otel::traces::start(cx, traces.filter(|_| args.cluster.is_none()))?;
    let running = Running { raw: raw_outputs, folded: &mut started, view, traces };
    let beginning = Beginning { replay, agents: of_agents, kept, api };
    let mut ended = drive::drive(cx, args, &prepared, &signals, running, beginning)?;
    let view = ended.view.take();
    report(&cx.logger, &ended);
    let (code, failed_by) = verdict(cx, args, &ended);
    let (merged, thresholds) = (ended.coordinator.merged(), ended.coordinator.thresholds());
    let end = &ended.for_file(code);
    let is_shown = view.is_none_or(|view| view.finish(cx, end));
    // What it waits for now is worth a signal of its own.
    signals.set_graceful(true);
    let finished = Finished {
        cx,
        args,
        merged,
        thresholds,
        trend_stats: &prepared.trend_stats,
        time_unit: prepared.time_unit,
        judgement: &ended.judgement,
        failed_by: failed_by.as_deref(),
        end,
    };
    github::tell(&finished);
    if outputs::finish(started, &finished) && is_shown || code != ExitCode::Success {
        return Ok(code);
    }
    // Whoever waits for a file must not take an old one, or none, for the result.
    Ok(ExitCode::Other)
}

/// What a coordinator that goes on could not go on with.
///
/// # Errors
/// 255 with the first of it.
fn can_be_kept(raw: &RawSamples, outputs_leave: bool, has_secrets: bool) -> Result<(), Failure> {
    let refused = |what: &str, hint: &str| {
        Err(Failure::other(format!("{what} is not available yet with --journal")).hint(hint.to_owned()))
    };
    match raw {
        RawSamples::Collected(_) => {
            refused("--out of every sample at the coordinator", "add --out-local, or use --out result=FILE")
        }
        _ if outputs_leave => refused("an output that is no file", "use --out result=FILE"),
        _ if has_secrets => refused("--secret-source", "remove it, or --journal"),
        _ => Ok(()),
    }
}

/// A view needs a terminal.
///
/// # Errors
/// 255 with the stream that is none.
fn has_terminal(cx: &Context, is_quiet: bool) -> Result<(), Failure> {
    let wrong = match cx.look {
        _ if is_quiet => "--ui tui shows progress, and --quiet wants none",
        look if !look.stdout_tty => {
            "--ui tui needs a terminal, and the standard output stream is none (or TERM is dumb)"
        }
        look if !look.stderr_tty => {
            "--ui tui needs a terminal, and the standard error stream is none: send the log elsewhere with --log-output"
        }
        _ => return Ok(()),
    };
    Err(Failure::other(wrong).hint("remove --ui tui; without a terminal progress is a line now and then"))
}

/// The exit code of a run, and all that made it fail, but for its thresholds.
fn verdict(cx: &Context, args: &RunArgs, ended: &Ended) -> (ExitCode, Option<String>) {
    let mut code = ended.outcome.exit_code();
    let mut reasons = Vec::new();
    if !matches!(code, ExitCode::Success | ExitCode::ThresholdsHaveFailed) {
        let message = ended.outcome.message();
        reasons.push(message.unwrap_or_else(|| format!("it ended with exit code {}", code as u8)));
    }
    let refused = args.gate.refuses(&ended.unjudged, &ended.judgement);
    // A script says with thresholds what must not fail; a one-liner has none.
    let is_in_vain = args.one_liner.is_some() && ended.nothing_succeeded && code == ExitCode::Success;
    let in_vain = is_in_vain.then(|| (ExitCode::ThresholdsHaveFailed, "no request succeeded".to_owned()));
    for (refusal, reason) in refused.into_iter().chain(in_vain) {
        cx.logger.error(reason.clone());
        reasons.push(reason);
        // What failed already keeps its code.
        if code == ExitCode::Success {
            code = refusal;
        }
    }
    if ended.export_failed {
        reasons.push("--summary-export could not be written".to_owned());
        if code == ExitCode::Success {
            code = ExitCode::Other;
        }
    }
    (code, (!reasons.is_empty()).then(|| reasons.join("; ")))
}

/// Whose samples the outputs of this process get, and what becomes of those of agents.
///
/// # Errors
/// 255 for flags that do not go together.
fn samples(cx: &Context, args: &RunArgs, wanted: &[Config], share: Share) -> Result<(Samples, RawSamples), Failure> {
    let is_local = cx.flags.switch("out-local")?.unwrap_or(false);
    let Some(cluster) = &args.cluster else {
        if is_local {
            return Err(Failure::other("--out-local is for tests on several agents").hint("remove it, or add --agents"));
        }
        return Ok((Samples::Own(share), RawSamples::Unwanted));
    };
    if cluster.on_loss == LossPolicy::Rebalance && !wanted.is_empty() {
        let message =
            "--out with --on-agent-loss rebalance is not available yet: the outputs would lack what agents take up";
        return Err(Failure::other(message).hint("remove --out, or use --on-agent-loss tolerate"));
    }
    let is_remote = matches!(cluster.place, Place::Anywhere { .. });
    Ok((Samples::OfAgents, RawSamples::new(wanted, share, is_local, is_remote)?))
}

/// Response bodies of all VUs together may take half of the memory; the other half is for VUs and all else.
pub(crate) fn limit_bodies(memory_bytes: u64) {
    if memory_bytes > 0 {
        BodyBudget::of_process().set_bytes_max(memory_bytes / 2);
    }
}

/// A test that could start now.
pub(crate) struct Ready {
    pub(crate) prepared: Prepared,
    outputs: Wanted,
    /// Where traces go, if there are some.
    traces: Option<otel::traces::Wanted>,
    share: Share,
    replay: onrush_session::Replay,
    /// What it takes of this machine.
    pub(crate) needs: Needs,
}

impl Ready {
    /// Tests with the same have the same script, options and scenarios.
    pub(crate) fn fingerprint(&self) -> String {
        outputs::fingerprint(&self.prepared)
    }

    /// Checks what a run finds out when it opens its outputs.
    ///
    /// # Errors
    /// 255 with the first path that cannot be written.
    pub(crate) fn check_outputs(&self) -> Result<(), Failure> {
        paths::check_outputs(&self.outputs)
    }

    /// Packs a test for a coordinator that serves runs.
    ///
    /// # Errors
    /// 255 for what cannot be done there yet.
    pub(crate) fn pack(&self, cx: &Context, args: &RunArgs) -> Result<std::sync::Arc<[u8]>, Failure> {
        if let Some((output, why)) = self.outputs.stays_here() {
            return Err(Failure::other(format!("the output {output} is not available with --on: {why}"))
                .hint("use --out result=FILE, or run the test with onrush coordinator"));
        }
        self.check_outputs()?;
        if !self.prepared.run.script.secrets.names().0.is_empty() {
            return Err(Failure::other("--secret-source is not available yet with --on")
                .hint("remove it, or run the test with onrush coordinator"));
        }
        let receiver = bundle::Receiver::Coordinator(&self.outputs);
        bundle::pack(cx, args, &self.prepared, receiver, &RawSamples::Unwanted)
    }

    /// The outputs, as the banner names them.
    pub(crate) fn output_names(&self) -> Option<String> {
        (!self.outputs.is_empty()).then(|| self.outputs.described())
    }
}

/// Everything before the first VU is made: reads, checks, and runs init code once.
///
/// # Errors
/// What keeps the test from starting.
pub(crate) fn ready(cx: &Context, config: ConfigFile, args: &RunArgs) -> Result<Ready, Failure> {
    let outputs = outputs::wanted(&cx.flags, &config, &args.script.file)?;
    let traces = otel::traces::wanted(&cx.flags)?;
    let share = raw::share(&cx.flags)?;
    github::check(&cx.flags)?;
    // Files of a run that somebody sent are written there.
    if run_folder::folder(&cx.flags).is_none() {
        paths::check(args)?;
        paths::check_reports(&outputs)?;
    }
    let replay = replay::read(cx, args.replay.as_deref())?;
    let features = Features::read(&cx.flags, &config.features)?;
    let fds = onrush_fiber::raise_fd_limit();
    let script = load::load(&args.script, &features, &cx.flags, &cx.logger)?;
    let (name, modules) = (&args.script.file, script.env.program.modules.len());
    cx.logger.debug(format!("loaded {name} ({modules} module{})", if modules == 1 { "" } else { "s" }));
    let feature_names = features.names();
    let test = tiers::consolidate(cx, config, features, &script)?;
    cx.logger.debug(format!("merged options: {}", test.options.to_json()));
    if test.settings.paused && args.api.is_none() {
        return Err(Failure::config("a run that starts paused is resumed over the REST API, which is switched off")
            .hint("remove --address \"\" or --paused"));
    }
    let (heap_bytes, has_network) = (script.init.vu_heap_bytes, needs::has_network(&script.env.program));
    let prepared = prepare::prepare(args, &cx.logger, script, test, outputs.readers(), feature_names)?;
    replay::check(&replay, &prepared.test)?;
    let needs = Needs::new(&prepared.plan, heap_bytes, has_network.then_some(fds), prepared.run.local_ips.is_some());
    Ok(Ready { prepared, outputs, traces, share, replay, needs })
}

/// The last log line of a run that did not pass.
fn report(logger: &Logger, ended: &Ended) {
    let outcome = &ended.outcome;
    let Some(message) = outcome.message() else { return };
    // It was told when the agent was lost.
    if outcome.exit_code() == ExitCode::AgentLost && ended.last_error.as_ref() == Some(&message) {
        return;
    }
    let of_vu = ended.failed_vu.map(|vu| format!("error while initializing VU #{vu}"));
    let fields = match outcome.exit_code() {
        ExitCode::ScriptException => {
            let what = "script exception";
            vec![("hint", of_vu.map_or_else(|| what.to_owned(), |of_vu| format!("{of_vu} ({what})")))]
        }
        ExitCode::ScriptAborted => of_vu.map(|of_vu| ("hint", of_vu)).into_iter().collect(),
        ExitCode::SetupTimeout => {
            vec![("hint", "You can increase the time limit via the setupTimeout option".to_owned())]
        }
        ExitCode::TeardownTimeout => {
            vec![("hint", "You can increase the time limit via the teardownTimeout option".to_owned())]
        }
        _ => Vec::new(),
    };
    logger.log(Level::Error, message, fields);
    if let (Some(_), false) = (&outcome.stop, outcome.crossed.is_empty()) {
        logger.debug(format!("thresholds on metrics '{}' have been crossed", outcome.crossed.join(", ")));
    }
}
