//! GJSON paths beyond what the library knows: the modifiers it lacks, and keys of objects in quotes.
//!
//! A path is cut at the first modifier of ours; what is before it is the library's, what is after it is asked of the
//! modifier's result. Everything works on JSON text, so that the order of keys stays.

use super::json::{NESTING_MAX, nesting};

/// The JSON text a path leads to, if it leads anywhere. `json` is valid JSON.
pub(super) fn select(json: &str, path: &str) -> Option<String> {
    if let Some(literal) = path.strip_prefix('!') {
        return self::literal(literal);
    }
    let Some(cut) = Cut::find(path) else { return library(json, path) };
    if let Some(each) = cut.each {
        // After `#.` the rest is asked of each element, up to the next pipe.
        let list = library(json, each.list)?;
        let found: Vec<String> = elements(&list).iter().filter_map(|element| select(element, each.path)).collect();
        let list = format!("[{}]", found.join(","));
        return if each.rest.is_empty() { Some(list) } else { select(&list, each.rest) };
    }
    let base = if cut.before.is_empty() { Some(json.to_owned()) } else { library(json, cut.before) };
    let result = cut.modifier.apply(base.as_deref(), cut.argument)?;
    if cut.rest.is_empty() { Some(result) } else { select(&result, cut.rest) }
}

/// A value that is in the path itself, and what is asked of it.
fn literal(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let end = match bytes.first()? {
        b'"' => text[1..].find('"')? + 2,
        // A number has a dot of its own; GJSON lets it end there, too.
        _ => component_end(bytes, 0),
    };
    let value = text.get(..end).filter(|value| gjson::valid(value))?;
    match text.get(end + 1..).filter(|rest| !rest.is_empty()) {
        Some(rest) => select(value, rest),
        None => Some(value.to_owned()),
    }
}

fn library(json: &str, path: &str) -> Option<String> {
    // The whole document was judged, but `@fromstr` makes documents of texts.
    if nesting(json) > NESTING_MAX {
        return None;
    }
    let path = bare_keys(path);
    let found = gjson::get(json, &path);
    found.exists().then(|| found.json().to_owned())
}

/// Modifiers the library lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modifier {
    Keys,
    Values,
    ToStr,
    FromStr,
    Group,
    Dig,
}

impl Modifier {
    const ALL: [(&'static str, Self); 6] = [
        ("keys", Self::Keys),
        ("values", Self::Values),
        ("tostr", Self::ToStr),
        ("fromstr", Self::FromStr),
        ("group", Self::Group),
        ("dig", Self::Dig),
    ];

    /// `json` is none where the path before led nowhere.
    fn apply(self, json: Option<&str>, argument: &str) -> Option<String> {
        let list = |items: Vec<String>| Some(format!("[{}]", items.join(",")));
        let is_object = json.is_some_and(|json| json.trim_start().starts_with('{'));
        match self {
            Self::Keys => {
                let Some(json) = json else { return list(Vec::new()) };
                let mut keys = Vec::new();
                each(json, |key, _| keys.push(if is_object { key.to_owned() } else { "null".to_owned() }));
                list(keys)
            }
            Self::Values => {
                let Some(json) = json else { return list(Vec::new()) };
                let mut values = Vec::new();
                each(json, |_, value| values.push(value.to_owned()));
                list(values)
            }
            Self::Dig => {
                let mut found = Vec::new();
                dig(json?, argument, 0, &mut found);
                list(found)
            }
            Self::ToStr => Some(serde_json::Value::String(json?.to_owned()).to_string()),
            Self::FromStr => {
                let text: String = serde_json::from_str(json?).ok()?;
                gjson::valid(&text).then_some(text)
            }
            Self::Group => {
                let json = json.filter(|_| is_object)?;
                let mut rows: Vec<String> = Vec::new();
                each(json, |key, value| {
                    if value.starts_with('[') {
                        for (index, item) in elements(value).iter().enumerate() {
                            if rows.len() == index {
                                rows.push(String::new());
                            }
                            let row = &mut rows[index];
                            row.push_str(if row.is_empty() { "" } else { "," });
                            row.push_str(&format!("{key}:{item}"));
                        }
                    }
                });
                list(rows.iter().map(|row| format!("{{{row}}}")).collect())
            }
        }
    }
}

/// What a path leads to at any depth, outer values first.
fn dig(json: &str, path: &str, depth: usize, found: &mut Vec<String>) {
    // The parser of the JSON itself has a limit of this order.
    const DEPTH_MAX: usize = 500;
    if depth > DEPTH_MAX || path.is_empty() {
        return;
    }
    found.extend(library(json, path));
    if json.trim_start().starts_with(['{', '[']) {
        each(json, |_, value| dig(value, path, depth + 1, found));
    }
}

/// The members of an object or array as text; any other value is its own only member.
fn each(json: &str, mut take: impl FnMut(&str, &str)) {
    let value = gjson::parse(json);
    if !json.trim_start().starts_with(['{', '[']) {
        return take("", json);
    }
    value.each(|key, value| {
        take(key.json(), value.json());
        true
    });
}

fn elements(json: &str) -> Vec<String> {
    let mut found = Vec::new();
    each(json, |_, value| found.push(value.to_owned()));
    found
}

/// A path around the first modifier of ours.
struct Cut<'a> {
    before: &'a str,
    modifier: Modifier,
    argument: &'a str,
    rest: &'a str,
    /// The modifier is asked of each element of a list.
    each: Option<Each<'a>>,
}

struct Each<'a> {
    list: &'a str,
    path: &'a str,
    rest: &'a str,
}

impl<'a> Cut<'a> {
    fn find(path: &'a str) -> Option<Self> {
        let bytes = path.as_bytes();
        let (mut at, mut list) = (0, None);
        while at < bytes.len() {
            let end = component_end(bytes, at);
            let component = &path[at..end];
            if let Some(named) = component.strip_prefix('@') {
                let (name, argument) = named.split_once(':').unwrap_or((named, ""));
                if let Some((_, modifier)) = Modifier::ALL.iter().find(|(known, _)| *known == name) {
                    let rest = path.get(end + 1..).unwrap_or_default();
                    let each = list.map(|(list, start)| {
                        let pipe = pipe_after(bytes, start);
                        Each {
                            list: &path[..list],
                            path: &path[start..pipe],
                            rest: path.get(pipe + 1..).unwrap_or_default(),
                        }
                    });
                    let before = &path[..at.saturating_sub(1)];
                    return Some(Self { before, modifier: *modifier, argument, rest, each });
                }
            }
            if list.is_none() && bytes.get(end) == Some(&b'.') {
                // `#` is the list before it, `#(…)#` one of its own.
                if component == "#" {
                    list = Some((at.saturating_sub(1), end + 1));
                } else if component.starts_with("#(") && component.ends_with(")#") {
                    list = Some((end, end + 1));
                }
            }
            if bytes.get(end) == Some(&b'|') {
                list = None;
            }
            at = end + 1;
        }
        None
    }
}

/// Where the component that begins at `at` ends: at a dot or a pipe, or with the path.
fn component_end(path: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    let mut is_quoted = false;
    while at < path.len() {
        match path[at] {
            b'\\' => at += 1,
            b'"' if depth > 0 => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'.' | b'|' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    path.len()
}

fn pipe_after(path: &[u8], mut at: usize) -> usize {
    while at < path.len() {
        at = component_end(path, at);
        if path.get(at) == Some(&b'|') {
            return at;
        }
        at += 1;
    }
    path.len()
}

/// The path with the quotes taken off keys of objects it makes: the library takes those as they are.
fn bare_keys(path: &str) -> std::borrow::Cow<'_, str> {
    if !path.contains("\":") {
        return path.into();
    }
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(start) = rest.find(['{', ',']) {
        let (before, after) = rest.split_at(start + 1);
        out.push_str(before);
        rest = after;
        let key = after.strip_prefix('"').and_then(|quoted| quoted.split_once("\":"));
        if let Some((key, after)) = key.filter(|(key, _)| is_plain_key(key)) {
            out.push_str(key);
            out.push(':');
            rest = after;
        }
    }
    out.push_str(rest);
    out.into()
}

/// A key that means the same without its quotes.
fn is_plain_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || " _-.$/".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const JSON: &str = r#"{"b":{"y":1,"x":[1,2]},"list":[{"k":1},{"k":2,"l":3}],"text":"{\"in\":[1,2]}","n":5,
        "cols":{"id":[1,2],"name":["a"]}}"#;

    #[test]
    fn paths() {
        let check = |path: &str, expect: Option<&str>| assert_eq!(select(JSON, path).as_deref(), expect, "{path}");
        check("b.y", Some("1"));
        check("b.@keys", Some(r#"["y","x"]"#));
        check("b.@keys.1", Some(r#""x""#));
        check("b.@keys|#", Some("2"));
        check("b|@values|1.0", Some("1"));
        check("n.@keys", Some("[null]"));
        check("none.@keys", Some("[]"));
        check("list.#.@keys", Some(r#"[["k"],["k","l"]]"#));
        check("list.#.@keys|1", Some(r#"["k","l"]"#));
        check(r"list.#(k>1)#.@values.0", Some("[2]"));
        check("b.y.@tostr", Some("\"1\""));
        check("text.@fromstr.in.1", Some("2"));
        check("n.@fromstr", None);
        check("@dig:k", Some("[1,2]"));
        check("list.@dig:l", Some("[3]"));
        check("@dig", Some("[]"));
        check(r#"!"a.b""#, Some(r#""a.b""#));
        check(r#"!{"a":1}.a"#, Some("1"));
        check("!nonsense", None);
        check("cols.@group", Some(r#"[{"id":1,"name":"a"},{"id":2}]"#));
        check(r#"{"a":b.y,"the n":n}"#, Some(r#"{"a":1,"the n":5}"#));
        check(r#"{"o":{"i":n}}.o.i"#, Some("5"));
        check(r#"list.#(k=="{\"a\":").k"#, None);
        check(r"b\.@keys", None);
    }

    proptest! {
        #[test]
        fn no_path_panics(path in r#"[a-z@#.|:{}\[\]()"\\,=~!*?0-9]{0,24}"#) {
            let _ = select(JSON, &path);
        }
    }
}
