//! The formulas of `:nth-child(…)`: `odd`, `3`, `2n+1`, `-n + 2`.

use super::parse::{Parsed, Parser};

impl Parser<'_> {
    /// The `a` and `b` of `an+b`.
    pub(super) fn nth_formula(&mut self) -> Parsed<(i64, i64)> {
        let sign = match self.peek() {
            Some(b'-') => {
                self.bump();
                -1
            }
            Some(b'+') => {
                self.bump();
                1
            }
            Some(b'o' | b'O' | b'e' | b'E') => {
                return match self.name()?.to_ascii_lowercase().as_str() {
                    "odd" => Ok((2, 1)),
                    "even" => Ok((2, 0)),
                    _ => Err(self.error("odd, even, a number or a formula like 2n+1 is expected")),
                };
            }
            _ => 1,
        };
        let a = match self.peek() {
            Some(b'0'..=b'9') => {
                let number = sign * self.integer()?;
                if !matches!(self.peek(), Some(b'n' | b'N')) {
                    return Ok((0, number));
                }
                number
            }
            Some(b'n' | b'N') => sign,
            _ => return Err(self.error("odd, even, a number or a formula like 2n+1 is expected")),
        };
        self.bump();
        self.skip_blanks();
        let sign = match self.peek() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Ok((a, 0)),
        };
        self.bump();
        self.skip_blanks();
        Ok((a, sign * self.integer()?))
    }

    fn integer(&mut self) -> Parsed<i64> {
        let mut number: i64 = 0;
        let mut digits = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            // No element has as many siblings.
            number = (number * 10 + i64::from(digit - b'0')).min(i64::from(u32::MAX));
            digits += 1;
            self.bump();
        }
        if digits == 0 { Err(self.error("a number is expected")) } else { Ok(number) }
    }
}
