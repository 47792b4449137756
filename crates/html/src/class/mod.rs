//! The classes of elements and what each has beyond the methods of all nodes.

mod table;

use crate::{Document, NodeId, element::Compute};
use Kind::{Address, Choice, Computed, Constant, Flag, Int, Text, Url};
use table::{CLASSES, FORM_FIELD, HREF, MEDIA, MOD, TABLE_CELL, TABLE_SECTION};

/// A class of elements.
#[derive(Debug)]
pub struct Class {
    /// As k6's error texts name it.
    pub name: &'static str,
    /// The names of its elements.
    pub tags: &'static [&'static str],
    /// What it shares with other classes.
    pub mixin: Mixin,
    /// Its own accessors.
    own: &'static [Accessor],
}

/// A set of accessors several classes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mixin {
    /// None.
    None,
    /// `href_element`
    Href,
    /// `form_field_element`
    FormField,
    /// `media_element`
    Media,
    /// `mod_element`
    Mod,
    /// `table_section_element`
    TableSection,
    /// `table_cell_element`
    TableCell,
}

impl Mixin {
    /// The property k6 shows it under.
    pub fn property(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Href => Some("href_element"),
            Self::FormField => Some("form_field_element"),
            Self::Media => Some("media_element"),
            Self::Mod => Some("mod_element"),
            Self::TableSection => Some("table_section_element"),
            Self::TableCell => Some("table_cell_element"),
        }
    }

    fn accessors(self) -> &'static [Accessor] {
        match self {
            Self::None => &[],
            Self::Href => HREF,
            Self::FormField => FORM_FIELD,
            Self::Media => MEDIA,
            Self::Mod => MOD,
            Self::TableSection => TABLE_SECTION,
            Self::TableCell => TABLE_CELL,
        }
    }
}

/// A method without arguments that gives a value of the element.
#[derive(Debug)]
pub struct Accessor {
    /// Its name in scripts.
    pub name: &'static str,
    /// How its value comes about.
    pub kind: Kind,
}

/// Where an accessor's value comes from.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// An attribute, or an empty text.
    Text(&'static str),
    /// Whether there is an attribute.
    Flag(&'static str),
    /// An attribute that is a whole number, or a default.
    Int(&'static str, i64),
    /// An attribute that is one of some values, or a default; without one it is undefined.
    Choice(&'static str, &'static [&'static str], Option<&'static str>),
    /// Always the same text.
    Constant(&'static str),
    /// An attribute that is an address.
    Address(&'static str),
    /// A part of the address in `href`: reading addresses is left to who makes requests with them.
    Url(UrlPart),
    /// Anything else.
    Computed(Compute),
}

/// Parts of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are named after the accessors")]
pub enum UrlPart {
    Hash,
    Host,
    Hostname,
    Origin,
    Password,
    Pathname,
    Port,
    Protocol,
    Search,
    Username,
}

/// What an accessor gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Undefined,
    /// A text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Whether something is so.
    Bool(bool),
    /// An element, or undefined.
    Node(Option<NodeId>),
    /// Several elements.
    Nodes(Vec<NodeId>),
    /// Several texts.
    Texts(Vec<String>),
    /// An address as it is written, to be resolved against the page's; `None` without the attribute.
    Address(Option<String>),
    /// This part of the address in `href`.
    Url(UrlPart),
}

impl Class {
    /// All classes.
    pub fn all() -> &'static [Self] {
        CLASSES
    }

    /// The class of an element and its place among all; `None` for elements that have only what all nodes have.
    pub fn of(tag: &str) -> Option<(usize, &'static Self)> {
        CLASSES.iter().enumerate().find(|(_, class)| class.tags.contains(&tag))
    }

    /// All accessors: a class's own go before those it shares.
    pub fn accessors(&self) -> impl Iterator<Item = &'static Accessor> {
        let shared = self.mixin.accessors().iter();
        let (own, all) = (self.own, self.own.iter());
        all.chain(shared.filter(move |shared| !own.iter().any(|own| own.name == shared.name)))
    }
}

impl Accessor {
    /// The value for an element.
    pub fn value(&self, document: &Document, node: NodeId) -> Value {
        match self.kind {
            Text(name) => Value::Text(document.attribute_or_empty(node, name).to_owned()),
            Flag(name) => Value::Bool(document.has_attribute(node, name)),
            Int(name, default) => {
                Value::Int(document.attribute(node, name).and_then(|text| text.parse().ok()).unwrap_or(default))
            }
            Choice(name, choices, default) => {
                let given = document.attribute(node, name);
                let known = choices.iter().copied().find(|choice| Some(*choice) == given).or(default);
                known.map_or(Value::Undefined, |text| Value::Text(text.to_owned()))
            }
            Constant(text) => Value::Text(text.to_owned()),
            Address(name) => Value::Address(document.attribute(node, name).map(str::to_owned)),
            Url(part) => Value::Url(part),
            Computed(compute) => compute(document, node),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Account, Limits};

    #[test]
    fn accessors_of_every_class_cope_with_bare_elements() {
        for class in Class::all() {
            for tag in class.tags {
                assert_eq!(Class::of(tag).unwrap().1.name, class.name);
                let markup = format!("<table><{tag}></table><{tag}><select><{tag}></select>");
                let document = Document::parse(&markup, "", &Limits::default(), &Account::default()).unwrap();
                for node in document.descendants(NodeId::DOCUMENT) {
                    for accessor in class.accessors() {
                        let _ = accessor.value(&document, node);
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_there_once() {
        for class in Class::all() {
            let names: Vec<&str> = class.accessors().map(|accessor| accessor.name).collect();
            let unique: std::collections::HashSet<&&str> = names.iter().collect();
            assert_eq!(unique.len(), names.len(), "{}", class.name);
        }
        assert!(Class::of("p").is_none());
    }
}
