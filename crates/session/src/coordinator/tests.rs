//! The coordinator alone: barriers, ends, losses.

mod joining;

use std::collections::BTreeMap;

use onrush_metrics::{Delta, Sink, Span, ThresholdSource, builtin};
use onrush_plan::{Options, Share, Tier, consolidate, parse_json};

use super::*;
use crate::{
    Steer, SteerError, Verdict,
    protocol::{Flushed, HealthReport, MetricName, TargetChange},
};

fn at(seconds: u64) -> Time {
    Time(seconds * 1_000_000_000)
}

fn plan(options: &str) -> Plan {
    let options = parse_json(options).unwrap().options;
    let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).unwrap();
    Plan::new(&test.scenarios, &test.share).unwrap()
}

const TEN_SECONDS: &str = r#"{"vus": 4, "duration": "10s"}"#;
const EXTERNAL: &str = r#"{"scenarios": {"ext":
    {"executor": "externally-controlled", "vus": 2, "maxVUs": 10, "duration": "10m"}}}"#;

fn coordinator(settings: Settings, agents: u32, options: &str, thresholds: &[(&str, &str, bool)]) -> Coordinator {
    let registry = Registry::new();
    let mut sources: BTreeMap<String, Vec<ThresholdSource>> = BTreeMap::new();
    for (metric, expression, abort_on_fail) in thresholds {
        let source = ThresholdSource {
            expression: (*expression).to_owned(),
            abort_on_fail: *abort_on_fail,
            ..ThresholdSource::default()
        };
        sources.entry((*metric).to_owned()).or_default().push(source);
    }
    let thresholds = Thresholds::parse(&sources, &registry).expect("valid thresholds");
    let plan = plan(options);
    let mut run = Coordinator::new(settings, (0..agents).map(AgentId), &plan, &registry, thresholds);
    let orders = run.start(b"the test", at(0));
    assert_eq!(orders.len(), agents as usize);
    for (id, order) in orders {
        assert!(matches!(order, Command::Init(_)), "{order:?}");
        assert_eq!(run.handle(id, accepted(&run), at(0)), []);
    }
    run
}

fn accepted(run: &Coordinator) -> Report {
    let metric = |metric: &onrush_metrics::Metric| MetricName {
        name: metric.name.to_string(),
        kind: metric.kind,
        contains: metric.contains,
    };
    Report::Accepted(Box::new(Accepted {
        version: VERSION,
        metrics: run.merged().registry().iter().map(metric).collect(),
        scenarios: run.scenarios.clone(),
        threads: 1,
    }))
}

fn all() -> Settings {
    Settings { has_setup: true, has_teardown: true, evaluates_thresholds: true, ..Settings::default() }
}

fn iterations(count: f64, span: Option<Span>) -> Report {
    let mut sum = onrush_metrics::ExactSum::default();
    sum.add(count);
    let mut delta = Delta::default();
    delta.push(builtin::ITERATIONS, Vec::new().into(), Sink::Counter { sum });
    Report::Delta(Box::new(ThreadDelta { span, delta, ..ThreadDelta::default() }))
}

/// The commands as short names with whom they are for.
#[track_caller]
fn check(orders: Orders, expect: &[&str]) {
    let name = |command: &Command| match command {
        Command::Init(_) => "init",
        Command::StartClock { .. } => "clock",
        Command::Setup => "setup",
        Command::SetupData(_) => "data",
        Command::Start { .. } => "start",
        Command::Steer { .. } => "steer",
        Command::Pause { is_paused: true, .. } => "pause",
        Command::Pause { is_paused: false, .. } => "resume",
        Command::Interrupt => "interrupt",
        Command::Teardown(_) => "teardown",
        Command::OfShare { .. } => "share",
        Command::TakeUp(_) => "take up",
        Command::Flush => "flush",
        Command::Summary(_) => "summary",
        Command::Secret(_) => "secret",
        Command::Stop => "stop",
    };
    let shown: Vec<String> = orders.iter().map(|(id, command)| format!("{} {}", id.0, name(command))).collect();
    assert_eq!(shown, expect);
}

fn ready(run: &mut Coordinator, agents: u32) -> Orders {
    (0..agents).flat_map(|id| run.handle(AgentId(id), Report::Ready, at(1))).collect()
}

/// From `Done` to the outcome.
fn close(run: &mut Coordinator, now: Time) -> Outcome {
    assert_eq!(run.phase(), RunPhase::Done);
    for (id, command) in run.close(now) {
        assert_eq!(command, Command::Flush);
        run.handle(id, Report::Flushed(Flushed::default()), now);
    }
    run.outcome().expect("all samples are in").clone()
}

fn stop(code: ExitCode) -> Stop {
    Stop { code, message: String::new() }
}

fn script_failure() -> Failure {
    Failure::new(FailureKind::Script, "boom")
}

const A: AgentId = AgentId(0);
const B: AgentId = AgentId(1);

#[test]
fn a_run_waits_for_all_agents_at_every_barrier() {
    let mut run = coordinator(all(), 2, TEN_SECONDS, &[]);
    check(run.handle(A, Report::Ready, at(1)), &[]);
    check(run.handle(B, Report::Ready, at(2)), &["0 clock", "1 clock", "0 setup"]);
    check(run.handle(B, Report::SetupDone(Ok(None)), at(3)), &[]);
    let orders = run.handle(A, Report::SetupDone(Ok(Some("{}".into()))), at(3));
    assert_eq!(orders[1], (B, Command::Start { at: at(3), data: Some("{}".into()) }));
    check(run.handle(B, Report::ScenariosDone, at(13)), &[]);
    check(run.handle(A, Report::ScenariosDone, at(14)), &["0 teardown"]);
    check(run.handle(A, Report::TeardownDone(Ok(())), at(15)), &[]);
    assert_eq!(close(&mut run, at(16)).exit_code(), ExitCode::Success);
    assert_eq!(run.duration(), Some(Duration::from_secs(14)), "from setup() on");
    check(run.stop_agents(at(100)), &["0 stop", "1 stop"]);
}

#[test]
fn the_same_agent_twice_does_not_pass_a_barrier_of_two() {
    let mut run = coordinator(Settings::default(), 2, TEN_SECONDS, &[]);
    check(run.handle(A, Report::Ready, at(1)), &[]);
    check(run.handle(A, Report::Ready, at(1)), &[]);
}

#[test]
fn every_agent_gets_a_share_of_the_test_and_its_limits() {
    let settings = Settings { series_max: 10, rps: Some(7), ..Settings::default() };
    let plan = plan(TEN_SECONDS);
    let mut run = Coordinator::new(settings, (0..3).map(AgentId), &plan, &Registry::new(), Thresholds::default());
    let orders = run.start(b"archive", at(0));
    let shares: Vec<_> = orders
        .iter()
        .map(|(_, command)| match command {
            Command::Init(init) => (init.segment.as_str(), init.series_max, init.rps, init.test.as_slice()),
            other => panic!("{other:?}"),
        })
        .collect();
    let test: &[u8] = b"archive";
    assert_eq!(
        shares,
        [("0:1/3", Some(3), Some(2), test), ("1/3:2/3", Some(3), Some(2), test), ("2/3:1", Some(4), Some(3), test)]
    );
}

#[test]
fn shares_follow_weights() {
    let settings = Settings { series_max: 10, rps: Some(100), ..Settings::default() };
    let plan = plan(TEN_SECONDS);
    let mut run = Coordinator::new(settings, (0..3).map(AgentId), &plan, &Registry::new(), Thresholds::default())
        .weighted(vec![2, 5, 3]);
    let orders = run.start(b"archive", at(0));
    let shares: Vec<_> = orders
        .iter()
        .map(|(_, command)| match command {
            Command::Init(init) => (init.segment.as_str(), init.sequence.as_str(), init.series_max, init.rps),
            other => panic!("{other:?}"),
        })
        .collect();
    let sequence = "0,1/5,7/10,1";
    assert_eq!(
        shares,
        [
            ("0:1/5", sequence, Some(2), Some(20)),
            ("1/5:7/10", sequence, Some(5), Some(50)),
            ("7/10:1", sequence, Some(3), Some(30))
        ]
    );
}

#[test]
fn agents_divide_the_segment_that_the_run_is() {
    let plan = plan(TEN_SECONDS);
    let sequence: SegmentSequence = "0,1/4,1".parse().unwrap();
    let segment = sequence.segments()[1];
    let agents = (0..2).map(AgentId);
    let mut run = Coordinator::new(Settings::default(), agents, &plan, &Registry::new(), Thresholds::default())
        .weighted(vec![1, 3])
        .within(segment, sequence.clone());
    let shares = run.start(b"archive", at(0)).into_iter().map(|(_, command)| match command {
        Command::Init(init) => init.share().unwrap(),
        other => panic!("{other:?}"),
    });
    let whole = Share::new(Some(&segment), Some(&sequence)).unwrap();
    for (agent, share) in (0..).zip(shares) {
        for number in 0..50 {
            assert_eq!(share.nth(number), whole.nth(2 * number + agent), "{agent}: {number}");
        }
    }
}

#[test]
fn an_abort_still_runs_teardown_and_the_first_reason_stays() {
    let mut run = coordinator(Settings { has_setup: false, ..all() }, 1, TEN_SECONDS, &[]);
    check(ready(&mut run, 1), &["0 start"]);
    check(run.abort(stop(ExitCode::ExternalAbort), at(2)), &["0 interrupt"]);
    check(run.handle(A, Report::Aborted { message: String::new() }, at(2)), &[]);
    check(run.handle(A, Report::ScenariosDone, at(3)), &["0 teardown"]);
    check(run.handle(A, Report::TeardownDone(Ok(())), at(3)), &[]);
    assert_eq!(close(&mut run, at(3)).exit_code(), ExitCode::ExternalAbort);
}

#[test]
fn a_failed_setup_skips_scenarios_and_teardown() {
    let mut run = coordinator(all(), 1, TEN_SECONDS, &[]);
    check(ready(&mut run, 1), &["0 clock", "0 setup"]);
    check(run.handle(A, Report::SetupDone(Err(script_failure())), at(2)), &["0 interrupt"]);
    check(run.handle(A, Report::SetupDone(Ok(None)), at(2)), &[]);
    assert_eq!(close(&mut run, at(2)).exit_code(), ExitCode::ScriptException);
}

#[test]
fn a_limit_of_time_has_the_code_of_its_function() {
    let timeout = || Failure::new(FailureKind::Timeout, "too long");
    let mut run = coordinator(all(), 1, TEN_SECONDS, &[]);
    ready(&mut run, 1);
    run.handle(A, Report::SetupDone(Err(timeout())), at(2));
    assert_eq!(close(&mut run, at(2)).exit_code(), ExitCode::SetupTimeout);
    let mut run = coordinator(Settings { has_setup: false, ..all() }, 1, TEN_SECONDS, &[]);
    ready(&mut run, 1);
    run.handle(A, Report::ScenariosDone, at(2));
    run.handle(A, Report::TeardownDone(Err(timeout())), at(2));
    assert_eq!(close(&mut run, at(2)).exit_code(), ExitCode::TeardownTimeout);
}

#[test]
fn a_crossed_threshold_that_aborts_ends_the_run_with_99() {
    let settings = Settings { has_teardown: false, ..all() };
    let mut run = coordinator(settings, 1, TEN_SECONDS, &[("iterations", "count<5", true)]);
    ready(&mut run, 1);
    run.handle(A, Report::SetupDone(Ok(None)), at(1));
    run.handle(A, iterations(9.0, None), at(1));
    check(run.tick(at(2)), &[]);
    check(run.tick(at(3)), &["0 interrupt"]);
    run.handle(A, Report::ScenariosDone, at(3));
    assert_eq!(close(&mut run, at(3)).exit_code(), ExitCode::ThresholdsHaveFailed);
}

#[test]
fn deltas_of_all_agents_add_up() {
    let mut run = coordinator(Settings::default(), 2, TEN_SECONDS, &[]);
    run.handle(A, iterations(2.0, None), at(1));
    run.handle(B, iterations(3.0, None), at(1));
    assert_eq!(run.merged().sink(builtin::ITERATIONS).and_then(Sink::counter), Some(5.0));
}

#[test]
fn a_paused_run_waits_to_be_resumed() {
    let mut run = coordinator(Settings { starts_paused: true, ..all() }, 1, TEN_SECONDS, &[]);
    check(ready(&mut run, 1), &[]);
    assert!(run.is_paused() && run.phase() == RunPhase::Paused);
    assert_eq!(run.pause(true, "test".to_owned(), at(2)), Err(SteerError::PausedBeforeStart));
    check(run.pause(false, "test".to_owned(), at(3)).unwrap(), &["0 clock", "0 setup"]);
    assert!(!run.is_paused());
    assert_eq!(run.steering().journal().len(), 1);
}

#[test]
fn a_run_resumed_while_it_initialises_does_not_wait() {
    let mut run = coordinator(Settings { starts_paused: true, ..all() }, 1, TEN_SECONDS, &[]);
    check(run.pause(false, String::new(), at(0)).unwrap(), &[]);
    check(ready(&mut run, 1), &["0 clock", "0 setup"]);
}

#[test]
fn an_abort_ends_a_paused_run_and_steers_nothing_more() {
    let mut run = coordinator(Settings { starts_paused: true, ..all() }, 1, TEN_SECONDS, &[]);
    ready(&mut run, 1);
    check(run.abort(stop(ExitCode::ScriptStoppedFromRestApi), at(2)), &["0 interrupt"]);
    let steer = Steer { scenario: None, wanted: Default::default(), source: String::new() };
    assert_eq!(run.steer(steer, at(2)), Err(SteerError::AllOver));
}

#[test]
fn a_pause_stops_every_clock() {
    let settings = Settings { evaluates_thresholds: true, ..Settings::default() };
    let mut run = coordinator(settings, 1, EXTERNAL, &[]);
    check(ready(&mut run, 1), &["0 start"]);
    run.handle(A, Report::Started { at: at(1) }, at(1));
    check(run.pause(true, String::new(), at(11)).unwrap(), &["0 pause"]);
    assert_eq!(run.moment(at(500)).scenarios, Duration::from_secs(10));
    // Ten minutes and the patience behind them are over on the wall only.
    check(run.tick(at(5_000)), &[]);
    check(run.pause(false, String::new(), at(5_011)).unwrap(), &["0 resume"]);
    assert_eq!(run.moment(at(5_012)).scenarios, Duration::from_secs(11));
    check(run.tick(at(5_012)), &[]);
    assert_eq!(run.phase(), RunPhase::Running);
}

#[test]
fn what_each_agent_did_is_known() {
    let mut run = coordinator(Settings::default(), 3, TEN_SECONDS, &[]);
    ready(&mut run, 3);
    assert_eq!(run.begin_of_agents(), None);
    let ms = Duration::from_millis;
    run.handle(A, Report::Begun { late: ms(2), clock_error: ms(1) }, at(1));
    assert_eq!(run.begin_of_agents(), None, "one alone is not apart from anybody");
    run.handle(B, Report::Begun { late: ms(7), clock_error: ms(3) }, at(1));
    assert_eq!(run.begin_of_agents(), Some(Begin { within: ms(5), clock_error: ms(3) }));
    let mut sum = onrush_metrics::ExactSum::default();
    sum.add(5.0);
    for tags in [Vec::new(), vec![("url".into(), "/a".into())]] {
        let mut delta = Delta::default();
        delta.push(builtin::HTTP_REQS, tags.into(), Sink::Counter { sum: sum.clone() });
        run.handle(B, Report::Delta(Box::new(ThreadDelta { thread: 0, span: None, delta, ended: Vec::new() })), at(2));
    }
    let progress = |vus: u64, complete: u64| Progress { vus_initialized: vus, complete, ..Progress::default() };
    run.handle(B, Report::Progress(Box::new(progress(4, 10))), at(2));
    run.handle(B, Report::Progress(Box::new(progress(2, 30))), at(3));
    let busy = crate::protocol::Health { busiest_thread_cores: 1.0, ..Default::default() };
    run.handle(B, Report::Health(Box::new(HealthReport { second: Some(busy), ..Default::default() })), at(3));
    run.lost(AgentId(2), "gone", at(4));
    let [a, b, c] = &run.overview()[..] else { panic!("three agents") };
    assert_eq!((a.late, a.requests, a.health.verdict), (Some(ms(2)), 0, Verdict::Valid));
    assert_eq!((b.vus, b.iterations, b.requests, b.health.verdict), (4, 30, 10, Verdict::Invalid));
    assert!(c.is_lost && !b.is_lost && (b.share - 1.0 / 3.0).abs() < 1e-9, "{b:?}");
    assert!(run.judgement().reasons.iter().any(|reason| reason.starts_with("agent 1: the generator had no CPU left")));
}

#[test]
fn agents_learn_the_decision_and_not_their_share() {
    let mut run = coordinator(Settings::default(), 2, EXTERNAL, &[]);
    ready(&mut run, 2);
    let wanted = onrush_plan::steer::TargetRequest { vus: Some(9), ..Default::default() };
    let orders = run.steer(Steer { scenario: None, wanted, source: String::new() }, at(3)).unwrap();
    let change = TargetChange::Vus(onrush_plan::steer::Ramp::jump(2_000_000_000, 9));
    let steer = Command::Steer { scenario: "ext".to_owned(), change };
    assert_eq!(orders, [(A, steer.clone()), (B, steer)]);
}

#[test]
fn what_a_client_calls_comes_before_what_the_run_does_next() {
    let mut run = coordinator(Settings { has_setup: false, ..all() }, 2, TEN_SECONDS, &[]);
    assert!(run.call(Function::Setup, 1, at(1)).is_err());
    ready(&mut run, 2);
    check(run.call(Function::Setup, 7, at(1)).unwrap(), &["0 setup"]);
    assert!(run.call(Function::Teardown, 8, at(1)).is_err());
    run.handle(A, Report::ScenariosDone, at(5));
    check(run.handle(B, Report::ScenariosDone, at(5)), &[]);
    let orders = run.handle(A, Report::SetupDone(Ok(Some("5".into()))), at(6));
    check(orders.clone(), &["0 data", "1 data", "0 teardown"]);
    assert_eq!(orders[2].1, Command::Teardown(Some("5".into())));
    assert_eq!(run.notices(), [Notice::CallDone { call: 7, result: Ok(Some("5".into())) }]);
}

#[test]
fn a_lost_agent_ends_the_run_with_a_code_of_its_own() {
    let mut run = coordinator(Settings { has_setup: false, ..all() }, 3, TEN_SECONDS, &[]);
    ready(&mut run, 3);
    let progress = Progress { vus_active: 2_500, ..Progress::default() };
    run.handle(B, Report::Progress(Box::new(progress)), at(4));
    run.handle(B, iterations(1.0, Some(Span { from_ns: 0, until_ns: 2_200_000_000 })), at(4));
    check(run.lost(B, "its connection broke", at(5)), &["1 stop", "0 interrupt", "2 interrupt"]);
    let expect =
        "agent 1 was lost at 4.0 s: its connection broke; 1.8 s of its samples are missing, and its 2,500 VUs since";
    assert_eq!(run.notices(), [Notice::Error(expect.to_owned())]);
    check(run.handle(A, Report::ScenariosDone, at(6)), &[]);
    check(run.handle(B, Report::ScenariosDone, at(6)), &[]);
    check(run.handle(AgentId(2), Report::ScenariosDone, at(6)), &["0 teardown"]);
    run.handle(A, Report::TeardownDone(Ok(())), at(6));
    assert_eq!(close(&mut run, at(6)).exit_code(), ExitCode::AgentLost);
}

#[test]
fn a_lost_agent_can_be_tolerated() {
    let settings = Settings { on_loss: LossPolicy::Tolerate, has_setup: false, ..all() };
    let mut run = coordinator(settings, 2, TEN_SECONDS, &[]);
    ready(&mut run, 2);
    run.handle(A, Report::ScenariosDone, at(5));
    check(run.lost(B, "its connection broke", at(5)), &["1 stop", "0 teardown"]);
    run.handle(B, iterations(3.0, None), at(5));
    run.handle(A, Report::TeardownDone(Ok(())), at(6));
    assert_eq!(close(&mut run, at(6)).exit_code(), ExitCode::Success);
    assert!(run.merged().sink(builtin::ITERATIONS).is_none(), "what comes after the loss does not count");
    let judgement = run.judgement();
    assert_eq!(judgement.verdict, Verdict::Suspect);
    assert!(judgement.reasons[0].contains("agent 1 was lost"), "{judgement:?}");
}

/// Orders about a share that was taken over: for whom, which share, and what.
#[track_caller]
fn check_shares(orders: &Orders, expect: &[(u32, u32)]) -> Vec<Command> {
    let (whose, commands): (Vec<(u32, u32)>, Vec<Command>) = orders
        .iter()
        .map(|(id, command)| match command {
            Command::OfShare { share, command } => ((id.0, *share), Command::clone(command)),
            other => panic!("{other:?}"),
        })
        .unzip();
    assert_eq!(whose, expect);
    commands
}

fn of_share(share: u32, report: Report) -> Report {
    Report::OfShare { share, report: Box::new(report) }
}

#[test]
fn the_share_of_a_lost_agent_is_taken_up_by_the_others() {
    let options = r#"{"scenarios": {
        "users": {"executor": "constant-vus", "vus": 12, "duration": "10s"},
        "rate": {"executor": "constant-arrival-rate", "rate": 30, "duration": "10s", "preAllocatedVUs": 12}}}"#;
    let settings = Settings { on_loss: LossPolicy::Rebalance, has_setup: false, ..all() };
    let mut run = coordinator(settings, 3, options, &[]);
    ready(&mut run, 3);
    let measured = ThreadDelta {
        span: Some(Span { from_ns: 0, until_ns: 3_000_000_000 }),
        // Of 10 arrivals a second.
        ended: vec![25, 28],
        ..ThreadDelta::default()
    };
    run.handle(B, Report::Delta(Box::new(measured)), at(4));
    let orders = run.lost(B, "its process ended", at(5));
    assert_eq!(orders[0], (B, Command::Stop));
    let inits = check_shares(&orders[1..].to_vec(), &[(0, 0), (2, 1)]);
    for (index, init) in inits.iter().enumerate() {
        let Command::Init(init) = init else { panic!("{init:?}") };
        assert_eq!((init.agent, init.cuts.as_slice()), (1, &[Cut { index: index as u64, of: 2 }][..]));
        let share = init.share().expect("a part");
        assert_eq!(share.length().to_string(), "1/6");
    }
    // What others say of a share is not heard.
    check(run.handle(A, of_share(1, Report::Ready), at(5)), &[]);
    check(run.handle(A, of_share(0, accepted(&run)), at(5)), &[]);
    let orders = run.handle(A, of_share(0, Report::Ready), at(6));
    let commands = check_shares(&orders, &[(0, 0), (0, 0)]);
    let Command::TakeUp(take_up) = &commands[1] else { panic!("{commands:?}") };
    assert_eq!((take_up.at, take_up.from_ns), (at(1), 5_000_000_000));
    assert_eq!((take_up.scenarios[1].scenario.as_str(), take_up.scenarios[1].ended), ("users", 28));
    run.notices();
    run.handle(AgentId(2), of_share(1, accepted(&run)), at(6));
    check_shares(&run.handle(AgentId(2), of_share(1, Report::Ready), at(7)), &[(2, 1), (2, 1)]);
    let notices = run.notices();
    let [Notice::Warning { message, .. }] = &notices[..] else { panic!("{notices:?}") };
    // 10 a second for 5 s of one half, and for 6 s of the other: 25 and 30, of which 25 ended.
    let expect = "agents 0 and 2 have taken up the share of agent 1 at 6.0 s of the scenarios, 3.0 s after the last it \
                  measured; of scenario 'rate' 30 due iterations are missing";
    assert!(message.starts_with(expect), "{message}");
    // Nobody's scenarios are over before those of the parts are.
    for id in [A, AgentId(2)] {
        check(run.handle(id, Report::ScenariosDone, at(11)), &[]);
    }
    check(run.handle(A, of_share(0, Report::ScenariosDone), at(11)), &[]);
    check(run.handle(AgentId(2), of_share(1, Report::ScenariosDone), at(11)), &["0 teardown"]);
    run.handle(A, Report::TeardownDone(Ok(())), at(12));
    check(run.close(at(12)), &["0 flush", "2 flush", "0 share", "2 share"]);
    for id in [A, AgentId(2)] {
        run.handle(id, Report::Flushed(Flushed::default()), at(12));
        run.handle(id, of_share(u32::from(id != A), Report::Flushed(Flushed::default())), at(12));
    }
    assert_eq!(run.outcome().map(Outcome::exit_code), Some(ExitCode::Success));
    assert_eq!(run.judgement().verdict, Verdict::Suspect);
    check(run.stop_agents(at(100)), &["0 stop", "2 stop"]);
}

#[test]
fn what_is_on_its_way_when_the_run_is_ended_is_not_waited_for() {
    let settings = Settings { on_loss: LossPolicy::Rebalance, has_setup: false, ..all() };
    let mut run = coordinator(settings, 2, TEN_SECONDS, &[]);
    ready(&mut run, 2);
    check(run.lost(B, "its process ended", at(5)), &["1 stop", "0 share"]);
    run.handle(A, Report::ScenariosDone, at(6));
    assert_eq!(run.phase(), RunPhase::Running, "a share is still to be taken up");
    check(run.abort(stop(ExitCode::ExternalAbort), at(6)), &["0 interrupt", "0 share", "0 teardown"]);
}

#[test]
fn who_is_lost_in_silence_has_until_its_lease_ends() {
    let patience = Patience { lingers: Duration::from_secs(2), ..Patience::default() };
    let settings = Settings { on_loss: LossPolicy::Rebalance, has_setup: false, patience, ..all() };
    let mut run = coordinator(settings, 2, TEN_SECONDS, &[]);
    ready(&mut run, 2);
    check(run.silent(B, "it said nothing", at(5)), &["1 stop", "0 share"]);
    run.handle(A, of_share(0, accepted(&run)), at(5));
    let commands = check_shares(&run.handle(A, of_share(0, Report::Ready), at(6)), &[(0, 0), (0, 0)]);
    let Command::TakeUp(take_up) = &commands[1] else { panic!("{commands:?}") };
    assert_eq!(take_up.from_ns, 6_000_000_000, "the run started at 1 s, the lease ends at 7 s");
}

#[test]
fn a_run_without_agents_ends() {
    let settings = Settings { on_loss: LossPolicy::Tolerate, ..all() };
    for phase in ["init", "setup", "running"] {
        let mut run = coordinator(settings, 1, TEN_SECONDS, &[]);
        if phase != "init" {
            ready(&mut run, 1);
        }
        if phase == "running" {
            run.handle(A, Report::SetupDone(Ok(None)), at(2));
        }
        run.lost(A, "killed", at(3));
        assert_eq!(run.phase(), RunPhase::Done, "{phase}");
        check(run.close(at(3)), &[]);
        assert_eq!(run.outcome().map(Outcome::exit_code), Some(ExitCode::AgentLost), "{phase}");
        check(run.summarize(String::new(), at(3)), &[]);
        assert!(matches!(run.notices().last(), Some(Notice::SummaryDone(Err(_)))), "{phase}");
    }
}

#[test]
fn the_agent_that_runs_setup_cannot_be_done_without() {
    let settings = Settings { on_loss: LossPolicy::Tolerate, ..all() };
    let mut run = coordinator(settings, 2, TEN_SECONDS, &[]);
    ready(&mut run, 2);
    check(run.lost(A, "killed", at(2)), &["0 stop", "1 interrupt"]);
    assert_eq!(close(&mut run, at(2)).exit_code(), ExitCode::AgentLost);
}

#[test]
fn who_runs_setup_or_teardown_goes_on_alone_when_another_is_lost() {
    let mut run = coordinator(all(), 2, TEN_SECONDS, &[]);
    ready(&mut run, 2);
    assert_eq!(run.phase(), RunPhase::Setup);
    check(run.lost(B, "killed", at(2)), &["1 stop", "0 interrupt"]);
    // The agent could not run handleSummary() while it is in setup().
    assert_eq!(run.phase(), RunPhase::Setup);
    check(run.handle(A, Report::SetupDone(Ok(None)), at(3)), &[]);
    assert_eq!(close(&mut run, at(3)).exit_code(), ExitCode::AgentLost);

    let mut run = coordinator(Settings { has_setup: false, ..all() }, 2, TEN_SECONDS, &[]);
    ready(&mut run, 2);
    for id in [A, B] {
        run.handle(id, Report::Started { at: at(1) }, at(1));
        run.handle(id, Report::ScenariosDone, at(11));
    }
    assert_eq!(run.phase(), RunPhase::Teardown);
    check(run.lost(B, "killed", at(12)), &["1 stop"]);
    assert_eq!(run.phase(), RunPhase::Teardown);
    run.handle(A, Report::TeardownDone(Ok(())), at(13));
    assert_eq!(close(&mut run, at(13)).exit_code(), ExitCode::AgentLost);
}

#[test]
fn a_summary_that_cannot_be_reported_is_not_waited_for() {
    let mut run = coordinator(Settings::default(), 2, TEN_SECONDS, &[]);
    ready(&mut run, 2);
    for id in [A, B] {
        run.handle(id, Report::ScenariosDone, at(11));
    }
    close(&mut run, at(11));
    run.notices();
    check(run.summarize("{}".to_owned(), at(12)), &["0 summary"]);
    let failure = Failure::new(FailureKind::Engine, "cannot be reported: too large");
    run.handle(A, Report::Failed(failure.clone()), at(13));
    let is_told = |notice: &Notice| matches!(notice, Notice::SummaryDone(Err(told)) if *told == failure);
    assert!(run.notices().iter().any(is_told));
}

#[test]
fn a_summary_that_is_lost_with_its_agent_is_made_by_another() {
    let mut run = coordinator(Settings::default(), 2, TEN_SECONDS, &[]);
    ready(&mut run, 2);
    for id in [A, B] {
        run.handle(id, Report::ScenariosDone, at(11));
    }
    assert_eq!(close(&mut run, at(11)).exit_code(), ExitCode::Success);
    check(run.summarize("{}".to_owned(), at(12)), &["0 summary"]);
    check(run.lost(A, "killed", at(13)), &["0 stop", "1 summary"]);
    run.notices();
    run.handle(B, Report::SummaryDone(Ok(None)), at(14));
    assert_eq!(run.notices(), [Notice::SummaryDone(Ok(None))]);
    assert_eq!(run.outcome().map(Outcome::exit_code), Some(ExitCode::Success));

    let mut run = coordinator(Settings::default(), 1, TEN_SECONDS, &[]);
    ready(&mut run, 1);
    run.handle(A, Report::ScenariosDone, at(11));
    close(&mut run, at(11));
    run.summarize("{}".to_owned(), at(12));
    check(run.lost(A, "killed", at(13)), &["0 stop"]);
    assert!(run.notices().iter().any(|notice| matches!(notice, Notice::SummaryDone(Err(_)))));
    assert_eq!(run.outcome().map(Outcome::exit_code), Some(ExitCode::AgentLost));
}

#[test]
fn vus_are_those_of_all_agents() {
    let mut run = coordinator(Settings::default(), 3, TEN_SECONDS, &[("vus", "value==12", false)]);
    ready(&mut run, 3);
    let mut says = |id: u32, vus: f64, updated: u64| {
        let mut delta = Delta::default();
        delta.push(builtin::VUS, Vec::new().into(), Sink::Gauge(onrush_metrics::Gauge::new(vus, updated)));
        run.handle(AgentId(id), Report::Delta(Box::new(ThreadDelta { delta, ..ThreadDelta::default() })), at(updated));
        run.merged().sink(builtin::VUS).and_then(Sink::gauge).map(|gauge| (gauge.last, gauge.min, gauge.max))
    };
    assert_eq!(says(0, 4.0, 2), None);
    assert_eq!(says(2, 3.0, 2), None);
    assert_eq!(says(1, 4.0, 2), Some((11.0, 11.0, 11.0)));
    assert_eq!(says(1, 5.0, 3), Some((11.0, 11.0, 11.0)));
    // Who is late does not hold up the others.
    assert_eq!(says(1, 5.0, 4), Some((12.0, 11.0, 12.0)));
    assert_eq!(says(0, 4.0, 4), Some((12.0, 11.0, 12.0)));
    // Nobody waits for the last word of one that is gone.
    says(1, 5.0, 5);
    run.lost(AgentId(2), "killed", at(5));
    for id in [A, B] {
        run.handle(id, Report::ScenariosDone, at(5));
    }
    close(&mut run, at(5));
    let last = run.merged().sink(builtin::VUS).and_then(Sink::gauge);
    assert_eq!(last.map(|gauge| (gauge.last, gauge.min, gauge.max, gauge.updated)), Some((9.0, 9.0, 12.0, 5)));
}

#[test]
fn silent_agents_are_lost_and_no_barrier_waits_for_ever() {
    let patience = Patience { silence: Some(Duration::from_secs(3)), ..Patience::default() };
    let settings = Settings { patience, has_setup: false, has_teardown: false, ..all() };
    let mut run = coordinator(settings, 2, TEN_SECONDS, &[]);
    ready(&mut run, 2);
    run.handle(A, Report::Health(Box::default()), at(4));
    check(run.tick(at(4)), &[]);
    check(run.tick(at(5)), &["1 stop", "0 interrupt"]);
    // One that speaks and does not come to an end is given up as well.
    for second in 6..70 {
        run.handle(A, Report::Health(Box::default()), at(second));
        run.tick(at(second));
    }
    assert_eq!(run.phase(), RunPhase::Done);
    run.close(at(70));
    run.tick(at(200));
    assert_eq!(run.phase(), RunPhase::Closed);
}

#[test]
fn agents_of_another_version_or_test_are_refused() {
    let mut run = coordinator(all(), 2, TEN_SECONDS, &[]);
    let wrong = Accepted { version: 7, ..Accepted::default() };
    check(run.handle(B, Report::Accepted(Box::new(wrong)), at(1)), &["0 interrupt", "1 interrupt"]);
    let outcome = close(&mut run, at(1));
    assert_eq!(outcome.exit_code(), ExitCode::Other);
    assert!(outcome.message().is_some_and(|message| message.contains("agent 1 cannot take part")), "{outcome:?}");
}

#[test]
fn panics_and_refused_writes_of_all_agents_count() {
    let mut run = coordinator(all(), 2, TEN_SECONDS, &[]);
    for id in [A, B] {
        let report = HealthReport {
            panics: 2,
            trapped_writes: 3,
            trapped_property: "foo".to_owned(),
            ..HealthReport::default()
        };
        run.handle(id, Report::Health(Box::new(report)), at(1));
    }
    assert_eq!(run.trapped_writes(), Some((6, "foo")));
    assert!(run.judgement().reasons[0].starts_with("4 VU fibers"));
}

#[test]
fn the_progress_of_all_agents_adds_up() {
    let mut run = coordinator(all(), 2, TEN_SECONDS, &[]);
    let progress = |started: u64, over: bool| {
        let scenario = ScenarioProgress {
            started_at: Some(at(started)),
            running_vus: 2,
            done: 10,
            over,
            ..ScenarioProgress::default()
        };
        Report::Progress(Box::new(Progress { scenarios: vec![scenario], complete: 10, ..Progress::default() }))
    };
    run.handle(A, progress(2, true), at(3));
    run.handle(B, progress(1, false), at(3));
    let sum = run.progress();
    assert_eq!((sum.complete, sum.scenarios[0].done, sum.scenarios[0].running_vus), (20, 20, 4));
    assert_eq!((sum.scenarios[0].started_at, sum.scenarios[0].over), (Some(at(1)), false));
}
