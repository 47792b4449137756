//! Laying the tiers over each other, turning the shortcuts into scenarios, and validating the result.

use std::{collections::BTreeMap, fmt};

use super::{
    scenario_config::{ExecutorConfig, ScenarioConfig},
    settings::Settings,
    table::Options,
};
use crate::{
    duration::GoDuration,
    executor::{ConstantVusConfig, PerVuIterationsConfig, RampingVusConfig, SharedIterationsConfig},
    names::did_you_mean,
    scenario::{DEFAULT_SCENARIO, Scenario},
    stripe::Share,
};

/// Where options come from, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Built in.
    Defaults,
    /// The config file.
    Config,
    /// The script's `options`, or an archive's.
    Script,
    /// `K6_*` variables.
    Env,
    /// Command-line flags.
    Cli,
}

impl Tier {
    /// The name warnings use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Defaults => "defaults",
            Self::Config => "config",
            Self::Script => "script",
            Self::Env => "env",
            Self::Cli => "cli",
        }
    }
}

/// All tiers together, valid.
#[derive(Clone, Debug)]
pub struct Consolidated {
    /// The final options. `scenarios` holds what the shortcuts were turned into.
    pub options: Options,
    /// The same before shortcuts became scenarios: what an archive keeps.
    pub merged: Options,
    /// The options as plain values, defaults filled in.
    pub settings: Settings,
    /// The validated scenarios, in the order of (start time, name).
    pub scenarios: Vec<Scenario>,
    /// This instance's share.
    pub share: Share,
    /// What the user should be told, in order.
    pub warnings: Vec<String>,
}

/// Lays tiers over each other (lowest first, whatever order they come in) and checks the result.
///
/// # Errors
/// All problems at once where k6 reports them together; otherwise the first. Exit code 104.
pub fn consolidate(tiers: Vec<(Tier, Options)>) -> Result<Consolidated, ConfigErrors> {
    consolidated(tiers, None)
}

/// As [`consolidate`], and checks that the function of each scenario is one of the `exports`.
///
/// # Errors
/// As [`consolidate`].
pub fn consolidate_with_exports(tiers: Vec<(Tier, Options)>, exports: &[String]) -> Result<Consolidated, ConfigErrors> {
    consolidated(tiers, Some(exports))
}

fn consolidated(mut tiers: Vec<(Tier, Options)>, exports: Option<&[String]>) -> Result<Consolidated, ConfigErrors> {
    tiers.sort_by_key(|(tier, _)| *tier);
    let mut warnings = Vec::new();
    let mut options = Options::default();
    for (tier, over) in tiers {
        lay_over(&mut options, tier, over, &mut warnings);
    }
    let merged = options.clone();
    derive_scenarios(&mut options, &mut warnings)?;
    let mut problems = Vec::new();
    if options.setup_timeout.is_some_and(|t| t <= GoDuration::ZERO) {
        problems.push("setupTimeout must be positive".to_owned());
    }
    // k6: only the setup timeout is checked in 1.x; the text of 2.x covers both.
    if options.teardown_timeout.is_some_and(|t| t < GoDuration::ZERO) {
        problems.push("teardownTimeout must be positive".to_owned());
    }
    if options.handle_summary_timeout.is_some_and(|t| t <= GoDuration::ZERO) {
        problems.push("handleSummaryTimeout must be positive".to_owned());
    }
    if options.cardinality_limit.is_some_and(|limit| limit < 1) {
        problems.push("cardinalityLimit must be at least 1".to_owned());
    }
    let share = Share::new(options.execution_segment.as_ref(), options.execution_segment_sequence.as_ref());
    let share = share.unwrap_or_else(|error| {
        problems.push(error.to_string());
        Share::full()
    });
    let mut scenarios = Vec::new();
    let configs = options.scenarios.iter().flatten();
    for (name, config) in configs.clone() {
        match config.validate(name) {
            Ok(scenario) => scenarios.push(scenario),
            Err(problem) => problems.push(problem),
        }
    }
    for (name, config) in configs {
        let exec = config.exec.as_deref().unwrap_or(crate::scenario::DEFAULT_EXEC);
        if let Some(exports) = exports
            && !exec.is_empty()
            && !exports.iter().any(|export| export == exec)
        {
            let known: Vec<&str> = exports.iter().map(String::as_str).collect();
            let hint = did_you_mean(exec, &known);
            problems.push(format!("executor {name}: function '{exec}' not found in exports{hint}"));
        }
    }
    if !problems.is_empty() {
        return Err(ConfigErrors::Problems(problems));
    }
    check_trend_stats(options.summary_trend_stats.as_deref().unwrap_or_default())?;
    scenarios.sort_by(|a, b| (a.start_time, &a.name).cmp(&(b.start_time, &b.name)));
    Ok(Consolidated { settings: options.settings(), options, merged, scenarios, share, warnings })
}

/// One tier on top. The options that say *what* runs count as one group: setting one drops all of the lower tiers'.
fn lay_over(options: &mut Options, tier: Tier, over: Options, warnings: &mut Vec<String>) {
    let sets_group =
        over.duration.is_some() || over.iterations.is_some() || over.stages.is_some() || over.scenarios.is_some();
    if sets_group {
        if options.scenarios.as_ref().is_some_and(|s| !s.is_empty()) && over.scenarios.is_none() {
            warnings.push(format!("{:?} level configuration overrode scenarios configuration entirely", tier.name()));
        }
        options.duration = None;
        options.iterations = None;
        options.stages = None;
        options.scenarios = None;
    }
    options.apply(over);
}

/// Turns the shortcuts into the scenario `default`.
fn derive_scenarios(options: &mut Options, warnings: &mut Vec<String>) -> Result<(), ConfigErrors> {
    let has_stages = options.stages.as_ref().is_some_and(|s| !s.is_empty());
    let has_scenarios = options.scenarios.as_ref().is_some_and(|s| !s.is_empty());
    // k6: an empty object conflicts, too, an empty list does not.
    let sets_scenarios = options.scenarios.is_some();
    let conflict = |with: &str, other: &str| {
        Err(ConfigErrors::Single(format!("using `{with}` and `{other}` options simultaneously is not allowed")))
    };
    let (vus, duration) = (options.vus, options.duration);
    let executor = if let Some(iterations) = options.iterations {
        if has_stages {
            return conflict("iterations", "stages");
        }
        if sets_scenarios {
            return conflict("iterations", "scenarios");
        }
        ExecutorConfig::SharedIterations(SharedIterationsConfig {
            vus,
            iterations: Some(iterations),
            max_duration: duration,
        })
    } else if let Some(duration) = duration {
        if has_stages {
            return conflict("duration", "stages");
        }
        if sets_scenarios {
            return conflict("duration", "scenarios");
        }
        if duration <= GoDuration::ZERO {
            return Err(ConfigErrors::Single(
                "`duration` option should be more than 0, for infinite duration use the externally-controlled executor"
                    .to_owned(),
            ));
        }
        ExecutorConfig::ConstantVus(ConstantVusConfig { vus, duration: Some(duration) })
    } else if has_stages {
        if sets_scenarios {
            return conflict("stages", "scenarios");
        }
        ExecutorConfig::RampingVus(RampingVusConfig {
            start_vus: vus,
            stages: options.stages.clone(),
            graceful_ramp_down: None,
        })
    } else if let Some(vus) = vus {
        if has_scenarios {
            warnings.push(format!("`vus={vus}` overrides scenarios configuration"));
        }
        ExecutorConfig::SharedIterations(SharedIterationsConfig {
            vus: Some(vus),
            iterations: Some(vus),
            max_duration: None,
        })
    } else if has_scenarios {
        return Ok(());
    } else {
        for (name, is_set) in [("stages", options.stages.is_some()), ("scenarios", options.scenarios.is_some())] {
            if is_set {
                warnings.push(format!(
                    "`{name}` was explicitly set to an empty value, running the script with 1 iteration in 1 VU"
                ));
            }
        }
        ExecutorConfig::PerVuIterations(PerVuIterationsConfig::default())
    };
    options.scenarios = Some(BTreeMap::from([(DEFAULT_SCENARIO.to_owned(), ScenarioConfig::from(executor))]));
    Ok(())
}

/// k6's texts, after where it is and before what there is.
fn check_trend_stats(stats: &[String]) -> Result<(), ConfigErrors> {
    for (index, stat) in stats.iter().enumerate() {
        if ["avg", "min", "med", "max", "count"].contains(&stat.as_str()) {
            continue;
        }
        let Some(percentile) = stat.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')')) else {
            return Err(ConfigErrors::Single(format!(
                "summaryTrendStats[{index}]: invalid trend stat '{stat}', unknown format, use avg, min, med, max, count or p(N)"
            )));
        };
        if !percentile.parse::<f64>().is_ok_and(|p| (0.0..=100.0).contains(&p)) {
            return Err(ConfigErrors::Single(format!(
                "summaryTrendStats[{index}]: invalid percentile trend stat value '{stat}', provide a number between 0 and 100"
            )));
        }
    }
    Ok(())
}

/// Why the options together are not valid. Prints as k6 does, on several lines if there are several problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigErrors {
    /// One problem that stands by itself.
    Single(String),
    /// Problems that are reported together.
    Problems(Vec<String>),
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single(problem) => f.write_str(problem),
            Self::Problems(problems) => {
                f.write_str("There were problems with the specified script configuration:")?;
                problems.iter().try_for_each(|problem| write!(f, "\n\t- {problem}"))
            }
        }
    }
}

impl std::error::Error for ConfigErrors {}
