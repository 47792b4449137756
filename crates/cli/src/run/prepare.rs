//! What engine and coordinator are started with.

use std::{collections::BTreeMap, sync::Arc};

use onrush_engine::{EngineConfig, Timeouts};
use onrush_js::{
    HttpSettings, INTENDED_DURATION, INTENDED_REQUEST_DURATION, IsolationChoice, RunConfig, RunState, ScenarioContext,
};
use onrush_metrics::{
    Census, Contains, MetricKind, Registry, SubMetric, Subscriptions, SystemTag, SystemTags, ThresholdError,
    ThresholdSource, Thresholds, WindowSource,
    summary::{SummaryMode, TimeUnit, TrendStat, subscribe},
};
use onrush_net::Limits;
use onrush_output::Taps;
use onrush_plan::{Consolidated, Plan};

use super::{key_log, load::Script, network};
use crate::{args::RunArgs, failure::Failure, log::Logger, tools::http};

/// A test that is ready to start.
pub(crate) struct Prepared {
    /// For the engine.
    pub(crate) run: Arc<RunConfig>,
    /// The schedule.
    pub(crate) plan: Arc<Plan>,
    /// All options.
    pub(crate) test: Consolidated,
    /// Checked thresholds, not evaluated yet.
    pub(crate) thresholds: Thresholds,
    /// The VU layout and why.
    pub(crate) isolation: IsolationChoice,
    /// Columns of trends.
    pub(crate) trend_stats: Vec<TrendStat>,
    /// Features of k6 that are on, by name, between commas.
    pub(crate) features: String,
    /// Unit of times.
    pub(crate) time_unit: Option<TimeUnit>,
    /// Who reads its samples.
    pub(crate) readers: Readers,
    /// Which life-cycle functions the script exports.
    pub(crate) lifecycle: Lifecycle,
    threads: usize,
}

/// Who reads the samples of a run, the summary aside.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readers {
    /// Outputs of single samples.
    pub(crate) raw: bool,
    /// Result files.
    pub(crate) results: bool,
    /// Outputs of whole time series.
    pub(crate) series: bool,
    /// Dashboard and report, and the tags they keep beside their own.
    pub(crate) view: Option<Vec<String>>,
}

impl Readers {
    /// Of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            raw: self.raw || other.raw,
            results: self.results || other.results,
            series: self.series || other.series,
            view: self.view.or(other.view),
        }
    }
}

/// The life-cycle functions of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lifecycle {
    pub(crate) setup: bool,
    pub(crate) teardown: bool,
    pub(crate) handle_summary: bool,
    /// `handleSummary` is exported and is no function.
    pub(crate) handle_summary_is_wrong: bool,
}

impl Prepared {
    /// What the engine is started with.
    pub(super) fn engine(&self, taps: Option<Taps>) -> EngineConfig {
        let settings = &self.test.settings;
        EngineConfig {
            run: self.run.clone(),
            plan: self.plan.clone(),
            threads: self.threads,
            min_iteration: settings.min_iteration_duration,
            timeouts: Timeouts {
                setup: settings.setup_timeout,
                teardown: settings.teardown_timeout,
                handle_summary: settings.handle_summary_timeout,
            },
            taps,
            tracers: None,
        }
    }

    /// Worker threads.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Worker threads of each of so many agents on this machine, unless it was said.
    pub(super) fn threads_of_each(&self, args: &RunArgs, agents: u32) -> usize {
        args.threads.unwrap_or_else(|| self.threads.div_ceil(agents.max(1) as usize))
    }
}

/// Checks what only shows when everything is known, and builds what a run needs.
///
/// # Errors
/// 104 for thresholds and options that cannot be used.
pub(super) fn prepare(
    args: &RunArgs,
    logger: &Arc<Logger>,
    script: Script,
    test: Consolidated,
    readers: Readers,
    features: String,
) -> Result<Prepared, Failure> {
    let settings = &test.settings;
    let registry = &with_intended(&script.init.registry, &test, args.intended_latency)?;
    let thresholds = thresholds(args.no_thresholds, logger, &test, registry)?;
    let trend_stats =
        TrendStat::parse_list(&settings.summary_trend_stats).map_err(|error| Failure::config(error.to_string()))?;
    let time_unit = TimeUnit::parse(&settings.summary_time_unit).map_err(|error| Failure::config(error.to_string()))?;
    let plan = Plan::new(&test.scenarios, &test.share)
        .and_then(|plan| plan.check_size().map(|()| plan))
        .map_err(|error| Failure::config(error.to_string()))?;
    let has = |name: &str| script.init.functions.iter().any(|function| function == name);
    let lifecycle = Lifecycle {
        setup: has("setup") && settings.setup,
        teardown: has("teardown") && settings.teardown,
        handle_summary: has("handleSummary"),
        handle_summary_is_wrong: script.init.not_functions.iter().any(|name| name == "handleSummary"),
    };
    let limits = body_limits(args.response_body_bytes_max, script.env.memory_limit_bytes as u64);
    // k6: a warning, once.
    if test.options.tls_auth.iter().flatten().any(|auth| auth.domains.iter().flatten().next().is_some()) {
        logger.warn(
            "tlsAuth.domains is deprecated in k6 and may be removed there: leave it out, and a certificate is offered to every server that asks for one",
        );
    }
    let run = RunConfig {
        script: script.env,
        registry: registry.clone(),
        subscriptions: Arc::new(subscriptions(args, &test, &thresholds, &readers)),
        census: Arc::new(Census::new(usize::try_from(settings.cardinality_limit).unwrap_or(usize::MAX))),
        isolation: script.init.isolation.isolation,
        options_json: test.options.to_test_json().to_string(),
        export_json: shown_options(&test, &script.init.options_json),
        tags: settings.tags.clone(),
        http: HttpSettings { limits, ..HttpSettings::of(&test) },
        client: network::client(
            &test,
            limits,
            args.arrivals,
            key_log::open(std::env::var_os("SSLKEYLOGFILE"), logger)?,
        )?,
        state: Arc::new(RunState::default()),
        scenarios: plan.scenarios.iter().map(ScenarioContext::of).map(Arc::new).collect(),
        functions: functions(&test, &script.init.functions),
        local_ips: test.options.local_ips.clone(),
        init_pass: false,
    };
    // More threads than VUs would have nothing to do.
    let useful = usize::try_from(plan.max_vus.max(1)).unwrap_or(usize::MAX);
    Ok(Prepared {
        run: Arc::new(run),
        threads: args.threads.unwrap_or_else(|| onrush_engine::cores().min(useful)),
        plan: Arc::new(plan),
        thresholds,
        features,
        readers,
        isolation: script.init.isolation,
        trend_stats,
        time_unit,
        lifecycle,
        test,
    })
}

/// The metrics of a script, and those that count from the intended start where somebody wants them: they are not k6's, so
/// a summary has them only then.
fn with_intended(registry: &Registry, test: &Consolidated, is_asked: bool) -> Result<Registry, Failure> {
    let mut registry = registry.clone();
    let names = || test.options.thresholds.iter().flatten().map(|(name, _)| name.split('{').next().unwrap_or(name));
    for name in [INTENDED_DURATION, INTENDED_REQUEST_DURATION] {
        if is_asked || names().any(|wanted| wanted.trim() == name) {
            let declared = registry.declare(name, MetricKind::Trend, Contains::Time);
            declared.map_err(|error| Failure::config(error.to_string()))?;
        }
    }
    Ok(registry)
}

/// The thresholds, checked against the metrics there are.
///
/// # Errors
/// 104 for those that cannot be parsed or applied, unless they are not evaluated.
pub(crate) fn thresholds(
    no_thresholds: bool,
    logger: &Logger,
    test: &Consolidated,
    registry: &Registry,
) -> Result<Thresholds, Failure> {
    for (metric, configs) in test.options.thresholds.iter().flatten() {
        for (index, config) in configs.iter().enumerate().filter(|(_, config)| !config.unknown.is_empty()) {
            let unknown = config.unknown.join("', '");
            logger.warn(format!(
                "thresholds.{metric}[{index}]: '{unknown}' is no field of a threshold and is ignored; there are threshold, abortOnFail, delayAbortEval, over, for, after"
            ));
        }
    }
    let sources = threshold_sources(test);
    match Thresholds::parse(&sources, registry) {
        Ok(thresholds) => {
            thresholds.warnings().into_iter().for_each(|warning| logger.warn(warning));
            thresholds.submetrics().iter().for_each(|submetric| warn_of_tags_that_are_off(logger, test, submetric));
            Ok(thresholds)
        }
        // k6: what is not evaluated may be wrong.
        Err(errors) if no_thresholds => {
            errors.iter().for_each(|error| logger.warn(error.to_string()));
            Ok(Thresholds::default())
        }
        Err(errors) => {
            // A line of the log each; the last one ends the program.
            let mut texts: Vec<String> = errors.iter().map(ThresholdError::pointed).collect();
            let last = texts.pop().unwrap_or_default();
            texts.into_iter().for_each(|text| logger.error(text));
            let failure = Failure::config(last);
            Err(match misspelt_metrics(sources.keys(), registry) {
                hints if hints.is_empty() => failure,
                hints => failure.hint(onrush_plan::meant(&hints)),
            })
        }
    }
}

/// The thresholds as they are written, by metric.
pub(super) fn threshold_sources(test: &Consolidated) -> BTreeMap<String, Vec<ThresholdSource>> {
    let source = |config: &onrush_plan::ThresholdConfig| ThresholdSource {
        expression: config.expression.clone(),
        abort_on_fail: config.abort_on_fail,
        delay_abort_eval_ns: config.delay_abort_eval.map(onrush_plan::GoDuration::as_ns),
        window: WindowSource {
            over_ns: config.over.map(onrush_plan::GoDuration::ns),
            for_windows: config.for_windows,
            after_ns: config.after.map(onrush_plan::GoDuration::ns),
        },
    };
    let configs = test.options.thresholds.iter().flatten();
    configs.map(|(metric, configs)| (metric.clone(), configs.iter().map(source).collect())).collect()
}

/// Metrics of thresholds that are almost the name of another.
fn misspelt_metrics<'a>(names: impl Iterator<Item = &'a String>, registry: &'a Registry) -> Vec<(String, &'a str)> {
    let known: Vec<&str> = registry.iter().map(|metric| &*metric.name).collect();
    let names = names.map(|name| name.split('{').next().unwrap_or_default());
    let unknown = names.filter(|name| !known.contains(name));
    unknown.filter_map(|name| Some((name.to_owned(), onrush_plan::closest(name, &known)?))).collect()
}

/// k6: a threshold does not switch on the system tag it reads.
fn warn_of_tags_that_are_off(logger: &Logger, test: &Consolidated, submetric: &SubMetric) {
    let enabled = system_tags(test);
    let off = submetric.tags.iter().filter_map(|(key, _)| SystemTag::from_str(key));
    for tag in off.filter(|tag| !tag.is_metadata() && !enabled.contains(*tag)) {
        logger.warn(format!(
            "the threshold on '{}' needs the system tag '{tag}', which is off: it only sees samples the script itself tags with it. Add {tag} to the option systemTags",
            submetric.name,
            tag = tag.as_str(),
        ));
    }
}

fn system_tags(test: &Consolidated) -> SystemTags {
    test.settings.system_tags.iter().filter_map(SystemTag::from_str).collect()
}

fn subscriptions(args: &RunArgs, test: &Consolidated, thresholds: &Thresholds, readers: &Readers) -> Subscriptions {
    let builder = Subscriptions::builder().system_tags(system_tags(test));
    // Raw samples have all tags; what is folded has those that are read.
    let builder = subscribe(if readers.raw { builder.build_all() } else { builder }, args.summary_mode);
    let builder = if readers.series { builder.keep_all() } else { builder };
    // Whatever is told about the run later.
    let builder = if readers.results { subscribe(builder, SummaryMode::Full) } else { builder };
    let builder = match &readers.view {
        Some(tags) => onrush_view::subscribe(builder, tags),
        None => builder,
    };
    let builder = if args.one_liner.is_some() { http::subscribe(builder) } else { builder };
    thresholds.submetrics().iter().fold(builder, |builder, submetric| builder.submetric(submetric)).build()
}

/// What the script's own `options` shows in VUs. Scenarios it has itself are those it wrote: with thousands of them, making
/// them once more in each of as many VUs takes longer than the test.
fn shown_options(test: &Consolidated, own: &str) -> String {
    let mut shown = test.merged.to_export_json();
    let has_scenarios = serde_json::from_str::<serde_json::Value>(own)
        .is_ok_and(|own| own.get("scenarios").is_some_and(|all| all.is_object()));
    if let Some(shown) = shown.as_object_mut().filter(|_| has_scenarios) {
        shown.remove("scenarios");
    }
    shown.to_string()
}

/// What responses may take. A body is charged to the heap of its VU; its text takes up to two bytes a character more: with a
/// quarter of the heap for one body, a script can read it.
fn body_limits(wanted: Option<u64>, heap_bytes: u64) -> Limits {
    let body_bytes_max = wanted.unwrap_or(heap_bytes / 4).min(heap_bytes);
    Limits { body_bytes_max, ..Limits::default() }
}

/// The exported functions VUs must keep: what scenarios call, and those of the life cycle.
fn functions(test: &Consolidated, exported: &[String]) -> Vec<String> {
    let called = |name: &str| {
        test.scenarios.iter().any(|scenario| scenario.exec == name)
            || ["setup", "teardown", "handleSummary"].contains(&name)
    };
    exported.iter().filter(|name| called(name)).cloned().collect()
}
