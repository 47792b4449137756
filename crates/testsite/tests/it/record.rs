//! What a target notes of requests, and standing still.

use std::time::{Duration, Instant};

use onrush_testsite::Freeze;

use crate::client::{connect, target, target_with};

#[test]
fn arrivals_are_noted_in_order() {
    let target = target_with(|options| {
        options.record = true;
        options.delay = Duration::from_millis(20);
    });
    let (mut first, mut second) = (connect(target.addr), connect(target.addr));
    first.get("/f/100");
    second.get("/f/100");
    first.get("/f/100");
    first.get("/stats");
    first.get("/healthz");
    target.stop();
    let record = target.finish().unwrap();
    let known: Vec<bool> = record.arrivals.iter().map(|arrival| arrival.turnaround_ns.is_some()).collect();
    assert_eq!((known, record.omitted), (vec![false, false, true], 0));
    // The first connection's second request came after the second connection's answer, 20 ms after its own.
    assert!(record.arrivals[2].turnaround_ns.unwrap() >= 20_000_000);
    assert!(record.arrivals[2].at_ns - record.arrivals[0].at_ns >= 40_000_000);
}

#[test]
fn nothing_is_noted_unasked() {
    let target = target();
    connect(target.addr).get("/f/100");
    target.stop();
    assert!(target.finish().unwrap().arrivals.is_empty());
}

#[test]
fn a_target_stands_still_at_the_end_of_each_span() {
    let [length, every] = [200, 1000].map(Duration::from_millis);
    let target = target_with(|options| options.freeze = Some(Freeze { length, every }));
    let mut client = connect(target.addr);
    let begin = Instant::now();
    let mut longest = Duration::ZERO;
    // Two spans: whatever the machine does, one answer takes most of a standstill.
    while begin.elapsed() < 2 * every {
        let start = Instant::now();
        assert_eq!(client.get("/f/100").status, 200);
        longest = longest.max(start.elapsed());
    }
    assert!(longest >= length / 2, "{longest:?}");
}
