//! What the user gave: flags and, below them, the environment.

use std::collections::BTreeMap;

use super::{Command, Flag, Role, Value, find};
use crate::failure::Failure;

/// The flags given on the command line, and a snapshot of the environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    /// Values by long name, in their order.
    pub(crate) by_name: BTreeMap<&'static str, Vec<String>>,
    /// The environment.
    pub(crate) env: BTreeMap<String, String>,
}

impl Flags {
    /// All values of a flag; none when it was not given. Variables are not looked at.
    pub(crate) fn values(&self, long: &str) -> Vec<String> {
        self.by_name.get(long).cloned().unwrap_or_default()
    }

    /// The flag's last value, else its variable's. k6: an empty text is as none.
    pub(crate) fn text(&self, long: &str) -> Option<String> {
        debug_assert!(find(long).is_some(), "--{long} is in the table");
        self.values(long).pop().filter(|value| !value.is_empty()).or_else(|| self.variable(find(long)?))
    }

    /// The same, but an empty text on the command line counts.
    pub(crate) fn text_even_empty(&self, long: &str) -> Option<String> {
        self.values(long).pop().or_else(|| self.variable(find(long)?))
    }

    fn variable(&self, flag: &Flag) -> Option<String> {
        self.env.get(flag.env?).filter(|value| !value.is_empty()).cloned()
    }

    /// A switch; `None` when neither flag nor variable is given.
    ///
    /// # Errors
    /// A variable that is no boolean. Flags were checked when they were parsed.
    pub(crate) fn switch(&self, long: &str) -> Result<Option<bool>, Failure> {
        if let Some(value) = self.values(long).pop() {
            return Ok(parse_bool(&value));
        }
        let Some(flag) = find(long) else { return Ok(None) };
        let (Some(value), Some(name)) = (self.variable(flag), flag.env) else { return Ok(None) };
        match parse_bool(&value) {
            Some(value) => Ok(Some(value)),
            None => {
                let failure = Failure::other(format!(
                    "env var '{name}' is not a valid boolean value: strconv.ParseBool: parsing \"{value}\": invalid syntax"
                ));
                // k6: what the config file can say, too, is part of the configuration.
                let is_config = ["linger", "no-usage-report"].contains(&long);
                Err(if is_config {
                    Failure { code: onrush_session::ExitCode::InvalidConfig, ..failure }
                } else {
                    failure
                })
            }
        }
    }

    /// Refuses flags and variables of a command that ask for what this version does not have.
    ///
    /// # Errors
    /// The first such flag.
    pub(crate) fn refuse_unavailable(&self, command: Command) -> Result<(), Failure> {
        for flag in super::FLAGS.iter().filter(|flag| command.takes(flag)) {
            let Role::NotYet(what) = flag.role else { continue };
            let (value, source) = match self.values(flag.long).pop() {
                Some(value) => (value, format!("--{}", flag.long)),
                None => match self.variable(flag) {
                    Some(value) => (value, flag.env.unwrap_or_default().to_owned()),
                    None => continue,
                },
            };
            let asks = match flag.value {
                Value::Switch => parse_bool(&value) != Some(false),
                // What k6 documents as "off".
                _ => !value.is_empty() && value != "none",
            };
            if asks {
                return Err(unavailable(what, &source));
            }
        }
        Ok(())
    }
}

fn unavailable(what: &str, source: &str) -> Failure {
    Failure::other(format!("{what} is not available yet in this version of Onrush"))
        .hint(format!("remove {source} to run the test without it"))
}

/// Go's spellings of booleans.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
