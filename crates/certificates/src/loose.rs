//! Belief that does not rest on an authority: in any certificate, or in exactly one.

use std::sync::Arc;

use rustls::{
    DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::Fingerprint;

/// Believes certificates by what they are, not by who issued them. That their holder has the key is checked as always.
#[derive(Debug)]
pub struct LooseVerifier {
    /// The only certificate to believe, and what is said of others; `None`: any.
    only: Option<(Fingerprint, &'static str)>,
    provider: Arc<CryptoProvider>,
}

impl LooseVerifier {
    /// Believes any certificate.
    pub fn any(provider: Arc<CryptoProvider>) -> Self {
        Self { only: None, provider }
    }

    /// Believes the one certificate with this fingerprint, whatever its name. Others are refused with
    /// [`rustls::Error::General`] and the text `otherwise`.
    pub fn pinned(fingerprint: Fingerprint, otherwise: &'static str, provider: Arc<CryptoProvider>) -> Self {
        Self { only: Some((fingerprint, otherwise)), provider }
    }
}

impl ServerCertVerifier for LooseVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.only {
            Some((only, otherwise)) if Fingerprint::of(certificate) != only => {
                Err(rustls::Error::General(otherwise.to_owned()))
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
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
