//! The standard streams. Where both lead to the same place, as on a terminal, one thread writes to both, in order.

use std::io::{self, stderr, stdout};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

use super::pen::{Nib, Pen, Piece, Stream, Written};

/// Who writes to which stream.
pub(super) struct Streams {
    pub(super) stdout: Pen,
    pub(super) stderr: Pen,
    /// Both lead to the same place.
    pub(super) is_one: bool,
}

impl Streams {
    /// Starts their threads.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn start() -> io::Result<Self> {
        let place = |stat: rustix::io::Result<rustix::fs::Stat>| stat.ok().map(|stat| (stat.st_dev, stat.st_ino));
        let (out, err) = (place(rustix::fs::fstat(stdout())), place(rustix::fs::fstat(stderr())));
        let stdout = Pen::start("stdout", StandardNib)?;
        let is_one = out.is_some() && out == err;
        let stderr = if is_one { stdout.clone() } else { Pen::start("stderr", StandardNib)? };
        Ok(Self { stdout, stderr, is_one })
    }
}

struct StandardNib;

impl Nib for StandardNib {
    fn write(&mut self, pieces: Vec<Piece>, progress: &dyn Fn()) -> Written {
        let mut written = Written::default();
        let mut pieces = pieces.into_iter().peekable();
        while let Some(first) = pieces.next() {
            let Piece { mut bytes, mut lines, stream, done, .. } = first;
            // One call for what follows on the same stream, unless somebody wants to know.
            if done.is_none() {
                while let Some(next) = pieces.next_if(|next| next.stream == stream && next.done.is_none()) {
                    bytes.extend_from_slice(&next.bytes);
                    lines += next.lines;
                }
            }
            let result = write_all(stream, &bytes, progress);
            match (result, done) {
                (result, Some(done)) => {
                    // Whoever asked may be gone.
                    let _ = done.send(result);
                }
                (Err(error), None) => {
                    written.lost += lines;
                    written.failure.get_or_insert((stream, error));
                }
                (Ok(()), None) => {}
            }
        }
        written
    }
}

/// In portions, so that a slow reader can be told from one that does not read. Past the locks of `std::io`, which a
/// blocked write would hold against everybody else.
fn write_all(stream: Stream, bytes: &[u8], progress: &dyn Fn()) -> io::Result<()> {
    const PORTION: usize = 4 << 10;
    for mut portion in bytes.chunks(PORTION) {
        while !portion.is_empty() {
            let fd = match stream {
                Stream::Stdout => rustix::stdio::stdout(),
                Stream::Stderr => rustix::stdio::stderr(),
            };
            match rustix::io::write(fd, portion) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => portion = portion.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                // Another process that shares the stream has made it non-blocking.
                Err(Errno::AGAIN) => {
                    let _ = poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::OUT)], None);
                }
                Err(error) => return Err(error.into()),
            }
            progress();
        }
    }
    Ok(())
}
