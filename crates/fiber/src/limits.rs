//! The process's limit on open files: every connection is one. What was refused because this machine had no more of
//! something is counted.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::{
    io::Errno,
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

/// The limit on open files before and after [`raise_fd_limit`]. `None` means unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FdLimit {
    /// The soft limit the process started with.
    pub soft_before: Option<u64>,
    /// The soft limit now: what the process can use.
    pub soft: Option<u64>,
    /// The hard limit: what only an administrator can raise.
    pub hard: Option<u64>,
}

/// Raises the soft limit on open files to the hard limit. Where the system refuses, `soft` stays what it was; say so to
/// the user if that is not enough.
pub fn raise_fd_limit() -> FdLimit {
    let before = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
    let soft = match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => before.maximum,
        // Some systems cap an unlimited hard limit at a value they do not report.
        Err(_) => getrlimit(Resource::Nofile).current,
    };
    FdLimit { soft_before: before.current, soft, hard: before.maximum }
}

/// Connections of this process that could not be made because the machine they start from had no more of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortages {
    /// Of file descriptors (`EMFILE`, `ENFILE`).
    pub descriptors: u64,
    /// Of local ports or addresses (`EADDRNOTAVAIL`).
    pub ports: u64,
}

impl Shortages {
    /// All of them so far.
    pub fn so_far() -> Self {
        Self { descriptors: DESCRIPTORS.load(Ordering::Relaxed), ports: PORTS.load(Ordering::Relaxed) }
    }

    /// Those since an earlier look.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            descriptors: self.descriptors.saturating_sub(earlier.descriptors),
            ports: self.ports.saturating_sub(earlier.ports),
        }
    }

    /// Counts the error of a call that makes a connection, if it is one of these.
    pub(crate) fn note(errno: Errno) {
        let counter = match errno {
            Errno::MFILE | Errno::NFILE => &DESCRIPTORS,
            Errno::ADDRNOTAVAIL => &PORTS,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

static DESCRIPTORS: AtomicU64 = AtomicU64::new(0);
static PORTS: AtomicU64 = AtomicU64::new(0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_limit() {
        let first = raise_fd_limit();
        assert_eq!(first.soft, first.hard);
        let second = raise_fd_limit();
        assert_eq!(second.soft_before, first.soft);
    }

    #[test]
    fn shortages_are_counted() {
        let before = Shortages::so_far();
        for errno in [Errno::MFILE, Errno::NFILE, Errno::ADDRNOTAVAIL, Errno::CONNREFUSED] {
            Shortages::note(errno);
        }
        assert_eq!(Shortages::so_far().since(before), Shortages { descriptors: 2, ports: 1 });
    }
}
