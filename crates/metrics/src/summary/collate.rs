//! The order of names in the summary: that of JavaScript's `localeCompare`, as k6 sorts them.
//!
//! Punctuation comes before digits, digits before letters, `a` before `A` only where names are otherwise the same. That
//! covers metric and scenario names, which are ASCII, to the letter. Tag values in sub-metrics can hold anything:
//! beyond ASCII they are ordered by code point, which is stable but no language's order.

use std::cmp::Ordering;

/// ASCII characters that are neither letters nor digits, in the order of the Unicode root collation.
const PUNCTUATION: &str = "\t\n\u{b}\u{c}\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Compares two metric names, keeping sub-metrics after their parents.
pub(super) fn compare_metrics(left: &str, right: &str) -> Ordering {
    let (left_parent, left_tags) = left.split_once('{').unwrap_or((left, ""));
    let (right_parent, right_tags) = right.split_once('{').unwrap_or((right, ""));
    compare(left_parent, right_parent).then_with(|| compare(left_tags, right_tags))
}

/// Compares two names.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    left.chars()
        .map(primary)
        .cmp(right.chars().map(primary))
        .then_with(|| left.chars().map(char::is_uppercase).cmp(right.chars().map(char::is_uppercase)))
        .then_with(|| left.cmp(right))
}

/// Class and place in it, without regard to case.
fn primary(character: char) -> (u8, u32) {
    if let Some(index) = PUNCTUATION.find(character) {
        // The cast cannot truncate: the table has a few dozen bytes.
        return (0, index as u32);
    }
    let folded = character.to_lowercase().next().unwrap_or(character);
    let class = match (folded.is_ascii(), folded.is_numeric(), folded.is_alphabetic()) {
        (_, true, _) => 2,
        (true, _, true) => 3,
        (false, _, true) => 4,
        _ => 1,
    };
    (class, folded as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_k6s_order() {
        // As k6 v1.8.1 printed them.
        let expect = [
            "_A",
            "_x",
            "a_b",
            "a_b{z : '😀'}",
            "a_b{z:é}",
            "a_b{z:日本}",
            "A_c",
            "a1",
            "a10",
            "a2",
            "ab",
            "ab{B:1,A:2}",
            "ab{c:1}",
            "ab{x:1}",
            "aB",
            "Ab",
            "AB",
            "ab_",
            "ab1",
            "aba",
            "cccc",
            "HTTP_x",
            "v001",
            "Vus",
            "zz",
            "zz{a:b}",
            "Zz",
        ];
        let mut sorted = expect;
        sorted.reverse();
        sorted.sort_by(|left, right| compare_metrics(left, right));
        assert_eq!(sorted, expect);
    }

    #[test]
    fn scenarios_in_k6s_order() {
        let mut names = ["throws", "bx", "a", "b-x", "1", "B_x"];
        names.sort_by(|left, right| compare(left, right));
        assert_eq!(names, ["1", "a", "B_x", "b-x", "bx", "throws"]);
    }
}
