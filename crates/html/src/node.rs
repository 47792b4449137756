//! Nodes of a document's arena.

use html5ever::{LocalName, Namespace as Uri, ns};

/// A node of one document: its place in the arena. The document node is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The document node.
    pub const DOCUMENT: Self = Self(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node, linked to its neighbours.
#[derive(Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    pub(crate) parent: Option<NodeId>,
    pub(crate) first: Option<NodeId>,
    pub(crate) last: Option<NodeId>,
    pub(crate) previous: Option<NodeId>,
    pub(crate) next: Option<NodeId>,
}

impl Node {
    pub(crate) fn new(kind: NodeKind) -> Self {
        Self { kind, parent: None, first: None, last: None, previous: None, next: None }
    }
}

/// The kinds of nodes a document has.
#[derive(Debug)]
pub enum NodeKind {
    /// The root of the tree.
    Document,
    /// `<!DOCTYPE …>`
    Doctype {
        /// `html`
        name: Box<str>,
        /// The public identifier, or an empty text.
        public: Box<str>,
        /// The system identifier, or an empty text.
        system: Box<str>,
    },
    /// An element.
    Element {
        /// Lower case for HTML; as SVG and MathML have it for theirs.
        name: LocalName,
        /// Whose vocabulary the name is from.
        namespace: Namespace,
        /// In the order they were written.
        attributes: Box<[Attribute]>,
    },
    /// Text, character references resolved.
    Text(String),
    /// What is between `<!--` and `-->`.
    Comment(Box<str>),
}

/// Vocabularies of elements and attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    /// HTML; for attributes: none.
    Html,
    /// SVG
    Svg,
    /// MathML
    MathMl,
    /// `xlink:` attributes
    XLink,
    /// `xml:` attributes
    Xml,
    /// `xmlns:` attributes
    XmlNs,
}

impl Namespace {
    pub(crate) fn of(uri: &Uri) -> Self {
        if *uri == ns!(svg) {
            Self::Svg
        } else if *uri == ns!(mathml) {
            Self::MathMl
        } else if *uri == ns!(xlink) {
            Self::XLink
        } else if *uri == ns!(xml) {
            Self::Xml
        } else if *uri == ns!(xmlns) {
            Self::XmlNs
        } else {
            Self::Html
        }
    }

    /// What is written before the name of an attribute: `xlink` of `xlink:href`.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Html => "",
            Self::Svg => "svg",
            Self::MathMl => "math",
            Self::XLink => "xlink",
            Self::Xml => "xml",
            Self::XmlNs => "xmlns",
        }
    }

    /// The address that names an element's vocabulary.
    pub fn uri(self) -> &'static str {
        match self {
            Self::Svg => "http://www.w3.org/2000/svg",
            Self::MathMl => "http://www.w3.org/1998/Math/MathML",
            _ => "http://www.w3.org/1999/xhtml",
        }
    }
}

/// An attribute of an element.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// The name without a prefix.
    pub name: LocalName,
    /// Where the prefix points to.
    pub namespace: Namespace,
    /// Character references resolved.
    pub value: Box<str>,
}
