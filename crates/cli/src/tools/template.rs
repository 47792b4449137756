//! Templates of `onrush new`: the part of Go's template language that means something where two texts are all there is
//! to put in. Fields, literals, variables, comments, `if`, `else`, `with`, and the functions on texts.
//!
//! The crate for the whole language, gtmpl 0.7, would print `<no value>` where a field is misspelt; it has neither `html`
//! nor `js`, and its line numbers are one too high.

use std::{collections::BTreeMap, fmt::Write as _};

/// Fills a template.
///
/// # Errors
/// What cannot be understood, with its line.
pub(super) fn fill(template: &str, name: &str, project: &str) -> Result<String, String> {
    let mut filler = Filler { name, project, variables: BTreeMap::new(), open: Vec::new() };
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let line = 1 + template[..template.len() - rest.len() + start].matches('\n').count();
        let at_line = |reason: String| format!("line {line}: {reason}");
        let inner = &rest[start + 2..];
        let len = action_len(inner).ok_or_else(|| at_line("{{ has no }}".to_owned()))?;
        if filler.is_active() {
            out.push_str(&rest[..start]);
        }
        let action = &inner[..len];
        let (left, action) = action.strip_prefix("- ").map_or((false, action), |action| (true, action));
        let (right, action) = action.strip_suffix(" -").map_or((false, action), |action| (true, action));
        if left && filler.is_active() {
            out.truncate(out.trim_end().len());
        }
        out.push_str(&filler.act(action.trim()).map_err(at_line)?);
        rest = &inner[len + 2..];
        if right {
            rest = rest.trim_start();
        }
    }
    if let Some(open) = filler.open.last() {
        return Err(format!("{{{{ {} }}}} has no {{{{ end }}}}", open.word));
    }
    out.push_str(rest);
    Ok(out)
}

/// Bytes up to the `}}` that ends an action; braces in texts and comments do not.
fn action_len(inner: &str) -> Option<usize> {
    let after_trim = inner.strip_prefix("- ").unwrap_or(inner).trim_start();
    if after_trim.starts_with("/*") {
        let end = inner.find("*/")?;
        return Some(end + inner[end..].find("}}")?);
    }
    let (mut quote, mut is_escaped) = (None, false);
    for (at, char) in inner.char_indices() {
        match quote {
            Some('"') if is_escaped => is_escaped = false,
            Some('"') if char == '\\' => is_escaped = true,
            Some(open) if open == char => quote = None,
            Some(_) => {}
            None if char == '"' || char == '`' => quote = Some(char),
            None if inner[at..].starts_with("}}") => return Some(at),
            None => {}
        }
    }
    None
}

struct Filler<'a> {
    name: &'a str,
    project: &'a str,
    variables: BTreeMap<String, Value>,
    /// `if` and `with` that have no `end` yet, the outermost first.
    open: Vec<Open>,
}

/// An `if` or a `with`.
struct Open {
    word: &'static str,
    /// What stands here now is put out.
    is_active: bool,
    /// One of the branches was.
    is_taken: bool,
    /// The last `else` has been.
    is_last: bool,
    /// What `.` is, in a `with`.
    dot: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Number(i64),
    Bool(bool),
}

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Self::Text(text) => !text.is_empty(),
            Self::Number(number) => *number != 0,
            Self::Bool(is) => *is,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Bool(is) => is.fmt(f),
        }
    }
}

impl Filler<'_> {
    fn is_active(&self) -> bool {
        self.open.iter().all(|open| open.is_active)
    }

    /// What an action puts out.
    fn act(&mut self, action: &str) -> Result<String, String> {
        let (word, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
        match word {
            _ if action.starts_with("/*") => {}
            "if" => self.begin("if", rest)?,
            "with" => self.begin("with", rest)?,
            "else" => self.otherwise(rest.trim())?,
            "end" if rest.trim().is_empty() => {
                self.open.pop().ok_or("{{ end }} without {{ if }}")?;
            }
            "range" | "define" | "template" | "block" | "break" | "continue" => {
                return Err(format!("{{{{ {word} }}}} is not supported: {KNOWN}"));
            }
            _ if !self.is_active() => {}
            _ if word.starts_with('$') && rest.trim_start().starts_with([':', '=']) => {
                let rest = rest.trim_start();
                let value =
                    self.value(rest.strip_prefix(":=").or_else(|| rest.strip_prefix('=')).unwrap_or_default())?;
                self.variables.insert(word.to_owned(), value);
            }
            _ => return Ok(self.value(action)?.to_string()),
        }
        Ok(String::new())
    }

    fn begin(&mut self, word: &'static str, condition: &str) -> Result<(), String> {
        let value = if self.is_active() { self.value(condition)? } else { Value::Bool(false) };
        let is_true = value.is_true();
        let dot = (word == "with").then_some(value);
        self.open.push(Open { word, is_active: is_true, is_taken: is_true, is_last: false, dot });
        Ok(())
    }

    fn otherwise(&mut self, rest: &str) -> Result<(), String> {
        let mut open = self.open.pop().filter(|open| !open.is_last).ok_or("{{ else }} without {{ if }}")?;
        open.dot = None;
        let is_next = !open.is_taken && self.is_active();
        open.is_active = if rest.is_empty() {
            open.is_last = true;
            is_next
        } else {
            let condition =
                rest.strip_prefix("if ").ok_or_else(|| format!("{{{{ else {rest} }}}} is not supported: {KNOWN}"))?;
            is_next && self.value(condition)?.is_true()
        };
        open.is_taken |= open.is_active;
        self.open.push(open);
        Ok(())
    }

    /// The value of a pipeline.
    fn value(&self, text: &str) -> Result<Value, String> {
        let mut tokens = Tokens(text);
        let value = self.pipeline(&mut tokens, 0)?;
        if tokens.0.trim().is_empty() { Ok(value) } else { Err(format!("{{{{ {} }}}} is not understood", text.trim())) }
    }

    fn pipeline(&self, tokens: &mut Tokens<'_>, depth: usize) -> Result<Value, String> {
        /// More parentheses than anybody writes.
        const DEPTH_MAX: usize = 50;
        if depth > DEPTH_MAX {
            return Err("parentheses are nested too deeply".to_owned());
        }
        let mut piped = None;
        loop {
            let mut words: Vec<Word> = Vec::new();
            while let Some(first) = tokens.peek().filter(|first| !matches!(first, '|' | ')')) {
                let token = tokens.next()?;
                if first != '(' {
                    words.push(self.word(token)?);
                    continue;
                }
                words.push(Word::Value(self.pipeline(tokens, depth + 1)?));
                if tokens.peek() != Some(')') {
                    return Err("( has no )".to_owned());
                }
                tokens.next()?;
            }
            words.extend(piped.take().map(Word::Value));
            let value = call(words)?;
            if tokens.peek() != Some('|') {
                return Ok(value);
            }
            tokens.next()?;
            piped = Some(value);
        }
    }

    fn word(&self, token: &str) -> Result<Word, String> {
        let dot = self.open.iter().rev().find_map(|open| open.dot.clone());
        Ok(match token {
            ".ScriptName" | "$.ScriptName" => Word::Value(Value::Text(self.name.to_owned())),
            ".ProjectID" | "$.ProjectID" => Word::Value(Value::Text(self.project.to_owned())),
            "." => Word::Value(dot.ok_or("{{ . }} is only known within {{ with }}")?),
            "true" | "false" => Word::Value(Value::Bool(token == "true")),
            _ if token.starts_with('`') => Word::Value(Value::Text(token.trim_matches('`').to_owned())),
            _ if token.starts_with('"') => {
                let text = serde_json::from_str(token).map_err(|error| format!("the text {token}: {error}"))?;
                Word::Value(Value::Text(text))
            }
            _ if token.starts_with('$') => {
                let value = self.variables.get(token).cloned();
                Word::Value(value.ok_or_else(|| format!("there is no variable {token}"))?)
            }
            _ if token.starts_with('.') => return Err(format!("{{{{ {token} }}}} is not supported: {KNOWN}")),
            _ => match token.parse() {
                Ok(number) => Word::Value(Value::Number(number)),
                Err(_) => Word::Function(token.to_owned()),
            },
        })
    }
}

const KNOWN: &str = "there are {{ .ScriptName }}, {{ .ProjectID }}, {{ if … }}, {{ else }}, {{ with … }} and {{ end }}";
const FUNCTIONS: &str = "and, eq, html, js, len, ne, not, or, print, printf, println and urlquery";

enum Word {
    Value(Value),
    Function(String),
}

/// A value alone, or a function and what it is given.
fn call(words: Vec<Word>) -> Result<Value, String> {
    let mut words = words.into_iter();
    let function = match words.next().ok_or("a value is missing")? {
        Word::Function(name) => name,
        Word::Value(value) if words.len() == 0 => return Ok(value),
        Word::Value(value) => return Err(format!("\"{value}\" is no function")),
    };
    let mut arguments = Vec::new();
    for word in words {
        match word {
            Word::Value(value) => arguments.push(value),
            Word::Function(name) => return Err(format!("{name} is no value; functions are {FUNCTIONS}")),
        }
    }
    let texts = || arguments.iter().map(ToString::to_string).collect::<Vec<_>>();
    let first = || arguments.first().ok_or_else(|| format!("{function} needs a value"));
    Ok(match function.as_str() {
        "not" => Value::Bool(!first()?.is_true()),
        "and" => {
            arguments.iter().find(|value| !value.is_true()).or_else(|| arguments.last()).unwrap_or(first()?).clone()
        }
        "or" => arguments.iter().find(|value| value.is_true()).or_else(|| arguments.last()).unwrap_or(first()?).clone(),
        "eq" => Value::Bool(arguments[1.min(arguments.len())..].iter().any(|other| Some(other) == arguments.first())),
        "ne" => Value::Bool(arguments.first() != arguments.get(1)),
        "len" => Value::Number(i64::try_from(first()?.to_string().len()).unwrap_or(i64::MAX)),
        "print" => Value::Text(texts().concat()),
        "println" => Value::Text(texts().join(" ") + "\n"),
        "printf" => Value::Text(printf(&texts())?),
        "js" => Value::Text(escaped(&texts().concat(), |char| match char {
            '\\' | '\'' | '"' => Some(format!("\\{char}")),
            '<' | '>' | '&' | '=' => Some(format!("\\u{:04X}", u32::from(char))),
            _ => (char < ' ').then(|| format!("\\u{:04X}", u32::from(char))),
        })),
        "html" => Value::Text(escaped(&texts().concat(), |char| {
            matches!(char, '&' | '\'' | '"' | '<' | '>').then(|| match char {
                '&' => "&amp;".to_owned(),
                '<' => "&lt;".to_owned(),
                '>' => "&gt;".to_owned(),
                other => format!("&#{};", u32::from(other)),
            })
        })),
        "urlquery" => Value::Text(escaped(&texts().concat(), |char| match char {
            ' ' => Some("+".to_owned()),
            _ if char.is_ascii_alphanumeric() || "-_.~".contains(char) => None,
            _ => Some(char.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect()),
        })),
        _ => return Err(format!("function \"{function}\" not defined; there are {FUNCTIONS}")),
    })
}

fn escaped(text: &str, escape: impl Fn(char) -> Option<String>) -> String {
    text.chars().map(|char| escape(char).unwrap_or_else(|| char.to_string())).collect()
}

/// `%s`, `%v`, `%d`, `%q` and `%%`.
fn printf(texts: &[String]) -> Result<String, String> {
    let (format, mut values) = match texts.split_first() {
        Some((format, values)) => (format, values.iter()),
        None => return Err("printf needs a format".to_owned()),
    };
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            out.push(char);
            continue;
        }
        let verb = chars.next();
        let mut value = || values.next().ok_or_else(|| format!("printf has no value for a part of \"{format}\""));
        match verb {
            Some('%') => out.push('%'),
            Some('s' | 'v' | 'd') => out.push_str(value()?),
            Some('q') => {
                let _ = write!(out, "{:?}", value()?);
            }
            _ => return Err(format!("printf knows %s, %v, %d, %q and %%, not what \"{format}\" has")),
        }
    }
    Ok(out)
}

/// Words of an action.
struct Tokens<'a>(&'a str);

impl<'a> Tokens<'a> {
    /// The first character of the next word.
    fn peek(&self) -> Option<char> {
        self.0.trim_start().chars().next()
    }

    /// The next word; empty at the end.
    fn next(&mut self) -> Result<&'a str, String> {
        let text = self.0.trim_start();
        let len = match text.chars().next() {
            None => 0,
            Some('(' | ')' | '|') => 1,
            Some(quote @ ('"' | '`')) => {
                let mut is_escaped = false;
                let end = text.char_indices().skip(1).find(|(_, char)| {
                    let is_end = *char == quote && !is_escaped;
                    is_escaped = *char == '\\' && quote == '"' && !is_escaped;
                    is_end
                });
                end.ok_or_else(|| format!("the text {text} has no end"))?.0 + 1
            }
            Some(_) => text.find(|char: char| char.is_whitespace() || "()|".contains(char)).unwrap_or(text.len()),
        };
        let (word, rest) = text.split_at(len);
        self.0 = rest;
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, project: &str, expect: Result<&str, &str>) {
        let got = fill(template, "a.js", project);
        assert_eq!(got.as_deref().map_err(String::as_str), expect, "{template}");
    }

    /// The texts were printed by k6 1.8.1.
    #[test]
    fn templates_are_filled_as_by_k6() {
        check("// {{ .ScriptName }} {{.ProjectID}}\n", "7", Ok("// a.js 7\n"));
        check("a{{ if .ProjectID }}b{{ .ProjectID }}{{ end }}c", "", Ok("ac"));
        check("a\n{{- if .ProjectID }}\nb{{ end }}\nc", "7", Ok("a\nb\nc"));
        check("a {{- if .ProjectID -}} x {{- else -}} y {{- end -}} b", "7", Ok("axb"));
        check("a {{- if .ProjectID -}} x {{- else -}} y {{- end -}} b", "", Ok("ayb"));
        check("{{/* c }} */}}z{{- /* c */ -}} z", "7", Ok("zz"));
        check(r#"{{ "lit" }} {{ printf "%s!" .ScriptName }}"#, "7", Ok("lit a.js!"));
        check("{{ .ScriptName | js }} {{ len .ScriptName }}", "7", Ok("a.js 4"));
        check(r#"{{ if eq .ProjectID "7" }}seven{{ end }}"#, "7", Ok("seven"));
        check("{{ if not .ProjectID }}none{{ else if .ScriptName }}else{{ end }}", "7", Ok("else"));
        check("{{ if not .ProjectID }}none{{ else if .ScriptName }}else{{ end }}", "", Ok("none"));
        check("{{ with .ProjectID }}w {{ . }}{{ end }}", "7", Ok("w 7"));
        check("{{ $x := .ScriptName }}{{ $x }}", "7", Ok("a.js"));
        check(r#"{{.ScriptName}} }} {{ "{{" }}"#, "7", Ok("a.js }} {{"));
        check(r#"{{ if and .ProjectID (ne .ProjectID "8") }}{{ "a\"}}b" }}{{ end }}"#, "7", Ok("a\"}}b"));
        check("{{ if .ProjectID }}{{ if .Nope }}{{ end }}{{ end }}", "", Ok(""));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        check(
            "\n{{ range .X }}",
            "",
            Err(
                "line 2: {{ range }} is not supported: there are {{ .ScriptName }}, {{ .ProjectID }}, {{ if … }}, {{ else }}, {{ with … }} and {{ end }}",
            ),
        );
        check(
            "{{ .Nope }}",
            "",
            Err(
                "line 1: {{ .Nope }} is not supported: there are {{ .ScriptName }}, {{ .ProjectID }}, {{ if … }}, {{ else }}, {{ with … }} and {{ end }}",
            ),
        );
        check("{{ if .ProjectID }}", "", Err("{{ if }} has no {{ end }}"));
        check("{{", "", Err("line 1: {{ has no }}"));
        check("{{ end }}", "", Err("line 1: {{ end }} without {{ if }}"));
        check("{{ else }}", "", Err("line 1: {{ else }} without {{ if }}"));
        check(
            "{{ upper .ScriptName }}",
            "",
            Err(
                "line 1: function \"upper\" not defined; there are and, eq, html, js, len, ne, not, or, print, printf, println and urlquery",
            ),
        );
        check("{{ (.ScriptName }}", "", Err("line 1: ( has no )"));
        check("{{ $x }}", "", Err("line 1: there is no variable $x"));
        check("{{ }}", "", Err("line 1: a value is missing"));
    }

    /// All sequences of four pieces between braces.
    #[test]
    fn nothing_panics() {
        let pieces = [
            "{{", "}}", "if ", "else", "end", "$x", ":=", "(", ")", "|", "\"", "`", "/*", "*/", " - ", "printf ", "%é",
            ".",
        ];
        let count = pieces.len();
        for number in 0..count.pow(4) {
            let piece = |place: u32| pieces[number / count.pow(place) % count];
            let _ = fill(&format!("{{{{ {}{}{}{}}}}}", piece(0), piece(1), piece(2), piece(3)), "é", "7");
        }
    }
}
