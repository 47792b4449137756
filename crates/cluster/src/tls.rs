//! TLS between coordinator and agents: a certificate the coordinator shows, and agents that trust exactly this one.

use std::sync::Arc;

use aws_lc_rs::digest;
use rustls::{
    ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, aws_lc_rs as provider, verify_tls12_signature, verify_tls13_signature},
    version::TLS13,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
#[error("failed to make the coordinator's certificate: {0}")]
pub struct TlsError(String);

/// What the coordinator shows its agents.
#[derive(Debug, Clone)]
pub struct Identity {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) fingerprint: [u8; 32],
}

impl Identity {
    /// A certificate made now and kept nowhere: agents know it by the fingerprint in their token.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn made_now() -> Result<Self, TlsError> {
        let made = rcgen::generate_simple_self_signed(vec!["onrush-coordinator".to_owned()])
            .map_err(|error| TlsError(error.to_string()))?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let certificate = made.cert.der().clone();
        let fingerprint = fingerprint(&certificate);
        let failed = |error: rustls::Error| TlsError(error.to_string());
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .map_err(failed)?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Self { config: Arc::new(config), fingerprint })
    }
}

/// What agents connect with: they trust the certificate with this fingerprint, whatever its name.
pub(crate) fn client(fingerprint: [u8; 32]) -> Arc<ClientConfig> {
    let provider = Arc::new(provider::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&TLS13])
        .expect("the provider has TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { fingerprint, provider }))
        .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    Arc::new(config)
}

const ALPN: &[u8] = b"h2";

fn fingerprint(certificate: &CertificateDer<'_>) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest::digest(&digest::SHA256, certificate).as_ref());
    bytes
}

/// Believes one certificate. That its holder has the key is checked as always.
#[derive(Debug)]
struct Pinned {
    fingerprint: [u8; 32],
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
        if fingerprint(certificate) == self.fingerprint {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::General(
            "the join token is of another coordinator: its certificate has another fingerprint".to_owned(),
        ))
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
