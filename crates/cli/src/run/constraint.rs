//! Version constraints as k6 reads them, such as `>=1.2 <3 || ^4`.

use std::fmt;

/// Alternatives, each of comparisons that all have to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Constraint(Vec<Vec<Comparison>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Comparison {
    operator: &'static str,
    /// As written, behind the operator.
    text: String,
    /// Major, minor and patch, as far as they are given.
    parts: Vec<u64>,
    /// What is before a version of that number counts as earlier.
    is_prerelease: bool,
}

/// A version's major, minor and patch number.
pub(crate) type Version = [u64; 3];

/// Longer ones first: the first that fits is taken.
const OPERATORS: [&str; 11] = ["!=", ">=", "=>", "<=", "=<", "~>", "=", ">", "<", "~", "^"];

impl Constraint {
    /// Any version.
    pub(crate) const ANY: &str = "*";

    /// k6: its text for what is none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let improper = || format!("improper constraint: {text}");
        let spaced = text.replace(" - ", "\u{0}");
        let alternatives = spaced.split("||").map(|alternative| comparisons(alternative).ok_or_else(improper));
        Ok(Self(alternatives.collect::<Result<_, _>>()?))
    }

    pub(crate) fn allows(&self, version: Version) -> bool {
        self.0.iter().any(|all| all.iter().all(|one| one.allows(version)))
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alternatives = self
            .0
            .iter()
            .map(|all| all.iter().map(|one| format!("{}{}", one.operator, one.text)).collect::<Vec<_>>().join(" "));
        f.write_str(&alternatives.collect::<Vec<_>>().join(" || "))
    }
}

/// `>=1.2, <3`, `>1 <2`, `1.2 - 2.3` (its dash replaced).
fn comparisons(text: &str) -> Option<Vec<Comparison>> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator)).unwrap_or_default();
        rest = rest[operator.len()..].trim_start();
        let end = rest.find(|char: char| char.is_whitespace() || ",<>=!~^\0".contains(char)).unwrap_or(rest.len());
        let (version, after) = rest.split_at(end);
        if let Some(after) = after.strip_prefix('\0') {
            // A range from here to there.
            let after = after.trim_start();
            let end = after.find(|char: char| char.is_whitespace() || char == ',').unwrap_or(after.len());
            all.push(Comparison::parse(">=", version).filter(|_| operator.is_empty())?);
            all.push(Comparison::parse("<=", &after[..end])?);
            rest = after[end..].trim_start_matches([' ', ',']);
            continue;
        }
        all.push(Comparison::parse(operator, version)?);
        rest = after.trim_start_matches([' ', ',', '\t']);
    }
    (!all.is_empty()).then_some(all)
}

impl Comparison {
    fn parse(operator: &'static str, text: &str) -> Option<Self> {
        let number = text.strip_prefix('v').unwrap_or(text);
        let number = number.split_once('+').map_or(number, |(number, _)| number);
        let (number, prerelease) = number.split_once('-').map_or((number, None), |(number, rest)| (number, Some(rest)));
        let is_name = |text: &str| {
            !text.is_empty() && text.chars().all(|char| char.is_ascii_alphanumeric() || char == '.' || char == '-')
        };
        if prerelease.is_some_and(|text| !is_name(text)) {
            return None;
        }
        let (mut parts, mut is_open) = (Vec::new(), false);
        for (part, index) in number.split('.').zip(0..) {
            if ["x", "X", "*"].contains(&part) {
                is_open = true;
            } else if !is_open {
                parts.push(part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()))?);
            } else if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            if index == 3 {
                return None;
            }
        }
        Some(Self { operator, text: text.to_owned(), parts, is_prerelease: prerelease.is_some() })
    }

    /// The least version it names, and the least that is beyond all it names: `1.2` names all of 1.2.
    fn named(&self) -> (Version, Option<Version>) {
        let part = |index: usize| self.parts.get(index).copied().unwrap_or(0);
        let least = [part(0), part(1), part(2)];
        (least, next(least, self.parts.len()))
    }

    fn allows(&self, version: Version) -> bool {
        let (least, beyond) = self.named();
        let is_below = |bound: Option<Version>| bound.is_none_or(|bound| version < bound);
        match self.operator {
            "" | "=" => version >= least && is_below(beyond),
            "!=" => !(version >= least && is_below(beyond)),
            ">" if self.is_prerelease => version >= least,
            ">" => !is_below(beyond),
            ">=" | "=>" => version >= least,
            "<" => version < least,
            "<=" | "=<" => is_below(beyond),
            "~" | "~>" => version >= least && is_below(next(least, self.parts.len().min(2))),
            // What changes nothing on the left that is not zero.
            _ => {
                let kept = self.parts.iter().position(|part| *part > 0).map_or(self.parts.len(), |first| first + 1);
                version >= least && is_below(next(least, kept))
            }
        }
    }
}

/// The next version that differs in the first `kept` parts; none beyond all versions.
fn next(version: Version, kept: usize) -> Option<Version> {
    let last = kept.checked_sub(1)?;
    let mut next = [0; 3];
    next[..last].copy_from_slice(&version[..last]);
    next[last] = version[last].saturating_add(1);
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts and verdicts are those of k6 1.8.1.
    #[test]
    fn texts() {
        let check = |text: &str, expect: &str| {
            let shown = Constraint::parse(text).map_or_else(|error| error, |constraint| constraint.to_string());
            assert_eq!(shown, expect, "{text}");
        };
        check(">= 1.2", ">=1.2");
        check(">= 1.2, < 3", ">=1.2 <3");
        check(">1 <2", ">1 <2");
        check("~1.2 || ^2.0.0-rc.1", "~1.2 || ^2.0.0-rc.1");
        check("1.2 - 2.3", ">=1.2 <=2.3");
        check("1.x", "1.x");
        check("v0.4.4", "v0.4.4");
        check("=>1", "=>1");
        check("*", "*");
        for text in [">= banana", "nope", "latest", "1.2.3.4", "with foo >= 1", "", "||", "1..2", ">", "1.2-", "é", "-"]
        {
            check(text, &format!("improper constraint: {text}"));
        }
    }

    #[test]
    fn verdicts() {
        let check = |text: &str, expect: bool| {
            let constraint = Constraint::parse(text).expect(text);
            assert_eq!(constraint.allows([1, 8, 1]), expect, "{text}");
        };
        for text in
            [">=1.2", ">= 1.2, < 3", "1.2 - 2.3", "1.x", "v1", "=>1", "!=1.2", "*", "~1.8", "~1", "^1.2", "<=1.8"]
        {
            check(text, true);
        }
        for text in [">1", ">1 <2", "~1.2 || ^2.0.0-rc.1", "^2", "~1.7.9", "<1.8", "=1.7", "!=1", "<=1.7", "^0.8", ">9"]
        {
            check(text, false);
        }
    }
}
