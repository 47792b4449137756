//! The last log lines, for a view that covers the terminal they would be printed on.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::line::{Level, Line};

/// A log line as a view shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TailLine {
    pub(crate) level: Level,
    /// Message and fields. Untrusted: it may hold anything.
    pub(crate) text: String,
}

/// The last lines, while somebody wants them.
#[derive(Debug, Default)]
pub(super) struct Tail {
    is_wanted: AtomicBool,
    lines: Mutex<VecDeque<TailLine>>,
}

impl Tail {
    /// Lines that are kept.
    const LINES_MAX: usize = 200;
    /// Characters of a line that are kept: more than a wide terminal shows.
    const LINE_CHARS_MAX: usize = 500;

    pub(super) fn want(&self, is_wanted: bool) {
        self.is_wanted.store(is_wanted, Ordering::Relaxed);
    }

    pub(super) fn note(&self, line: &Line) {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return;
        }
        let mut text: String = line.message.chars().take(Self::LINE_CHARS_MAX).collect();
        for (key, value) in &line.fields {
            if text.len() > Self::LINE_CHARS_MAX {
                break;
            }
            text.push_str("  ");
            text.push_str(key);
            text.push('=');
            text.extend(value.chars().take(Self::LINE_CHARS_MAX));
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(TailLine { level: line.level, text });
        if lines.len() > Self::LINES_MAX {
            lines.pop_front();
        }
    }

    pub(super) fn lines(&self) -> Vec<TailLine> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
