//! What a run is and how it ended, for the view.

use onrush_fiber::Clock;
use onrush_plan::{FOREVER_NS, Plan, ScenarioPlan};
use onrush_results::End;
use onrush_view::{Head, Scenario};

use super::super::prepare::{self, Prepared};
use crate::{args::RunArgs, version};

/// The first record of a run that is about to start.
pub(crate) fn head(args: &RunArgs, prepared: &Prepared, agents: u32, can_steer: bool) -> Head {
    let settings = &prepared.test.settings;
    let plan = &prepared.plan;
    let sources = if args.no_thresholds { Default::default() } else { prepare::threshold_sources(&prepared.test) };
    let thresholds = sources
        .into_iter()
        .map(|(metric, sources)| (metric, sources.into_iter().map(|source| source.expression).collect()));
    let end_ns = plan.scenarios.iter().map(|scenario| scenario.start_ns.saturating_add(scenario.regular_end_ns)).max();
    Head {
        onrush: version::VERSION.to_owned(),
        script: args.script.file.clone(),
        started_ms: Some(Clock::unix_ms(Clock::now())),
        planned_ms: end_ns.filter(|end_ns| *end_ns < FOREVER_NS).map(ms),
        agents,
        is_open: plan.is_open(),
        can_steer,
        scenarios: scenarios(plan),
        thresholds: thresholds.collect(),
        trend_stats: settings.summary_trend_stats.clone(),
        time_unit: settings.summary_time_unit.clone(),
        ..Head::new(&prepared.run.registry)
    }
}

/// What the scenarios of a plan are meant to do.
pub(in crate::run) fn scenarios(plan: &Plan) -> Vec<Scenario> {
    let row = |scenario: &ScenarioPlan| {
        let planned = scenario.planned();
        Scenario {
            name: scenario.name().to_owned(),
            executor: scenario.scenario.executor.type_name().to_owned(),
            description: scenario.description.to_string(),
            start_ms: ms(scenario.start_ns),
            is_rate: planned.is_rate,
            unit: if planned.is_rate { "iterations/s" } else { "VUs" }.to_owned(),
            planned: planned.points.into_iter().map(|(at_ns, target)| (ms(at_ns), target)).collect(),
        }
    };
    plan.scenarios.iter().map(row).collect()
}

/// The last record.
pub(crate) fn end(end: &End) -> onrush_view::End {
    onrush_view::End {
        duration_ms: ms(end.duration_ns),
        exit_code: Some(end.exit_code),
        stopped: end.stopped.clone(),
        verdict: Some(end.verdict.clone()),
        reasons: end.reasons.clone(),
        notes: end.notes.clone(),
        own_delay: end.own_delay.clone(),
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}
