//! TLS of the cluster's connections: 1.3 alone, both sides known by certificates of one authority, or the coordinator by
//! the fingerprint in a token.

use std::sync::Arc;

use onrush_certificates::{Fingerprint, LooseVerifier, Member};
use rustls::{
    ClientConfig, ConfigBuilder, ServerConfig, SupportedProtocolVersion, WantsVerifier, WantsVersions,
    crypto::aws_lc_rs as provider, server::WebPkiClientVerifier, version::TLS13,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
#[error("failed to set up TLS: {0}")]
pub struct TlsError(String);

/// What a coordinator shows whoever dials it.
#[derive(Clone)]
pub struct Identity {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Certificate and key, where they were made on the spot.
    pub(crate) made: Option<(Vec<u8>, Vec<u8>)>,
}

/// The key does not show.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

const ALPN: &[u8] = b"h2";
const VERSIONS: &[&SupportedProtocolVersion] = &[&TLS13];

impl Identity {
    /// A certificate made now and kept nowhere: agents know it by the fingerprint in their token.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn made_now() -> Result<Self, TlsError> {
        let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()]).map_err(failed)?;
        Self::of_parts(made.cert.der().to_vec(), made.signing_key.serialize_der())
    }

    /// A certificate that was made once, with its key (PKCS #8).
    ///
    /// # Errors
    /// When they cannot be used.
    pub(crate) fn of_parts(certificate: Vec<u8>, key: Vec<u8>) -> Result<Self, TlsError> {
        let made = Some((certificate.clone(), key.clone()));
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
        let certificate = CertificateDer::from(certificate);
        let fingerprint = Some(Fingerprint::of(&certificate));
        let config = server()?.with_no_client_auth().with_single_cert(vec![certificate], key).map_err(failed)?;
        Ok(Self { config: finished(config), fingerprint, made })
    }

    /// The certificate of a member, which asks everybody for one of the same authority.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(crate) fn of_member(member: &Member) -> Result<Self, TlsError> {
        let provider = Arc::new(provider::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(member.roots.clone(), provider).build().map_err(failed)?;
        let config = server()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(member.chain.clone(), member.key.clone_key())
            .map_err(failed)?;
        Ok(Self { config: finished(config), fingerprint: None, made: None })
    }
}

/// What a coordinator with a certificate made on the spot is called: nobody looks at it.
pub(crate) const NAME: &str = "onrush-coordinator";

/// For connections to the coordinator with this certificate, whatever its name.
pub(crate) fn pinned(fingerprint: Fingerprint) -> Arc<ClientConfig> {
    const OTHERWISE: &str = "the token is of another coordinator: its certificate has another fingerprint";
    let provider = Arc::new(provider::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(VERSIONS)
        .expect("the provider has TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(LooseVerifier::pinned(fingerprint, OTHERWISE, provider)))
        .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    Arc::new(config)
}

/// For connections of a member to the coordinator of its cluster.
pub(crate) fn of_member(member: &Member) -> Result<Arc<ClientConfig>, TlsError> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider::default_provider()))
        .with_protocol_versions(VERSIONS)
        .map_err(failed)?
        .with_root_certificates(member.roots.clone())
        .with_client_auth_cert(member.chain.clone(), member.key.clone_key())
        .map_err(failed)?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Arc::new(config))
}

fn server() -> Result<ConfigBuilder<ServerConfig, WantsVerifier>, TlsError> {
    let builder: ConfigBuilder<ServerConfig, WantsVersions> =
        ServerConfig::builder_with_provider(Arc::new(provider::default_provider()));
    builder.with_protocol_versions(VERSIONS).map_err(failed)
}

fn finished(mut config: ServerConfig) -> Arc<ServerConfig> {
    config.alpn_protocols = vec![ALPN.to_vec()];
    // Whose certificate has ended is to be refused when it comes back.
    config.send_tls13_tickets = 0;
    Arc::new(config)
}

fn failed(error: impl ToString) -> TlsError {
    TlsError(error.to_string())
}
