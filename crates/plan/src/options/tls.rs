//! The TLS options: versions, cipher suites by their Go names, client certificates. Certificates are not decoded here.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::object;

/// A protocol version, as the option names it.
///
/// `net` has a type of its own for what a handshake may use: it knows no options, and `plan` no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.0.
    Tls10,
    /// TLS 1.1.
    Tls11,
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
}

impl TlsVersion {
    fn parse(text: &str) -> Result<Option<Self>, String> {
        Ok(Some(match text {
            "" => return Ok(None),
            "tls1.0" => Self::Tls10,
            "tls1.1" => Self::Tls11,
            "tls1.2" => Self::Tls12,
            "tls1.3" => Self::Tls13,
            other => return Err(format!("unknown TLS version '{other}', use tls1.0, tls1.1, tls1.2 or tls1.3")),
        }))
    }

    /// The name users write.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tls10 => "tls1.0",
            Self::Tls11 => "tls1.1",
            Self::Tls12 => "tls1.2",
            Self::Tls13 => "tls1.3",
        }
    }
}

/// The versions a connection may use; `None` leaves the end open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsVersions {
    /// The oldest.
    pub min: Option<TlsVersion>,
    /// The newest.
    pub max: Option<TlsVersion>,
}

impl Serialize for TlsVersions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let text = |version: Option<TlsVersion>| version.map_or("", TlsVersion::as_str);
        let mut fields = serializer.serialize_struct("TlsVersions", 2)?;
        fields.serialize_field("min", text(self.min))?;
        fields.serialize_field("max", text(self.max))?;
        fields.end()
    }
}

/// One text sets both ends.
impl<'de> Deserialize<'de> for TlsVersions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        #[derive(Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct Fields {
            min: String,
            max: String,
        }
        let value = serde_json::Value::deserialize(deserializer)?;
        if let serde_json::Value::String(text) = &value {
            let version = TlsVersion::parse(text).map_err(Error::custom)?;
            return Ok(Self { min: version, max: version });
        }
        if !value.is_object() {
            return Err(Error::custom("expected a text such as tls1.2, or an object with min and max"));
        }
        let fields: Fields = serde_json::from_value(value).map_err(Error::custom)?;
        Ok(Self {
            min: TlsVersion::parse(&fields.min).map_err(Error::custom)?,
            max: TlsVersion::parse(&fields.max).map_err(Error::custom)?,
        })
    }
}

/// A client certificate, PEM texts not yet decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TlsAuth {
    /// The certificate.
    pub cert: String,
    /// Its key.
    pub key: String,
    /// The key's password.
    pub password: Option<String>,
    /// For which hosts; all if not given.
    pub domains: Option<Vec<String>>,
}

impl<'de> Deserialize<'de> for TlsAuth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct Fields {
            cert: String,
            key: String,
            password: Option<String>,
            domains: Option<Vec<String>>,
        }
        let example = r#"{ cert: open("cert.pem"), key: open("key.pem") }"#;
        let Fields { cert, key, password, domains } =
            object(deserializer, &["cert", "key", "password", "domains"], example)?;
        Ok(Self { cert, key, password, domains })
    }
}

/// Checks the names of cipher suites.
pub(super) fn checked_suites(names: Vec<String>) -> Result<Vec<String>, String> {
    match names.iter().find(|name| !CIPHER_SUITES.contains(&name.as_str())) {
        Some(name) => Err(format!("unknown cipher suite '{name}'")),
        None => Ok(names),
    }
}

pub(super) fn cipher_suites<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let names = Option::<Vec<String>>::deserialize(deserializer)?;
    names.map(|names| checked_suites(names).map_err(serde::de::Error::custom)).transpose()
}

/// Go's names: those it still offers and those it calls insecure.
const CIPHER_SUITES: &[&str] = &[
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
];
