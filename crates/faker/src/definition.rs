//! What a function is that is more than a list of words.

use crate::{
    arguments::{Arguments, Parameter},
    source::Source,
    value::{FakerError, Value},
};

pub(crate) type Made = Result<Value, FakerError>;

/// A function that is more than a list of words.
pub(crate) struct Definition {
    pub(crate) category: &'static str,
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) make: fn(&mut Source<'_>, &Arguments<'_>) -> Made,
}

pub(crate) const fn define(
    category: &'static str,
    name: &'static str,
    parameters: &'static [Parameter],
    make: fn(&mut Source<'_>, &Arguments<'_>) -> Made,
) -> Definition {
    Definition { category, name, parameters, make }
}
