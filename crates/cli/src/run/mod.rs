//! `onrush run`: from arguments to an exit code, one step a file.
//!
//! load the script and run its init code → lay the option tiers over each other → prepare what the engine needs →
//! drive the coordinator and its agent until nothing is left to run → print the summary.

pub(crate) mod config_file;
mod drive;
pub(crate) mod features;
pub(crate) mod input;
mod key_log;
mod live;
pub(crate) mod load;
mod local;
mod network;
mod outputs;
pub(crate) mod prepare;
mod replay;
mod rest;
mod screen;
mod summary;
pub(crate) mod tiers;
mod warnings;

use std::sync::Arc;

use onrush_session::ExitCode;

use self::{config_file::ConfigFile, drive::Ended, features::Features};
use crate::{
    args::RunArgs,
    banner,
    failure::Failure,
    flags::{Command, Given},
    log::{Level, Logger},
    signals::Watch,
    terminal::{Look, Terminal},
};

/// What every step can use.
pub(crate) struct Surroundings {
    /// Flags and variables.
    pub(crate) given: Given,
    /// For what the user should know.
    pub(crate) logger: Arc<Logger>,
    /// For what the user asked for.
    pub(crate) terminal: Terminal,
    /// What the streams are.
    pub(crate) look: Look,
}

/// Runs a test.
///
/// # Errors
/// What ended the run before its first VU was made.
pub(crate) fn run(around: &Surroundings, files: &[String]) -> Result<ExitCode, Failure> {
    around.given.refuse_unavailable(Command::Run)?;
    let config = ConfigFile::read(around)?;
    let args = RunArgs::new(&around.given, &config, files)?;
    let flush = around.terminal.clone();
    let signals = Watch::start(around.logger.clone(), move || flush.flush())
        .map_err(|error| Failure::other(format!("failed to watch for signals: {error}")))?;
    let wanted = outputs::configs(&around.given, &config.out)?;
    let replay = replay::read(around, args.replay.as_deref())?;
    let features = Features::read(&around.given, &config.features, &around.logger);
    let fds = onrush_fiber::raise_fd_limit();
    let script = load::load(&args.script, &features, &around.given, &around.logger)?;
    around.logger.debug(format!("loaded {} with {} modules", args.script.file, script.env.program.modules.len()));
    let test = tiers::consolidate(around, config, features, &script)?;
    around.logger.debug(format!("the options of all places: {}", test.options.to_json()));
    let prepared = prepare::prepare(&args, &around.logger, script, test, !wanted.is_empty())?;
    replay::check(&replay, &prepared.test)?;
    around.logger.debug(format!(
        "initializing {} VUs on {} threads, layout {}",
        prepared.plan.planned_vus,
        prepared.threads(),
        prepared.isolation.isolation.as_str()
    ));
    prepare::check_fds(fds, prepared.plan.max_vus, &around.logger);
    let outputs = outputs::start(around, &wanted, &prepared)?;
    if !args.quiet {
        let color = around.look.stdout_color();
        around.terminal.stdout(banner::banner(color));
        around.terminal.stdout(banner::execution(
            &args.script.file,
            &outputs::described(&wanted),
            &prepared.isolation,
            &prepared.plan,
            color,
        ));
    }
    let ended = drive::drive(around, &args, &prepared, &signals, outputs, replay)?;
    report(&around.logger, &ended);
    Ok(ended.outcome.exit_code())
}

/// The last log line of a run that did not pass.
fn report(logger: &Logger, ended: &Ended) {
    let outcome = &ended.outcome;
    let Some(message) = outcome.message() else { return };
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
