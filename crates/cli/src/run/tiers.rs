//! Options from all their sources, laid over each other.

use onrush_plan::{Consolidated, Options, OptionsError, SystemTags, Tier};

use super::{ConfigFile, features::Features, load::Script};
use crate::{
    context::Context,
    failure::Failure,
    flags::{self, Flags},
    log::Level,
};

/// Reads the other tiers and lays all over each other.
///
/// # Errors
/// 255 for flags, 104 for everything else.
pub(crate) fn consolidate(
    cx: &Context,
    config: ConfigFile,
    features: Features,
    script: &Script,
) -> Result<Consolidated, Failure> {
    let flags = &cx.flags;
    let from_flags = onrush_plan::from_flags(&|name| flags.values(name)).map_err(|error| bad_flag(flags, error))?;
    let script_options = of_script(cx, script)?;
    let env = onrush_plan::from_env(&|name| flags.env.get(name).cloned())
        .map_err(|error| Failure::config(error.to_string()))?;
    let mut tiers = vec![
        (Tier::Defaults, Options::defaults()),
        (Tier::Config, config.options),
        (Tier::Script, script_options),
        (Tier::Env, env),
        (Tier::Cli, from_flags),
    ];
    features.lay_tags(&mut tiers);
    warn_of_unknown_system_tags(cx);
    warn_of_misspelt_variables(cx);
    let test = onrush_plan::consolidate_with_exports(tiers, &script.init.functions)
        .map_err(|errors| Failure::config(errors.to_string()))?;
    for warning in &test.warnings {
        cx.logger.warn(warning.clone());
    }
    Ok(test)
}

/// k6 leaves them out without a word.
fn warn_of_unknown_system_tags(cx: &Context) {
    let variable = cx.flags.env.get("K6_SYSTEM_TAGS").cloned();
    let places = [("--system-tags", cx.flags.values("system-tags")), ("K6_SYSTEM_TAGS", Vec::from_iter(variable))];
    for (place, lists) in places {
        let names = lists.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty());
        for name in names.filter(|name| !SystemTags::is_known(name)) {
            let known = SystemTags::known();
            let what = match onrush_plan::closest(name, known) {
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("known tags: {}", known.join(", ")),
            };
            cx.logger.warn(format!("{place}: unknown system tag '{name}' ignored; {what}"));
        }
    }
}

/// Variables that are almost one of ours: other names are the script's business.
fn warn_of_misspelt_variables(cx: &Context) {
    let options = onrush_plan::OPTIONS.iter().filter_map(|row| row.variable);
    let known: Vec<&str> =
        options.chain(flags::FLAGS.iter().filter_map(|flag| flag.env)).chain(OTHER_VARIABLES).collect();
    let ours = cx.flags.env.keys().filter(|name| name.starts_with("K6_") || name.starts_with("ONRUSH_"));
    for name in ours.filter(|name| !known.contains(&name.as_str())) {
        if let Some(meant) = onrush_plan::closest(name, &known) {
            cx.logger.warn(format!("unknown variable {name} ignored; did you mean {meant}?"));
        }
    }
}

/// Variables that are read elsewhere, and k6's that mean nothing here.
const OTHER_VARIABLES: [&str; 14] = [
    "K6_SECRET_SOURCE",
    "K6_WEB_DASHBOARD",
    "K6_WEB_DASHBOARD_HOST",
    "K6_WEB_DASHBOARD_PORT",
    "K6_WEB_DASHBOARD_PERIOD",
    "K6_WEB_DASHBOARD_OPEN",
    "K6_WEB_DASHBOARD_EXPORT",
    "K6_WEB_DASHBOARD_REPORT",
    "K6_WEB_DASHBOARD_RECORD",
    "K6_WEB_DASHBOARD_TAGS",
    "K6_NO_COLOR",
    "K6_TLS_VERSION",
    "K6_CLOUD_TOKEN",
    "ONRUSH_WRITE_DOCS",
];

/// The options of the script itself; of an archive those it was made with.
///
/// # Errors
/// 104 for options that cannot be read.
pub(crate) fn of_script(cx: &Context, script: &Script) -> Result<Options, Failure> {
    let (options, unknown, hints, place) = match &script.archived {
        Some(archived) => (archived.options.clone(), archived.unknown.clone(), Vec::new(), "stored in the archive"),
        None => {
            let parsed = onrush_plan::parse_json(&script.init.options_json)
                .map_err(|error| Failure::config(error.to_string()))?;
            (parsed.options, parsed.unknown, parsed.hints, "exported in the script")
        }
    };
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.iter().map(|name| format!("\"{name}\"")).collect();
        let mut fields = vec![("error", format!("json: unknown field {}", names.join(", ")))];
        if !hints.is_empty() {
            fields.push(("hint", onrush_plan::meant(&hints)));
        }
        cx.logger.log(Level::Warn, format!("There were unknown fields in the options {place}"), fields);
    }
    Ok(options)
}

/// k6 parses some flags where they are read, which its text says; others later.
fn bad_flag(flags: &Flags, error: OptionsError) -> Failure {
    let flag = error.path.strip_prefix("--").and_then(flags::find);
    match flag {
        Some(flag) if matches!(flag.value, flags::Value::Int | flags::Value::Duration | flags::Value::Switch) => {
            let value = flags.values(flag.long).pop().unwrap_or_default();
            flags::invalid_argument(flag, &value, &error.message)
        }
        _ => Failure::other(error.to_string()),
    }
}
