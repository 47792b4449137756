//! A document: an arena of nodes and the ways through it.

use html5ever::LocalName;

use crate::{
    Account, Limits, ParseError,
    account::Charge,
    node::{Attribute, Namespace, Node, NodeId, NodeKind},
    parse, render,
};

/// A parsed document. Its nodes never change.
#[derive(Debug)]
pub struct Document {
    pub(crate) nodes: Vec<Node>,
    url: Box<str>,
    charge: Charge,
    /// See [`Limits::go_on`].
    pub(crate) go_on: fn() -> bool,
}

impl Document {
    /// Parses a whole page, as a browser with scripting would: whatever the text is, there is a tree.
    ///
    /// `url` is where the page came from; what the document holds is added to `account` while it lives.
    ///
    /// # Errors
    /// Elements nested more deeply, or a document that takes more memory, than `limits` allow.
    pub fn parse(text: &str, url: &str, limits: &Limits, account: &Account) -> Result<Self, ParseError> {
        Ok(Self::of_tree(parse::parse(text, limits)?, url, account, limits.go_on))
    }

    pub(crate) fn of_tree(tree: parse::Tree, url: &str, account: &Account, go_on: fn() -> bool) -> Self {
        let charge = account.charge(tree.bytes + url.len());
        Self { nodes: tree.nodes, url: url.into(), charge, go_on }
    }

    /// Where the page came from; empty for a text.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn account(&self) -> &Account {
        self.charge.account()
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// What a node is.
    pub fn kind(&self, id: NodeId) -> &NodeKind {
        &self.node(id).kind
    }

    /// Whether a node is an element.
    pub fn is_element(&self, id: NodeId) -> bool {
        matches!(self.kind(id), NodeKind::Element { .. })
    }

    pub(crate) fn local_name(&self, id: NodeId) -> Option<&LocalName> {
        match self.kind(id) {
            NodeKind::Element { name, .. } => Some(name),
            _ => None,
        }
    }

    /// An element's name; empty for other nodes.
    pub fn tag(&self, id: NodeId) -> &str {
        self.local_name(id).map_or("", |name| name)
    }

    /// Whether a node is an element of one of these names.
    pub(crate) fn is_tag(&self, id: NodeId, tags: &[&str]) -> bool {
        self.local_name(id).is_some_and(|name| tags.contains(&&**name))
    }

    /// The vocabulary an element is from.
    pub fn namespace(&self, id: NodeId) -> Namespace {
        match self.kind(id) {
            NodeKind::Element { namespace, .. } => *namespace,
            _ => Namespace::Html,
        }
    }

    /// An element's attributes; none for other nodes.
    pub fn attributes(&self, id: NodeId) -> &[Attribute] {
        match self.kind(id) {
            NodeKind::Element { attributes, .. } => attributes,
            _ => &[],
        }
    }

    /// The value of an attribute, by its name without prefix, in the case it was stored.
    pub fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        self.attributes(id).iter().find(|attribute| &*attribute.name == name).map(|attribute| &*attribute.value)
    }

    /// The same, or an empty text.
    pub(crate) fn attribute_or_empty(&self, id: NodeId, name: &str) -> &str {
        self.attribute(id, name).unwrap_or_default()
    }

    pub(crate) fn has_attribute(&self, id: NodeId, name: &str) -> bool {
        self.attribute(id, name).is_some()
    }

    /// The node this one is in.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    /// The nodes in a node, first to last.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.node(id).first, |node| self.node(*node).next)
    }

    /// The elements in a node, first to last.
    pub fn element_children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.children(id).filter(|node| self.is_element(*node))
    }

    /// The last node in a node.
    pub fn last_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).last
    }

    /// The nodes after a node, nearest first.
    pub fn following(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.node(id).next, |node| self.node(*node).next)
    }

    /// The nodes before a node, nearest first.
    pub fn preceding(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.node(id).previous, |node| self.node(*node).previous)
    }

    /// What a node is in, nearest first, the document node included.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |node| self.parent(*node))
    }

    /// Everything in a node, in the order of the text.
    pub fn descendants(&self, root: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.node(root).first, move |node| self.next_in(root, *node))
    }

    /// The node after `node` in the order of the text, as long as it is in `root`.
    fn next_in(&self, root: NodeId, node: NodeId) -> Option<NodeId> {
        if let Some(child) = self.node(node).first {
            return Some(child);
        }
        let mut node = node;
        while node != root {
            if let Some(next) = self.node(node).next {
                return Some(next);
            }
            node = self.parent(node)?;
        }
        None
    }

    /// Whether `node` is somewhere in `ancestor`; a node is not in itself.
    pub fn contains(&self, ancestor: NodeId, node: NodeId) -> bool {
        self.ancestors(node).any(|parent| parent == ancestor)
    }

    /// The texts in a node, put together. Comments are none.
    pub fn text(&self, id: NodeId) -> String {
        let mut out = String::new();
        self.append_text(id, &mut out);
        out
    }

    pub(crate) fn append_text(&self, id: NodeId, out: &mut String) {
        if let NodeKind::Text(text) = self.kind(id) {
            out.push_str(text);
        }
        for node in self.descendants(id) {
            if let NodeKind::Text(text) = self.kind(node) {
                out.push_str(text);
            }
        }
    }

    /// Markup of what is in a node, as Go writes it.
    pub fn inner_html(&self, id: NodeId) -> String {
        let mut out = String::new();
        for child in self.children(id) {
            render::render(self, child, &mut out);
        }
        out
    }

    /// The first element with this `id` attribute.
    pub(crate) fn by_id(&self, id: &str) -> Option<NodeId> {
        self.descendants(NodeId::DOCUMENT).find(|node| self.attribute(*node, "id") == Some(id))
    }
}
