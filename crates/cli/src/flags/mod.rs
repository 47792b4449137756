//! The flags: one table that feeds the command-line parser, the environment and `--help`.
//!
//! What a flag means is not decided here: options go on to `onrush_plan`, the rest to [`crate::args`].

mod command;
mod help;
mod parse;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use command::{Command, FILES, parser_for_completion};
pub(crate) use parse::{Invocation, invalid_argument, parse};
pub(crate) use table::{FLAGS, find};
pub(crate) use values::{Flags, parse_bool};

/// One flag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag {
    /// Long name without dashes.
    pub(crate) long: &'static str,
    /// Short name.
    pub(crate) short: Option<char>,
    /// What follows it.
    pub(crate) value: Value,
    /// The variable that sets the same, below the flag.
    pub(crate) env: Option<&'static str>,
    /// One or two sentences.
    pub(crate) help: &'static str,
    /// What it is when it is not given, where help does not say so itself.
    pub(crate) default: &'static str,
    /// All values there are, where they can be listed.
    pub(crate) allowed: &'static [&'static str],
    /// Where help shows it.
    pub(crate) group: Group,
    /// What becomes of it.
    pub(crate) role: Role,
    /// The commands that take it.
    pub(crate) scope: Scope,
}

impl Flag {
    /// Its short name in a command. One-liners have `-c` for connections, as other programs of their kind do.
    pub(crate) fn short_for(&self, command: Command) -> Option<char> {
        let is_taken = (command, self.long) == (Command::Http, "config");
        let is_own = command == Command::Http || self.long != "connections";
        self.short.filter(|_| !is_taken && is_own)
    }
}

/// What follows a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing, or `=true` and `=false`.
    Switch,
    /// A whole number.
    Int,
    /// A duration with units.
    Duration,
    /// A text, called so in help.
    Text(&'static str),
    /// A text that may be given several times.
    Repeated(&'static str),
    /// Nothing, or a text after `=`.
    Optional(&'static str),
}

/// What becomes of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// An option of the test, which scripts can set as well: `onrush_plan` reads flag and variable.
    Option,
    /// A setting of this program.
    Setting,
    /// k6 has it and this version does not: says what is missing.
    NotYet(&'static str),
    /// k6 has it; here it changes nothing and does no harm.
    Accepted,
}

/// The headings of help, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// How much load, for how long.
    Load,
    /// What the script sees.
    Script,
    /// Requests and connections.
    Http,
    /// Pass or fail, and what is reported.
    Results,
    /// What is printed where.
    Terminal,
    /// How the machine is used.
    Machine,
    /// Agents and their coordinator.
    Agents,
    /// A running test.
    Control,
    /// What one command does.
    Tool,
    /// The built-in system under test.
    Target,
    /// Known, but not in this version.
    NotYet,
}

impl Group {
    /// The heading.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Load => "Load",
            Self::Script => "Script",
            Self::Http => "Requests and connections",
            Self::Results => "Results",
            Self::Terminal => "Terminal and logs",
            Self::Machine => "This machine",
            Self::Agents => "Agents",
            Self::Control => "Live control",
            Self::Tool => "This command",
            Self::Target => "Target",
            Self::NotYet => "Flags of k6 that are not available yet",
        }
    }
}

/// The commands that take a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of them, also before the command's name.
    All,
    /// `run`.
    Run,
    /// What runs a script or keeps its options: `run` and `archive`.
    Option,
    /// These and `scale`.
    OptionAndScale,
    /// What loads a script: `run`, `archive`, `inspect` and `deps`.
    Load,
    /// `run` and `target`.
    Both,
    /// One command.
    Only(Command),
    /// These commands.
    Several(&'static [Command]),
    /// `run` and whatever asks a run.
    RunAndControl,
    /// Whatever asks a run.
    Control,
}
