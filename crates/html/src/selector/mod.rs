//! CSS selectors in cascadia's dialect: what `find()` and its like take.
//!
//! `parse` reads a text, `matching` answers whether a node matches.

mod matching;
mod nth;
mod parse;
mod pseudo;

use matching::Matching;
use regex_lite::Regex;

use crate::{Document, NodeId};

/// A list of selectors: a node matches it by matching one.
#[derive(Debug)]
pub struct Selector {
    alternatives: Vec<Complex>,
}

/// Why a text is no selector.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{reason} at character {position} of the selector {text:?}")]
pub struct SelectorError {
    /// What was wrong.
    pub reason: String,
    /// Where, counted from 1 in bytes.
    pub position: usize,
    /// The selector, cut if it is long.
    pub text: String,
}

impl Selector {
    /// Reads a list of selectors.
    ///
    /// # Errors
    /// A text that is none, with the place where it stops being one.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        parse::Parser::parse(text)
    }

    /// Whether a node matches.
    pub fn matches(&self, document: &Document, node: NodeId) -> bool {
        self.matcher(document).matches(node)
    }

    /// Answers for many nodes of a document: what one question found out is of use to the next.
    pub(crate) fn matcher<'a>(&'a self, document: &'a Document) -> Matcher<'a> {
        Matcher { selector: self, matching: Matching::new(document) }
    }
}

/// A selector, asked about one document.
pub(crate) struct Matcher<'a> {
    selector: &'a Selector,
    matching: Matching<'a>,
}

impl Matcher<'_> {
    pub(crate) fn matches(&self, node: NodeId) -> bool {
        self.matching.holds(self.selector, node)
    }
}

/// Compounds with what stands between them, last first: `a > b c` is `c`, then `b` by descent, then `a` by parenthood.
#[derive(Debug)]
struct Complex {
    last: Compound,
    before: Vec<(Combinator, Compound)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combinator {
    Descendant,
    Child,
    Adjacent,
    Sibling,
}

/// Conditions on one node; none is `*`.
#[derive(Debug)]
struct Compound(Vec<Simple>);

#[derive(Debug)]
enum Simple {
    Tag(String),
    Id(String),
    Class(String),
    Attribute {
        name: String,
        test: Test,
        ignore_case: bool,
    },
    Not(Selector),
    Has(Selector),
    HasChild(Selector),
    /// Text in lower case.
    Contains {
        text: String,
        own: bool,
    },
    Matches {
        regex: Box<Regex>,
        own: bool,
    },
    Nth {
        a: i64,
        b: i64,
        from_end: bool,
        of_type: bool,
    },
    Only {
        of_type: bool,
    },
    Lang(String),
    Plain(Plain),
}

/// What an attribute's value is compared with.
#[derive(Debug)]
enum Test {
    Exists,
    Equals(String),
    Differs(String),
    HasWord(String),
    HasPart(String),
    Begins(String),
    Ends(String),
    Contains(String),
    Matches(Box<Regex>),
}

/// Pseudo classes without arguments.
#[derive(Debug, Clone, Copy)]
enum Plain {
    Input,
    Empty,
    Root,
    Link,
    Enabled,
    Disabled,
    Checked,
    /// `:hover` and others that need a person.
    Never,
}

#[cfg(test)]
mod tests;
