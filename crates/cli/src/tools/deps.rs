//! `onrush deps`: what a script imports, and which versions it asks for; `--lock` pins what comes from servers.

use std::{collections::BTreeMap, sync::LazyLock};

use onrush_imports::Imports;
use onrush_js::BUILTIN_MODULES;
use onrush_script::EXTENSIONS;
use onrush_session::ExitCode;
use serde_json::json;

use crate::{
    args::ScriptArgs,
    context::Context,
    failure::Failure,
    flags::Command,
    run::{
        dependencies::{self, MANIFEST},
        imports::{self, LOCK},
        input::Input,
        load,
    },
};

/// The modules there are, and any extension: nothing is run, so nothing has to be there.
static BUILTINS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| BUILTIN_MODULES.iter().copied().chain(OTHERS.iter().copied()).chain([EXTENSIONS]).collect());

/// Modules of k6 that this version does not have.
const OTHERS: &[&str] = &["k6/browser"];

/// Prints imports and version constraints.
///
/// # Errors
/// As `run` for scripts that cannot be read or compiled.
pub(crate) fn deps(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Deps)?;
    let args = ScriptArgs::new(&cx.flags, files, false)?;
    let input = Input::find(&args)?;
    let is_locking = cx.flags.switch("lock")?.unwrap_or(false);
    let fetcher = imports::imports(&cx.flags, &input, is_locking)?;
    let program = load::compile(&args, &input, &BUILTINS, &fetcher, &[])?;
    if is_locking {
        return lock(cx, &input, &fetcher);
    }
    imports::report(&fetcher, &input, &cx.logger);
    let constraints = dependencies::of(&program, cx.flags.env.get(MANIFEST).map(String::as_str))
        .map_err(|reason| Failure::other(load::failed_to(&args, &input)(reason)))?;
    let imports = dependencies::imports(&program);
    let unmet = dependencies::unmet(&constraints);
    // Extensions that are built in, or that are files, need no other binary.
    let is_custom = !unmet.extensions.is_empty() || unmet.k6.is_some();
    // Modules of k6 that this version does not have. Extensions are another matter.
    let missing: Vec<&String> = imports
        .iter()
        .filter(|name| {
            name.starts_with("k6/") && !name.starts_with("k6/x/") && !BUILTIN_MODULES.contains(&name.as_str())
        })
        .collect();
    let hashes = fetcher.used();
    let text = if cx.flags.switch("json")?.unwrap_or(false) {
        let mut json = json!({
            "buildDependencies": constraints, "imports": imports, "customBuildRequired": is_custom,
        });
        if !missing.is_empty() {
            json["missingModules"] = json!(missing);
        }
        if !hashes.is_empty() {
            json["hashes"] = json!(hashes.iter().collect::<BTreeMap<_, _>>());
        }
        format!("{json:#}\n")
    } else {
        let mut text = "Build Dependencies:\n".to_owned();
        constraints.iter().for_each(|(name, constraint)| text.push_str(&format!("  {name}: {constraint}\n")));
        text.push_str("\nImports:\n");
        imports.iter().for_each(|import| text.push_str(&format!("  {import}\n")));
        text.push_str(&format!("\nCustom Build Required: {}\n", if is_custom { "yes" } else { "no" }));
        if !missing.is_empty() {
            text.push_str("\nNot in this version of Onrush:\n");
            missing.iter().for_each(|name| text.push_str(&format!("  {name}\n")));
        }
        text
    };
    cx.terminal.stdout(text);
    Ok(ExitCode::Success)
}

/// Writes the hashes of what was fetched into the lock file. What it has of other scripts stays.
fn lock(cx: &Context, input: &Input, fetcher: &Imports) -> Result<ExitCode, Failure> {
    let used = fetcher.used();
    let path = imports::lock_path(input);
    let name = path.display();
    if used.is_empty() {
        cx.terminal.stdout("The script imports nothing from servers: there is nothing to lock.\n".to_owned());
        return Ok(ExitCode::Success);
    }
    let mut lock = imports::read(&path)?.unwrap_or_default();
    let (count, mut changes) = (used.len(), String::new());
    for (url, hash) in used.iter() {
        match lock.get(url) {
            Some(before) if before == hash => {}
            Some(before) => changes.push_str(&format!("  changed: {url}\n    {before}\n    {hash}\n")),
            None => changes.push_str(&format!("  added: {url}\n")),
        }
    }
    lock.extend(used);
    std::fs::write(&path, lock.to_text())
        .map_err(|error| Failure::other(format!("failed to write {name}: {error}")))?;
    let plural = if count == 1 { "" } else { "s" };
    let modules = format!("{LOCK} has the hashes of {count} remote module{plural} of this script ({name}).\n");
    cx.terminal.stdout(modules + &changes);
    Ok(ExitCode::Success)
}
