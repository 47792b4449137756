//! Folds floods: of lines that say the same, the first few are shown, then how many more there were.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use onrush_fiber::Nanos;
use onrush_metrics::summary::with_commas;

use crate::line::Line;

/// What was said in the last few seconds. Only the printing thread knows it.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    seen: HashMap<u64, Seen>,
}

#[derive(Debug)]
struct Seen {
    /// When the interval began.
    since: Nanos,
    shown: u32,
    folded: u64,
    /// It was folded in the interval before: one line is enough to see that it goes on.
    goes_on: bool,
    /// The last line that was folded.
    line: Option<Line>,
}

impl Fold {
    /// Lines shown of a kind in an interval, and in those that follow one with more.
    const SHOWN_MAX: u32 = 10;
    const SHOWN_MAX_LATER: u32 = 1;
    /// How often it is told how many more there were.
    const INTERVAL: Nanos = Nanos::from_secs(10);
    /// Kinds that are counted at once; lines of further kinds are shown.
    const KINDS_MAX: usize = 1_024;

    /// Whether the line is to be shown. Those that are not are told of by [`Fold::due`].
    pub(crate) fn shows(&mut self, at: Nanos, line: &Line) -> bool {
        let kind = kind_of(line);
        if !self.seen.contains_key(&kind) && self.seen.len() >= Self::KINDS_MAX {
            return true;
        }
        let seen = self.seen.entry(kind).or_insert(Seen { since: at, shown: 0, folded: 0, goes_on: false, line: None });
        // An interval in which nothing was folded ends unnoticed.
        if seen.folded == 0 && at.saturating_sub(seen.since) >= Self::INTERVAL {
            *seen = Seen { since: at, shown: 0, folded: 0, goes_on: false, line: None };
        }
        let most = if seen.goes_on { Self::SHOWN_MAX_LATER } else { Self::SHOWN_MAX };
        if seen.shown < most {
            seen.shown += 1;
            return true;
        }
        seen.folded += 1;
        seen.line.get_or_insert_with(|| line.clone());
        false
    }

    /// What is to be said of the lines that were folded in intervals that are over.
    pub(crate) fn due(&mut self, now: Nanos) -> Vec<Line> {
        self.tell(|seen| now.saturating_sub(seen.since) >= Self::INTERVAL, now)
    }

    /// The same of all intervals: nothing more is to come.
    pub(crate) fn rest(&mut self, now: Nanos) -> Vec<Line> {
        self.tell(|_| true, now)
    }

    fn tell(&mut self, is_over: impl Fn(&Seen) -> bool, now: Nanos) -> Vec<Line> {
        let mut told = Vec::new();
        self.seen.retain(|_, seen| {
            if !is_over(seen) {
                return true;
            }
            let goes_on = seen.folded > 0;
            if let Some(mut line) = seen.line.take() {
                line.message = more(seen.folded, &line.message);
                told.push((seen.since, line));
            }
            *seen = Seen { since: now, shown: 0, folded: 0, goes_on, line: None };
            goes_on
        });
        told.sort_by_key(|(since, _)| *since);
        told.into_iter().map(|(_, line)| line).collect()
    }
}

/// `… and 54,355 more like this: Request Failed`.
fn more(count: u64, message: &str) -> String {
    /// Characters of the message that are repeated.
    const SHOWN_MAX: usize = 200;
    let first = message.lines().next().unwrap_or_default();
    let cut = first.char_indices().nth(SHOWN_MAX).map_or(first.len(), |(at, _)| at);
    format!("… and {} more like this: {}", with_commas(count), &first[..cut])
}

/// Lines are of a kind when they say the same. In ours, other numbers (ids in URLs, ports) make no other kind; what a
/// script prints is compared to the letter.
pub(crate) fn kind_of(line: &Line) -> u64 {
    let mut hasher = DefaultHasher::new();
    let is_console = line.is_console();
    hasher.write_u8(line.level as u8);
    let texts = line.fields.iter().flat_map(|(key, value)| [&**key, value.as_str()]);
    for text in std::iter::once(line.message.as_str()).chain(texts) {
        if is_console {
            text.hash(&mut hasher);
        } else {
            text.split(|char: char| char.is_ascii_digit())
                .filter(|part| !part.is_empty())
                .for_each(|part| part.hash(&mut hasher));
        }
        hasher.write_u8(0xff);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Level;

    fn line(message: &str, source: &'static str) -> Line {
        let fields = if source.is_empty() { Vec::new() } else { vec![("source".into(), source.to_owned())] };
        Line { level: Level::Warn, message: message.to_owned(), fields }
    }

    fn messages(lines: Vec<Line>) -> Vec<String> {
        lines.into_iter().map(|line| line.message).collect()
    }

    #[test]
    fn of_a_flood_the_first_lines_and_a_count_are_shown() {
        let mut fold = Fold::default();
        let flood = line("refused", "");
        let shown = (0..54_365).filter(|_| fold.shows(Nanos::ZERO, &flood)).count();
        assert_eq!(shown, 10);
        assert!(fold.due(Nanos::from_secs(9)).is_empty());
        assert_eq!(messages(fold.due(Nanos::from_secs(10))), ["… and 54,355 more like this: refused"]);
        // It goes on: one line each interval.
        let shown = (0..1_000).filter(|_| fold.shows(Nanos::from_secs(11), &flood)).count();
        assert_eq!(shown, 1);
        assert_eq!(messages(fold.rest(Nanos::from_secs(12))), ["… and 999 more like this: refused"]);
        assert!(fold.rest(Nanos::from_secs(13)).is_empty());
    }

    #[test]
    fn lines_that_come_now_and_then_are_all_shown() {
        let mut fold = Fold::default();
        for second in 0..100 {
            let now = Nanos::from_secs(second);
            assert!(fold.shows(now, &line("tick", "console")));
            assert!(fold.due(now).is_empty());
        }
    }

    #[test]
    fn a_script_s_lines_differ_by_their_numbers_and_ours_do_not() {
        let shown = |source: &'static str| {
            let mut fold = Fold::default();
            (0..100).filter(|number| fold.shows(Nanos::ZERO, &line(&format!("/items/{number}"), source))).count()
        };
        assert_eq!((shown("console"), shown("")), (100, 10));
    }

    #[test]
    fn kinds_are_limited() {
        let mut fold = Fold::default();
        for number in 0..=Fold::KINDS_MAX {
            assert!(fold.shows(Nanos::ZERO, &line(&number.to_string(), "console")));
        }
        assert_eq!(fold.seen.len(), Fold::KINDS_MAX);
        assert!((0..20).all(|_| fold.shows(Nanos::ZERO, &line("one more", "console"))));
        // Those that were not repeated make room.
        fold.due(Nanos::from_secs(10));
        assert!(fold.seen.is_empty());
    }
}
