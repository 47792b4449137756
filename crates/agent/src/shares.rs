//! Shares of the test that a process has beside its own: each has an engine and an agent of its own, on threads of their
//! own. The script, its files and what it declared are those of the process.

use std::{collections::BTreeMap, sync::Arc, thread::JoinHandle};

use onrush_engine::EngineConfig;
use onrush_plan::Plan;
use onrush_session::protocol::{Command, Failure, FailureKind, HealthReport, Init, Report};

use crate::{
    channel::{Commander, Inbox, channel},
    serve::{CoordinatorClock, Running, Tell, Test, serve_as},
};

/// By their numbers in the run. Dropping them ends their work.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    commanders: BTreeMap<u32, Commander>,
    threads: Vec<JoinHandle<()>>,
}

impl Shares {
    /// Does what a command about a share says; the first begins it.
    pub(crate) fn take(
        &mut self,
        share: u32,
        command: Command,
        test: &Running,
        clock: &CoordinatorClock,
        report: &Tell,
    ) {
        if let Command::Init(init) = &command {
            let (commander, inbox) = channel();
            let report = about(share, report.clone());
            match begin(share, init, inbox, test, clock.clone(), report.clone()) {
                Ok(thread) => self.threads.push(thread),
                Err(failure) => return report(Report::Failed(failure)),
            }
            self.commanders.insert(share, commander);
        }
        if let Some(commander) = self.commanders.get(&share) {
            commander.send(command);
        }
    }

    /// Nobody says what they are to do any more: they hand in what they measured and end.
    pub(crate) fn leave(&mut self) {
        self.commanders.clear();
    }

    /// Whether all have ended that were left.
    pub(crate) fn have_left(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }
}

/// Says whose report it is. What the process sees of itself it says once.
fn about(share: u32, report: Tell) -> Tell {
    Arc::new(move |said: Report| {
        let said = match said {
            Report::Health(health) => Report::Health(Box::new(HealthReport { second: None, ..*health })),
            other => other,
        };
        report(Report::OfShare { share, report: Box::new(said) });
    })
}

/// Starts the share's threads; it waits for its commands.
fn begin(
    share: u32,
    init: &Init,
    inbox: Inbox,
    test: &Running,
    clock: CoordinatorClock,
    report: Tell,
) -> Result<JoinHandle<()>, Failure> {
    let failed =
        |why: String| Failure::new(FailureKind::Engine, format!("it cannot take up a share of the test: {why}"));
    let own = init.share().map_err(|error| failed(error.to_string()))?;
    let plan = Plan::new(&test.scenarios, &own)
        .and_then(|plan| plan.check_size().map(|()| plan))
        .map_err(|error| failed(error.to_string()))?;
    let engine = EngineConfig {
        run: Arc::new(test.run.for_share(&plan)),
        // More threads than VUs would have nothing to do.
        threads: test.threads.min(usize::try_from(plan.max_vus.max(1)).unwrap_or(usize::MAX)),
        plan: Arc::new(plan),
        min_iteration: test.min_iteration,
        timeouts: test.timeouts,
        taps: None,
        tracers: test.tracers.clone(),
    };
    let test = Test { engine, scenarios: test.scenarios.clone(), finish_outputs: None, stops: None };
    let body = move || {
        let _panicked = Panicked(report.clone());
        let engine = serve_as(&inbox, clock, |_| Ok(test), report);
        // As for the process's own share: there may be very many VUs, and the process ends soon.
        std::mem::forget(engine);
    };
    std::thread::Builder::new()
        .name(format!("share {share}"))
        .spawn(body)
        .map_err(|error| failed(format!("no thread can be had: {error}")))
}

/// Reports that the share's thread panicked: nobody else would.
struct Panicked(Tell);

impl Drop for Panicked {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let message = "the agent of a share ended unexpectedly, which is a bug of Onrush: please report it with the lines above";
            (self.0)(Report::Failed(Failure::new(FailureKind::Bug, message)));
        }
    }
}
