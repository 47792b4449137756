//! The end of a run, as outputs that wait for an answer know it: from when on it is the end, and when nobody waits any longer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};

/// When a run ends. All clones know the same.
#[derive(Debug, Clone, Default)]
pub struct Ending(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// When the end began, nanoseconds of the clock; 0 before that.
    since_ns: AtomicU64,
    /// After this nobody waits; 0 before the end.
    until_ns: AtomicU64,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The time is up.
    Over,
    /// Whoever should answer is gone.
    Gone,
}

impl Ending {
    /// How often those who wait look at it.
    pub(crate) const LOOKS: Duration = Duration::from_millis(20);

    /// Nothing more is measured, and nobody waits longer than until then.
    pub fn begin(&self, until: Nanos) {
        // Only the first time is that of the end.
        let _ = self.0.since_ns.compare_exchange(0, Clock::now().0.max(1), Ordering::Release, Ordering::Relaxed);
        self.0.until_ns.store(until.0.max(1), Ordering::Release);
    }

    /// Nobody waits any longer.
    pub fn give_up(&self) {
        self.begin(Clock::now());
    }

    /// Since when it is the end.
    pub(crate) fn since(&self) -> Option<Nanos> {
        Some(self.0.since_ns.load(Ordering::Acquire)).filter(|at| *at > 0).map(Nanos)
    }

    /// Whether nobody waits any longer.
    pub(crate) fn is_over(&self) -> bool {
        let until_ns = self.0.until_ns.load(Ordering::Acquire);
        until_ns > 0 && Clock::now().0 >= until_ns
    }

    /// Waits for an answer as long as that makes sense.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn receive<T>(&self, answer: &Receiver<T>) -> Result<T, Unanswered> {
        loop {
            match answer.recv_timeout(Self::LOOKS) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) if self.is_over() => return Err(Unanswered::Over),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Gone),
            }
        }
    }

    /// Waits for somebody to be done, of whom `taken` says how much he has taken. When patience has run out, he is told and gets a moment
    /// to say how far he came.
    ///
    /// # Errors
    /// Why he does not say it.
    pub(crate) fn wait<T>(
        &self,
        done: &Receiver<T>,
        patience: &Patience,
        taken: impl Fn() -> u64,
    ) -> Result<T, Unanswered> {
        const MOMENT: Duration = Duration::from_secs(1);
        self.begin(patience.until);
        let mut last = (taken(), Clock::now());
        while !patience.is_over() && Clock::now().saturating_sub(last.1).as_duration() < patience.silence {
            match done.recv_timeout(Self::LOOKS) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) if taken() > last.0 => last = (taken(), Clock::now()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Gone),
            }
        }
        self.give_up();
        done.recv_timeout(MOMENT).map_err(|error| match error {
            RecvTimeoutError::Timeout => Unanswered::Over,
            RecvTimeoutError::Disconnected => Unanswered::Gone,
        })
    }
}

/// How long somebody waits at the end.
#[derive(Clone)]
pub struct Patience {
    /// Not longer than until then.
    pub until: Nanos,
    /// Nor when nothing was taken for so long.
    pub silence: Duration,
    /// Nor when somebody does not want to wait any longer.
    pub is_given_up: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Patience {
    /// For so long, whatever anybody wants.
    pub fn of(length: Duration) -> Self {
        Self { until: Clock::now() + length, silence: length, is_given_up: Arc::new(|| false) }
    }

    /// Whether it has run out.
    pub fn is_over(&self) -> bool {
        Clock::now() >= self.until || (self.is_given_up)()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn nobody_waits_after_the_end() {
        let (answered, answer) = sync_channel::<u8>(1);
        let ending = Ending::default();
        assert!(!ending.is_over() && ending.since().is_none());
        answered.send(1).expect("there is room");
        assert_eq!(ending.receive(&answer), Ok(1));
        ending.begin(Clock::now() + Duration::from_millis(50));
        let since = ending.since();
        assert_eq!(ending.receive(&answer), Err(Unanswered::Over));
        ending.give_up();
        assert_eq!(ending.since(), since);
        drop(answered);
        assert_eq!(ending.receive(&answer), Err(Unanswered::Gone));
    }
}
