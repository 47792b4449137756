//! The lock file: which contents modules must have.
//!
//! JSON, so that anybody can read and check it: `{"version": 1, "modules": {"https://…": "sha256:…"}}`.

use std::{collections::BTreeMap, fmt::Write as _};

use onrush_crypto::Hash;
use serde_json::Value;

/// Hashes of modules by their URLs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    modules: BTreeMap<String, String>,
}

/// A lock file that cannot be used: what is wrong in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockError(String);

impl std::error::Error for LockError {}

impl std::fmt::Display for LockError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The version of the format.
const VERSION: u64 = 1;
/// How hashes begin.
const SHA256: &str = "sha256:";

impl Lock {
    /// Reads a lock file.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let wrong = |reason: String| Err(LockError(reason));
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => return wrong(format!("it is not JSON: {error}")),
        };
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => return wrong(format!("it has version {other}, and this version of Onrush knows {VERSION}")),
            None => return wrong("it has no version".to_owned()),
        }
        let Some(Value::Object(entries)) = value.get("modules") else {
            return wrong("'modules' must be an object".to_owned());
        };
        let mut modules = BTreeMap::new();
        for (url, hash) in entries {
            let hash = hash.as_str().filter(|hash| is_hash(hash));
            let Some(hash) = hash else {
                return wrong(format!("the hash of {url} must be {SHA256} and 64 hexadecimal digits"));
            };
            modules.insert(url.clone(), hash.to_ascii_lowercase());
        }
        Ok(Self { modules })
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        let value = serde_json::json!({ "version": VERSION, "modules": self.modules });
        format!("{value:#}\n")
    }

    /// The hash a module must have.
    pub fn get(&self, url: &str) -> Option<&str> {
        self.modules.get(url).map(String::as_str)
    }

    /// URLs and hashes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.modules.iter().map(|(url, hash)| (url.as_str(), hash.as_str()))
    }

    /// How many modules there are.
    pub fn len(&self) -> usize {
        self.modules.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }

    /// Takes over what another lock file says; where both know a module, the other one's hash counts.
    pub fn extend(&mut self, other: Self) {
        self.modules.extend(other.modules);
    }
}

impl From<BTreeMap<String, String>> for Lock {
    fn from(modules: BTreeMap<String, String>) -> Self {
        Self { modules }
    }
}

/// The hash of some bytes as lock files have it.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut text = SHA256.to_owned();
    for byte in Hash::Sha256.digest(bytes).iter() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The digits of a hash, which are safe as a file name.
pub(crate) fn digits(hash: &str) -> Option<&str> {
    hash.strip_prefix(SHA256).filter(|_| is_hash(hash))
}

fn is_hash(text: &str) -> bool {
    text.strip_prefix(SHA256).is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|d| d.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let mut lock = Lock::from(BTreeMap::from([("https://h/a.js".to_owned(), hash(b"a"))]));
        lock.extend(Lock::from(BTreeMap::from([("https://h/b.js?v=1".to_owned(), hash(b""))])));
        assert_eq!(Lock::parse(&lock.to_text()).unwrap(), lock);
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(lock.get("https://h/b.js?v=1"), Some(empty));
        assert!(lock.to_text().contains(&format!("    \"https://h/b.js?v=1\": \"{empty}\"")), "{}", lock.to_text());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |text: &str, expect: &str| {
            let error = Lock::parse(text).unwrap_err().to_string();
            assert!(error.contains(expect), "{text}: {error}");
        };
        check("nope", "it is not JSON: ");
        check("[]", "it has no version");
        check("{\"version\":2,\"modules\":{}}", "it has version 2, and this version of Onrush knows 1");
        check("{\"version\":1}", "'modules' must be an object");
        check("{\"version\":1,\"modules\":{\"https://h/\":\"md5:1\"}}", "the hash of https://h/ must be sha256:");
        check("{\"version\":1,\"modules\":{\"https://h/\":\"sha256:../../../etc/passwd\"}}", "the hash of https://h/");
        check("{\"version\":1,\"modules\":{\"https://h/\":7}}", "the hash of https://h/");
    }
}
