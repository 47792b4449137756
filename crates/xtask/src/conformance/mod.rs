//! `cargo xtask conformance`: what scripts do in Onrush beside what they do in k6.
//!
//! The scripts, k6's recorded results and the reviewed list of differences are in `conformance/`; its README
//! says how to add one. [`script`] reads a script's head, [`runner`] runs one in a folder of its own,
//! [`outcome`] makes of what is left there a result without volatile values, [`compare`] finds differences and
//! [`reviewed`] knows those that are intended.

mod compare;
mod coverage;
mod json;
mod lab;
mod lines;
mod options;
mod outcome;
mod resolver;
mod reviewed;
mod runner;
mod script;

use std::{
    net::{Ipv6Addr, UdpSocket},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xtask::workspace;

use compare::Difference;
use coverage::Coverage;
use lab::Lab;
use options::Options;
use reviewed::Reviewed;
use runner::{Runner, Tool};
use script::Script;

pub(crate) use options::ARGUMENTS;

/// Records, replays or runs both, as the arguments say.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let Some(options) = Options::parse(arguments)? else {
        println!("{}", options::HELP);
        return Ok(ExitCode::SUCCESS);
    };
    let began = Instant::now();
    let root = workspace::root();
    let folder = root.join(FOLDER);
    let coverage = Coverage::read(&folder)?;
    if options.coverage {
        println!("{}", coverage.table().trim_start());
        return Ok(ExitCode::SUCCESS);
    }
    let scripts = script::all(&folder)?;
    let missing = coverage.missing(&scripts.iter().map(|script| script.name.as_str()).collect());
    let mut scripts: Vec<Script> = scripts.into_iter().filter(|script| options.wants(&script.name)).collect();
    if scripts.is_empty() {
        bail!("no script is called so; they are in {FOLDER}/");
    }
    let onrush = match &options.onrush {
        Some(path) => path.canonicalize().with_context(|| format!("there is no {}", path.display()))?,
        None => {
            build(&root, &["--package", "onrush"])?;
            debug_program(&root)?
        }
    };
    let k6 = if options.record || options.k6 { Some(k6()?) } else { None };
    let peers = Lab::peers_program(&root)?;
    if options.onrush.is_none() || !peers.exists() {
        build(&root, &["--package", "onrush-testkit", "--example", lab::EXAMPLE])?;
    }
    let lab = Lab::start(&onrush, &peers)?;
    let wanted = scripts.len();
    leave_out(&mut scripts, &lab);
    let bench = Bench { folder: &folder, lab: &lab, jobs: options.jobs };

    if options.record {
        let k6 = k6.context("k6 is needed to record")?;
        let mut is_failed = false;
        for (script, result) in scripts.iter().zip(bench.run(&k6, &scripts)) {
            match result.and_then(|result| script.record(&k6.version, &result)) {
                Ok(()) => {}
                Err(error) => {
                    eprintln!("{}: {error:#}", script.name);
                    is_failed = true;
                }
            }
        }
        println!("{} scripts recorded with k6 {} in {:.0?}", scripts.len(), k6.version, began.elapsed());
        return Ok(if is_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }

    let onrush = Tool { program: onrush, version: String::new() };
    let expected: Vec<Result<Value>> = match &k6 {
        Some(k6) => bench.run(k6, &scripts),
        None => scripts.iter().map(Script::recorded).collect(),
    };
    let mut reviewed = Reviewed::read(&folder)?;
    let mut results: Vec<Result<Vec<Difference>>> = bench
        .run(&onrush, &scripts)
        .into_iter()
        .zip(&expected)
        .map(|(got, expected)| differences(expected, got))
        .collect();
    // A busy machine is not a difference: what differs is run once more, with nothing beside it.
    for ((script, expected), result) in scripts.iter().zip(&expected).zip(&mut results) {
        let is_suspicious = match result {
            Ok(differences) => differences.iter().any(|difference| !reviewed.explains(&script.name, difference)),
            Err(_) => true,
        };
        if is_suspicious {
            *result = differences(expected, bench.runner().run(&onrush, script));
        }
    }
    let is_complete = options.only.is_empty() && scripts.len() == wanted;
    let mut findings = report(&scripts, results, &mut reviewed, is_complete);
    for line in &missing {
        println!("{line}");
    }
    findings += missing.len();
    let (covered, explained) = coverage.counts();
    println!(
        "{} scripts, {} intended differences, {covered} rows covered and {explained} explained, {findings} findings, {:.0?}",
        scripts.len(),
        reviewed.used(),
        began.elapsed()
    );
    Ok(if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Takes scripts off the list that this machine cannot run, and says so.
fn leave_out(scripts: &mut Vec<Script>, lab: &Lab) {
    let mut without = |needs: fn(&Script) -> bool, is_there: &dyn Fn() -> bool, what: &str| {
        let count = scripts.iter().filter(|script| needs(script)).count();
        if count > 0 && !is_there() {
            scripts.retain(|script| !needs(script));
            println!("{count} scripts are left out: they need {what}, which this machine does not have or allow");
        }
    };
    let has_ipv6 = || UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    without(|script| script.needs_ipv6, &has_ipv6, "IPv6 on loopback");
    without(|script| script.is_resolver, &|| lab.has_resolver(), "a DNS server on port 53 and mount namespaces");
}

/// Prints what is wrong, a line each, and counts it.
fn report(
    scripts: &[Script],
    results: Vec<Result<Vec<Difference>>>,
    reviewed: &mut Reviewed,
    is_complete: bool,
) -> usize {
    let mut findings = 0;
    for (script, result) in scripts.iter().zip(results) {
        match result {
            Ok(differences) => {
                for difference in differences.iter().filter(|difference| !reviewed.note(&script.name, difference)) {
                    println!("{}: {difference}", script.name);
                    findings += 1;
                }
            }
            Err(error) => {
                println!("{}: {error:#}", script.name);
                findings += 1;
            }
        }
    }
    if is_complete {
        for entry in reviewed.unused() {
            println!("{}: {entry} does not differ any more: take it off the list", reviewed::FILE);
            findings += 1;
        }
    }
    findings
}

fn differences(expected: &Result<Value>, got: Result<Value>) -> Result<Vec<Difference>> {
    match expected {
        Ok(expected) => Ok(compare::compare(expected, &got?)),
        Err(error) => bail!("{error:#}"),
    }
}

/// Where scripts run, and how many at a time.
struct Bench<'a> {
    folder: &'a Path,
    lab: &'a Lab,
    jobs: usize,
}

impl Bench<'_> {
    fn runner(&self) -> Runner<'_> {
        Runner { folder: self.folder, lab: self.lab }
    }

    /// Runs all scripts, several at a time; results are in the scripts' order.
    fn run(&self, tool: &Tool, scripts: &[Script]) -> Vec<Result<Value>> {
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Result<Value>>>> = scripts.iter().map(|_| Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(scripts.len()) {
                scope.spawn(|| {
                    while let Some((script, result)) = {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        scripts.get(index).zip(results.get(index))
                    } {
                        let outcome = self.runner().run(tool, script);
                        *result.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(outcome);
                    }
                });
            }
        });
        results
            .into_iter()
            .map(|result| result.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
            .map(|result| result.unwrap_or_else(|| bail!("was not run")))
            .collect()
    }
}

/// Builds a program as tests have it: optimised little, built in seconds.
fn build(root: &Path, what: &[&str]) -> Result<()> {
    let built = workspace::cargo(root)
        .args(["build", "--locked", "--quiet"])
        .args(what)
        .status()
        .context("cannot run cargo")?;
    if !built.success() {
        bail!("the build failed; what cargo printed above says why");
    }
    Ok(())
}

/// Where `cargo build` and `cargo test` put the program.
///
/// # Errors
/// When cargo does not say where it builds.
pub(crate) fn debug_program(root: &Path) -> Result<PathBuf> {
    Ok(workspace::target_dir(root)?.join("debug").join(format!("onrush{}", std::env::consts::EXE_SUFFIX)))
}

/// The k6 to compare with: `$K6`, or `k6` of the PATH.
fn k6() -> Result<Tool> {
    let program = std::env::var_os("K6").map_or_else(|| PathBuf::from("k6"), PathBuf::from);
    let output = Command::new(&program)
        .arg("version")
        .output()
        .with_context(|| format!("cannot run {} (set K6 to the path of k6)", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_whitespace().nth(1).context("k6 does not say its version")?.to_owned();
    Ok(Tool { program, version })
}

/// Below the workspace's root.
const FOLDER: &str = "conformance";
