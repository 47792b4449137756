//! Outputs that send what all agents measured together to a server: how they are fed, and how they end.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_metrics::Steps;
use onrush_output::{Feed, Folded, StepOutput, Unfinished};
use onrush_session::{
    DeltaSink,
    protocol::{AgentId, ThreadDelta},
};

use crate::context::Context;

/// An output under way.
pub(super) struct Output {
    /// Who lacks what it could not send.
    server: String,
    feed: Box<dyn Fn() -> Box<dyn DeltaSink>>,
    finish: Box<dyn FnOnce() -> Result<(), Unfinished>>,
}

impl Output {
    /// Starts its thread. It is given up at the end when it takes nothing for `patience`.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(super) fn start<O: StepOutput<End = ()>>(
        server: String,
        output: O,
        began: Arc<AtomicI64>,
        patience: Duration,
    ) -> io::Result<Self> {
        let folded = Folded::start(output, Steps::of_seconds(), |_| {})?;
        let feed = folded.feed();
        Ok(Self {
            server,
            feed: Box::new(move || Box::new(Sink { feed: feed.clone(), began: began.clone() })),
            finish: Box::new(move || folded.finish((), patience)),
        })
    }

    /// What brings it the samples of all agents.
    pub(super) fn sink(&self) -> Box<dyn DeltaSink> {
        (self.feed)()
    }
}

struct Sink {
    feed: Feed<()>,
    /// When the scenarios began, in nanoseconds since 1970.
    began: Arc<AtomicI64>,
}

impl DeltaSink for Sink {
    fn delta(&mut self, _: AgentId, part: &ThreadDelta) {
        if let Some(span) = part.span {
            let began = Clock::unix_nanos(Clock::now()) - i128::from(span.until_ns);
            self.began.store(i64::try_from(began).unwrap_or(0), Ordering::Relaxed);
        }
        self.feed.add(&part.delta, part.span);
    }
}

/// Has them send what is left, and says what did not arrive.
pub(super) fn finish(cx: &Context, outputs: Vec<Output>) {
    for output in outputs {
        match (output.finish)() {
            Ok(()) => {}
            Err(Unfinished::Failed(lacks)) => cx.logger.error(format!("{} {lacks}", output.server)),
            Err(why) => cx.logger.error(format!("{} lacks the end of the run: {why}", output.server)),
        }
    }
}
