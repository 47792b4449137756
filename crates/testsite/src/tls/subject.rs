//! Who a certificate is for, and what a staple says of it.

use super::der::{Element, Elements, INTEGER, context};

/// The names and number in a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Such as `CN=client,O=Example`.
    pub(crate) subject: String,
    pub(crate) issuer: String,
    /// In hex.
    pub(crate) serial: String,
}

/// The parts of a certificate that are needed here.
pub(super) struct Parts<'a> {
    pub(super) serial: Element<'a>,
    pub(super) issuer: Element<'a>,
    pub(super) subject: Element<'a>,
    /// The key's bits, without their count of unused bits.
    pub(super) key: &'a [u8],
}

/// Reads a certificate's names; `None` when it is none.
pub(crate) fn subject(certificate: &[u8]) -> Option<Subject> {
    let parts = parts(certificate)?;
    Some(Subject {
        subject: name(parts.subject.content),
        issuer: name(parts.issuer.content),
        serial: parts.serial.content.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

/// Takes a certificate apart.
pub(super) fn parts(certificate: &[u8]) -> Option<Parts<'_>> {
    let whole = Elements(certificate).next()?;
    let signed = Elements(whole.content).next()?;
    let mut fields = Elements(signed.content).peekable();
    // Version 1 has no version.
    fields.next_if(|field| field.tag == context(0));
    let serial = fields.next().filter(|field| field.tag == INTEGER)?;
    let _algorithm = fields.next()?;
    let issuer = fields.next()?;
    let _validity = fields.next()?;
    let subject = fields.next()?;
    let key = fields.next()?;
    let key = Elements(key.content).nth(1)?.content.get(1..)?;
    Some(Parts { serial, issuer, subject, key })
}

/// A name in the order it stands in, the attributes that have short names.
fn name(sequence: &[u8]) -> String {
    let mut text = String::new();
    for attribute in Elements(sequence).flat_map(|set| Elements(set.content)) {
        let mut pair = Elements(attribute.content);
        let (Some(kind), Some(value)) = (pair.next(), pair.next()) else { continue };
        let kind = match kind.content {
            [0x55, 4, 3] => "CN",
            [0x55, 4, 6] => "C",
            [0x55, 4, 7] => "L",
            [0x55, 4, 8] => "ST",
            [0x55, 4, 10] => "O",
            [0x55, 4, 11] => "OU",
            _ => continue,
        };
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(kind);
        text.push('=');
        text.push_str(&String::from_utf8_lossy(value.content));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_a_certificate() {
        let mut params = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, "client");
        params.distinguished_name.push(rcgen::DnType::OrganizationName, "Ex, Inc.");
        params.serial_number = Some(vec![0x12, 0xab].into());
        let key = rcgen::KeyPair::generate().unwrap();
        let made = params.self_signed(&key).unwrap();
        let expect = "CN=client,O=Ex, Inc.".to_owned();
        assert_eq!(
            subject(made.der()),
            Some(Subject { subject: expect.clone(), issuer: expect, serial: "12ab".to_owned() })
        );
        assert_eq!(subject(b"nothing"), None);
        for end in 0..made.der().len() {
            let _ = subject(&made.der()[..end]);
        }
    }

    proptest! {
        #[test]
        fn no_certificate_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = subject(&bytes);
        }
    }
}
