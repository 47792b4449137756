//! Files a run ends with, such as that of `--summary-export`. A place that takes nothing, such as a named pipe nobody
//! reads, keeps the program from ending only for a moment.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
    },
    time::Duration,
};

/// Descriptors kept for the files a run ends with: VUs that use up all others must not cost it its results.
pub(crate) struct SpareFiles {
    _files: Vec<fs::File>,
}

impl SpareFiles {
    /// One to write with, others for what the system opens meanwhile.
    const COUNT: usize = 4;

    /// Takes them, as far as there are any.
    pub(crate) fn hold() -> Self {
        Self { _files: (0..Self::COUNT).map_while(|_| fs::File::open("/dev/null").ok()).collect() }
    }
}

/// Where files are kept that belong to whoever sent the run.
static KEPT_IN: OnceLock<PathBuf> = OnceLock::new();

/// From now on files of the run are kept in this folder, with the paths they are for beside them.
pub(crate) fn keep_in(folder: PathBuf) {
    // Said once, before the run.
    let _ = KEPT_IN.set(folder);
}

/// The files that were kept in a folder: the paths they are for, and where they are.
pub(crate) fn kept_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let numbers = 0..FILES_MAX;
    let kept = numbers.map_while(|number| {
        let path = fs::read_to_string(folder.join(format!("{number}.path"))).ok()?;
        let kept = folder.join(kept_name(number, Path::new(&path)));
        Some((path, kept))
    });
    kept.collect()
}

/// More than `handleSummary()` may return.
const FILES_MAX: usize = 100_000;

/// Where a file of the run is written: at its path, or where files are kept for whoever sent the run.
///
/// # Errors
/// When it cannot be kept.
pub(crate) fn place(path: &Path) -> io::Result<PathBuf> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let Some(folder) = KEPT_IN.get() else { return Ok(path.to_owned()) };
    fs::create_dir_all(folder)?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    fs::write(folder.join(format!("{number}.path")), path.as_os_str().as_encoded_bytes())?;
    Ok(folder.join(kept_name(number, path)))
}

/// Whoever writes a file looks at its name for whether it is compressed.
fn kept_name(number: usize, path: &Path) -> String {
    let is_compressed = path.extension().is_some_and(|extension| extension == "gz");
    format!("{number}{}", if is_compressed { ".gz" } else { "" })
}

/// Writes a whole file.
///
/// # Errors
/// What the system says, or that it has said nothing for too long.
pub(crate) fn save(path: &str, content: Vec<u8>) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(5);
    save_within(&place(Path::new(path))?, content, PATIENCE)
}

fn save_within(path: &Path, content: Vec<u8>, patience: Duration) -> io::Result<()> {
    let (sender, written) = channel();
    let path = path.to_owned();
    std::thread::Builder::new().name("save".to_owned()).spawn(move || {
        // Whoever waits may have lost patience.
        let _ = sender.send(fs::write(path, content));
    })?;
    let silent = || io::Error::new(io::ErrorKind::TimedOut, "it takes nothing; does anybody read it?");
    written.recv_timeout(patience).unwrap_or_else(|_| Err(silent()))
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_nobody_reads_is_given_up() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        let error = save_within(&path, b"text".to_vec(), Duration::from_millis(50)).expect_err("nobody reads");
        assert_eq!(error.to_string(), "it takes nothing; does anybody read it?");
        // The thread that was given up writes as soon as somebody does.
        assert_eq!(fs::read_to_string(path).expect("a pipe"), "text");
        let file = dir.path().join("file");
        save(file.to_str().expect("UTF-8"), b"text".to_vec()).expect("a file");
        assert_eq!(fs::read_to_string(file).expect("a file"), "text");
    }
}
