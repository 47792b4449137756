//! What is read from the records is what was measured, for readers of every pace.

mod client;
mod pace;
mod sums;

use onrush_metrics::{Delta, ExactSum, Gauge, Histogram, Registry, Sink, Span, Step, TagPairs, builtin};
use onrush_view::{Head, History};

const NS_PER_S: u64 = 1_000_000_000;

fn history() -> History {
    History::new(Head::new(&Registry::new()), "run")
}

/// The records of a report, in the shortest steps that it may have.
fn lines(history: &History) -> String {
    history.lines(*history.step_lengths().first().expect("at least one length"))
}

/// Numbers without a pattern that matters.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }

    /// Times around one, seldom less than three quarters or more than one and a half.
    fn bell(&mut self) -> f64 {
        let bell: u64 = (0..4).map(|_| self.next() & 0xFFFF).sum();
        (bell as f64 / 131_072.0 - 1.0).exp()
    }
}

/// A second of a website: `requests` to each of so many names, of which each is six series and `others` without samples to speak of.
fn second(number: u64, names: usize, requests: u64) -> Step {
    let mut delta = Delta::default();
    let mut random = Random(number);
    for name in 0..names {
        let tags: TagPairs =
            [("name".into(), format!("http://host/{name}").into()), ("status".into(), "200".into())].into();
        for (metric, around) in [
            (builtin::HTTP_REQ_DURATION, 20.0),
            (builtin::HTTP_REQ_WAITING, 19.0),
            (builtin::HTTP_REQ_BLOCKED, 0.0),
            (builtin::HTTP_REQ_CONNECTING, 0.0),
        ] {
            let mut times = Histogram::new();
            (0..requests).for_each(|_| times.record(random.bell() * around));
            delta.push(metric, tags.clone(), Sink::Trend(times));
        }
        delta.push(builtin::HTTP_REQ_FAILED, tags.clone(), Sink::Rate { hits: number % 3, total: requests });
        let mut sum = ExactSum::default();
        sum.add(requests as f64);
        delta.push(builtin::HTTP_REQS, tags, Sink::Counter { sum });
    }
    delta.push(builtin::VUS, TagPairs::default(), Sink::Gauge(Gauge::new(10.0 + number as f64, number)));
    Step { span: Some(Span { from_ns: number * NS_PER_S, until_ns: (number + 1) * NS_PER_S }), delta }
}
