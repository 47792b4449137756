//! Options from all their sources, laid over each other.

use onrush_plan::{Consolidated, Options, OptionsError, Tier};

use super::{Surroundings, config_file, load::Script};
use crate::{
    failure::Failure,
    flags::{self, Given},
    log::Level,
};

/// Reads all tiers and consolidates them.
///
/// # Errors
/// 255 for flags, 104 for everything else.
pub(super) fn consolidate(around: &Surroundings, script: &Script) -> Result<Consolidated, Failure> {
    let given = &around.given;
    let flags = onrush_plan::from_flags(&|name| given.values(name)).map_err(|error| bad_flag(given, error))?;
    let config = config_file::read(around)?;
    let parsed =
        onrush_plan::parse_json(&script.init.options_json).map_err(|error| Failure::config(error.to_string()))?;
    if !parsed.unknown.is_empty() {
        let names: Vec<String> = parsed.unknown.iter().map(|name| format!("\"{name}\"")).collect();
        let fields = vec![("error", format!("json: unknown field {}", names.join(", ")))];
        around.logger.log(Level::Warn, "There were unknown fields in the options exported in the script", fields);
    }
    let env = onrush_plan::from_env(&|name| given.env.get(name).cloned())
        .map_err(|error| Failure::config(error.to_string()))?;
    let tiers = vec![
        (Tier::Defaults, Options::defaults()),
        (Tier::Config, config),
        (Tier::Script, parsed.options),
        (Tier::Env, env),
        (Tier::Cli, flags),
    ];
    let is_exported = |name: &str| script.init.functions.iter().any(|function| function == name);
    let test = onrush_plan::consolidate_with_exports(tiers, &is_exported)
        .map_err(|errors| Failure::config(errors.to_string()))?;
    for warning in &test.warnings {
        around.logger.warn(warning.clone());
    }
    Ok(test)
}

/// k6 parses some flags where they are read, which its text says; others later.
fn bad_flag(given: &Given, error: OptionsError) -> Failure {
    let flag = error.path.strip_prefix("--").and_then(flags::find);
    match flag {
        Some(flag) if matches!(flag.value, flags::Value::Int | flags::Value::Duration | flags::Value::Switch) => {
            let value = given.values(flag.long).pop().unwrap_or_default();
            flags::invalid_argument(flag, &value, &error.message)
        }
        _ => Failure::other(error.message),
    }
}
