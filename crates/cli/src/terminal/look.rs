//! What the standard streams are: terminals or not, with colours or not, how wide.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, stderr, stdout},
};

/// What can be printed where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// The standard output stream is a terminal.
    pub(crate) stdout_tty: bool,
    /// The standard error stream is a terminal.
    pub(crate) stderr_tty: bool,
    /// Colours are not unwanted.
    pub(crate) color: bool,
}

impl Look {
    /// Looks at the process's streams. `no_color` is the flag's word.
    pub(crate) fn of_process(no_color: bool, env: &BTreeMap<String, String>) -> Self {
        let is_set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
        // NO_COLOR counts when it is there, whatever it says.
        let color = !no_color
            && !is_set("K6_NO_COLOR")
            && !env.contains_key("NO_COLOR")
            && env.get("TERM").is_none_or(|term| term != "dumb");
        Self { stdout_tty: stdout().is_terminal(), stderr_tty: stderr().is_terminal(), color }
    }

    /// Whether the standard output stream shows colours.
    pub(crate) fn stdout_color(self) -> bool {
        self.color && self.stdout_tty
    }

    /// Columns of the terminal; a common width where it does not say.
    pub(crate) fn columns() -> usize {
        const DEFAULT: usize = 100;
        rustix::termios::tcgetwinsize(stdout())
            .map_or(DEFAULT, |size| if size.ws_col == 0 { DEFAULT } else { usize::from(size.ws_col) })
    }
}
