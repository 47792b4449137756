//! From bytes to an [`Archive`]. They may come from anywhere: sizes, counts and names are checked.

use std::{
    io::{self, Read},
    sync::Arc,
};

use tar::EntryType;

use crate::{Archive, FileTree, Metadata, metadata::KIND};

/// Most bytes of an archive. Its files are held in memory while the test runs.
pub const ARCHIVE_BYTES_MAX: u64 = 4 << 30;
/// Most entries, folders included: ten times what a script may import.
pub const ENTRIES_MAX: usize = 100_000;
/// Most bytes of `metadata.json`: options and variables.
pub const METADATA_BYTES_MAX: u64 = 64 << 20;

impl Archive {
    /// Reads an archive.
    ///
    /// # Errors
    /// [`ArchiveError`] for what cannot be read, is cut off, exceeds a limit, or is no archive of a test.
    pub fn read(source: impl Read) -> Result<Self, ArchiveError> {
        let mut source = Limited { source, left: ARCHIVE_BYTES_MAX, ended: false };
        let mut found = Found::default();
        let mut tar = tar::Archive::new(&mut source);
        for (count, entry) in tar.entries().map_err(unreadable)?.enumerate() {
            if count >= ENTRIES_MAX {
                return Err(ArchiveError::TooManyEntries);
            }
            found.take(&mut entry.map_err(unreadable)?)?;
        }
        if source.left == 0 {
            return Err(ArchiveError::TooLarge);
        }
        // Cut off between two entries: all that is there could be read, but the block of zeros that ends a tar is missing.
        if source.ended {
            return Err(ArchiveError::CutOff);
        }
        found.archive()
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    metadata: Option<Metadata>,
    data: Option<Arc<[u8]>>,
    files: FileTree,
}

impl Found {
    fn take(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> Result<(), ArchiveError> {
        let kind = entry.header().entry_type();
        // A comment about the whole tar, such as Git writes.
        if kind == EntryType::XGlobalHeader {
            return Ok(());
        }
        let name = checked_name(entry.path_bytes().into_owned())?;
        match kind {
            EntryType::Directory if name.is_empty() => return Ok(()),
            _ if name.is_empty() => return Err(ArchiveError::Name(name)),
            EntryType::Directory => return Ok(()),
            EntryType::Regular | EntryType::Continuous => {}
            EntryType::Link => return self.link(entry, name),
            _ => return Err(ArchiveError::Kind(name)),
        }
        match name.as_str() {
            "metadata.json" if entry.size() > METADATA_BYTES_MAX => return Err(ArchiveError::MetadataTooLarge),
            "metadata.json" => self.metadata = Some(metadata(&content(entry)?)?),
            "data" => self.data = Some(content(entry)?),
            _ => match name.split_once('/') {
                Some(("file" | "https", _)) => self.files.insert_name(name, content(entry)?),
                // k6: other files at the top change nothing. Folders from before k6 0.25 would be missed.
                None => {}
                Some((folder, _)) => return Err(ArchiveError::Folder(folder.to_owned(), name)),
            },
        }
        Ok(())
    }

    /// One file under two names: the script itself and `data`, or whatever had the same contents where an archive was
    /// unpacked and packed again.
    fn link(&mut self, entry: &tar::Entry<'_, impl Read>, name: String) -> Result<(), ArchiveError> {
        let target = entry.link_name_bytes().and_then(|target| checked_name(target.into_owned()).ok());
        let Some(target) = target else { return Err(ArchiveError::Kind(name)) };
        // The script is looked for in `data`.
        if target == "data" {
            return Ok(());
        }
        let Some(bytes) = self.files.get_name(&target).cloned() else { return Err(ArchiveError::Kind(name)) };
        match name.split_once('/') {
            None if name == "data" => self.data = Some(bytes),
            Some(("file" | "https", _)) => self.files.insert_name(name, bytes),
            _ => return Err(ArchiveError::Kind(name)),
        }
        Ok(())
    }

    fn archive(self) -> Result<Archive, ArchiveError> {
        let metadata = self.metadata.ok_or(ArchiveError::Missing("metadata.json"))?;
        if metadata.kind != KIND {
            return Err(ArchiveError::TestType(metadata.kind));
        }
        if metadata.filename.is_empty() {
            return Err(ArchiveError::Missing("the script's name (filename in metadata.json)"));
        }
        let data = self.data.ok_or(ArchiveError::Missing("data, the script itself"))?;
        Ok(Archive { metadata, data, files: self.files })
    }
}

/// A name that cannot lead out of the archive; empty for its root.
fn checked_name(bytes: Vec<u8>) -> Result<String, ArchiveError> {
    let name = String::from_utf8(bytes)
        .map_err(|error| ArchiveError::NotUtf8(String::from_utf8_lossy(error.as_bytes()).into_owned()))?;
    if name == "." || name == "./" {
        return Ok(String::new());
    }
    let name = name.strip_prefix("./").unwrap_or(&name).trim_end_matches('/').to_owned();
    if name.is_empty() || name.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        return Err(ArchiveError::Name(name));
    }
    Ok(name)
}

fn content(entry: &mut tar::Entry<'_, impl Read>) -> Result<Arc<[u8]>, ArchiveError> {
    let size = entry.size();
    // Not `with_capacity(size)`: the size is what the header claims.
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 != size {
        return Err(ArchiveError::CutOff);
    }
    Ok(bytes.into())
}

fn metadata(bytes: &[u8]) -> Result<Metadata, ArchiveError> {
    serde_json::from_slice(bytes).map_err(|error| ArchiveError::Metadata(error.to_string()))
}

fn unreadable(error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ArchiveError::CutOff,
        // What the tar crate says of a header or a body that ends early.
        _ if ["failed to read entire block", "unexpected EOF"].iter().any(|text| error.to_string().contains(text)) => {
            ArchiveError::CutOff
        }
        _ => ArchiveError::Unreadable(error.to_string()),
    }
}

/// Reads up to a limit, and notes when there was no more to read.
struct Limited<R> {
    source: R,
    left: u64,
    ended: bool,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let len = self.source.read(&mut buffer[..room])?;
        self.left -= len as u64;
        self.ended |= len == 0 && !buffer.is_empty();
        Ok(len)
    }
}

/// Why bytes are no archive that can be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArchiveError {
    // k6: its text comes first.
    #[error("unexpected EOF: the archive is cut off")]
    CutOff,
    #[error("{0}")]
    Unreadable(String),
    #[error("the archive is larger than {} GiB", ARCHIVE_BYTES_MAX >> 30)]
    TooLarge,
    #[error("the archive has more than {ENTRIES_MAX} entries")]
    TooManyEntries,
    #[error("metadata.json is larger than {} MiB", METADATA_BYTES_MAX >> 20)]
    MetadataTooLarge,
    #[error("metadata.json: {0}")]
    Metadata(String),
    #[error("the archive lacks {0}")]
    Missing(&'static str),
    #[error("unsupported test type '{0}', use js")]
    TestType(String),
    #[error("the entry name '{0}' is not valid UTF-8")]
    NotUtf8(String),
    #[error("the entry name '{0}' is not allowed: names are relative and without '.' and '..'")]
    Name(String),
    #[error("the entry '{0}' is neither a file nor a folder: links and devices are not allowed")]
    Kind(String),
    #[error("unknown file prefix `{0}` for file `{1}`: there are file and https")]
    Folder(String, String),
}
