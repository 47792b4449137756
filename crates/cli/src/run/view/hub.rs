//! Where a run's records come together, and where whoever shows them finds them.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use onrush_metrics::Step;
use onrush_output::StepOutput;
use onrush_server::{Bell, Chunk, Reader, Source};
use onrush_view::{Cursor, History, report};

/// How often what is still open is shown.
const OPEN_EVERY: Duration = Duration::from_secs(1);
/// Bytes of records that a client is given at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// The records of a run. Cheap to clone.
#[derive(Clone)]
pub(super) struct Hub(Arc<Inner>);

struct Inner {
    history: Mutex<History>,
    bell: Bell,
}

impl Hub {
    pub(super) fn new(history: History) -> Self {
        Self(Arc::new(Inner { history: Mutex::new(history), bell: Bell::default() }))
    }

    /// Wakes who waits for records.
    pub(super) fn bell(&self) -> Bell {
        self.0.bell.clone()
    }

    /// Adds to the history, and lets it be known.
    pub(super) fn tell(&self, add: impl FnOnce(&mut History)) {
        add(&mut self.history());
        self.0.bell.ring();
    }

    /// The report of what is known.
    pub(super) fn html(&self, summary: &serde_json::Value) -> String {
        // It is cheap to copy, and others go on meanwhile.
        let mut copy = self.history().clone();
        copy.settle();
        report::html(&copy, summary)
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.0.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for Hub {
    fn open(&self, last_id: Option<&str>) -> Box<dyn Reader> {
        let cursor = self.history().cursor(last_id);
        Box::new(Client { hub: self.clone(), cursor })
    }

    fn report(&self, summary: serde_json::Value) -> String {
        self.html(&summary)
    }
}

/// A client of the stream.
struct Client {
    hub: Hub,
    cursor: Cursor,
}

impl Reader for Client {
    fn next(&mut self) -> Chunk {
        // What it is given is made into text when the history is free again.
        let batch = self.hub.history().read(&mut self.cursor, CHUNK_BYTES);
        Chunk { text: batch.to_events(), is_over: batch.is_over }
    }
}

/// Takes the steps of the run, on a thread of its own.
pub(super) struct Stepper(pub(super) Hub);

impl StepOutput for Stepper {
    type End = ();

    fn step(&mut self, step: Step) -> Result<(), String> {
        self.0.tell(|history| history.step(&step));
        Ok(())
    }

    fn open_every(&self) -> Option<Duration> {
        Some(OPEN_EVERY)
    }

    fn open(&mut self, step: Step) {
        self.0.tell(|history| history.open(&step));
    }

    fn end(self, (): ()) -> Result<(), String> {
        Ok(())
    }
}
