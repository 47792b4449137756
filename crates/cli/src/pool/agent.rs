//! An agent that stays: a process that waits for runs, and one of its own for each, so that every run finds the agent as it
//! was started.

use std::{
    os::unix::process::CommandExt as _,
    process::{Child, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use onrush_cluster::{FromPool, JoinConfig, JoinError, StandConfig, StandError, Standing};
use onrush_fiber::Clock;
use onrush_session::ExitCode;

use crate::{agent::failed, attached, context::Context, failure::Failure, run::how, signals::Watch};

/// Tells the process of a run which one that is, and what lets it in there: `NUMBER.SECRET`.
pub(crate) const RUN: &str = "ONRUSH_AGENT_RUN";

/// How often signals and the process are looked after.
const TICK: Duration = Duration::from_millis(50);
/// How long a process may take to leave its run.
const LEAVE_MAX: Duration = Duration::from_secs(3);

/// Waits for runs until a signal comes; `None` where the coordinator has a test of its own, which the agent is to join.
///
/// # Errors
/// 255 when it cannot join, 105 after a signal.
pub(crate) fn stay(cx: &Context, config: &JoinConfig, signals: &Watch) -> Result<Option<ExitCode>, Failure> {
    let is_once = cx.flags.switch("once")?.unwrap_or(false);
    let (sender, events) = channel();
    let stand = StandConfig {
        to: config.to.clone(),
        name: config.name.clone(),
        labels: config.labels.clone(),
        capacity: config.capacity,
        program: config.program.clone(),
        wait: config.wait,
    };
    let standing = Standing::join(stand, move |event| {
        // The loop only goes away when the process is about to end.
        let _ = sender.send(event);
    });
    let standing = match standing {
        Ok(standing) => standing,
        Err(StandError::OneRun) => return Ok(None),
        Err(StandError::Join(error)) => return Err(failed(error)),
    };
    if !cx.flags.switch("quiet")?.unwrap_or(false) {
        cx.terminal.stdout(format!("Joined {}, and waits for runs.\n", config.to.coordinator));
    }
    signals.set_graceful(true);
    let mut work: Option<Work> = None;
    loop {
        if let Some(signal) = signals.first() {
            if let Some(work) = &mut work {
                work.leave();
            }
            return Err(Failure::new(
                ExitCode::ExternalAbort,
                format!("left the coordinator because Onrush received a '{signal}' signal"),
            ));
        }
        if let Some(own) = &mut work
            && let Ok(Some(status)) = own.child.try_wait()
        {
            let run = &own.run;
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            match code {
                Some(0) => cx.logger.info(format!("run {run} is over")),
                _ => cx.logger.warn(format!("run {run} is over for this agent: its process ended ({})", how(status))),
            }
            if is_once {
                return Ok(Some(code.map_or(ExitCode::Other, ExitCode::of_process)));
            }
            work = None;
            standing.set_run(None);
        }
        match events.recv_timeout(TICK) {
            Ok(FromPool::Assign { run, secret }) => match &work {
                Some(work) if work.run == run => {}
                Some(work) => cx.logger.warn(format!("run {run} is not taken: run {} is not over", work.run)),
                None => {
                    cx.logger.info(format!("run {run} begins"));
                    standing.set_run(Some(&run));
                    match Work::start(cx, config, &run, &secret) {
                        Ok(started) => work = Some(started),
                        Err(error) => {
                            cx.logger.error(format!("failed to start a process for run {run}: {error}"));
                            standing.set_run(None);
                        }
                    }
                }
            },
            Ok(FromPool::Broke { why }) => {
                cx.logger.warn(format!("the connection to the coordinator broke ({why}); trying again"));
            }
            Ok(FromPool::Back) => cx.logger.info("the coordinator is back"),
            Ok(FromPool::Gone(StandError::Join(error))) => return Err(failed(error)),
            Ok(FromPool::Gone(StandError::OneRun)) => {
                let coordinator = config.to.coordinator.clone();
                let why = "it has a test of its own by now".to_owned();
                return Err(failed(JoinError::Refused { coordinator, why }));
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}

/// The process of a run.
struct Work {
    run: String,
    child: Child,
}

impl Work {
    fn start(cx: &Context, config: &JoinConfig, run: &str, secret: &str) -> std::io::Result<Self> {
        let flags = &cx.flags;
        let labels = config.labels.iter().map(|(name, value)| format!("--label={name}={value}"));
        let mut process = attached::program()?;
        process
            .args(["agent", "--attached", "--quiet", "--wait", "30s", "--join", &config.to.coordinator])
            .args(["--name", &config.name])
            .args(labels)
            .env(RUN, format!("{run}.{secret}"))
            .stdout(Stdio::null())
            // The terminal's signals are for this process, which decides.
            .process_group(0);
        if flags.switch("verbose").ok().flatten().unwrap_or(false) {
            process.arg("--verbose");
        }
        match (flags.text("tls"), flags.text("join-token")) {
            (Some(folder), _) => process.env("ONRUSH_TLS", folder),
            (None, token) => process.env("ONRUSH_JOIN_TOKEN", token.unwrap_or_default()),
        };
        Ok(Self { run: run.to_owned(), child: process.spawn()? })
    }

    /// Has it leave its run, so that the others learn of it at once.
    fn leave(&mut self) {
        attached::interrupt(&mut self.child);
        let until = Clock::now() + LEAVE_MAX;
        while Clock::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::park_timeout(TICK);
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
