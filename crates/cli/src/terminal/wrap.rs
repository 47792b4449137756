//! Text for a terminal that is narrower than its lines: they break between words, and what follows is indented. The
//! terminal itself would break words.

/// Lines of at most `columns`, where words allow it. Colours do not count.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if width(line) <= columns {
            out.push_str(line);
        } else {
            wrap_line(&mut out, line, columns);
        }
        out.push_str(end);
    }
    out
}

fn wrap_line(out: &mut String, line: &str, columns: usize) {
    let indent = indent(line, columns);
    let start = line.len() - line.trim_start_matches(' ').len();
    out.push_str(&line[..start]);
    let mut column = start;
    let mut is_first = true;
    for piece in line[start..].split_inclusive(' ') {
        // Blanks at the end of a line need no room.
        if !is_first && column + width(piece.trim_end_matches(' ')) > columns && column > indent {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        }
        out.push_str(piece);
        column += width(piece);
        is_first = false;
    }
}

/// Where the lines that follow begin: below the text after `name: `, or two columns right of where the line begins.
fn indent(line: &str, columns: usize) -> usize {
    let start = line.chars().take_while(|char| *char == ' ').count();
    let after_name = line.find(": ").map(|at| width(&line[..at]) + 2);
    after_name.filter(|column| *column * 5 <= columns * 3).unwrap_or_else(|| (start + 2).min(columns / 2))
}

/// Characters that are seen.
fn width(text: &str) -> usize {
    let mut in_escape = false;
    text.chars()
        .filter(|char| {
            if *char == '\x1b' {
                in_escape = true;
            }
            let is_seen = !in_escape;
            if in_escape && char.is_ascii_alphabetic() {
                in_escape = false;
            }
            is_seen
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let check = |columns: usize, text: &str, expect: &str| assert_eq!(wrapped(text, columns), expect, "{columns}");
        let row = "    http_req_duration: avg=1.20ms min=1.00ms med=1.10ms\n";
        check(80, row, row);
        let below = " ".repeat(23);
        let rows = format!("    http_req_duration: avg=1.20ms\n{below}min=1.00ms\n{below}med=1.10ms\n");
        check(40, row, &rows);
        check(30, "  * one two three four five six seven\n", "  * one two three four five\n    six seven\n");
        // Colours take no room, and blanks at the end are dropped.
        check(12, "\x1b[31mone two\x1b[0m three four\n\n", "\x1b[31mone two\x1b[0m\n  three four\n\n");
        check(10, "one two   ten", "one two\n  ten");
        // What has no blanks is left to the terminal.
        check(5, "abcdefghij", "abcdefghij");
        check(0, "a b", "a\nb");
        check(3, "✓ ✓ ✓ ✓", "✓ ✓\n ✓\n ✓");
    }
}
