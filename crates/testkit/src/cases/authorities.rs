//! Authorities, the certificates they sign, and servers that show them.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use rustls::{
    RootCertStore, ServerConfig, SupportedProtocolVersion,
    server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier},
    sign::CertifiedKey,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Two authorities: one that clients trust and one they do not know.
pub struct Authorities {
    pub(super) trusted: Authority,
    pub(super) unknown: Authority,
}

/// One authority, below another or not.
pub(super) struct Authority {
    params: CertificateParams,
    key: KeyPair,
    pub(super) certificate: Certificate,
}

impl Authorities {
    /// Makes both.
    ///
    /// # Panics
    /// When the crypto library fails.
    pub fn new() -> Self {
        Self { trusted: Authority::root("Onrush Test Root", |_| ()), unknown: Authority::root("Unknown Root", |_| ()) }
    }

    /// What clients are to trust, PEM.
    pub fn trusted_pem(&self) -> String {
        self.trusted.certificate.pem()
    }

    /// A server that wants a client certificate.
    pub(super) fn wanting(&self) -> Arc<ServerConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.trusted.certificate.der().clone()).expect("own root");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        let (chain, key) = self.trusted.leaf(|_| ());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has default versions")
            .with_client_cert_verifier(verifier.expect("one root"))
            .with_single_cert(chain, key)
            .expect("the key fits its certificate");
        Arc::new(config)
    }
}

impl Default for Authorities {
    fn default() -> Self {
        Self::new()
    }
}

/// Certificates and the key of the first.
pub(super) type Chain = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

impl Authority {
    pub(super) fn root(name: &str, change: impl FnOnce(&mut CertificateParams)) -> Self {
        let params = authority_params(name, change);
        let key = new_key();
        let certificate = params.self_signed(&key).expect("self-signing works");
        Self { params, key, certificate }
    }

    /// An authority below this one.
    pub(super) fn below(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Self {
        let params = authority_params(name, change);
        let key = new_key();
        let certificate = params.signed_by(&key, &self.issuer()).expect("signing works");
        Self { params, key, certificate }
    }

    fn issuer(&self) -> Issuer<'_, &KeyPair> {
        Issuer::from_params(&self.params, &self.key)
    }

    /// A server's certificate for 127.0.0.1 and localhost, but for what is changed.
    pub(super) fn leaf(&self, change: impl FnOnce(&mut CertificateParams)) -> Chain {
        let params = leaf_params(change);
        let key = new_key();
        let certificate = params.signed_by(&key, &self.issuer()).expect("signing works");
        (vec![certificate.der().clone()], private(&key))
    }
}

pub(super) fn new_key() -> KeyPair {
    KeyPair::generate().expect("key generation works")
}

pub(super) fn private(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()))
}

pub(super) fn named(name: &str) -> DistinguishedName {
    let mut full = DistinguishedName::new();
    full.push(DnType::CommonName, name);
    full
}

fn authority_params(name: &str, change: impl FnOnce(&mut CertificateParams)) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).expect("no names to be wrong");
    params.distinguished_name = named(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    change(&mut params);
    params
}

pub(super) fn leaf_params(change: impl FnOnce(&mut CertificateParams)) -> CertificateParams {
    let mut params = names(&["127.0.0.1", "localhost"]);
    params.distinguished_name = named("server");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    change(&mut params);
    params
}

pub(super) fn names(names: &[&str]) -> CertificateParams {
    CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).expect("valid names")
}

/// Sends whatever chain it is given, also one that does not fit the key.
#[derive(Debug)]
struct Anything(Arc<CertifiedKey>);

impl ResolvesServerCert for Anything {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

pub(super) fn serving((chain, key): Chain, versions: &[&'static SupportedProtocolVersion]) -> Arc<ServerConfig> {
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    // One group, so that every client gets a hello of the same length.
    provider.kx_groups = vec![rustls::crypto::aws_lc_rs::kx_group::X25519];
    let signer = provider.key_provider.load_private_key(key).expect("a key that was just made");
    let config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(versions)
        .expect("the provider has the versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Anything(Arc::new(CertifiedKey::new(chain, signer)))));
    Arc::new(config)
}

/// Nothing wrong with it.
pub(super) fn good(authorities: &Authorities) -> Arc<ServerConfig> {
    good_with(authorities, rustls::ALL_VERSIONS)
}

/// The same for some versions.
pub(super) fn good_with(
    authorities: &Authorities,
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ServerConfig> {
    serving(authorities.trusted.leaf(|_| ()), versions)
}
