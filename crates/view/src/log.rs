//! What a run logged, lines that say the same counted.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// The record `log`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LineRow {
    /// What lines that say the same have in common: a later record of it replaces an earlier one.
    pub line: u64,
    /// When the last one was logged.
    pub at_ms: f64,
    /// When the first one was.
    pub first_ms: f64,
    /// `debug`, `info`, `warning` or `error`.
    pub level: String,
    /// The text of the first one.
    pub message: String,
    /// How many there were so far.
    pub count: u64,
    /// Its fields.
    pub fields: serde_json::Map<String, serde_json::Value>,
}

/// All lines of a run, a limited number of different ones.
#[derive(Debug, Default)]
pub struct Lines {
    rows: FxHashMap<u64, LineRow>,
    /// Kinds in the order of their first lines, for their numbers.
    kinds: FxHashMap<u64, u64>,
    /// Lines that were logged since they were last told of.
    news: FxHashSet<u64>,
}

impl Lines {
    /// Different lines that are kept; further ones are only counted.
    pub const KINDS_MAX: usize = 1_000;
    /// The number of the line that counts further ones.
    const FURTHER: u64 = 0;

    /// Counts a line; lines of the same `kind` say the same.
    pub fn add(&mut self, kind: u64, at_ms: f64, level: &str, message: &str, fields: &[(String, String)]) {
        let is_full = self.kinds.len() >= Self::KINDS_MAX;
        let number = match self.kinds.get(&kind) {
            Some(number) => *number,
            None if is_full => Self::FURTHER,
            None => {
                let number = self.kinds.len() as u64 + 1;
                self.kinds.insert(kind, number);
                number
            }
        };
        let row = self.rows.entry(number).or_insert_with(|| {
            if number == Self::FURTHER {
                let message = format!("further lines, different from the first {}", Self::KINDS_MAX);
                return LineRow { first_ms: at_ms, level: "info".to_owned(), message, ..LineRow::default() };
            }
            let fields = fields.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
            LineRow {
                line: number,
                first_ms: at_ms,
                level: level.to_owned(),
                message: message.to_owned(),
                fields,
                ..LineRow::default()
            }
        });
        row.count = row.count.saturating_add(1);
        row.at_ms = at_ms;
        self.news.insert(number);
    }

    /// The rows that changed since the last call.
    pub fn take_news(&mut self) -> Vec<LineRow> {
        let news = std::mem::take(&mut self.news);
        in_order(news.iter().filter_map(|number| self.rows.get(number).cloned()).collect())
    }

    /// All rows, in the order of their first lines.
    pub fn all(&self) -> Vec<LineRow> {
        in_order(self.rows.values().cloned().collect())
    }
}

/// The one that counts further lines is the last.
fn in_order(mut rows: Vec<LineRow>) -> Vec<LineRow> {
    rows.sort_by_key(|row| row.line.wrapping_sub(1));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_their_kinds_limited() {
        let mut lines = Lines::default();
        for at in 0..5_000_u32 {
            lines.add(u64::from(at % 2_500), f64::from(at), "warning", &format!("line {at}"), &[]);
        }
        let news = lines.take_news();
        assert_eq!(news.len(), Lines::KINDS_MAX + 1);
        assert_eq!(news.iter().map(|row| row.count).sum::<u64>(), 5_000);
        assert_eq!((news[0].count, news[0].first_ms, news[0].at_ms, &*news[0].message), (2, 0.0, 2_500.0, "line 0"));
        assert!(lines.take_news().is_empty());
        lines.add(1, 9e9, "warning", "", &[]);
        assert_eq!(lines.take_news().iter().map(|row| (row.line, row.count)).collect::<Vec<_>>(), [(2, 3)]);
        assert_eq!(lines.all().last().map(|row| row.line), Some(Lines::FURTHER));
    }
}
