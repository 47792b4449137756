//! The crate graph is the one ARCHITECTURE.md draws: its table of crates is the list of what is allowed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Finding, Report, required};
use crate::workspace::File;

/// A crate of the workspace.
#[derive(Debug, Clone)]
pub(super) struct Crate {
    /// Folder below `crates/`.
    pub(super) folder: String,
    /// Names of packages it needs to be built, build scripts included.
    pub(super) needs: Vec<String>,
    /// Names of packages only its tests need.
    pub(super) dev: Vec<String>,
}

/// The crates of the workspace, from `cargo metadata --no-deps`.
pub(super) fn crates(metadata: &Value) -> Result<Vec<Crate>> {
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let crates = packages.iter().map(|package| {
        let manifest = package["manifest_path"].as_str().context("a package without a manifest")?;
        let folder = manifest.rsplit(['/', '\\']).nth(1).context("a manifest without a folder")?;
        let mut this = Crate { folder: folder.to_owned(), needs: Vec::new(), dev: Vec::new() };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let name = dependency["name"].as_str().unwrap_or_default().to_owned();
            if dependency["kind"] == "dev" { this.dev.push(name) } else { this.needs.push(name) }
        }
        Ok(this)
    });
    crates.collect()
}

/// What each crate may use, from the table in ARCHITECTURE.md.
type Allowed = BTreeMap<String, BTreeSet<String>>;

/// Holds the crates to the table.
pub(super) fn check(files: &[File], crates: &[Crate], report: &mut Report) {
    let Some(text) = required(files, PAGE, report) else { return };
    let allowed = parse(text);
    let folders: BTreeSet<&str> = crates.iter().map(|this| this.folder.as_str()).collect();
    for folder in allowed.keys().filter(|folder| !folders.contains(folder.as_str())) {
        report.findings.push(Finding::new(
            PAGE,
            0,
            format!("its table names the crate `{folder}`, which does not exist"),
        ));
    }
    for this in crates {
        let path = format!("crates/{}/Cargo.toml", this.folder);
        let Some(may_use) = allowed.get(&this.folder) else {
            report.findings.push(Finding::new(PAGE, 0, format!("its table of crates lacks `{}`", this.folder)));
            continue;
        };
        for used in this.needs.iter().filter_map(|name| folder_of(name)) {
            if !may_use.contains(used) && !may_use.contains(ALL) {
                report.findings.push(Finding::new(&path, 0, format!("uses `{used}`, which {PAGE} does not allow")));
            }
            if DEV_ONLY.contains(&used) && !DEV_ONLY.contains(&this.folder.as_str()) {
                report.findings.push(Finding::new(&path, 0, format!("`{used}` is for tests only")));
            }
        }
        // Tests may use what they like, but nothing that stands on this crate.
        for used in this.dev.iter().filter_map(|name| folder_of(name)) {
            let mut below = BTreeSet::new();
            reach(used, &allowed, &mut below);
            if DRIVERS.contains(&(this.folder.as_str(), used)) {
                continue;
            }
            if below.contains(&this.folder) || below.contains(ALL) && !DEV_ONLY.contains(&used) {
                report.findings.push(Finding::new(&path, 0, format!("its tests use `{used}`, which is above it")));
            }
        }
    }
}

fn reach(folder: &str, allowed: &Allowed, reached: &mut BTreeSet<String>) {
    for next in allowed.get(folder).into_iter().flatten() {
        if reached.insert(next.clone()) {
            reach(next, allowed, reached);
        }
    }
}

/// The folder of one of our packages; `None` for third-party ones.
pub(super) fn folder_of(package: &str) -> Option<&str> {
    match package {
        "onrush" => Some("cli"),
        "onrush-quickjs-sys" => Some("quickjs"),
        "xtask" => Some("xtask"),
        _ => package.strip_prefix("onrush-"),
    }
}

/// Reads rows like ``| `js` | duty | `quickjs`, `net` | fence |`` of the table headed `| crate |`.
fn parse(text: &str) -> Allowed {
    let rows =
        text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let names =
            |cell: &str| -> BTreeSet<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
        let name = names(cells.get(1)?).into_iter().next()?;
        let may_use = cells.get(3)?;
        let mut may_use_names = names(may_use);
        if *may_use == ALL {
            may_use_names.insert(ALL.to_owned());
        }
        Some((name, may_use_names))
    })
    .collect()
}

const PAGE: &str = "ARCHITECTURE.md";
/// The table's word for a crate that may use every other.
const ALL: &str = "all";
/// Crates whose tests run whole scripts, and what runs these as the product does.
const DRIVERS: &[(&str, &str)] = &[("engine", "agent")];
/// Crates that no product crate may need.
const DEV_ONLY: &[&str] = &["simulation", "testkit", "xtask"];

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# A\n\n| crate | duty | may use | fence |\n|---|---|---|---|\n| `a` | x | – | |\n| `b` | x | `a` | |\n| `c` | x | `b` | |\n| `top` | x | all | |\n| `testkit` | x | – | |\n\n| other | table |\n";

    fn messages(crates: &[(&str, &[&str], &[&str])]) -> Vec<String> {
        let files = [File { path: PAGE.to_owned(), text: TABLE.to_owned() }];
        let ours = |names: &[&str]| names.iter().map(|name| format!("onrush-{name}")).collect();
        let crates: Vec<Crate> = crates
            .iter()
            .map(|(folder, needs, dev)| Crate { folder: (*folder).to_owned(), needs: ours(needs), dev: ours(dev) })
            .collect();
        let mut report = Report::default();
        check(&files, &crates, &mut report);
        report.findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn the_table_is_the_law() {
        let rest: [(&str, &[&str], &[&str]); 2] = [("top", &["a", "b", "c"], &["testkit"]), ("testkit", &[], &[])];
        let with = |crates: [(&str, &[&str], &[&str]); 3]| messages(&[crates.as_slice(), rest.as_slice()].concat());
        assert_eq!(with([("a", &[], &[]), ("b", &["a"], &["testkit"]), ("c", &["b"], &["a"])]), [""; 0]);
        assert_eq!(
            with([("a", &["b"], &[]), ("b", &[], &[]), ("c", &[], &[])]),
            ["uses `b`, which ARCHITECTURE.md does not allow"]
        );
        assert_eq!(
            with([("a", &[], &["c"]), ("b", &[], &[]), ("c", &[], &[])]),
            ["its tests use `c`, which is above it"]
        );
        assert_eq!(
            with([("a", &[], &[]), ("b", &[], &[]), ("d", &[], &[])]),
            ["its table names the crate `c`, which does not exist", "its table of crates lacks `d`"]
        );
    }

    #[test]
    fn tools_for_tests_stay_there() {
        let messages = messages(&[
            ("a", &[], &[]),
            ("b", &[], &[]),
            ("c", &[], &[]),
            ("top", &["testkit"], &[]),
            ("testkit", &[], &[]),
        ]);
        assert_eq!(messages, ["`testkit` is for tests only"]);
    }
}
