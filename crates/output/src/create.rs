//! Files that are made or emptied. A named pipe that nobody reads keeps nobody waiting for ever, and a file that another process
//! writes stays as it is.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::FileTypeExt as _,
    path::Path,
    sync::mpsc::sync_channel,
    time::Duration,
};

/// How long somebody may take to begin to read a pipe.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes the file, or empties it. Until it is closed nobody else can do so in this way.
///
/// # Errors
/// What the system says, that another process writes it, or that nobody reads the pipe.
pub fn create(path: &Path) -> io::Result<File> {
    create_within(path, PATIENCE)
}

fn create_within(path: &Path, patience: Duration) -> io::Result<File> {
    if !fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo()) {
        return claimed(path);
    }
    let (opened, file) = sync_channel(1);
    let path = path.to_owned();
    std::thread::Builder::new().name("open".to_owned()).spawn(move || {
        // Whoever waits may have lost patience.
        let _ = opened.send(File::create(path));
    })?;
    let why = "it is a named pipe, and nobody reads it: start what reads it first";
    file.recv_timeout(patience).unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, why)))
}

/// An emptied file; devices are written by many.
fn claimed(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    // Some file systems know no locks.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        let why = "another process writes it: choose another file";
        return Err(io::Error::new(io::ErrorKind::WouldBlock, why));
    }
    file.set_len(0)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, process::Command};

    use super::*;

    #[test]
    fn a_pipe_waits_for_somebody_who_reads() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, read] = ["pipe", "read"].map(|name| folder.path().join(name));
        assert!(Command::new("mkfifo").args([&path, &read]).status().expect("it is there").success());
        let error = create_within(&path, Duration::from_millis(50)).expect_err("nobody reads");
        assert_eq!(error.to_string(), "it is a named pipe, and nobody reads it: start what reads it first");
        let from = read.clone();
        let reader = std::thread::spawn(move || fs::read_to_string(from).expect("a pipe"));
        create_within(&read, Duration::from_secs(60)).expect("somebody reads").write_all(b"text").expect("it is read");
        assert_eq!(reader.join().expect("no panic"), "text");
        let file = folder.path().join("file");
        create(&file).expect("a file").write_all(b"text").expect("there is room");
        let again = create(&file).expect("nobody has it");
        assert_eq!(again.metadata().expect("a file").len(), 0);
        (&again).write_all(b"more").expect("there is room");
        assert_eq!(
            create(&file).expect_err("it is taken").to_string(),
            "another process writes it: choose another file"
        );
        assert_eq!(fs::read_to_string(&file).expect("a file"), "more");
        create(Path::new("/dev/null")).expect("everybody may write that");
    }
}
