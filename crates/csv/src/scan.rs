//! Looking for bytes in a file of any length, without holding the thread for long.

/// Called each time about 1 MiB has been looked at, with the number of bytes; `false` stops the work.
pub type Pause<'a> = &'a mut dyn FnMut(usize) -> bool;

/// How much is searched in one go: some 0.1 ms.
pub(crate) const WINDOW_BYTES: usize = 1 << 20;

/// The first place at or after `from` where `find` finds something; the file's end if nowhere.
pub(crate) fn find(
    data: &[u8],
    from: usize,
    pause: Pause<'_>,
    find: impl Fn(&[u8]) -> Option<usize>,
) -> Result<usize, Stopped> {
    let mut start = from;
    while start < data.len() {
        let end = data.len().min(start + WINDOW_BYTES);
        if let Some(at) = find(&data[start..end]) {
            return Ok(start + at);
        }
        if end - start == WINDOW_BYTES && !pause(WINDOW_BYTES) {
            return Err(Stopped);
        }
        start = end;
    }
    Ok(data.len())
}

/// The pause said so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopped;
