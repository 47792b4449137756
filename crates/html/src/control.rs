//! Controls of forms: what they hold, and what they belong to.

use crate::{Document, NodeId, form::FieldValue};

impl Document {
    /// What `val()` gives; `None` for elements that hold nothing.
    pub fn control_value(&self, node: NodeId) -> Option<FieldValue> {
        let text = |text: &str| Some(FieldValue::Text(text.to_owned()));
        match self.tag(node) {
            "input" => match self.attribute(node, "value") {
                Some(value) => text(value),
                None if matches!(self.attribute(node, "type"), Some("checkbox" | "radio")) => text("on"),
                None => text(""),
            },
            "button" => text(self.attribute_or_empty(node, "value")),
            // k6: markup, not text.
            "textarea" => Some(FieldValue::Text(self.inner_html(node))),
            "option" => Some(FieldValue::Text(self.option_value(node))),
            "select" => {
                let mut selected =
                    self.options(node).into_iter().filter(|option| self.has_attribute(*option, "selected"));
                Some(if self.has_attribute(node, "multiple") {
                    FieldValue::Texts(selected.map(|option| self.option_value(option)).collect())
                } else {
                    // k6: without a selected option there is no value; browsers take the first one.
                    FieldValue::Text(selected.next().map(|option| self.option_value(option)).unwrap_or_default())
                })
            }
            _ => None,
        }
    }

    pub(crate) fn option_value(&self, option: NodeId) -> String {
        self.attribute(option, "value").map_or_else(|| self.inner_html(option), str::to_owned)
    }

    pub(crate) fn options(&self, select: NodeId) -> Vec<NodeId> {
        self.inside(select, &["option"])
    }

    /// Elements of these names in a node.
    pub(crate) fn inside(&self, node: NodeId, tags: &[&str]) -> Vec<NodeId> {
        self.descendants(node).filter(|inner| self.is_tag(*inner, tags)).collect()
    }

    /// The nearest element of one of these names that a node is in.
    pub(crate) fn around(&self, node: NodeId, tags: &[&str]) -> Option<NodeId> {
        self.ancestors(node).find(|outer| self.is_tag(*outer, tags))
    }

    /// The form a control belongs to: the one its `form` attribute names, or the one it is in.
    pub(crate) fn owner(&self, control: NodeId) -> Option<NodeId> {
        match self.attribute(control, "form") {
            Some(id) => self.by_id(id),
            None => self.around(control, &["form"]),
        }
    }

    /// The label a control is in, then those that name it.
    pub(crate) fn labels(&self, control: NodeId) -> Vec<NodeId> {
        let mut labels: Vec<NodeId> = self.around(control, &["label"]).into_iter().collect();
        if let Some(id) = self.attribute(control, "id") {
            let named = self.inside(NodeId::DOCUMENT, &["label"]);
            labels.extend(
                named
                    .into_iter()
                    .filter(|label| self.attribute(*label, "for") == Some(id) && !labels.contains(label))
                    .collect::<Vec<_>>(),
            );
        }
        labels
    }
}
