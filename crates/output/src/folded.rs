//! Outputs of what all agents measured together, a step after the other: they never see a single sample, so they cost the same
//! however many there are.
//!
//! Steps wait in a bounded queue for the output's own thread. Where it is full, the youngest two become one: an output that is
//! slow gets longer steps, and nothing is left out.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::{Delta, Span, Step, Steps};

use crate::{Ending, Patience, ending::Unanswered};

/// Steps that may wait: a minute of seconds.
const WAITING_MAX: usize = 60;
/// Notes that may wait: ten minutes of seconds.
const NOTES_MAX: usize = 600;

/// What becomes of the steps of a run.
pub trait StepOutput: Send + 'static {
    /// What it wants to know at the end.
    type End: Send + 'static;

    /// Takes a step. This may take as long as it does, on a thread of its own.
    ///
    /// # Errors
    /// Why there is no use in giving it more.
    fn step(&mut self, step: Step) -> Result<(), String>;

    /// Takes something about the run that is no step. Where it is not wanted, it does nothing.
    ///
    /// # Errors
    /// As [`StepOutput::step`].
    fn note(&mut self, _note: Note) -> Result<(), String> {
        Ok(())
    }

    /// How often it wants to see what was measured since the last step, if it does.
    fn open_every(&self) -> Option<Duration> {
        None
    }

    /// Sees what was measured since the last step.
    fn open(&mut self, _step: Step) {}

    /// Tells it when nobody waits any longer, where it waits for somebody itself.
    fn ending(&self) -> Ending {
        Ending::default()
    }

    /// The run is over.
    ///
    /// # Errors
    /// What kept it from being finished.
    fn end(self, end: Self::End) -> Result<(), String>;
}

/// Something about a run that is kept beside its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub name: &'static str,
    /// What it says.
    pub json: String,
}

/// An output at work.
pub struct Folded<O: StepOutput> {
    queue: Arc<Queue<O::End>>,
    ended: Receiver<Result<(), String>>,
    ending: Ending,
}

/// Where the samples of a run go in.
pub struct Feed<E>(Arc<Queue<E>>);

impl<E> Clone for Feed<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Why an output does not have all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// It failed.
    #[error("{0}")]
    Failed(String),
    /// It took nothing for so long.
    #[error("it took nothing for {} s and was given up", .0.as_secs())]
    Stuck(Duration),
    /// It was not done when nobody waited any longer.
    #[error("it was not done in time and was given up")]
    Late,
}

struct Queue<E> {
    state: Mutex<State<E>>,
    news: Condvar,
    /// Steps that were taken.
    taken: AtomicU64,
}

struct State<E> {
    steps: Steps,
    waiting: VecDeque<Step>,
    notes: VecDeque<Note>,
    end: Option<E>,
    /// Nobody takes any more.
    is_over: bool,
}

impl<O: StepOutput> Folded<O> {
    /// Starts the thread of an output. `failed` is told at once, and once, when it can take no more.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn start(mut output: O, steps: Steps, failed: impl FnOnce(&str) + Send + 'static) -> io::Result<Self> {
        let state =
            Mutex::new(State { steps, waiting: VecDeque::new(), notes: VecDeque::new(), end: None, is_over: false });
        let queue = Arc::new(Queue { state, news: Condvar::new(), taken: AtomicU64::new(0) });
        let (done, ended) = sync_channel(1);
        let (from, ending) = (queue.clone(), output.ending());
        let body = move || {
            let every = output.open_every();
            let mut due = every.map(|every| Clock::now() + every);
            let result = loop {
                match from.next(due) {
                    Next::Step(step) => {
                        if let Err(error) = output.step(step) {
                            failed(&error);
                            break Err(error);
                        }
                        from.taken.fetch_add(1, Ordering::Relaxed);
                    }
                    Next::Note(note) => {
                        if let Err(error) = output.note(note) {
                            failed(&error);
                            break Err(error);
                        }
                    }
                    Next::Open(step) => {
                        step.into_iter().for_each(|step| output.open(step));
                        due = every.map(|every| Clock::now() + every);
                    }
                    Next::End(end) => break output.end(end),
                }
            };
            from.close();
            // Whoever waited may have lost patience.
            let _ = done.send(result);
        };
        std::thread::Builder::new().name("output".to_owned()).spawn(body)?;
        Ok(Self { queue, ended, ending })
    }

    /// Where samples go in.
    pub fn feed(&self) -> Feed<O::End> {
        Feed(self.queue.clone())
    }

    /// Has it take what is left and end, as long as `patience` lasts. This is for once.
    ///
    /// # Errors
    /// Why it does not have all.
    pub fn finish_within(&self, end: O::End, patience: &Patience) -> Result<(), Unfinished> {
        // It knows that nobody waits before it is asked to end.
        self.ending.begin(patience.until);
        self.queue.finish(end);
        match self.ending.wait(&self.ended, patience, || self.queue.taken.load(Ordering::Relaxed)) {
            Ok(result) => result.map_err(Unfinished::Failed),
            Err(Unanswered::Over) => Err(Unfinished::Late),
            Err(Unanswered::Gone) => Err(gone()),
        }
    }

    /// Has it take what is left and end: as long as it takes something at least every `patience`.
    ///
    /// # Errors
    /// Why it does not have all.
    pub fn finish(self, end: O::End, patience: Duration) -> Result<(), Unfinished> {
        self.queue.finish(end);
        loop {
            let taken = self.queue.taken.load(Ordering::Relaxed);
            match self.ended.recv_timeout(patience) {
                Ok(result) => return result.map_err(Unfinished::Failed),
                Err(RecvTimeoutError::Timeout) if self.queue.taken.load(Ordering::Relaxed) > taken => {}
                Err(RecvTimeoutError::Timeout) => return Err(Unfinished::Stuck(patience)),
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
        }
    }
}

fn gone() -> Unfinished {
    Unfinished::Failed("its thread ended unexpectedly, which is a bug of Onrush".to_owned())
}

impl<E> Feed<E> {
    /// Takes what was measured, and the time of the scenarios it covers.
    pub fn add(&self, delta: &Delta, span: Option<Span>) {
        let mut state = self.0.lock();
        if state.is_over {
            return;
        }
        let steps = state.steps.add(delta, span);
        if !steps.is_empty() {
            steps.into_iter().for_each(|step| state.put(step));
            self.0.news.notify_one();
        }
    }

    /// Takes something about the run. Returns whether there was room: an output that takes nothing for minutes lacks notes.
    pub fn note(&self, note: Note) -> bool {
        let mut state = self.0.lock();
        let has_room = state.notes.len() < NOTES_MAX && !state.is_over;
        if has_room {
            state.notes.push_back(note);
            self.0.news.notify_one();
        }
        has_room
    }
}

enum Next<E> {
    Step(Step),
    Note(Note),
    /// What is open, if there is anything.
    Open(Option<Step>),
    End(E),
}

impl<E> Queue<E> {
    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be done next; at `due`, if that comes before, what is open is to be looked at.
    fn next(&self, due: Option<Nanos>) -> Next<E> {
        let mut state = self.lock();
        loop {
            if let Some(step) = state.waiting.pop_front() {
                return Next::Step(step);
            }
            if let Some(note) = state.notes.pop_front() {
                return Next::Note(note);
            }
            if let Some(end) = state.end.take() {
                return Next::End(end);
            }
            state = match due.map(|due| due.saturating_sub(Clock::now())) {
                None => self.news.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(Nanos::ZERO) => return Next::Open(state.steps.open()),
                Some(left) => {
                    self.news.wait_timeout(state, left.as_duration()).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn finish(&self, end: E) {
        let mut state = self.lock();
        let rest = state.steps.rest();
        rest.into_iter().for_each(|step| state.put(step));
        state.end = Some(end);
        self.news.notify_one();
    }

    fn close(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.waiting.clear();
        state.notes.clear();
    }
}

impl<E> State<E> {
    fn put(&mut self, step: Step) {
        if self.is_over {
            return;
        }
        let last = if self.waiting.len() < WAITING_MAX { None } else { self.waiting.pop_back() };
        let step = match last {
            Some(last) => last.joined(&step),
            None => step,
        };
        self.waiting.push_back(step);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use onrush_metrics::{ExactSum, Sink, TagPairs, builtin};

    use super::*;

    const NS_PER_S: u64 = 1_000_000_000;

    /// Takes a step when it may, and tells what it has.
    struct Slow {
        may: Receiver<Result<(), String>>,
        counts: Vec<f64>,
        done: Sender<Vec<f64>>,
    }

    impl StepOutput for Slow {
        type End = f64;

        fn step(&mut self, step: Step) -> Result<(), String> {
            self.may.recv().unwrap_or(Ok(()))?;
            self.counts.push(step.delta.series.iter().filter_map(|series| series.sink.counter()).sum());
            Ok(())
        }

        fn end(mut self, end: f64) -> Result<(), String> {
            self.counts.push(end);
            self.done.send(self.counts).map_err(|error| error.to_string())
        }
    }

    fn feed(feed: &Feed<f64>, seconds: std::ops::Range<u64>) {
        for second in seconds {
            let mut sum = ExactSum::default();
            sum.add(1.0);
            let mut delta = Delta::default();
            delta.push(builtin::HTTP_REQS, TagPairs::default(), Sink::Counter { sum });
            feed.add(&delta, Some(Span { from_ns: second * NS_PER_S, until_ns: (second + 1) * NS_PER_S }));
        }
    }

    /// What allows it a step, what it has at its end, what it says of itself, and the output.
    type Ends = (Sender<Result<(), String>>, Receiver<Vec<f64>>, Receiver<String>, Folded<Slow>);

    fn slow() -> Ends {
        let ((allow, may), (done, counts), (tell, told)) = (channel(), channel(), channel());
        let failed = move |error: &str| tell.send(error.to_owned()).expect("somebody listens");
        let output = Slow { may, counts: Vec::new(), done };
        let folded = Folded::start(output, Steps::of_seconds(), failed).expect("there is a thread");
        (allow, counts, told, folded)
    }

    #[test]
    fn a_slow_output_gets_longer_steps_and_all_samples() {
        let (allow, counts, _told, folded) = slow();
        feed(&folded.feed(), 0..1_000);
        // The end is there before anything is taken, so that nothing finds room again meanwhile.
        folded.queue.finish(7.0);
        // From now on nothing holds it up.
        drop(allow);
        assert_eq!(folded.ended.recv(), Ok(Ok(())));
        let counts = counts.recv().expect("it has ended");
        assert_eq!(counts.last(), Some(&7.0));
        assert_eq!(counts.iter().sum::<f64>(), 1_000.0 + 7.0);
        // Those that waited, the one that was taken already, the end.
        assert!(counts.len() <= WAITING_MAX + 2, "{}", counts.len());
    }

    #[test]
    fn an_output_that_fails_is_told_once_and_takes_no_more() {
        let (allow, _counts, told, folded) = slow();
        let into = folded.feed();
        allow.send(Err("the disk is full".to_owned())).expect("it waits");
        feed(&into, 0..10);
        assert_eq!(told.recv().as_deref(), Ok("the disk is full"));
        feed(&into, 10..20);
        let failed = Err(Unfinished::Failed("the disk is full".to_owned()));
        assert_eq!(folded.finish(0.0, Duration::from_secs(60)), failed);
        assert!(told.recv().is_err());
    }

    #[test]
    fn an_output_that_takes_nothing_is_given_up() {
        let (allow, _counts, _told, folded) = slow();
        feed(&folded.feed(), 0..10);
        let patience = Duration::from_millis(50);
        assert_eq!(folded.finish(0.0, patience), Err(Unfinished::Stuck(patience)));
        drop(allow);
    }
}
