//! What a relay adds up, passes on and forgets.

use onrush_metrics::{Contains, Delta, ExactSum, Gauge, Merged, MetricKind, Registry, Sink, Span, TagPairs, builtin};
use onrush_plan::{Options, Plan, Share, Tier, consolidate, parse_json};

use super::*;
use crate::{
    Coordinator, RunPhase, Settings,
    protocol::{ThreadDelta, VERSION},
};

const SECOND: u64 = 1_000_000_000;

fn at(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

fn accepted(registry: &Registry, threads: u32) -> Accepted {
    let metric = |metric: &onrush_metrics::Metric| MetricName {
        name: metric.name.to_string(),
        kind: metric.kind,
        contains: metric.contains,
    };
    let metrics = registry.iter().map(metric).collect();
    Accepted { version: VERSION, metrics, scenarios: vec!["default".to_owned()], threads }
}

fn counter(value: f64) -> Sink {
    let mut sum = ExactSum::default();
    sum.add(value);
    Sink::Counter { sum }
}

/// A delta of a second of a thread: some requests, an iteration, and what VUs there are.
fn delta(thread: u32, second: u64, requests: f64) -> Report {
    let mut delta = Delta::default();
    delta.push(builtin::HTTP_REQS, TagPairs::default(), counter(requests));
    delta.push(builtin::ITERATIONS, TagPairs::default(), counter(1.0));
    delta.push(builtin::VUS, TagPairs::default(), Sink::Gauge(Gauge::new(requests, second)));
    let span = Some(Span { from_ns: (second - 1) * SECOND, until_ns: second * SECOND });
    Report::Delta(Box::new(ThreadDelta { thread, span, delta, ended: vec![1] }))
}

/// A relay with agents of a thread each, which have said what they measure as their first report.
fn relay(agents: u32) -> Relay {
    let mut relay = Relay::default();
    let accepted = Report::Accepted(Box::new(accepted(&Registry::new(), 1)));
    for agent in (0..agents).map(AgentId) {
        relay.joined(agent, None);
        assert_eq!(relay.take(agent, (1, 0), Some(&accepted), at(0)), Taken::Passes);
    }
    relay
}

fn numbers(relayed: &Relayed) -> Vec<(u32, u64)> {
    relayed.parts.iter().map(|part| (part.agent.0, part.number)).collect()
}

#[test]
fn deltas_of_a_second_go_on_as_one_when_all_are_there() {
    let mut relay = relay(3);
    for agent in [0, 2] {
        assert_eq!(relay.take(AgentId(agent), (2, 7), Some(&delta(0, 1, 10.0)), at(1_000)), Taken::Held);
        assert_eq!(relay.due(at(1_010)), None);
    }
    // What is no delta does not wait.
    assert_eq!(relay.take(AgentId(2), (3, 0), Some(&Report::ScenariosDone), at(1_010)), Taken::Passes);
    assert_eq!(relay.take(AgentId(2), (0, 0), None, at(1_010)), Taken::Passes);
    assert_eq!(relay.take(AgentId(1), (2, 7), Some(&delta(0, 1, 5.0)), at(1_020)), Taken::Held);
    let relayed = relay.due(at(1_020)).expect("all are there");
    assert_eq!(numbers(&relayed), [(0, 2), (2, 2), (1, 2)]);
    assert!(relayed.parts.iter().all(|part| part.acknowledged == 7 && part.ended == [1] && part.gauges.len() == 1));
    let [sum] = &relayed.sums[..] else { panic!("{:?}", relayed.sums) };
    assert_eq!(sum.span, Span { from_ns: 0, until_ns: SECOND });
    let values: Vec<f64> = sum.delta.series.iter().filter_map(|series| series.sink.counter()).collect();
    assert_eq!(values, [25.0, 3.0]);
    assert_eq!((relay.due(at(9_000)), relay.due_at()), (None, None));
}

#[test]
fn nobody_is_waited_for_for_long() {
    let mut relay = relay(2);
    assert_eq!(relay.take(AgentId(0), (2, 0), Some(&delta(0, 1, 1.0)), at(1_000)), Taken::Held);
    assert_eq!((relay.due(at(1_199)), relay.due_at()), (None, Some(at(1_200))));
    assert_eq!(relay.due(at(1_200)).map(|relayed| numbers(&relayed)), Some(vec![(0, 2)]));
}

#[test]
fn what_cannot_be_added_up_passes() {
    let mut relay = relay(2);
    let take =
        |relay: &mut Relay, number: u64, report: &Report| relay.take(AgentId(0), (number, 0), Some(report), at(0));
    let Report::Delta(mut part) = delta(0, 1, 1.0) else { panic!("a delta") };
    part.span = None;
    assert_eq!(take(&mut relay, 2, &Report::Delta(part)), Taken::Passes, "it is not of the scenarios");
    let of_share = Report::OfShare { share: 0, report: Box::new(delta(0, 1, 1.0)) };
    assert_eq!(take(&mut relay, 3, &of_share), Taken::Passes, "it is of another's share");
    assert_eq!(take(&mut relay, 5, &delta(0, 1, 1.0)), Taken::Passes, "one before it is missing");
    assert_eq!(take(&mut relay, 4, &Report::ScenariosDone), Taken::Passes);
    assert_eq!(take(&mut relay, 6, &delta(0, 1, 1.0)), Taken::Held);
    assert_eq!(take(&mut relay, 7, &delta(1, 1, 1.0)), Taken::Held);
    assert_eq!(take(&mut relay, 8, &Report::ScenariosDone), Taken::Passes);
    assert_eq!(take(&mut relay, 9, &delta(0, 2, 1.0)), Taken::Passes, "something comes between it and what is held");
    // Whose metrics are not known.
    relay.joined(AgentId(9), None);
    assert_eq!(relay.take(AgentId(9), (1, 0), Some(&delta(0, 1, 1.0)), at(0)), Taken::Passes);
    assert_eq!(relay.due(at(500)).map(|relayed| numbers(&relayed)), Some(vec![(0, 6), (0, 7)]));
}

#[test]
fn what_is_sent_again_is_not_added_again() {
    let mut relay = relay(1);
    assert_eq!(relay.take(AgentId(0), (2, 0), Some(&delta(0, 1, 1.0)), at(0)), Taken::Held);
    let again = |relay: &mut Relay| relay.take(AgentId(0), (2, 0), Some(&delta(0, 1, 1.0)), at(0));
    assert_eq!(again(&mut relay), Taken::Held, "it waits");
    assert_eq!(relay.due(at(0)).map(|relayed| numbers(&relayed)), Some(vec![(0, 2)]));
    assert_eq!(again(&mut relay), Taken::Held, "it is under way");
    relay.left(AgentId(0));
    relay.joined(AgentId(0), Some(&accepted(&Registry::new(), 1)));
    assert_eq!(again(&mut relay), Taken::Held, "whichever connection it comes over");
    relay.acknowledged(AgentId(0), 2);
    // The acknowledgement may be lost: the coordinator tells it again.
    assert_eq!(again(&mut relay), Taken::Passes);
    assert_eq!(relay.due(at(900)), None);
    // One that begins anew knows of none of it, and goes on with what the coordinator says has come.
    relay.restart();
    relay.joined(AgentId(0), Some(&accepted(&Registry::new(), 1)));
    relay.acknowledged(AgentId(0), 2);
    assert_eq!(relay.take(AgentId(0), (3, 0), Some(&delta(0, 2, 1.0)), at(0)), Taken::Held);
}

#[test]
fn seconds_and_names_are_kept_apart() {
    let mut relay = relay(2);
    let mut registry = Registry::new();
    registry.declare("own", MetricKind::Counter, Contains::Default).expect("a valid name");
    relay.joined(AgentId(2), Some(&accepted(&registry, 1)));
    for (agent, number, second) in [(0, 2, 1), (1, 2, 1), (1, 3, 2), (2, 1, 1)] {
        assert_eq!(relay.take(AgentId(agent), (number, 0), Some(&delta(0, second, 1.0)), at(0)), Taken::Held);
    }
    let relayed = relay.due(at(0)).expect("as many as there are threads");
    let sums: Vec<_> = relayed.sums.iter().map(|sum| (sum.metrics_of.0, sum.span.until_ns / SECOND)).collect();
    assert_eq!(sums, [(0, 1), (1, 2), (2, 1)]);
}

/// A coordinator of agents that run.
fn coordinator(agents: u32) -> Coordinator {
    let options = parse_json(r#"{"vus": 3, "duration": "1m"}"#).expect("options").options;
    let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).expect("valid");
    let plan = Plan::new(&test.scenarios, &Share::full()).expect("a plan");
    let registry = Registry::new();
    let ids = (0..agents).map(AgentId);
    let mut coordinator = Coordinator::new(Settings::default(), ids, &plan, &registry, Default::default());
    coordinator.start(b"", at(0));
    for agent in (0..agents).map(AgentId) {
        coordinator.handle(agent, Report::Accepted(Box::new(accepted(&registry, 1))), at(0));
        coordinator.handle(agent, Report::Ready, at(0));
    }
    assert_eq!(coordinator.phase(), RunPhase::Running);
    coordinator
}

/// Everything the coordinator knows is what it would know without the relay.
#[test]
fn a_coordinator_learns_the_same() {
    let (mut direct, mut relayed, mut relay) = (coordinator(3), coordinator(3), relay(3));
    for second in 1..=4 {
        for agent in (0..3).map(AgentId) {
            let report = delta(0, second, f64::from(agent.0 + 1));
            assert_eq!(relay.take(agent, (second + 1, 0), Some(&report), at(second * 1_000)), Taken::Held);
            direct.handle(agent, report, at(second * 1_000));
        }
        relayed.relayed(relay.due(at(second * 1_000)).expect("all are there"), at(second * 1_000));
    }
    let series = |merged: &Merged| -> Vec<String> {
        let mut all: Vec<String> =
            merged.series().map(|series| format!("{:?} {:?}", series.metric, series.sink)).collect();
        all.sort();
        all
    };
    assert_eq!(series(relayed.merged()), series(direct.merged()));
    let vus = relayed.merged().sink(builtin::VUS).and_then(Sink::gauge).copied().expect("they said so");
    assert_eq!(vus.last, 6.0, "the VUs of all agents");
    assert_eq!(relayed.overview(), direct.overview());
    assert_eq!(relayed.overview().iter().map(|agent| agent.requests).collect::<Vec<_>>(), [4, 8, 12]);
}
