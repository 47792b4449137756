//! Pseudo classes.

use super::{Plain, matching::Matching};
use crate::{Document, NodeId, NodeKind};

/// A node's text, or only that of its own text nodes.
pub(super) fn text(document: &Document, node: NodeId, own: bool) -> String {
    if !own {
        return document.text(node);
    }
    document
        .children(node)
        .filter_map(|child| match document.kind(child) {
            NodeKind::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Whether an element's number among its siblings is `a·n + b` for some n ≥ 0.
pub(super) fn nth(
    matching: &Matching<'_>,
    document: &Document,
    node: NodeId,
    (a, b): (i64, i64),
    from_end: bool,
    of_type: bool,
) -> bool {
    let counts = |other: &NodeId| {
        document.is_element(*other) && (!of_type || document.local_name(*other) == document.local_name(node))
    };
    // Where one number is asked for, counting ends soon after it.
    let enough = if a == 0 { usize::try_from(b).unwrap_or(0) } else { usize::MAX };
    let before = if from_end {
        document.following(node).take_while(|_| matching.goes_on()).filter(counts).take(enough).count()
    } else {
        document.preceding(node).take_while(|_| matching.goes_on()).filter(counts).take(enough).count()
    };
    let offset = before as i64 + 1 - b;
    if a == 0 { offset == 0 } else { offset % a == 0 && offset / a >= 0 }
}

pub(super) fn plain(matching: &Matching<'_>, document: &Document, node: NodeId, plain: Plain) -> bool {
    match plain {
        Plain::Input => document.is_tag(node, &["input", "select", "textarea", "button"]),
        Plain::Empty => document.children(node).all(|child| match document.kind(child) {
            NodeKind::Element { .. } => false,
            NodeKind::Text(text) => text.trim().is_empty(),
            _ => true,
        }),
        Plain::Root => document.parent(node) == Some(NodeId::DOCUMENT),
        Plain::Link => is_link(document, node),
        Plain::Enabled => {
            if document.is_tag(node, LINKS) {
                is_link(document, node)
            } else {
                document.is_tag(node, GROUPS) && !document.has_attribute(node, "disabled")
                    || document.is_tag(node, CONTROLS) && !is_disabled(matching, document, node)
            }
        }
        Plain::Disabled => {
            document.is_tag(node, GROUPS) && document.has_attribute(node, "disabled")
                || document.is_tag(node, CONTROLS) && is_disabled(matching, document, node)
        }
        Plain::Checked => match document.tag(node) {
            "input" => {
                matches!(document.attribute(node, "type"), Some("checkbox" | "radio"))
                    && document.has_attribute(node, "checked")
            }
            "option" => document.has_attribute(node, "selected"),
            _ => false,
        },
        Plain::Never => false,
    }
}

fn is_link(document: &Document, node: NodeId) -> bool {
    document.is_tag(node, LINKS) && document.has_attribute(node, "href")
}

/// By itself or through a fieldset, but in that fieldset's first legend.
fn is_disabled(matching: &Matching<'_>, document: &Document, node: NodeId) -> bool {
    if document.has_attribute(node, "disabled") {
        return true;
    }
    let mut inner = node;
    for outer in document.ancestors(node) {
        let is_legend = |node: NodeId| document.tag(node) == "legend";
        if document.tag(outer) == "fieldset"
            && document.has_attribute(outer, "disabled")
            && (!is_legend(inner) || document.preceding(inner).take_while(|_| matching.goes_on()).any(is_legend))
        {
            return true;
        }
        inner = outer;
    }
    false
}

const LINKS: &[&str] = &["a", "area", "link"];
const GROUPS: &[&str] = &["optgroup", "menuitem", "fieldset"];
const CONTROLS: &[&str] = &["button", "input", "select", "textarea", "option"];
