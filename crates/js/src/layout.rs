//! The two VU layouts; see docs/design/001-vu-layouts.md.

/// How a VU is separated from the other VUs of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// One realm a thread; VUs have their own modules, heap and global object, and share write-trapped built-ins.
    Dense,
    /// A realm of its own per VU: for scripts that change built-ins.
    Isolated,
}

impl Isolation {
    /// The word used on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Isolated => "isolated",
        }
    }
}

/// The layout of a run and the reason for it, as the run prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsolationChoice {
    /// The layout in use.
    pub isolation: Isolation,
    /// One sentence fragment: `default`, `--vu-isolation`, or what the script writes to.
    pub reason: String,
}
