//! Files read once a process.

use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use onrush_archive::FileTree;

use crate::embed::Throw;

/// Contents of the files scripts opened, by absolute path.
#[derive(Default)]
pub(crate) struct FileCache {
    files: Mutex<BTreeMap<PathBuf, Arc<[u8]>>>,
}

/// Largest file `open()` takes: it is held in memory for the whole run.
const FILE_BYTES_MAX: u64 = 2 << 30;

impl FileCache {
    /// The contents of a file that has been read.
    pub(crate) fn get(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
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
        let failed = |error: std::io::Error| Throw::error(format!("failed to open {shown}: {error}"));
        let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Throw::error(format!("stat {}: no such file or directory", path.display())),
            _ => failed(error),
        })?;
        if metadata.is_dir() {
            return Err(Throw::error(format!("open() can't be used with directories, path: \"{}\"", path.display())));
        }
        let mut bytes = Vec::with_capacity(metadata.len().min(FILE_BYTES_MAX) as usize);
        std::fs::File::open(path)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
            .map_err(failed)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(Throw::error(format!(
                "failed to open {shown}: it is larger than {} GiB",
                FILE_BYTES_MAX >> 30
            )));
        }
        let bytes: Arc<[u8]> = bytes.into();
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}
