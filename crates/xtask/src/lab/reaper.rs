//! Nothing that a tool started outlives its cell, also what it started as a daemon (Erlang's `epmd` is one).
//!
//! This process is the subreaper of its descendants: what loses its parent becomes a child of ours, is found here, and is
//! ended by its id.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};

use crate::bench::procfs;

/// Makes this process the parent of what its descendants leave behind.
pub(super) fn adopt() -> Result<()> {
    let own = i32::try_from(std::process::id()).ok().and_then(Pid::from_raw);
    set_child_subreaper(own).context("cannot adopt what tools leave behind")
}

/// All processes that descend from one, itself included.
pub(super) fn tree(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() && found.len() < PROCESSES_MAX {
        found.extend(procfs::children(found[next]));
        next += 1;
    }
    found
}

/// Ends all children of this process but those that are to stay, and theirs. Returns how many there were.
pub(super) fn end_strays(stay: &[u32]) -> usize {
    let mut ended = 0;
    // The children of one that ends become ours: look again until there are none.
    for _ in 0..PROCESSES_MAX {
        let strays: Vec<u32> =
            procfs::children(std::process::id()).into_iter().filter(|pid| !stay.contains(pid)).collect();
        if strays.is_empty() {
            break;
        }
        for pid in strays.into_iter().filter_map(|pid| i32::try_from(pid).ok().and_then(Pid::from_raw)) {
            // Our child and not waited for: the id is still its own.
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
            ended += 1;
        }
    }
    ended
}

/// More processes than any tool starts.
const PROCESSES_MAX: usize = 1_000;
