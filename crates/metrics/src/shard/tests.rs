//! Tag reduction, folding at the limit, and exact merging over shards.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{
    builtin, delta::DeltaSeries, merged::Merged, registry::Contains, sink::Sink, submetric::SubMetric,
    subscriptions::SubscriptionsBuilder,
};

fn shard(build: impl FnOnce(SubscriptionsBuilder) -> SubscriptionsBuilder) -> Shard {
    limited(build, Limits::default())
}

fn limited(build: impl FnOnce(SubscriptionsBuilder) -> SubscriptionsBuilder, limits: Limits) -> Shard {
    Shard::new(&Registry::new(), Arc::new(build(Subscriptions::builder()).build()), limits)
}

/// `a=1,b=2` of every series.
fn labels(delta: &Delta) -> Vec<String> {
    delta.series.iter().map(label).collect()
}

fn label(series: &DeltaSeries) -> String {
    let tags: Vec<_> = series.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("{}{{{}}}", Registry::new().metric(series.metric).name, tags.join(","))
}

#[test]
fn by_default_a_request_has_nine_series() {
    let mut shard = shard(|builder| builder);
    let mut node = TagNode::ROOT;
    for (tag, value) in [(SystemTag::Url, "http://a"), (SystemTag::Status, "200")] {
        node = shard.with_system(node, tag, value);
    }
    assert_eq!(node, TagNode::ROOT);
    let http = shard.http(node);
    let timings = HttpTimings { duration: 3.0, waiting: 2.0, receiving: 1.0, ..HttpTimings::default() };
    shard.record_http(http, &timings, Some(false));
    shard.record_http(http, &timings, None);
    let delta = shard.drain();
    assert_eq!(delta.series.len(), 9);
    assert_eq!(delta.series[0].sink.counter(), Some(2.0));
    assert_eq!(delta.series[1].sink.rate(), Some((0, 1)));
    let sums: Vec<_> =
        delta.series[2..].iter().map(|series| series.sink.trend().map(|trend| (trend.count(), trend.sum()))).collect();
    assert_eq!(
        sums,
        [
            Some((2, 6.0)),
            Some((2, 0.0)),
            Some((2, 0.0)),
            Some((2, 0.0)),
            Some((2, 0.0)),
            Some((2, 4.0)),
            Some((2, 2.0))
        ]
    );
    assert!(shard.drain().is_empty());
}

#[test]
fn each_metric_keeps_its_own_tags() {
    let mut shard = shard(|builder| {
        builder.for_summary().keep_everywhere(SystemTag::Scenario).keep_key(builtin::HTTP_REQS, "mine")
    });
    let mine = shard.key("mine").expect("subscribed");
    assert_eq!(shard.key("yours"), None);
    let node = shard.with_system(TagNode::ROOT, SystemTag::Scenario, "s");
    let node = shard.with_system(node, SystemTag::Check, "ok");
    let node = shard.with(node, mine, "m");
    for metric in [builtin::CHECKS, builtin::HTTP_REQS, builtin::ITERATIONS] {
        let series = shard.series(metric, node);
        shard.add(series, 1.0);
    }
    assert_eq!(
        labels(&shard.drain()),
        ["checks{check=ok,scenario=s}", "http_reqs{mine=m,scenario=s}", "iterations{scenario=s}"]
    );
}

#[test]
fn a_later_value_replaces_an_earlier_one() {
    let mut shard = shard(|builder| builder.keep_all());
    let a = shard.with_system(TagNode::ROOT, SystemTag::Url, "a");
    let b = shard.with_system(a, SystemTag::Url, "b");
    let back = shard.with_system(b, SystemTag::Url, "a");
    assert!(a != b && back == a);
    // The order in which tags were added does not matter.
    let one = shard.with_system(a, SystemTag::Status, "200");
    let two = shard.with_system(TagNode::ROOT, SystemTag::Status, "200");
    assert_eq!(shard.with_system(two, SystemTag::Url, "a"), one);
}

#[test]
fn keeping_all_finds_keys_for_new_names() {
    let mut shard = shard(|builder| builder.keep_all());
    let (first, second) = (shard.key("first").expect("room"), shard.key("second").expect("room"));
    assert_eq!(shard.key("first"), Some(first));
    let node = shard.with(TagNode::ROOT, second, "2");
    let node = shard.with(node, first, "1");
    let series = shard.series(builtin::VUS, node);
    shard.add(series, 5.0);
    assert_eq!(labels(&shard.drain()), ["vus{first=1,second=2}"]);
    for index in 0..2 * Subscriptions::KEYS_MAX {
        shard.key(&format!("key {index}"));
    }
    assert_eq!(shard.key("one too many"), None);
}

#[test]
fn each_kind_folds_its_way() {
    let mut registry = Registry::new();
    let mut shard = Shard::new(&registry, Arc::new(Subscriptions::builder().build()), Limits::default());
    let kinds = [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];
    let ids = kinds.map(|kind| registry.declare(&format!("my_{kind}"), kind, Contains::Default).expect("a good name"));
    assert_eq!(shard.series(ids[0], TagNode::ROOT), SeriesIdx::NONE);
    shard = Shard::new(&registry, Arc::clone(shard.subscriptions()), Limits::default());
    for id in ids {
        let series = shard.series(id, TagNode::ROOT);
        for value in [2.0, f64::NAN, 0.0, -1.5] {
            shard.add(series, value);
        }
    }
    let delta = shard.drain();
    let sinks: Vec<_> = delta.series.iter().map(|series| &series.sink).collect();
    assert_eq!(sinks[0].counter(), Some(0.5));
    assert_eq!(sinks[1].gauge().map(|gauge| (gauge.last, gauge.min, gauge.max)), Some((-1.5, -1.5, 2.0)));
    assert_eq!(sinks[2].rate(), Some((2, 3)));
    assert_eq!(sinks[3].trend().map(|trend| (trend.count(), trend.min(), trend.sum())), Some((3, -1.5, 0.5)));
    // A counter that only ever got 0 is known.
    let zero = shard.series(ids[0], TagNode::ROOT);
    shard.add(zero, 0.0);
    assert_eq!(shard.drain().series[0].sink.counter(), Some(0.0));
}

#[test]
fn an_undeclared_metric_loses_its_samples_visibly() {
    let mut registry = Registry::new();
    let mut shard = Shard::new(&registry, Arc::new(Subscriptions::builder().build()), Limits::default());
    let late = registry.declare("late", MetricKind::Trend, Contains::Time).expect("a good name");
    let nowhere = shard.series(late, TagNode::ROOT);
    shard.add(nowhere, 1.0);
    assert_eq!(shard.drain().samples_lost, 1);
    shard.sync(&registry);
    let series = shard.series(late, TagNode::ROOT);
    shard.add(series, 1.0);
    assert_eq!(shard.drain().series.len(), 1);
}

#[test]
fn foreign_indices_do_no_harm() {
    let mut other = shard(|builder| builder.keep_all());
    let mut node = TagNode::ROOT;
    for value in 0..100 {
        node = other.with_system(node, SystemTag::Url, &value.to_string());
        let http = other.http(node);
        let series = other.series(builtin::ITERATIONS, node);
        let key = other.key(&format!("k{value}")).expect("room");
        let mut small = shard(|builder| builder);
        small.record_http(http, &HttpTimings::default(), None);
        small.add(series, 1.0);
        let node = small.with(node, key, "x");
        let series = small.series(builtin::VUS, node);
        small.add(series, 1.0);
        assert!(small.drain().samples_lost >= 2);
    }
}

#[test]
fn too_many_values_of_one_tag_are_counted_together() {
    let limits = Limits { series_max: 300, ..Limits::default() };
    let mut shard = limited(|builder| builder.keep_all(), limits);
    let mut merged = Merged::new(&Registry::new());
    let total = 20_000;
    for index in 0..total {
        let node = shard.with_system(TagNode::ROOT, SystemTag::Scenario, "default");
        let node = shard.with_system(node, SystemTag::Name, &format!("http://host/{index}"));
        let node = shard.with_system(node, SystemTag::Status, if index % 2 == 0 { "200" } else { "404" });
        let http = shard.http(node);
        shard.record_http(http, &HttpTimings { duration: 1.0, ..HttpTimings::default() }, Some(index % 2 == 1));
        if index % 1_000 == 0 {
            merged.add(&shard.drain());
        }
    }
    merged.add(&shard.drain());
    assert_eq!(merged.sink(builtin::HTTP_REQS).and_then(Sink::counter), Some(f64::from(total)));
    assert_eq!(merged.sink(builtin::HTTP_REQ_FAILED).and_then(Sink::rate), Some((10_000, 20_000)));
    assert!(merged.series_len() <= limits.series_max * 5 / 4 + 64, "{}", merged.series_len());
    assert_eq!(merged.samples_lost(), 0);
    // Statuses and scenario stay apart: they are not what was too much.
    let folded = merged.series_of(builtin::HTTP_REQS).filter(|series| series.tag("name") == Some(OTHER));
    let statuses: BTreeMap<_, _> = folded
        .map(|series| (series.tag("status").unwrap_or_default().to_owned(), series.sink.counter().unwrap_or_default()))
        .collect();
    assert_eq!(statuses.keys().collect::<Vec<_>>(), ["200", "404"]);
    assert!(statuses.values().sum::<f64>() > 19_000.0);
    let warnings = merged.warnings();
    assert_eq!(warnings.len(), 1);
    assert_eq!(&*warnings[0].tag, "name");
    assert!(!warnings[0].examples.is_empty() && warnings[0].examples[0].starts_with("http://host/"));
}

/// The limit is the run's: shards share it, and a series that both have counts once.
#[test]
fn shards_share_the_limit() {
    let census = Arc::new(Census::new(1_000));
    let subscriptions = Arc::new(
        Subscriptions::builder()
            .submetric(&SubMetric::parse("http_reqs{url:http://h/17}", &Registry::new()).expect("well-formed"))
            .submetric(&SubMetric::parse("http_reqs{url:http://h/late}", &Registry::new()).expect("well-formed"))
            .build(),
    );
    let mut shards =
        [0, 1].map(|_| Shard::sharing(&Registry::new(), Arc::clone(&subscriptions), 8_192, Arc::clone(&census)));
    let mut merged = Merged::new(&Registry::new());
    let mut request = |merged: &mut Merged, index: usize, url: &str| {
        let shard = &mut shards[index % 2];
        let node = shard.with_system(TagNode::ROOT, SystemTag::Url, url);
        let http = shard.http(node);
        shard.record_http(http, &HttpTimings::default(), Some(false));
        if index % 500 == 499 {
            merged.add(&shard.drain());
        }
        shard.tag_sets.sizes()
    };
    for index in 0..600 {
        request(&mut merged, index, &format!("http://h/{}", index / 2));
    }
    // 300 URLs of both shards, and eight metrics without them.
    assert_eq!(census.len(), 308);
    assert!(!census.is_full());
    let mut sizes = (0, 0, 0);
    for index in 600..50_000 {
        let now = request(&mut merged, index, &format!("http://h/{index}"));
        if index == 20_000 {
            sizes = now;
        }
        assert!(index <= 20_000 || now <= sizes, "URLs are not kept beyond the limit: {now:?}");
    }
    // What a threshold names stays apart even then.
    for index in 50_000..50_010 {
        request(&mut merged, index, "http://h/late");
    }
    shards.iter_mut().for_each(|shard| merged.add(&shard.drain()));
    assert_eq!(census.len(), 1_000 + 2, "one for what was folded, one that a threshold names");
    assert_eq!(merged.series_len(), census.len());
    let count = |name: &str| {
        let submetric = SubMetric::parse(name, &Registry::new()).expect("well-formed");
        merged.submetric(&submetric).and_then(|sink| sink.counter())
    };
    assert_eq!(count("http_reqs{url:http://h/17}"), Some(2.0));
    assert_eq!(count("http_reqs{url:http://h/late}"), Some(10.0));
    assert_eq!(merged.sink(builtin::HTTP_REQS).and_then(Sink::counter), Some(50_010.0));
    assert_eq!(merged.warnings().len(), 1);
    assert_eq!((&*merged.warnings()[0].tag, merged.samples_lost()), ("url", 0));
}

/// Long values reach the limit of bytes long before that of series.
#[test]
fn bytes_of_values_are_limited() {
    let mut shard = shard(|builder| builder.keep_all());
    let long = "x".repeat(8_000);
    for index in 0..9_000 {
        let node = shard.with_system(TagNode::ROOT, SystemTag::Url, &format!("{index}{long}"));
        let series = shard.series(builtin::ITERATIONS, node);
        shard.add(series, 1.0);
    }
    let (_, values, _) = shard.tag_sets.sizes();
    assert!((8_000..8_500).contains(&values), "{values}");
    assert_eq!(shard.drain().warnings.len(), 1);
}

#[test]
fn memory_stays_bounded_whatever_the_tags_are() {
    let limits = Limits { series_max: 50, ..Limits::default() };
    let mut shard = limited(|builder| builder.keep_all(), limits);
    let keys: Vec<_> = (0..40).filter_map(|key| shard.key(&format!("key{key}"))).collect();
    let mut total = 0.0;
    let mut state = 1_u64;
    for _ in 0..30_000 {
        let mut node = TagNode::ROOT;
        for _ in 0..4 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = keys[(state >> 33) as usize % keys.len()];
            node = shard.with(node, key, &((state >> 40) % 5_000).to_string());
        }
        let series = shard.series(builtin::ITERATIONS, node);
        shard.add(series, 1.0);
        total += 1.0;
    }
    let (series, nodes) = (shard.series_len(), shard.tag_sets.sizes());
    // 8 sets a series, and two reserves of 1,024 and a quarter.
    assert!(
        series <= 3_000 && nodes.0 <= 400 + 2 * 1_124 && nodes.1 <= 400 + 2 * 1_124 + 40 * 65 && nodes.2 <= 10_000,
        "{series} {nodes:?}"
    );
    let delta = shard.drain();
    assert_eq!(delta.series.iter().filter_map(|series| series.sink.counter()).sum::<f64>(), total);
}

#[test]
fn long_values_are_cut_at_a_character() {
    let mut shard = limited(|builder| builder.keep_all(), Limits { value_bytes_max: 5, ..Limits::default() });
    let node = shard.with_system(TagNode::ROOT, SystemTag::Url, "abcdéf");
    let series = shard.series(builtin::VUS, node);
    shard.add(series, 1.0);
    let delta = shard.drain();
    assert_eq!(labels(&delta), ["vus{url=abcd}"]);
    assert_eq!(delta.values_cut, 1);
}

#[test]
fn gauges_are_ordered_by_time() {
    let mut late = shard(|builder| builder);
    let mut early = shard(|builder| builder);
    for (shard, time, value) in [(&mut late, 10_u64, 1.0), (&mut early, 5, 2.0)] {
        shard.set_time(time);
        let series = shard.series(builtin::VUS, TagNode::ROOT);
        shard.add(series, value);
    }
    let deltas = [late.drain(), early.drain()];
    for order in [[0, 1], [1, 0]] {
        let mut merged = Merged::new(&Registry::new());
        order.into_iter().for_each(|index| merged.add(&deltas[index]));
        let gauge = merged.sink(builtin::VUS).and_then(|sink| sink.gauge().copied()).expect("two samples");
        assert_eq!((gauge.last, gauge.min, gauge.max), (1.0, 1.0, 2.0));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Add { metric: usize, tag: u8, value: f64 },
    Http { tag: u8, duration: f64, failed: Option<bool> },
    Drain,
}

fn step() -> impl Strategy<Value = Step> {
    let value = || prop_oneof![(0.0..1e4_f64), Just(0.0), -1.0..1.0_f64, any::<u32>().prop_map(f64::from)];
    prop_oneof![
        8 => (0..METRICS.len(), 0_u8..3, value()).prop_map(|(metric, tag, value)| Step::Add { metric, tag, value }),
        4 => (0_u8..3, value(), any::<Option<bool>>()).prop_map(|(tag, duration, failed)| Step::Http { tag, duration, failed }),
        1 => Just(Step::Drain),
    ]
}

const METRICS: [MetricId; 4] = [builtin::DATA_SENT, builtin::VUS, builtin::CHECKS, builtin::GROUP_DURATION];

fn apply(shard: &mut Shard, merged: &mut Merged, time: u64, step: &Step) {
    shard.set_time(time * 1_000);
    match step {
        Step::Add { metric, tag, value } => {
            let node = shard.with_system(TagNode::ROOT, SystemTag::Group, &format!("::{tag}"));
            let series = shard.series(METRICS[*metric], node);
            shard.add(series, *value);
        }
        Step::Http { tag, duration, failed } => {
            let node = shard.with_system(TagNode::ROOT, SystemTag::Group, &format!("::{tag}"));
            let http = shard.http(node);
            shard.record_http(http, &HttpTimings { duration: *duration, ..HttpTimings::default() }, *failed);
        }
        Step::Drain => merged.add(&shard.drain()),
    }
}

/// Every series and every total, in an order that does not depend on who was first.
fn contents(merged: &Merged) -> (BTreeMap<String, Sink>, BTreeMap<String, Sink>) {
    let label_of = |series: &crate::merged::MergedSeries| {
        label(&DeltaSeries { metric: series.metric, tags: Arc::clone(&series.tags), sink: series.sink.clone() })
    };
    (
        merged.series().map(|series| (label_of(series), series.sink.clone())).collect(),
        merged.metrics().map(|(metric, sink)| (metric.name.to_string(), sink.clone())).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Exact merging: samples over any number of shards, drained at any time, give what one shard gives.
    #[test]
    fn any_partition_gives_the_same_merged(steps in prop::collection::vec((0_usize..4, step()), 0..250)) {
        let build = || shard(|builder| builder.for_summary());
        let mut shards: Vec<_> = (0..4).map(|_| build()).collect();
        let mut whole = build();
        let (mut parts_merged, mut whole_merged) = (Merged::new(&Registry::new()), Merged::new(&Registry::new()));
        for (time, (owner, step)) in steps.iter().enumerate() {
            apply(&mut shards[*owner], &mut parts_merged, time as u64, step);
            if !matches!(step, Step::Drain) {
                apply(&mut whole, &mut whole_merged, time as u64, step);
            }
        }
        for shard in &mut shards {
            parts_merged.add(&shard.drain());
            prop_assert!(shard.drain().is_empty());
        }
        whole_merged.add(&whole.drain());
        prop_assert_eq!(contents(&parts_merged), contents(&whole_merged));
    }
}

/// Collects what a tap hands over, after refusing some.
#[derive(Clone)]
struct Collector {
    batches: Arc<std::sync::Mutex<Vec<SampleBatch>>>,
    refuses: usize,
}

impl SampleSink for Collector {
    fn accept(&mut self, batch: SampleBatch) -> Result<(), SampleBatch> {
        if self.refuses > 0 {
            self.refuses -= 1;
            return Err(batch);
        }
        self.batches.lock().expect("no test panics with it").push(batch);
        Ok(())
    }
}

fn tapped(refuses: usize) -> (Shard, Collector) {
    let collector = Collector { batches: Arc::default(), refuses };
    let subscriptions = Arc::new(Subscriptions::builder().build_all().build());
    let mut shard = Shard::new(&Registry::new(), subscriptions, Limits::default());
    shard.tap(Tap::new(Box::new(collector.clone()), || 7));
    (shard, collector)
}

#[test]
fn a_tap_sees_every_sample_with_all_its_tags() {
    let (mut shard, collector) = tapped(0);
    let key = shard.key("mine").expect("every tag is built");
    let node = shard.with(TagNode::ROOT, key, "1");
    let node = shard.with_system(node, SystemTag::Scenario, "default");
    let checks = shard.series(builtin::CHECKS, node);
    shard.add(checks, 1.0);
    let note: TagPairs = Arc::from([(Arc::from("vu"), Arc::from("3"))]);
    shard.annotate(Some(&note));
    shard.add(checks, 0.0);
    let http = shard.http(node);
    shard.record_http(http, &HttpTimings { waiting: 2.5, ..HttpTimings::default() }, Some(true));
    shard.hand_over();
    let batches = collector.batches.lock().expect("no test panics with it");
    let [batch] = &batches[..] else { panic!("{batches:?}") };
    let tags: Vec<_> = batch.tag_sets.iter().map(|pairs| format!("{pairs:?}")).collect();
    assert_eq!(tags, [r#"[("mine", "1"), ("scenario", "default")]"#]);
    assert_eq!(batch.metadata.len(), 1);
    let samples: Vec<_> = batch.samples.iter().map(|s| (s.metric, s.tags, s.metadata, s.time, s.value)).collect();
    assert_eq!(
        samples[..3],
        [(builtin::CHECKS, 0, u32::MAX, 7, 1.0), (builtin::CHECKS, 0, 0, 7, 0.0), (builtin::HTTP_REQS, 0, 0, 7, 1.0)]
    );
    assert_eq!(
        samples[8..],
        [
            (builtin::HTTP_REQ_WAITING, 0, 0, 7, 2.5),
            (builtin::HTTP_REQ_RECEIVING, 0, 0, 7, 0.0),
            (builtin::HTTP_REQ_FAILED, 0, 0, 7, 1.0)
        ]
    );
    drop(batches);
    // What is folded has only the tags somebody reads.
    assert_eq!(labels(&shard.drain())[..2], ["checks{}", "http_reqs{}"]);
}

/// Too many series fold what is counted together; what is written down keeps its values.
#[test]
fn a_tap_sees_values_that_are_folded() {
    let collector = Collector { batches: Arc::default(), refuses: 0 };
    let url = SubMetric::parse("http_reqs{url:x}", &Registry::new()).expect("a sub-metric");
    let subscriptions = Arc::new(Subscriptions::builder().build_all().submetric(&url).build());
    let limits = Limits { series_max: 100, ..Limits::default() };
    let mut shard = Shard::new(&Registry::new(), subscriptions, limits);
    shard.tap(Tap::new(Box::new(collector.clone()), || 7));
    for value in 0..500 {
        let node = shard.with_system(TagNode::ROOT, SystemTag::Url, &format!("http://h/{value}"));
        let series = shard.series(builtin::HTTP_REQS, node);
        shard.add(series, 1.0);
    }
    shard.hand_over();
    assert!(shard.series_len() < 200, "{}", shard.series_len());
    let delta = shard.drain();
    assert_eq!(delta.warnings.len(), 1, "{:?}", delta.warnings);
    assert!(labels(&delta).contains(&"http_reqs{url=(other)}".to_owned()), "{:?}", labels(&delta));
    let batches = collector.batches.lock().expect("no test panics with it");
    let sets: Vec<_> = batches.iter().flat_map(|batch| &batch.tag_sets).map(|pairs| pairs[0].1.to_string()).collect();
    assert_eq!(sets, (0..500).map(|value| format!("http://h/{value}")).collect::<Vec<_>>());
}

#[test]
fn tag_sets_survive_batches_that_were_refused() {
    let (mut shard, collector) = tapped(2);
    for value in ["a", "b", "b", "c"] {
        let node = shard.with_system(TagNode::ROOT, SystemTag::Group, value);
        let series = shard.series(builtin::VUS, node);
        shard.add(series, 1.0);
        shard.hand_over();
    }
    let batches = collector.batches.lock().expect("no test panics with it");
    let shapes: Vec<_> =
        batches.iter().map(|b| (b.first_tag_set, b.tag_sets.len(), b.samples.len(), b.samples[0].tags)).collect();
    assert_eq!(shapes, [(0, 2, 1, 1), (2, 1, 1, 2)]);
}

#[test]
fn metadata_goes_on_in_the_next_batch() {
    let (mut shard, collector) = tapped(0);
    let series = shard.series(builtin::VUS, TagNode::ROOT);
    let note: TagPairs = Arc::from([(Arc::from("vu"), Arc::from("3"))]);
    shard.annotate(Some(&note));
    for _ in 0..2 * Tap::BATCH_MAX {
        shard.add(series, 1.0);
    }
    shard.annotate(None);
    shard.add(series, 1.0);
    shard.hand_over();
    let batches = collector.batches.lock().expect("no test panics with it");
    let has: Vec<_> = batches
        .iter()
        .map(|batch| {
            batch.samples.iter().filter(|sample| batch.metadata.get(sample.metadata as usize).is_some()).count()
        })
        .collect();
    assert_eq!(has, [Tap::BATCH_MAX, Tap::BATCH_MAX, 0]);
}
