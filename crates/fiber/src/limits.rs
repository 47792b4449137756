//! The process's limit on open files: every connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

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

/// Raises the soft limit on open files to the hard limit. Where the system refuses, `soft` stays
/// what it was; say so to the user if that is not enough.
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
}
