//! JSON Web Keys (RFC 7517), as text members.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;

use super::WebError;

/// The text members of a JSON Web Key that its kind gives a meaning; `key_ops`, `ext`, `use` and `alg` have none here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jwk(Vec<(&'static str, String)>);

/// Every member that is read, in alphabetical order.
const MEMBERS: [&str; 14] = ["crv", "d", "dp", "dq", "e", "k", "kty", "n", "p", "q", "qi", "x", "y", "alg"];

/// The longest text that is read as a key: twice the longest modulus with all its numbers.
const JWK_TEXT_BYTES_MAX: usize = 64 << 10;

impl Jwk {
    /// Reads JSON text. `structure` is what k6 calls the Go type it is read into.
    pub fn from_json(text: &str, structure: &str) -> Result<Self, String> {
        if text.len() > JWK_TEXT_BYTES_MAX {
            return Err(format!("the key has {} bytes of JSON, at most {JWK_TEXT_BYTES_MAX} are read", text.len()));
        }
        let members = match serde_json::from_str(text).map_err(|error| error.to_string())? {
            Value::Object(members) => members,
            Value::Null => return Ok(Self::default()),
            other => {
                return Err(format!(
                    "json: cannot unmarshal {} into Go value of type webcrypto.{structure}",
                    kind(&other)
                ));
            }
        };
        let mut jwk = Self::default();
        for name in MEMBERS {
            match members.get(name) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => jwk.0.push((name, text.clone())),
                // k6: what a kind of key has no use for may be anything.
                Some(_) if !used(structure, name) => {}
                Some(other) => {
                    return Err(format!(
                        "json: cannot unmarshal {} into Go struct field {structure}.{name} of type string",
                        kind(other)
                    ));
                }
            }
        }
        Ok(jwk)
    }

    /// A key of that kind, to be filled.
    pub(super) fn of_kind(kind: &str) -> Self {
        Self(vec![("kty", kind.to_owned())])
    }

    /// The members, in the order they were added.
    pub fn members(&self) -> &[(&'static str, String)] {
        &self.0
    }

    /// A member's text; empty where it is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
    }

    /// The bytes of a member. `what` names it in the error.
    pub(super) fn bytes(&self, name: &str, what: &str) -> Result<Vec<u8>, String> {
        let text = self.text(name);
        URL_SAFE_NO_PAD.decode(text).map_err(|_| {
            let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            let at = text.bytes().position(|byte| !is_digit(byte)).unwrap_or(text.len());
            format!("failed to decode {what}: illegal base64 data at input byte {at}")
        })
    }

    /// Adds a text member.
    pub(super) fn with(mut self, name: &'static str, text: &str) -> Self {
        self.0.push((name, text.to_owned()));
        self
    }

    /// Adds bytes as base64url.
    pub(super) fn with_bytes(mut self, name: &'static str, bytes: &[u8]) -> Self {
        self.0.push((name, URL_SAFE_NO_PAD.encode(bytes)));
        self
    }
}

/// An error for a key that is not what its kind asks for.
pub(super) fn check_kind(jwk: &Jwk, kind: &str) -> Result<(), String> {
    let found = jwk.text("kty");
    if found == kind { Ok(()) } else { Err(format!("invalid key type: {found}")) }
}

fn used(structure: &str, name: &str) -> bool {
    match structure {
        "symmetricJWK" => matches!(name, "kty" | "k" | "alg"),
        "rsaJWK" => matches!(name, "kty" | "n" | "e" | "d" | "p" | "q" | "dp" | "dq" | "qi"),
        _ => matches!(name, "kty" | "crv" | "x" | "y" | "d"),
    }
}

/// What Go's decoder calls a JSON value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl From<Jwk> for Value {
    fn from(jwk: Jwk) -> Self {
        Value::Object(jwk.0.into_iter().map(|(name, text)| (name.to_owned(), Value::String(text))).collect())
    }
}

/// An error of reading keys, as k6 names it for symmetric keys.
pub(super) fn data(message: String) -> WebError {
    WebError::data(message)
}
