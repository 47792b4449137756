//! The command-line parser, built from the table.

use clap::{Arg, ArgAction};

use super::{FLAGS, Flag, Scope, Value};

/// The commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// `onrush run`
    Run,
    /// `onrush status`
    Status,
    /// `onrush stats`
    Stats,
    /// `onrush pause`
    Pause,
    /// `onrush resume`
    Resume,
    /// `onrush scale`
    Scale,
    /// `onrush target`
    Target,
    /// `onrush version`
    Version,
    /// `onrush help`
    Help,
}

impl Command {
    /// All commands, as help lists them.
    pub(super) const ALL: [Self; 9] = [
        Self::Run,
        Self::Status,
        Self::Stats,
        Self::Pause,
        Self::Resume,
        Self::Scale,
        Self::Target,
        Self::Version,
        Self::Help,
    ];

    /// The command of this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Status => "status",
            Self::Stats => "stats",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Scale => "scale",
            Self::Target => "target",
            Self::Version => "version",
            Self::Help => "help",
        }
    }

    /// Whether it asks a run that is under way.
    pub(super) fn is_control(self) -> bool {
        matches!(self, Self::Status | Self::Stats | Self::Pause | Self::Resume | Self::Scale)
    }

    /// Whether the flag means something to it.
    pub(super) fn takes(self, flag: &Flag) -> bool {
        match flag.scope {
            Scope::All => true,
            Scope::Both => matches!(self, Self::Run | Self::Target),
            Scope::Run => self == Self::Run,
            Scope::Target => self == Self::Target,
            Scope::RunAndScale => matches!(self, Self::Run | Self::Scale),
            Scope::Scale => self == Self::Scale,
            Scope::RunAndControl => self == Self::Run || self.is_control(),
        }
    }
}

/// Where positional arguments are found.
pub(super) const FILES: &str = "FILE";
/// Switches of the parser's own.
pub(super) const HELP: &str = "help";
pub(super) const VERSION: &str = "version";

/// The parser. Help is not its business, see [`super::help`].
pub(super) fn parser() -> clap::Command {
    let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let mut root = clap::Command::new("onrush")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .arg(switch(HELP).short('h').global(true))
        .arg(switch(VERSION))
        .args(FLAGS.iter().filter(|flag| flag.scope == Scope::All).map(|flag| arg(flag).global(true)));
    for command in Command::ALL {
        let own = FLAGS.iter().filter(move |flag| flag.scope != Scope::All && command.takes(flag)).map(arg);
        root = root.subcommand(clap::Command::new(command.name()).args(own).arg(Arg::new(FILES).num_args(0..)));
    }
    root
}

fn arg(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.long).long(flag.long).action(ArgAction::Append);
    let arg = match flag.short {
        Some(short) => arg.short(short),
        None => arg,
    };
    let optional =
        |arg: Arg, missing: &'static str| arg.num_args(0..=1).require_equals(true).default_missing_value(missing);
    match flag.value {
        Value::Switch => optional(arg, "true"),
        Value::Optional(_) => optional(arg, "headers"),
        // k6: what follows a flag with a value is its value, whatever it looks like.
        Value::Int | Value::Duration | Value::Text(_) | Value::Repeated(_) => arg.num_args(1).allow_hyphen_values(true),
    }
}
