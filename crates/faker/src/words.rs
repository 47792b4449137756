//! Lists of words, and patterns that put words together, as `data/` has them.
//!
//! A line is `name = word|word` or `name ~ pattern|pattern`, below the `[category]` it belongs to; a name that begins with
//! a dot is for patterns only. In a pattern `{name}` stands for another list or pattern, `{^name}` begins with a capital
//! letter, and `#` is a digit.

use std::{collections::HashMap, sync::LazyLock};

/// The list of that name.
pub(crate) fn named(name: &str) -> Option<&'static Words> {
    static WORDS: LazyLock<HashMap<&str, Words>> =
        LazyLock::new(|| all().map(|(_, name, words)| (name, words)).collect());
    WORDS.get(name)
}

/// The lists of all files, in order: category, name, and what it is.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str, Words)> {
    const FILES: [&str; 3] =
        [include_str!("../data/people.txt"), include_str!("../data/things.txt"), include_str!("../data/words.txt")];
    let mut category = "";
    FILES.into_iter().flat_map(str::lines).filter_map(move |line| {
        if let Some(name) = line.strip_prefix('[') {
            category = name.trim_end_matches(']');
            return None;
        }
        if line.starts_with('#') {
            return None;
        }
        let (name, rest) = line.split_once(' ')?;
        let (kind, items) = rest.split_once(' ')?;
        Some((category, name, Words { is_pattern: kind == "~", items: items.split('|').collect() }))
    })
}

/// A list.
pub(crate) struct Words {
    /// Whether its items are patterns.
    pub(crate) is_pattern: bool,
    pub(crate) items: Box<[&'static str]>,
}
