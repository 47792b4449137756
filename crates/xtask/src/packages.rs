//! Programs of the distribution's packages: finding them, and installing what is missing.
#![expect(clippy::print_stderr, reason = "whoever waits for an installation is told")]

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// A program of a Debian package, which is installed if it is not there. `why` is what it is needed for.
///
/// # Errors
/// When it is missing and cannot be installed.
pub fn packaged(name: &str, package: &str, why: &str) -> Result<PathBuf> {
    if let Some(path) = find(name) {
        return Ok(path);
    }
    let Some(apt) = find("apt-get") else {
        bail!(
            "{name} is missing ({why}) and there is no apt-get here to install it with: install {package} and run this again"
        );
    };
    eprintln!("installing {package} with apt-get: {why}");
    let install = |update: bool| -> Result<bool> {
        let mut command = if rustix::process::geteuid().is_root() {
            Command::new(&apt)
        } else {
            let mut sudo = Command::new("sudo");
            sudo.arg("-n").arg(&apt);
            sudo
        };
        command.env("DEBIAN_FRONTEND", "noninteractive");
        if update {
            command.arg("update")
        } else {
            command.args(["install", "-y", "--no-install-recommends", package])
        };
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().context("cannot run apt-get")?;
        Ok(status.success())
    };
    // Package lists may be missing or old.
    let installed = install(false)? || (install(true)? && install(false)?);
    if !installed {
        bail!(
            "{name} is missing ({why}) and apt-get could not install it; what it printed above says why. As root: apt-get install {package}"
        );
    }
    find(name).with_context(|| format!("apt-get installed {package}, but {name} is not in PATH"))
}

/// A program in PATH or where servers and Go's tools are.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/usr/local/sbin", "/usr/local/go/bin"].map(PathBuf::from);
    env::split_paths(&path).chain(more).map(|folder| folder.join(name)).find(|file| file.is_file())
}
