//! Runs a script with a coordinator and an agent and prints the summary, and how often requests ask for memory:
//! `run script.js [threads]`. For development; the real command is `onrush run`. `requests.js` compares kinds of
//! requests.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example that prints")]

use std::{
    alloc::System,
    collections::BTreeMap,
    sync::{Arc, mpsc::channel},
    time::Duration,
};

use onrush_engine::{EngineConfig, Timeouts};
use onrush_fiber::Clock;
use onrush_js::{BUILTIN_MODULES, HttpSettings, RunConfig, RunState, ScenarioContext, ScriptEnv, init, log};
use onrush_metrics::{Subscriptions, Thresholds, summary};
use onrush_plan::{Options, Plan, Tier, consolidate, parse_json};
use onrush_session::{
    Coordinator, RunPhase, Settings,
    protocol::{AgentId, Report, Time},
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

const AGENT: AgentId = AgentId(0);

/// Counts what Rust code allocates; the objects of scripts have memory of their own.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

struct Stderr;
impl log::Sink for Stderr {
    fn line(&self, line: log::Line) {
        eprintln!("{:?}: {} {:?}", line.level, line.message, line.fields);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("a script, please")?;
    let threads = std::env::args().nth(2).map_or(Ok(1), |text| text.parse())?;
    onrush_fiber::raise_fd_limit();
    let cwd = std::env::current_dir()?;
    let options = onrush_script::LoadOptions {
        working_dir: cwd.clone(),
        compatibility_mode: onrush_script::CompatibilityMode::Extended,
        builtins: BUILTIN_MODULES,
        source_bytes_max: 64 << 20,
        archived: None,
        remote: None,
    };
    let program =
        onrush_script::load(onrush_script::Entry::File(path.into()), &options).map_err(|error| error.render())?;
    let script = Arc::new(ScriptEnv::new(Arc::new(program), std::env::vars().collect(), Arc::new(Stderr), cwd));
    let found = init::run(&script, init::IsolationMode::Auto)?;
    let parsed = parse_json(&found.options_json)?;
    let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, parsed.options)])?;
    let plan = Arc::new(Plan::new(&test.scenarios, &test.share)?);
    let subscriptions = summary::subscribe(Subscriptions::builder(), summary::SummaryMode::Compact).build();
    let scenarios = plan.scenarios.iter().map(ScenarioContext::of).map(Arc::new).collect();
    let client = onrush_net::ClientOptions {
        tls: onrush_net::TlsOptions { insecure_skip_verify: true, ..Default::default() },
        ..Default::default()
    };
    let run = Arc::new(RunConfig {
        script,
        registry: found.registry.clone(),
        subscriptions: Arc::new(subscriptions),
        census: Arc::new(onrush_metrics::Census::new(onrush_metrics::Census::LIMIT)),
        isolation: found.isolation.isolation,
        options_json: test.options.to_json().to_string(),
        export_json: test.merged.to_export_json().to_string(),
        tags: BTreeMap::new(),
        http: HttpSettings::default(),
        client: Arc::new(client.build()?),
        state: Arc::new(RunState::default()),
        scenarios,
        functions: found.functions.clone(),
        local_ips: None,
        init_pass: false,
    });
    println!("{:?}; {} VUs", found.isolation, plan.max_vus);
    let minute = Duration::from_secs(60);
    let timeouts = Timeouts { setup: minute, teardown: minute, handle_summary: minute };
    let settings = Settings { evaluates_thresholds: true, ..Settings::default() };
    let mut coordinator = Coordinator::new(settings, [AGENT], &plan, &found.registry, Thresholds::default());
    let engine =
        EngineConfig { run, plan, threads, min_iteration: Duration::ZERO, timeouts, taps: None, tracers: None };
    let scenarios_of_test = test.scenarios.clone().into();
    let (commander, inbox) = onrush_agent::channel();
    let (sender, reports) = channel();
    let agent = std::thread::spawn(move || {
        let test = onrush_agent::Test { engine, scenarios: scenarios_of_test, finish_outputs: None, stops: None };
        onrush_agent::serve(
            &inbox,
            onrush_session::protocol::ClockOffset::default,
            |_| Ok(test),
            move |report| drop(sender.send(report)),
        )
    });
    let began = Clock::now();
    let (mut region, mut asked) = (Region::new(ALLOCATOR), Stats::default());
    let mut probe = onrush_engine::HealthProbe::new();
    let mut orders = coordinator.start(&[], now());
    while coordinator.phase() < RunPhase::Closed {
        orders.drain(..).for_each(|(_, command)| commander.send(command));
        if let Ok(report) = reports.recv_timeout(Duration::from_millis(100)) {
            match &report {
                Report::Ready => {
                    println!("initialized in {:.3} s", (Clock::now().0 - began.0) as f64 / 1e9);
                    probe.sample();
                    region.reset();
                }
                Report::ScenariosDone => {
                    asked = region.change();
                    let health = probe.sample();
                    println!(
                        "rss {} MB, cores {:.2} (user {:.2})",
                        health.rss_bytes >> 20,
                        health.process_cores,
                        health.user_cores
                    );
                }
                _ => {}
            }
            orders.extend(coordinator.handle(AGENT, report, now()));
        }
        orders.extend(coordinator.tick(now()));
        if coordinator.phase() == RunPhase::Done {
            orders.extend(coordinator.close(now()));
        }
        coordinator.notices().into_iter().for_each(|notice| println!("{notice:?}"));
    }
    let sink = coordinator.merged().sink(onrush_metrics::builtin::HTTP_REQS);
    if let Some(requests) = sink.and_then(|sink| sink.counter()) {
        println!(
            "a request: {:.2} allocations, {:.2} reallocations",
            asked.allocations as f64 / requests,
            asked.reallocations as f64 / requests
        );
    }
    let duration_ns = coordinator.duration().map_or(1, |duration| duration.as_nanos() as u64);
    let info = summary::RunInfo { duration_ns, ..Default::default() };
    let (merged, mode) = (coordinator.merged(), summary::SummaryMode::Compact);
    let model = summary::SummaryModel::new(summary::input_from(merged, coordinator.thresholds(), info, mode));
    let text = summary::render(
        &model,
        &summary::TextOptions { mode: summary::SummaryMode::Compact, ..summary::TextOptions::default() },
    );
    println!("{text}");
    drop(commander);
    if let Ok(Some(engine)) = agent.join() {
        engine.shutdown();
    }
    Ok(())
}

fn now() -> Time {
    Time(Clock::now().0)
}
