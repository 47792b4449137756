//! Runs a script with the engine as the command line does, and keeps everything it said and measured.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use onrush_agent::{Commander, Test};
use onrush_engine::{Engine, EngineConfig, Timeouts};
use onrush_fiber::Clock;
use onrush_js::{
    BUILTIN_MODULES, HttpSettings, IsolationChoice, RunConfig, RunState, ScenarioContext, ScriptEnv,
    init::{self, InitError, IsolationMode},
    log,
};
use onrush_metrics::{
    Sink, Subscriptions, SystemTag, ThresholdSource, Thresholds, builtin,
    summary::{RunInfo, SummaryMode, SummaryModel, TrendStat, handle_summary, input_from, subscribe},
};
use onrush_plan::{Consolidated, Options, Plan, Tier, consolidate_with_exports, parse_json};
use onrush_session::{
    Coordinator, ExitCode, Notice, Orders, RunPhase, Settings, Stop,
    protocol::{AgentId, Progress, Report as AgentReport, Time},
};
use onrush_testsite::{TargetHandle, TargetOptions};

/// A run may take this long; a hang fails with what was said so far.
const PATIENCE: Duration = Duration::from_secs(20);
const AGENT: AgentId = AgentId(0);

/// The server all tests share: `host:port` of its plain side.
pub(crate) fn target() -> String {
    shared_target().addr.to_string()
}

/// The same server's TLS side.
pub(crate) fn tls_target() -> String {
    shared_target().tls_addr.expect("it was asked for").to_string()
}

fn shared_target() -> &'static TargetHandle {
    static TARGET: OnceLock<TargetHandle> = OnceLock::new();
    let options = || TargetOptions {
        listen: ([127, 0, 0, 1], 0).into(),
        tls_listen: Some(([127, 0, 0, 1], 0).into()),
        ..TargetOptions::default()
    };
    TARGET.get_or_init(|| onrush_testsite::start(options()).expect("the target starts on any port"))
}

/// A script and how to run it.
pub(crate) struct Case {
    files: Vec<(String, Vec<u8>)>,
    entry: String,
    mode: IsolationMode,
    threads: usize,
    env: BTreeMap<String, String>,
    memory_limit: Option<usize>,
    options: Option<String>,
    interrupt_after: Option<Duration>,
}

/// A test's script under a layout, `vus` × `iterations` in all by default 1 × 1.
pub(crate) fn case(script: &str) -> Case {
    Case {
        files: vec![("script.js".to_owned(), script.into())],
        entry: "script.js".to_owned(),
        mode: IsolationMode::Auto,
        threads: 1,
        env: BTreeMap::from([("TARGET".to_owned(), target()), ("TLS_TARGET".to_owned(), tls_target())]),
        memory_limit: None,
        options: None,
        interrupt_after: None,
    }
}

impl Case {
    /// Renames the script: `script.ts` makes it TypeScript.
    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.files[0].0);
        name.clone_into(&mut self.entry);
        self
    }

    pub(crate) fn file(mut self, name: &str, contents: impl AsRef<[u8]>) -> Self {
        self.files.push((name.to_owned(), contents.as_ref().to_vec()));
        self
    }

    pub(crate) fn isolation(mut self, mode: IsolationMode) -> Self {
        self.mode = mode;
        self
    }

    pub(crate) fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Options laid over the script's, as flags would be.
    pub(crate) fn options(mut self, json: &str) -> Self {
        self.options = Some(json.to_owned());
        self
    }

    /// `vus` VUs with `iterations` each.
    pub(crate) fn vus(self, vus: u32, iterations: u32) -> Self {
        self.options(&format!(r#"{{"scenarios":{{"default":{{"executor":"per-vu-iterations","vus":{vus},"iterations":{iterations},"maxDuration":"15s","gracefulStop":"1s"}}}}}}"#))
    }

    /// Stops the run from outside, as Ctrl+C does.
    pub(crate) fn interrupt_after(mut self, after: Duration) -> Self {
        self.interrupt_after = Some(after);
        self
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Report {
        run(self)
    }

    /// Runs it under both layouts and hands both reports to `check`.
    pub(crate) fn both(self, check: impl Fn(&Report)) {
        for mode in [IsolationMode::Dense, IsolationMode::Isolated] {
            let case = Self {
                files: self.files.clone(),
                entry: self.entry.clone(),
                mode,
                env: self.env.clone(),
                options: self.options.clone(),
                ..self
            };
            check(&run(case));
        }
    }
}

/// All a run did.
pub(crate) struct Report {
    /// Log lines in order: `info text`, `error text` and so on, fields other than the source's appended.
    pub(crate) lines: Vec<String>,
    pub(crate) exit: ExitCode,
    /// Why it ended early, or could not start.
    pub(crate) stop: Option<String>,
    pub(crate) isolation: Option<IsolationChoice>,
    coordinator: Option<Coordinator>,
}

impl Report {
    /// The texts of `console.log`.
    pub(crate) fn said(&self) -> Vec<&str> {
        self.lines.iter().filter_map(|line| line.strip_prefix("info ")).collect()
    }

    /// The same, sorted: for VUs that run at once.
    pub(crate) fn said_sorted(&self) -> Vec<&str> {
        let mut said = self.said();
        said.sort_unstable();
        said
    }

    /// Lines of one level.
    pub(crate) fn level(&self, level: &str) -> Vec<&str> {
        self.lines.iter().filter_map(|line| line.strip_prefix(level)?.strip_prefix(' ')).collect()
    }

    /// A counter's total.
    pub(crate) fn count(&self, metric: onrush_metrics::MetricId) -> f64 {
        let coordinator = self.coordinator.as_ref().expect("the run started");
        coordinator.merged().sink(metric).and_then(Sink::counter).unwrap_or(0.0)
    }

    /// How many samples of a rate were hits, of how many.
    pub(crate) fn rate(&self, metric: onrush_metrics::MetricId) -> (u64, u64) {
        let coordinator = self.coordinator.as_ref().expect("the run started");
        coordinator.merged().sink(metric).and_then(Sink::rate).unwrap_or_default()
    }

    /// How many samples a trend has.
    pub(crate) fn samples(&self, metric: onrush_metrics::MetricId) -> u64 {
        let coordinator = self.coordinator.as_ref().expect("the run started");
        coordinator.merged().sink(metric).and_then(Sink::trend).map_or(0, |histogram| histogram.count())
    }

    pub(crate) fn iterations(&self) -> f64 {
        self.count(builtin::ITERATIONS)
    }

    /// What became of its iterations, and of each scenario.
    pub(crate) fn progress(&self) -> Progress {
        self.coordinator.as_ref().expect("the run started").progress()
    }

    /// Nothing threw and nothing was logged but `console.log`.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        assert!(self.stop.is_none() && self.said().len() == self.lines.len(), "{self:#?}");
    }
}

impl std::fmt::Debug for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Report")
            .field("lines", &self.lines)
            .field("exit", &self.exit)
            .field("stop", &self.stop)
            .field("isolation", &self.isolation)
            .finish()
    }
}

/// Collects log lines.
#[derive(Default)]
struct Lines(Mutex<Vec<log::Line>>);

impl log::Sink for Lines {
    fn line(&self, line: log::Line) {
        self.0.lock().expect("no test panics while it holds the lines").push(line);
    }
}

/// A line as reports show it: fields that say where it came from are left out.
pub(crate) fn shown<K: AsRef<str>>(level: &str, message: &str, fields: &[(K, String)]) -> String {
    let mut text = format!("{level} {}", message.trim_end_matches('\n'));
    let hidden = ["source", "executor", "scenario", "hint"];
    for (name, value) in
        fields.iter().map(|(name, value)| (name.as_ref(), value)).filter(|(name, _)| !hidden.contains(name))
    {
        text.push_str(&format!(" {name}={value}"));
    }
    text
}

fn run(case: Case) -> Report {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, text) in &case.files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().expect("files lie in the directory")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }
    let lines = Arc::new(Lines::default());
    let mut report =
        Report { lines: Vec::new(), exit: ExitCode::Success, stop: None, isolation: None, coordinator: None };
    if let Err((exit, text)) = run_in(&case, directory.path(), &lines, &mut report) {
        report.exit = exit;
        report.stop = Some(text);
    }
    let hide = |text: String| text.replace(&directory.path().display().to_string(), "DIR");
    let said = lines.0.lock().expect("all VUs have ended");
    report.lines.extend(said.iter().map(|line| {
        let level = match line.level {
            log::Level::Debug => "debug",
            log::Level::Info => "info",
            log::Level::Warn => "warning",
            log::Level::Error => "error",
        };
        hide(shown(level, &line.message, &line.fields))
    }));
    report.stop = report.stop.map(hide);
    report
}

fn run_in(case: &Case, directory: &Path, lines: &Arc<Lines>, report: &mut Report) -> Result<(), (ExitCode, String)> {
    let invalid = |error: String| (ExitCode::InvalidConfig, error);
    let mut computed = Vec::new();
    let (script, found) = loop {
        let script = load(case, directory, lines, &computed)?;
        match init::run(&script, case.mode) {
            Ok(found) => break (script, found),
            Err(InitError::NotLoaded(wanted)) => {
                computed.extend(wanted);
                lines.0.lock().expect("nobody holds it").clear();
            }
            Err(InitError::Script(failure)) if failure.aborted => {
                return Err((ExitCode::ScriptAborted, failure.text));
            }
            Err(error) => return Err((ExitCode::ScriptException, error.to_string())),
        }
    };
    report.isolation = Some(found.isolation.clone());
    let parsed = parse_json(&found.options_json).map_err(|error| invalid(error.to_string()))?;
    let mut tiers = vec![(Tier::Defaults, Options::defaults()), (Tier::Script, parsed.options)];
    if let Some(json) = &case.options {
        tiers.push((Tier::Cli, parse_json(json).expect("a test's options").options));
    }
    let is_exported = |name: &str| found.functions.iter().any(|function| function == name);
    let test = consolidate_with_exports(tiers, &found.functions).map_err(|errors| invalid(errors.to_string()))?;
    let plan = Arc::new(Plan::new(&test.scenarios, &test.share).map_err(|error| invalid(error.to_string()))?);
    let thresholds = thresholds(&test, &found.registry).map_err(invalid)?;
    let trend_stats =
        TrendStat::parse_list(&test.settings.summary_trend_stats).map_err(|error| invalid(error.to_string()))?;
    let enabled = test.settings.system_tags.iter().filter_map(SystemTag::from_str).collect();
    let builder = subscribe(Subscriptions::builder().system_tags(enabled), SummaryMode::Compact);
    let subscriptions =
        thresholds.submetrics().iter().fold(builder, |builder, submetric| builder.submetric(submetric)).build();
    let client = onrush_net::ClientOptions {
        tls: onrush_net::TlsOptions {
            insecure_skip_verify: test.settings.insecure_skip_tls_verify,
            ..Default::default()
        },
        hosts: test.options.hosts.iter().flatten().map(|(name, target)| (name.clone(), target.to_string())).collect(),
        block_hostnames: test.options.block_hostnames.clone().unwrap_or_default(),
        blacklist_ips: test.options.blacklist_ips.iter().flatten().map(ToString::to_string).collect(),
        ..Default::default()
    };
    let run = Arc::new(RunConfig {
        script,
        registry: found.registry.clone(),
        subscriptions: Arc::new(subscriptions),
        census: Arc::new(onrush_metrics::Census::new(onrush_metrics::Census::LIMIT)),
        isolation: found.isolation.isolation,
        options_json: test.options.to_test_json().to_string(),
        export_json: test.merged.to_export_json().to_string(),
        tags: test.settings.tags.clone(),
        http: HttpSettings::of(&test),
        client: Arc::new(client.build().map_err(|error| invalid(error.to_string()))?),
        state: Arc::new(RunState::default()),
        scenarios: plan.scenarios.iter().map(ScenarioContext::of).map(Arc::new).collect(),
        functions: found.functions.clone(),
        local_ips: None,
        init_pass: false,
    });
    let settings = Settings {
        has_setup: is_exported("setup") && test.settings.setup,
        has_teardown: is_exported("teardown") && test.settings.teardown,
        evaluates_thresholds: true,
        ..Settings::default()
    };
    let timeouts = Timeouts {
        setup: test.settings.setup_timeout,
        teardown: test.settings.teardown_timeout,
        handle_summary: PATIENCE,
    };
    let coordinator = Coordinator::new(settings, [AGENT], &plan, &found.registry, thresholds);
    let config = EngineConfig {
        run,
        plan,
        threads: case.threads,
        min_iteration: test.settings.min_iteration_duration,
        timeouts,
        taps: None,
        tracers: None,
    };
    let scenarios = test.scenarios.clone().into();
    let (commander, inbox) = onrush_agent::channel();
    let (sender, reports) = channel();
    let agent = std::thread::spawn(move || {
        let test = Test { engine: config, scenarios, finish_outputs: None, stops: None };
        // The run may have failed and gone by the time the last reports are sent.
        onrush_agent::serve(
            &inbox,
            onrush_session::protocol::ClockOffset::default,
            |_| Ok(test),
            move |report| drop(sender.send(report)),
        )
    });
    let script = &String::from_utf8_lossy(&case.files[0].1);
    let mut drive = Drive { agent, commander, reports, coordinator, summary: None, trend_stats, lines, script };
    let outcome = drive.run(case.interrupt_after, is_exported("handleSummary"));
    report.exit = outcome.exit_code();
    report.stop = outcome.stop.as_ref().map(|stop| stop.message.clone());
    report.coordinator = Some(drive.coordinator);
    if let Some(engine) = drive.agent.join().expect("the agent does not panic") {
        engine.shutdown();
    }
    Ok(())
}

fn load(
    case: &Case,
    directory: &Path,
    lines: &Arc<Lines>,
    computed: &[onrush_script::Computed],
) -> Result<Arc<ScriptEnv>, (ExitCode, String)> {
    let options = onrush_script::LoadOptions {
        working_dir: directory.to_owned(),
        compatibility_mode: onrush_script::CompatibilityMode::Extended,
        builtins: BUILTIN_MODULES,
        source_bytes_max: 64 << 20,
        archived: None,
        remote: None,
    };
    let entry = onrush_script::Entry::File(PathBuf::from(&case.entry));
    let program = onrush_script::load_with(entry, &options, computed)
        .map_err(|error| (ExitCode::ScriptException, error.render()))?;
    let mut script = ScriptEnv::new(Arc::new(program), case.env.clone(), lines.clone(), directory.to_owned());
    script.accepts_computed = true;
    if let Some(bytes) = case.memory_limit {
        script.memory_limit_bytes = bytes;
    }
    Ok(Arc::new(script))
}

fn thresholds(test: &Consolidated, registry: &onrush_metrics::Registry) -> Result<Thresholds, String> {
    let source = |config: &onrush_plan::ThresholdConfig| ThresholdSource {
        expression: config.expression.clone(),
        abort_on_fail: config.abort_on_fail,
        delay_abort_eval_ns: config.delay_abort_eval.map(onrush_plan::GoDuration::as_ns),
        ..ThresholdSource::default()
    };
    let configs = test.options.thresholds.iter().flatten();
    let sources: BTreeMap<String, Vec<ThresholdSource>> =
        configs.map(|(metric, configs)| (metric.clone(), configs.iter().map(source).collect())).collect();
    Thresholds::parse(&sources, registry).map_err(|errors| format!("{errors:?}"))
}

/// A run under way.
struct Drive<'a> {
    agent: JoinHandle<Option<Engine>>,
    commander: Commander,
    reports: Receiver<AgentReport>,
    coordinator: Coordinator,
    summary: Option<Result<(), String>>,
    trend_stats: Vec<TrendStat>,
    lines: &'a Lines,
    script: &'a str,
}

impl Drive<'_> {
    fn run(&mut self, mut interrupt_after: Option<Duration>, has_summary: bool) -> onrush_session::Outcome {
        let began = Instant::now();
        let orders = self.coordinator.start(&[], now());
        self.send(orders);
        while self.coordinator.phase() < RunPhase::Done {
            self.step(began);
            let has_started = self.coordinator.started_at().is_some();
            if interrupt_after.is_some_and(|after| has_started && began.elapsed() >= after) {
                interrupt_after = None;
                let stop = Stop { code: ExitCode::ExternalAbort, message: "interrupted".to_owned() };
                let orders = self.coordinator.abort(stop, now());
                self.send(orders);
            }
        }
        let orders = self.coordinator.close(now());
        self.send(orders);
        while self.coordinator.phase() < RunPhase::Closed {
            self.step(began);
        }
        if has_summary {
            let setup_data = self.coordinator.setup_data().and_then(|data| serde_json::from_str(data).ok());
            let duration_ns = self.coordinator.duration().map_or(0, |duration| duration.as_nanos() as u64);
            let info = RunInfo { duration_ns, setup_data, trend_stats: self.trend_stats.clone(), ..RunInfo::default() };
            let (merged, thresholds) = (self.coordinator.merged(), self.coordinator.thresholds());
            let model = SummaryModel::new(input_from(merged, thresholds, info, SummaryMode::Compact));
            let orders = self.coordinator.summarize(handle_summary(&model).to_string(), now());
            self.send(orders);
            while self.summary.is_none() {
                self.step(began);
            }
        }
        let orders = self.coordinator.stop_agents(now());
        self.send(orders);
        self.coordinator.outcome().expect("it is closed").clone()
    }

    fn step(&mut self, began: Instant) {
        match self.reports.recv_timeout(Duration::from_millis(20)) {
            Ok(report) => {
                if let AgentReport::Health(health) = &report {
                    assert_eq!(health.panics, 0, "a fiber panicked");
                }
                let orders = self.coordinator.handle(AGENT, report, now());
                self.send(orders);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => panic!("the agent ended"),
        }
        let orders = self.coordinator.tick(now());
        self.send(orders);
        if began.elapsed() > PATIENCE {
            let said: Vec<String> =
                self.lines.0.lock().expect("readable").iter().map(|line| line.message.clone()).collect();
            panic!("the run hangs in phase {:?}: {}; it said {said:#?}", self.coordinator.phase(), self.script);
        }
    }

    fn send(&mut self, orders: Orders) {
        orders.into_iter().for_each(|(_, command)| self.commander.send(command));
        let say = |level: log::Level, message: String| {
            log::Sink::line(self.lines, log::Line { level, message, fields: Vec::new() });
        };
        for notice in self.coordinator.notices() {
            match notice {
                Notice::Warning { message, .. } => say(log::Level::Warn, message),
                Notice::Error(message) => say(log::Level::Error, message),
                Notice::SummaryDone(result) => {
                    if let Err(failure) = &result {
                        say(log::Level::Error, failure.message.clone());
                    }
                    self.summary = Some(result.map(drop).map_err(|failure| failure.message));
                }
                other => unreachable!("nobody asked for {other:?}"),
            }
        }
    }
}

fn now() -> Time {
    Time(Clock::now().0)
}
