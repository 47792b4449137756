//! Parsing with limits.
//!
//! html5ever's tree builder looks through its stack of open elements for many tags, so deep nesting would cost the
//! square of the text's length; and a few hundred bytes of unclosed formatting elements can make it copy them for each
//! paragraph. Both are cut here, between two tokens. Between two pieces of the text the host may do something else.

use html5ever::{
    TokenizerResult,
    buffer_queue::BufferQueue,
    tendril::StrTendril,
    tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts},
    tree_builder::{TreeBuilder, TreeBuilderOpts},
};

use crate::{
    node::{Node, NodeId},
    sink::Sink,
};

/// What a document may grow to.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Elements that are open at once.
    pub depth: usize,
    /// Memory of the tree.
    pub bytes: usize,
    /// Asked at times, in long parsing and long searches of the document: whether to go on. The host may let others run
    /// meanwhile.
    pub go_on: fn() -> bool,
}

impl Limits {
    /// k6: its parser refuses more open elements, with the same text.
    pub const DEPTH: usize = 512;
    /// Far above pages (a megabyte of markup takes about four), far below a machine.
    pub const BYTES: usize = 128 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: Self::DEPTH, bytes: Self::BYTES, go_on: || true }
    }
}

/// Why a text was not made into a document.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ParseError {
    /// Too many elements open at once.
    #[error("html: open stack of elements exceeds {0} nodes")]
    Depth(usize),
    /// The tree takes too much memory.
    #[error("html: the document takes more than {0} bytes of memory")]
    Bytes(usize),
    /// The host did not want it to go on.
    #[error("html: parsing was ended")]
    Ended,
}

/// A finished tree.
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// Roughly what it holds.
    pub(crate) bytes: usize,
}

pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Tree, ParseError> {
    in_pieces(text, PIECE_BYTES, limits)
}

/// Parses a text that is handed over in pieces of at most so many bytes.
pub(crate) fn in_pieces(text: &str, piece_bytes: usize, limits: &Limits) -> Result<Tree, ParseError> {
    let builder = TreeBuilder::new(Sink::new(limits), TreeBuilderOpts::default());
    let tokenizer = Tokenizer::new(Guarded { builder }, TokenizerOpts::default());
    let input = BufferQueue::default();
    // Pieces, because the tokenizer keeps what it was given until its last token is dropped.
    let mut rest = text;
    while !rest.is_empty() && tokenizer.sink.error().is_none() {
        if !(limits.go_on)() {
            return Err(ParseError::Ended);
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(piece_bytes.max(CHAR_BYTES_MAX).min(rest.len())));
        rest = after;
        input.push_back(StrTendril::from_slice(piece));
        // A script's end tag stops the tokenizer; there is nothing to run.
        while let TokenizerResult::Script(_) | TokenizerResult::EncodingIndicator(_) = tokenizer.feed(&input) {}
    }
    if tokenizer.sink.error().is_none() {
        tokenizer.end();
    }
    let sink = &tokenizer.sink.builder.sink;
    match tokenizer.sink.error() {
        Some(error) => Err(error),
        None => Ok(sink.take()),
    }
}

/// A tree builder that gets no more tokens once a limit is hit.
struct Guarded {
    builder: TreeBuilder<NodeId, Sink>,
}

impl Guarded {
    fn error(&self) -> Option<ParseError> {
        self.builder.sink.error()
    }
}

impl TokenSink for Guarded {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        if self.error().is_some() {
            return TokenSinkResult::Continue;
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Text handed over at once: few enough attributes that comparing each with all before it in its tag takes little.
const PIECE_BYTES: usize = 4 << 10;
/// A piece holds at least one character.
const CHAR_BYTES_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;
    use crate::{Account, Document};

    fn check(text: &str, expect: &str) {
        let document = Document::parse(text, "", &Limits::default(), &Account::default()).unwrap();
        assert_eq!(document.inner_html(NodeId::DOCUMENT), expect, "{text:?}");
    }

    fn error(text: &str, limits: &Limits) -> Option<ParseError> {
        Document::parse(text, "", limits, &Account::default()).err()
    }

    #[test]
    fn trees_are_repaired() {
        check("", "<html><head></head><body></body></html>");
        check("<p>a<p>b", "<html><head></head><body><p>a</p><p>b</p></body></html>");
        check("a\0b<p title='\0'", "<html><head></head><body>ab</body></html>");
        check("<table><div>x", "<html><head></head><body><div>x</div><table></table></body></html>");
        check("<template><td>x</template>", "<html><head><template><td>x</td></template></head><body></body></html>");
        check("<script>a<b</script>c", "<html><head><script>a<b</script></head><body>c</body></html>");
    }

    #[test]
    fn depth_is_limited() {
        let limits = Limits::default();
        assert_eq!(error(&"<div>".repeat(510), &limits), None);
        assert_eq!(error(&"<div>".repeat(511), &limits), Some(ParseError::Depth(512)));
        assert_eq!(error(&"<div>".repeat(100_000), &limits), Some(ParseError::Depth(512)));
        assert_eq!(error(&"<b><p>".repeat(20_000), &limits), None);
        assert_eq!(error(&"<b>".repeat(50_000), &limits), Some(ParseError::Depth(512)));
        assert_eq!(error(&"<table><td>".repeat(50_000), &limits), Some(ParseError::Depth(512)));
        assert_eq!(error(&"<svg><g>".repeat(50_000), &limits), Some(ParseError::Depth(512)));
        assert_eq!(error(&"<div></div>".repeat(50_000), &limits), None);
    }

    #[test]
    fn long_texts_ask_whether_to_go_on() {
        thread_local! {
            static ASKED: Cell<usize> = const { Cell::new(0) };
        }
        fn go_on() -> bool {
            ASKED.set(ASKED.get() + 1);
            ASKED.get() <= 12
        }
        let limits = Limits { go_on, ..Limits::default() };
        assert_eq!(error(&"x".repeat(10 * PIECE_BYTES), &limits), None);
        assert_eq!(ASKED.get(), 10);
        // Attributes of one tag are compared with each other before it gets here.
        let attributes: String = (0..PIECE_BYTES).map(|number| format!(" a{number}")).collect();
        assert_eq!(error(&format!("<p{attributes}>"), &limits), Some(ParseError::Ended));
        assert_eq!(ASKED.get(), 13);
    }

    #[test]
    fn memory_is_limited_and_counted() {
        let limits = Limits { bytes: 1 << 20, ..Limits::default() };
        assert_eq!(error(&"<br>".repeat(20_000), &limits), Some(ParseError::Bytes(1 << 20)));
        assert_eq!(error(&format!("<p title='{}'>", "x".repeat(2 << 20)), &limits), Some(ParseError::Bytes(1 << 20)));
        // Each paragraph opens all fonts again.
        let fonts: String = (0..400).map(|size| format!("<p><font size={size}>")).collect();
        assert!(error(&(fonts + &"<p>x".repeat(100_000)), &limits).is_some());
        let account = Account::default();
        let document = Document::parse("<p>some text", "", &limits, &account).unwrap();
        assert!(account.bytes() > 200);
        drop(document);
        assert_eq!(account.bytes(), 0);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(<[/!?]?[a-z]{0,8}( [a-z]{1,3}=?['\"]?[^>]{0,4})?>?|&#?[a-z0-9]{0,6};?|\\PC|\0){0,60}") {
            let account = Account::default();
            if let Ok(document) = Document::parse(&text, "", &Limits::default(), &account) {
                let written = document.inner_html(NodeId::DOCUMENT);
                prop_assert!(written.contains("<html"));
            }
            prop_assert_eq!(account.bytes(), 0);
        }

        #[test]
        fn tags_of_every_kind(tags in prop::collection::vec(prop::sample::select(&["<table>", "</table>", "<tr>", "<td>", "<p>", "</p>", "<b>", "</b>", "<a>", "</a>", "<form>", "</form>", "<select>", "</select>", "<option>", "<template>", "</template>", "<svg>", "</svg>", "<math>", "<mi>", "<frameset>", "<body>", "</body>", "</html>", "<br>", "</br>", "<li>", "<nobr>", "<button>", "<h1>", "x", " ", "<caption>", "<col>", "<input type=hidden>", "<desc>", "<!DOCTYPE>", "<!---->"][..]), 0..80)) {
            let document = Document::parse(&tags.concat(), "", &Limits::default(), &Account::default()).unwrap();
            let seen = document.descendants(NodeId::DOCUMENT).count();
            prop_assert!(seen < document.nodes.len() + 1);
        }
    }
}
