//! `cargo xtask web`: builds the dashboard and the report of `web/` into `crates/view/assets`, where the program takes them from.
//!
//! What is built is checked in, so that a machine without Node builds Onrush. `--check` says whether it is what the sources
//! give, and runs the page's own tests.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, Result, bail};
use xtask::workspace;

use crate::conformance;

/// What follows the command's name.
pub(crate) const ARGUMENTS: &str = "[--check]";

/// From `web/dist` to `crates/view/assets`.
const FILES: &[(&str, &str)] = &[
    ("dashboard/index.html", "index.html"),
    ("dashboard/app.js", "app.js"),
    ("dashboard/app.css", "app.css"),
    ("report/report.html", "report.html"),
];

/// The npm scripts of `--check` in `web/package.json` that need no browser.
const CHECKS: &[(&str, &str)] = &[("types and style", "check"), ("tests", "test")];

/// The one that does.
const BROWSER: (&str, &str) = ("tests in a browser, where Chromium is installed", "browser");

/// The oldest Node that `web/package.json` admits.
const NODE: (u32, u32) = (20, 19);

/// Names the program to the tests in a browser.
const PROGRAM: &str = "ONRUSH";

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
    if !install(&web, &[])? {
        bail!("npm could not install the packages of web/package-lock.json");
    }
    if !is_check {
        if !build(&web)? {
            bail!("the page could not be built");
        }
        for (built, asset) in FILES {
            fs::copy(web.join("dist").join(built), root.join(ASSETS).join(asset))
                .with_context(|| format!("cannot write {asset}"))?;
            println!("{ASSETS}/{asset}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut failed = without_browser(&root)?;
    let (title, script) = BROWSER;
    eprintln!("== web: {title}: npm run {script}");
    let program = program(std::env::var_os(PROGRAM), conformance::debug_program(&root)?);
    match &program {
        Some(path) => eprintln!("== web: a real run is one of {}", path.display()),
        None => eprintln!("== web: no real run is joined: build the debug program (cargo build --package onrush)"),
    }
    let mut browser = npm(&web, &["run", "--silent", script]);
    browser.env_remove(PROGRAM).envs(program.map(|path| (PROGRAM, path)));
    if !succeeds(&mut browser)? {
        failed.push(title.to_owned());
    }
    Ok(code(&failed))
}

/// The part of `--check` that is a step of `cargo xtask test`: all but the browser. Machines without Node leave it out, and so
/// do those that cannot get its packages.
pub(crate) fn step() -> Result<ExitCode> {
    if !has_node() {
        eprintln!("== web: left out, Node 20.19 or later and npm are not installed");
        return Ok(ExitCode::SUCCESS);
    }
    let root = workspace::root();
    // Without a network npm would try for minutes.
    if !install(&root.join("web"), &["--fetch-retries=0"])? {
        eprintln!("== web: left out, npm could not install the packages of web/package-lock.json");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(code(&without_browser(&root)?))
}

/// Builds, compares, and runs what needs no browser. Names what failed.
fn without_browser(root: &Path) -> Result<Vec<String>> {
    let web = root.join("web");
    let mut failed =
        if build(&web)? { different(&web.join("dist"), &root.join(ASSETS))? } else { vec!["build".to_owned()] };
    for (title, script) in CHECKS {
        eprintln!("== web: {title}: npm run {script}");
        if !succeeds(&mut npm(&web, &["run", "--silent", script]))? {
            failed.push((*title).to_owned());
        }
    }
    Ok(failed)
}

fn code(failed: &[String]) -> ExitCode {
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("== web: failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// Whether the page can be built here.
fn has_node() -> bool {
    let version = |program: &str| {
        let output = Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    version("node").is_some_and(|text| is_new_enough(&text)) && version("npm").is_some()
}

/// Of what `node --version` prints, such as `v20.19.1`.
fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map_while(|number| number.parse().ok());
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else { return false };
    (major, minor) >= NODE
}

/// The program whose run a page joins: the one that was named, else the debug program if it is built. Nothing is built for it,
/// so that a change to the page needs no Rust.
fn program(named: Option<OsString>, debug: PathBuf) -> Option<PathBuf> {
    let named = named.filter(|name| !name.is_empty());
    // npm runs elsewhere.
    named.and_then(|name| std::path::absolute(name).ok()).or_else(|| debug.is_file().then_some(debug))
}

/// The files that are checked in and are not what the sources give.
fn different(dist: &Path, assets: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (built, asset) in FILES {
        let expected = fs::read(dist.join(built)).with_context(|| format!("cannot read {built}"))?;
        if fs::read(assets.join(asset)).ok().as_deref() != Some(expected.as_slice()) {
            eprintln!("{ASSETS}/{asset} is not what web/ gives; `cargo xtask web` writes it anew");
            found.push((*asset).to_owned());
        }
    }
    Ok(found)
}

/// Installs what the lock file names. Not `npm ci`, which refuses a lock file without the packages of other systems.
fn install(web: &Path, flags: &[&str]) -> Result<bool> {
    let install = |flags: &[&str]| npm(web, &[&["install", "--no-save", "--no-audit", "--no-fund"], flags].concat());
    // What is installed already, or kept from before, needs no registry; npm asks it all the same.
    let mut offline = install(&["--offline"]);
    offline.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(succeeds(&mut offline)? || succeeds(&mut install(flags))?)
}

fn build(web: &Path) -> Result<bool> {
    succeeds(&mut npm(web, &["run", "--silent", "build"]))
}

fn npm(web: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(web).stdin(Stdio::null());
    command
}

fn succeeds(command: &mut Command) -> Result<bool> {
    Ok(command.status().context("cannot run npm")?.success())
}

/// Where the program takes the pages from.
const ASSETS: &str = "crates/view/assets";

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

    #[test]
    fn old_nodes_are_none() {
        assert!(["v20.19.0\n", "v20.20.2", "v22.1.0", "v24.0.0-nightly"].into_iter().all(is_new_enough));
        assert!(!["v20.18.9", "v18.20.0\n", "", "v20", "node"].into_iter().any(is_new_enough));
    }

    #[test]
    fn the_debug_program_is_used_where_it_is_built_and_none_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let debug = folder.path().join("onrush");
        assert_eq!(program(None, debug.clone()), None);
        fs::write(&debug, "a program").expect("a file");
        assert_eq!(program(None, debug.clone()), Some(debug.clone()));
        assert_eq!(program(Some("".into()), debug.clone()), Some(debug.clone()));
        assert_eq!(program(Some("/other".into()), debug), Some("/other".into()));
    }
}
