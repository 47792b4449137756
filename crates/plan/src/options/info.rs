//! What there is to know about an option beside its value: the columns of the table of options.

/// One option.
#[derive(Debug, Clone, Copy)]
pub struct OptionInfo {
    /// Its key in the `options` of scripts and in the config file; for those that neither can set, what it would be.
    pub key: &'static str,
    /// Scripts and the config file can set it.
    pub in_scripts: bool,
    /// Its flag.
    pub flag: Option<FlagInfo>,
    /// Its variable.
    pub variable: Option<&'static str>,
    /// What it holds.
    pub kind: Kind,
    /// What it is when nobody sets it; empty when it is not set then.
    pub default: &'static str,
    /// All values there are, where they can be listed.
    pub allowed: &'static [&'static str],
    /// What it is for, in one sentence without its full stop.
    pub about: &'static str,
    /// What it belongs to.
    pub area: Area,
}

/// The flag of an option.
#[derive(Debug, Clone, Copy)]
pub struct FlagInfo {
    /// Long name without dashes.
    pub long: &'static str,
    /// Short name.
    pub short: Option<char>,
    /// What its value is called in help.
    pub value: &'static str,
}

/// What an option holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A duration: `"1m30s"`; in scripts, files and variables also a number of milliseconds.
    Duration,
    /// A text.
    Text,
    /// A text, or `true` for one of them.
    Mode,
    /// A list; flags repeat or have commas.
    List,
    /// An object.
    Table,
}

impl Kind {
    /// What the reference calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "switch",
            Self::Int => "whole number",
            Self::Duration => "duration",
            Self::Text | Self::Mode => "text",
            Self::List => "list",
            Self::Table => "object",
        }
    }
}

/// What an option belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// How much load, for how long.
    Load,
    /// What the script's functions do.
    Script,
    /// Requests and connections.
    Http,
    /// Pass or fail, and what is reported.
    Results,
}

/// The columns, as a row of the table writes them.
impl OptionInfo {
    pub(super) const fn new(key: &'static str, kind: Kind, area: Area, about: &'static str) -> Self {
        Self { key, in_scripts: true, flag: None, variable: None, kind, default: "", allowed: &[], about, area }
    }

    pub(super) const fn flag(mut self, long: &'static str, value: &'static str) -> Self {
        self.flag = Some(FlagInfo { long, short: None, value });
        self
    }

    pub(super) const fn short(mut self, short: char) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.short = Some(short);
        }
        self
    }

    pub(super) const fn env(mut self, variable: &'static str) -> Self {
        self.variable = Some(variable);
        self
    }

    pub(super) const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    pub(super) const fn allowed(mut self, allowed: &'static [&'static str]) -> Self {
        self.allowed = allowed;
        self
    }

    pub(super) const fn not_in_scripts(mut self) -> Self {
        self.in_scripts = false;
        self
    }
}
