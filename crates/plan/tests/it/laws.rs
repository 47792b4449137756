//! Laws of every schedule: the instances of a test together do exactly what one instance alone would do, and the
//! actions of VU handles follow the staircases.

use std::collections::BTreeMap;

use onrush_plan::{
    ArrivalEvent, ExecutorPlan, HandleAction, HandleChange, Plan, RampingVusPlan, Scenario, SegmentSequence, Share,
    Step,
};
use proptest::prelude::*;

use super::script;

#[test]
fn plans_are_cheap_to_share() {
    fn shareable<T: Send + Sync + Clone + 'static>() {}
    shareable::<Plan>();
    shareable::<Scenario>();
    shareable::<Share>();
    shareable::<onrush_plan::Consolidated>();
    shareable::<onrush_plan::RampingArrivalRateCursor>();
}

fn one(fields: &str) -> Vec<Scenario> {
    script(&format!(r#"{{"scenarios": {{"a": {fields}}}}}"#)).unwrap().scenarios
}

/// 2, 3, 4 and 7 instances, evenly and unevenly, and whatever else 24ths allow.
fn sequences() -> impl Strategy<Value = SegmentSequence> {
    let even = |parts: u64| {
        let points: Vec<String> = (0..=parts).map(|point| format!("{point}/{parts}")).collect();
        points.join(",").parse().unwrap()
    };
    let uneven =
        ["0,1/7,1", "0,10%,1", "0,1/7,5/7,1", "0,0.01,1/2,1", "0,1/2,3/4,7/8,1", "0,1/9,1/8,1/7,1/5,1/3,1/2,1"];
    prop_oneof![
        prop::sample::select(vec![2, 3, 4, 7]).prop_map(even),
        prop::sample::select(uneven.to_vec()).prop_map(|points| points.parse().unwrap()),
        any_sequences(),
    ]
}

fn any_sequences() -> impl Strategy<Value = SegmentSequence> {
    prop::collection::btree_set(1u64..24, 0..5).prop_map(|cuts| {
        let mut points = vec!["0".to_owned()];
        points.extend(cuts.iter().map(|cut| format!("{cut}/24")));
        points.push("1".to_owned());
        points.join(",").parse().unwrap()
    })
}

/// The executor plans of all instances that have work.
fn instances(scenarios: &[Scenario], sequence: &SegmentSequence) -> Vec<ExecutorPlan> {
    (0..sequence.segments().len())
        .filter_map(|own| {
            let share = Share::of_sequence(sequence, own).unwrap();
            let plan = Plan::new(scenarios, &share).unwrap();
            plan.scenarios.first().map(|s| s.executor.clone())
        })
        .collect()
}

fn whole(scenarios: &[Scenario]) -> ExecutorPlan {
    Plan::new(scenarios, &Share::full()).unwrap().scenarios[0].executor.clone()
}

fn value_at(steps: &[Step], at_ns: u64) -> u64 {
    steps.iter().take_while(|s| s.at_ns <= at_ns).last().map_or(0, |s| s.vus)
}

/// Stages as JSON; `0s` is frequent, because jumps are where a staircase can go wrong.
fn stages(target_max: u64) -> impl Strategy<Value = String> {
    let stage = (prop_oneof![Just(0u64), 1..5_000u64], 0..=target_max)
        .prop_map(|(ms, target)| format!(r#"{{"duration": {ms}, "target": {target}}}"#));
    prop::collection::vec(stage, 1..7).prop_map(|stages| format!("[{}]", stages.join(", ")))
}

prop_compose! {
    fn ramping()(start in 0u64..15, stages in stages(15), down_ms in 0u64..4_000, stop_ms in 0u64..4_000) -> Vec<Scenario> {
        one(&format!(
            r#"{{"executor": "ramping-vus", "startVUs": {}, "stages": {stages},
                "gracefulRampDown": {down_ms}, "gracefulStop": {stop_ms}}}"#,
            start.max(1)
        ))
    }
}

fn ramping_plan(plan: &ExecutorPlan) -> RampingVusPlan {
    match plan {
        ExecutorPlan::RampingVus(p) => p.clone(),
        other => panic!("not ramping-vus: {other:?}"),
    }
}

fn events(plan: &ExecutorPlan) -> Vec<ArrivalEvent> {
    match plan {
        ExecutorPlan::ConstantArrivalRate(p) => {
            assert!(p.event(p.events()).is_none());
            (0..p.events()).map(|j| p.event(j).unwrap()).collect()
        }
        ExecutorPlan::RampingArrivalRate(p) => {
            let mut cursor = p.cursor();
            assert!(cursor.event(p.events()).is_none());
            let events: Vec<_> = (0..p.events()).map(|j| cursor.event(j).unwrap()).collect();
            // Backwards gives the same.
            for (j, event) in events.iter().enumerate().rev() {
                assert_eq!(cursor.event(j as u64), Some(*event));
            }
            events
        }
        other => panic!("no arrival rate: {other:?}"),
    }
}

fn check_union(scenarios: &[Scenario], sequence: &SegmentSequence) -> Vec<ArrivalEvent> {
    let mut union: Vec<ArrivalEvent> = Vec::new();
    for plan in instances(scenarios, sequence) {
        let own = events(&plan);
        assert!(own.windows(2).all(|w| w[0].at_ns <= w[1].at_ns && w[0].global < w[1].global));
        union.extend(own);
    }
    union.sort_by_key(|event| event.global);
    let all = events(&whole(scenarios));
    assert!(all.windows(2).all(|w| w[0].at_ns <= w[1].at_ns));
    assert_eq!(union, all);
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn staircases_add_up(scenarios in ramping(), sequence in sequences()) {
        let all = ramping_plan(&whole(&scenarios)).steps();
        let parts: Vec<_> = instances(&scenarios, &sequence).iter().map(|p| ramping_plan(p).steps()).collect();
        let mut times: Vec<u64> = parts.iter().flat_map(|p| p.iter().map(|s| s.at_ns)).collect();
        times.extend(all.iter().map(|s| s.at_ns));
        for at_ns in times {
            for at_ns in [at_ns.saturating_sub(1), at_ns, at_ns + 1] {
                let sum: u64 = parts.iter().map(|p| value_at(p, at_ns)).sum();
                prop_assert_eq!(sum, value_at(&all, at_ns), "at {} ns", at_ns);
            }
        }
    }

    #[test]
    fn handles_follow_the_staircase(scenarios in ramping()) {
        let hard_end_ns = scenarios[0].hard_end_ns();
        let onrush_plan::Executor::RampingVus(executor) = &scenarios[0].executor else { panic!() };
        let window_ns = executor.graceful_ramp_down.as_ns();
        let plan = ramping_plan(&whole(&scenarios));
        let steps = plan.steps();
        let reservation = plan.reservation();
        prop_assert!(steps.windows(2).all(|w| w[0].at_ns < w[1].at_ns && w[0].vus != w[1].vus));
        prop_assert_eq!(steps.last().unwrap().vus, 0);
        prop_assert_eq!(reservation.last().unwrap().vus, 0);
        prop_assert!(reservation.last().unwrap().at_ns <= hard_end_ns);
        let actions: Vec<HandleAction> = plan.handle_actions().collect();
        prop_assert!(actions.windows(2).all(|w| w[0].at_ns <= w[1].at_ns));

        // At every moment as many handles run as the staircase says, from the bottom, and none above the reservation.
        let mut last: BTreeMap<u64, (u64, HandleChange)> = BTreeMap::new();
        for (i, action) in actions.iter().enumerate() {
            prop_assert!(action.handle < plan.max_vus());
            let before = last.insert(action.handle, (action.at_ns, action.change)).map(|(at, change)| (at, Some(change)));
            let (stopped_at, before) = before.unwrap_or((0, None));
            match action.change {
                HandleChange::Start => prop_assert_ne!(before, Some(HandleChange::Start)),
                HandleChange::GracefulStop => prop_assert_eq!(before, Some(HandleChange::Start)),
                HandleChange::HardStop => {
                    prop_assert_eq!(before, Some(HandleChange::GracefulStop));
                    let after_ramp_down = (stopped_at + window_ns).min(hard_end_ns);
                    let at_end = stopped_at >= scenarios[0].regular_end_ns() && action.at_ns == hard_end_ns;
                    prop_assert!(action.at_ns == after_ramp_down || at_end);
                }
            }
            if actions.get(i + 1).is_none_or(|next| next.at_ns > action.at_ns) {
                let running: Vec<u64> = last.iter().filter(|(_, l)| l.1 == HandleChange::Start).map(|(h, _)| *h).collect();
                let expect: Vec<u64> = (0..value_at(&steps, action.at_ns)).collect();
                prop_assert_eq!(running, expect);
                let alive = last.values().filter(|l| l.1 != HandleChange::HardStop).count() as u64;
                prop_assert!(alive <= value_at(&reservation, action.at_ns));
            }
        }
        prop_assert!(last.values().all(|l| l.1 == HandleChange::HardStop));

        // Threads share the handles without overlap.
        let mut shared: Vec<HandleAction> = (0..3).flat_map(|t| plan.handle_actions_for(t, 3, 5)).collect();
        shared.sort_by_key(|a| (a.at_ns, a.handle, a.change != HandleChange::Start));
        let mut sorted = actions.clone();
        sorted.sort_by_key(|a| (a.at_ns, a.handle, a.change != HandleChange::Start));
        prop_assert_eq!(shared, sorted);
    }

    #[test]
    fn constant_arrivals_add_up(
        rate in 1u64..300, unit_ms in 1u64..5_000, duration_ms in 1_000u64..4_000, max in 1u64..9, sequence in sequences()
    ) {
        let scenarios = one(&format!(
            r#"{{"executor": "constant-arrival-rate", "rate": {rate}, "timeUnit": {unit_ms}, "duration": {duration_ms},
                "preAllocatedVUs": 0, "maxVUs": {max}}}"#
        ));
        prop_assume!(rate * duration_ms / unit_ms < 100_000);
        let all = check_union(&scenarios, &sequence);
        prop_assert_eq!(all[0], ArrivalEvent { global: 0, at_ns: 0 });
        prop_assert_eq!(all.len() as u64, (rate * duration_ms).div_ceil(unit_ms));
        for event in all {
            prop_assert!(event.at_ns < duration_ms * 1_000_000);
            let exact = u128::from(event.global) * u128::from(unit_ms) * 1_000_000;
            prop_assert_eq!(u128::from(event.at_ns), exact / u128::from(rate));
        }
    }

    #[test]
    fn ramping_arrivals_add_up(start in 0u64..50, stages in stages(50), max in 1u64..9, sequence in sequences()) {
        let scenarios = one(&format!(
            r#"{{"executor": "ramping-arrival-rate", "startRate": {start}, "stages": {stages},
                "preAllocatedVUs": 0, "maxVUs": {max}}}"#
        ));
        let all = check_union(&scenarios, &sequence);
        let onrush_plan::Executor::RampingArrivalRate(executor) = &scenarios[0].executor else { panic!() };
        // The area under the rate, in half iterations per nanosecond-second: exact.
        let area_to = |at_ns: u64| -> f64 {
            let (mut from, mut rest, mut area) = (executor.start_rate as f64, at_ns as f64, 0.0);
            for stage in &executor.stages {
                let d = stage.duration_ns as f64;
                let x = rest.min(d);
                let slope = if d > 0.0 { (stage.target as f64 - from) / d } else { 0.0 };
                area += from * x + slope * x * x / 2.0;
                rest -= x;
                from = stage.target as f64;
            }
            area / 1e9
        };
        let end_ns = scenarios[0].regular_end_ns();
        prop_assert_eq!(all.len(), (area_to(end_ns) + 1e-9).floor() as usize);
        for event in all {
            prop_assert!(event.at_ns <= end_ns);
            let wanted = event.global as f64 + 1.0;
            prop_assert!(area_to(event.at_ns) <= wanted + 1e-9, "early: {:?}", event);
            prop_assert!(area_to(event.at_ns + 2) >= wanted - 1e-6, "late: {:?}", event);
        }
    }

    #[test]
    fn iterations_and_vus_add_up(vus in 1u64..40, more in 0u64..200, sequence in sequences()) {
        let iterations = vus + more;
        let scenarios = one(&format!(r#"{{"executor": "shared-iterations", "vus": {vus}, "iterations": {iterations}}}"#));
        let (mut own_vus, mut numbers) = (0, Vec::new());
        for plan in instances(&scenarios, &sequence) {
            let ExecutorPlan::SharedIterations(p) = plan else { panic!() };
            own_vus += p.vus;
            numbers.extend((0..p.iterations).map(|j| p.iteration_in_test(j).unwrap()));
        }
        numbers.sort_unstable();
        prop_assert_eq!(own_vus, vus);
        prop_assert_eq!(numbers, (0..iterations).collect::<Vec<_>>());

        let scenarios = one(&format!(r#"{{"executor": "per-vu-iterations", "vus": {vus}, "iterations": 3}}"#));
        let total: u64 = instances(&scenarios, &sequence)
            .iter()
            .map(|plan| match plan {
                ExecutorPlan::PerVuIterations(p) => p.total_iterations(),
                _ => 0,
            })
            .sum();
        prop_assert_eq!(total, vus * 3);
    }

    #[test]
    fn vus_add_up_at_every_moment(vus in 1u64..60, max in 1u64..60, sequence in sequences()) {
        for (fields, expect) in [
            (format!(r#"{{"executor": "constant-vus", "vus": {vus}, "duration": "1s"}}"#), vus),
            (format!(r#"{{"executor": "shared-iterations", "vus": {vus}, "iterations": 1000}}"#), vus),
            (format!(r#"{{"executor": "per-vu-iterations", "vus": {vus}, "iterations": 1}}"#), vus),
            (format!(r#"{{"executor": "constant-arrival-rate", "rate": 9, "duration": "1s", "preAllocatedVUs": {vus}, "maxVUs": {}}}"#, vus + max), vus),
            (format!(r#"{{"executor": "ramping-arrival-rate", "stages": [{{"duration": "1s", "target": 9}}], "preAllocatedVUs": {vus}, "maxVUs": {}}}"#, vus + max), vus),
        ] {
            let scenarios = one(&fields);
            let plans = instances(&scenarios, &sequence);
            let total = |count: &dyn Fn(&ExecutorPlan) -> u64| plans.iter().map(count).sum::<u64>();
            prop_assert_eq!(total(&ExecutorPlan::planned_vus), expect, "{}", fields);
            let most = |plan: &ExecutorPlan| match plan {
                ExecutorPlan::ConstantArrivalRate(p) => p.vus.max,
                ExecutorPlan::RampingArrivalRate(p) => p.vus.max,
                _ => 0,
            };
            prop_assert_eq!(total(&most), most(&whole(&scenarios)), "{}", fields);
        }
    }

    #[test]
    fn vu_ids_are_unique(vus in 1u64..60, sequence in sequences()) {
        let scenarios = one(&format!(r#"{{"executor": "constant-vus", "vus": {vus}, "duration": "1s"}}"#));
        let mut ids: Vec<u64> = (0..sequence.segments().len())
            .flat_map(|own| {
                let plan = Plan::new(&scenarios, &Share::of_sequence(&sequence, own).unwrap()).unwrap();
                (0..plan.max_vus).map(move |k| plan.vu_id_in_test(k).unwrap())
            })
            .collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (1..=vus).collect::<Vec<_>>());
    }

    #[test]
    fn extremes_do_not_panic(
        a in extreme(), b in extreme(), c in extreme(), d in extreme(), e in extreme(), part in 0usize..3
    ) {
        let sequence: SegmentSequence = "0,1/7,5/7,1".parse().unwrap();
        let shares = [Share::full(), Share::of_sequence(&sequence, part).unwrap()];
        for fields in [
            format!(r#"{{"executor": "constant-vus", "vus": {a}, "duration": "{b}ns", "startTime": "{c}ns", "gracefulStop": "{d}ns"}}"#),
            format!(r#"{{"executor": "shared-iterations", "vus": {a}, "iterations": {b}, "maxDuration": "{c}ns", "gracefulStop": "{d}ns"}}"#),
            format!(r#"{{"executor": "per-vu-iterations", "vus": {a}, "iterations": {b}, "maxDuration": "{c}ns", "gracefulStop": "{d}ns"}}"#),
            format!(r#"{{"executor": "ramping-vus", "startVUs": {}, "stages": [{{"duration": "{b}ns", "target": {}}}, {{"duration": "{c}ns", "target": {}}}],
                        "gracefulRampDown": "{d}ns", "gracefulStop": "{e}ns"}}"#, a % 3_000, b % 3_000, c % 3_000),
            format!(r#"{{"executor": "constant-arrival-rate", "rate": {a}, "timeUnit": "{b}ns", "duration": "{c}ns", "preAllocatedVUs": 1, "maxVUs": {}}}"#, d % 1_000 + 1),
            format!(r#"{{"executor": "ramping-arrival-rate", "startRate": {a}, "timeUnit": "{b}ns", "preAllocatedVUs": 1, "maxVUs": {},
                        "stages": [{{"duration": "{c}ns", "target": {d}}}, {{"duration": "{e}ns", "target": {a}}}]}}"#, d % 1_000 + 1),
        ] {
            let Ok(test) = script(&format!(r#"{{"scenarios": {{"a": {fields}}}}}"#)) else { continue };
            for share in &shares {
                let Ok(plan) = Plan::new(&test.scenarios, share) else { continue };
                for scenario in plan.scenarios.iter() {
                    for at_ns in [0, 1, scenario.regular_end_ns / 3, scenario.regular_end_ns, u64::MAX] {
                        let live = onrush_plan::Live { elapsed_ns: at_ns, ..Default::default() };
                        let _ = (scenario.planned_at(at_ns), scenario.rate_at(at_ns), scenario.progress_columns(&live));
                        let _ = (scenario.progress(&live), scenario.iteration_in_test(at_ns), scenario.vu_id_in_test(at_ns));
                    }
                    let _ = scenario.steps().len() + scenario.reservation().len();
                    let mut before = 0;
                    match &scenario.executor {
                        // None at all where our only VU would start at the very end.
                        ExecutorPlan::RampingVus(p) => {
                            let count = |change| p.handle_actions().filter(|a| a.change == change).count();
                            prop_assert_eq!(count(HandleChange::Start), count(HandleChange::GracefulStop));
                        }
                        ExecutorPlan::ConstantArrivalRate(p) => for j in far(p.events()) {
                            let at_ns = p.event(j).unwrap().at_ns;
                            prop_assert!(at_ns >= before && at_ns < scenario.regular_end_ns);
                            before = at_ns;
                        },
                        ExecutorPlan::RampingArrivalRate(p) => for j in far(p.events()) {
                            let at_ns = p.event(j).unwrap().at_ns;
                            prop_assert!(at_ns >= before && at_ns <= scenario.regular_end_ns);
                            before = at_ns;
                        },
                        _ => {}
                    }
                }
            }
        }
    }
}

/// Legal numbers of every magnitude, the largest included.
fn extreme() -> impl Strategy<Value = i64> {
    prop_oneof![Just(i64::MAX), Just(1), 1_000_000_000..=i64::MAX, (0u32..62).prop_map(|bits| 1i64 << bits)]
}

/// Some indexes from the first to the last of `count`.
fn far(count: u64) -> Vec<u64> {
    let mut indexes: Vec<u64> = [0, 1, 2, count / 3, count / 2, count.saturating_sub(2), count.saturating_sub(1)]
        .into_iter()
        .filter(|j| *j < count)
        .collect();
    indexes.sort_unstable();
    indexes
}
