//! Plain tables: a head, rows, columns as wide as they need.

/// Where a column's texts stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The lines of a table, without indentation and line ends. The last column is not padded.
pub(super) fn lines(sides: &[Side], rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..sides.len()).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(sides).zip(&widths).map(|((cell, side), width)| match side {
            Side::Left => format!("{cell:<width$}"),
            Side::Right => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A text that takes no more than so many columns, and steers no terminal.
pub(super) fn cut(text: &str, columns: usize) -> String {
    let plain = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    if text.chars().count() <= columns {
        return plain.collect();
    }
    plain.take(columns.saturating_sub(1)).chain(['…']).collect()
}

/// `54,355`.
pub fn with_commas(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["n", "name"], ["1,000", "é"], ["2", "long name"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(lines(&[Side::Right, Side::Left], &rows), ["    n  name", "1,000  é", "    2  long name"]);
        assert_eq!([cut("ab\x1bc", 4), cut("abcdef", 4)], ["ab c", "abc…"]);
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")];
        for (count, expect) in cases {
            assert_eq!(with_commas(count), expect);
        }
    }
}
