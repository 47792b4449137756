//! TLS on both sides of the REST API: what the server shows, and what a client believes.

use std::{path::Path, sync::Arc};

use onrush_certificates::{
    FileError, Fingerprint, FingerprintError, LooseVerifier, read_certificates, read_key, roots_from,
};
use rustls::{ClientConfig, ServerConfig, crypto::aws_lc_rs as provider};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// Why TLS cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file that cannot be read, or holds something else.
    #[error(transparent)]
    File(#[from] FileError),
    /// Certificate and key do not belong together, or are of a kind nobody can use.
    #[error("the certificate of the REST API cannot be used: {0}")]
    Identity(String),
    /// No 64 hexadecimal digits.
    #[error(transparent)]
    Fingerprint(#[from] FingerprintError),
    /// The system's certificates cannot be read.
    #[error("the system's certificates cannot be used: {0}")]
    System(String),
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
        let (chain, key) = (read_certificates("the certificate", certificate)?, read_key(key)?);
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
        let config = ClientConfig::builder_with_provider(Arc::new(provider::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::System(error.to_string()))?
            .with_root_certificates(roots_from(path)?)
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config) })
    }

    /// Exactly the one with this certificate, whatever its name.
    pub fn fingerprint(fingerprint: Fingerprint) -> Self {
        const OTHERWISE: &str = "the certificate has another fingerprint than --api-fingerprint says";
        let provider = Arc::new(provider::default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("the provider has what these versions need")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(LooseVerifier::pinned(fingerprint, OTHERWISE, provider)))
            .with_no_client_auth();
        Self { config: Arc::new(config) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_certificates() {
        let missing = Path::new("/nowhere/cert.pem");
        let error = Identity::from_files(missing, missing).expect_err("no file").to_string();
        assert!(error.starts_with("the certificate /nowhere/cert.pem: "), "{error}");
        assert!(Trust::authority(missing).is_err());
        assert!(Trust::authority(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))).is_err());
    }
}
