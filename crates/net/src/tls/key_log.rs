//! The secrets of TLS sessions as lines of NSS's key log format, for Wireshark (`SSLKEYLOGFILE`).

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

/// Writes a line for each secret.
pub struct KeyLog {
    file: File,
    tell: Box<dyn Fn(&io::Error) + Send + Sync>,
    reported: AtomicBool,
}

impl KeyLog {
    /// Writes to `file`, which was opened for appending: threads write a line in one piece and share no lock. The first
    /// line that cannot be written is told to `tell`.
    pub fn new(file: File, tell: impl Fn(&io::Error) + Send + Sync + 'static) -> Self {
        Self { file, tell: Box::new(tell), reported: AtomicBool::new(false) }
    }
}

impl rustls::KeyLog for KeyLog {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        if let Err(error) = (&self.file).write_all(line(label, client_random, secret).as_bytes())
            && !self.reported.swap(true, Ordering::Relaxed)
        {
            (self.tell)(&error);
        }
    }
}

impl std::fmt::Debug for KeyLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyLog").field("file", &self.file).finish_non_exhaustive()
    }
}

fn line(label: &str, client_random: &[u8], secret: &[u8]) -> String {
    let mut line = String::with_capacity(label.len() + 2 * (client_random.len() + secret.len()) + 3);
    line.push_str(label);
    for bytes in [client_random, secret] {
        line.push(' ');
        for byte in bytes {
            // Writing to a String cannot fail.
            let _ = write!(line, "{byte:02x}");
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicUsize};

    use rustls::KeyLog as _;

    use super::*;

    #[test]
    fn lines() {
        assert_eq!(line("CLIENT_RANDOM", &[0, 0xab], &[0x10]), "CLIENT_RANDOM 00ab 10\n");
    }

    #[test]
    fn what_cannot_be_written_is_told_once() {
        // Opened for reading only.
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        let log = KeyLog::new(file, move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        log.log("A", b"b", b"c");
        log.log("A", b"b", b"c");
        assert_eq!(told.load(Ordering::Relaxed), 1);
    }
}
