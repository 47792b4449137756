//! The full screen of a terminal while a view is on it: what was there before comes back when the view leaves, however the
//! process ends. What would have been printed meanwhile is held and printed then.
//!
//! What is drawn is decided elsewhere (`crate::full_screen`); here cells become bytes, and only those that changed.

use std::{
    fmt::Write as _,
    io::{self, stdout},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use ratatui::{
    buffer::{Buffer, Cell},
    style::{Color, Modifier},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr},
};

use super::{Message, Terminal, pen::Piece};

/// A terminal that shows a view.
pub(super) struct ViewScreen {
    /// What it shows; `None` where that is not known.
    shown: Option<Buffer>,
    color: bool,
    held: Vec<Piece>,
    held_bytes: usize,
    /// Log lines that found no room.
    held_dropped: u64,
}

/// Bytes that are held while a view is on the terminal; the oldest go first.
const HELD_BYTES_MAX: usize = 1 << 20;

/// The other screen, without a cursor, without wrapping at its edge.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

/// How the terminal was set before the first view, while one is on it.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
/// Something ended the view for good, such as a panic.
static IS_BROKEN: AtomicBool = AtomicBool::new(false);
/// The process is about to be stopped: the terminal is somebody else's until it goes on.
static IS_AWAY: AtomicBool = AtomicBool::new(false);

impl ViewScreen {
    /// Takes the terminal over. Returns what is to be written for that.
    ///
    /// # Errors
    /// When the terminal's settings cannot be read or changed.
    pub(super) fn enter(color: bool) -> io::Result<(Self, Vec<u8>)> {
        listen()?;
        let screen = Self { shown: None, color, held: Vec::new(), held_bytes: 0, held_dropped: 0 };
        Ok((screen, ENTER.to_vec()))
    }

    /// The process was stopped, and others may have used the terminal.
    ///
    /// # Errors
    /// As [`ViewScreen::enter`].
    pub(super) fn again(&mut self) -> io::Result<Vec<u8>> {
        self.shown = None;
        listen()?;
        IS_AWAY.store(false, Ordering::Release);
        Ok(ENTER.to_vec())
    }

    /// Gives the terminal back. Returns what is to be written for that, what was held, and how many log lines found no room.
    pub(super) fn leave(self) -> (Vec<u8>, Vec<Piece>, u64) {
        let bytes = if give_back() { LEAVE.to_vec() } else { Vec::new() };
        (bytes, self.held, self.held_dropped)
    }

    /// Keeps something to be printed when the view has left.
    pub(super) fn hold(&mut self, piece: Piece) {
        self.held_bytes += piece.bytes.len();
        self.held.push(piece);
        let mut gone = 0;
        while self.held_bytes > HELD_BYTES_MAX && gone + 1 < self.held.len() {
            self.held_bytes -= self.held[gone].bytes.len();
            self.held_dropped += self.held[gone].lines;
            gone += 1;
        }
        self.held.drain(..gone);
    }

    /// What makes the terminal show `next`.
    pub(super) fn draw(&mut self, next: Buffer) -> Vec<u8> {
        let mut text = String::new();
        let shown = match self.shown.take().filter(|shown| shown.area == next.area) {
            Some(shown) => shown,
            None => {
                text.push_str("\x1b[0m\x1b[2J");
                Buffer::empty(next.area)
            }
        };
        let mut at = None;
        let mut style = None;
        for (x, y, cell) in shown.diff(&next) {
            if at != Some((x, y)) {
                // Writing to a String cannot fail.
                let _ = write!(text, "\x1b[{};{}H", y + 1, x + 1);
            }
            if style != Some((cell.fg, cell.modifier)) {
                style = Some((cell.fg, cell.modifier));
                push_style(&mut text, cell, self.color);
            }
            let symbol = cell.symbol();
            let is_plain = symbol.len() == 1 && symbol.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            // Texts are cleaned before; nothing that is not could harm here.
            if symbol.chars().any(char::is_control) {
                text.push('?');
            } else {
                text.push_str(symbol);
            }
            // How wide other characters are is for the terminal to say: the next cell is put where it belongs.
            at = is_plain.then_some((x + 1, y));
        }
        if style.is_some() {
            text.push_str("\x1b[0m");
        }
        self.shown = Some(next);
        if text.is_empty() { Vec::new() } else { format!("\x1b[?2026h{text}\x1b[?2026l").into_bytes() }
    }
}

fn push_style(text: &mut String, cell: &Cell, color: bool) {
    text.push_str("\x1b[0");
    for (modifier, code) in
        [(Modifier::BOLD, ";1"), (Modifier::DIM, ";2"), (Modifier::UNDERLINED, ";4"), (Modifier::REVERSED, ";7")]
    {
        if cell.modifier.contains(modifier) {
            text.push_str(code);
        }
    }
    let code = match cell.fg {
        Color::Red => ";31",
        Color::Green => ";32",
        Color::Yellow => ";33",
        Color::Blue => ";34",
        Color::Magenta => ";35",
        Color::Cyan => ";36",
        _ => "",
    };
    if color {
        text.push_str(code);
    }
    text.push('m');
}

/// Keys arrive one by one and are not echoed. Ctrl+C and Ctrl+\ stay signals: they work whatever the view
/// does. Ctrl+Z is a key, so that the terminal can be given back before the process stops.
fn listen() -> io::Result<()> {
    let mut termios = tcgetattr(stdout())?;
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    before.get_or_insert_with(|| termios.clone());
    termios.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    termios.special_codes[SpecialCodeIndex::VMIN] = 1;
    termios.special_codes[SpecialCodeIndex::VTIME] = 0;
    // None.
    termios.special_codes[SpecialCodeIndex::VSUSP] = 0;
    Ok(tcsetattr(stdout(), OptionalActions::Now, &termios)?)
}

/// Whether there was anything to give back.
fn give_back() -> bool {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    // A terminal that is gone needs nothing.
    before.is_some_and(|before| tcsetattr(stdout(), OptionalActions::Now, &before).is_ok())
}

/// Gives the terminal back at once, past the printing thread: the process is about to end or to be stopped.
pub(crate) fn restore_now() {
    /// A terminal that takes nothing is not waited for.
    const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    if give_back() {
        let fd = rustix::stdio::stdout();
        let is_free = poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::OUT)], Some(&AT_ONCE));
        if is_free.is_ok_and(|ready| ready > 0) {
            // There is nobody left to tell of a failure.
            let _ = rustix::io::write(fd, LEAVE);
        }
    }
}

/// Ctrl+Z: gives the terminal back and stops the process, as the shell would. Whoever resumes it sees the view again.
pub(crate) fn stop_process(terminal: &Terminal) {
    IS_AWAY.store(true, Ordering::Release);
    restore_now();
    // Where nobody could resume it, the system does not stop it.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
    terminal.send(Message::Resumed);
}

/// From now on a panic ends the view before its message is printed; the run goes on with the ordinary progress.
pub(crate) fn restore_on_panic() {
    let earlier = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        IS_BROKEN.store(true, Ordering::Release);
        restore_now();
        earlier(panic);
    }));
}

/// The terminal is not the view's at the moment.
pub(super) fn is_away() -> bool {
    is_broken() || IS_AWAY.load(Ordering::Acquire)
}

/// Something ended the view for good.
pub(crate) fn is_broken() -> bool {
    IS_BROKEN.load(Ordering::Acquire)
}

#[cfg(test)]
mod tests {
    use ratatui::{layout::Rect, style::Style};

    use super::*;
    use crate::{line::Level, terminal::pen::Stream};

    fn screen(color: bool) -> ViewScreen {
        ViewScreen { shown: None, color, held: Vec::new(), held_bytes: 0, held_dropped: 0 }
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("UTF-8").replace("\x1b[?2026h", "<").replace("\x1b[?2026l", ">")
    }

    #[test]
    fn only_what_changed_is_written() {
        let mut screen = screen(true);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 2));
        buffer.set_string(0, 0, "abc", Style::new());
        assert_eq!(text(screen.draw(buffer.clone())), "<\x1b[0m\x1b[2J\x1b[1;1H\x1b[0mabc\x1b[0m>");
        assert_eq!(text(screen.draw(buffer.clone())), "");
        buffer.set_string(1, 1, "日x", Style::new().fg(Color::Red));
        // After a wide character the place is said again.
        assert_eq!(text(screen.draw(buffer.clone())), "<\x1b[2;2H\x1b[0;31m日\x1b[2;4Hx\x1b[0m>");
        let wider = Buffer::empty(Rect::new(0, 0, 7, 2));
        assert_eq!(text(screen.draw(wider)), "<\x1b[0m\x1b[2J>");
    }

    #[test]
    fn colours_can_be_unwanted() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 1, 1));
        buffer[(0, 0)].set_symbol("a").set_style(Style::new().fg(Color::Red).add_modifier(Modifier::BOLD));
        assert_eq!(text(screen(false).draw(buffer)), "<\x1b[0m\x1b[2J\x1b[1;1H\x1b[0;1ma\x1b[0m>");
    }

    #[test]
    fn what_is_held_is_limited() {
        let mut screen = screen(false);
        let piece = |size: usize| Piece {
            bytes: vec![b'x'; size],
            lines: 1,
            stream: Stream::Stderr,
            level: Level::Info,
            done: None,
        };
        (0..5).for_each(|_| screen.hold(piece(HELD_BYTES_MAX / 4)));
        assert_eq!((screen.held.len(), screen.held_dropped), (4, 1));
        screen.hold(piece(2 * HELD_BYTES_MAX));
        assert_eq!((screen.held.len(), screen.held_dropped), (1, 5));
    }
}
