//! Agents that join a run under way.

use onrush_plan::steer::{Ramp, TargetRequest};

use super::*;

const C: AgentId = AgentId(2);
const S: u64 = 1_000_000_000;
const AVERAGE: u64 = Coordinator::AVERAGE_WEIGHT;
/// For each test: with a rate of 12 a second, and VUs that somebody outside wants.
const STEERED: &str = r#"{"scenarios": {
    "ext": {"executor": "externally-controlled", "vus": 4, "maxVUs": 12, "duration": "10m"},
    "rate": {"executor": "constant-arrival-rate", "rate": 12, "duration": "10m", "preAllocatedVUs": 12}}}"#;

fn running(settings: Settings, options: &str) -> Coordinator {
    let mut run = coordinator(settings, 2, options, &[]);
    ready(&mut run, 2);
    run.notices();
    run
}

/// The agent joins and its VUs are there.
fn joined(run: &mut Coordinator, now: Time) -> Orders {
    check(run.join(C, AVERAGE, now), &["2 init"]);
    check(run.handle(C, accepted(run), now), &[]);
    run.handle(C, Report::Ready, now)
}

fn steer(run: &mut Coordinator, scenario: &str, wanted: TargetRequest, now: Time) -> Orders {
    run.steer(Steer { scenario: Some(scenario.to_owned()), wanted, source: String::new() }, now).unwrap()
}

fn vus(vus: i64) -> TargetRequest {
    TargetRequest { vus: Some(vus), ..TargetRequest::default() }
}

fn rate(rate: i64) -> TargetRequest {
    TargetRequest { rate: Some(rate), ..TargetRequest::default() }
}

/// What agents are told, and whom.
fn told(orders: Orders) -> Vec<(u32, TargetChange)> {
    let one = |(AgentId(id), command)| match command {
        Command::Steer { change, .. } => (id, change),
        other => panic!("{other:?}"),
    };
    orders.into_iter().map(one).collect()
}

#[test]
fn who_joins_begins_with_nothing_and_takes_its_share_from_the_next_step() {
    let mut run = running(Settings::default(), STEERED);
    let orders = run.join(C, AVERAGE, at(5));
    let [(C, Command::Init(init))] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!((init.agent, init.agents, init.joined), (2, 3, Some(1)));
    assert_eq!((init.segment.as_str(), init.sequence.as_str()), ("2/3:1", "0,2/3,1"));
    assert_eq!(init.test, b"the test");
    run.handle(C, accepted(&run), at(6));
    let orders = run.handle(C, Report::Ready, at(7));
    check(orders.clone(), &["2 clock", "2 steer", "2 steer", "2 take up"]);
    let nothing = Ramp::jump(0, 0);
    let expect = [(2, TargetChange::Vus(nothing)), (2, TargetChange::Rate(nothing))];
    assert_eq!(told(orders[1..3].to_vec()), expect);
    let Command::TakeUp(take_up) = &orders[3].1 else { panic!("{orders:?}") };
    assert_eq!((take_up.at, take_up.from_ns), (at(1), 6 * S));

    let orders = steer(&mut run, "ext", vus(10), at(11));
    let own = |to| TargetChange::Vus(Ramp::jump(10 * S, to));
    assert_eq!(told(orders), [(0, own(7)), (1, own(7)), (2, own(3))]);
    // From what each has, to what each is to have.
    let slowly = TargetRequest { over_ns: Some(4 * S), ..rate(30) };
    let orders = steer(&mut run, "rate", slowly, at(21));
    let own = |from, to| TargetChange::Rate(Ramp { at_ns: 20 * S, from, to, over_ns: 4 * S });
    assert_eq!(told(orders), [(0, own(12, 20)), (1, own(12, 20)), (2, own(0, 10))]);
    let orders = steer(&mut run, "rate", TargetRequest { over_ns: Some(4 * S), ..rate(6) }, at(23));
    let own = |from, to| TargetChange::Rate(Ramp { at_ns: 22 * S, from, to, over_ns: 4 * S });
    assert_eq!(told(orders), [(0, own(16, 4)), (1, own(16, 4)), (2, own(5, 2))]);
    let [a, _, c] = &run.overview()[..] else { panic!("three agents") };
    assert_eq!((a.joined_at, c.joined_at), (None, Some(Duration::from_secs(6))));
    assert!([a, c].iter().all(|agent| (agent.share - 1.0 / 3.0).abs() < 1e-9), "{a:?} {c:?}");
}

#[test]
fn the_same_target_again_is_a_step_for_who_joined() {
    let mut run = running(Settings::default(), STEERED);
    joined(&mut run, at(5));
    let own = |to| TargetChange::Vus(Ramp::jump(7 * S, to));
    let orders = steer(&mut run, "ext", vus(4), at(8));
    assert_eq!(told(orders), [(0, own(3)), (1, own(3)), (2, own(1))]);
    assert_eq!(steer(&mut run, "ext", vus(4), at(9)), []);
    let orders = steer(&mut run, "rate", rate(12), at(9));
    let own = |to| TargetChange::Rate(Ramp::jump(8 * S, to));
    assert_eq!(told(orders), [(0, own(8)), (1, own(8)), (2, own(4))]);
}

#[test]
fn weights_are_heeded() {
    let registry = Registry::new();
    let mut run = Coordinator::new(
        Settings::default(),
        (0..2).map(AgentId),
        &plan(EXTERNAL),
        &registry,
        Thresholds::parse(&BTreeMap::new(), &registry).unwrap(),
    )
    .weighted(vec![1, 3]);
    run.start(b"the test", at(0));
    (0..2).for_each(|id| _ = run.handle(AgentId(id), accepted(&run), at(0)));
    ready(&mut run, 2);
    run.join(C, 2 * AVERAGE, at(3));
    run.handle(C, accepted(&run), at(3));
    run.handle(C, Report::Ready, at(3));
    let own = |to| TargetChange::Vus(Ramp::jump(3 * S, to));
    assert_eq!(told(steer(&mut run, "ext", vus(10), at(4))), [(0, own(5)), (1, own(5)), (2, own(5))]);
    let shares: Vec<f64> = run.overview().iter().map(|agent| agent.share).collect();
    assert_eq!(shares, [0.125, 0.375, 0.5]);
}

#[test]
fn who_joins_before_the_start_holds_up_nobody() {
    let settings = Settings { has_setup: true, has_teardown: true, ..Settings::default() };
    let mut run = coordinator(settings, 2, EXTERNAL, &[]);
    check(run.join(C, AVERAGE, at(0)), &["2 init"]);
    check(ready(&mut run, 2), &["0 clock", "1 clock", "0 setup"]);
    run.handle(C, accepted(&run), at(2));
    check(run.handle(C, Report::Ready, at(2)), &[]);
    let orders = run.handle(A, Report::SetupDone(Ok(Some("{}".into()))), at(3));
    check(orders.clone(), &["0 start", "1 start", "2 clock", "2 steer", "2 take up"]);
    let Command::TakeUp(take_up) = &orders[4].1 else { panic!("{orders:?}") };
    assert_eq!((take_up.at, take_up.from_ns, take_up.data.as_deref()), (at(3), 0, Some("{}")));
    // From now on it is one of them.
    check(run.handle(A, Report::ScenariosDone, at(9)), &[]);
    check(run.handle(B, Report::ScenariosDone, at(9)), &[]);
    check(run.handle(C, Report::ScenariosDone, at(9)), &["0 teardown"]);
    run.handle(A, Report::TeardownDone(Ok(())), at(9));
    check(run.close(at(9)), &["0 flush", "1 flush", "2 flush"]);
}

#[test]
fn who_is_not_ready_by_the_end_is_sent_away() {
    let mut run = running(Settings::default(), EXTERNAL);
    run.join(C, AVERAGE, at(5));
    run.handle(A, Report::ScenariosDone, at(9));
    check(run.handle(B, Report::ScenariosDone, at(9)), &["2 stop"]);
    assert_eq!(close(&mut run, at(9)).exit_code(), ExitCode::Success);
    check(run.join(AgentId(3), AVERAGE, at(9)), &["3 stop"]);
    assert_eq!(run.overview().len(), 2);
}

#[test]
fn nothing_is_lost_with_who_had_nothing_to_do() {
    let mut run = running(Settings::default(), EXTERNAL);
    // Its init code throws, it is gone before it is ready, it is gone before it had anything to do.
    check(run.join(C, AVERAGE, at(5)), &["2 init"]);
    check(run.handle(C, Report::Failed(script_failure()), at(5)), &["2 stop"]);
    check(run.join(AgentId(3), AVERAGE, at(5)), &["3 init"]);
    check(run.lost(AgentId(3), "gone", at(5)), &["3 stop"]);
    check(run.join(AgentId(4), AVERAGE, at(5)), &["4 init"]);
    run.handle(AgentId(4), accepted(&run), at(5));
    check(run.handle(AgentId(4), Report::Ready, at(5)), &["4 clock", "4 steer", "4 take up"]);
    check(run.lost(AgentId(4), "gone", at(6)), &["4 stop"]);
    let own = |to| TargetChange::Vus(Ramp::jump(6 * S, to));
    assert_eq!(told(steer(&mut run, "ext", vus(9), at(7))), [(0, own(9)), (1, own(9))]);
    (0..2).for_each(|id| _ = run.handle(AgentId(id), Report::ScenariosDone, at(9)));
    assert_eq!(close(&mut run, at(9)).exit_code(), ExitCode::Success);
    assert_eq!(run.judgement().verdict, Verdict::Valid);
}

#[test]
fn who_had_something_to_do_is_lost_as_any_other() {
    for on_loss in [LossPolicy::Fail, LossPolicy::Tolerate] {
        let mut run = running(Settings { on_loss, ..Settings::default() }, EXTERNAL);
        joined(&mut run, at(5));
        steer(&mut run, "ext", vus(9), at(7));
        let orders = run.lost(C, "gone", at(8));
        if on_loss == LossPolicy::Fail {
            check(orders, &["2 stop", "0 interrupt", "1 interrupt"]);
            continue;
        }
        check(orders, &["2 stop"]);
        // The others have it all from the next step on.
        let own = |to| TargetChange::Vus(Ramp::jump(8 * S, to));
        assert_eq!(told(steer(&mut run, "ext", vus(10), at(9))), [(0, own(10)), (1, own(10))]);
        assert!(run.overview()[2].is_lost);
    }
}

#[test]
fn the_share_of_who_joined_is_taken_up_by_the_others() {
    let mut run = running(Settings { on_loss: LossPolicy::Rebalance, ..Settings::default() }, EXTERNAL);
    joined(&mut run, at(5));
    steer(&mut run, "ext", vus(9), at(7));
    let orders = run.lost(C, "gone", at(8));
    let inits = check_shares(&orders[1..].to_vec(), &[(0, 0), (1, 1)]);
    for (index, init) in inits.iter().enumerate() {
        let Command::Init(init) = init else { panic!("{init:?}") };
        assert_eq!((init.joined, init.cuts.as_slice()), (Some(1), &[Cut { index: index as u64, of: 2 }][..]));
    }
    run.handle(A, of_share(0, accepted(&run)), at(8));
    let commands = check_shares(&run.handle(A, of_share(0, Report::Ready), at(8)), &[(0, 0); 4]);
    let targets = commands.into_iter().filter_map(|command| match command {
        Command::Steer { change: TargetChange::Vus(ramp), .. } => Some(ramp.to),
        _ => None,
    });
    assert_eq!(targets.collect::<Vec<_>>(), [0, 3], "what the agent that joined was told");
    let orders = steer(&mut run, "ext", vus(10), at(9));
    check(orders, &["0 steer", "1 steer", "0 share", "1 share"]);
}

#[test]
fn who_joined_takes_up_the_share_of_another() {
    let mut run = running(Settings { on_loss: LossPolicy::Rebalance, ..Settings::default() }, EXTERNAL);
    joined(&mut run, at(5));
    let orders = run.lost(B, "gone", at(8));
    check_shares(&orders[1..].to_vec(), &[(0, 0), (2, 1)]);
    // It is no newcomer any more: what it had goes to the last.
    check(run.lost(C, "gone", at(9)), &["2 stop", "0 share", "0 share"]);
}

#[test]
fn not_every_run_can_be_joined() {
    let refused = |settings: Settings, options: &str, why: &str| {
        let run = running(settings, options);
        let told = run.admits().expect_err(why);
        assert!(told.contains(why), "{told}");
    };
    refused(Settings { rps: Some(9), ..Settings::default() }, EXTERNAL, "limits its requests per second");
    refused(Settings::default(), r#"{"vus": 4, "iterations": 9}"#, "a given number of iterations");
    let mut run = running(Settings::default(), EXTERNAL);
    assert_eq!(run.admits(), Ok(()));
    run.abort(stop(ExitCode::ExternalAbort), at(2));
    check(run.join(C, AVERAGE, at(2)), &["2 stop"]);
}

/// Another coordinator that repeats the inputs gives the same orders.
#[test]
fn a_join_is_repeated_from_the_journal() {
    use std::sync::{Mutex, PoisonError};

    type Noted = Vec<(Vec<u8>, Time)>;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Noted>>);
    impl Journal for Kept {
        fn note(&mut self, input: &Input<'_>, now: Time) {
            let bytes = serde_json::to_vec(input).unwrap();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((bytes, now));
        }
    }
    let kept = Kept::default();
    let mut run = running(Settings::default(), EXTERNAL);
    run.keep(Box::new(kept.clone()));
    let mut orders = joined(&mut run, at(5));
    orders.extend(steer(&mut run, "ext", vus(9), at(7)));
    let mut again = running(Settings::default(), EXTERNAL);
    let inputs = kept.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let repeated = inputs.iter().flat_map(|(bytes, now)| again.repeat(serde_json::from_slice(bytes).unwrap(), *now));
    assert_eq!(repeated.collect::<Orders>()[1..], orders);
}
