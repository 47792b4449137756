//! Licence expressions: whether a set of licences satisfies one.

/// Whether everything `expression` demands is in `allowed`; `None` when it cannot be read.
///
/// The old way of writing `OR` as `/` counts, too.
pub(super) fn is_satisfied(expression: &str, allowed: &[String]) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut parser = Parser { tokens: spaced.split_whitespace().collect(), at: 0, allowed };
    let result = parser.any()?;
    (parser.at == parser.tokens.len()).then_some(result)
}

struct Parser<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    allowed: &'a [String],
}

impl Parser<'_> {
    fn take(&mut self, token: &str) -> bool {
        let found = self.tokens.get(self.at) == Some(&token);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Option<bool> {
        let mut result = self.all()?;
        while self.take("OR") {
            result |= self.all()?;
        }
        Some(result)
    }

    fn all(&mut self) -> Option<bool> {
        let mut result = self.one()?;
        while self.take("AND") {
            result &= self.one()?;
        }
        Some(result)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let result = self.any()?;
            return self.take(")").then_some(result);
        }
        let mut name = (*self.tokens.get(self.at)?).to_owned();
        if matches!(name.as_str(), ")" | "OR" | "AND" | "WITH") {
            return None;
        }
        self.at += 1;
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.tokens.get(self.at)?);
            self.at += 1;
        }
        Some(self.allowed.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        let check = |expression: &str, expect: Option<bool>| {
            assert_eq!(is_satisfied(expression, &allowed), expect, "{expression}")
        };
        check("MIT", Some(true));
        check("GPL-2.0-only", Some(false));
        check("MIT OR GPL-2.0-only", Some(true));
        check("MIT/GPL-2.0-only", Some(true));
        check("MIT AND GPL-2.0-only", Some(false));
        check("MIT AND (GPL-2.0-only OR ISC)", Some(true));
        check("GPL-2.0-only OR MIT AND ISC", Some(true));
        check("Apache-2.0 WITH LLVM-exception", Some(true));
        check("Apache-2.0", Some(false));
        check("(MIT", None);
        check("MIT MIT", None);
        check("", None);
    }
}
