//! Markup written back, as Go's `x/net/html` writes it: `<br/>`, `&#34;`, scripts as they are.

use crate::{
    Document,
    node::{Namespace, NodeId, NodeKind},
};

/// Writes a node and all in it.
pub(crate) fn render(document: &Document, root: NodeId, out: &mut String) {
    let mut node = root;
    loop {
        open(document, node, node == root, out);
        if let Some(child) = document.node(node).first.filter(|_| !is_void(document, node)) {
            node = child;
            continue;
        }
        loop {
            close(document, node, out);
            if node == root {
                return;
            }
            if let Some(next) = document.node(node).next {
                node = next;
                break;
            }
            match document.parent(node) {
                Some(parent) => node = parent,
                None => return,
            }
        }
    }
}

fn open(document: &Document, node: NodeId, is_root: bool, out: &mut String) {
    match document.kind(node) {
        NodeKind::Document => {}
        NodeKind::Doctype { name, public, system } => doctype(name, public, system, out),
        NodeKind::Text(text) => {
            let is_literal = !is_root && document.parent(node).is_some_and(|parent| is_literal(document, parent));
            if is_literal { out.push_str(text) } else { escape(text, out) }
        }
        NodeKind::Comment(text) => {
            out.push_str("<!--");
            escape_comment(text, out);
            out.push_str("-->");
        }
        NodeKind::Element { name, attributes, .. } => {
            out.push('<');
            out.push_str(name);
            for attribute in attributes {
                out.push(' ');
                if attribute.namespace != Namespace::Html {
                    out.push_str(attribute.namespace.prefix());
                    out.push(':');
                }
                out.push_str(&attribute.name);
                out.push_str("=\"");
                escape(&attribute.value, out);
                out.push('"');
            }
            if is_void(document, node) {
                out.push_str("/>");
                return;
            }
            out.push('>');
            // A newline right after these tags is not part of the text: one that is needs another before it.
            let first = document.node(node).first.map(|child| document.kind(child));
            if matches!(&**name, "pre" | "listing" | "textarea")
                && matches!(first, Some(NodeKind::Text(text)) if text.starts_with('\n'))
            {
                out.push('\n');
            }
        }
    }
}

fn close(document: &Document, node: NodeId, out: &mut String) {
    if let NodeKind::Element { name, .. } = document.kind(node)
        && !is_void(document, node)
        // Nothing can end a plaintext element.
        && &**name != "plaintext"
    {
        out.push_str("</");
        out.push_str(name);
        out.push('>');
    }
}

fn doctype(name: &str, public: &str, system: &str, out: &mut String) {
    out.push_str("<!DOCTYPE ");
    escape(name, out);
    if !public.is_empty() {
        out.push_str(" PUBLIC ");
        quoted(public, out);
        if !system.is_empty() {
            out.push(' ');
            quoted(system, out);
        }
    } else if !system.is_empty() {
        out.push_str(" SYSTEM ");
        quoted(system, out);
    }
    out.push('>');
}

fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('"') { '\'' } else { '"' };
    out.push(quote);
    out.push_str(text);
    out.push(quote);
}

fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#39;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\r' => out.push_str("&#13;"),
            other => out.push(other),
        }
    }
}

/// In comments only what could end them is escaped.
fn escape_comment(text: &str, out: &mut String) {
    let mut before = "";
    for (index, character) in text.char_indices() {
        let ends = character == '>' && (before.is_empty() || before.ends_with('-') || before.ends_with('!'));
        match character {
            '&' => out.push_str("&amp;"),
            '>' if ends => out.push_str("&gt;"),
            other => out.push(other),
        }
        before = &text[..index + character.len_utf8()];
    }
}

/// Elements whose text is written as it is.
fn is_literal(document: &Document, node: NodeId) -> bool {
    const LITERAL: &[&str] = &["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "xmp"];
    document.namespace(node) == Namespace::Html && document.is_tag(node, LITERAL)
}

fn is_void(document: &Document, node: NodeId) -> bool {
    const VOID: &[&str] = &[
        "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param", "source",
        "track", "wbr",
    ];
    document.is_tag(node, VOID)
}
