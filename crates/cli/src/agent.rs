//! `onrush agent`: joins a coordinator and runs a share of its test.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use onrush_agent::{channel, serve};
use onrush_certificates::Role;
use onrush_cluster::{Connection, FromHub, Hash, JoinConfig, JoinError};
use onrush_secrets::Elsewhere;
use onrush_session::{
    ExitCode,
    protocol::{self, Failure as AgentFailure, FailureKind, Init, LogLine, Report, SecretAnswer, SecretWanted},
};

use crate::{
    attached, cluster,
    context::Context,
    failure::Failure,
    flags::Command,
    host, labels,
    line::{Level, Line},
    membership, pool,
    run::{self, bundle::Bundle, raw_samples::Way},
    signals::Watch,
    unheard, version,
};

/// How long the end waits for the coordinator to have all that was reported.
const END_MAX: Duration = Duration::from_secs(2);
/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(100);

/// Runs a share of the test of a coordinator that has one, or waits for the runs of one that serves many.
///
/// # Errors
/// 255 when it cannot join, 120 when the coordinator is gone before the test is over.
pub(crate) fn agent(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Agent)?;
    if let [file, ..] = files {
        return Err(Failure::other(format!("agents get their test from the coordinator: remove {file}")));
    }
    let config = join_config(cx)?;
    let signals = Watch::start(cx.logger.clone(), cx.terminal.clone())
        .map_err(|error| Failure::other(format!("failed to watch for signals: {error}")))?;
    let is_attached = cx.flags.switch("attached")?.unwrap_or(false);
    if is_attached {
        attached::end_with_stdin()?;
    }
    // Whoever started it for one run gets the same signals from the terminal, and decides; who started it in a pool sends its own.
    if is_attached && config.to.run.is_none() {
        signals.leave_to_others();
    }
    if !is_attached && let Some(code) = pool::agent::stay(cx, &config, &signals)? {
        return Ok(code);
    }
    let coordinator = config.to.coordinator.clone();
    let (commander, inbox) = channel();
    let commander = Arc::new(Mutex::new(Some(commander)));
    let gone = Arc::new(OnceLock::new());
    let secrets: Arc<OnceLock<Arc<Elsewhere>>> = Arc::default();
    let (to_agent, why, asked) = (commander.clone(), gone.clone(), secrets.clone());
    let connection = Connection::join(config, move |message| {
        let mut commander = to_agent.lock().unwrap_or_else(PoisonError::into_inner);
        match message {
            FromHub::Command(protocol::Command::Secret(answer)) => {
                if let Some(asked) = asked.get() {
                    let SecretAnswer { source, key, result } = *answer;
                    asked.answer(source, key, result);
                }
            }
            FromHub::Command(command) => {
                if let Some(commander) = &*commander {
                    commander.send(command);
                }
            }
            FromHub::Gone { why: text } => {
                // It comes once.
                let _ = why.set(text);
                *commander = None;
            }
        }
    })
    .map_err(failed)?;
    let number = connection.agent.0;
    cx.logger.debug(format!(
        "joined {coordinator} as agent {number}, clocks compared to {:?}",
        connection.clock.offset().error
    ));
    if !cx.flags.switch("quiet")?.unwrap_or(false) {
        cx.terminal.stdout(format!("Joined {coordinator} as agent {number}.\n"));
    }
    signals.set_graceful(true);
    leave_on_signal(signals.clone(), commander)?;
    let reporter = connection.reporter();
    let prepare = |init: &Init| {
        let reporter = reporter.clone();
        let asking = reporter.clone();
        let elsewhere = secrets.get_or_init(|| {
            Arc::new(Elsewhere::new(move |source, key| {
                let wanted = SecretWanted { source: source.to_owned(), key: key.to_owned() };
                asking.report(&Report::SecretWanted(wanted));
            }))
        });
        let way = Way { reporter, clock: connection.clock.clone(), secrets: elsewhere.clone() };
        let mut test = prepare(cx, &connection, &way, init)?;
        let watch = signals.clone();
        test.stops = Some(Box::new(move || watch.resumed()));
        Ok(test)
    };
    let clock = connection.clock.clone();
    let told = reporter.clone();
    let engine = serve(&inbox, move || clock.offset(), prepare, move |report| told.report(&report));
    // Ending the process ends the threads. Their VUs are not torn down one by one: there may be 100,000 of them.
    std::mem::forget(engine);
    connection.settle(END_MAX);
    match (gone.get(), signals.first()) {
        (Some(why), _) => {
            let kept = connection.unheard().map(|unheard| unheard::keep(&unheard, number));
            let kept = kept.map_or_else(String::new, |kept| format!("; {kept}"));
            Err(Failure::new(ExitCode::AgentLost, format!("left the run: {why}{kept}")))
        }
        (None, Some(signal)) => Err(Failure::new(
            ExitCode::ExternalAbort,
            format!("left the run because Onrush received a '{signal}' signal"),
        )),
        (None, None) => Ok(ExitCode::Success),
    }
}

fn join_config(cx: &Context) -> Result<JoinConfig, Failure> {
    let flags = &cx.flags;
    let join = flags.text("join").ok_or_else(|| Failure::other("--join is missing: where is the coordinator?"))?;
    let child = flags.env.get(run::AGENT_NUMBER).and_then(|number| number.parse().ok());
    let mut to = membership::destination(flags, &join, Role::Agent, &mut |warning| cx.logger.warn(warning))?;
    to.run = flags.env.get(pool::agent::RUN).cloned();
    Ok(JoinConfig {
        to,
        name: flags.text("name").unwrap_or_else(host::name),
        labels: labels::labels(flags)?,
        capacity: labels::capacity(),
        child,
        program: version::VERSION.to_owned(),
        wait: cluster::wait(flags)?,
    })
}

pub(crate) fn failed(error: JoinError) -> Failure {
    let hint = match &error {
        // Somebody is there, and cannot be believed.
        JoinError::Failed { why, .. } if why.contains("certificate") => None,
        JoinError::Failed { .. } => Some("is the coordinator running, and does its port accept connections from here?"),
        _ => None,
    };
    Failure { hint: hint.map(str::to_owned), ..Failure::other(error.to_string()) }
}

fn prepare(cx: &Context, connection: &Connection, way: &Way, init: &Init) -> Result<onrush_agent::Test, AgentFailure> {
    let failed = |why: String| AgentFailure::new(FailureKind::Engine, format!("agent {}: {why}", init.agent));
    let hash = Hash::from_bytes(&init.test).ok_or_else(|| failed("the coordinator named no test".to_owned()))?;
    let bytes = connection.fetch(hash).map_err(|error| failed(error.to_string()))?;
    let bundle = Bundle::read(&bytes).map_err(|error| failed(error.message))?;
    drop(bytes);
    let reporter = way.reporter.clone();
    let logger = cx.logger.mute(bundle.level(), move |line| reporter.report(&Report::Log(log_line(line))));
    let cx = Context { flags: cx.flags.clone(), logger: logger.clone(), terminal: cx.terminal.clone(), look: cx.look };
    let test = bundle.prepare(&cx, init, way)?;
    logger.unmute();
    Ok(test)
}

fn log_line(line: Line) -> LogLine {
    let level = match line.level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warning",
        Level::Error => "error",
    };
    let fields = line.fields.into_iter().map(|(name, value)| (Cow::into_owned(name), value)).collect();
    LogLine { level: level.to_owned(), message: line.message, fields }
}

/// The first signal ends the agent's part; the coordinator sees it leave.
fn leave_on_signal(signals: Arc<Watch>, commander: Arc<Mutex<Option<onrush_agent::Commander>>>) -> Result<(), Failure> {
    let wait = move || {
        while signals.first().is_none() {
            std::thread::park_timeout(TICK);
        }
        commander.lock().unwrap_or_else(PoisonError::into_inner).take();
    };
    let thread = std::thread::Builder::new().name("leave".to_owned()).spawn(wait);
    thread.map(drop).map_err(|error| Failure::other(format!("failed to watch for signals: {error}")))
}
