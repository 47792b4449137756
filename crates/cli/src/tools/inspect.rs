//! `onrush inspect`: the options of a script as JSON.

use onrush_plan::Plan;
use onrush_session::ExitCode;

use crate::{
    args::ScriptArgs,
    failure::Failure,
    flags::Command,
    run::{Surroundings, config_file::ConfigFile, features::Features, load, prepare, tiers},
};

/// Prints the options the script exports; with `--execution-requirements` those of all places, as scenarios, and what
/// they need.
///
/// # Errors
/// As `run` for scripts and options.
pub(crate) fn inspect(around: &Surroundings, files: &[String]) -> Result<ExitCode, Failure> {
    around.given.refuse_unavailable(Command::Inspect)?;
    let given = &around.given;
    let args = ScriptArgs::new(given, files, false)?;
    // k6: without requirements only the script is looked at.
    let all = given.switch("execution-requirements")?.unwrap_or(false);
    let config = if all { ConfigFile::read(around)? } else { ConfigFile::default() };
    let features = Features::read(given, &config.features)?;
    let script = load::load(&args, &features, given, &around.logger)?;
    let json = if all {
        let test = tiers::consolidate(around, config, features, &script)?;
        let no_thresholds = given.switch("no-thresholds")?.unwrap_or(false);
        prepare::thresholds(no_thresholds, &around.logger, &test, &script.init.registry)?;
        let plan = Plan::new(&test.scenarios, &test.tuple).map_err(|error| Failure::config(error.to_string()))?;
        let mut json = test.options.to_script_json();
        json["totalDuration"] = plan.end_offset.to_string().into();
        json["maxVUs"] = plan.max_vus.into();
        json
    } else {
        tiers::of_script(around, &script)?.to_script_json()
    };
    around.terminal.stdout(format!("{json:#}\n"));
    Ok(ExitCode::Success)
}
