//! HTML documents, as scripts of load tests look at them: parsing, CSS selectors, sets of nodes, forms.
//!
//! Markup is read by html5ever; the tree, the selectors and the selections are ours, because scripts were written
//! against those of k6 (Go's `x/net/html`, cascadia and goquery): selectors like `[a!=b]`, `:contains(x)`, `:input`
//! and `[href#=(^/)]`, the order of results, the way markup is written back. Nothing here knows JavaScript, and
//! nothing recurses over a tree: a document may be as large as [`Limits`] allow.
//!
//! ```
//! use std::rc::Rc;
//! use onrush_html::{Account, Document, Limits, Selection};
//!
//! let document = Document::parse("<p>a <b>c", "", &Limits::default(), &Account::default())?;
//! let bold = Selection::of_document(&Rc::new(document)).find("p > b");
//! assert_eq!((bold.text().as_str(), bold.len()), ("c", 1));
//! # Ok::<(), onrush_html::ParseError>(())
//! ```

mod account;
mod class;
mod control;
mod data;
mod document;
mod element;
mod form;
mod fuzz;
mod node;
mod parse;
mod render;
mod selection;
mod selector;
mod sink;

pub use account::Account;
pub use class::{Accessor, Class, Kind, Mixin, UrlPart, Value};
pub use data::{DataValue, data_value};
pub use document::Document;
pub use form::{Field, FieldValue};
pub use fuzz::{fuzz_document, fuzz_selector};
pub use node::{Attribute, Namespace, Node, NodeId, NodeKind};
pub use parse::{Limits, ParseError};
pub use selection::{Chosen, Selection, Step};
pub use selector::{Selector, SelectorError};
