//! How a run stands, as the view's records say it.

use std::collections::BTreeMap;

use onrush_metrics::Thresholds;
use onrush_plan::{GoDuration, Plan};
use onrush_session::{
    Coordinator, RunPhase,
    protocol::{AgentId, Health, Time},
};
use onrush_view::{AgentSecond, AgentState, ScenarioState, State, ThresholdState};

use crate::run::summary;

/// How the run stands now.
pub(super) fn state(run: &Coordinator, plan: &Plan, names: Option<&BTreeMap<AgentId, String>>, now: Time) -> State {
    let (moment, progress, phase) = (run.moment(now), run.progress(), run.phase());
    let judgement = (phase >= RunPhase::Running).then(|| summary::judgement(run));
    let is_over = phase >= RunPhase::Done;
    State {
        at_ms: moment.scenarios.as_secs_f64() * 1e3,
        elapsed_ms: moment.test.as_secs_f64() * 1e3,
        phase: phase_name(phase).to_owned(),
        paused: run.is_paused(),
        vus_active: progress.vus_active,
        vus_initialized: progress.vus_initialized,
        iterations: progress.complete,
        interrupted: progress.interrupted,
        dropped: progress.scenarios.iter().map(|scenario| scenario.dropped).sum(),
        scenarios: scenarios(run, plan, now),
        thresholds: thresholds(run.thresholds()),
        verdict: judgement.as_ref().map(|judgement| judgement.verdict.as_str().to_owned()),
        reasons: judgement.as_ref().map(|judgement| judgement.reasons.clone()).unwrap_or_default(),
        // What is only known of a whole run is no news of half of one.
        notes: judgement.filter(|_| is_over).map(|judgement| judgement.notes).unwrap_or_default(),
        agents: agents(run, names),
    }
}

fn phase_name(phase: RunPhase) -> &'static str {
    match phase {
        RunPhase::Initializing => "initializing",
        RunPhase::Paused => "paused",
        RunPhase::Setup => "setup",
        RunPhase::Running => "running",
        RunPhase::Teardown => "teardown",
        RunPhase::Done | RunPhase::Closing => "done",
        RunPhase::Closed => "closed",
    }
}

fn scenarios(run: &Coordinator, plan: &Plan, now: Time) -> Vec<ScenarioState> {
    let progress = run.progress().scenarios;
    let targets = run.steering().scenarios(run.moment(now));
    let rows = plan.scenarios.iter().enumerate().map(|(index, scenario)| {
        let (progress, target) = (progress.get(index).copied().unwrap_or_default(), targets.get(index));
        let targets = target.map(|target| target.targets);
        let (rate, vus) = (targets.and_then(|targets| targets.rate), targets.and_then(|targets| targets.vus));
        let time_unit_ns = target.and_then(|target| target.time_unit_ns);
        // What is wanted is of the whole test, which is more than this run where it is a segment.
        let wanted = rate.or(vus);
        let share = if rate.is_some() { plan.share().length().as_f64() } else { 1.0 };
        let per_second = |wanted: u64| match time_unit_ns {
            Some(ns) => wanted as f64 * share * 1e9 / ns.max(1) as f64,
            None => scenario.share_of(wanted) as f64,
        };
        ScenarioState {
            name: scenario.name().to_owned(),
            started: progress.started_at.is_some(),
            over: progress.over,
            stopping: progress.stopping,
            vus: progress.active_vus,
            running_vus: progress.running_vus,
            max_vus: targets.and_then(|targets| targets.max_vus).map(|vus| scenario.share_of(vus)),
            target: wanted.map(per_second),
            wanted: wanted.map(|wanted| wanted as f64),
            time_unit: time_unit_ns.map(|ns| GoDuration::from_ns(i64::try_from(ns).unwrap_or(i64::MAX)).to_string()),
            iterations: progress.done,
            dropped: progress.dropped,
            exceptions: progress.thrown,
        }
    });
    rows.collect()
}

/// How thresholds stand, as last judged.
pub(crate) fn thresholds(thresholds: &Thresholds) -> Vec<ThresholdState> {
    let rows = thresholds.results().iter().flat_map(|result| {
        result.expressions.iter().map(|expression| ThresholdState {
            metric: result.name.clone(),
            source: expression.source.clone(),
            ok: expression.ok,
            judged: expression.observed.is_some(),
            value: expression.observed.filter(|value| value.is_finite()),
        })
    });
    rows.collect()
}

fn agents(run: &Coordinator, names: Option<&BTreeMap<AgentId, String>>) -> Vec<AgentState> {
    let rows = run.overview().into_iter().map(|agent| AgentState {
        agent: agent.id.0,
        name: names.and_then(|names| names.get(&agent.id)).cloned().unwrap_or_default(),
        share: agent.share,
        lost: agent.is_lost,
        vus: agent.vus_active,
        iterations: agent.iterations,
        requests: agent.requests,
        start_late_ms: agent.late.map(|late| late.as_secs_f64() * 1e3),
        verdict: agent.health.verdict.as_str().to_owned(),
        reasons: agent.health.reasons,
    });
    rows.collect()
}

/// A second of an agent.
pub(super) fn second(agent: AgentId, health: &Health) -> AgentSecond {
    AgentSecond {
        agent: agent.0,
        seconds: 1,
        cpu_cores: health.process_cores,
        busiest_thread_cores: health.busiest_thread_cores,
        available_cores: health.available_cores,
        machine_cores: health.machine_cores,
        steal_cores: health.steal_cores,
        throttled: health.throttled,
        rss_bytes: health.rss_bytes,
        memory_used: health.memory_used,
        open_files: health.fds,
        timer_lag_ms: health.timer_lag_max_ms,
        run_queue: health.waiting,
        received_bytes: health.received_bytes,
        sent_bytes: health.sent_bytes,
        segments: health.segments,
        retransmitted: health.retransmitted,
        packets_dropped: health.packets_dropped,
        swapped_in: health.swapped_in,
    }
}
