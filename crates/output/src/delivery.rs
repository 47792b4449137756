//! Steps on their way to a receiver that adds them up itself: it is asked again until it takes one, and the others wait for their
//! turn ([`crate::Folded`] makes longer ones of them where they are many). So nothing is left out while a receiver is away, and what
//! it lacks at the end is known exactly.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use onrush_metrics::{Delta, MetricId, Sink, Step, builtin};

use crate::{
    Began, Ending, StepOutput,
    began::now_ns,
    pauses::Pauses,
    post::Refused,
    told::{Teller, Told},
};

/// Somebody who takes steps.
pub(crate) trait Receiver: Send + 'static {
    /// What goes over for a step. It is made once, so that what arrives twice is the same twice.
    type Parcel;

    /// Makes it. `at_ns`: the beginning of the step in nanoseconds since 1970, later for each step by a unit of time at least.
    fn pack(&mut self, step: Step, at_ns: i64) -> Self::Parcel;

    /// Hands it over, after a while. What has been taken for certain is taken out of it.
    ///
    /// # Errors
    /// Why it was not taken.
    fn send(&mut self, parcel: &mut Self::Parcel, after: Duration) -> Result<(), Refused>;
}

/// How a receiver wants its steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// How long a step is at least.
    pub(crate) interval: Duration,
    /// Times of two steps are so far apart at least.
    pub(crate) unit: Duration,
}

/// What a receiver has taken. It is shared with whoever asks at the end.
#[derive(Debug, Clone, Default)]
pub struct Delivered(Arc<Mutex<Counts>>);

/// Numbers by which people know how much of a run is there.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// The metric `iterations`.
    pub iterations: f64,
    /// The metric `http_reqs`.
    pub requests: f64,
    /// Data points that a receiver took and, as it said, left out.
    pub rejected: u64,
}

impl Delivered {
    /// So far.
    pub fn counts(&self) -> Counts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So much more has arrived.
    pub(crate) fn add(&self, more: Counts) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iterations += more.iterations;
        counts.requests += more.requests;
        counts.rejected = counts.rejected.saturating_add(more.rejected);
    }
}

impl Counts {
    /// Of everything in a delta.
    fn of(delta: &Delta) -> Self {
        let sum = |metric| {
            let own = delta.series.iter().filter(|series| series.metric == metric);
            own.filter_map(|series| Sink::counter(&series.sink)).sum()
        };
        Self { iterations: sum(builtin::ITERATIONS), requests: sum(builtin::HTTP_REQS), rejected: 0 }
    }

    /// Adds what a series that is told since the start has more than was told of it. From now on that is told.
    pub(crate) fn add_news(&mut self, metric: MetricId, sink: &Sink, told: &mut f64) {
        let count = match metric {
            builtin::ITERATIONS => &mut self.iterations,
            builtin::HTTP_REQS => &mut self.requests,
            _ => return,
        };
        let all = sink.counter().unwrap_or_default();
        *count += all - std::mem::replace(told, all);
    }
}

/// An output that delivers steps to a receiver.
pub struct Delivery<R> {
    receiver: R,
    began: Began,
    ending: Ending,
    pace: Pace,
    /// Steps that are too short yet.
    short: Option<Step>,
    /// When the last one that was packed began.
    last_ns: i64,
    /// Until when it lasted, in time of the scenarios.
    until_ns: Option<u64>,
    delivered: Delivered,
    teller: Teller,
}

impl<R> Delivery<R> {
    /// What it has delivered.
    pub fn delivered(&self) -> Delivered {
        self.delivered.clone()
    }
}

#[expect(private_bounds, reason = "receivers are made in this crate only")]
impl<R: Receiver> Delivery<R> {
    /// Whoever feeds the output notes spans in `began`.
    pub(crate) fn new(
        receiver: R,
        began: Began,
        ending: Ending,
        pace: Pace,
        tell: impl Fn(Told) + Send + 'static,
    ) -> Self {
        Self {
            receiver,
            began,
            ending,
            pace,
            short: None,
            last_ns: i64::MIN,
            until_ns: None,
            delivered: Delivered::default(),
            teller: Teller::new(tell),
        }
    }

    /// Delivers a step, however long it takes, or loses it because the receiver does not want it.
    ///
    /// # Errors
    /// Why it was not taken by the end.
    fn deliver(&mut self, step: Step) -> Result<(), String> {
        let counts = Counts::of(&step.delta);
        let at_ns = self.time_of(&step);
        let mut parcel = self.receiver.pack(step, at_ns);
        let mut after = Duration::ZERO;
        let (mut pauses, mut before) = (Pauses::default(), None);
        loop {
            match self.receiver.send(&mut parcel, after) {
                Ok(()) => {
                    self.teller.arrived();
                    self.delivered.add(counts);
                    return Ok(());
                }
                // The one that was given up says nothing of the receiver.
                Err(refused) if self.ending.is_over() => return Err(before.unwrap_or(refused.why)),
                Err(refused) if refused.may_be_taken_later => {
                    self.teller.failed(&refused);
                    before = Some(refused.why);
                }
                Err(refused) => {
                    self.teller.lost(&refused);
                    return Ok(());
                }
            }
            after = pauses.after_failure();
        }
    }

    /// When a step began. What was measured before the scenarios is a unit older than they are; what was measured after them
    /// begins with their end.
    fn time_of(&mut self, step: &Step) -> i64 {
        let unit = i64::try_from(self.pace.unit.as_nanos()).unwrap_or(i64::MAX).max(1);
        let at = match (step.span, self.until_ns) {
            (Some(span), _) => self.began.unix_ns(span.from_ns),
            (None, Some(until_ns)) => self.began.unix_ns(until_ns),
            (None, None) if self.began.is_known() => self.began.unix_ns(0).saturating_sub(unit),
            (None, None) => now_ns(),
        };
        self.until_ns = step.span.map(|span| span.until_ns).or(self.until_ns);
        self.last_ns = at.max(self.last_ns.saturating_add(unit));
        self.last_ns
    }
}

impl<R: Receiver> StepOutput for Delivery<R> {
    type End = ();

    fn ending(&self) -> Ending {
        self.ending.clone()
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        if step.span.is_none() {
            // It has a time of its own.
            if let Some(short) = self.short.take() {
                self.deliver(short)?;
            }
            return self.deliver(step);
        }
        let step = match self.short.take() {
            Some(short) => short.joined(&step),
            None => step,
        };
        let length_ns = step.span.map_or(0, |span| span.until_ns.saturating_sub(span.from_ns));
        if u128::from(length_ns) >= self.pace.interval.max(self.pace.unit).as_nanos() {
            self.deliver(step)?;
        } else {
            self.short = Some(step);
        }
        Ok(())
    }

    fn end(mut self, (): ()) -> Result<(), String> {
        if let Some(short) = self.short.take() {
            self.deliver(short)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use onrush_metrics::{ExactSum, Span, TagPairs};

    use super::*;

    const NS_PER_S: u64 = 1_000_000_000;

    /// Refuses as it is told, then takes everything.
    struct Strict {
        refuses: Vec<Refused>,
        taken: Sender<(f64, i64, Duration)>,
    }

    impl Receiver for Strict {
        type Parcel = (f64, i64);

        fn pack(&mut self, step: Step, at_ns: i64) -> (f64, i64) {
            (Counts::of(&step.delta).iterations, at_ns)
        }

        fn send(&mut self, parcel: &mut (f64, i64), after: Duration) -> Result<(), Refused> {
            if let Some(refused) = self.refuses.pop() {
                return Err(refused);
            }
            let _ = self.taken.send((parcel.0, parcel.1, after));
            Ok(())
        }
    }

    fn step(second: Option<u64>, iterations: f64) -> Step {
        let mut sum = ExactSum::default();
        sum.add(iterations);
        let mut delta = Delta::default();
        delta.push(builtin::ITERATIONS, TagPairs::default(), Sink::Counter { sum });
        let span = second.map(|second| Span { from_ns: second * NS_PER_S, until_ns: (second + 1) * NS_PER_S });
        Step { span, delta }
    }

    fn refused(why: &str, may_be_taken_later: bool) -> Refused {
        Refused { why: why.to_owned(), may_be_taken_later, is_not_understood: false }
    }

    /// What arrives, what is told, and how many iterations are known to have arrived.
    fn check(refuses: Vec<Refused>, seconds: u64, steps: Vec<Step>) -> (Vec<(f64, i64)>, Vec<Told>, f64) {
        let ((taken, arrived), (tell, told)) = (channel(), channel());
        let pace = Pace { interval: Duration::from_secs(seconds), unit: Duration::from_secs(1) };
        let tell = move |about| tell.send(about).expect("somebody listens");
        let mut delivery = Delivery::new(Strict { refuses, taken }, Began::default(), Ending::default(), pace, tell);
        let delivered = delivery.delivered();
        for step in steps {
            delivery.step(step).expect("it never fails");
        }
        delivery.end(()).expect("it never fails");
        let arrived = arrived.into_iter().map(|(count, at, _)| (count, at / NS_PER_S as i64)).collect();
        (arrived, told.into_iter().collect(), delivered.counts().iterations)
    }

    #[test]
    fn one_step_after_the_other_arrives() {
        // Last in, first out.
        let refuses = vec![refused("busy", true), refused("away", true), refused("away", true)];
        let steps = vec![step(Some(0), 1.0), step(Some(1), 2.0), step(None, 4.0)];
        let (arrived, told, count) = check(refuses, 1, steps);
        assert_eq!(arrived, [(1.0, 0), (2.0, 1), (4.0, 2)]);
        let away = Told::Failed("away".to_owned());
        assert_eq!(told, [away, Told::Failed("busy".to_owned()), Told::Again { failed: 3 }]);
        assert_eq!(count, 7.0);
    }

    #[test]
    fn what_nobody_wants_is_lost_and_told() {
        let steps = vec![step(Some(0), 1.0), step(Some(1), 2.0)];
        let (arrived, told, count) = check(vec![refused("nonsense", false)], 1, steps);
        assert_eq!(arrived, [(2.0, 1)]);
        assert_eq!(told, [Told::Lost("nonsense".to_owned()), Told::Again { failed: 1 }]);
        assert_eq!(count, 2.0);
    }

    #[test]
    fn steps_are_as_long_as_is_wanted() {
        let steps = (0..5).map(|second| step(Some(second), 1.0)).chain([step(None, 9.0)]).collect();
        let (arrived, told, count) = check(Vec::new(), 2, steps);
        assert_eq!(arrived, [(2.0, 0), (2.0, 2), (1.0, 4), (9.0, 5)]);
        assert!(told.is_empty());
        assert_eq!(count, 14.0);
    }

    #[test]
    fn no_two_steps_have_one_time() {
        // It is late, and its time is that of the step before.
        let (arrived, ..) = check(Vec::new(), 1, vec![step(Some(3), 1.0), step(Some(3), 1.0), step(Some(4), 1.0)]);
        assert_eq!(arrived, [(1.0, 3), (1.0, 4), (1.0, 5)]);
    }
}
