//! Metadata: the fields of heads and trailers that are not the protocol's own.

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use onrush_net::HeaderBlock;

/// Names in lower case, each with its values in order. Values of names that end in `-bin` are the bytes themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    entries: Vec<(String, Vec<Vec<u8>>)>,
}

/// Metadata that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts say it; they are Go's")]
pub enum MetadataError {
    #[error("there is an empty key in the header")]
    EmptyName,
    #[error("header key {0:?} contains illegal characters not in [0-9a-z-_.]")]
    Name(String),
    #[error("header key {0:?} contains value with non-printable ASCII characters")]
    Value(String),
}

impl Metadata {
    /// Adds a value.
    pub fn add(&mut self, name: &str, value: Vec<u8>) {
        let name = name.to_ascii_lowercase();
        match self.entries.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => self.entries.push((name, vec![value])),
        }
    }

    /// Names and values, in the order the names came first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Vec<u8>])> {
        self.entries.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }

    /// The first value of a name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.entries.iter().find(|(known, _)| known == name).and_then(|(_, values)| values.first()).map(Vec::as_slice)
    }

    /// Whether it can be sent.
    ///
    /// # Errors
    /// The first name or value that cannot.
    pub fn validate(&self) -> Result<(), MetadataError> {
        for (name, values) in &self.entries {
            if name.is_empty() {
                return Err(MetadataError::EmptyName);
            }
            // Go leaves names of the protocol out of it, and out of what is sent.
            if name.starts_with(':') {
                continue;
            }
            let fits = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_');
            if !name.bytes().all(fits) {
                return Err(MetadataError::Name(name.clone()));
            }
            let is_text = |value: &Vec<u8>| value.iter().all(|byte| (0x20..=0x7e).contains(byte));
            if !name.ends_with(BINARY) && !values.iter().all(is_text) {
                return Err(MetadataError::Value(name.clone()));
            }
        }
        Ok(())
    }

    /// Writes the lines of a head, without what the protocol keeps for itself.
    pub fn write(&self, out: &mut Vec<u8>) {
        for (name, values) in self.entries.iter().filter(|(name, _)| !is_reserved(name)) {
            for value in values {
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b": ");
                if name.ends_with(BINARY) {
                    out.extend_from_slice(UNPADDED.encode(value).as_bytes());
                } else {
                    out.extend_from_slice(value);
                }
                out.extend_from_slice(b"\r\n");
            }
        }
    }

    /// What a head or trailers say.
    ///
    /// # Errors
    /// The name of a `-bin` value that is no base64.
    pub(crate) fn read(fields: &HeaderBlock) -> Result<Self, String> {
        let mut metadata = Self::default();
        for (name, value) in fields.raw_fields() {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            if is_reserved(name) && name != "content-type" && name != "user-agent" {
                continue;
            }
            let value = if name.ends_with(BINARY) {
                UNPADDED.decode(value).map_err(|_| format!("transport: malformed {name}: {}", illegal_base64(value)))?
            } else {
                value.to_vec()
            };
            metadata.add(name, value);
        }
        Ok(metadata)
    }
}

/// Go's text for what is no base64.
fn illegal_base64(value: &[u8]) -> String {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let at = value.iter().position(|byte| !is_letter(byte)).unwrap_or(value.len());
    format!("illegal base64 data at input byte {at}")
}

fn is_reserved(name: &str) -> bool {
    name.starts_with(':')
        || matches!(
            name,
            "content-type"
                | "user-agent"
                | "grpc-message-type"
                | "grpc-encoding"
                | "grpc-message"
                | "grpc-status"
                | "grpc-timeout"
                | "te"
        )
}

/// Names that end so have bytes for values.
pub const BINARY: &str = "-bin";
/// Written without padding, read either way.
const UNPADDED: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent() {
        let mut metadata = Metadata::default();
        metadata.add("X-A", b"1".to_vec());
        metadata.add("x-a", b"2".to_vec());
        metadata.add("X-Bin", vec![0, 255]);
        metadata.add("grpc-timeout", b"1S".to_vec());
        metadata.validate().expect("valid");
        let mut lines = Vec::new();
        metadata.write(&mut lines);
        assert_eq!(String::from_utf8(lines).unwrap(), "x-a: 1\r\nx-a: 2\r\nx-bin: AP8\r\n");
    }

    #[test]
    fn what_cannot_be_sent() {
        let check = |name: &str, value: &str, expect: &str| {
            let mut metadata = Metadata::default();
            metadata.add(name, value.into());
            assert_eq!(metadata.validate().unwrap_err().to_string(), expect);
        };
        check("", "", "there is an empty key in the header");
        check("a b", "", "header key \"a b\" contains illegal characters not in [0-9a-z-_.]");
        check("a", "ä", "header key \"a\" contains value with non-printable ASCII characters");
        check("a", "b\r\nc: d", "header key \"a\" contains value with non-printable ASCII characters");
    }
}
