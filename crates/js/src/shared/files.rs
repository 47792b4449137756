//! Files read once a process.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    iter,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use onrush_archive::FileTree;

use crate::embed::Throw;

/// Contents of the files scripts opened, by absolute path.
#[derive(Default)]
pub(crate) struct FileCache {
    files: Mutex<BTreeMap<PathBuf, Arc<[u8]>>>,
    /// Why others could not be read: every VU that asks again is told the same.
    failures: Mutex<BTreeMap<PathBuf, String>>,
}

/// Failures that are kept.
const FAILURES_MAX: usize = 1_000;

/// Largest file `open()` takes: it is held in memory for the whole run.
const FILE_BYTES_MAX: u64 = 2 << 30;

impl FileCache {
    /// The contents of a file that has been read.
    pub(crate) fn get(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// Why a file could not be read.
    pub(crate) fn failure(&self, path: &Path) -> Option<Throw> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.get(path).map(Throw::error)
    }

    /// Notes why a file cannot be read.
    pub(crate) fn note(&self, path: &Path, throw: Throw) -> Throw {
        if let Throw::Error(text) = &throw {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            if failures.len() < FAILURES_MAX {
                failures.insert(path.to_owned(), text.clone());
            }
        }
        throw
    }

    /// All files that were opened.
    pub(crate) fn all(&self) -> Vec<(PathBuf, Arc<[u8]>)> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().map(|(path, content)| (path.clone(), content.clone())).collect()
    }

    /// Reads from the archive the script comes from.
    pub(crate) fn archived(&self, files: &FileTree, path: &Path) -> Result<Arc<[u8]>, Throw> {
        let url = url::Url::from_file_path(path).ok();
        let content = url.and_then(|url| files.get(url.as_str()).cloned()).ok_or_else(|| {
            Throw::error(format!(
                "stat {}: no such file or directory: the archive does not contain it, and nothing outside an archive is read",
                path.display()
            ))
        })?;
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), content.clone());
        Ok(content)
    }

    /// Reads from the disk.
    pub(crate) fn read(&self, path: &Path, shown: &str) -> Result<Arc<[u8]>, Throw> {
        let failed = |error: io::Error| Throw::error(format!("failed to open {shown}: {error}"));
        let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Throw::error(format!("stat {}: no such file or directory", path.display())),
            _ => failed(error),
        })?;
        if metadata.is_dir() {
            return Err(Throw::error(format!("open() can't be used with directories, path: \"{}\"", path.display())));
        }
        let bytes = std::fs::File::open(path).and_then(|file| whole(file, metadata.len())).map_err(failed)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(Throw::error(format!(
                "failed to open {shown}: it is larger than {} GiB",
                FILE_BYTES_MAX >> 30
            )));
        }
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

/// All of a file, or a byte more than is allowed. A table of a gigabyte must not take two, so what is as long as it was
/// said to be is read to where it stays; only what has no length, or another one, is copied.
fn whole(mut file: impl Read, length: u64) -> io::Result<Arc<[u8]>> {
    let mut bytes: Arc<[u8]> = iter::repeat_n(0, length.min(FILE_BYTES_MAX + 1) as usize).collect();
    let room = Arc::get_mut(&mut bytes).expect("nobody else has it yet");
    let mut filled = 0;
    while filled < room.len() {
        match file.read(&mut room[filled..]) {
            Ok(0) => return Ok(bytes[..filled].into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut rest = Vec::new();
    file.take((FILE_BYTES_MAX + 1).saturating_sub(filled as u64)).read_to_end(&mut rest)?;
    Ok(if rest.is_empty() { bytes } else { [&bytes[..], &rest].concat().into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_as_long_as_they_are() {
        let content = b"some text".as_slice();
        for length in [0, 4, 9, 20] {
            assert_eq!(&*whole(content, length).expect("it can be read"), content, "said to be {length}");
        }
        assert!(whole(io::empty(), 0).expect("it can be read").is_empty());
    }
}
