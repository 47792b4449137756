//! A test as simulated agents run it: every iteration's samples depend on its number alone, not on who runs it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use onrush_metrics::{
    Contains, Limits, MetricId, MetricKind, Registry, Shard, Subscriptions, SystemTag, TagNode, ThresholdSource,
    Thresholds, builtin,
};
use onrush_plan::{Consolidated, Options, Plan, Share, Tier, consolidate, parse_json};

/// Metrics a script declares, in the order in which the coordinator knows them.
const DECLARED: [(&str, MetricKind, Contains); 4] = [
    ("bytes_seen", MetricKind::Counter, Contains::Data),
    ("waited", MetricKind::Trend, Contains::Time),
    ("good", MetricKind::Rate, Contains::Default),
    ("steps", MetricKind::Trend, Contains::Default),
];

/// What is run.
#[derive(Clone)]
pub struct Script {
    pub(crate) test: Arc<Consolidated>,
    /// The script calls `exec.test.abort()` at this time of its scenarios.
    pub(crate) abort_at: Option<Duration>,
}

/// A thread's samples.
pub(crate) struct Book {
    shard: Shard,
    registry: Registry,
}

impl Script {
    /// Iterations of several kinds of executors, thresholds of which one fails.
    pub fn all_kinds() -> Self {
        // Short, so that thousands of runs take seconds; the limits of time are long enough for iterations that an agent
        // takes up late.
        let options = parse_json(
            r#"{"scenarios": {
                "shared": {"executor": "shared-iterations", "vus": 8, "iterations": 101, "maxDuration": "2m"},
                "own": {"executor": "per-vu-iterations", "vus": 7, "iterations": 5, "startTime": "1s", "maxDuration": "2m"},
                "rate": {"executor": "constant-arrival-rate", "rate": 17, "duration": "14s", "preAllocatedVUs": 9,
                         "gracefulStop": "3s"},
                "ramp": {"executor": "ramping-arrival-rate", "startRate": 3, "stages": [{"target": 30, "duration": "10s"}],
                         "startTime": "2s", "preAllocatedVUs": 9, "gracefulStop": "3s"}}}"#,
        );
        let tiers = vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options.expect("options").options)];
        Self { test: Arc::new(consolidate(tiers).expect("valid options")), abort_at: None }
    }

    /// Scenarios that can be steered.
    pub fn steered() -> Self {
        let options = parse_json(
            r#"{"scenarios": {
                "outside": {"executor": "externally-controlled", "vus": 3, "maxVUs": 20, "duration": "30s"},
                "users": {"executor": "constant-vus", "vus": 7, "duration": "30s", "startTime": "1s"},
                "rate": {"executor": "constant-arrival-rate", "rate": 17, "duration": "30s", "preAllocatedVUs": 9}}}"#,
        );
        let tiers = vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options.expect("options").options)];
        Self { test: Arc::new(consolidate(tiers).expect("valid options")), abort_at: None }
    }

    /// The same, aborted by the script at a time of its scenarios.
    #[must_use]
    pub fn aborted_at(self, at: Duration) -> Self {
        Self { abort_at: Some(at), ..self }
    }

    /// The scenarios whose iterations are counted: who takes them up runs again what nobody reported.
    pub(crate) const COUNTED: [&str; 2] = ["own", "shared"];

    pub(crate) fn plan(&self, share: &Share) -> Plan {
        Plan::new(&self.test.scenarios, share).expect("a share of a small test")
    }

    /// The coordinator's metrics.
    pub(crate) fn registry(&self) -> Registry {
        Self::registry_in(0..DECLARED.len())
    }

    /// Those of an agent, declared in an order of its own: its ids are others.
    pub(crate) fn registry_of(&self, agent: usize) -> Registry {
        Self::registry_in((0..DECLARED.len()).map(|index| (index + agent) % DECLARED.len()))
    }

    fn registry_in(order: impl Iterator<Item = usize>) -> Registry {
        let mut registry = Registry::new();
        for (name, kind, contains) in order.map(|index| DECLARED[index]) {
            registry.declare(name, kind, contains).expect("valid names");
        }
        registry
    }

    pub(crate) fn thresholds(&self, registry: &Registry) -> Thresholds {
        let source = |expression: &str, over: Option<i64>| ThresholdSource {
            expression: expression.to_owned(),
            window: onrush_metrics::WindowSource { over_ns: over, ..Default::default() },
            ..ThresholdSource::default()
        };
        let sources = BTreeMap::from([
            ("waited".to_owned(), vec![source("p(95)<1", None), source("avg<1000", None)]),
            ("good{scenario:rate}".to_owned(), vec![source("rate>0.1", None)]),
            ("iterations".to_owned(), vec![source("count>0", Some(2_000_000_000))]),
        ]);
        Thresholds::parse(&sources, registry).expect("valid thresholds")
    }

    /// How long an iteration takes.
    pub(crate) fn duration(scenario: &str, number: u64) -> Duration {
        Duration::from_micros(50_000 + mix(seed_of(scenario) ^ number) % 400_000)
    }
}

impl Book {
    pub(crate) fn new(registry: Registry) -> Self {
        let subscriptions = Subscriptions::builder().keep_everywhere(SystemTag::Scenario).build();
        Self { shard: Shard::new(&registry, Arc::new(subscriptions), Limits::default()), registry }
    }

    /// An iteration ended.
    pub(crate) fn note(&mut self, scenario: &str, number: u64) {
        let node = self.shard.with_system(TagNode::ROOT, SystemTag::Scenario, scenario);
        let hash = mix(seed_of(scenario).wrapping_mul(31) ^ number);
        let took = Script::duration(scenario, number).as_secs_f64() * 1e3;
        let own = |name: &str| self.registry.lookup(name).expect("declared");
        let samples: [(MetricId, f64); 6] = [
            (builtin::ITERATIONS, 1.0),
            (builtin::ITERATION_DURATION, took),
            (own("bytes_seen"), (hash % 10_000) as f64 + 0.1),
            (own("waited"), took / 3.0),
            (own("good"), f64::from(u8::from(!hash.is_multiple_of(5)))),
            (own("steps"), (hash % 40) as f64),
        ];
        for (metric, value) in samples {
            let series = self.shard.series(metric, node);
            self.shard.add(series, value);
        }
    }

    pub(crate) fn drain(&mut self) -> onrush_metrics::Delta {
        self.shard.drain()
    }
}

fn seed_of(text: &str) -> u64 {
    text.bytes().fold(7, |hash, byte| mix(hash ^ u64::from(byte)))
}

/// The finishing step of splitmix64: small numbers become large ones without a pattern.
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
