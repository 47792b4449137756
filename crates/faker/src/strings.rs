//! Letters, digits, texts to fill in, passwords, and what names things on networks.

use crate::{
    arguments::{optional, required},
    definition::{Definition, Made, define},
    rng::Rng,
    source::{Source, capitalised},
    value::Value,
};

const N: &str = "strings";
const NET: &str = "internet";

pub(crate) const DEFINITIONS: &[Definition] = &[
    define(N, "digit", &[], |source, _| Ok(text(source.rng.digit()))),
    define(N, "letter", &[], |source, _| Ok(text(any_letter(source.rng)))),
    define(N, "digitN", &[required("count")], |source, arguments| {
        source.characters(arguments.count(0)?, Rng::digit).map(Value::Text)
    }),
    define(N, "letterN", &[required("count")], |source, arguments| {
        source.characters(arguments.count(0)?, any_letter).map(Value::Text)
    }),
    define(N, "lexify", &[required("str")], |source, arguments| filled(source, &arguments.text(0)?, '?', Rng::letter)),
    define(N, "numerify", &[required("str")], |source, arguments| filled(source, &arguments.text(0)?, '#', Rng::digit)),
    define(N, "randomString", &[required("strs")], |source, arguments| {
        let items = arguments.list(0)?;
        Ok(text(source.rng.one(&items).cloned().unwrap_or_default()))
    }),
    define(N, "shuffleStrings", &[required("strs")], |source, arguments| {
        let mut items = arguments.list(0)?;
        source.rng.shuffle(&mut items);
        Ok(Value::texts(items))
    }),
    define(N, "uuid", &[], |source, _| {
        // Version 4, variant 1.
        let high = source.rng.bits() & !0xF000 | 0x4000;
        let low = source.rng.bits() & !(3 << 62) | 1 << 63;
        Ok(text(format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xFFFF,
            high & 0xFFFF,
            low >> 48,
            low & 0xFFFF_FFFF_FFFF
        )))
    }),
    define(
        NET,
        "password",
        &[
            optional("lower", "true"),
            optional("upper", "true"),
            optional("numeric", "true"),
            optional("special", "true"),
            optional("space", "false"),
            optional("length", "12"),
        ],
        |source, arguments| {
            let mut kinds = Vec::new();
            for (index, kind) in PASSWORD_KINDS.iter().enumerate() {
                if arguments.boolean(index)? {
                    kinds.push(*kind);
                }
            }
            if kinds.is_empty() {
                kinds.extend([PASSWORD_KINDS[0], PASSWORD_KINDS[2]]);
            }
            let every = kinds.concat();
            let length = arguments.count(5)?.max(PASSWORD_LENGTH_MIN);
            source.take(length)?;
            // One of each kind, and the rest of any.
            let mut characters: Vec<char> =
                (0..length).map(|index| source.rng.character(kinds.get(index).copied().unwrap_or(&every))).collect();
            source.rng.shuffle(&mut characters);
            // A blank at an end is easily lost.
            for end in [0, length - 1] {
                if characters[end] == ' ' {
                    characters[end] = source.rng.letter();
                }
            }
            Ok(text(characters.into_iter().collect::<String>()))
        },
    ),
    define(NET, "ipv4Address", &[], |source, _| {
        let [a, b, c, d, ..] = source.rng.bits().to_be_bytes();
        Ok(text(format!("{a}.{b}.{c}.{d}")))
    }),
    define(NET, "ipv6Address", &[], |source, _| {
        let parts: Vec<String> = (0..8).map(|_| format!("{:x}", 0x1000 + source.rng.below(0xF000))).collect();
        Ok(text(parts.join(":")))
    }),
    define(NET, "macAddress", &[], |source, _| {
        let [a, b, c, d, e, f, ..] = source.rng.bits().to_be_bytes();
        Ok(text(format!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")))
    }),
    define(NET, "url", &[], |source, _| {
        let domain = domain(source);
        let path = source.word("bs").replace(' ', "-");
        Ok(text(format!("https://www.{domain}/{path}")))
    }),
    define(NET, "domainName", &[], |source, _| Ok(text(domain(source)))),
    define(NET, "imageUrl", &[optional("width", "500"), optional("height", "500")], |_, arguments| {
        Ok(text(format!("https://picsum.photos/{}/{}", arguments.integer(0)?, arguments.integer(1)?)))
    }),
    define(NET, "httpStatusCode", &[], |source, _| one(source, &STATUS_CODES)),
    define(NET, "httpStatusCodeSimple", &[], |source, _| one(source, &[200, 301, 302, 400, 404, 500])),
    define(NET, "username", &[], |source, _| {
        let name = source.word(".username");
        Ok(text(plain(&name)))
    }),
    define("person", "email", &[], |source, _| Ok(text(email(source)))),
    define("color", "hexColor", &[], |source, _| Ok(text(format!("#{:06x}", source.rng.below(1 << 24))))),
    define("color", "rgbColor", &[], |source, _| {
        let [red, green, blue, ..] = source.rng.bits().to_be_bytes();
        Ok(Value::List([red, green, blue].map(|part| Value::Integer(part.into())).into()))
    }),
    define("color", "niceColors", &[], |source, _| {
        let palette = source.word(".palette");
        Ok(Value::texts(palette.split(' ').map(|color| format!("#{color}"))))
    }),
];

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

fn any_letter(rng: &mut Rng) -> char {
    let letter = rng.letter();
    if rng.coin() { letter.to_ascii_uppercase() } else { letter }
}

fn one(source: &mut Source<'_>, of: &[i64]) -> Made {
    Ok(Value::Integer(source.rng.one(of).copied().unwrap_or_default()))
}

/// The text with each `mark` replaced.
fn filled(source: &mut Source<'_>, pattern: &str, mark: char, make: fn(&mut Rng) -> char) -> Made {
    source.take(pattern.len())?;
    Ok(text(pattern.chars().map(|each| if each == mark { make(source.rng) } else { each }).collect::<String>()))
}

fn domain(source: &mut Source<'_>) -> String {
    let name = plain(&source.word(".domainWord"));
    let suffix = source.word("domainSuffix");
    format!("{}.{suffix}", name.to_lowercase())
}

pub(crate) fn email(source: &mut Source<'_>) -> String {
    let (first, last) = (source.word("firstName"), source.word("lastName"));
    let domain = domain(source);
    format!("{}{}@{domain}", plain(&first).to_lowercase(), capitalised(&plain(&last)).to_lowercase())
}

/// Letters and digits alone.
fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

const PASSWORD_KINDS: [&str; 5] =
    ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "@#$%&?|!(){}<>=*+-_:;,.", " "];

/// One of each kind has room.
const PASSWORD_LENGTH_MIN: usize = 5;

const STATUS_CODES: [i64; 38] = [
    100, 101, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 406, 407,
    408, 409, 410, 411, 412, 413, 415, 417, 422, 429, 500, 501, 502, 503, 504,
];
