//! Finding numbers in what tools print.

use serde_json::Value;

/// The number after a label: of the first line that begins with it.
pub(crate) fn number_after(text: &str, label: &str) -> Option<f64> {
    word_after(text, label).and_then(|word| number(&word))
}

/// The first word after a label, of the first line that begins with it.
pub(crate) fn word_after(text: &str, label: &str) -> Option<String> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(label)?.split_whitespace().next().map(str::to_owned))
}

/// `1,234.5`, `1234.5%` or `[12` as a number.
pub(crate) fn number(word: &str) -> Option<f64> {
    let plain: String = word.chars().filter(|character| !matches!(character, ',' | '%' | '[' | ']')).collect();
    plain.parse().ok().filter(|number: &f64| number.is_finite())
}

/// `1.5ms`, `350us`, `2.1s` or `1.2m` in milliseconds.
pub(crate) fn milliseconds(word: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 7] =
        [("ns", 1e-6), ("us", 1e-3), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6)];
    UNITS.iter().find_map(|(unit, scale)| Some(word.strip_suffix(unit)?.parse::<f64>().ok()? * scale))
}

/// The first JSON object in a text that may have other lines before and after it.
pub(crate) fn json(text: &str) -> Option<Value> {
    let from = text.find('{')?;
    serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>().next()?.ok()
}

/// A number at a path such as `/latency/mean`.
pub(crate) fn at(value: &Value, pointer: &str) -> Option<f64> {
    let found = value.pointer(pointer)?;
    found.as_f64().or_else(|| number(found.as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_texts() {
        let text = "Total: 3\n  Requests/sec:\t 1,655.5 x\n";
        assert_eq!(number_after(text, "Requests/sec:"), Some(1655.5));
        assert_eq!(number_after(text, "Failed:"), None);
        assert_eq!(number("NaN"), None);
        assert_eq!(
            ["1.5ms", "500us", "2s", "1m", "x"].map(milliseconds),
            [Some(1.5), Some(0.5), Some(2e3), Some(6e4), None]
        );
        let value = json("warning\n{\"a\": {\"b\": [1, \"2.5\"]}}\nbye").unwrap();
        assert_eq!((at(&value, "/a/b/0"), at(&value, "/a/b/1"), at(&value, "/c")), (Some(1.0), Some(2.5), None));
        assert!(json("no").is_none());
    }
}
