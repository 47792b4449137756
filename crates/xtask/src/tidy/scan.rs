//! Rust source line by line, with comments and the insides of literals told apart from code.
//!
//! Not a parser: it knows comments, strings, characters, lifetimes and braces, which is what the rules need.

/// A scanned file.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) lines: Vec<Line>,
}

/// One line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// What is neither comment nor inside a literal; a string leaves `""`.
    pub(super) code: String,
    /// The comments on it, with their markers.
    pub(super) comment: String,
    /// Inside an item marked `#[cfg(test)]`.
    pub(super) is_test: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    LineComment,
    /// Nesting depth.
    BlockComment(usize),
    Text,
    /// Number of `#`.
    RawText(usize),
}

impl Source {
    pub(super) fn scan(text: &str) -> Self {
        let mut source = Self::default();
        let mut state = State::Code;
        for line in text.lines() {
            let mut scanned = Line::default();
            state = scan_line(line, state, &mut scanned);
            source.lines.push(scanned);
        }
        source.mark_tests();
        source
    }

    /// Marks the lines of items under `#[cfg(test)]`, up to the end of their braces.
    fn mark_tests(&mut self) {
        let mut is_pending = false;
        let mut depth = 0_usize;
        let mut ends_below = None;
        for line in &mut self.lines {
            is_pending |= ends_below.is_none() && line.code.contains("#[cfg(test)]");
            line.is_test = is_pending || ends_below.is_some();
            for byte in line.code.bytes() {
                match byte {
                    b'{' => {
                        if is_pending {
                            (is_pending, ends_below) = (false, Some(depth));
                        }
                        depth += 1;
                    }
                    b'}' => {
                        depth = depth.saturating_sub(1);
                        if ends_below == Some(depth) {
                            ends_below = None;
                        }
                    }
                    // `#[cfg(test)] mod tests;` and the like.
                    b';' => is_pending = false,
                    _ => {}
                }
            }
        }
    }
}

fn scan_line(line: &str, mut state: State, out: &mut Line) -> State {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &line[at..];
        let step = match state {
            State::LineComment => {
                out.comment.push_str(rest);
                rest.len()
            }
            State::BlockComment(depth) => {
                if rest.starts_with("*/") {
                    state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
                    2
                } else if rest.starts_with("/*") {
                    state = State::BlockComment(depth + 1);
                    2
                } else {
                    push_char(rest, &mut out.comment)
                }
            }
            State::Text => match bytes[at] {
                b'\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                b'"' => {
                    out.code.push('"');
                    state = State::Code;
                    1
                }
                _ => char_len(rest),
            },
            State::RawText(hashes) => {
                let is_end =
                    rest.starts_with('"') && rest[1..].bytes().take_while(|byte| *byte == b'#').count() >= hashes;
                if is_end {
                    out.code.push('"');
                    state = State::Code;
                    1 + hashes
                } else {
                    char_len(rest)
                }
            }
            State::Code => scan_code(rest, &mut state, out),
        };
        at += step;
    }
    if state == State::LineComment { State::Code } else { state }
}

/// Takes one token's worth of code; returns its length.
fn scan_code(rest: &str, state: &mut State, out: &mut Line) -> usize {
    if rest.starts_with("//") {
        *state = State::LineComment;
        return 0;
    }
    if rest.starts_with("/*") {
        *state = State::BlockComment(1);
        return 2;
    }
    if rest.starts_with('"') {
        out.code.push('"');
        *state = State::Text;
        return 1;
    }
    if rest.starts_with('\'') {
        return scan_quote(rest, out);
    }
    // A raw string's `r` or `br` starts a word; `r#name` is an identifier.
    let starts_word = !out.code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if starts_word {
        let prefix = rest.strip_prefix("br").or_else(|| rest.strip_prefix("cr")).or_else(|| rest.strip_prefix('r'));
        if let Some(after) = prefix {
            let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
            if after[hashes..].starts_with('"') {
                out.code.push('"');
                *state = State::RawText(hashes);
                return rest.len() - after.len() + hashes + 1;
            }
        }
    }
    push_char(rest, &mut out.code)
}

/// A character literal or a lifetime.
fn scan_quote(rest: &str, out: &mut Line) -> usize {
    let after = &rest[1..];
    let mut chars = after.chars();
    let length = match (chars.next(), chars.next()) {
        // An escape ends at the next quote that is not the escaped one.
        (Some('\\'), Some(escaped)) => {
            let skipped = 1 + escaped.len_utf8();
            after[skipped..].find('\'').map(|end| skipped + end + 1)
        }
        (Some(character), Some('\'')) => Some(character.len_utf8() + 1),
        _ => None,
    };
    match length {
        Some(length) => {
            out.code.push_str("''");
            1 + length
        }
        None => {
            out.code.push('\'');
            1
        }
    }
}

fn push_char(rest: &str, out: &mut String) -> usize {
    let length = char_len(rest);
    out.push_str(&rest[..length]);
    length
}

fn char_len(rest: &str) -> usize {
    rest.chars().next().map_or(1, char::len_utf8)
}

/// Whether `word` occurs in `text` with nothing of an identifier around it.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, code: &[&str], comments: &[&str]) {
        let source = Source::scan(input);
        assert_eq!(source.lines.iter().map(|line| line.code.as_str()).collect::<Vec<_>>(), code, "{input}");
        assert_eq!(source.lines.iter().map(|line| line.comment.as_str()).collect::<Vec<_>>(), comments, "{input}");
    }

    #[test]
    fn tells_code_from_comments_and_literals() {
        check("let a = 1; // why\nb", &["let a = 1; ", "b"], &["// why", ""]);
        check("a /* b /* c */ d\ne */ f", &["a ", " f"], &[" b  c  d", "e "]);
        check(r#"f("unsafe // \" {", b"x")"#, &[r#"f("", b"")"#], &[""]);
        check("r\"a\\\" + r#\"b\"c\"# + r#type", &["\"\" + \"\" + r#type"], &[""]);
        check("let s = \"one\ntwo // not\"; x", &["let s = \"", "\"; x"], &["", ""]);
        check(
            "('\"', '\\'', '\\u{41}', 'é', &'a str, 'l: loop {})",
            &["('', '', '', '', &'a str, 'l: loop {})"],
            &[""],
        );
        check("'\\\\' // c", &["'' "], &["// c"]);
    }

    #[test]
    fn knows_test_items() {
        let text = "a {\n}\n#[cfg(test)]\nmod tests {\n  fn x() { }\n}\nb\n#[cfg(test)]\nmod tests;\nc";
        let marks: Vec<bool> = Source::scan(text).lines.iter().map(|line| line.is_test).collect();
        assert_eq!(marks, [false, false, true, true, true, true, false, true, true, false]);
    }

    #[test]
    fn finds_whole_words() {
        assert!(has_word("an unsafe block", "unsafe"));
        assert!(has_word("unsafe", "unsafe"));
        assert!(!has_word("unsafe_code is_unsafe", "unsafe"));
    }
}
