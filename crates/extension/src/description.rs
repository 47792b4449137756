//! What an extension says of itself: a text with a line for each function.
//!
//! ```text
//! onrush 1
//! # Everything a call needs is in its arguments.
//! state none
//! crc32(data: bytes) -> u32
//! luhn(digits: string) -> string
//! ```

use crate::instance::{Raw, RawType};

/// A function scripts can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// What it is called, in the module and in scripts.
    pub name: String,
    /// Its parameters, with the names they have in errors.
    pub params: Vec<(String, Type)>,
    /// What it returns, if anything.
    pub result: Option<Type>,
}

/// What a parameter or a result is to scripts, and how it crosses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A boolean: an `i32` that is 0 or not.
    Bool,
    /// A number: an `i32`.
    I32,
    /// A number: an `i32` without a sign.
    U32,
    /// A BigInt: an `i64`.
    I64,
    /// A BigInt: an `i64` without a sign.
    U64,
    /// A number: an `f32`.
    F32,
    /// A number: an `f64`.
    F64,
    /// A string: its UTF-8 form in memory.
    String,
    /// Bytes in memory; as a result an `ArrayBuffer`.
    Bytes,
    /// Any value: its JSON in memory.
    Json,
}

/// What is wrong with a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of its description: {reason}")]
pub struct DescriptionError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
}

/// A description that has been read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Description {
    pub(crate) functions: Vec<Function>,
    /// Whether what a call leaves in memory is for the next call of the same VU.
    pub(crate) keeps_state: bool,
}

impl Type {
    const ALL: [(&'static str, Self); 10] = [
        ("bool", Self::Bool),
        ("i32", Self::I32),
        ("u32", Self::U32),
        ("i64", Self::I64),
        ("u64", Self::U64),
        ("f32", Self::F32),
        ("f64", Self::F64),
        ("string", Self::String),
        ("bytes", Self::Bytes),
        ("json", Self::Json),
    ];

    fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, this)| *this).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("unknown type {name:?}; the types are {}", known.join(", "))
        })
    }

    /// Whether it lies in the extension's memory, so that it crosses as a place and a length.
    pub fn is_in_memory(self) -> bool {
        matches!(self, Self::String | Self::Bytes | Self::Json)
    }

    /// The type a function without a description has for a WebAssembly type.
    pub(crate) fn of(raw: RawType) -> Self {
        match raw {
            RawType::I32 => Self::I32,
            RawType::I64 => Self::I64,
            RawType::F32 => Self::F32,
            RawType::F64 => Self::F64,
        }
    }

    fn raw(self) -> RawType {
        match self {
            Self::Bool | Self::I32 | Self::U32 => RawType::I32,
            Self::I64 | Self::U64 => RawType::I64,
            Self::F32 => RawType::F32,
            Self::F64 => RawType::F64,
            Self::String | Self::Bytes | Self::Json => RawType::I64,
        }
    }
}

impl Function {
    /// The WebAssembly types of its parameters: what lies in memory takes two.
    pub(crate) fn raw_params(&self) -> Vec<RawType> {
        let raw = |(_, this): &(String, Type)| {
            if this.is_in_memory() { vec![RawType::I32, RawType::I32] } else { vec![this.raw()] }
        };
        self.params.iter().flat_map(raw).collect()
    }

    /// The WebAssembly type of its result: a place and a length share an `i64`.
    pub(crate) fn raw_result(&self) -> Option<RawType> {
        self.result.map(Type::raw)
    }
}

impl Description {
    pub(crate) fn parse(text: &str) -> Result<Self, DescriptionError> {
        let mut lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
        let at = |line| move |reason: String| DescriptionError { line, reason };
        match lines.next() {
            Some(("onrush 1", _)) => {}
            first => {
                let found = first.map_or("", |(line, _)| line);
                return Err(at(1)(format!("it begins with \"onrush 1\", not {:?}", shortened(found))));
            }
        }
        let mut this = Self { keeps_state: true, ..Self::default() };
        for (line, number) in lines {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(state) = line.strip_prefix("state ") {
                this.keeps_state = match state.trim() {
                    "none" => false,
                    "vu" => true,
                    other => {
                        return Err(at(number)(format!("state is \"vu\" or \"none\", not {:?}", shortened(other))));
                    }
                };
                continue;
            }
            let function = function(line).map_err(at(number))?;
            if this.functions.iter().any(|known| known.name == function.name) {
                return Err(at(number)(format!("{} is described twice", function.name)));
            }
            this.functions.push(function);
        }
        Ok(this)
    }
}

/// `name(a: type, b: type) -> type`
fn function(line: &str) -> Result<Function, String> {
    let malformed = || format!("{:?} is not of the form name(parameter: type, …) -> type", shortened(line));
    let (name, rest) = line.split_once('(').ok_or_else(malformed)?;
    let (params, result) = rest.split_once(')').ok_or_else(malformed)?;
    let name = name.trim();
    if !is_name(name) {
        return Err(malformed());
    }
    let mut function = Function { name: name.to_owned(), params: Vec::new(), result: None };
    for param in params.split(',').map(str::trim).filter(|_| !params.trim().is_empty()) {
        let (name, kind) = param.split_once(':').ok_or_else(malformed)?;
        if !is_name(name.trim()) {
            return Err(malformed());
        }
        function.params.push((name.trim().to_owned(), Type::named(kind.trim())?));
    }
    if function.params.len() > PARAMS_MAX {
        return Err(format!("{name} has more than {PARAMS_MAX} parameters"));
    }
    let result = result.trim();
    if !result.is_empty() {
        let result = result.strip_prefix("->").ok_or_else(malformed)?;
        function.result = Some(Type::named(result.trim())?);
    }
    Ok(function)
}

/// Whether functions and parameters may be called so: what is a name in JavaScript as well.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= NAME_BYTES_MAX
        && text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '$')
        && text.chars().all(|char| char.is_ascii_alphanumeric() || char == '_' || char == '$')
}

/// Text of an extension as errors quote it.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(60)]
}

/// The longest name of a function or parameter.
const NAME_BYTES_MAX: usize = 100;

/// The most parameters of a function.
pub(crate) const PARAMS_MAX: usize = 16;

/// Reads a place and a length in memory out of one number.
pub(crate) fn place(packed: i64) -> (u32, u32) {
    ((packed as u64 >> 32) as u32, packed as u32)
}

/// A place and a length in memory as parameters.
pub(crate) fn parameters(place: u32, length: u32) -> [Raw; 2] {
    [Raw::I32(place as i32), Raw::I32(length as i32)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<&str, &str>) {
        let read = Description::parse(text).map_err(|error| error.to_string());
        let shown = read.map(|read| {
            let functions = read.functions.iter().map(|function| {
                let params: Vec<String> = function.params.iter().map(|(name, t)| format!("{name}:{t:?}")).collect();
                format!("{}({}){:?}", function.name, params.join(","), function.result)
            });
            format!("{} {}", read.keeps_state, functions.collect::<Vec<_>>().join(" "))
        });
        match (shown, expect) {
            (Ok(shown), Ok(expect)) => assert_eq!(shown, expect, "{text}"),
            (Err(error), Err(expect)) => assert!(error.contains(expect), "{text}: {error}"),
            (shown, expect) => panic!("{text}: {shown:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn descriptions() {
        check("onrush 1", Ok("true "));
        check("onrush 1\n\n# a\n state none \nf()\n", Ok("false f()None"));
        check("onrush 1\r\nf( a : u32,b:bytes )->json", Ok("true f(a:U32,b:Bytes)Some(Json)"));
        check("", Err("line 1 of its description: it begins with \"onrush 1\", not \"\""));
        check("onrush 2\nf()", Err("it begins with \"onrush 1\", not \"onrush 2\""));
        check("onrush 1\nf", Err("line 2 of its description: \"f\" is not of the form"));
        check("onrush 1\nf(", Err("is not of the form"));
        check("onrush 1\nf(a)", Err("is not of the form"));
        check("onrush 1\nf(a: int)", Err("unknown type \"int\"; the types are bool, i32"));
        check("onrush 1\nf() u32", Err("is not of the form"));
        check("onrush 1\nf()\ng()\nf()", Err("line 4 of its description: f is described twice"));
        check("onrush 1\nstate some", Err("state is \"vu\" or \"none\", not \"some\""));
        check("onrush 1\nfö()", Err("is not of the form"));
        check(&format!("onrush 1\n{}", "é".repeat(500)), Err("is not of the form"));
        let many = vec!["a: u32"; PARAMS_MAX + 1].join(",");
        check(&format!("onrush 1\nf({many})"), Err("f has more than 16 parameters"));
    }

    #[test]
    fn places() {
        assert_eq!(place(-1), (u32::MAX, u32::MAX));
        assert_eq!(place(0x0001_0000_0000_0005), (0x1_0000, 5));
    }
}
