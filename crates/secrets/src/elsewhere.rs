//! Secrets of sources that another process has: that of an agent, which has none itself, is its coordinator.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use onrush_fiber::{Clock, Woke};

use crate::GetError;

/// Asks another process. What it says stays in memory.
pub struct Elsewhere {
    ask: Box<Ask>,
    /// What was asked for, and what was said.
    answers: Mutex<HashMap<(String, String), Option<Answer>>>,
}

/// Told a source and a key.
type Ask = dyn Fn(&str, &str) + Send + Sync;

/// The value, or why there is none.
type Answer = Result<String, String>;

/// A source that is a service may need some retries.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often a fiber looks whether its answer has come.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

impl Elsewhere {
    /// `ask` sends a source and a key there; what comes back goes to [`Elsewhere::answer`].
    pub fn new(ask: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        Self { ask: Box::new(ask), answers: Mutex::default() }
    }

    /// An answer has come. One that nobody waits for any more is dropped.
    pub fn answer(&self, source: String, key: String, answer: Answer) {
        if let Some(place) = self.answers.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&(source, key)) {
            *place = Some(answer);
        }
    }

    /// Asks, and waits for the answer on the caller's fiber.
    pub(crate) fn get(&self, source: &str, key: &str) -> Result<String, GetError> {
        let id = (source.to_owned(), key.to_owned());
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers().insert(id.clone(), None);
        (self.ask)(source, key);
        let until = Clock::now() + PATIENCE;
        let result = loop {
            if let Some(answer) = answers().get_mut(&id).and_then(Option::take) {
                break answer.map_err(GetError::Service);
            }
            if onrush_fiber::sleep_until(Clock::now() + LOOK_INTERVAL) == Woke::Cancelled {
                break Err(GetError::Cancelled);
            }
            if Clock::now() >= until {
                break Err(GetError::Service(format!("no answer within {} s", PATIENCE.as_secs())));
            }
        };
        answers().remove(&id);
        result
    }
}
