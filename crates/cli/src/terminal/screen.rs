//! The progress frame on a terminal: rows that are written over again and again, below everything else.
//!
//! Old rows are never erased all at once from the top of the window: some terminals keep what is erased so, and would fill
//! their history with frames. Every row is written over and its rest erased.

/// What the terminal shows of the frame.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// The frame to show.
    frame: Vec<String>,
    /// Its rows on the terminal now; the cursor is below them.
    drawn: usize,
    /// Rows of the last frame from the cursor on, to be written over.
    stale: usize,
    /// Something was printed over the first of them.
    is_below_top: bool,
}

impl Screen {
    /// The frame that [`Screen::redraw`] draws.
    pub(super) fn set(&mut self, frame: Vec<String>) {
        self.frame = frame;
    }

    /// Somebody else has written to the terminal: what was drawn stays where it is.
    pub(super) fn forget(&mut self) {
        (self.drawn, self.stale) = (0, 0);
    }

    /// Moves to where the frame began, so that something can be printed over it.
    pub(super) fn clear(&mut self) -> Vec<u8> {
        if self.drawn == 0 {
            return Vec::new();
        }
        self.stale = std::mem::take(&mut self.drawn);
        self.is_below_top = false;
        format!("\x1b[{}A\r", self.stale).into_bytes()
    }

    /// What is printed where stale rows are: each of its lines erases the rest of its row.
    pub(super) fn over(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        if self.stale == 0 || bytes.is_empty() {
            return bytes;
        }
        self.is_below_top = true;
        let mut text = Vec::with_capacity(bytes.len() + 16);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(line) => {
                    text.extend_from_slice(line);
                    text.extend_from_slice(b"\x1b[K\n");
                }
                None => text.extend_from_slice(line),
            }
        }
        text
    }

    /// Draws the frame where the cursor is, and erases what is left of the last one.
    pub(super) fn redraw(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        if self.drawn > 0 {
            return text;
        }
        for line in &self.frame {
            text.extend_from_slice(line.as_bytes());
            text.extend_from_slice(b"\x1b[K\n");
        }
        self.drawn = self.frame.len();
        let stale = std::mem::take(&mut self.stale);
        if stale > 0 && (self.is_below_top || self.drawn > 0) {
            text.extend_from_slice(b"\x1b[J");
        } else if stale > 0 {
            text.extend(b"\x1b[K\n".repeat(stale));
            text.extend_from_slice(format!("\x1b[{stale}A").as_bytes());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn rows_are_written_over() {
        let mut screen = Screen::default();
        screen.set(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(text(screen.redraw()), "a\x1b[K\nb\x1b[K\n");
        assert_eq!(text(screen.redraw()), "");
        assert_eq!(text(screen.clear()), "\x1b[2A\r");
        assert_eq!(text(screen.over(b"log\nmore\n".to_vec())), "log\x1b[K\nmore\x1b[K\n");
        screen.set(vec!["c".to_owned()]);
        assert_eq!(text(screen.redraw()), "c\x1b[K\n\x1b[J");
        // The end: row by row, for it may be the top of the window.
        assert_eq!(text(screen.clear()), "\x1b[1A\r");
        screen.set(Vec::new());
        assert_eq!(text(screen.redraw()), "\x1b[K\n\x1b[1A");
        assert_eq!(text(screen.over(b"summary\n".to_vec())), "summary\n");
    }

    #[test]
    fn after_a_shell_has_written_the_frame_starts_anew() {
        let mut screen = Screen::default();
        screen.set(vec!["a".to_owned()]);
        screen.redraw();
        screen.forget();
        assert_eq!(text(screen.clear()), "");
        assert_eq!(text(screen.redraw()), "a\x1b[K\n");
    }
}
