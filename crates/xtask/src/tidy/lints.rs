//! Every crate takes part in the workspace's lints.

use super::{Finding, Report, graph::Crate};
use crate::workspace::File;

/// Looks for `[lints] workspace = true` in each crate's manifest.
pub(super) fn check(files: &[File], crates: &[Crate], report: &mut Report) {
    for this in crates {
        let path = format!("crates/{}/Cargo.toml", this.folder);
        let Some(file) = files.iter().find(|file| file.path == path) else { continue };
        let own = OWN_LINTS.contains(&this.folder.as_str());
        if !own && !file.text.contains("[lints]\nworkspace = true\n") {
            report.findings.push(Finding::new(&path, 0, "has no `[lints] workspace = true`"));
        }
    }
}

/// Crates with a table of their own: quickjs must name the cfg that keeps its source package from being built.
const OWN_LINTS: &[&str] = &["quickjs"];
