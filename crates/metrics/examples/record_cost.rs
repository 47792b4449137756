//! Times the sample path: what recording a request's nine metrics costs.
//!
//! Run with `cargo run --release -p onrush-metrics --example record_cost`; under callgrind, pass two small numbers of
//! rounds and the start of a case's name, and divide the difference in instructions by the difference in rounds.

use std::{hint::black_box, sync::Arc, time::Instant};

use onrush_metrics::{HttpTimings, Limits, Merged, Registry, Shard, Subscriptions, SystemTag, TagNode};

fn main() {
    let only = std::env::args().nth(2).unwrap_or_default();
    let rounds: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20_000_000);
    let registry = Registry::new();
    let subscriptions = Arc::new(Subscriptions::builder().for_summary().build());
    let mut shard = Shard::new(&registry, Arc::clone(&subscriptions), Limits::default());
    let node = shard.with_system(TagNode::ROOT, SystemTag::ExpectedResponse, "true");
    let http = shard.http(node);
    let timings = sample_timings();

    measure(&only, "record_http, keep-alive (three phases 0)", rounds, |round| {
        shard.record_http(http, &timings[round % timings.len()], Some(false));
    });
    let connecting: Vec<_> = timings
        .iter()
        .map(|t| HttpTimings { connecting: t.waiting, tls_handshaking: t.duration, blocked: t.waiting, ..*t })
        .collect();
    measure(&only, "record_http, new connection each", rounds, |round| {
        shard.record_http(http, &connecting[round % connecting.len()], Some(false));
    });
    measure(&only, "with_system + http + record_http", rounds, |round| {
        let status = if round % 16 == 0 { "false" } else { "true" };
        let node = shard.with_system(TagNode::ROOT, SystemTag::ExpectedResponse, status);
        let node = shard.with_system(node, SystemTag::Url, "nobody reads it");
        let http = shard.http(node);
        shard.record_http(http, &timings[round % timings.len()], Some(false));
    });
    let checks = onrush_metrics::builtin::CHECKS;
    measure(&only, "with_system + series + add of a check", rounds, |_| {
        let node = shard.with_system(TagNode::ROOT, SystemTag::Check, "status is 200");
        let series = shard.series(checks, node);
        shard.add(series, 1.0);
    });
    let mut merged = Merged::new(&registry);
    measure(&only, "drain and merge of eleven series", (rounds / 10_000).max(1), |_| {
        for timing in &timings[..100] {
            shard.record_http(http, timing, Some(false));
        }
        merged.add(&shard.drain());
    });
    black_box(&merged);
}

/// Times `rounds` in slices: the best slice tells the cost, the median what else the machine did.
fn measure(only: &str, name: &str, rounds: usize, mut step: impl FnMut(usize)) {
    if !name.starts_with(only) {
        return;
    }
    let per_slice = (rounds / SLICES).max(1);
    let mut slices_ns: Vec<f64> = (0..SLICES)
        .map(|_| {
            let start = Instant::now();
            for round in 0..per_slice {
                step(black_box(round));
            }
            start.elapsed().as_nanos() as f64 / per_slice as f64
        })
        .collect();
    slices_ns.sort_unstable_by(f64::total_cmp);
    #[expect(clippy::print_stdout, reason = "its result")]
    {
        println!("{:8.1} ns, median {:8.1} ns  {name}", slices_ns[0], slices_ns[SLICES / 2]);
    }
}

const SLICES: usize = 200;

/// Latencies around a millisecond with a long tail, from a fixed seed.
fn sample_timings() -> Vec<HttpTimings> {
    let mut state = 42_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) + 1) as f64 / (1 << 24) as f64
    };
    (0..4_096)
        .map(|_| {
            let (waiting, sending, receiving) =
                (0.4 - uniform().ln() * 0.6, 0.02 + uniform() * 0.01, 0.03 + uniform() * 0.05);
            HttpTimings {
                duration: waiting + sending + receiving,
                waiting,
                sending,
                receiving,
                ..HttpTimings::default()
            }
        })
        .collect()
}
