//! Source maps: from a position in the code the engine runs to the user's source.
//!
//! A decoder of its own rather than a library's: only look-ups by generated position are needed, the file comes from
//! the user's bundler and may be broken in any way, and the names and embedded sources (megabytes in a bundle) are
//! dropped. Version 3 of the format, with and without `sections`.

use std::path::Path;

use base64::Engine as _;
use serde_json::Value;
use url::Url;

use crate::position::Position;

/// A decoded source map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// Names of the original sources, resolved against the map's own location.
    sources: Vec<String>,
    /// Sorted by generated position.
    segments: Vec<Segment>,
}

/// "From this generated position on, the code comes from that place." All numbers are 0-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Segment {
    line: u32,
    column: u32,
    /// `None`: generated code that belongs to no source.
    origin: Option<Origin>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    source: u32,
    line: u32,
    column: u32,
}

impl Map {
    /// Decodes a map. `base` is the URL the map's relative source names are resolved against (its own location).
    ///
    /// # Errors
    /// What is wrong with the map, as a fragment.
    pub(crate) fn parse(json: &str, base: Option<&Url>) -> Result<Self, String> {
        // Maps served over HTTP may start with this line to defeat cross-site inclusion.
        let json = json.strip_prefix(")]}'").unwrap_or(json);
        let value: Value = serde_json::from_str(json).map_err(|error| format!("invalid JSON: {error}"))?;
        let mut map = Self { sources: Vec::new(), segments: Vec::new() };
        if let Some(sections) = value.get("sections").and_then(Value::as_array) {
            for section in sections {
                let number = |name: &str| {
                    let value = section.get("offset").and_then(|o| o.get(name));
                    value.and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok())
                };
                let (Some(line), Some(column)) = (number("line"), number("column")) else {
                    return Err("a section has no offset".to_owned());
                };
                let inner = section.get("map").ok_or("a section has no map")?;
                map.add(inner, base, line, column)?;
            }
        } else {
            map.add(&value, base, 0, 0)?;
        }
        map.segments.sort_unstable();
        Ok(map)
    }

    /// A map with one source, from tokens of (generated line, generated column, line, column), all 0-based.
    pub(crate) fn from_tokens(source: &str, tokens: impl Iterator<Item = (u32, u32, u32, u32)>) -> Self {
        let mut segments: Vec<Segment> = tokens
            .map(|(line, column, source_line, source_column)| Segment {
                line,
                column,
                origin: Some(Origin { source: 0, line: source_line, column: source_column }),
            })
            .collect();
        segments.sort_unstable();
        Self { sources: vec![source.to_owned()], segments }
    }

    /// The source and position a generated position comes from.
    pub fn lookup(&self, generated: Position) -> Option<(&str, Position)> {
        let line = generated.line.checked_sub(1)?;
        let column = generated.column.saturating_sub(1);
        let end = self.segments.partition_point(|s| (s.line, s.column) <= (line, column));
        // Before the first segment of its line, a position belongs to that first segment.
        let segment = match self.segments[..end].last() {
            Some(segment) if segment.line == line => segment,
            _ => self.segments.get(end).filter(|s| s.line == line)?,
        };
        let origin = segment.origin?;
        let source = self.sources.get(origin.source as usize)?;
        let position = Position { line: origin.line.saturating_add(1), column: origin.column.saturating_add(1) };
        Some((source, position))
    }

    fn add(&mut self, value: &Value, base: Option<&Url>, line: u32, column: u32) -> Result<(), String> {
        if value.get("version").and_then(Value::as_u64) != Some(3) {
            return Err("not a source map of version 3".to_owned());
        }
        let first = u32::try_from(self.sources.len()).map_err(|_| "too many sources")?;
        let root = value.get("sourceRoot").and_then(Value::as_str).unwrap_or("");
        let sources = value.get("sources").and_then(Value::as_array).ok_or("no sources")?;
        for source in sources {
            self.sources.push(source_name(root, source.as_str().unwrap_or(""), base));
        }
        let mappings = value.get("mappings").and_then(Value::as_str).ok_or("no mappings")?;
        self.decode(mappings, first, line, column)
    }

    /// Appends the segments of `mappings`, shifted by a section's offset.
    fn decode(&mut self, mappings: &str, first_source: u32, line0: u32, column0: u32) -> Result<(), String> {
        let (mut source, mut source_line, mut source_column) = (0_i64, 0_i64, 0_i64);
        for (index, group) in mappings.split(';').enumerate() {
            let line = u32::try_from(index).ok().and_then(|i| line0.checked_add(i)).ok_or("too many lines")?;
            let mut column = if index == 0 { i64::from(column0) } else { 0 };
            for segment in group.split(',').filter(|segment| !segment.is_empty()) {
                let (fields, count) = vlq(segment)?;
                column += fields[0];
                let origin = match count {
                    1 => None,
                    4 | 5 => {
                        source += fields[1];
                        source_line += fields[2];
                        source_column += fields[3];
                        Some(Origin {
                            source: small(source)?.checked_add(first_source).ok_or("too many sources")?,
                            line: small(source_line)?,
                            column: small(source_column)?,
                        })
                    }
                    _ => return Err(format!("a segment with {count} fields")),
                };
                self.segments.push(Segment { line, column: small(column)?, origin });
            }
        }
        Ok(())
    }
}

/// The URL that the last `//# sourceMappingURL=` comment of a source names, if it is at the source's end.
pub(crate) fn mapping_url(source: &str) -> Option<&str> {
    const KEY: &str = "sourceMappingURL=";
    let at = source.rfind(KEY)?;
    let before = source[..at].trim_end_matches([' ', '\t']);
    let line_comment = before.ends_with("//#") || before.ends_with("//@");
    let block_comment = before.ends_with("/*#") || before.ends_with("/*@");
    if !line_comment && !block_comment {
        return None;
    }
    let rest = &source[at + KEY.len()..];
    let url_len = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (url, after) = rest.split_at(url_len);
    let url = if block_comment { url.trim_end_matches("*/") } else { url };
    let after = after.trim();
    (!url.is_empty() && (after.is_empty() || after == "*/")).then_some(url)
}

/// The content of a `data:` URL.
pub(crate) fn data_url(url: &str) -> Result<String, String> {
    let rest = url.strip_prefix("data:").ok_or("not a data: URL")?;
    let (kind, data) = rest.split_once(',').ok_or("a data: URL without a comma")?;
    let decoded = percent_decode(data);
    let bytes = if kind.rsplit(';').next().is_some_and(|last| last.trim() == "base64") {
        base64::engine::general_purpose::STANDARD_NO_PAD
            .decode(String::from_utf8_lossy(&decoded).trim_end_matches('='))
            .map_err(|error| format!("invalid base64: {error}"))?
    } else {
        decoded
    };
    String::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())
}

/// Decodes `%XX`; anything else stays as it is.
fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = bytes
            .get(at + 1..at + 3)
            .filter(|_| bytes[at] == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(escape.unwrap_or(bytes[at]));
        at += if escape.is_some() { 3 } else { 1 };
    }
    out
}

/// Bundlers write names such as `webpack://app/./src/x.ts` (kept) or `../src/x.ts` (made absolute).
fn source_name(root: &str, source: &str, base: Option<&Url>) -> String {
    let joined = if root.is_empty() || Url::parse(source).is_ok() || Path::new(source).is_absolute() {
        source.to_owned()
    } else {
        format!("{}/{source}", root.trim_end_matches('/'))
    };
    if let Ok(url) = Url::parse(&joined) {
        // Windows paths parse as URLs with a one-letter scheme; they are kept as well.
        return if url.scheme() == "file" { url.into() } else { joined };
    }
    base.and_then(|base| base.join(&joined).ok()).map_or(joined, String::from)
}

/// Decodes the base-64 variable-length numbers of one segment.
fn vlq(segment: &str) -> Result<([i64; 5], usize), String> {
    let mut fields = [0_i64; 5];
    let mut count = 0;
    let (mut value, mut shift) = (0_u64, 0_u32);
    for byte in segment.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => {
                return Err(format!("an invalid character in the mappings: {:?}", char::from(byte)));
            }
        };
        // 32-bit values take seven digits of five bits.
        if shift > 30 {
            return Err("a number in the mappings is too large".to_owned());
        }
        value |= u64::from(digit & 31) << shift;
        shift += 5;
        if digit & 32 != 0 {
            continue;
        }
        let magnitude = i64::try_from(value >> 1).map_err(|_| "a number is too large")?;
        *fields.get_mut(count).ok_or("a segment with more than 5 fields")? =
            if value & 1 == 1 { -magnitude } else { magnitude };
        count += 1;
        (value, shift) = (0, 0);
    }
    if shift != 0 {
        return Err("a segment ends in the middle of a number".to_owned());
    }
    Ok((fields, count))
}

fn small(value: i64) -> Result<u32, String> {
    u32::try_from(value).map_err(|_| "a position in the mappings is out of range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    fn base() -> Url {
        Url::parse("file:///p/dist/app.js.map").unwrap()
    }

    #[test]
    fn decodes_mappings() {
        let json =
            r#"{"version":3,"sources":["../src/a.ts","webpack://x/./b.js"],"names":[],"mappings":"AAAA,IAAI;;ACEJ,E"}"#;
        let map = Map::parse(json, Some(&base())).unwrap();
        let look = |line, column| map.lookup(at(line, column)).map(|(s, p)| (s.to_owned(), p));
        assert_eq!(look(1, 1), Some(("file:///p/src/a.ts".into(), at(1, 1))));
        assert_eq!(look(1, 4), Some(("file:///p/src/a.ts".into(), at(1, 1))));
        assert_eq!(look(1, 5), Some(("file:///p/src/a.ts".into(), at(1, 5))));
        assert_eq!(look(1, 500), Some(("file:///p/src/a.ts".into(), at(1, 5))));
        assert_eq!(look(2, 1), None);
        // The last segment has a generated column only: code of no source.
        assert_eq!(look(3, 1), Some(("webpack://x/./b.js".into(), at(3, 1))));
        assert_eq!(look(3, 3), None);
        assert_eq!(look(99, 1), None);
        assert_eq!(look(0, 0), None);
    }

    #[test]
    fn decodes_sections_and_source_root() {
        let json = r#"{"version":3,"sections":[
            {"offset":{"line":0,"column":0},"map":{"version":3,"sourceRoot":"/r/","sources":["a.ts"],"mappings":"AAAA"}},
            {"offset":{"line":1,"column":10},"map":{"version":3,"sources":["b.ts"],"mappings":"AACA;AAAA"}}]}"#;
        let map = Map::parse(json, Some(&base())).unwrap();
        assert_eq!(map.lookup(at(1, 1)), Some(("file:///r/a.ts", at(1, 1))));
        assert_eq!(map.lookup(at(2, 11)), Some(("file:///p/dist/b.ts", at(2, 1))));
        assert_eq!(map.lookup(at(3, 1)), Some(("file:///p/dist/b.ts", at(2, 1))));
    }

    #[test]
    fn broken_maps_are_errors() {
        for json in [
            "",
            "[]",
            "{}",
            r#"{"version":2,"sources":[],"mappings":""}"#,
            r#"{"version":3,"mappings":""}"#,
            r#"{"version":3,"sources":[]}"#,
            r#"{"version":3,"sources":[],"mappings":"!"}"#,
            r#"{"version":3,"sources":[],"mappings":"AA"}"#,
            r#"{"version":3,"sources":[],"mappings":"AAAAAA"}"#,
            r#"{"version":3,"sources":[],"mappings":"g"}"#,
            r#"{"version":3,"sources":[],"mappings":"D"}"#,
            r#"{"version":3,"sources":[],"mappings":"gggggggggggggggggA"}"#,
            r#"{"version":3,"sections":[{}]}"#,
        ] {
            assert!(Map::parse(json, None).is_err(), "{json}");
        }
        // A source index out of range is found at look-up.
        let map = Map::parse(r#"{"version":3,"sources":[],"mappings":"AAAA"}"#, None).unwrap();
        assert_eq!(map.lookup(at(1, 1)), None);
    }

    #[test]
    fn finds_the_mapping_url() {
        let check = |source: &str, expect: Option<&str>| {
            assert_eq!(mapping_url(source), expect, "{source:?}");
        };
        check("x\n//# sourceMappingURL=a.js.map", Some("a.js.map"));
        check("x\n//# sourceMappingURL=a.js.map\n\n", Some("a.js.map"));
        check("x\n//@ sourceMappingURL=a.js.map", Some("a.js.map"));
        check("x\n/*# sourceMappingURL=a.js.map */\n", Some("a.js.map"));
        check("x\n/*# sourceMappingURL=a.js.map*/\n", Some("a.js.map"));
        check("x\n//# sourceMappingURL=a.js.map\nfoo();", None);
        check("const s = 'sourceMappingURL=a'", None);
        check("//# sourceMappingURL=", None);
        check("", None);
    }

    #[test]
    fn reads_data_urls() {
        let check = |url: &str, expect: Option<&str>| {
            assert_eq!(data_url(url).ok().as_deref(), expect, "{url:?}");
        };
        check("data:application/json;charset=utf-8;base64,e30=", Some("{}"));
        check("data:application/json;base64,e30", Some("{}"));
        check("data:application/json,%7B%7D", Some("{}"));
        check("data:application/json;base64,***", None);
        check("data:application/json", None);
        check("data:;base64,/w==", None);
    }
}
