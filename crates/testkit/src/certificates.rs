//! Certificates made on the spot.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion, server::WebPkiClientVerifier};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

/// An authority that signs certificates for tests.
pub struct CertificateAuthority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate and its key.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate, PEM.
    pub cert_pem: String,
    /// The private key, PEM.
    pub key_pem: String,
}

impl CertificateAuthority {
    /// A new authority.
    ///
    /// # Panics
    /// When the crypto library fails.
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names to be wrong");
        // Another name than those it signs: OpenSSL takes a certificate whose issuer has its own name for self-signed.
        params.distinguished_name = named("test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("key generation works");
        let cert = params.self_signed(&key).expect("self-signing works");
        Self { pem: cert.pem(), issuer: Issuer::new(params, key) }
    }

    /// The authority's certificate, PEM: what a client must trust.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Signs a certificate for names and addresses, good for servers and clients.
    ///
    /// # Panics
    /// When a name is none.
    pub fn identity(&self, names: &[&str]) -> Identity {
        self.sign(names, false)
    }

    /// Signs a certificate that expired long ago.
    ///
    /// # Panics
    /// When a name is none.
    pub fn expired_identity(&self, names: &[&str]) -> Identity {
        self.sign(names, true)
    }

    fn sign(&self, names: &[&str], expired: bool) -> Identity {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("test names are valid");
        params.distinguished_name = named("test identity");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        if expired {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        let key = KeyPair::generate().expect("key generation works");
        let cert = params.signed_by(&key, &self.issuer).expect("signing works");
        Identity { cert_pem: cert.pem(), key_pem: key.serialize_pem() }
    }

    /// A server configuration that wants a client certificate of this authority.
    ///
    /// # Panics
    /// When the identity does not fit.
    pub fn server_with_client_auth(&self, identity: &Identity) -> Arc<ServerConfig> {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(self.pem.as_bytes()).expect("own PEM");
        roots.add(root).expect("own root");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .expect("one root");
        let (chain, key) = identity.parts();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has default versions")
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .expect("the key fits its certificate");
        Arc::new(config)
    }
}

fn named(name: &str) -> DistinguishedName {
    let mut all = DistinguishedName::new();
    all.push(DnType::CommonName, name);
    all
}

impl Default for CertificateAuthority {
    fn default() -> Self {
        Self::new()
    }
}

impl Identity {
    /// A server configuration.
    ///
    /// # Panics
    /// When key and certificate do not fit.
    pub fn server(&self) -> Arc<ServerConfig> {
        self.server_with_versions(rustls::ALL_VERSIONS)
    }

    /// A server configuration for some versions only.
    ///
    /// # Panics
    /// When key and certificate do not fit.
    pub fn server_with_versions(&self, versions: &[&'static SupportedProtocolVersion]) -> Arc<ServerConfig> {
        let (chain, key) = self.parts();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_protocol_versions(versions)
            .expect("the provider has the versions")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("the key fits its certificate");
        Arc::new(config)
    }

    /// A server configuration that speaks only HTTP/2.
    ///
    /// # Panics
    /// When key and certificate do not fit.
    pub fn http2_server(&self) -> Arc<ServerConfig> {
        let mut config = Arc::unwrap_or_clone(self.server());
        config.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(config)
    }

    /// A server configuration for some versions only that staples an OCSP response, whatever it says.
    ///
    /// # Panics
    /// When key and certificate do not fit.
    pub fn server_with_staple(
        &self,
        staple: Vec<u8>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Arc<ServerConfig> {
        let (chain, key) = self.parts();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_protocol_versions(versions)
            .expect("the provider has the versions")
            .with_no_client_auth()
            .with_single_cert_with_ocsp(chain, key, staple)
            .expect("the key fits its certificate");
        Arc::new(config)
    }

    fn parts(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let cert = CertificateDer::from_pem_slice(self.cert_pem.as_bytes()).expect("own PEM");
        (vec![cert], PrivateKeyDer::from_pem_slice(self.key_pem.as_bytes()).expect("own PEM"))
    }
}
