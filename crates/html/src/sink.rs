//! Where html5ever's tree builder puts the tree: our arena.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
};

use html5ever::{
    Attribute as Parsed, LocalName, Namespace as Uri, QualName, ns,
    tendril::StrTendril,
    tree_builder::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink},
};

use crate::{
    Limits, ParseError,
    node::{Attribute, Namespace, Node, NodeId, NodeKind},
    parse::Tree,
};

/// The arena while it grows.
pub(crate) struct Sink {
    nodes: RefCell<Vec<Node>>,
    bytes: Cell<usize>,
    /// The stack of open elements is not ours to see: its height is that of the deepest node put into the tree.
    depth: Cell<usize>,
    limits: Limits,
}

impl Sink {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            nodes: RefCell::new(vec![Node::new(NodeKind::Document)]),
            bytes: Cell::new(size_of::<Node>()),
            depth: Cell::new(0),
            limits: limits.clone(),
        }
    }

    /// The limit that was hit.
    pub(crate) fn error(&self) -> Option<ParseError> {
        if self.depth.get() > self.limits.depth {
            Some(ParseError::Depth(self.limits.depth))
        } else if self.bytes.get() > self.limits.bytes {
            Some(ParseError::Bytes(self.limits.bytes))
        } else {
            None
        }
    }

    pub(crate) fn take(&self) -> Tree {
        let mut nodes = self.nodes.take();
        nodes.shrink_to_fit();
        Tree { nodes, bytes: self.bytes.get() }
    }

    fn add(&self, kind: NodeKind, payload: usize) -> NodeId {
        self.grow(size_of::<Node>() + payload);
        let mut nodes = self.nodes.borrow_mut();
        // The limit on bytes is far below 2^32 nodes.
        let id = NodeId(nodes.len() as u32);
        nodes.push(Node::new(kind));
        id
    }

    fn grow(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_add(bytes));
    }

    fn convert(&self, attributes: Vec<Parsed>) -> Box<[Attribute]> {
        let converted: Vec<Attribute> = attributes
            .into_iter()
            .map(|attribute| Attribute {
                namespace: Namespace::of(&attribute.name.ns),
                name: attribute.name.local,
                value: (&*attribute.value).into(),
            })
            .collect();
        converted.into()
    }

    /// Text goes to the end of the text before it, if there is one.
    fn join_text(&self, before: Option<NodeId>, text: &str) -> bool {
        let Some(before) = before else { return false };
        match &mut self.nodes.borrow_mut()[before.index()].kind {
            NodeKind::Text(existing) => {
                existing.push_str(text);
                self.grow(text.len());
                true
            }
            _ => false,
        }
    }

    fn text(&self, text: &str) -> NodeId {
        self.add(NodeKind::Text(text.to_owned()), text.len())
    }

    fn detach(&self, id: NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        let node = &mut nodes[id.index()];
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        match (previous, parent) {
            (Some(previous), _) => nodes[previous.index()].next = next,
            (None, Some(parent)) => nodes[parent.index()].first = next,
            (None, None) => {}
        }
        match (next, parent) {
            (Some(next), _) => nodes[next.index()].previous = previous,
            (None, Some(parent)) => nodes[parent.index()].last = previous,
            (None, None) => {}
        }
    }

    /// Links a detached node into `parent`, before `next` or at the end.
    fn link(&self, parent: NodeId, next: Option<NodeId>, id: NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        let previous = match next {
            Some(next) => nodes[next.index()].previous,
            None => nodes[parent.index()].last,
        };
        let node = &mut nodes[id.index()];
        (node.parent, node.previous, node.next) = (Some(parent), previous, next);
        match previous {
            Some(previous) => nodes[previous.index()].next = Some(id),
            None => nodes[parent.index()].first = Some(id),
        }
        match next {
            Some(next) => nodes[next.index()].previous = Some(id),
            None => nodes[parent.index()].last = Some(id),
        }
        if matches!(nodes[id.index()].kind, NodeKind::Element { .. }) {
            let mut depth = 0;
            let mut above = Some(id);
            // Bounded: parsing ends soon after the limit.
            while let Some(node) = above {
                depth += 1;
                above = nodes[node.index()].parent;
            }
            // The document is no element.
            self.depth.set(self.depth.get().max(depth - 1));
        }
    }

    fn insert(&self, parent: NodeId, next: Option<NodeId>, child: NodeOrText<NodeId>) {
        let id = match child {
            NodeOrText::AppendNode(id) => {
                self.detach(id);
                id
            }
            NodeOrText::AppendText(text) => {
                let before = {
                    let nodes = self.nodes.borrow();
                    match next {
                        Some(next) => nodes[next.index()].previous,
                        None => nodes[parent.index()].last,
                    }
                };
                if self.join_text(before, &text) {
                    return;
                }
                self.text(&text)
            }
        };
        self.link(parent, next, id);
    }
}

/// An element's name, copied out of the arena: both parts are atoms.
#[derive(Debug)]
pub(crate) struct Name {
    namespace: Uri,
    local: LocalName,
}

impl ElemName for Name {
    fn ns(&self) -> &Uri {
        &self.namespace
    }

    fn local_name(&self) -> &LocalName {
        &self.local
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = ();
    type ElemName<'a> = Name;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId::DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name {
        match &self.nodes.borrow()[target.index()].kind {
            NodeKind::Element { name, namespace, .. } => {
                let namespace = match namespace {
                    Namespace::Svg => ns!(svg),
                    Namespace::MathMl => ns!(mathml),
                    _ => ns!(html),
                };
                Name { namespace, local: name.clone() }
            }
            // Only elements are asked for their names.
            _ => Name { namespace: ns!(html), local: LocalName::default() },
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Parsed>, _: ElementFlags) -> NodeId {
        let attributes = self.convert(attributes);
        let payload = attributes.iter().map(|attribute| size_of::<Attribute>() + attribute.value.len()).sum();
        self.add(NodeKind::Element { namespace: Namespace::of(&name.ns), name: name.local, attributes }, payload)
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.add(NodeKind::Comment((&*text).into()), text.len())
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> NodeId {
        self.create_comment(data)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.insert(*parent, None, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        let parent = self.nodes.borrow()[element.index()].parent;
        match parent {
            Some(parent) => self.insert(parent, Some(*element), child),
            None => self.insert(*previous, None, child),
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        let payload = name.len() + public.len() + system.len();
        let kind = NodeKind::Doctype { name: (&*name).into(), public: (&*public).into(), system: (&*system).into() };
        let id = self.add(kind, payload);
        self.link(NodeId::DOCUMENT, None, id);
    }

    // k6: what is in a template is in the tree.
    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let parent = self.nodes.borrow()[sibling.index()].parent;
        if let Some(parent) = parent {
            self.insert(parent, Some(*sibling), child);
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Parsed>) {
        let added = self.convert(attributes);
        let mut nodes = self.nodes.borrow_mut();
        let NodeKind::Element { attributes, .. } = &mut nodes[target.index()].kind else { return };
        let mut all = std::mem::take(attributes).into_vec();
        for attribute in added {
            if !all.iter().any(|known| known.name == attribute.name) {
                self.grow(size_of::<Attribute>() + attribute.value.len());
                all.push(attribute);
            }
        }
        *attributes = all.into();
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        loop {
            let first = self.nodes.borrow()[node.index()].first;
            let Some(child) = first else { return };
            self.detach(child);
            self.link(*new_parent, None, child);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &NodeId) -> bool {
        let nodes = self.nodes.borrow();
        let NodeKind::Element { name, namespace: Namespace::MathMl, attributes } = &nodes[target.index()].kind else {
            return false;
        };
        let encoding = attributes.iter().find(|attribute| &*attribute.name == "encoding");
        &**name == "annotation-xml"
            && encoding.is_some_and(|encoding| {
                ["text/html", "application/xhtml+xml"].iter().any(|html| encoding.value.eq_ignore_ascii_case(html))
            })
    }

    fn allow_declarative_shadow_roots(&self, _: &NodeId) -> bool {
        false
    }
}
