//! `cargo xtask picture`: what a terminal shows, as the picture of the README. Reads text with colours from standard input,
//! as `tmux capture-pane -e -p` prints it, and writes SVG. docs/images/README.md says how it is done.

use std::{
    fmt::Write as _,
    io::{Read as _, stdin},
    process::ExitCode,
};

use anyhow::{Context as _, Result};

/// Prints the picture.
pub(crate) fn run(_: &[String]) -> Result<ExitCode> {
    let mut text = String::new();
    stdin().read_to_string(&mut text).context("failed to read what the terminal shows")?;
    print!("{}", svg(&text));
    Ok(ExitCode::SUCCESS)
}

/// Pixels of a character, of a line, and around the text.
const CHARACTER: f64 = 8.4;
const LINE: usize = 18;
const MARGIN: usize = 16;
/// Where the first line stands: below the three dots of a window.
const TOP: usize = 44;
const PLAIN: &str = "#d5d8df";
const DIM: &str = "#8a919e";
/// Black, red, green, yellow, blue, magenta, cyan, white.
const COLORS: [&str; 8] = ["#8a919e", "#f2777a", "#7bc275", "#e6c07b", "#61afef", "#c678dd", "#56b6c2", "#d5d8df"];

/// How characters look.
#[derive(Clone, PartialEq, Eq)]
struct Look {
    color: String,
    is_bold: bool,
}

impl Look {
    fn plain() -> Self {
        Self { color: PLAIN.to_owned(), is_bold: false }
    }

    /// Takes the numbers of an escape sequence that ends with `m`.
    fn change(&mut self, numbers: &str) {
        let numbers: Vec<u8> = numbers.split(';').map(|number| number.parse().unwrap_or(0)).collect();
        match numbers[..] {
            [38, 2, red, green, blue] => self.color = format!("#{red:02x}{green:02x}{blue:02x}"),
            // What else has more than one number is a list of changes.
            _ => numbers.iter().for_each(|number| match number {
                0 => *self = Self::plain(),
                1 => self.is_bold = true,
                2 => DIM.clone_into(&mut self.color),
                22 => *self = Self::plain(),
                30..=37 => COLORS[usize::from(number - 30)].clone_into(&mut self.color),
                39 => PLAIN.clone_into(&mut self.color),
                90..=97 => COLORS[usize::from(number - 90)].clone_into(&mut self.color),
                _ => {}
            }),
        }
    }
}

/// The picture of a window with this text.
fn svg(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let mut look = Look::plain();
    let (mut columns, mut body) = (0, String::new());
    for (row, line) in lines.iter().enumerate() {
        let mut column = 0;
        for (run, of) in runs(line, &mut look) {
            let width = run.chars().count();
            // Blanks are not drawn.
            if !run.trim().is_empty() {
                let (x, y) = (MARGIN as f64 + column as f64 * CHARACTER, TOP + row * LINE);
                let weight = if of.is_bold { " font-weight=\"bold\"" } else { "" };
                let length = width as f64 * CHARACTER;
                // Writing to a String cannot fail.
                let _ = writeln!(
                    body,
                    "<text x=\"{x:.1}\" y=\"{y}\" fill=\"{}\"{weight} textLength=\"{length:.1}\" xml:space=\"preserve\">{}</text>",
                    of.color,
                    escaped(&run)
                );
            }
            column += width;
        }
        columns = columns.max(column);
    }
    let (width, height) =
        (2 * MARGIN + (columns as f64 * CHARACTER).ceil() as usize, TOP + lines.len() * LINE + MARGIN / 2);
    let dots: String = [(18, "#f2777a"), (36, "#e6c07b"), (54, "#7bc275")]
        .map(|(x, color)| format!("<circle cx=\"{x}\" cy=\"16\" r=\"5\" fill=\"{color}\"/>"))
        .concat();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,monospace\" font-size=\"14\" role=\"img\" \
         aria-label=\"A test in the terminal\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1d2027\"/>\n{dots}\n{body}</svg>\n"
    )
}

/// Pieces of a line that look the same; blanks between columns divide them, so that columns stay where they are whatever
/// font there is.
fn runs(line: &str, look: &mut Look) -> Vec<(String, Look)> {
    let mut runs: Vec<(String, Look)> = Vec::new();
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        if char == '\x1b' {
            let sequence: String = chars.by_ref().take_while(|char| *char != 'm').collect();
            look.change(sequence.trim_start_matches('['));
            continue;
        }
        match runs.last_mut() {
            Some((run, of)) if of == look && !(run.ends_with("  ") && char != ' ') => run.push(char),
            _ => runs.push((char.to_string(), look.clone())),
        }
    }
    runs
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_columns_stay_where_they_are() {
        let picture = svg("a   b\x1b[1mc\x1b[0m <\n\x1b[31;1m✗\x1b[0m \x1b[38;2;1;2;255mx\x1b[39m\x1b[2m-\x1b[22m\n\n");
        let texts: Vec<&str> = picture.lines().filter(|line| line.starts_with("<text")).collect();
        let expect = [
            ("x=\"16.0\" y=\"44\"", PLAIN, ">a   <"),
            ("x=\"49.6\" y=\"44\"", PLAIN, ">b<"),
            ("x=\"58.0\" y=\"44\"", PLAIN, " font-weight=\"bold\" textLength=\"8.4\" xml:space=\"preserve\">c<"),
            ("x=\"66.4\" y=\"44\"", PLAIN, "> &lt;<"),
            ("x=\"16.0\" y=\"62\"", "#f2777a", ">✗<"),
            ("x=\"32.8\" y=\"62\"", "#0102ff", ">x<"),
            ("x=\"41.2\" y=\"62\"", DIM, ">-<"),
        ];
        assert_eq!(texts.len(), expect.len(), "{picture}");
        for (text, (place, color, end)) in texts.iter().zip(expect) {
            assert!(text.contains(place) && text.contains(color) && text.contains(end), "{text}");
        }
        assert!(picture.contains("height=\"88\""), "{picture}");
    }
}
