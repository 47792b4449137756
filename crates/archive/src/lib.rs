//! k6's archives: a script, everything it imports and opens, and its options, in one uncompressed tar.
//!
//! [`Archive::read`] and [`Archive::write`] are the two directions; [`FileTree`] holds the files in memory, under the
//! names they have in the tar. Nothing is ever unpacked to disk, so no name in an archive can reach the file system.
//! Nothing here opens a file: bytes come in and go out.
//!
//! ```
//! use onrush_archive::{Archive, FileTree, Metadata};
//!
//! let mut files = FileTree::default();
//! files.insert("file:///home/alice/lib.js", b"export const x = 1;".as_slice().into());
//! let metadata = Metadata { filename: "file:///home/alice/a.js".into(), pwd: "file:///home/alice".into(), ..Metadata::default() };
//! let archive = Archive { metadata, data: b"import './lib.js';".as_slice().into(), files };
//! let mut bytes = Vec::new();
//! archive.write(&mut bytes).expect("memory takes everything");
//! let back = Archive::read(bytes.as_slice()).expect("our own archive");
//! assert_eq!(back.metadata.filename, "file:///home/nobody/a.js", "names of users stay at home");
//! assert!(back.files.get("file:///home/alice/lib.js").is_some(), "and are found all the same");
//! ```

#![forbid(unsafe_code)]

mod file_tree;
mod metadata;
mod read;
mod write;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use file_tree::FileTree;
pub use metadata::Metadata;
pub use read::{ARCHIVE_BYTES_MAX, ArchiveError, ENTRIES_MAX, METADATA_BYTES_MAX};
pub use write::WriteError;

/// A test in one piece.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Archive {
    /// What is known about the script.
    pub metadata: Metadata,
    /// The script's source as the user wrote it.
    pub data: Arc<[u8]>,
    /// Everything else it needs.
    pub files: FileTree,
}

/// Bytes that tell an archive from a script.
pub const HEADER_BYTES: usize = 512;

/// Whether a file that starts with these bytes is a tar archive. Fewer than [`HEADER_BYTES`] never are.
#[must_use]
pub fn is_archive(start: &[u8]) -> bool {
    let Some(header) = start.get(..HEADER_BYTES) else { return false };
    // The checksum counts its own eight bytes as spaces. No text has a valid one by chance: the name before it ends
    // with NUL, which no script contains.
    let field = &header[148..156];
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum::<u64>()
        - field.iter().map(|byte| u64::from(*byte)).sum::<u64>()
        + 8 * u64::from(b' ');
    let text: String = field.iter().map(|byte| char::from(*byte)).collect();
    u64::from_str_radix(text.trim_matches([' ', '\0']), 8) == Ok(sum)
}

/// Reads arbitrary bytes as an archive, the checksums of its headers put right first. The entry of the fuzz target:
/// panics are findings; so is an archive that reads back as another one once it was written.
pub fn fuzz(data: &[u8]) {
    let mut bytes = data.to_vec();
    for header in bytes.chunks_exact_mut(HEADER_BYTES).filter(|header| header[257..262] == *b"ustar") {
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert!(is_archive(header));
    }
    let Ok(archive) = Archive::read(bytes.as_slice()) else { return };
    let mut written = Vec::new();
    // Names of scripts there is no file for cannot be written.
    if archive.write(&mut written).is_err() {
        return;
    }
    let again = Archive::read(written.as_slice()).expect("what was written can be read");
    assert_eq!(again.data, archive.data);
    assert_eq!(again.metadata.options, archive.metadata.options);
    assert_eq!(again.metadata.env, archive.metadata.env);
    assert!(again.files.iter().all(|(name, bytes)| archive.files.iter().any(|other| other == (name, bytes))));
    let mut rewritten = Vec::new();
    again.write(&mut rewritten).expect("what could be written once");
    assert_eq!(written, rewritten, "written twice, an archive is the same");
}
