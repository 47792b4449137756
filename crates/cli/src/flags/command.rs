//! The command-line parser, built from the table.

use clap::{Arg, ArgAction};

use super::{FLAGS, Flag, Scope, Value};

/// The commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// `onrush run`
    Run,
    /// `onrush archive`
    Archive,
    /// `onrush inspect`
    Inspect,
    /// `onrush new`
    New,
    /// `onrush deps`
    Deps,
    /// `onrush completion`
    Completion,
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
    pub(crate) const ALL: [Self; 14] = [
        Self::Run,
        Self::New,
        Self::Inspect,
        Self::Archive,
        Self::Deps,
        Self::Status,
        Self::Stats,
        Self::Pause,
        Self::Resume,
        Self::Scale,
        Self::Target,
        Self::Completion,
        Self::Version,
        Self::Help,
    ];

    /// The command of this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Archive => "archive",
            Self::Inspect => "inspect",
            Self::New => "new",
            Self::Deps => "deps",
            Self::Completion => "completion",
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

    /// What it does, in a few words.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Run => "Run a k6 script",
            Self::Archive => "Put a script and all it needs into one file",
            Self::Inspect => "Print the options of a script or archive as JSON",
            Self::New => "Write a script to start from",
            Self::Deps => "Print what a script imports",
            Self::Completion => "Print what makes a shell complete commands and flags",
            Self::Status => "Print how the run that is under way stands",
            Self::Stats => "Print the metrics of the run that is under way",
            Self::Pause => "Pause the run that is under way",
            Self::Resume => "Let a paused run go on",
            Self::Scale => "Change the target of a scenario while it runs",
            Self::Target => "Run the built-in system under test",
            Self::Version => "Print the version",
            Self::Help => "Print help on a command",
        }
    }

    /// Whether it asks a run that is under way.
    pub(super) fn is_control(self) -> bool {
        matches!(self, Self::Status | Self::Stats | Self::Pause | Self::Resume | Self::Scale)
    }

    /// Whether the flag means something to it.
    pub(crate) fn takes(self, flag: &Flag) -> bool {
        match flag.scope {
            Scope::All => true,
            Scope::Both => matches!(self, Self::Run | Self::Target),
            Scope::Run => self == Self::Run,
            Scope::Option => matches!(self, Self::Run | Self::Archive),
            Scope::OptionAndScale => matches!(self, Self::Run | Self::Archive | Self::Scale),
            Scope::Load => matches!(self, Self::Run | Self::Archive | Self::Inspect | Self::Deps),
            Scope::Only(command) => self == command,
            Scope::RunAndControl => self == Self::Run || self.is_control(),
            Scope::Control => self.is_control(),
        }
    }
}

/// Where positional arguments are found.
pub(crate) const FILES: &str = "FILE";
/// Switches of the parser's own.
pub(super) const HELP: &str = "help";
pub(super) const VERSION: &str = "version";

/// The parser. Help is not its business, see [`super::help`].
pub(crate) fn parser() -> clap::Command {
    commands(arg)
}

/// The same for shells that complete what is typed: there a switch takes nothing, although `--quiet=false` is understood.
pub(crate) fn parser_for_completion() -> clap::Command {
    commands(|flag| match flag.value {
        Value::Switch => named(flag).action(ArgAction::SetTrue),
        _ => arg(flag),
    })
}

fn commands(arg: fn(&'static Flag) -> Arg) -> clap::Command {
    let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let mut root = clap::Command::new("onrush")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .arg(switch(HELP).short('h').global(true))
        .arg(switch(VERSION))
        .args(FLAGS.iter().filter(|flag| flag.scope == Scope::All).map(|flag| arg(flag).global(true)));
    for command in Command::ALL {
        let own = FLAGS.iter().filter(move |flag| flag.scope != Scope::All && command.takes(flag)).map(arg);
        root = root.subcommand(
            clap::Command::new(command.name()).about(command.about()).args(own).arg(Arg::new(FILES).num_args(0..)),
        );
    }
    root
}

fn named(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.long).long(flag.long).help(flag.help);
    match flag.short {
        Some(short) => arg.short(short),
        None => arg,
    }
}

fn arg(flag: &'static Flag) -> Arg {
    let arg = named(flag).action(ArgAction::Append);
    let optional =
        |arg: Arg, missing: &'static str| arg.num_args(0..=1).require_equals(true).default_missing_value(missing);
    match flag.value {
        Value::Switch => optional(arg, "true"),
        Value::Optional(_) => optional(arg, "headers"),
        // k6: what follows a flag with a value is its value, whatever it looks like.
        Value::Int | Value::Duration | Value::Text(_) | Value::Repeated(_) => arg.num_args(1).allow_hyphen_values(true),
    }
}
