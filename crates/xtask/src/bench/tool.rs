//! The programs a benchmark needs: finding them, and installing what is missing.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use xtask::{
    packages::{find, packaged},
    workspace,
};

/// What we compare with. Its numbers change from version to version, so it is fixed.
const K6_VERSION: &str = "v1.8.1";
const K6_MODULE: &str = "go.k6.io/k6";
const HEY_VERSION: &str = "v0.1.5";
const OHA_VERSION: &str = "1.16.0";

/// A program besides Onrush.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tool {
    /// The reference for what a request costs in C.
    Wrk,
    /// The reference server.
    Nginx,
    /// What Onrush is to replace.
    K6,
    /// HTTP/2 in C.
    H2load,
    /// HTTP/2 in Rust.
    Oha,
    /// The oldest of them all.
    Ab,
    /// In Go, as k6, without scripts.
    Hey,
    /// The server of `k6/experimental/redis`.
    Redis,
    /// A machine that counts what a program does.
    Valgrind,
}

/// Where the programs are; empty for those that no part needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tools {
    pub(super) onrush: PathBuf,
    /// An earlier build of it.
    pub(super) before: PathBuf,
    pub(super) wrk: PathBuf,
    pub(super) nginx: PathBuf,
    pub(super) k6: PathBuf,
    pub(super) h2load: PathBuf,
    pub(super) oha: PathBuf,
    pub(super) ab: PathBuf,
    pub(super) hey: PathBuf,
    pub(super) openssl: PathBuf,
    pub(super) redis: PathBuf,
    pub(super) valgrind: PathBuf,
}

impl Tools {
    /// Finds or makes all that is needed, saying what it installs and why.
    pub(super) fn prepare(root: &Path, onrush: Option<&Path>, needs: &[Tool]) -> Result<Self> {
        let mut tools = Self::default();
        for tool in needs {
            match tool {
                Tool::Wrk => {
                    tools.wrk = packaged("wrk", "wrk", "the client written in C that requests are compared with")?
                }
                Tool::H2load => tools.h2load = packaged("h2load", "nghttp2-client", "a client of HTTP/2 written in C")?,
                Tool::Ab => tools.ab = packaged("ab", "apache2-utils", "a client whose latencies are compared")?,
                Tool::Hey => tools.hey = go_tool(root, "hey", "github.com/rakyll/hey", HEY_VERSION)?,
                Tool::Oha => tools.oha = oha(root)?,
                Tool::Nginx => {
                    tools.openssl = packaged("openssl", "openssl", "makes the certificate of nginx")?;
                    tools.nginx = packaged(
                        "nginx",
                        "nginx",
                        "the server both are measured against (its package may start a web server of its own, which is not needed here)",
                    )?
                }
                Tool::K6 => tools.k6 = k6(root)?,
                Tool::Valgrind => {
                    tools.valgrind = packaged("valgrind", "valgrind", "counts the instructions of a request")?;
                }
                Tool::Redis => {
                    tools.redis = packaged("redis-server", "redis-server", "the server that commands are sent to")?;
                }
            }
        }
        tools.onrush = match onrush {
            Some(path) => path.canonicalize().with_context(|| format!("there is no {}", path.display()))?,
            None => build(root)?,
        };
        Ok(tools)
    }
}

fn build(root: &Path) -> Result<PathBuf> {
    eprintln!("building Onrush (release)");
    let status = workspace::cargo(root)
        .args(["build", "--release", "--locked", "--package", "onrush"])
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("the build failed; what cargo printed above says why");
    }
    Ok(workspace::target_dir(root)?.join("release").join("onrush"))
}

fn k6(root: &Path) -> Result<PathBuf> {
    let own = own_folder(root)?;
    let known = installed("k6", &own).find(|path| version(path, "version").contains(&format!("{K6_VERSION} ")));
    known.map_or_else(|| go_install("k6", K6_MODULE, K6_VERSION, &own), Ok)
}

/// A program written in Go, of whatever version it is.
fn go_tool(root: &Path, name: &str, module: &str, version: &str) -> Result<PathBuf> {
    let own = own_folder(root)?;
    let known = installed(name, &own).find(|path| path.is_file());
    known.map_or_else(|| go_install(name, module, version, &own), Ok)
}

/// Where programs go that are built for the benchmark.
fn own_folder(root: &Path) -> Result<PathBuf> {
    Ok(workspace::target_dir(root)?.join("bench-tools"))
}

/// Where a program may be.
fn installed(name: &str, own: &Path) -> impl Iterator<Item = PathBuf> {
    let folders = go_folders().into_iter().chain([own.to_owned()]);
    find(name).into_iter().chain(folders.map(|folder| folder.join(name)).collect::<Vec<_>>())
}

fn go_install(name: &str, module: &str, version: &str, own: &Path) -> Result<PathBuf> {
    let Some(go) = find("go") else {
        bail!(
            "{name} {version} is missing (Onrush is compared with it), and so is Go 1.24 or later, which would build it: install Go from go.dev or your distribution, or put {name} {version} in PATH"
        );
    };
    eprintln!(
        "installing {name} {version} with go install into {} (Onrush is compared with it; may take minutes)",
        own.display()
    );
    let status = Command::new(go)
        .args(["install", &format!("{module}@{version}")])
        .env("GOBIN", own)
        .status()
        .context("cannot run go")?;
    if !status.success() {
        bail!("{name} {version} is missing and `go install {module}@{version}` failed; what it printed above says why");
    }
    Ok(own.join(name))
}

/// oha, built from its package if it is not there.
fn oha(root: &Path) -> Result<PathBuf> {
    let own = own_folder(root)?;
    let mut folders: Vec<PathBuf> = env::home_dir().map(|home| home.join(".cargo/bin")).into_iter().collect();
    folders.push(own.join("bin"));
    if let Some(path) =
        find("oha").into_iter().chain(folders.iter().map(|folder| folder.join("oha"))).find(|path| path.is_file())
    {
        return Ok(path);
    }
    eprintln!("installing oha {OHA_VERSION} with cargo install into {} (takes minutes)", own.display());
    let status = workspace::cargo(root)
        .args(["install", "--locked", "oha", "--version", OHA_VERSION, "--root"])
        .arg(&own)
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("oha {OHA_VERSION} is missing and could not be built; what cargo printed above says why");
    }
    Ok(own.join("bin").join("oha"))
}

/// Where `go install` puts programs.
fn go_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = env::var_os("GOBIN").map(PathBuf::from).into_iter().collect();
    folders.extend(env::var_os("GOPATH").map(|path| PathBuf::from(path).join("bin")));
    folders.extend(env::home_dir().map(|home| home.join("go").join("bin")));
    folders
}

/// What a program says about its version: the first line, or nothing.
pub(crate) fn version(program: &Path, argument: &str) -> String {
    let Ok(output) = Command::new(program).arg(argument).stdin(Stdio::null()).output() else { return String::new() };
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned()
}
