//! Properties of runs from seeds. A seed that fails is in the message; `cargo xtask simulate --seed N --seeds 1` repeats it.

use std::{ops::ControlFlow, time::Duration};

use onrush_session::{ExitCode, LossPolicy, Verdict};
use onrush_simulation::{Case, Ended, Faults, LEASE, Mistake, SILENCE, Script, World, campaign};

/// Runs of properties that need runs of their own.
const SEEDS: std::ops::Range<u64> = 0..150;
const THREADS: usize = 2;

fn whole(script: &Script) -> Ended {
    World::new(script, 1, Faults::none(), LossPolicy::Fail, 0).run()
}

#[test]
fn any_number_of_agents_measures_what_one_does() {
    let script = Script::all_kinds();
    let one = whole(&script);
    assert_eq!(one.exit, ExitCode::ThresholdsHaveFailed, "{:?}", one.stop);
    assert!(one.iterations > 300, "{}", one.iterations);
    for agents in [1, 2, 3, 5, 8] {
        let many = World::new(&script, agents, Faults::none(), LossPolicy::Fail, 0).run();
        assert_eq!(many.check(&one, LossPolicy::Fail), Ok(()), "{agents} agents");
        assert!(many.is_same_as(&one) && many.lost.is_empty());
    }
}

/// Every kind of fault, every policy: what is in the result is there once, what is not is named, all ends in time.
#[test]
fn nothing_is_counted_twice_or_lost_in_silence() {
    let sum = campaign(0, 2_000, THREADS, None, |_| ControlFlow::Continue(()));
    let shown: Vec<String> =
        sum.violations.iter().map(|violation| format!("seed {}: {}", violation.seed, violation.what)).collect();
    assert!(shown.is_empty(), "repeat with `cargo xtask simulate --seed SEED --seeds 1`\n{}", shown.join("\n"));
    // Otherwise the seeds show nothing.
    assert_eq!(sum.runs, 2_000);
    assert!(sum.whole > 600 && sum.went_on > 200 && sum.ended > 200, "{sum:?}");
    assert!(sum.resumed > 400 && sum.resumed_whole > 100, "{sum:?}");
    assert!(sum.joined > 400 && sum.steps_met > 400, "{sum:?}");
    assert!(sum.relayed > 300 && sum.refused > 50, "{sum:?}");
}

/// Mistakes a coordinator or a connection could make are found.
#[test]
fn planted_mistakes_are_found() {
    use Mistake::{CountedAgain, DoubleFold, DroppedAck, EarlyAck, EarlyBarrier, ForgottenShare, SameNumbers};
    for mistake in [DroppedAck, DoubleFold, EarlyBarrier, EarlyAck, SameNumbers, ForgottenShare, CountedAgain] {
        let sum = campaign(0, 1_000, 1, Some(mistake), |_| ControlFlow::Continue(()));
        assert!(!sum.violations.is_empty(), "{mistake:?} is not found in {} runs", sum.runs);
    }
}

/// Agents that join get their share at the next step: on a good network every step is met and nobody is lost.
#[test]
fn agents_that_join_take_their_share_from_the_next_step() {
    let script = Script::steered();
    let (mut joined, mut met) = (0, 0);
    for seed in SEEDS {
        let ended = World::new(&script, 1 + seed % 4, Faults::none(), LossPolicy::Fail, seed).with_late(seed).run();
        assert_eq!(ended.check_joined(), Ok(()), "seed {seed}");
        assert!(ended.lost.is_empty(), "seed {seed}: {:?}", ended.lost);
        joined += ended.joined;
        met += ended.steps_met;
    }
    assert!(joined > SEEDS.end as u32 && met > 2 * SEEDS.end as u32, "{joined} joined, {met} steps");
}

/// A coordinator that ends and is restarted within the lease costs nothing: the result is that of one that stays.
#[test]
fn a_restarted_coordinator_costs_nothing() {
    let script = Script::all_kinds();
    let one = whole(&script);
    let mut resumed = 0;
    for seed in SEEDS {
        let agents = 1 + seed % 5;
        let faults = Faults::none().with_restarts_within(seed, LEASE - SILENCE);
        let ended = World::new(&script, agents, faults, LossPolicy::Fail, seed).run();
        assert_eq!(ended.check(&one, LossPolicy::Fail), Ok(()), "seed {seed}");
        assert!(ended.lost.is_empty() && ended.is_same_as(&one), "seed {seed}: {:?}", ended.lost);
        resumed += ended.resumed;
    }
    assert!(resumed > SEEDS.end as u32, "{resumed}");
}

#[test]
fn a_tolerated_loss_is_suspect_and_goes_on() {
    let script = Script::all_kinds();
    let one = whole(&script);
    let mut tolerated = 0;
    for seed in SEEDS {
        let faults = Faults::network(seed, 2 + seed % 4).with_death(seed);
        let ended = World::new(&script, 2 + seed % 4, faults, LossPolicy::Tolerate, seed).run();
        assert_eq!(ended.check(&one, LossPolicy::Tolerate), Ok(()), "seed {seed}");
        if ended.lost.is_empty() || ended.exit == ExitCode::AgentLost {
            continue;
        }
        tolerated += 1;
        assert_eq!(ended.verdict, Verdict::Suspect, "seed {seed}");
        assert!(ended.iterations <= one.iterations, "seed {seed}");
    }
    assert!(tolerated > 20, "{tolerated}");
}

#[test]
fn an_abort_ends_all_agents_and_runs_teardown_once() {
    let script = Script::all_kinds().aborted_at(Duration::from_secs(4));
    for seed in SEEDS {
        let agents = 1 + seed % 4;
        let ended = World::new(&script, agents, Faults::network(seed, agents), LossPolicy::Fail, seed).run();
        if ended.lost.is_empty() {
            assert_eq!(ended.exit, ExitCode::ScriptAborted, "seed {seed}");
            assert_eq!(ended.teardowns, 1, "seed {seed}");
            assert!(ended.took < Duration::from_secs(12), "seed {seed}: {:?}", ended.took);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in [3, 77, 1_234] {
        let run = || Case::of(seed).world().traced().run().trace;
        assert_eq!(run(), run());
        assert!(run().is_some_and(|trace| !trace.is_empty()));
    }
}
