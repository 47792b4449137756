//! Whole tests of several agents in virtual time, from a seed: messages are late, lost, doubled and out of order, agents
//! die. What comes out is what one agent alone would have measured, or the run has ended and says why.
//!
//! A seed that fails is in the message; `seeds()` with it alone repeats the run.

mod agent;
mod script;
mod world;

use std::time::Duration;

use onrush_session::{ExitCode, LossPolicy, Verdict};

use script::Script;
use world::{Faults, World};

/// Runs of each property.
const SEEDS: std::ops::Range<u64> = 0..150;

fn whole(script: &Script) -> world::Ended {
    World::new(script, 1, Faults::none(), LossPolicy::Fail, 0).run()
}

#[test]
fn any_number_of_agents_measures_what_one_does() {
    let script = Script::all_kinds();
    let one = whole(&script);
    assert_eq!(one.exit, ExitCode::ThresholdsHaveFailed, "{:?}", one.stop);
    assert!(one.iterations > 300, "{}", one.iterations);
    for agents in [2, 3, 5, 8] {
        let many = World::new(&script, agents, Faults::none(), LossPolicy::Fail, 0).run();
        many.assert_same_as(&one);
    }
}

#[test]
fn a_bad_network_changes_nothing_or_ends_the_run_with_a_reason() {
    let script = Script::all_kinds();
    let one = whole(&script);
    let mut whole_runs = 0;
    for seed in SEEDS {
        let agents = 1 + seed % 5;
        let ended = World::new(&script, agents, Faults::network(seed), LossPolicy::Fail, seed).run();
        if ended.lost.is_empty() {
            ended.assert_same_as(&one);
            whole_runs += 1;
        } else {
            ended.assert_says_why();
            assert_eq!(ended.exit, ExitCode::AgentLost, "seed {seed}: {:?}", ended.stop);
        }
    }
    assert!(whole_runs > 100, "a network that is merely bad costs agents: {whole_runs} runs were whole");
}

#[test]
fn a_dead_agent_ends_the_run_in_time_and_is_named() {
    let script = Script::all_kinds();
    for seed in SEEDS {
        let agents = 1 + seed % 4;
        let faults = Faults::network(seed).with_death(seed, agents);
        let ended = World::new(&script, agents, faults, LossPolicy::Fail, seed).run();
        if ended.lost.is_empty() {
            // It died after all it had to say was said.
            continue;
        }
        assert_eq!(ended.exit, ExitCode::AgentLost, "seed {seed}: {:?}", ended.stop);
        ended.assert_says_why();
        let patience = world::SILENCE + Duration::from_secs(2);
        ended.assert_loss_was_seen_within(patience);
    }
}

#[test]
fn a_tolerated_loss_costs_no_more_than_the_agent_lost() {
    let script = Script::all_kinds();
    let one = whole(&script);
    let mut tolerated = 0;
    for seed in SEEDS {
        let agents = 2 + seed % 4;
        let faults = Faults::network(seed).with_death(seed, agents);
        let ended = World::new(&script, agents, faults, LossPolicy::Tolerate, seed).run();
        if ended.lost.is_empty() {
            continue;
        }
        ended.assert_says_why();
        // Every delta that came before its agent was lost counts once, and nothing else does.
        assert_eq!(ended.iterations, ended.delivered, "seed {seed}");
        if ended.exit == ExitCode::AgentLost {
            continue;
        }
        tolerated += 1;
        assert_eq!(ended.verdict, Verdict::Suspect, "seed {seed}");
        assert!(ended.iterations <= one.iterations, "seed {seed}");
        assert!(ended.iterations >= ended.survivors, "seed {seed}: what the others measured is there");
    }
    assert!(tolerated > 20, "{tolerated}");
}

#[test]
fn an_abort_ends_all_agents_and_runs_teardown_once() {
    let script = Script { abort_at: Some(Duration::from_secs(4)), ..Script::all_kinds() };
    for seed in SEEDS {
        let ended = World::new(&script, 1 + seed % 4, Faults::network(seed), LossPolicy::Fail, seed).run();
        if ended.lost.is_empty() {
            assert_eq!(ended.exit, ExitCode::ScriptAborted, "seed {seed}");
            assert_eq!(ended.teardowns, 1, "seed {seed}");
            assert!(ended.took < Duration::from_secs(12), "seed {seed}: {:?}", ended.took);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let script = Script::all_kinds();
    for seed in [3, 77] {
        let run =
            || World::new(&script, 4, Faults::network(seed).with_death(seed, 4), LossPolicy::Tolerate, seed).run();
        assert_eq!(run().trace, run().trace);
    }
}

/// Mistakes a coordinator or a connection could make are found by the properties above.
#[test]
fn planted_mistakes_are_found() {
    let script = Script::all_kinds();
    let one = whole(&script);
    for mistake in [world::Mistake::DoubleDelivery, world::Mistake::LostDelivery, world::Mistake::EarlyStart] {
        let is_found = SEEDS.into_iter().any(|seed| {
            let world = World::new(&script, 3, Faults::network(seed), LossPolicy::Fail, seed).with_mistake(mistake);
            let ended = world.run();
            ended.lost.is_empty() && !ended.is_same_as(&one)
        });
        assert!(is_found, "{mistake:?}");
    }
}
