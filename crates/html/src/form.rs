//! Forms: which of their controls are sent, and what with.

use std::collections::{BTreeMap, HashSet};

use crate::{Document, NodeId, Selection};

/// A control's name and value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Never empty.
    pub name: String,
    /// `None` for elements that hold no value.
    pub value: Option<FieldValue>,
}

/// What a control holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// One text.
    Text(String),
    /// The selected options of a list that allows several.
    Texts(Vec<String>),
}

impl Selection {
    /// The controls that are sent: those of the forms among these nodes, or, without a form, these nodes themselves.
    pub fn fields(&self) -> Vec<Field> {
        let document = &**self.document();
        let forms: Vec<NodeId> = self.nodes().iter().copied().filter(|node| document.tag(*node) == "form").collect();
        let mut controls: Vec<NodeId> = Vec::new();
        if forms.is_empty() {
            controls.extend(self.nodes().iter().copied().filter(|node| document.is_tag(*node, CONTROLS)));
        } else {
            // Markup can nest forms, and a selection may hold both.
            let mut seen = HashSet::new();
            let inside = forms.iter().flat_map(|form| document.inside(*form, CONTROLS));
            controls.extend(inside.filter(|control| seen.insert(*control)));
        }
        controls.into_iter().filter_map(|control| field(document, control)).collect()
    }

    /// The same by name; of controls that share one the last is kept.
    pub fn fields_by_name(&self) -> BTreeMap<String, Option<FieldValue>> {
        self.fields().into_iter().map(|field| (field.name, field.value)).collect()
    }
}

fn field(document: &Document, control: NodeId) -> Option<Field> {
    let name = document.attribute(control, "name").filter(|name| !name.is_empty())?;
    if document.attribute(control, "disabled") == Some("disabled") {
        // k6: only where it is written so; a bare `disabled` is not seen.
        return None;
    }
    if document.tag(control) == "input" {
        let kind = document.attribute_or_empty(control, "type");
        let is_checked = document.attribute(control, "checked") == Some("checked");
        match kind {
            "submit" | "button" | "image" | "reset" | "file" => return None,
            "checkbox" | "radio" if !is_checked => return None,
            _ => {}
        }
    }
    Some(Field { name: name.to_owned(), value: document.control_value(control) })
}

const CONTROLS: &[&str] = &["input", "select", "textarea", "keygen"];

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::{Account, Limits};

    fn check(markup: &str, selector: &str, expect: &str) {
        let document = Document::parse(markup, "", &Limits::default(), &Account::default()).unwrap();
        let fields: Vec<String> = Selection::of_document(&Rc::new(document))
            .find(selector)
            .fields()
            .into_iter()
            .map(|field| match field.value {
                Some(FieldValue::Text(text)) => format!("{}={text}", field.name),
                Some(FieldValue::Texts(texts)) => format!("{}={texts:?}", field.name),
                None => field.name,
            })
            .collect();
        assert_eq!(fields.join(" "), expect, "{markup}");
    }

    #[test]
    fn what_is_sent() {
        check("<form><input name=a value=1><input value=2><input name='' value=3><input name=d>", "form", "a=1 d=");
        check("<form><input type=submit name=a><input type=file name=b><button name=c>x</button>", "form", "");
        check("<form><input type=checkbox name=a checked=checked><input type=radio name=b>", "form", "a=on");
        check(
            "<form><select name=a><option>x<option selected>y</select><select name=b multiple></select>",
            "form",
            "a=y b=[]",
        );
        check("<form><textarea name=a>\n&lt;b</textarea>", "form", "a=&lt;b");
        check("<form><input name=a disabled=disabled><input name=b disabled>", "form", "b=");
        // Markup can nest forms: no control is sent twice.
        check("<form><div></form><form><input name=a></form><input name=b>", "form", "a= b=");
        check("<p><input name=a value=1></p>", "p", "");
        check("<p><input name=a value=1></p>", "input", "a=1");
    }
}
