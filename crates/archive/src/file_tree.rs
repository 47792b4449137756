//! Files by the names they have in an archive.

use std::{collections::BTreeMap, sync::Arc};

/// Files in memory, looked up by the URLs modules and `open()` know them by.
///
/// The names are the archive's: `file/home/nobody/lib.js`, `https/jslib.k6.io/utils/index.js`. Whoever asks for the
/// file of a user finds it under the name without that user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTree {
    files: BTreeMap<String, Arc<[u8]>>,
}

impl FileTree {
    /// Keeps a file under the name of its URL. False, and nothing kept, when archives have no name for it: other
    /// schemes than `file` and `https`, names that are not UTF-8.
    pub fn insert(&mut self, url: &str, bytes: Arc<[u8]>) -> bool {
        match name_of(url) {
            Some(name) => {
                self.insert_name(name, bytes);
                true
            }
            None => false,
        }
    }

    /// The file this URL stands for.
    #[must_use]
    pub fn get(&self, url: &str) -> Option<&Arc<[u8]>> {
        self.files.get(&name_of(url)?)
    }

    /// Names and contents, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.files.iter().map(|(name, bytes)| (name.as_str(), bytes))
    }

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The file of this name.
    pub(crate) fn get_name(&self, name: &str) -> Option<&Arc<[u8]>> {
        self.files.get(name)
    }

    /// `name` is one of an archive, checked.
    pub(crate) fn insert_name(&mut self, name: String, bytes: Arc<[u8]>) {
        self.files.insert(name, bytes);
    }
}

/// The name of a URL's file in an archive.
pub(crate) fn name_of(url: &str) -> Option<String> {
    if let Some(path) = url.strip_prefix("file://") {
        return Some(format!("file{}", anonymous(&decoded(path)?)));
    }
    let rest = url.strip_prefix("https://")?;
    Some(format!("https/{}", decoded(rest)?))
}

/// A path without drive colons and names of users. k6: the same rules, so that paths find each other.
pub(crate) fn anonymous(path: &str) -> String {
    let mut path = path.replace('\\', "/");
    // `/C:/x` and `C:/x` become `/C/x`.
    let drive = path.trim_start_matches('/');
    if let [letter, b':', ..] = drive.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        path = format!("/{}{}", &drive[..1], &drive[2..]);
    }
    if !path.starts_with('/') {
        path.insert(0, '/');
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    // The first part is empty: paths start with a slash. Behind a drive the folder of users comes one later.
    let at = if parts.get(1).is_some_and(|part| part.len() == 1) { 2 } else { 1 };
    let is_users = parts.get(at).is_some_and(|part| *part == "home" || part.eq_ignore_ascii_case("users"));
    if is_users && let Some(user) = parts.get_mut(at + 1).filter(|user| !user.is_empty()) {
        *user = "nobody";
    }
    parts.join("/")
}

/// `%20` as a space, and so on.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match tail {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |url: &str, expect: Option<&str>| assert_eq!(name_of(url).as_deref(), expect, "{url}");
        check("file:///t/a%20b.js", Some("file/t/a b.js"));
        check("file:///t/%C3%A9.js", Some("file/t/é.js"));
        check("file:///t/%ff.js", None);
        check("file:///t/100%.js", Some("file/t/100%.js"));
        check("file:///-", Some("file/-"));
        check("file:///home/alice/x/a.js", Some("file/home/nobody/x/a.js"));
        check("file:///Users/alice/a.js", Some("file/Users/nobody/a.js"));
        check("file:///C:/Users/alice/a.js", Some("file/C/Users/nobody/a.js"));
        check("file:///srv/home/alice/a.js", Some("file/srv/home/alice/a.js"));
        check("https://jslib.k6.io/a/1.0/index.js", Some("https/jslib.k6.io/a/1.0/index.js"));
        check("http://h/a.js", None);
        check("k6/http", None);
    }
}
