//! Go's names of TLS versions and cipher suites, which k6 scripts use.

use rustls::{CipherSuite, ProtocolVersion};

/// A TLS version as k6 names it.
///
/// `plan` has a type of its own, which reads the option: it knows no network, and `net` knows no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// `tls1.0`: known, not supported.
    Tls10,
    /// `tls1.1`: known, not supported.
    Tls11,
    /// `tls1.2`
    Tls12,
    /// `tls1.3`
    Tls13,
}

impl TlsVersion {
    /// k6's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tls10 => "tls1.0",
            Self::Tls11 => "tls1.1",
            Self::Tls12 => "tls1.2",
            Self::Tls13 => "tls1.3",
        }
    }
}

/// k6's name of a negotiated version.
pub(crate) fn version_name(version: ProtocolVersion) -> &'static str {
    match version {
        ProtocolVersion::TLSv1_3 => "tls1.3",
        ProtocolVersion::TLSv1_2 => "tls1.2",
        _ => "",
    }
}

/// Go's name of a cipher suite; empty for one Go does not know.
pub fn cipher_name(suite: CipherSuite) -> &'static str {
    let id = u16::from(suite);
    SUITES.iter().find(|(other, _)| *other == id).map_or("", |(_, name)| name)
}

/// The id of a cipher suite by Go's name.
pub fn parse_cipher_suite(name: &str) -> Option<u16> {
    SUITES.iter().find(|(_, other)| *other == name).map(|(id, _)| *id)
}

/// The suites of Go's `crypto/tls`, those considered insecure included.
const SUITES: [(u16, &str); 27] = [
    (0x0005, "TLS_RSA_WITH_RC4_128_SHA"),
    (0x000a, "TLS_RSA_WITH_3DES_EDE_CBC_SHA"),
    (0x002f, "TLS_RSA_WITH_AES_128_CBC_SHA"),
    (0x0035, "TLS_RSA_WITH_AES_256_CBC_SHA"),
    (0x003c, "TLS_RSA_WITH_AES_128_CBC_SHA256"),
    (0x009c, "TLS_RSA_WITH_AES_128_GCM_SHA256"),
    (0x009d, "TLS_RSA_WITH_AES_256_GCM_SHA384"),
    (0x1301, "TLS_AES_128_GCM_SHA256"),
    (0x1302, "TLS_AES_256_GCM_SHA384"),
    (0x1303, "TLS_CHACHA20_POLY1305_SHA256"),
    (0xc007, "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA"),
    (0xc009, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"),
    (0xc00a, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"),
    (0xc011, "TLS_ECDHE_RSA_WITH_RC4_128_SHA"),
    (0xc012, "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA"),
    (0xc013, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
    (0xc014, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
    (0xc023, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"),
    (0xc027, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"),
    (0xc02b, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
    (0xc02c, "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
    (0xc02f, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    (0xc030, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
    (0xcca8, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
    (0xcca9, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
    (0xcca8, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"),
    (0xcca9, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for (id, name) in SUITES {
            assert_eq!(parse_cipher_suite(name), Some(id));
            assert!(name.starts_with(cipher_name(CipherSuite::from(id)).trim_end_matches("_SHA256")));
        }
        for suite in rustls::crypto::aws_lc_rs::ALL_CIPHER_SUITES {
            assert_ne!(cipher_name(suite.suite()), "", "{suite:?}");
        }
    }
}
