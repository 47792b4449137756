//! `onrush agent`: joins a coordinator and runs a share of its test.

use std::{
    borrow::Cow,
    io::Read as _,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use onrush_agent::{channel, serve};
use onrush_cluster::{Connection, FromHub, Hash, JoinConfig, JoinError, Reporter, Token};
use onrush_session::{
    ExitCode,
    protocol::{Failure as AgentFailure, FailureKind, Init, LogLine, Report},
};

use crate::{
    cluster::{self, PORT},
    context::Context,
    failure::Failure,
    flags::Command,
    line::{Level, Line},
    run::{self, bundle::Bundle},
    signals::Watch,
    version,
};

/// How long the end waits for the coordinator to have all that was reported.
const END_MAX: Duration = Duration::from_secs(2);
/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(100);

/// Runs a share of the test of one coordinator.
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
    if cx.flags.switch("attached")?.unwrap_or(false) {
        signals.leave_to_others();
        end_with_stdin()?;
    }
    let coordinator = config.coordinator.clone();
    let (commander, inbox) = channel();
    let commander = Arc::new(Mutex::new(Some(commander)));
    let gone = Arc::new(OnceLock::new());
    let (to_agent, why) = (commander.clone(), gone.clone());
    let connection = Connection::join(config, move |message| {
        let mut commander = to_agent.lock().unwrap_or_else(PoisonError::into_inner);
        match message {
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
    cx.logger
        .debug(format!("joined {coordinator} as agent {number}, clocks compared to {:?}", connection.offset.error));
    if !cx.flags.switch("quiet")?.unwrap_or(false) {
        cx.terminal.stdout(format!("Joined {coordinator} as agent {number}.\n"));
    }
    signals.set_graceful(true);
    leave_on_signal(signals.clone(), commander)?;
    let reporter = connection.reporter();
    let prepare = |init: &Init| {
        let mut test = prepare(cx, &connection, &reporter, init)?;
        let watch = signals.clone();
        test.stops = Some(Box::new(move || watch.resumed()));
        Ok(test)
    };
    let engine = serve(&inbox, connection.offset.ahead_ns, prepare, |report| reporter.report(&report));
    // Ending the process ends the threads. Their VUs are not torn down one by one: there may be 100,000 of them.
    std::mem::forget(engine);
    connection.settle(END_MAX);
    match (gone.get(), signals.first()) {
        (Some(why), _) => Err(Failure::new(ExitCode::AgentLost, format!("left the run: {why}"))),
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
    let token = flags.text("join-token").ok_or_else(|| {
        Failure::other("the join token is missing")
            .hint("set ONRUSH_JOIN_TOKEN to the token that the coordinator prints")
    })?;
    let child = flags.env.get(run::AGENT_NUMBER).and_then(|number| number.parse().ok());
    Ok(JoinConfig {
        coordinator: with_port(&join),
        token: Token::parse(&token).map_err(|error| Failure::other(error.to_string()))?,
        name: flags.text("name").unwrap_or_else(host),
        child,
        program: version::VERSION.to_owned(),
        wait: cluster::wait(flags)?,
    })
}

/// `HOST`, `HOST:PORT`, `[::1]` and `::1`.
fn with_port(join: &str) -> String {
    let after_bracket = join.rsplit_once(']').map_or(join, |(_, rest)| rest);
    match after_bracket.matches(':').count() {
        1 => join.to_owned(),
        0 => format!("{join}:{PORT}"),
        _ => format!("[{join}]:{PORT}"),
    }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn failed(error: JoinError) -> Failure {
    let hint = match &error {
        JoinError::Failed { .. } => Some("is the coordinator running, and does its port accept connections from here?"),
        _ => None,
    };
    Failure { hint: hint.map(str::to_owned), ..Failure::other(error.to_string()) }
}

fn prepare(
    cx: &Context,
    connection: &Connection,
    reporter: &Reporter,
    init: &Init,
) -> Result<onrush_agent::Test, AgentFailure> {
    let failed = |why: String| AgentFailure::new(FailureKind::Engine, format!("agent {}: {why}", init.agent));
    let hash = Hash::from_bytes(&init.test).ok_or_else(|| failed("the coordinator named no test".to_owned()))?;
    let bytes = connection.fetch(hash).map_err(|error| failed(error.to_string()))?;
    let bundle = Bundle::read(&bytes).map_err(|error| failed(error.message))?;
    drop(bytes);
    let reporter = reporter.clone();
    let logger = cx.logger.mute(bundle.level(), move |line| reporter.report(&Report::Log(log_line(line))));
    let cx = Context { flags: cx.flags.clone(), logger: logger.clone(), terminal: cx.terminal.clone(), look: cx.look };
    let test = bundle.prepare(&cx, init)?;
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

/// Whoever started this process holds the other end of its standard input: when that is closed, nobody needs the agent any
/// more, whatever it does.
fn end_with_stdin() -> Result<(), Failure> {
    let wait = || {
        let mut stdin = std::io::stdin().lock();
        while !matches!(stdin.read(&mut [0; 64]), Ok(0) | Err(_)) {}
        exit();
    };
    let thread = std::thread::Builder::new().name("stdin".to_owned()).spawn(wait);
    thread.map(drop).map_err(|error| Failure::other(format!("failed to watch the standard input: {error}")))
}

#[expect(clippy::exit, reason = "there is no coordinator any more: nothing may go on making load")]
fn exit() {
    std::process::exit(i32::from(ExitCode::AgentLost as u8))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinators_have_a_port() {
        let check = |join: &str, expect: &str| assert_eq!(with_port(join), expect);
        check("host", "host:6567");
        check("host:1", "host:1");
        check("10.0.0.1", "10.0.0.1:6567");
        check("::1", "[::1]:6567");
        check("[::1]", "[::1]:6567");
        check("[::1]:9", "[::1]:9");
    }
}
