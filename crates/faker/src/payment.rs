//! Cards, accounts and prices. Check digits are right; nothing else about them is.

use crate::{
    arguments::optional,
    codes::luhn_digit,
    definition::{Definition, Made, define},
    numbers::within,
    rng::Rng,
    source::Source,
    value::{FakerError, Value},
};

const N: &str = "payment";

pub(crate) const DEFINITIONS: &[Definition] = &[
    define(N, "achAccountNumber", &[], |source, _| source.characters(12, Rng::digit).map(Value::Text)),
    define(N, "achRoutingNumber", &[], |source, _| {
        let digits = source.characters(8, Rng::digit)?;
        let sum: u32 =
            digits.bytes().zip([3, 7, 1].into_iter().cycle()).map(|(digit, by)| u32::from(digit - b'0') * by).sum();
        Ok(Value::Text(format!("{digits}{}", (10 - sum % 10) % 10)))
    }),
    define(N, "bitcoinAddress", &[], |source, _| {
        let length = source.rng.between(25, 34) as usize;
        let kind = source.rng.character("13");
        Ok(Value::Text(format!("{kind}{}", source.characters(length - 1, base58)?)))
    }),
    define(N, "bitcoinPrivateKey", &[], |source, _| {
        let second = source.rng.character("HJK");
        Ok(Value::Text(format!("5{second}{}", source.characters(49, base58)?)))
    }),
    define(N, "creditCardCVV", &[], |source, _| Ok(Value::Text(cvv(source)?))),
    define(N, "creditCardExp", &[], |source, _| Ok(Value::Text(expiry(source)))),
    define(N, "creditCardExpMonth", &[], |source, _| Ok(Value::Text(format!("{:02}", source.rng.between(1, 12))))),
    define(N, "creditCardExpYear", &[], |source, _| Ok(Value::Text(expiry_year(source).to_string()))),
    define(
        N,
        "creditCardNumber",
        &[optional("types", "all"), optional("bins", ""), optional("gaps", "false")],
        |source, arguments| {
            let types = arguments.list(0)?;
            let card = match types.iter().map(|name| card(name)).collect::<Option<Vec<_>>>() {
                _ if types.is_empty() || types.iter().any(|name| name == "all") => source.rng.one(&CARDS).copied(),
                Some(cards) => source.rng.one(&cards).copied(),
                None => None,
            };
            let card = card.ok_or_else(|| FakerError::InvalidArgument {
                function: "creditCardNumber",
                parameter: "types",
                expected: "all, or types of cards such as visa and mastercard",
                found: types.join(",").chars().take(60).collect(),
            })?;
            let bins = arguments.list(1)?;
            let bin = source.rng.one(&bins).cloned();
            if bin
                .as_ref()
                .is_some_and(|bin| bin.len() >= card.digits || !bin.bytes().all(|byte| byte.is_ascii_digit()))
            {
                return Err(FakerError::InvalidArgument {
                    function: "creditCardNumber",
                    parameter: "bins",
                    expected: "the first digits of a number",
                    found: bin.unwrap_or_default().chars().take(40).collect(),
                });
            }
            number(source, card, bin, arguments.boolean(2)?)
        },
    ),
    define(N, "creditCardNumberFormatted", &[], |source, _| {
        let card = source.rng.one(&CARDS).copied().unwrap_or(CARDS[0]);
        number(source, card, None, true)
    }),
    define(N, "creditCard", &[], |source, _| credit_card(source)),
    define(N, "currency", &[], |source, _| {
        let (short, long) = (crate::words::named("currencyShort"), crate::words::named("currencyLong"));
        let (short, long) = (short.map_or(&[][..], |words| &words.items), long.map_or(&[][..], |words| &words.items));
        let index = source.rng.below(short.len() as u64) as usize;
        let at = |list: &[&str]| Value::Text(list.get(index).copied().unwrap_or_default().to_owned());
        Ok(Value::Object(vec![("short".to_owned(), at(short)), ("long".to_owned(), at(long))]))
    }),
    define(N, "price", &[optional("min", "0"), optional("max", "1000")], |source, arguments| {
        Ok(Value::Float(price(source, arguments.float(0)?, arguments.float(1)?)))
    }),
];

/// How numbers of a kind of card begin, how many digits they have, and where blanks go.
#[derive(Clone, Copy)]
struct Card {
    name: &'static str,
    start: &'static str,
    digits: usize,
    gaps: &'static [usize],
}

const CARDS: [Card; 12] = [
    Card { name: "visa", start: "4", digits: 16, gaps: &[4, 8, 12] },
    Card { name: "mastercard", start: "53", digits: 16, gaps: &[4, 8, 12] },
    Card { name: "american-express", start: "37", digits: 15, gaps: &[4, 10] },
    Card { name: "diners-club", start: "36", digits: 14, gaps: &[4, 10] },
    Card { name: "discover", start: "6011", digits: 16, gaps: &[4, 8, 12] },
    Card { name: "jcb", start: "3530", digits: 16, gaps: &[4, 8, 12] },
    Card { name: "unionpay", start: "620", digits: 16, gaps: &[4, 8, 12] },
    Card { name: "maestro", start: "6304", digits: 16, gaps: &[4, 8, 12] },
    Card { name: "elo", start: "401178", digits: 16, gaps: &[4, 8, 12] },
    Card { name: "mir", start: "2200", digits: 16, gaps: &[4, 8, 12] },
    Card { name: "hiper", start: "637095", digits: 16, gaps: &[4, 8, 12] },
    Card { name: "hipercard", start: "606282", digits: 16, gaps: &[4, 8, 12] },
];

fn card(name: &str) -> Option<Card> {
    CARDS.into_iter().find(|card| card.name == name.to_ascii_lowercase())
}

fn number(source: &mut Source<'_>, card: Card, bin: Option<String>, has_gaps: bool) -> Made {
    let mut digits = bin.unwrap_or_else(|| card.start.to_owned());
    while digits.len() + 1 < card.digits {
        digits.push(source.rng.digit());
    }
    digits.push(luhn_digit(&digits));
    if has_gaps {
        for gap in card.gaps.iter().rev() {
            digits.insert(*gap, ' ');
        }
    }
    Ok(Value::Text(digits))
}

pub(crate) fn credit_card(source: &mut Source<'_>) -> Made {
    let card = source.rng.one(&CARDS).copied().unwrap_or(CARDS[0]);
    let kind = source.word_value("creditCardType");
    let number = number(source, card, None, false)?;
    let expiry = expiry(source);
    let cvv = cvv(source)?;
    Ok(Value::Object(vec![
        ("type".to_owned(), kind),
        ("number".to_owned(), number),
        ("exp".to_owned(), Value::Text(expiry)),
        ("cvv".to_owned(), Value::Text(cvv)),
    ]))
}

fn cvv(source: &mut Source<'_>) -> Result<String, FakerError> {
    source.characters(3, Rng::digit)
}

fn expiry(source: &mut Source<'_>) -> String {
    let month = source.rng.between(1, 12);
    format!("{month:02}/{:02}", expiry_year(source) % 100)
}

fn expiry_year(source: &mut Source<'_>) -> i64 {
    let now = crate::calendar::Civil::of(source.now).year;
    source.rng.between(now + 1, now + 10)
}

/// With two decimals.
pub(crate) fn price(source: &mut Source<'_>, min: f64, max: f64) -> f64 {
    let price = within(source, min, max);
    if price.abs() < 1e13 { (price * 100.0).round() / 100.0 } else { price }
}

fn base58(rng: &mut Rng) -> char {
    rng.character("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
}
