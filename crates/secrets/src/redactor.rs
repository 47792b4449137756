//! Replaces secret values in texts.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    fmt::Write as _,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use aho_corasick::AhoCorasick;
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

/// k6's words for a secret in a log.
const MARK: &str = "***SECRET_REDACTED***";

/// The values that must not be logged.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Whether there is any value: the one question of a run without secrets.
    is_armed: AtomicBool,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    values: BTreeSet<String>,
    /// The values and the forms they take within other texts.
    forms: BTreeSet<String>,
    /// Finds them all; made anew when there are more.
    finder: Option<AhoCorasick>,
    is_outdated: bool,
}

/// A script asked for more different secrets than are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {} different secrets were read", Redactor::SECRETS_MAX)]
pub struct TooManySecrets;

impl Redactor {
    /// Most values: each log line is searched for all forms of all of them.
    pub const SECRETS_MAX: usize = 10_000;

    /// Registers a value. Its forms in JSON texts, in URLs and in Base64 count as well.
    ///
    /// # Errors
    /// When there are too many; the value must then not be given out.
    pub fn add(&self, value: &str) -> Result<(), TooManySecrets> {
        if value.is_empty() {
            return Ok(());
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.values.contains(value) {
            return Ok(());
        }
        if state.values.len() >= Self::SECRETS_MAX {
            return Err(TooManySecrets);
        }
        state.values.insert(value.to_owned());
        for form in forms(value) {
            state.is_outdated |= state.forms.insert(form);
        }
        self.is_armed.store(true, Ordering::Release);
        Ok(())
    }

    /// The text with every secret replaced, those that overlap or hold each other together.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.is_armed.load(Ordering::Acquire) {
            return Cow::Borrowed(text);
        }
        {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            if !state.is_outdated {
                return state.redact(text);
            }
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.finder = AhoCorasick::new(&state.forms).ok();
        state.is_outdated = false;
        state.redact(text)
    }
}

impl State {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(finder) = &self.finder else {
            // The values together are too large to be searched for: then nothing is shown.
            return Cow::Borrowed(MARK);
        };
        let mut spans: Vec<(usize, usize)> =
            finder.find_overlapping_iter(text).map(|found| (found.start(), found.end())).collect();
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        spans.sort_unstable();
        let mut redacted = String::with_capacity(text.len());
        let (mut shown, mut spans) = (0, spans.into_iter().peekable());
        while let Some((start, mut end)) = spans.next() {
            // Values side by side stay two; those that share a byte are one.
            while let Some((_, next_end)) = spans.next_if(|(next, _)| *next < end) {
                end = end.max(next_end);
            }
            redacted.push_str(&text[shown..start]);
            redacted.push_str(MARK);
            shown = end;
        }
        redacted.push_str(&text[shown..]);
        Cow::Owned(redacted)
    }
}

/// A value as it is, within JSON, in the places of a URL, and in Base64.
fn forms(value: &str) -> Vec<String> {
    let quoted = serde_json::Value::from(value).to_string();
    let mut forms = vec![value.to_owned(), quoted[1..quoted.len() - 1].to_owned()];
    for kept in KEPT_IN_URLS {
        let upper = percent_encoded(value, kept);
        for escaped in [lower_escapes(&upper), upper] {
            forms.push(escaped.replace("%20", "+"));
            forms.push(escaped);
        }
    }
    forms.extend(in_base64(value));
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// What stays as it is beside letters and digits, by where a value may stand: everything escaped (Go's queries),
/// `encodeURIComponent`, a path's segment, a path (Go's, WHATWG's), user and password, a query (WHATWG's), a fragment and
/// `encodeURI`.
const KEPT_IN_URLS: [&str; 9] = [
    "-_.~",
    "-_.~!'()*",
    "-_.~$&+=:@",
    "-_.~$&+=:@/;,",
    "-_.~!$&'()*+,;=:@/|\\[]^%",
    "-_.~!$&'()*+,%",
    "-_.~!$&()*+,;=:@/?|\\[]^`{}%",
    "-_.~!$&'()*+,;=:@/?|\\[]^{}#%",
    "-_.~!$&'()*+,;=:@/?#",
];

fn percent_encoded(value: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// The same with `%2f` for `%2F`.
fn lower_escapes(encoded: &str) -> String {
    let mut lower = String::with_capacity(encoded.len());
    let mut escaped = 0;
    for char in encoded.chars() {
        lower.push(if escaped > 0 { char.to_ascii_lowercase() } else { char });
        escaped = if char == '%' { 2 } else { u32::saturating_sub(escaped, 1) };
    }
    lower
}

/// What of a value shows in the Base64 of a text that holds it, such as `user:secret` of Basic authentication: three
/// forms, by where within three bytes it begins, each without the characters that depend on what stands around it. In
/// both alphabets. Short values are left out: of them too little is left to tell them from other text.
fn in_base64(value: &str) -> Vec<String> {
    const BYTES_MIN: usize = 6;
    if value.len() < BYTES_MIN {
        return Vec::new();
    }
    let mut forms = Vec::new();
    for before in 0..3 {
        let text = [&b"\0\0"[..before], value.as_bytes()].concat();
        let encoded = STANDARD_NO_PAD.encode(&text);
        // The first character that holds bits of the value only, and the end of the last one.
        let start = (before * 8).div_ceil(6);
        let end = text.len() * 8 / 6;
        let Some(inner) = encoded.get(start..end) else { continue };
        forms.push(inner.replace('+', "-").replace('/', "_"));
        forms.push(inner.to_owned());
    }
    forms
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(secrets: &[&str], text: &str, expect: &str) {
        let redactor = Redactor::default();
        secrets.iter().for_each(|secret| redactor.add(secret).expect("few"));
        assert_eq!(redactor.redact(text), expect, "{secrets:?}");
    }

    #[test]
    fn values_are_replaced() {
        let m = MARK;
        check(&[], "nothing", "nothing");
        check(&[""], "nothing", "nothing");
        check(&["secret1"], "a secret1, secret1", &format!("a {m}, {m}"));
        // k6 leaves the 2.
        check(&["secret1", "secret12"], "secret12 secret1", &format!("{m} {m}"));
        check(&["abcd", "cdef"], "xabcdefx", &format!("x{m}x"));
        check(&["aa"], "aaaaa", m);
        check(&["s"], "yes", &format!("ye{m}"));
        check(&["A"], "A B", &format!("{m} B"));
        check(
            &["a \"b\""],
            "{\"v\":\"a \\\"b\\\"\"} http://h/?q=a%20%22b%22 ?q=a+%22b%22",
            &format!("{{\"v\":\"{m}\"}} http://h/?q={m} ?q={m}"),
        );
        check(&["é"], "é e", &format!("{m} e"));
        check(&["one\ntwo"], "one\ntwo", m);
    }

    /// The texts on the right are what JavaScript, Go and browsers make of it.
    #[test]
    fn encoded_values_are_replaced() {
        let secret = "it's (50%)/é*";
        for form in [
            "it's%20(50%25)%2F%C3%A9*",
            "it%27s+%2850%25%29%2F%C3%A9%2A",
            "it%27s+%2850%25%29%2f%c3%a9%2a",
            "it%27s%20%2850%25%29/%C3%A9%2A",
            "it's%20(50%25)/%C3%A9*",
            "it's%20(50%)/%C3%A9*",
        ] {
            check(&[secret], &format!("http://h/{form}?q={form}&"), &format!("http://h/{MARK}?q={MARK}&"));
        }
        let basic = "Zm9vOkIjcD9hc3N+d29yZA";
        check(
            &["B#p?ass~word"],
            &format!("Authorization: Basic {basic}=="),
            &format!("Authorization: Basic Zm9vOk{MARK}A=="),
        );
        for before in ["", "u", "us", "user:"] {
            let text = STANDARD_NO_PAD.encode(format!("{before}B#p?ass~word, and more"));
            let redactor = Redactor::default();
            redactor.add("B#p?ass~word").expect("few");
            assert!(redactor.redact(&text).contains(MARK), "{text}");
        }
        check(&["abc"], "YWJj", "YWJj");
    }

    #[test]
    fn their_number_is_limited() {
        let redactor = Redactor::default();
        let added = (0..2 * Redactor::SECRETS_MAX)
            .map(|index| redactor.add(&format!("value{index}")))
            .take_while(Result::is_ok);
        assert_eq!(added.count(), Redactor::SECRETS_MAX);
        assert_eq!(redactor.redact("value1"), MARK);
    }

    proptest! {
        #[test]
        fn no_secret_is_left(secrets in prop::collection::vec("[abc]{1,4}", 1..5), parts in prop::collection::vec("[abcx]{0,6}", 0..8)) {
            let redactor = Redactor::default();
            secrets.iter().for_each(|secret| redactor.add(secret).expect("few"));
            let text = parts.concat();
            let redacted = redactor.redact(&text);
            for piece in redacted.split(MARK) {
                prop_assert!(secrets.iter().all(|secret| !piece.contains(secret.as_str())), "{redacted}");
            }
        }
    }
}
