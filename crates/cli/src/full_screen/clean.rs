//! Texts of scripts, servers and files, made fit for cells: they may hold anything, and must not move the cursor, turn the
//! direction of writing or take cells they do not have.

use std::borrow::Cow;

use ratatui::text::Span;

/// The text without what is not to be seen as it is: control characters become `·`, marks of direction go.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(|char| !is_control(char) && !is_unseen(char)) {
        return Cow::Borrowed(text);
    }
    let seen = text.chars().filter(|char| is_control(*char) || !is_unseen(*char));
    Cow::Owned(seen.map(|char| if is_control(char) { '·' } else { char }).collect())
}

fn is_control(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
}

/// What takes no cell: marks of direction, joiners, accents that stand alone (a hundred of them on one letter would cover
/// other rows), and characters that stand for nothing.
fn is_unseen(char: char) -> bool {
    !char.is_ascii() && (char == '\u{ad}' || Span::raw(char.encode_utf8(&mut [0; 4]).to_owned()).width() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_or_turns_is_left() {
        let check = |text: &str, expect: &str| assert_eq!(clean(text), expect);
        check("plain ✓ 日本", "plain ✓ 日本");
        check("a\x1b[2Jb\r\n\u{9b}c", "a·[2Jb···c");
        check("abc\u{202e}txt.exe\u{2066}", "abctxt.exe");
        check("e\u{301}\u{302}\u{489}a", "ea");
        check("x\u{200d}y\u{feff}z\u{2028}", "xyz·");
    }
}
