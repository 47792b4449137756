//! The entries of the fuzz targets: pages and selectors from anywhere.

use std::{collections::HashSet, rc::Rc};

use crate::{Account, Chosen, Class, Document, Limits, NodeId, Selection, Selector, parse};

/// Parses a page: the first character says in what pieces it is handed over.
///
/// Panics are findings; so are another tree in pieces than in one go, links between nodes that disagree, memory that
/// stays counted, and controls of forms that are sent twice.
pub fn fuzz_document(text: &str) {
    let mut letters = text.chars();
    let step = letters.next().map_or(1, |letter| letter as usize % 64 + 1);
    let text = letters.as_str();
    let account = Account::default();
    // Small, so that small pages reach them.
    let limits = Limits { depth: 64, bytes: 1 << 20, ..Limits::default() };
    let whole = Document::parse(text, "http://h/", &limits, &account);
    let pieces = parse::in_pieces(text, step, &limits).map(|tree| Document::of_tree(tree, "", &account, limits.go_on));
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => {
            assert_eq!(whole.nodes.len(), pieces.nodes.len(), "in pieces of {step}");
            let markup = whole.inner_html(NodeId::DOCUMENT);
            assert_eq!(markup, pieces.inner_html(NodeId::DOCUMENT), "in pieces of {step}");
            check_links(&whole, limits.depth);
            check_accessors(&whole);
            check_forms(Rc::new(whole));
        }
        (whole, pieces) => assert_eq!(whole.err(), pieces.err(), "in pieces of {step}"),
    }
    assert_eq!(account.bytes(), 0, "all is given back");
}

/// What links say from both ends, and how many nodes there are.
fn check_links(document: &Document, depth_max: usize) {
    let mut seen = 0;
    for node in std::iter::once(NodeId::DOCUMENT).chain(document.descendants(NodeId::DOCUMENT)) {
        seen += 1;
        assert!(seen <= document.nodes.len(), "a node is there twice");
        let mut previous = None;
        for child in document.children(node) {
            assert_eq!(document.parent(child), Some(node));
            assert_eq!(document.preceding(child).next(), previous);
            previous = Some(child);
        }
        assert_eq!(document.last_child(node), previous);
        let depth = document.ancestors(node).filter(|node| document.is_element(*node)).count();
        assert!(depth <= depth_max, "{depth} elements around a node");
        assert!(!document.contains(node, node), "a node is in itself");
    }
}

fn check_accessors(document: &Document) {
    for node in document.descendants(NodeId::DOCUMENT) {
        if let Some((_, class)) = Class::of(document.tag(node)) {
            for accessor in class.accessors() {
                let _ = accessor.value(document, node);
            }
        }
        let _ = document.data(node);
    }
}

fn check_forms(document: Rc<Document>) {
    let page = Selection::of_document(&document);
    let controls = page.find("input, select, textarea, keygen");
    let sent = Selection::of_document(&document).find("form").fields();
    assert!(sent.len() <= controls.len(), "{} fields of {} controls", sent.len(), controls.len());
    assert!(sent.iter().all(|field| !field.name.is_empty()));
    let by_name = Selection::of_document(&document).find("form").fields_by_name();
    for (name, value) in &by_name {
        let last = sent.iter().rfind(|field| field.name == *name).map(|field| &field.value);
        assert_eq!(last, Some(value), "the last field of a name counts");
    }
    assert!(sent.iter().all(|field| by_name.contains_key(&field.name)));
    let bare = controls.fields();
    assert!(sent.iter().all(|field| bare.contains(field)), "a form sends what its controls hold");
}

/// Asks a page with a selector: the first line is the selector, the rest the page.
///
/// Panics are findings; so are nodes found twice or out of order, and answers of `find`, `filter`, `not`, `is` and of
/// the selector in a longer one that contradict each other.
pub fn fuzz_selector(text: &str) {
    let (selector, page) = text.split_once('\n').unwrap_or((text, ""));
    let limits = Limits { depth: 64, bytes: 1 << 20, ..Limits::default() };
    let Ok(document) = Document::parse(page, "", &limits, &Account::default()) else { return };
    let document = Rc::new(document);
    let parsed = match Selector::parse(selector) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!((1..=selector.len() + 1).contains(&error.position), "{error}");
            assert!(Selection::of_document(&document).find(selector).is_empty());
            return;
        }
    };
    let everything = Selection::of_document(&document).find("*");
    let found = Selection::of_document(&document).find(selector);
    let places: Vec<usize> = places(&document, found.nodes());
    assert!(places.is_sorted_by(|one, next| one < next), "found twice or out of order: {places:?}");
    let found: HashSet<NodeId> = found.nodes().iter().copied().collect();
    let chosen = Chosen::selector(selector);
    let (kept, left) = (everything.filter(&chosen), everything.not(&chosen));
    assert_eq!(kept.len() + left.len(), everything.len());
    assert_eq!(everything.is(&chosen), !kept.is_empty());
    let (other, more) = (Selector::parse(&format!(":not({selector})")), Selector::parse(&format!("{selector}, *")));
    for &node in everything.nodes() {
        let is_found = found.contains(&node);
        assert_eq!(parsed.matches(&document, node), is_found);
        assert_eq!(kept.position(node).is_some(), is_found);
        // It may be nested too deeply in there.
        if let Ok(other) = &other {
            assert_eq!(other.matches(&document, node), !is_found, ":not({selector})");
        }
        if let Ok(more) = &more {
            assert!(more.matches(&document, node), "{selector}, *");
        }
    }
}

/// The numbers of nodes in the order of the text.
fn places(document: &Document, nodes: &[NodeId]) -> Vec<usize> {
    let place = |node: &NodeId| document.descendants(NodeId::DOCUMENT).position(|other| other == *node);
    nodes.iter().filter_map(place).collect()
}
