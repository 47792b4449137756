//! What follows a command's name: flags and values, in any order, `--name value` or `--name=value`.
//!
//! `pico-args` reads them; here errors get the option's name.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use anyhow::{Context, Result, bail, ensure};

/// Arguments that are not yet read.
#[derive(Debug)]
pub struct Arguments(pico_args::Arguments);

impl Arguments {
    /// Those that follow the command's name.
    #[must_use]
    pub fn new(given: &[String]) -> Self {
        Self(pico_args::Arguments::from_vec(given.iter().map(Into::into).collect()))
    }

    /// Whether help was asked for.
    pub fn wants_help(&mut self) -> bool {
        self.0.contains(["-h", "--help"])
    }

    /// Whether a flag is there.
    pub fn flag(&mut self, name: &'static str) -> bool {
        self.0.contains(name)
    }

    /// An option's value, if the option is there.
    ///
    /// # Errors
    /// When the value is missing or not of that type.
    pub fn value<T: FromStr<Err: Display>>(&mut self, name: &'static str) -> Result<Option<T>> {
        self.0.opt_value_from_str(name).with_context(|| format!("invalid {name}"))
    }

    /// The values of an option that may be repeated.
    ///
    /// # Errors
    /// When a value is missing or not of that type.
    pub fn values<T: FromStr<Err: Display>>(&mut self, name: &'static str) -> Result<Vec<T>> {
        self.0.values_from_str(name).with_context(|| format!("invalid {name}"))
    }

    /// A number within limits, if the option is there.
    ///
    /// # Errors
    /// When the value is missing, not a number or outside of the limits.
    pub fn number<T>(&mut self, name: &'static str, limits: RangeInclusive<T>) -> Result<Option<T>>
    where
        T: FromStr<Err: Display> + PartialOrd + Display,
    {
        let value = self.value(name)?;
        if let Some(value) = &value {
            ensure!(limits.contains(value), "{name} must be {} to {}, not {value}", limits.start(), limits.end());
        }
        Ok(value)
    }

    /// All must have been read.
    ///
    /// # Errors
    /// When something is left; the message shows `help`.
    pub fn end(self, help: &str) -> Result<()> {
        match self.0.finish().first() {
            Some(unknown) => bail!("unknown argument {}\n\n{help}", unknown.display()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<(bool, Option<u16>, Vec<String>)> {
        let mut arguments = Arguments::new(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let read = (arguments.flag("--fast"), arguments.number("--port", 1024..=65_000)?, arguments.values("--only")?);
        arguments.end("HELP")?;
        Ok(read)
    }

    #[test]
    fn flags_and_values_are_read_in_any_order() {
        assert_eq!(read("").unwrap(), (false, None, vec![]));
        let only = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(read("--only a --fast --port=2000 --only=b").unwrap(), (true, Some(2000), only));
    }

    #[test]
    fn errors_name_the_option() {
        let check = |line: &str, expect: &[&str]| {
            let error = format!("{:#}", read(line).unwrap_err());
            assert!(expect.iter().all(|part| error.contains(part)), "{line}: {error}");
        };
        check("--port", &["--port"]);
        check("--port many", &["--port", "many"]);
        check("--port 80", &["--port must be 1024 to 65000, not 80"]);
        check("--port NaN", &["--port", "NaN"]);
        check("--slow", &["unknown argument --slow", "HELP"]);
        check("more", &["unknown argument more", "HELP"]);
    }
}
