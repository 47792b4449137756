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
    /// Most forms of values: each log line is searched for all of them.
    pub const SECRETS_MAX: usize = 10_000;

    /// Registers a value. Its forms in JSON texts and in URLs count as well.
    ///
    /// # Errors
    /// When there are too many; the value must then not be given out.
    pub fn add(&self, value: &str) -> Result<(), TooManySecrets> {
        if value.is_empty() {
            return Ok(());
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.forms.contains(value) {
            return Ok(());
        }
        if state.forms.len() >= Self::SECRETS_MAX {
            return Err(TooManySecrets);
        }
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

/// A value as it is, within JSON, and in a URL.
fn forms(value: &str) -> Vec<String> {
    let quoted = serde_json::Value::from(value).to_string();
    let mut forms = vec![value.to_owned(), quoted[1..quoted.len() - 1].to_owned()];
    let (mut path, mut query) = (String::new(), String::new());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            path.push(char::from(byte));
            query.push(char::from(byte));
            continue;
        }
        // Writing to a String cannot fail.
        let _ = write!(path, "%{byte:02X}");
        if byte == b' ' {
            query.push('+');
        } else {
            let _ = write!(query, "%{byte:02X}");
        }
    }
    forms.extend([path, query]);
    forms.dedup();
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
