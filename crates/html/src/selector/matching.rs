//! Whether a node matches.

use super::{Combinator, Complex, Compound, Selector, Simple, Test, pseudo};
use crate::{Document, NodeId, NodeKind};

pub(super) fn complex(document: &Document, selector: &Complex, node: NodeId) -> bool {
    compound(document, &selector.last, node) && before(document, &selector.before, node)
}

/// Whether what stands before a matched compound is there, too. Recurses over combinators, which the text bounds.
fn before(document: &Document, parts: &[(Combinator, Compound)], node: NodeId) -> bool {
    let Some(((combinator, part), rest)) = parts.split_first() else { return true };
    let fits = |node: NodeId| compound(document, part, node) && before(document, rest, node);
    match combinator {
        Combinator::Descendant => document.ancestors(node).any(fits),
        Combinator::Child => document.parent(node).is_some_and(fits),
        Combinator::Adjacent => document
            .preceding(node)
            .find(|other| !matches!(document.kind(*other), NodeKind::Text(_) | NodeKind::Comment(_)))
            .is_some_and(fits),
        Combinator::Sibling => document.preceding(node).any(fits),
    }
}

fn compound(document: &Document, Compound(parts): &Compound, node: NodeId) -> bool {
    if parts.is_empty() { document.is_element(node) } else { parts.iter().all(|part| simple(document, part, node)) }
}

fn simple(document: &Document, part: &Simple, node: NodeId) -> bool {
    match part {
        Simple::Tag(name) => document.tag(node) == name && document.is_element(node),
        Simple::Id(id) => any_value(document, node, "id", |value| value == id),
        Simple::Class(class) => {
            any_value(document, node, "class", |value| value.split(is_blank).any(|word| word == class))
        }
        Simple::Attribute { name, test, ignore_case } => attribute(document, node, name, test, *ignore_case),
        Simple::Not(selector) => document.is_element(node) && !selector.matches(document, node),
        Simple::Has(selector) => document.is_element(node) && any(document, selector, document.descendants(node)),
        Simple::HasChild(selector) => document.is_element(node) && any(document, selector, document.children(node)),
        // k6: these match texts and the like, too.
        Simple::Contains { text, own } => pseudo::text(document, node, *own).to_lowercase().contains(text.as_str()),
        Simple::Matches { regex, own } => regex.is_match(&pseudo::text(document, node, *own)),
        Simple::Lang(lang) => std::iter::once(node).chain(document.ancestors(node)).any(|node| {
            document
                .attribute(node, "lang")
                .and_then(|value| value.strip_prefix(lang.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }),
        Simple::Nth { a, b, from_end, of_type } => {
            document.is_element(node) && pseudo::nth(document, node, (*a, *b), *from_end, *of_type)
        }
        Simple::Only { of_type } => {
            document.is_element(node)
                && pseudo::nth(document, node, (0, 1), false, *of_type)
                && pseudo::nth(document, node, (0, 1), true, *of_type)
        }
        Simple::Plain(plain) => document.is_element(node) && pseudo::plain(document, node, *plain),
    }
}

fn any(document: &Document, selector: &Selector, mut nodes: impl Iterator<Item = NodeId>) -> bool {
    nodes.any(|node| selector.matches(document, node))
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
    let found =
        any_value(document, node, name, |value| if ignore_case { holds(&value.to_lowercase()) } else { holds(value) });
    if matches!(test, Test::Differs(_)) { document.is_element(node) && !found } else { found }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0c')
}
