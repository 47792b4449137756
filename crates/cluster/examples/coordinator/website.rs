//! What the threads of agents measure of a website: the series of a script with a handful of pages.

use std::{collections::BTreeMap, sync::Arc};

use onrush_metrics::{
    Delta, Gauge, Limits, MetricId, Registry, Shard, Sink, Subscriptions, SystemTag, TagNode, TagPairs,
    ThresholdSource, Thresholds, WindowSource, builtin,
};
use onrush_plan::{Options, Plan, Share, Tier, consolidate, parse_json};
use onrush_session::protocol::{Accepted, MetricName, VERSION};

/// The only scenario.
pub(crate) const SCENARIO: &str = "visitors";
/// What its requests are told apart by.
const PAGES: [&str; 8] = ["home", "search", "category", "product", "cart", "checkout", "login", "image"];
const TIMINGS: [MetricId; 7] = [
    builtin::HTTP_REQ_DURATION,
    builtin::HTTP_REQ_BLOCKED,
    builtin::HTTP_REQ_CONNECTING,
    builtin::HTTP_REQ_TLS_HANDSHAKING,
    builtin::HTTP_REQ_SENDING,
    builtin::HTTP_REQ_WAITING,
    builtin::HTTP_REQ_RECEIVING,
];
const CHECKS: [&str; 4] = ["status is 200", "has a title", "has a price", "is logged in"];
/// Requests of a thread in a second.
const REQUESTS: u64 = 400;
const REQUESTS_OF_ITERATION: u64 = 8;

/// Random enough for latencies, and the same each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A time with a long tail.
    fn time_ms(&mut self, typical: f64) -> f64 {
        typical * (0.5 + self.unit() - 0.4 * self.unit().max(1e-9).ln())
    }
}

/// The plan of the whole test.
pub(crate) fn plan(agents: u32) -> Plan {
    let json = format!(
        r#"{{"scenarios": {{"{SCENARIO}": {{"executor": "constant-vus", "vus": {}, "duration": "24h"}}}}}}"#,
        50 * agents
    );
    let options = parse_json(&json).expect("valid options").options;
    let test =
        consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).expect("valid options");
    Plan::new(&test.scenarios, &Share::full()).expect("a small test")
}

/// One of the whole run, one of a page, one of windows.
pub(crate) fn thresholds(registry: &Registry) -> Thresholds {
    let source = |expression: &str, over_ns: Option<i64>| ThresholdSource {
        expression: expression.to_owned(),
        window: WindowSource { over_ns, ..WindowSource::default() },
        ..ThresholdSource::default()
    };
    let sources = BTreeMap::from([
        (
            "http_req_duration".to_owned(),
            vec![source("p(95)<100000", None), source("p(99)<100000", Some(10_000_000_000))],
        ),
        ("http_req_duration{name:cart}".to_owned(), vec![source("p(95)<100000", None)]),
        ("http_req_failed".to_owned(), vec![source("rate<0.5", None)]),
    ]);
    Thresholds::parse(&sources, registry).expect("valid thresholds")
}

/// What an agent of the test says first.
pub(crate) fn accepted(registry: &Registry, threads: u32) -> Accepted {
    let metric = |metric: &onrush_metrics::Metric| MetricName {
        name: metric.name.to_string(),
        kind: metric.kind,
        contains: metric.contains,
    };
    Accepted {
        version: VERSION,
        metrics: registry.iter().map(metric).collect(),
        scenarios: vec![SCENARIO.to_owned()],
        threads,
    }
}

/// A second of a thread.
pub(crate) fn delta(registry: &Registry, random: &mut Random) -> Delta {
    let subscriptions = Subscriptions::builder()
        .keep_everywhere(SystemTag::Scenario)
        .keep_everywhere(SystemTag::Name)
        .keep(builtin::CHECKS, SystemTag::Check)
        .build();
    let mut shard = Shard::new(registry, Arc::new(subscriptions), Limits::default());
    let scenario = shard.with_system(TagNode::ROOT, SystemTag::Scenario, SCENARIO);
    for request in 0..REQUESTS {
        let page = shard.with_system(scenario, SystemTag::Name, PAGES[(request % REQUESTS_OF_ITERATION) as usize]);
        let mut add = |metric: MetricId, value: f64| {
            let series = shard.series(metric, page);
            shard.add(series, value);
        };
        add(builtin::HTTP_REQS, 1.0);
        add(builtin::HTTP_REQ_FAILED, f64::from(u8::from(random.unit() < 0.01)));
        for (timing, typical) in TIMINGS.iter().zip([80.0, 0.02, 0.0, 0.0, 0.05, 79.0, 1.2]) {
            add(*timing, random.time_ms(typical));
        }
        if request % REQUESTS_OF_ITERATION == 0 {
            for check in CHECKS {
                let node = shard.with_system(scenario, SystemTag::Check, check);
                let series = shard.series(builtin::CHECKS, node);
                shard.add(series, f64::from(u8::from(random.unit() > 0.01)));
            }
            for (metric, value) in [
                (builtin::ITERATIONS, 1.0),
                (builtin::ITERATION_DURATION, random.time_ms(4_000.0)),
                (builtin::DATA_SENT, 4_000.0 * random.unit()),
                (builtin::DATA_RECEIVED, 400_000.0 * random.unit()),
            ] {
                let series = shard.series(metric, scenario);
                shard.add(series, value);
            }
        }
    }
    shard.drain()
}

/// The VUs there are, which one thread of an agent says.
pub(crate) fn add_vus(delta: &mut Delta, second: u64) {
    for metric in [builtin::VUS, builtin::VUS_MAX] {
        delta.push(metric, TagPairs::default(), Sink::Gauge(Gauge::new(50.0, second)));
    }
}

/// Iterations of a second of a thread.
pub(crate) fn iterations() -> u64 {
    REQUESTS / REQUESTS_OF_ITERATION
}
