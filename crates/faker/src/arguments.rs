//! What a function is called with: texts, as whoever calls has made texts of everything.

use crate::value::FakerError;

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// Anything that is no array, as a text.
    One(String),
    /// The items of an array.
    Many(Vec<String>),
}

/// What a function may be told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) default: Option<&'static str>,
}

pub(crate) const fn required(name: &'static str) -> Parameter {
    Parameter { name, default: None }
}

pub(crate) const fn optional(name: &'static str, default: &'static str) -> Parameter {
    Parameter { name, default: Some(default) }
}

/// The arguments of a call, by the numbers of the function's parameters.
pub(crate) struct Arguments<'a> {
    pub(crate) function: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) given: &'a [Option<Argument>],
}

/// What an argument or a default is.
enum Given<'a> {
    One(&'a str),
    Many(&'a [String]),
}

impl Arguments<'_> {
    fn at(&self, index: usize) -> Result<Given<'_>, FakerError> {
        match self.given.get(index) {
            Some(Some(Argument::One(text))) => return Ok(Given::One(text)),
            Some(Some(Argument::Many(items))) => return Ok(Given::Many(items)),
            _ => {}
        }
        let parameter = self.parameters[index];
        parameter.default.map(Given::One).ok_or(FakerError::MissingParameter(parameter.name))
    }

    fn invalid(&self, index: usize, expected: &'static str, found: &str) -> FakerError {
        let found = found.chars().take(FOUND_CHARACTERS_MAX).collect();
        FakerError::InvalidArgument { function: self.function, parameter: self.parameters[index].name, expected, found }
    }

    pub(crate) fn text(&self, index: usize) -> Result<String, FakerError> {
        Ok(match self.at(index)? {
            Given::One(text) => text.to_owned(),
            Given::Many(items) => items.join(","),
        })
    }

    /// Items; of a text those between its commas.
    pub(crate) fn list(&self, index: usize) -> Result<Vec<String>, FakerError> {
        Ok(match self.at(index)? {
            Given::One("") => Vec::new(),
            Given::One(text) => text.split(',').map(|item| item.trim().to_owned()).collect(),
            Given::Many(items) => items.to_vec(),
        })
    }

    pub(crate) fn integer(&self, index: usize) -> Result<i64, FakerError> {
        let text = self.text(index)?;
        whole(&text).ok_or_else(|| self.invalid(index, WHOLE, &text))
    }

    pub(crate) fn integers(&self, index: usize) -> Result<Vec<i64>, FakerError> {
        self.list(index)?
            .iter()
            .map(|item| whole(item).ok_or_else(|| self.invalid(index, "whole numbers", item)))
            .collect()
    }

    /// How many of something: none where it is negative.
    pub(crate) fn count(&self, index: usize) -> Result<usize, FakerError> {
        Ok(usize::try_from(self.integer(index)?.max(0)).unwrap_or(usize::MAX))
    }

    pub(crate) fn float(&self, index: usize) -> Result<f64, FakerError> {
        let text = self.text(index)?;
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| self.invalid(index, "a number", &text))
    }

    pub(crate) fn boolean(&self, index: usize) -> Result<bool, FakerError> {
        let text = self.text(index)?;
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "t" => Ok(true),
            "false" | "0" | "f" => Ok(false),
            _ => Err(self.invalid(index, "true or false", &text)),
        }
    }
}

/// A whole number, also where JavaScript has written it like `1e+21`.
fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    text.parse()
        .ok()
        .or_else(|| text.parse::<f64>().ok().filter(|number| number.trunc() == *number).map(|number| number as i64))
}

const WHOLE: &str = "a whole number";

/// As much of a wrong argument is shown.
const FOUND_CHARACTERS_MAX: usize = 40;
