//! The cache: contents by their hashes, and which URL had which content when it was last fetched.
//!
//! Several processes may use it at once: a file appears under its name only when it is complete, and a content whose
//! hash is wrong counts as missing. Nothing is ever changed in place.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};

use crate::lock;

/// A folder with fetched modules.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
}

/// What is known about a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The content's hash.
    pub(crate) hash: String,
    /// What the server calls this version.
    pub(crate) validators: Validators,
}

/// What a server calls a version of a file: it can be asked whether it still has the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Validators {
    /// `ETag`
    pub(crate) etag: String,
    /// `Last-Modified`
    pub(crate) modified: String,
}

/// An entry has a URL, a hash and two short texts.
const ENTRY_BYTES_MAX: u64 = 64 << 10;

impl Cache {
    /// A cache in a folder, which need not exist.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The content with this hash.
    pub(crate) fn content(&self, hash: &str, bytes_max: u64) -> Option<Arc<[u8]>> {
        let bytes = read(&self.content_path(hash)?, bytes_max)?;
        (lock::hash(&bytes) == hash).then(|| bytes.into())
    }

    /// What is known about a URL.
    pub(crate) fn entry(&self, url: &str) -> Option<Entry> {
        let value: Value = serde_json::from_slice(&read(&self.entry_path(url)?, ENTRY_BYTES_MAX)?).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let entry =
            Entry { hash: text("hash"), validators: Validators { etag: text("etag"), modified: text("lastModified") } };
        (text("url") == url && lock::digits(&entry.hash).is_some()).then_some(entry)
    }

    /// Keeps a content and that the URL has it.
    pub(crate) fn keep(&self, url: &str, entry: &Entry, bytes: &[u8]) -> io::Result<()> {
        let (Some(content), Some(place)) = (self.content_path(&entry.hash), self.entry_path(url)) else {
            return Ok(());
        };
        if read(&content, bytes.len() as u64).is_none_or(|kept| kept != bytes) {
            self.write(&content, bytes)?;
        }
        let json = json!({
            "url": url, "hash": entry.hash, "etag": entry.validators.etag, "lastModified": entry.validators.modified,
        });
        self.write(&place, json.to_string().as_bytes())
    }

    fn content_path(&self, hash: &str) -> Option<PathBuf> {
        let digits = lock::digits(hash)?;
        Some(self.folder.join("sha256").join(digits.get(..2)?).join(digits))
    }

    fn entry_path(&self, url: &str) -> Option<PathBuf> {
        let hash = lock::hash(url.as_bytes());
        Some(self.folder.join("urls").join(lock::digits(&hash)?))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let draft = self.folder.join(format!("draft-{}-{number}", std::process::id()));
        let written = File::create(&draft).and_then(|mut file| file.write_all(bytes));
        written.and_then(|()| fs::rename(&draft, path)).inspect_err(|_| {
            // The error that matters is the first one.
            let _ = fs::remove_file(&draft);
        })
    }
}

/// A file of at most so many bytes.
fn read(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= bytes_max).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_found_by_url_and_hash() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("not/yet"));
        let url = "https://h/a.js";
        assert_eq!(cache.entry(url), None);
        let validators = Validators { etag: "\"7\"".to_owned(), modified: String::new() };
        let entry = Entry { hash: lock::hash(b"text"), validators };
        cache.keep(url, &entry, b"text").unwrap();
        cache.keep("https://h/b.js", &entry, b"text").unwrap();
        assert_eq!(cache.entry(url), Some(entry.clone()));
        assert_eq!(cache.content(&entry.hash, 4).as_deref(), Some(b"text".as_slice()));
        assert_eq!(cache.content(&entry.hash, 3), None, "larger than allowed");
        let drafts = fs::read_dir(&cache.folder)
            .unwrap()
            .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("draft")));
        assert_eq!(drafts.count(), 0);
    }

    #[test]
    fn what_somebody_changed_counts_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        let entry = Entry { hash: lock::hash(b"text"), ..Entry::default() };
        cache.keep("https://h/a.js", &entry, b"text").unwrap();
        fs::write(cache.content_path(&entry.hash).unwrap(), b"evil").unwrap();
        assert_eq!(cache.content(&entry.hash, 100), None);
        cache.keep("https://h/a.js", &entry, b"text").unwrap();
        assert!(cache.content(&entry.hash, 100).is_some(), "and is mended by the next fetch");
        fs::write(cache.entry_path("https://h/a.js").unwrap(), b"{\"url\":\"https://h/b.js\"}").unwrap();
        assert_eq!(cache.entry("https://h/a.js"), None);
    }
}
