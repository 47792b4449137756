//! `cargo xtask web`: builds the dashboard and the report of `web/` into `crates/view/assets`, where the program takes them from.
//!
//! What is built is checked in, so that a machine without Node builds Onrush. `--check` says whether it is what the sources
//! give, and runs the page's own tests.

use std::{
    fs,
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, Result, bail};
use xtask::workspace;

/// What follows the command's name.
pub(crate) const ARGUMENTS: &str = "[--check]";

/// From `web/dist` to `crates/view/assets`.
const FILES: &[(&str, &str)] = &[
    ("dashboard/index.html", "index.html"),
    ("dashboard/app.js", "app.js"),
    ("dashboard/app.css", "app.css"),
    ("report/report.html", "report.html"),
];

/// The npm scripts of `--check`, in `web/package.json`.
const CHECKS: &[(&str, &str)] =
    &[("types and style", "check"), ("tests", "test"), ("tests in a browser, where Chromium is installed", "browser")];

/// Builds and copies, or builds, compares and tests.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let is_check = match arguments {
        [] => false,
        [only] if only == "--check" => true,
        _ => bail!("usage: cargo xtask web {ARGUMENTS}"),
    };
    if !has_node() {
        bail!("it needs Node 20.19 or later and npm, and they are not installed; only changes to web/ need them");
    }
    let root = workspace::root();
    let web = root.join("web");
    // Not `npm ci`, which refuses a lock file without the packages of other systems.
    if !npm(&web, &["install", "--no-save", "--no-audit", "--no-fund"])? {
        bail!("npm could not install the packages of web/package-lock.json");
    }
    if !npm(&web, &["run", "--silent", "build"])? {
        bail!("the page could not be built");
    }
    let assets = root.join("crates/view/assets");
    if !is_check {
        for (built, asset) in FILES {
            fs::copy(web.join("dist").join(built), assets.join(asset))
                .with_context(|| format!("cannot write {asset}"))?;
            println!("crates/view/assets/{asset}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut failed = different(&web.join("dist"), &assets)?;
    for (title, script) in CHECKS {
        eprintln!("== web: {title}: npm run {script}");
        if !npm(&web, &["run", "--silent", script])? {
            failed.push((*title).to_owned());
        }
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("== web: failed: {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

/// Whether the page can be built here.
fn has_node() -> bool {
    ["node", "npm"].iter().all(|program| {
        let mut command = Command::new(program);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

/// The files that are checked in and are not what the sources give.
fn different(dist: &Path, assets: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (built, asset) in FILES {
        let expected = fs::read(dist.join(built)).with_context(|| format!("cannot read {built}"))?;
        if fs::read(assets.join(asset)).ok().as_deref() != Some(expected.as_slice()) {
            eprintln!("crates/view/assets/{asset} is not what web/ gives; `cargo xtask web` writes it anew");
            found.push((*asset).to_owned());
        }
    }
    Ok(found)
}

fn npm(web: &Path, arguments: &[&str]) -> Result<bool> {
    let status = Command::new("npm").args(arguments).current_dir(web).stdin(Stdio::null()).status();
    Ok(status.context("cannot run npm")?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_changed_or_is_missing_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (dist, assets) = (folder.path().join("dist"), folder.path().join("assets"));
        for path in [dist.join("dashboard"), dist.join("report"), assets.clone()] {
            fs::create_dir_all(path).expect("folders");
        }
        for (built, asset) in FILES {
            fs::write(dist.join(built), asset).expect("a file");
            fs::write(assets.join(asset), asset).expect("a file");
        }
        assert_eq!(different(&dist, &assets).expect("files are there"), Vec::<String>::new());
        fs::write(assets.join("app.js"), "by hand").expect("a file");
        fs::remove_file(assets.join("report.html")).expect("it was there");
        assert_eq!(different(&dist, &assets).expect("files are there"), ["app.js", "report.html"]);
    }
}
