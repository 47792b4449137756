//! Options from all their sources, laid over each other.

use onrush_plan::{Consolidated, Options, OptionsError, SystemTags, Tier};

use super::{ConfigFile, Surroundings, features::Features, load::Script};
use crate::{
    failure::Failure,
    flags::{self, Given},
    log::Level,
};

/// Reads the other tiers and lays all over each other.
///
/// # Errors
/// 255 for flags, 104 for everything else.
pub(crate) fn consolidate(
    around: &Surroundings,
    config: ConfigFile,
    features: Features,
    script: &Script,
) -> Result<Consolidated, Failure> {
    let given = &around.given;
    let flags = onrush_plan::from_flags(&|name| given.values(name)).map_err(|error| bad_flag(given, error))?;
    let script_options = of_script(around, script)?;
    let env = onrush_plan::from_env(&|name| given.env.get(name).cloned())
        .map_err(|error| Failure::config(error.to_string()))?;
    let mut tiers = vec![
        (Tier::Defaults, Options::defaults()),
        (Tier::Config, config.options),
        (Tier::Script, script_options),
        (Tier::Env, env),
        (Tier::Cli, flags),
    ];
    features.lay_tags(&mut tiers);
    warn_of_unknown_system_tags(around);
    let is_exported = |name: &str| script.init.functions.iter().any(|function| function == name);
    let test = onrush_plan::consolidate_with_exports(tiers, &is_exported)
        .map_err(|errors| Failure::config(errors.to_string()))?;
    for warning in &test.warnings {
        around.logger.warn(warning.clone());
    }
    Ok(test)
}

/// k6 leaves them out without a word.
fn warn_of_unknown_system_tags(around: &Surroundings) {
    let variable = around.given.env.get("K6_SYSTEM_TAGS").cloned();
    let places = [("--system-tags", around.given.values("system-tags")), ("K6_SYSTEM_TAGS", Vec::from_iter(variable))];
    for (place, lists) in places {
        let names = lists.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty());
        for name in names.filter(|name| !SystemTags::is_known(name)) {
            let known = SystemTags::known().join(", ");
            around
                .logger
                .warn(format!("{place}: there is no system tag '{name}', so it is left out; there are {known}"));
        }
    }
}

/// The options of the script itself; of an archive those it was made with.
///
/// # Errors
/// 104 for options that cannot be read.
pub(crate) fn of_script(around: &Surroundings, script: &Script) -> Result<Options, Failure> {
    let (options, unknown, place) = match &script.archived {
        Some(archived) => (archived.options.clone(), archived.unknown.clone(), "stored in the archive"),
        None => {
            let parsed = onrush_plan::parse_json(&script.init.options_json)
                .map_err(|error| Failure::config(error.to_string()))?;
            (parsed.options, parsed.unknown, "exported in the script")
        }
    };
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.iter().map(|name| format!("\"{name}\"")).collect();
        let fields = vec![("error", format!("json: unknown field {}", names.join(", ")))];
        around.logger.log(Level::Warn, format!("There were unknown fields in the options {place}"), fields);
    }
    Ok(options)
}

/// k6 parses some flags where they are read, which its text says; others later.
fn bad_flag(given: &Given, error: OptionsError) -> Failure {
    let flag = error.path.strip_prefix("--").and_then(flags::find);
    match flag {
        Some(flag) if matches!(flag.value, flags::Value::Int | flags::Value::Duration | flags::Value::Switch) => {
            let value = given.values(flag.long).pop().unwrap_or_default();
            flags::invalid_argument(flag, &value, &error.message)
        }
        _ => Failure::other(error.to_string()),
    }
}
