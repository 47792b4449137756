//! Programs whose names the lab's DNS server resolves: they see another `resolv.conf`, in a mount namespace of their own.
//!
//! It is what works for every program alike, k6 (Go's resolver) and Onrush. Linux only, and it takes the right to make
//! such namespaces and to listen on port 53; where one is missing, scripts marked `resolver` are left out.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// What is mounted over `/etc/resolv.conf`, in the folder a script runs in.
pub(super) const FILE: &str = "resolv.conf";

/// A command for a program, to which arguments are added. [`FILE`] is in its folder.
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        // Becomes it, in a namespace of users.
        command.arg("--map-root-user");
    }
    command.args(["--mount", "--", "sh", "-c", MOUNT, "sh"]).arg(program);
    command
}

/// Whether this machine lets us.
pub(super) fn is_possible() -> bool {
    let Ok(folder) = tempfile::tempdir() else { return false };
    if std::fs::write(folder.path().join(FILE), "").is_err() {
        return false;
    }
    let tried = command(Path::new("true")).current_dir(folder.path()).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

const MOUNT: &str = r#"mount --bind "$PWD/resolv.conf" /etc/resolv.conf && exec "$@""#;
