//! Whether a node matches.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

use super::{Combinator, Compound, Selector, Simple, Test, parse::folded, pseudo};
use crate::{Document, NodeId, NodeKind};

/// Questions about one document: whether its nodes match.
pub(super) struct Matching<'a> {
    document: &'a Document,
    /// Selectors of `:has()` that are being asked around the current one.
    inside: Cell<usize>,
    /// What `:has()` in `:has()` found, by selector and node: asked again for each node around, it would take the
    /// depth of the tree to the power of the selectors'.
    known: RefCell<HashMap<(*const Selector, NodeId), bool>>,
    /// Nodes looked at.
    steps: Cell<u32>,
    /// The host does not want the search to go on: nothing matches any more.
    is_ended: Cell<bool>,
}

/// What a node that does not match says about others that could take its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Matched,
    /// The next of the same combinator may match.
    TrySibling,
    /// No sibling will, but something further up may.
    TryAncestor,
    /// None will.
    Never,
}

impl<'a> Matching<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self {
            document,
            inside: Cell::new(0),
            known: RefCell::default(),
            steps: Cell::new(0),
            is_ended: Cell::new(false),
        }
    }

    /// Counts a node that is looked at, and says whether to look at more.
    pub(super) fn goes_on(&self) -> bool {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(STEPS_ASKED) && !(self.document.go_on)() {
            self.is_ended.set(true);
        }
        !self.is_ended.get()
    }

    pub(super) fn holds(&self, selector: &Selector, node: NodeId) -> bool {
        selector
            .alternatives
            .iter()
            .any(|complex| self.complex(&complex.last, &complex.before, node) == Outcome::Matched)
    }

    /// Whether a node matches a compound, and others what stands before it. Recurses over combinators, which the text
    /// bounds.
    ///
    /// A failure says how far back to go, as in browsers: trying all ways to spread `a b c d` over the ancestors of a
    /// node would take their number to the power of the compounds.
    fn complex(&self, last: &Compound, before: &[(Combinator, Compound)], node: NodeId) -> Outcome {
        if !self.goes_on() {
            return Outcome::Never;
        }
        if !self.compound(last, node) {
            return Outcome::TrySibling;
        }
        let Some(((combinator, part), rest)) = before.split_first() else { return Outcome::Matched };
        let document = self.document;
        let at = |node: NodeId| self.complex(part, rest, node);
        match combinator {
            Combinator::Descendant => {
                for ancestor in document.ancestors(node) {
                    let outcome = at(ancestor);
                    if matches!(outcome, Outcome::Matched | Outcome::Never) {
                        return outcome;
                    }
                }
                Outcome::Never
            }
            Combinator::Child => match document.parent(node).map(at) {
                None | Some(Outcome::Never) => Outcome::Never,
                Some(Outcome::Matched) => Outcome::Matched,
                Some(Outcome::TrySibling | Outcome::TryAncestor) => Outcome::TryAncestor,
            },
            Combinator::Adjacent => document
                .preceding(node)
                .find(|other| !matches!(document.kind(*other), NodeKind::Text(_) | NodeKind::Comment(_)))
                .map_or(Outcome::TryAncestor, at),
            Combinator::Sibling => {
                for sibling in document.preceding(node) {
                    let outcome = at(sibling);
                    if outcome != Outcome::TrySibling {
                        return outcome;
                    }
                }
                Outcome::TryAncestor
            }
        }
    }

    fn compound(&self, Compound(parts): &Compound, node: NodeId) -> bool {
        if parts.is_empty() { self.document.is_element(node) } else { parts.iter().all(|part| self.simple(part, node)) }
    }

    fn simple(&self, part: &Simple, node: NodeId) -> bool {
        let document = self.document;
        match part {
            Simple::Tag(name) => document.tag(node) == name && document.is_element(node),
            Simple::Id(id) => any_value(document, node, "id", |value| value == id),
            Simple::Class(class) => {
                any_value(document, node, "class", |value| value.split(is_blank).any(|word| word == class))
            }
            Simple::Attribute { name, test, ignore_case } => attribute(document, node, name, test, *ignore_case),
            Simple::Not(selector) => document.is_element(node) && !self.holds(selector, node),
            Simple::Has(selector) => document.is_element(node) && self.has(selector, node),
            Simple::HasChild(selector) => {
                document.is_element(node) && document.children(node).any(|child| self.holds(selector, child))
            }
            // k6: these match texts and the like, too.
            Simple::Contains { text, own } => folded(&pseudo::text(document, node, *own)).contains(text.as_str()),
            Simple::Matches { regex, own } => regex.is_match(&pseudo::text(document, node, *own)),
            Simple::Lang(lang) => std::iter::once(node).chain(document.ancestors(node)).any(|node| {
                document
                    .attribute(node, "lang")
                    .and_then(|value| value.strip_prefix(lang.as_str()))
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            }),
            Simple::Nth { a, b, from_end, of_type } => {
                document.is_element(node) && pseudo::nth(self, document, node, (*a, *b), *from_end, *of_type)
            }
            Simple::Only { of_type } => {
                document.is_element(node)
                    && pseudo::nth(self, document, node, (0, 1), false, *of_type)
                    && pseudo::nth(self, document, node, (0, 1), true, *of_type)
            }
            Simple::Plain(plain) => document.is_element(node) && pseudo::plain(self, document, node, *plain),
        }
    }

    fn has(&self, selector: &Selector, node: NodeId) -> bool {
        let inside = self.inside.get();
        let key = (std::ptr::from_ref(selector), node);
        if inside > 0
            && let Some(known) = self.known.borrow().get(&key)
        {
            return *known;
        }
        self.inside.set(inside + 1);
        let mut inner = self.document.descendants(node).take_while(|_| !self.is_ended.get());
        let found = inner.any(|inner| self.holds(selector, inner));
        self.inside.set(inside);
        let mut known = self.known.borrow_mut();
        if inside > 0 && known.len() < KNOWN_MAX {
            known.insert(key, found);
        }
        found
    }
}

fn any_value(document: &Document, node: NodeId, name: &str, test: impl Fn(&str) -> bool) -> bool {
    document.attributes(node).iter().any(|attribute| &*attribute.name == name && test(&attribute.value))
}

fn attribute(document: &Document, node: NodeId, name: &str, test: &Test, ignore_case: bool) -> bool {
    let holds = |value: &str| match test {
        Test::Exists => true,
        Test::Equals(wanted) | Test::Differs(wanted) => value == wanted,
        Test::HasWord(wanted) => value.split(is_blank).any(|word| word == wanted && !word.is_empty()),
        Test::HasPart(wanted) => {
            value.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }
        Test::Begins(wanted) => value.starts_with(wanted.as_str()),
        Test::Ends(wanted) => value.ends_with(wanted.as_str()),
        Test::Contains(wanted) => value.contains(wanted.as_str()),
        Test::Matches(regex) => regex.is_match(value),
    };
    let found = any_value(document, node, name, |value| if ignore_case { holds(&folded(value)) } else { holds(value) });
    if matches!(test, Test::Differs(_)) { document.is_element(node) && !found } else { found }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0c')
}

/// Nodes between two questions whether to go on.
const STEPS_ASKED: u32 = 1024;
/// Answers that are kept, some 32 MiB: 16 questions about a page of 60,000 elements. Beyond them it takes longer.
const KNOWN_MAX: usize = 1 << 20;
