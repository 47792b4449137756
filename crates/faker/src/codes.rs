//! Numbers of securities, and digits that check others.

use crate::{
    definition::{Definition, define},
    rng::Rng,
    source::Source,
    value::{FakerError, Value},
};

pub(crate) const DEFINITIONS: &[Definition] = &[
    define("finance", "cusip", &[], |source, _| Ok(Value::Text(cusip(source)?))),
    define("finance", "isin", &[], |source, _| {
        let country = source.word("countryAbbreviation");
        let code = format!("{country}{}", cusip(source)?);
        // Letters count as two digits.
        let digits: String = code.chars().filter_map(|each| each.to_digit(36)).map(|value| value.to_string()).collect();
        Ok(Value::Text(format!("{code}{}", luhn_digit(&digits))))
    }),
    define("product", "productUpc", &[], |source, _| Ok(Value::Text(upc(source)?))),
];

fn cusip(source: &mut Source<'_>) -> Result<String, FakerError> {
    let code = source.characters(8, |rng: &mut Rng| rng.character("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))?;
    let sum: u32 = code
        .chars()
        .filter_map(|each| each.to_digit(36))
        .enumerate()
        .map(|(index, value)| if index % 2 == 1 { value * 2 } else { value })
        .map(|value| value / 10 + value % 10)
        .sum();
    Ok(format!("{code}{}", (10 - sum % 10) % 10))
}

pub(crate) fn upc(source: &mut Source<'_>) -> Result<String, FakerError> {
    let digits = source.characters(11, Rng::digit)?;
    let sum: u32 = digits
        .bytes()
        .enumerate()
        .map(|(index, digit)| u32::from(digit - b'0') * if index % 2 == 0 { 3 } else { 1 })
        .sum();
    Ok(format!("{digits}{}", (10 - sum % 10) % 10))
}

/// Luhn's digit for the digits before it.
pub(crate) fn luhn_digit(digits: &str) -> char {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, digit)| {
            let value = u32::from(digit - b'0') * if index % 2 == 0 { 2 } else { 1 };
            value / 10 + value % 10
        })
        .sum();
    char::from(b'0' + ((10 - sum % 10) % 10) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_known_numbers() {
        assert_eq!(luhn_digit("7992739871"), '3');
        assert_eq!(luhn_digit("411111111111111"), '1');
    }
}
