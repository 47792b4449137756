//! GJSON paths beyond what the library knows: the modifiers it lacks, and keys of objects in quotes.
//!
//! A path is cut at the first modifier of ours; what is before it is the library's, what is after it is asked of the
//! modifier's result. Everything works on JSON text, so that the order of keys stays.

/// The JSON text a path leads to; `None` when it leads nowhere, or the document is no JSON.
///
/// The library calls itself for every level of a document, so what is deep enough to exhaust a stack never reaches it:
/// neither the document nor what a modifier makes of it.
///
/// # Errors
///
/// When one of them is nested more than [`NESTING_MAX`] levels deep.
pub(super) fn find(json: &str, path: &str) -> Result<Option<String>, TooDeep> {
    if valid(json)? { select(json, path) } else { Ok(None) }
}

fn valid(json: &str) -> Result<bool, TooDeep> {
    if nesting(json) > NESTING_MAX { Err(TooDeep) } else { Ok(gjson::valid(json)) }
}

/// Deeper than any document people write, and shallow enough for the stack of a VU: the library takes some 200 bytes of
/// it a level.
const NESTING_MAX: usize = 500;

/// A document that is nested more than [`NESTING_MAX`] levels deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot look for a selector in JSON that is nested more than {NESTING_MAX} levels deep")]
pub(super) struct TooDeep;

/// The same in JSON that was judged.
fn select(json: &str, path: &str) -> Result<Option<String>, TooDeep> {
    if let Some(literal) = path.strip_prefix('!') {
        return self::literal(literal);
    }
    let Some(cut) = Cut::find(path) else { return Ok(library(json, path)) };
    if let Some(each) = cut.each {
        // After `#.` the rest is asked of each element, up to the next pipe.
        let Some(list) = library(json, each.list) else { return Ok(None) };
        let mut found = Vec::new();
        for element in elements(&list) {
            found.extend(select(&element, each.path)?);
        }
        let list = format!("[{}]", found.join(","));
        return go_on(list, each.rest);
    }
    let base = if cut.before.is_empty() { Some(json.to_owned()) } else { library(json, cut.before) };
    let Some(made) = cut.modifier.apply(base.as_deref(), cut.argument) else { return Ok(None) };
    if cut.modifier == Modifier::FromStr && !valid(&made)? {
        return Ok(None);
    }
    go_on(made, cut.rest)
}

/// Asks the rest of a path, if there is one, of JSON that was made on the way.
fn go_on(made: String, rest: &str) -> Result<Option<String>, TooDeep> {
    if rest.is_empty() { Ok(Some(made)) } else { find(&made, rest) }
}

/// A value that is in the path itself, and what is asked of it.
fn literal(text: &str) -> Result<Option<String>, TooDeep> {
    let bytes = text.as_bytes();
    let end = match bytes.first() {
        Some(b'"') => text[1..].find('"').map(|end| end + 2),
        // A number has a dot of its own; GJSON lets it end there, too.
        Some(_) => Some(component_end(bytes, 0)),
        None => None,
    };
    let Some(value) = end.and_then(|end| text.get(..end)) else { return Ok(None) };
    find(value, text.get(value.len() + 1..).filter(|rest| !rest.is_empty()).unwrap_or("@this"))
}

fn library(json: &str, path: &str) -> Option<String> {
    let path = bare_keys(path);
    let found = gjson::get(json, &path);
    found.exists().then(|| found.json().to_owned())
}

/// How deep objects and arrays are nested, whether or not the text is valid.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'\\' => _ = bytes.next(),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    deepest
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
            // Whether the text is JSON is for the caller to judge.
            Self::FromStr => serde_json::from_str(json?).ok(),
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
        let check =
            |path: &str, expect: Option<&str>| assert_eq!(find(JSON, path).unwrap().as_deref(), expect, "{path}");
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

    #[test]
    fn what_is_too_deep_is_refused_wherever_it_comes_from() {
        let deep = "[".repeat(NESTING_MAX + 1) + &"]".repeat(NESTING_MAX + 1);
        let nested = serde_json::json!({ "text": deep }).to_string();
        assert_eq!(find(&deep, "0"), Err(TooDeep));
        assert_eq!(find(&nested, "text.@fromstr"), Err(TooDeep));
        assert_eq!(find(&nested, "text.@fromstr.0"), Err(TooDeep));
        assert_eq!(find("{}", &format!("!{deep}.0")), Err(TooDeep));
        let allowed = &deep[1..deep.len() - 1];
        assert_eq!(find(allowed, "0").unwrap().as_deref(), Some(&allowed[1..allowed.len() - 1]));
        assert_eq!(find(allowed, "@dig:none|#").unwrap().as_deref(), Some("0"));
        // What is made of it may be deeper than itself.
        assert_eq!(find(allowed, "@dig:@this|0"), Err(TooDeep));
    }

    proptest! {
        #[test]
        fn no_path_panics(path in r#"[a-z@#.|:{}\[\]()"\\,=~!*?0-9]{0,24}"#) {
            let _ = find(JSON, &path);
        }
    }
}
