//! Runs a script with the engine alone and prints the summary: `run script.js [threads]`. For development; the real
//! command is `onrush run`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example that prints")]

use std::{
    collections::BTreeMap,
    sync::{Arc, mpsc::channel},
    time::Duration,
};

use onrush_engine::{Engine, EngineConfig, Event, Timeouts};
use onrush_fiber::Clock;
use onrush_js::{BUILTIN_MODULES, HttpSettings, RunConfig, RunState, ScenarioContext, ScriptEnv, init, log};
use onrush_metrics::{Merged, Phase, Subscriptions, ThresholdSource, Thresholds, summary};
use onrush_plan::{Options, Plan, Tier, consolidate, parse_json};

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
    };
    let program =
        onrush_script::load(onrush_script::Entry::File(path.into()), &options).map_err(|error| error.render())?;
    let script = Arc::new(ScriptEnv::new(Arc::new(program), std::env::vars().collect(), Arc::new(Stderr), cwd));
    let found = init::run(&script, init::IsolationMode::Auto)?;
    let parsed = parse_json(&found.options_json)?;
    let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, parsed.options)])?;
    let plan = Arc::new(Plan::new(&test.scenarios, &test.tuple)?);
    let sources: BTreeMap<String, Vec<ThresholdSource>> = BTreeMap::new();
    let mut thresholds = Thresholds::parse(&sources, &found.registry).map_err(|errors| format!("{errors:?}"))?;
    let subscriptions = summary::subscribe(Subscriptions::builder(), summary::SummaryMode::Compact).build();
    let scenarios = plan
        .scenarios
        .iter()
        .map(|plan| {
            Arc::new(ScenarioContext {
                name: plan.name().to_owned(),
                executor: plan.scenario.executor.type_name().to_owned(),
                exec: plan.scenario.exec.clone(),
                env: BTreeMap::new(),
                tags: BTreeMap::new(),
                duration_ns: plan.regular_end_ns,
                started_at: Default::default(),
                iterations: Default::default(),
                done: Default::default(),
                iterations_total: plan.total_iterations().unwrap_or(0),
            })
        })
        .collect();
    let state = Arc::new(RunState::default());
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
        state: state.clone(),
        scenarios,
        functions: found.functions.clone(),
        local_ips: None,
        init_pass: false,
    });
    println!("{:?}; {} VUs", found.isolation, plan.max_vus);
    let (events, inbox) = channel();
    let minute = Duration::from_secs(60);
    let timeouts = Timeouts { setup: minute, teardown: minute, handle_summary: minute };
    let began = Clock::now();
    let engine = Engine::start(
        EngineConfig { run, plan, threads, min_iteration: Duration::ZERO, timeouts, taps: None },
        events,
    )?;
    let mut merged = Merged::new(&found.registry);
    let mut engine = Some(engine);
    let mut start = Clock::now();
    let mut ended = 0;
    let mut probe = onrush_engine::HealthProbe::new();
    for event in inbox {
        match event {
            Event::Initialized => {
                println!("initialized in {:.3} s", (Clock::now().0 - began.0) as f64 / 1e9);
                start = Clock::now();
                probe.sample();
                state.start_clock(start);
                if let Some(engine) = &engine {
                    engine.start_scenarios(start, None);
                }
            }
            Event::Sample(sample) => merged.add(&sample.delta),
            Event::ScenariosDone => {
                let health = probe.sample();
                let requests =
                    merged.sink(onrush_metrics::builtin::HTTP_REQS).and_then(|sink| sink.counter()).unwrap_or(1.0);
                println!(
                    "rss {} MB, cores {:.2} (user {:.2}), {requests} requests before the last delta",
                    health.rss_bytes >> 20,
                    health.process_cores,
                    health.user_cores
                );
                if let Some(engine) = engine.take() {
                    std::thread::spawn(move || engine.shutdown());
                }
            }
            Event::ThreadEnded => {
                ended += 1;
                if ended == threads {
                    break;
                }
            }
            other => println!("{other:?}"),
        }
    }
    let elapsed = (Clock::now().0 - start.0).max(1);
    thresholds.evaluate(&merged, elapsed, Phase::End);
    let info = summary::RunInfo { duration_ns: elapsed, ..Default::default() };
    let model = summary::SummaryModel::new(summary::input_from(&merged, &thresholds, info));
    let text = summary::render(
        &model,
        &summary::TextOptions { mode: summary::SummaryMode::Compact, color: false, footer: None },
    );
    println!("{text}");
    Ok(())
}
