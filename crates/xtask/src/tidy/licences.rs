//! Ours is Apache-2.0, and everything we are built from allows that.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Finding, Report, required, spdx};
use crate::workspace::File;

/// Checks our files and manifests, and every third-party package against deny.toml's list.
pub(super) fn check(
    files: &[File],
    shallow: &Value,
    deep: &Value,
    edges: &[(String, String)],
    report: &mut Report,
) -> Result<()> {
    if let Some(text) = required(files, "LICENSE", report)
        && !(text.contains("Apache License") && text.contains("END OF TERMS AND CONDITIONS"))
    {
        report.findings.push(Finding::new("LICENSE", 0, "is not the whole text of Apache-2.0"));
    }
    // QuickJS-ng is compiled in, and its licence wants to be passed on.
    if let Some(text) = required(files, "NOTICE", report)
        && !(text.contains("QuickJS") && text.contains("Permission is hereby granted"))
    {
        report.findings.push(Finding::new("NOTICE", 0, "lacks QuickJS-ng's licence"));
    }
    for package in shallow["packages"].as_array().context("cargo metadata lists no packages")? {
        if package["license"] != OURS {
            let name = package["name"].as_str().unwrap_or_default();
            report.findings.push(Finding::new(
                "Cargo.toml",
                0,
                format!("{name} does not say that its licence is {OURS}"),
            ));
        }
    }
    let Some(deny) = required(files, "deny.toml", report) else { return Ok(()) };
    let allowed = allowed(deny);
    for package in deep["packages"].as_array().context("cargo metadata lists no packages")? {
        let name = package["name"].as_str().unwrap_or_default();
        if !edges.iter().any(|(_, used)| used == name) {
            continue;
        }
        let licence = package["license"].as_str().unwrap_or_default();
        let message = match spdx::is_satisfied(licence, &allowed) {
            Some(true) => continue,
            Some(false) => format!("{name} is licensed as {licence}, which deny.toml does not allow"),
            None => format!("{name} has a licence that cannot be read: `{licence}`"),
        };
        report.findings.push(Finding::new("Cargo.lock", 0, message));
    }
    Ok(())
}

/// The strings of `allow = [...]` in the section `[licenses]`.
fn allowed(deny: &str) -> Vec<String> {
    let section = deny.split("\n[licenses]\n").nth(1).unwrap_or_default();
    let list = section.split("\nallow = [").nth(1).or_else(|| section.strip_prefix("allow = [")).unwrap_or_default();
    let list = list.split("\n]").next().unwrap_or_default();
    list.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next()).map(str::to_owned).collect()
}

const OURS: &str = "Apache-2.0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_list() {
        let deny = "[bans]\nallow = [\n\"X\",\n]\n[licenses]\nconfidence-threshold = 0.9\nallow = [\n    \"MIT\", # why\n    # no\n    \"ISC\",\n]\n";
        assert_eq!(allowed(deny), ["MIT", "ISC"]);
    }
}
