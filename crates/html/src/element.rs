//! Accessors of elements that take more than reading an attribute.

use crate::{Document, NodeId, NodeKind, class::Value};

/// Computes a value from an element.
pub(crate) type Compute = fn(&Document, NodeId) -> Value;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(crate) fn text_content(document: &Document, node: NodeId) -> Value {
    Value::Text(document.text(node))
}

/// A list's tokens. k6: split at each blank.
pub(crate) fn rel_list(document: &Document, node: NodeId) -> Value {
    let rel = document.attribute_or_empty(node, "rel");
    Value::Texts(if rel.is_empty() { Vec::new() } else { rel.split(' ').map(str::to_owned).collect() })
}

pub(crate) fn owner(document: &Document, node: NodeId) -> Value {
    Value::Node(document.owner(node))
}

pub(crate) fn labels(document: &Document, node: NodeId) -> Value {
    Value::Nodes(document.labels(node))
}

/// A control's own attribute, or one of its form.
fn own_or_form<'a>(document: &'a Document, node: NodeId, own: &str, of_form: &str) -> Option<&'a str> {
    document.attribute(node, own).or_else(|| document.attribute(document.owner(node)?, of_form))
}

pub(crate) fn form_action(document: &Document, node: NodeId) -> Value {
    Value::Address(own_or_form(document, node, "formaction", "action").map(str::to_owned))
}

pub(crate) fn form_target(document: &Document, node: NodeId) -> Value {
    text(own_or_form(document, node, "formtarget", "target").unwrap_or_default())
}

pub(crate) fn form_enctype(document: &Document, node: NodeId) -> Value {
    let value = own_or_form(document, node, "formenctype", "enctype");
    text(ENCODINGS.iter().copied().find(|known| Some(*known) == value).unwrap_or(ENCODINGS[0]))
}

pub(crate) fn form_method(document: &Document, node: NodeId) -> Value {
    let value = own_or_form(document, node, "formmethod", "method");
    text(if value.is_some_and(|method| method.eq_ignore_ascii_case("post")) { "post" } else { "get" })
}

pub(crate) fn form_no_validate(document: &Document, node: NodeId) -> Value {
    let of_form = || document.owner(node).is_some_and(|form| document.has_attribute(form, "novalidate"));
    Value::Bool(document.has_attribute(node, "formnovalidate") || of_form())
}

pub(crate) fn button_value(document: &Document, node: NodeId) -> Value {
    Value::Text(document.attribute(node, "value").map_or_else(|| document.inner_html(node), str::to_owned))
}

pub(crate) fn input_list(document: &Document, node: NodeId) -> Value {
    let list = document.attribute(node, "list").and_then(|id| document.by_id(id));
    Value::Node(list.filter(|list| document.tag(*list) == "datalist"))
}

pub(crate) fn fieldset_elements(document: &Document, node: NodeId) -> Value {
    Value::Nodes(document.inside(node, &["input", "select", "button", "textarea"]))
}

fn controls(document: &Document, form: NodeId) -> Vec<NodeId> {
    document.inside(form, &["input", "select", "button", "textarea", "fieldset"])
}

pub(crate) fn form_elements(document: &Document, node: NodeId) -> Value {
    Value::Nodes(controls(document, node))
}

pub(crate) fn form_length(document: &Document, node: NodeId) -> Value {
    Value::Int(controls(document, node).len() as i64)
}

pub(crate) fn label_control(document: &Document, node: NodeId) -> Value {
    Value::Node(document.attribute(node, "for").and_then(|id| document.by_id(id)))
}

pub(crate) fn map_areas(document: &Document, node: NodeId) -> Value {
    Value::Nodes(document.inside(node, &["area"]))
}

/// k6: found by the map's id, not by its name.
pub(crate) fn map_images(document: &Document, node: NodeId) -> Value {
    let Some(id) = document.attribute(node, "id") else { return Value::Nodes(Vec::new()) };
    let images = document.inside(NodeId::DOCUMENT, &["img"]).into_iter();
    Value::Nodes(
        images
            .filter(|image| document.attribute(*image, "usemap").and_then(|map| map.strip_prefix('#')) == Some(id))
            .collect(),
    )
}

pub(crate) fn text_tracks(document: &Document, node: NodeId) -> Value {
    Value::Nodes(document.inside(node, &["track"]))
}

pub(crate) fn option_disabled(document: &Document, node: NodeId) -> Value {
    let of_group =
        || document.around(node, &["optgroup"]).is_some_and(|group| document.has_attribute(group, "disabled"));
    Value::Bool(document.has_attribute(node, "disabled") || of_group())
}

pub(crate) fn option_index(document: &Document, node: NodeId) -> Value {
    let position = document
        .around(node, &["select"])
        .and_then(|select| document.options(select).iter().position(|option| *option == node));
    Value::Int(position.unwrap_or(0) as i64)
}

pub(crate) fn option_label(document: &Document, node: NodeId) -> Value {
    Value::Text(document.attribute(node, "label").map_or_else(|| document.text(node), str::to_owned))
}

pub(crate) fn option_value(document: &Document, node: NodeId) -> Value {
    Value::Text(document.option_value(node))
}

pub(crate) fn options(document: &Document, node: NodeId) -> Value {
    Value::Nodes(document.options(node))
}

fn selected(document: &Document, select: NodeId) -> impl Iterator<Item = (usize, NodeId)> + '_ {
    document.options(select).into_iter().enumerate().filter(|(_, option)| document.has_attribute(*option, "selected"))
}

pub(crate) fn select_length(document: &Document, node: NodeId) -> Value {
    Value::Int(document.options(node).len() as i64)
}

pub(crate) fn selected_index(document: &Document, node: NodeId) -> Value {
    Value::Int(selected(document, node).next().map_or(-1, |(index, _)| index as i64))
}

pub(crate) fn selected_options(document: &Document, node: NodeId) -> Value {
    Value::Nodes(selected(document, node).map(|(_, option)| option).collect())
}

pub(crate) fn select_value(document: &Document, node: NodeId) -> Value {
    Value::Text(selected(document, node).next().map(|(_, option)| document.option_value(option)).unwrap_or_default())
}

/// k6: the attribute is not looked at.
pub(crate) fn select_size(document: &Document, node: NodeId) -> Value {
    Value::Int(if document.has_attribute(node, "multiple") { 4 } else { 1 })
}

pub(crate) fn select_type(document: &Document, node: NodeId) -> Value {
    text(if document.has_attribute(node, "multiple") { "select-multiple" } else { "select" })
}

fn progress_max_of(document: &Document, node: NodeId) -> f64 {
    let max = document.attribute(node, "max").and_then(|max| max.parse::<f64>().ok());
    max.filter(|max| *max >= 0.0).unwrap_or(1.0)
}

/// The part that is done, if a value is given.
fn progress_part(document: &Document, node: NodeId) -> Option<f64> {
    let value = document.attribute(node, "value")?.parse::<f64>().ok().filter(|value| *value >= 0.0)?;
    Some(value / progress_max_of(document, node))
}

pub(crate) fn progress_max(document: &Document, node: NodeId) -> Value {
    Value::Float(progress_max_of(document, node))
}

/// k6: the part, not the attribute.
pub(crate) fn progress_value(document: &Document, node: NodeId) -> Value {
    Value::Float(progress_part(document, node).unwrap_or(0.0))
}

pub(crate) fn progress_position(document: &Document, node: NodeId) -> Value {
    Value::Float(progress_part(document, node).unwrap_or(-1.0))
}

fn first_inside(document: &Document, node: NodeId, tag: &str) -> Value {
    Value::Node(document.descendants(node).find(|inner| document.tag(*inner) == tag))
}

pub(crate) fn table_caption(document: &Document, node: NodeId) -> Value {
    first_inside(document, node, "caption")
}

pub(crate) fn table_head(document: &Document, node: NodeId) -> Value {
    first_inside(document, node, "thead")
}

pub(crate) fn table_foot(document: &Document, node: NodeId) -> Value {
    first_inside(document, node, "tfoot")
}

pub(crate) fn rows(document: &Document, node: NodeId) -> Value {
    Value::Nodes(document.inside(node, &["tr"]))
}

pub(crate) fn table_bodies(document: &Document, node: NodeId) -> Value {
    Value::Nodes(document.inside(node, &["tbody"]))
}

pub(crate) fn row_cells(document: &Document, node: NodeId) -> Value {
    Value::Nodes(document.element_children(node).filter(|cell| document.is_tag(*cell, &["td", "th"])).collect())
}

pub(crate) fn row_index(document: &Document, node: NodeId) -> Value {
    position_in(document, node, &["table"])
}

pub(crate) fn section_row_index(document: &Document, node: NodeId) -> Value {
    position_in(document, node, &["thead", "tbody", "tfoot"])
}

fn position_in(document: &Document, row: NodeId, around: &[&str]) -> Value {
    let position = document
        .around(row, around)
        .and_then(|outer| document.inside(outer, &["tr"]).iter().position(|other| *other == row));
    Value::Int(position.map_or(-1, |position| position as i64))
}

pub(crate) fn cell_index(document: &Document, node: NodeId) -> Value {
    Value::Int(document.preceding(node).filter(|other| document.is_element(*other)).count() as i64)
}

/// k6: the length of the `value` attribute, which text areas have none of.
pub(crate) fn textarea_length(document: &Document, node: NodeId) -> Value {
    Value::Int(document.attribute_or_empty(node, "value").len() as i64)
}

impl Document {
    /// Whether two nodes, perhaps of two documents, are of one kind and name, with the same attributes and contents.
    pub fn is_equal(&self, node: NodeId, other_document: &Self, other: NodeId) -> bool {
        let mut pairs = vec![(node, other)];
        while let Some((left, right)) = pairs.pop() {
            let same = match (self.kind(left), other_document.kind(right)) {
                (NodeKind::Document, NodeKind::Document) => true,
                (NodeKind::Text(left), NodeKind::Text(right)) => left == right,
                (NodeKind::Comment(left), NodeKind::Comment(right)) => left == right,
                (
                    NodeKind::Doctype { name, public, system },
                    NodeKind::Doctype { name: other_name, public: other_public, system: other_system },
                ) => (name, public, system) == (other_name, other_public, other_system),
                (NodeKind::Element { .. }, NodeKind::Element { .. }) => {
                    let attributes = self.attributes(left);
                    self.tag(left) == other_document.tag(right)
                        && self.namespace(left) == other_document.namespace(right)
                        && attributes.len() == other_document.attributes(right).len()
                        && attributes.iter().all(|attribute| {
                            other_document.attribute(right, &attribute.name) == Some(&*attribute.value)
                        })
                }
                _ => false,
            };
            if !same {
                return false;
            }
            let mut others = other_document.children(right);
            for child in self.children(left) {
                let Some(other) = others.next() else { return false };
                pairs.push((child, other));
            }
            if others.next().is_some() {
                return false;
            }
        }
        true
    }
}

/// What forms are encoded as; the first unless one of them is given.
pub(crate) const ENCODINGS: &[&str] = &["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];
