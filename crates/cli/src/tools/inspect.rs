//! `onrush inspect`: the options of a script as JSON.

use onrush_plan::Plan;
use onrush_session::ExitCode;

use crate::{
    args::ScriptArgs,
    context::Context,
    failure::Failure,
    flags::Command,
    run::{config_file::ConfigFile, features::Features, load, prepare, tiers},
};

/// Prints the options the script exports; with `--execution-requirements` those of all places, as scenarios, and what
/// they need.
///
/// # Errors
/// As `run` for scripts and options.
pub(crate) fn inspect(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Inspect)?;
    let flags = &cx.flags;
    let args = ScriptArgs::new(flags, files, false)?;
    // k6: without requirements only the script is looked at.
    let all = flags.switch("execution-requirements")?.unwrap_or(false);
    let config = if all { ConfigFile::read(cx)? } else { ConfigFile::default() };
    let features = Features::read(flags, &config.features)?;
    let script = load::load(&args, &features, flags, &cx.logger)?;
    let json = if all {
        let test = tiers::consolidate(cx, config, features, &script)?;
        let no_thresholds = flags.switch("no-thresholds")?.unwrap_or(false);
        prepare::thresholds(no_thresholds, &cx.logger, &test, &script.init.registry)?;
        let plan = Plan::new(&test.scenarios, &test.share).map_err(|error| Failure::config(error.to_string()))?;
        let mut json = test.options.to_script_json();
        json["totalDuration"] = plan.end_offset.to_string().into();
        json["maxVUs"] = plan.max_vus.into();
        json
    } else {
        tiers::of_script(cx, &script)?.to_script_json()
    };
    cx.terminal.stdout(format!("{json:#}\n"));
    Ok(ExitCode::Success)
}
