//! What the standard streams are: terminals or not, with colours or not, how wide.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, stderr, stdout},
};

use super::wrap::wrapped;
use crate::full_screen::Signs;

/// What can be printed where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// The standard output stream is a terminal.
    pub(crate) stdout_tty: bool,
    /// The standard error stream is a terminal.
    pub(crate) stderr_tty: bool,
    /// Colours are not unwanted.
    pub(crate) color: bool,
    /// Characters beyond ASCII are expected, as far as variables say.
    pub(crate) unicode: bool,
}

impl Look {
    /// Looks at the process's streams. `no_color` is the flag's word.
    pub(crate) fn of_process(no_color: bool, env: &BTreeMap<String, String>) -> Self {
        let is_set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
        // NO_COLOR counts when it is there, whatever it says.
        let is_dumb = env.get("TERM").is_some_and(|term| term == "dumb");
        let color = !no_color && !is_set("K6_NO_COLOR") && !env.contains_key("NO_COLOR") && !is_dumb;
        // Nothing can be drawn over on a dumb terminal.
        // The first that is set decides, as everywhere.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| env.get(name).filter(|_| is_set(name)));
        let unicode = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        let stdout_tty = stdout().is_terminal() && !is_dumb;
        Self { stdout_tty, stderr_tty: stderr().is_terminal(), color, unicode }
    }

    /// The signs of pictures.
    pub(crate) fn signs(self) -> Signs {
        if self.unicode { Signs::Blocks } else { Signs::Ascii }
    }

    /// Whether the standard output stream shows colours.
    pub(crate) fn stdout_color(self) -> bool {
        self.color && self.stdout_tty
    }

    /// Text for the standard output stream: on a terminal, lines that are too long break between words.
    pub(crate) fn fitted(self, text: String) -> String {
        if self.stdout_tty { wrapped(&text, Self::columns()) } else { text }
    }

    /// Columns of the terminal; a common width where it does not say.
    pub(crate) fn columns() -> usize {
        Self::size().0
    }

    /// Columns and rows of the terminal; common ones where it does not say.
    pub(crate) fn size() -> (usize, usize) {
        const DEFAULT: (usize, usize) = (100, 40);
        let or = |flags: u16, default: usize| if flags == 0 { default } else { usize::from(flags) };
        rustix::termios::tcgetwinsize(stdout())
            .map_or(DEFAULT, |size| (or(size.ws_col, DEFAULT.0), or(size.ws_row, DEFAULT.1)))
    }
}
