//! A log line, and how it looks: k6's text (with and without a terminal), JSON and raw. Where lines go is `terminal`'s
//! business, which lines there are `log`'s.

use std::{borrow::Cow, fmt::Write as _};

use onrush_fiber::{Clock, Nanos};
pub(crate) use onrush_js::log::{Level, Line};
use onrush_output::time::rfc3339;
use serde_json::{Map, Value};

/// `--log-format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    /// `key=value` pairs, or columns on a terminal.
    #[default]
    Text,
    /// One object a line.
    Json,
    /// The message alone.
    Raw,
}

impl Format {
    /// k6: an unknown format means text.
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "json" => Self::Json,
            "raw" => Self::Raw,
            _ => Self::Text,
        }
    }
}

/// A format and the place it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    /// The format.
    pub(crate) format: Format,
    /// Someone watches: seconds since the start instead of the time.
    pub(crate) is_terminal: bool,
    /// With colours.
    pub(crate) color: bool,
}

impl Style {
    /// The whole line with its line break.
    pub(crate) fn render(self, at: Nanos, line: &Line) -> String {
        match self.format {
            Format::Raw => format!("{}\n", line.message),
            Format::Json => json(at, line),
            Format::Text if self.is_terminal => self.columns(at, line),
            Format::Text => pairs(at, line),
        }
    }

    /// `INFO[0003] hello      source=console`.
    fn columns(self, at: Nanos, line: &Line) -> String {
        /// Messages are padded to this many characters, so that fields line up.
        const MESSAGE_WIDTH: usize = 44;
        let (name, color) = match line.level {
            Level::Debug => ("DEBU", "37"),
            Level::Info => ("INFO", "36"),
            Level::Warn => ("WARN", "33"),
            Level::Error => ("ERRO", "31"),
        };
        let (on, off) = if self.color { (format!("\x1b[{color}m"), "\x1b[0m") } else { (String::new(), "") };
        let message = line.message.strip_suffix('\n').unwrap_or(&line.message);
        let (message, frame) = split_frame(line, message);
        let message = harmless(message, line.is_console());
        let mut text = format!("{on}{name}{off}[{:04}] {message:<MESSAGE_WIDTH$} ", at.0 / 1_000_000_000);
        for (key, value) in sorted(line) {
            // Writing to a String cannot fail.
            let _ = write!(text, " {on}{key}{off}={}", quoted(value));
        }
        text.push('\n');
        push_frame(&mut text, &harmless(frame, false));
        text
    }
}

/// A text that does nothing to a terminal: servers and receivers have their words in messages. Lines and tabs stay, and with `has_colors`
/// the colours of a script that writes to its console.
fn harmless(text: &str, has_colors: bool) -> Cow<'_, str> {
    let is_harmful = |sign: char| sign.is_control() && !matches!(sign, '\n' | '\t') || turns(sign);
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find(is_harmful) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(color) = color(rest).filter(|_| has_colors) {
            shown.push_str(color);
            rest = &rest[color.len()..];
            continue;
        }
        let mut signs = rest.chars();
        if let Some(sign) = signs.next() {
            push_escaped(&mut shown, sign);
        }
        rest = signs.as_str();
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// Whether a sign changes the direction of those that follow it.
fn turns(sign: char) -> bool {
    matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The sequence for a colour that a text begins with.
fn color(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let length = parameters.find(|sign: char| !sign.is_ascii_digit() && sign != ';')?;
    parameters[length..].starts_with('m').then(|| &text[..length + 3])
}

/// `time="…" level=info msg=hello source=console`.
fn pairs(at: Nanos, line: &Line) -> String {
    let mut text = format!("time=\"{}\" level={}", rfc3339(Clock::unix_nanos(at)), level_name(line.level));
    let (message, frame) = split_frame(line, &line.message);
    // k6: an empty message leaves no pair.
    if !message.is_empty() {
        let _ = write!(text, " msg={}", quoted(message));
    }
    for (key, value) in sorted(line) {
        let _ = write!(text, " {key}={}", quoted(value));
    }
    text.push('\n');
    push_frame(&mut text, frame);
    text
}

/// A message and the source lines at its end, which are for people: within quotes nobody could read them. What a script
/// prints itself stays whole.
fn split_frame<'a>(line: &Line, message: &'a str) -> (&'a str, &'a str) {
    let is_frame_line = |line: &str| {
        let line = line.trim_start_matches(' ').trim_start_matches(|char: char| char.is_ascii_digit());
        line.starts_with(" |") || line.starts_with('|')
    };
    let is_console = line.is_console();
    match message.split_once('\n') {
        Some((first, frame)) if !is_console && !frame.is_empty() && frame.lines().all(is_frame_line) => (first, frame),
        _ => (message, ""),
    }
}

fn push_frame(text: &mut String, frame: &str) {
    if !frame.is_empty() {
        text.push_str(frame);
        text.push('\n');
    }
}

fn json(at: Nanos, line: &Line) -> String {
    let mut object: Map<String, Value> =
        line.fields.iter().map(|(key, value)| (key.clone().into_owned(), typed(key, value))).collect();
    object.insert("level".to_owned(), level_name(line.level).into());
    object.insert("msg".to_owned(), line.message.as_str().into());
    object.insert("time".to_owned(), rfc3339(Clock::unix_nanos(at)).into());
    object.sort_keys();
    // k6: Go escapes what could end a script element.
    let text = Value::Object(object).to_string();
    let mut escaped = String::with_capacity(text.len() + 1);
    for char in text.chars() {
        match char {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            other => escaped.push(other),
        }
    }
    escaped.push('\n');
    escaped
}

/// k6: VUs and iterations have numbers, in lines of `--http-debug`, the only ones with such fields.
fn typed(key: &str, value: &str) -> Value {
    match value.parse::<u64>() {
        Ok(number) if matches!(key, "iter" | "vu") => number.into(),
        _ => value.into(),
    }
}

fn sorted(line: &Line) -> Vec<(&str, &str)> {
    let mut fields: Vec<_> = line.fields.iter().map(|(key, value)| (&**key, value.as_str())).collect();
    fields.sort_unstable();
    fields
}

pub(crate) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warning",
        Level::Error => "error",
    }
}

/// The value itself, or Go's `%q` of it when it has more than letters, digits and a few signs.
fn quoted(value: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-._/@^+".contains(char);
    // k6: nor is an empty one.
    if value.chars().all(is_plain) {
        return value.to_owned();
    }
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for char in value.chars() {
        match char {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            other if other.is_control() || matches!(other, '\u{2028}' | '\u{2029}' | '\u{feff}') || turns(other) => {
                push_escaped(&mut text, other);
            }
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

/// A sign as Go writes it in quotes.
fn push_escaped(text: &mut String, sign: char) {
    match sign {
        '\u{7}' => text.push_str("\\a"),
        '\u{8}' => text.push_str("\\b"),
        '\u{b}' => text.push_str("\\v"),
        '\u{c}' => text.push_str("\\f"),
        '\r' => text.push_str("\\r"),
        // Writing to a String cannot fail.
        sign if (sign as u32) < 0x20 || sign as u32 == 0x7f => _ = write!(text, "\\x{:02x}", sign as u32),
        sign => _ = write!(text, "\\u{:04x}", sign as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, is_terminal: bool, color: bool, message: &str, expect: &str) {
        let line = Line {
            level: Level::Warn,
            message: message.to_owned(),
            fields: vec![("source".into(), "console".to_owned()), ("error".into(), "a b".to_owned())],
        };
        let text = Style { format, is_terminal, color }.render(Nanos(3_000_000_000), &line);
        // The wall clock is whatever it is.
        let time = rfc3339(Clock::unix_nanos(Nanos(3_000_000_000)));
        assert_eq!(text.replace(&time, "NOW"), expect);
    }

    #[test]
    fn a_terminal_shows_what_is_said_and_obeys_nothing() {
        let check = |text: &str, of_console: &str, of_others: &str| {
            assert_eq!(harmless(text, true), of_console, "{text:?}");
            assert_eq!(harmless(text, false), of_others, "{text:?}");
        };
        check("Größe\tand\na line", "Größe\tand\na line", "Größe\tand\na line");
        check("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m", "\\x1b[1;31mred\\x1b[0m");
        check("\x1b]0;title\x07 \x1b[2J", "\\x1b]0;title\\a \\x1b[2J", "\\x1b]0;title\\a \\x1b[2J");
        check("\u{202e}txt.exe\r\u{9b}m", "\\u202etxt.exe\\r\\u009bm", "\\u202etxt.exe\\r\\u009bm");
        check("\x1b[1;3", "\\x1b[1;3", "\\x1b[1;3");
        check("\x1b", "\\x1b", "\\x1b");
    }

    #[test]
    fn source_lines_stand_below_their_message() {
        let line = |message: &str, source: &str| Line {
            level: Level::Error,
            message: message.to_owned(),
            fields: vec![("source".into(), source.to_owned()), ("hint".into(), "add it".to_owned())],
        };
        let check = |is_terminal: bool, line: &Line, expect: &str| {
            let text = Style { format: Format::Text, is_terminal, color: false }.render(Nanos(3_000_000_000), line);
            let at = text.find(if is_terminal { "] " } else { "msg=" }).expect("a message");
            assert_eq!(&text[at..], expect);
        };
        let frame = "a.js:2:1: no\n  1 | let a;\n  2 | let a;\n    |     ^";
        let below = "  1 | let a;\n  2 | let a;\n    |     ^\n";
        check(false, &line(frame, "x"), &format!("msg=\"a.js:2:1: no\" hint=\"add it\" source=x\n{below}"));
        check(true, &line(frame, "x"), &format!("] {:<44}  hint=\"add it\" source=x\n{below}", "a.js:2:1: no"));
        let own = "msg=\"a.js:2:1: no\\n  1 | let a;\\n  2 | let a;\\n    |     ^\" hint=\"add it\" source=console\n";
        check(false, &line(frame, "console"), own);
        check(false, &line("a\n\tat b", "x"), "msg=\"a\\n\\tat b\" hint=\"add it\" source=x\n");
    }

    /// The texts were printed by k6 1.8.1.
    #[test]
    fn lines_look_as_in_k6() {
        let odd = "<a> \"q\" \n x\t é \u{1} & b";
        check(
            Format::Text,
            false,
            false,
            odd,
            "time=\"NOW\" level=warning msg=\"<a> \\\"q\\\" \\n x\\t é \\x01 & b\" error=\"a b\" source=console\n",
        );
        check(Format::Text, false, false, "", "time=\"NOW\" level=warning error=\"a b\" source=console\n");
        check(
            Format::Text,
            false,
            false,
            "a/b@c^d+e-f.g_h",
            "time=\"NOW\" level=warning msg=a/b@c^d+e-f.g_h error=\"a b\" source=console\n",
        );
        check(
            Format::Json,
            false,
            false,
            odd,
            "{\"error\":\"a b\",\"level\":\"warning\",\"msg\":\"\\u003ca\\u003e \\\"q\\\" \\n x\\t é \\u0001 \\u0026 b\",\"source\":\"console\",\"time\":\"NOW\"}\n",
        );
        check(Format::Raw, false, false, "as is", "as is\n");
        check(
            Format::Text,
            true,
            false,
            "hi",
            "WARN[0003] hi                                            error=\"a b\" source=console\n",
        );
        check(
            Format::Text,
            true,
            true,
            "hi { a: 1 }\n",
            "\x1b[33mWARN\x1b[0m[0003] hi { a: 1 }                                   \x1b[33merror\x1b[0m=\"a b\" \x1b[33msource\x1b[0m=console\n",
        );
    }
}
