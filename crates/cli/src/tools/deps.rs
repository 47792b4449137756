//! `onrush deps`: what a script imports, and which versions it asks for; `--lock` pins what comes from servers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use onrush_imports::Imports;
use onrush_js::BUILTIN_MODULES;
use onrush_script::{EXTENSIONS, ImportKind, Program, Target};
use onrush_session::ExitCode;
use serde_json::json;

use crate::{
    args::ScriptArgs,
    context::Context,
    failure::Failure,
    flags::Command,
    run::{
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
    let program = load::compile(&args, &input, &BUILTINS, &fetcher)?;
    if is_locking {
        return lock(cx, &input, &fetcher);
    }
    imports::report(&fetcher, &input, &cx.logger);
    let constraints = constraints(&program);
    let imports = imports(&program);
    let is_custom = constraints.keys().any(|name| name.starts_with("k6/x/"));
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

/// The script and what it imports, directly or not. k6: `require()` does not count.
fn imports(program: &Program) -> BTreeSet<String> {
    let mut imports = BTreeSet::new();
    let mut open = vec![program.entry];
    while let Some(index) = open.pop() {
        let Some(module) = program.module(index) else { continue };
        if !imports.insert(module.specifier.clone()) {
            continue;
        }
        for import in module.imports.iter().filter(|import| import.kind == ImportKind::Static) {
            match &import.target {
                Target::Module(index) => open.push(*index),
                Target::Builtin(name) => {
                    imports.insert(name.clone());
                }
                Target::Missing(_) => {}
            }
        }
    }
    imports
}

/// What must be there to run the script: k6, and extensions, with the versions its directives ask for.
pub(super) fn constraints(program: &Program) -> BTreeMap<String, String> {
    let any = || "*".to_owned();
    let mut constraints = BTreeMap::from([("k6".to_owned(), any())]);
    let extensions = imports(program).into_iter().filter(|import| import.starts_with("k6/x/"));
    constraints.extend(extensions.map(|name| (name, any())));
    for (name, constraint) in program.modules.iter().flat_map(|module| directives(&module.source)) {
        let known = constraints.entry(name).or_insert_with(any);
        if known == "*" {
            *known = constraint;
        } else if constraint != "*" && *known != constraint {
            known.push(',');
            known.push_str(&constraint);
        }
    }
    constraints
}

/// The `"use k6 …"` directives at the beginning of a source: what each is about, and the constraint.
fn directives(source: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = source.strip_prefix("#!").map_or(source, |line| line.split_once('\n').map_or("", |(_, rest)| rest));
    loop {
        rest = rest.trim_start_matches(|char: char| char.is_whitespace() || char == ';');
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            continue;
        }
        let Some(quote) = rest.chars().next().filter(|char| ['"', '\''].contains(char)) else { return found };
        let Some((text, after)) = rest[1..].split_once(quote) else { return found };
        found.extend(directive(text));
        rest = after;
    }
}

/// `use k6 >= 1.2`, `use k6 with k6/x/faker >= 0.4`.
fn directive(text: &str) -> Option<(String, String)> {
    let rest = text.strip_prefix("use k6")?.trim_start();
    let (name, constraint) = match rest.strip_prefix("with ") {
        Some(extension) => {
            let extension = extension.trim_start();
            extension.split_at(extension.find([' ', '<', '>', '=', '~', '^', '!']).unwrap_or(extension.len()))
        }
        None => ("k6", rest),
    };
    let constraint: String = constraint.chars().filter(|char| !char.is_whitespace()).collect();
    let constraint = if constraint.is_empty() { "*".to_owned() } else { constraint };
    (!name.is_empty()).then(|| (name.to_owned(), constraint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_stand_at_the_beginning() {
        let check = |source: &str, expect: &[(&str, &str)]| {
            let expect: Vec<_> = expect.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            assert_eq!(directives(source), expect, "{source}");
        };
        check(
            "\"use k6 >= 1.2\";\n'use k6 with k6/x/faker >= 0.4'\nimport x",
            &[("k6", ">=1.2"), ("k6/x/faker", ">=0.4")],
        );
        check("#!/usr/bin/k6\n// c\n/* d */ 'use strict'; 'use k6 with k6/x/sql'; 1", &[("k6/x/sql", "*")]);
        check("let a; 'use k6 > 9'", &[]);
        check("'use k6 > 9", &[]);
        check("'use k6 with '", &[]);
        check("/* never closed", &[]);
        check("", &[]);
    }
}
