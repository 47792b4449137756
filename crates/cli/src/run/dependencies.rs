//! What a script needs besides its files: k6 of some version, and extensions. Its imports and `"use k6 …"` directives say
//! so, and `K6_DEPENDENCIES_MANIFEST` says which versions, where they do not.
//!
//! k6 builds a binary that satisfies them. Here everything is built in, so the versions of extensions are not compared.

use std::collections::{BTreeMap, BTreeSet};

use onrush_js::BUILTIN_MODULES;
use onrush_script::{ImportKind, Program, Target};

use super::constraint::{Constraint, Version};
use crate::version::K6_VERSION;

/// k6: the variable with constraints for dependencies whose scripts name none.
pub(crate) const MANIFEST: &str = "K6_DEPENDENCIES_MANIFEST";

/// Names and constraints.
pub(crate) type Dependencies = BTreeMap<String, String>;

/// What must be there to run the script. k6: the texts of errors.
///
/// # Errors
/// A constraint that is none, or two for the same.
pub(crate) fn of(program: &Program, manifest: Option<&str>) -> Result<Dependencies, String> {
    let any = || Constraint::ANY.to_owned();
    let mut needed = Dependencies::from([("k6".to_owned(), any())]);
    let extensions = imports(program).into_iter().filter(|import| import.starts_with("k6/x/"));
    needed.extend(extensions.map(|name| (name, any())));
    for module in &program.modules {
        let file = &module.specifier;
        for (name, text) in directives(&module.source) {
            let constraint = Constraint::parse(&text).map_err(|error| {
                format!("error while parsing use directives constraint {text:?} for {name:?} in {file:?}: {error}")
            })?;
            let (known, constraint) = (needed.entry(name.clone()).or_insert_with(any), constraint.to_string());
            if known == Constraint::ANY {
                *known = constraint;
            } else if constraint != Constraint::ANY {
                return Err(format!(
                    "error while parsing use directives in {file:?}: already have constraint for {name:?}, when parsing \
                     {constraint:?}"
                ));
            }
        }
    }
    for (name, text) in parse_manifest(manifest.unwrap_or_default())? {
        if let Some(known) = needed.get_mut(&name).filter(|known| *known == Constraint::ANY) {
            *known = Constraint::parse(&text)?.to_string();
        }
    }
    Ok(needed)
}

fn parse_manifest(text: &str) -> Result<BTreeMap<String, String>, String> {
    if text.is_empty() {
        return Ok(BTreeMap::new());
    }
    serde_json::from_str(text).map_err(|error| format!("invalid dependencies manifest {error}"))
}

/// What of that this version of Onrush cannot give.
pub(crate) struct Unmet {
    /// Extensions that are not built in.
    pub(crate) extensions: Vec<String>,
    /// The constraint on k6, where it asks for another version than the one scripts get.
    pub(crate) k6: Option<String>,
}

/// Compares what is needed with what is there.
pub(crate) fn unmet(needed: &Dependencies) -> Unmet {
    let extensions =
        needed.keys().filter(|name| name.starts_with("k6/x/") && !BUILTIN_MODULES.contains(&name.as_str()));
    let constraint = needed
        .get("k6")
        .filter(|text| Constraint::parse(text).is_ok_and(|constraint| !constraint.allows(k6_version())));
    Unmet { extensions: extensions.cloned().collect(), k6: constraint.cloned() }
}

fn k6_version() -> Version {
    let mut parts = K6_VERSION.split('.').map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

/// The script and what it imports, directly or not. k6: `require()` does not count.
pub(crate) fn imports(program: &Program) -> BTreeSet<String> {
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

/// `use k6 >= 1.2`, `use k6 with k6/x/faker >= 0.4`. k6: a name ends at the next space.
fn directive(text: &str) -> Option<(String, String)> {
    let rest = text.strip_prefix("use k6")?.trim();
    let extension = rest.strip_prefix("with ").map(str::trim_start).filter(|name| name.starts_with("k6/x/"));
    let (name, constraint) = match extension {
        Some(extension) => extension.split_once(' ').unwrap_or((extension, "")),
        None => ("k6", rest),
    };
    let constraint = constraint.trim();
    let constraint = if constraint.is_empty() { Constraint::ANY } else { constraint };
    Some((name.to_owned(), constraint.to_owned()))
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
            &[("k6", ">= 1.2"), ("k6/x/faker", ">= 0.4")],
        );
        check("#!/usr/bin/k6\n// c\n/* d */ 'use strict'; 'use k6 with k6/x/sql'; 1", &[("k6/x/sql", "*")]);
        check("'use k6'", &[("k6", "*")]);
        check("'use k6>1.0'", &[("k6", ">1.0")]);
        check("'use k6  with   k6/x/a=1'", &[("k6/x/a=1", "*")]);
        check("'use k6 with k6/http'", &[("k6", "with k6/http")]);
        check("let a; 'use k6 > 9'", &[]);
        check("'use k6 > 9", &[]);
        check("/* never closed", &[]);
        check("", &[]);
    }

    #[test]
    fn what_is_there() {
        let needed = |list: &[(&str, &str)]| -> Dependencies {
            list.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        let met = unmet(&needed(&[("k6", ">=1.2"), ("k6/x/redis", ">=0.3")]));
        assert!(met.extensions.is_empty() && met.k6.is_none());
        let unmet = unmet(&needed(&[("k6", ">=99"), ("k6/x/nope", "*")]));
        assert_eq!((unmet.extensions.as_slice(), unmet.k6.as_deref()), (&["k6/x/nope".to_owned()][..], Some(">=99")));
    }
}
