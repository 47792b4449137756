//! Sets of nodes and the ways from one to the next, as goquery has them.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    rc::Rc,
};

use crate::{
    Document, NodeId, Selector,
    account::{Account, Charge},
    selector::Matcher,
};

/// An ordered set of nodes of one document, and the selection it was made from.
#[derive(Debug)]
pub struct Selection {
    document: Rc<Document>,
    nodes: Vec<NodeId>,
    previous: Option<Rc<Self>>,
    _charge: Charge,
}

/// What decides whether a node is one of those meant.
#[derive(Debug)]
pub enum Chosen {
    /// Those that match; `None` is a text that is no selector: it matches nothing.
    Matching(Option<Selector>),
    /// These. Nodes of other documents are none of this one's.
    Nodes(Vec<NodeId>),
}

impl Chosen {
    /// By a selector's text.
    pub fn selector(text: &str) -> Self {
        Self::Matching(Selector::parse(text).ok())
    }

    fn ready<'a>(&'a self, document: &'a Document) -> Ready<'a> {
        match self {
            Self::Matching(selector) => Ready::Matching(selector.as_ref().map(|selector| selector.matcher(document))),
            Self::Nodes(nodes) => Ready::Nodes(nodes.iter().copied().collect()),
        }
    }
}

/// What was chosen, ready to be asked about many nodes.
enum Ready<'a> {
    Matching(Option<Matcher<'a>>),
    Nodes(HashSet<NodeId>),
}

impl Ready<'_> {
    fn holds(&self, node: NodeId) -> bool {
        match self {
            Self::Matching(matcher) => matcher.as_ref().is_some_and(|matcher| matcher.matches(node)),
            Self::Nodes(nodes) => nodes.contains(&node),
        }
    }
}

/// Where to go from each node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Elements in it.
    Children,
    /// All nodes in it.
    Contents,
    /// The element it is in.
    Parent,
    /// All elements it is in, nearest first.
    Parents,
    /// The next element.
    Next,
    /// All elements after it.
    NextAll,
    /// The element before it.
    Previous,
    /// All elements before it, nearest first.
    PreviousAll,
    /// The other elements beside it.
    Siblings,
}

impl Selection {
    /// The document node.
    pub fn of_document(document: &Rc<Document>) -> Self {
        Self::new(document, vec![NodeId::DOCUMENT], None)
    }

    /// One node, with nothing before it.
    pub fn of_node(document: &Rc<Document>, node: NodeId) -> Self {
        Self::new(document, vec![node], None)
    }

    fn new(document: &Rc<Document>, nodes: Vec<NodeId>, previous: Option<Rc<Self>>) -> Self {
        let charge = document.account().charge(size_of::<Self>() + nodes.len() * size_of::<NodeId>());
        Self { document: document.clone(), nodes, previous, _charge: charge }
    }

    fn empty(&self) -> Self {
        Self::new(&self.document, Vec::new(), None)
    }

    /// Other nodes, made from this selection: `end()` of them is this.
    pub fn push(self: &Rc<Self>, nodes: Vec<NodeId>) -> Self {
        Self::new(&self.document, nodes, Some(self.clone()))
    }

    /// The document all nodes are of.
    pub fn document(&self) -> &Rc<Document> {
        &self.document
    }

    /// The account of its document.
    pub fn account(&self) -> &Account {
        self.document.account()
    }

    /// The nodes, in order.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The first node.
    pub fn first(&self) -> Option<NodeId> {
        self.nodes.first().copied()
    }

    /// The selection this one was made from; an empty one if there is none.
    pub fn end(&self) -> Rc<Self> {
        self.previous.clone().unwrap_or_else(|| Rc::new(self.empty()))
    }

    /// The nodes of another selection, as far as they are of this one's document.
    pub fn common(&self, other: &Self) -> Vec<NodeId> {
        if Rc::ptr_eq(&self.document, &other.document) { other.nodes.clone() } else { Vec::new() }
    }

    /// Elements that match a selector, in these nodes.
    pub fn find(self, selector: &str) -> Rc<Self> {
        Rc::new(Rc::new(self).find_chosen(&Chosen::selector(selector)))
    }

    /// Those chosen that are in these nodes.
    pub fn find_chosen(self: &Rc<Self>, chosen: &Chosen) -> Self {
        let document = &*self.document;
        let mut found = Ordered::default();
        match chosen {
            Chosen::Matching(None) => {}
            Chosen::Matching(Some(selector)) => {
                let matcher = selector.matcher(document);
                for child in self.nodes.iter().flat_map(|node| document.element_children(*node)) {
                    let inside = std::iter::once(child).chain(document.descendants(child));
                    found.extend(inside.filter(|node| matcher.matches(*node)));
                }
            }
            Chosen::Nodes(nodes) => {
                let own: HashSet<NodeId> = self.nodes.iter().copied().collect();
                let inside = |node: &NodeId| document.ancestors(*node).any(|parent| own.contains(&parent));
                found.extend(nodes.iter().copied().filter(inside));
            }
        }
        self.push(found.nodes)
    }

    /// All elements of the document that match.
    fn all(&self, selector: &Selector) -> Vec<NodeId> {
        let document = &*self.document;
        let matcher = selector.matcher(document);
        document.descendants(NodeId::DOCUMENT).filter(|node| matcher.matches(*node)).collect()
    }

    /// These nodes, then those of the document that are chosen and not yet here.
    pub fn add(self: &Rc<Self>, chosen: &Chosen) -> Self {
        let mut nodes = Ordered::default();
        nodes.extend(self.nodes.iter().copied());
        match chosen {
            Chosen::Matching(Some(selector)) => nodes.extend(self.all(selector).into_iter()),
            Chosen::Matching(None) => {}
            Chosen::Nodes(chosen) => nodes.extend(chosen.iter().copied()),
        }
        self.push(nodes.nodes)
    }

    /// The chosen ones among these.
    pub fn filter(self: &Rc<Self>, chosen: &Chosen) -> Self {
        let chosen = chosen.ready(&self.document);
        self.push(self.nodes.iter().copied().filter(|node| chosen.holds(*node)).collect())
    }

    /// These without the chosen ones.
    pub fn not(self: &Rc<Self>, chosen: &Chosen) -> Self {
        let chosen = chosen.ready(&self.document);
        self.push(self.nodes.iter().copied().filter(|node| !chosen.holds(*node)).collect())
    }

    /// Whether one of these is chosen.
    pub fn is(&self, chosen: &Chosen) -> bool {
        let chosen = chosen.ready(&self.document);
        self.nodes.iter().any(|node| chosen.holds(*node))
    }

    /// Those of these that a chosen node is in.
    pub fn has(self: &Rc<Self>, chosen: &Chosen) -> Self {
        let document = &*self.document;
        let inner = match chosen {
            Chosen::Matching(Some(selector)) => self.all(selector),
            Chosen::Matching(None) => Vec::new(),
            Chosen::Nodes(nodes) => nodes.clone(),
        };
        let around: HashSet<NodeId> = inner.iter().flat_map(|node| document.ancestors(*node)).collect();
        self.push(self.nodes.iter().copied().filter(|node| around.contains(node)).collect())
    }

    /// For each node the nearest that is chosen, beginning with the node itself.
    pub fn closest(self: &Rc<Self>, chosen: &Chosen) -> Self {
        let (document, chosen) = (&*self.document, chosen.ready(&self.document));
        let mut found = Ordered::default();
        for node in &self.nodes {
            let mut path = std::iter::once(*node).chain(document.ancestors(*node));
            found.extend(path.find(|node| chosen.holds(*node)).into_iter());
        }
        self.push(found.nodes)
    }

    /// From each node to others, each of which is there once; with `filter` only the chosen ones.
    pub fn step(self: &Rc<Self>, step: Step, filter: Option<&Chosen>) -> Self {
        self.walk(step, None, filter)
    }

    /// As [`Selection::step`], but each node's way ends before a node that is chosen by `until`.
    pub fn walk(self: &Rc<Self>, step: Step, until: Option<&Chosen>, filter: Option<&Chosen>) -> Self {
        let document = &*self.document;
        let (until, filter) = (until.map(|until| until.ready(document)), filter.map(|filter| filter.ready(document)));
        let goes_on = |node: &NodeId| !until.as_ref().is_some_and(|until| until.holds(*node));
        let is_element = |node: &NodeId| document.is_element(*node);
        let mut found = Ordered::default();
        // Whose children are all there, but for the one they were found from.
        let mut families: HashMap<NodeId, NodeId> = HashMap::new();
        for node in &self.nodes {
            let node = *node;
            match step {
                Step::Children => found.extend(document.element_children(node)),
                Step::Contents => found.extend(document.children(node)),
                Step::Parent => found.extend(document.parent(node).into_iter().filter(is_element)),
                Step::Next => found.extend(document.following(node).find(is_element).into_iter()),
                Step::Previous => found.extend(document.preceding(node).find(is_element).into_iter()),
                Step::Parents => found.follow(document.ancestors(node).filter(is_element).take_while(goes_on)),
                Step::NextAll => found.follow(document.following(node).filter(is_element).take_while(goes_on)),
                Step::PreviousAll => found.follow(document.preceding(node).filter(is_element).take_while(goes_on)),
                Step::Siblings => {
                    let Some(parent) = document.parent(node) else { continue };
                    match families.entry(parent) {
                        Entry::Occupied(first) => {
                            let first = *first.get();
                            found.extend((first != node && document.is_element(first)).then_some(first).into_iter());
                        }
                        Entry::Vacant(place) => {
                            place.insert(node);
                            found.extend(document.element_children(parent).filter(|other| *other != node));
                        }
                    }
                }
            }
        }
        let chosen = |node: &NodeId| filter.as_ref().is_none_or(|filter| filter.holds(*node));
        self.push(found.nodes.into_iter().filter(chosen).collect())
    }

    /// One of these, from the end if the index is negative; without one an empty selection that comes from nowhere.
    pub fn at(self: &Rc<Self>, index: i64) -> Self {
        match self.offset(index).and_then(|index| self.nodes.get(index)) {
            Some(node) => self.push(vec![*node]),
            None => self.empty(),
        }
    }

    fn offset(&self, index: i64) -> Option<usize> {
        let index = if index < 0 { index + self.nodes.len() as i64 } else { index };
        usize::try_from(index).ok()
    }

    /// A run of these; negative places count from the end, and what lies outside is left out.
    pub fn slice(self: &Rc<Self>, start: i64, end: Option<i64>) -> Self {
        let length = self.nodes.len();
        let place = |index: i64| self.offset(index).unwrap_or(0).min(length);
        let (start, end) = (place(start), end.map_or(length, place));
        self.push(self.nodes.get(start..end).unwrap_or_default().to_vec())
    }

    /// The first node's number among the elements beside it.
    pub fn index(&self) -> Option<usize> {
        self.first().map(|node| self.document.preceding(node).filter(|node| self.document.is_element(*node)).count())
    }

    /// The first node's number among all of the document that match.
    pub fn index_in(&self, selector: &str) -> Option<usize> {
        let selector = Selector::parse(selector).ok()?;
        let first = self.first()?;
        self.all(&selector).iter().position(|node| *node == first)
    }

    /// The number of a node among these.
    pub fn position(&self, node: NodeId) -> Option<usize> {
        self.nodes.iter().position(|other| *other == node)
    }

    /// The texts of all nodes, put together.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for node in &self.nodes {
            self.document.append_text(*node, &mut out);
        }
        out
    }

    /// Markup of what is in the first node.
    pub fn html(&self) -> Option<String> {
        self.first().map(|node| self.document.inner_html(node))
    }

    /// An attribute of the first node.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.document.attribute(self.first()?, name)
    }
}

impl Drop for Selection {
    /// A chain of thousands is taken apart link by link: dropping it whole would recurse.
    fn drop(&mut self) {
        let mut next = self.previous.take();
        while let Some(mut selection) = next.and_then(Rc::into_inner) {
            next = selection.previous.take();
        }
    }
}

/// Nodes in the order they came, each once.
#[derive(Default)]
struct Ordered {
    nodes: Vec<NodeId>,
    seen: HashSet<NodeId>,
}

impl Ordered {
    fn extend(&mut self, nodes: impl Iterator<Item = NodeId>) {
        for node in nodes {
            if self.seen.insert(node) {
                self.nodes.push(node);
            }
        }
    }

    /// As `extend`, along a way that is the same from any of its nodes on: it ends at the first that is known, or long
    /// lists would cost the square of their length.
    fn follow(&mut self, nodes: impl Iterator<Item = NodeId>) {
        for node in nodes {
            if !self.seen.insert(node) {
                return;
            }
            self.nodes.push(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Account, Limits};

    const PAGE: &str =
        "<div id=a><p id=b>1</p>t<p id=c class=x>2<b id=d></b></p><!--c--><p id=e>3</p></div><p id=f>4</p>";

    fn page(account: &Account) -> Rc<Selection> {
        let document = Document::parse(PAGE, "", &Limits::default(), account).unwrap();
        Rc::new(Selection::of_document(&Rc::new(document)))
    }

    fn find(selector: &str) -> Rc<Selection> {
        Rc::new(page(&Account::default()).find_chosen(&Chosen::selector(selector)))
    }

    fn check(selection: &Selection, expect: &str) {
        let ids: Vec<&str> =
            selection.nodes().iter().map(|node| selection.document().attribute(*node, "id").unwrap_or("-")).collect();
        assert_eq!(ids.join(" "), expect);
    }

    #[test]
    fn steps() {
        check(&find("p").step(Step::Parent, None), "a -");
        check(&find("b").step(Step::Parents, None), "c a - -");
        check(&find("b").walk(Step::Parents, Some(&Chosen::selector("div")), None), "c");
        check(&find("#c").step(Step::Siblings, None), "b e");
        check(&find("#b").step(Step::NextAll, Some(&Chosen::selector(".x"))), "c");
        check(&find("#e").walk(Step::PreviousAll, Some(&Chosen::selector("#b")), None), "c");
        check(&find("#a").step(Step::Contents, None), "b - c - e");
    }

    #[test]
    fn sets() {
        check(&find("#e").add(&Chosen::selector("#b")), "e b");
        check(&find("p").not(&Chosen::selector(".x")), "b e f");
        check(&find("p, div").has(&Chosen::selector("b")), "a c");
        check(&find("b, p").closest(&Chosen::selector("div, p")), "b c e f");
        check(&find("p").slice(-2, None), "e f");
        check(&find("p").slice(2, Some(1)), "");
        check(&find("p").at(-1), "f");
        check(&find("p").at(9), "");
        check(&find("p").at(9).end(), "");
        check(&find("p").at(1).end(), "b c e f");
        assert_eq!(find("#e").index(), Some(2));
        assert_eq!(find("#e").index_in("p"), Some(2));
    }

    #[test]
    fn long_lists_take_no_time() {
        let markup = "<i></i>".repeat(100_000);
        let document = Rc::new(Document::parse(&markup, "", &Limits::default(), &Account::default()).unwrap());
        let all = Selection::of_document(&document).find("i");
        assert_eq!(all.step(Step::Siblings, None).len(), 100_000);
        assert_eq!(all.step(Step::NextAll, None).len(), 99_999);
        assert_eq!(all.step(Step::PreviousAll, None).len(), 99_999);
        assert_eq!(all.not(&Chosen::Nodes(all.nodes().to_vec())).len(), 0);
        assert_eq!(Selection::of_document(&document).find("i:first-child, i:last-child").len(), 2);
    }

    #[test]
    fn long_chains_are_counted_and_dropped() {
        let account = Account::default();
        let mut selection = page(&account);
        let before = account.bytes();
        for _ in 0..200_000 {
            selection = Rc::new(selection.at(0));
        }
        assert!(account.bytes() > before + 200_000 * 16);
        drop(selection);
        assert_eq!(account.bytes(), 0);
    }
}
