//! Names: the attributes of subject and issuer, and the alternatives of the subject.

use std::net::{Ipv4Addr, Ipv6Addr};

use x509_cert::{
    der::{Any, Decode, Tag, Tagged},
    ext::Extension,
    name::Name,
};

use super::X509Error;

/// An attribute of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// What it is: `2.5.4.3`.
    pub kind: String,
    /// The text.
    pub value: String,
}

pub(super) fn attributes(name: &Name) -> Result<Vec<Attribute>, X509Error> {
    name.iter()
        .map(|attribute| {
            let value = text(&attribute.value).ok_or(X509Error::Certificate("invalid RDNSequence"))?;
            Ok(Attribute { kind: attribute.oid.to_string(), value })
        })
        .collect()
}

fn text(value: &Any) -> Option<String> {
    let bytes = value.value();
    match value.tag() {
        Tag::Utf8String | Tag::PrintableString | Tag::Ia5String | Tag::NumericString | Tag::VisibleString => {
            String::from_utf8(bytes.to_vec()).ok()
        }
        Tag::TeletexString => Some(bytes.iter().copied().map(char::from).collect()),
        Tag::BmpString if bytes.len().is_multiple_of(2) => {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            Some(String::from_utf16_lossy(&units))
        }
        _ => None,
    }
}

/// The texts of the extension `subjectAltName`, by kind.
pub(super) fn alternatives(extensions: Option<&Vec<Extension>>) -> Result<Vec<String>, X509Error> {
    let invalid = || X509Error::Certificate("invalid subject alternative names");
    let (mut dns, mut emails, mut addresses, mut uris) = (vec![], vec![], vec![], vec![]);
    let found = extensions.into_iter().flatten().filter(|extension| extension.extn_id.to_string() == SUBJECT_ALT_NAME);
    for extension in found {
        // Kinds that are not shown are not looked into.
        for name in Vec::<Any>::from_der(extension.extn_value.as_bytes()).map_err(|_| invalid())? {
            let Tag::ContextSpecific { number, .. } = name.tag() else { continue };
            let bytes = name.value();
            let text = || {
                let text = std::str::from_utf8(bytes).ok().filter(|text| text.is_ascii());
                text.map(str::to_owned).ok_or(X509Error::Certificate("SAN is malformed"))
            };
            match number.value() {
                1 => emails.push(text()?),
                2 => dns.push(text()?),
                6 => uris.push(text()?),
                7 => addresses.push(address(bytes).ok_or_else(invalid)?),
                _ => {}
            }
        }
    }
    Ok([dns, emails, addresses, uris].concat())
}

fn address(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(four).to_string());
    }
    let six = Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?);
    Some(six.to_ipv4_mapped().map_or_else(|| six.to_string(), |four| four.to_string()))
}

const SUBJECT_ALT_NAME: &str = "2.5.29.17";
