//! TLS on both sides of the REST API: what the server shows, and what a client believes.

use std::{fmt, path::Path, sync::Arc};

use aws_lc_rs::digest;
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, aws_lc_rs as provider, verify_tls12_signature, verify_tls13_signature},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime, pem::PemObject as _};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// Why TLS cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file that cannot be read, or holds something else.
    #[error("{what} {path}: {reason}")]
    File {
        /// What it should hold.
        what: &'static str,
        /// Where it is.
        path: String,
        /// In the words of the system or the parser.
        reason: String,
    },
    /// Certificate and key do not belong together, or are of a kind nobody can use.
    #[error("the certificate of the REST API cannot be used: {0}")]
    Identity(String),
    /// No 64 hexadecimal digits.
    #[error("invalid fingerprint \"{0}\": it has 64 hexadecimal digits, as the run prints it")]
    Fingerprint(String),
    /// The system's certificates cannot be read.
    #[error("the system's certificates cannot be used: {0}")]
    System(String),
}

/// SHA-256 of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Reads 64 hexadecimal digits, colons between them or not.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(text: &str) -> Result<Self, TlsError> {
        let invalid = || TlsError::Fingerprint(text.to_owned());
        let digits: Vec<u8> = text.trim().bytes().filter(|byte| *byte != b':').collect();
        if digits.len() != 64 {
            return Err(invalid());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            let text = std::str::from_utf8(pair).map_err(|_| invalid())?;
            // No sign, which `from_str_radix` would take.
            if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(invalid());
            }
            *byte = u8::from_str_radix(text, 16).map_err(|_| invalid())?;
        }
        Ok(Self(bytes))
    }

    fn of(certificate: &CertificateDer<'_>) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest::digest(&digest::SHA256, certificate).as_ref());
        Self(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a server shows its clients.
#[derive(Debug, Clone)]
pub struct Identity {
    pub(crate) config: Arc<ServerConfig>,
    /// Of the certificate, for clients that trust just this one.
    pub fingerprint: Fingerprint,
}

impl Identity {
    /// A certificate and its key from PEM files.
    ///
    /// # Errors
    /// When one cannot be read or they do not fit.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = read_certificates("the certificate", certificate)?;
        let key = PrivateKeyDer::from_pem_file(key).map_err(|error| TlsError::File {
            what: "the private key",
            path: key.display().to_string(),
            reason: error.to_string(),
        })?;
        Self::new(chain, key)
    }

    /// A certificate made now for these names, kept nowhere: clients know it by its fingerprint.
    ///
    /// # Errors
    /// When a name cannot be in a certificate.
    pub fn self_made(names: Vec<String>) -> Result<Self, TlsError> {
        let made = rcgen::generate_simple_self_signed(names).map_err(|error| TlsError::Identity(error.to_string()))?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        Self::new(vec![made.cert.der().clone()], key)
    }

    fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, TlsError> {
        let unusable = |error: rustls::Error| TlsError::Identity(error.to_string());
        let fingerprint =
            chain.first().map(Fingerprint::of).ok_or_else(|| TlsError::Identity("it is empty".to_owned()))?;
        let config = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unusable)?;
        Ok(Self { config: Arc::new(config), fingerprint })
    }
}

fn read_certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |reason: String| TlsError::File { what, path: path.display().to_string(), reason };
    let all = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| failed(error.to_string()))?;
    if all.is_empty() { Err(failed("there is no certificate in it".to_owned())) } else { Ok(all) }
}

/// Which servers a client believes.
#[derive(Debug, Clone)]
pub struct Trust {
    pub(crate) config: Arc<ClientConfig>,
}

impl Trust {
    /// Those the system trusts.
    ///
    /// # Errors
    /// When the system's certificates cannot be read.
    pub fn system() -> Result<Self, TlsError> {
        let failed = |error: rustls::Error| TlsError::System(error.to_string());
        let config = ClientConfig::builder_with_provider(Arc::new(provider::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_platform_verifier()
            .map_err(failed)?
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config) })
    }

    /// Those with a certificate in this file, or one that was issued by one in it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn authority(path: &Path) -> Result<Self, TlsError> {
        let failed = |error: rustls::Error| TlsError::File {
            what: "the authority's certificate",
            path: path.display().to_string(),
            reason: error.to_string(),
        };
        let mut roots = RootCertStore::empty();
        for certificate in read_certificates("the authority's certificate", path)? {
            roots.add(certificate).map_err(failed)?;
        }
        let config = ClientConfig::builder_with_provider(Arc::new(provider::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config) })
    }

    /// Exactly the one with this certificate, whatever its name.
    pub fn fingerprint(fingerprint: Fingerprint) -> Self {
        let provider = Arc::new(provider::default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("the provider has what these versions need")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Pinned { fingerprint, provider }))
            .with_no_client_auth();
        Self { config: Arc::new(config) }
    }
}

/// Believes one certificate. That its holder has the key is checked as always.
#[derive(Debug)]
struct Pinned {
    fingerprint: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if Fingerprint::of(certificate) == self.fingerprint {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::General("the certificate has another fingerprint than --api-fingerprint says".to_owned()))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints() {
        let made = Identity::self_made(vec!["localhost".to_owned()]).expect("a name");
        let text = made.fingerprint.to_string();
        assert_eq!(Fingerprint::parse(&text).expect("our own"), made.fingerprint);
        let colons: Vec<&str> =
            text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits")).collect();
        assert_eq!(Fingerprint::parse(&colons.join(":").to_uppercase()).expect("openssl's form"), made.fingerprint);
        for bad in ["", "abc", &"+1".repeat(32), &"g".repeat(64), &"a".repeat(63), &"é".repeat(32)] {
            assert!(Fingerprint::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn files_that_are_no_certificates() {
        let missing = Path::new("/nowhere/cert.pem");
        let error = Identity::from_files(missing, missing).expect_err("no file").to_string();
        assert!(error.starts_with("the certificate /nowhere/cert.pem: "), "{error}");
        assert!(Trust::authority(missing).is_err());
        assert!(Trust::authority(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))).is_err());
    }
}
