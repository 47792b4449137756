//! TLS by rustls: configuration from k6's options, sessions driven without sockets, k6's error codes.
//!
//! What k6 (Go) can and rustls cannot is refused with a clear text when the options are built: TLS 1.0 and 1.1, and
//! cipher suites without forward secrecy.
//!
//! The key-exchange groups are listed explicitly: the post-quantum hybrid that libraries now prefer makes each
//! handshake's hello 1.2 KB longer and costs CPU on both sides, which would change what a load test measures. Sessions
//! are resumed only where that is asked for ([`memory`]): k6 makes a full handshake for each connection.

mod failure;
mod key;
mod key_log;
mod memory;
mod names;
mod session;
mod staple;

use std::sync::{Arc, OnceLock};

use onrush_certificates::LooseVerifier;
use rustls::{
    CipherSuite, ClientConfig, SupportedCipherSuite,
    client::{Resumption, danger::ServerCertVerifier},
    crypto::{CryptoProvider, aws_lc_rs},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject};

pub(crate) use failure::to_net_error;
pub use key_log::KeyLog;
pub(crate) use memory::SessionMemory;
pub use names::{TlsVersion, cipher_name, parse_cipher_suite};
pub(crate) use session::{Advance, TlsSession};
pub use staple::{OcspResponse, OcspStatus};

use crate::{
    dns::HostPattern,
    error::{NetError, code},
    url::literal::without_zone,
};

/// What Go prefers where the processor has instructions for AES, and so what servers that let clients choose take.
const SUITES_IN_GO_ORDER: [CipherSuite; 9] = [
    CipherSuite::TLS13_AES_128_GCM_SHA256,
    CipherSuite::TLS13_AES_256_GCM_SHA384,
    CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
];

/// k6's TLS options.
#[derive(Debug, Clone, Default)]
pub struct TlsOptions {
    /// `insecureSkipTLSVerify`
    pub insecure_skip_verify: bool,
    /// `tlsVersion.min`
    pub version_min: Option<TlsVersion>,
    /// `tlsVersion.max`
    pub version_max: Option<TlsVersion>,
    /// `tlsCipherSuites`, by Go's names; empty for the default.
    pub cipher_suites: Vec<String>,
    /// `tlsAuth`
    pub auth: Vec<ClientAuth>,
    /// Roots to trust beside the system's, in PEM.
    pub extra_roots_pem: Option<String>,
    /// Whether a VU's connections resume its sessions (k6 never does).
    pub resumption: bool,
    /// Where the secrets of sessions are logged, if they are.
    pub key_log: Option<Arc<KeyLog>>,
}

/// One entry of `tlsAuth`.
#[derive(Clone)]
pub struct ClientAuth {
    /// The certificate chain, PEM.
    pub cert_pem: String,
    /// The private key, PEM.
    pub key_pem: String,
    /// The password of an encrypted key; else empty.
    pub password: String,
    /// The hosts it is for; empty for all.
    pub domains: Vec<String>,
}

impl std::fmt::Debug for ClientAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientAuth").field("domains", &self.domains).finish_non_exhaustive()
    }
}

/// TLS options that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsOptionsError {
    /// A name Go does not know either.
    #[error("unknown cipher suite '{0}'")]
    UnknownCipherSuite(String),
    /// A name Go knows.
    #[error("none of the cipher suites is supported: {0} (only suites with forward secrecy and AEAD are)")]
    NoUsableCipherSuite(String),
    /// TLS 1.0 or 1.1 only.
    #[error("{0} is not supported: only tls1.2 and tls1.3 are")]
    UnsupportedVersion(&'static str),
    /// The minimum is above the maximum.
    #[error("tlsVersion: min is higher than max")]
    EmptyVersionRange,
    /// A client certificate or key.
    #[error("{0}")]
    Auth(String),
    /// Extra roots.
    #[error("bad root certificates: {0}")]
    Roots(String),
    /// The crypto library refuses.
    #[error("TLS set-up: {0}")]
    Setup(String),
}

/// Checked TLS options; the configurations behind them are made at the first use, so that a machine without root
/// certificates can run tests that need none.
pub(crate) struct TlsSettings {
    options: TlsOptions,
    provider: Arc<CryptoProvider>,
    versions: Vec<&'static rustls::SupportedProtocolVersion>,
    auth: Vec<Auth>,
    extra_roots: Vec<CertificateDer<'static>>,
    verifier: OnceLock<Result<Arc<dyn ServerCertVerifier>, String>>,
    plain: Configs,
}

/// What a session may agree on for the time after the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alpn {
    /// HTTP/2 or HTTP/1.1: the server chooses; k6 offers the same two.
    Any,
    /// HTTP/1.1 alone: with proxies, and for authentication that is bound to a connection.
    Http1,
}

/// Configurations that differ in nothing but their ALPN, made at the first use.
#[derive(Default)]
struct Configs {
    any: OnceLock<Result<Arc<ClientConfig>, String>>,
    http1: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Configs {
    fn of(&self, alpn: Alpn) -> &OnceLock<Result<Arc<ClientConfig>, String>> {
        match alpn {
            Alpn::Any => &self.any,
            Alpn::Http1 => &self.http1,
        }
    }
}

struct Auth {
    patterns: Vec<HostPattern>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    configs: Configs,
}

impl TlsSettings {
    /// Checks options.
    pub(crate) fn new(options: TlsOptions) -> Result<Self, TlsOptionsError> {
        let versions = versions_between(options.version_min, options.version_max)?;
        let mut provider = aws_lc_rs::default_provider();
        provider.kx_groups =
            vec![aws_lc_rs::kx_group::X25519, aws_lc_rs::kx_group::SECP256R1, aws_lc_rs::kx_group::SECP384R1];
        if !options.cipher_suites.is_empty() {
            let has_13 = versions.contains(&&rustls::version::TLS13);
            provider.cipher_suites = usable_suites(&options.cipher_suites, has_13)?;
        }
        // k6: the order of a list does not count, Go has one of its own.
        let place = |suite: &SupportedCipherSuite| SUITES_IN_GO_ORDER.iter().position(|id| *id == suite.suite());
        provider.cipher_suites.sort_by_key(|suite| place(suite).unwrap_or(usize::MAX));
        let auth = options.auth.iter().map(Auth::new).collect::<Result<_, _>>()?;
        let extra_roots = match &options.extra_roots_pem {
            None => Vec::new(),
            Some(pem) => CertificateDer::pem_slice_iter(pem.as_bytes())
                .collect::<Result<_, _>>()
                .map_err(|error| TlsOptionsError::Roots(error.to_string()))?,
        };
        Ok(Self {
            options,
            provider: Arc::new(provider),
            versions,
            auth,
            extra_roots,
            verifier: OnceLock::new(),
            plain: Configs::default(),
        })
    }

    /// What it was made from.
    pub(crate) fn options(&self) -> &TlsOptions {
        &self.options
    }

    /// Starts a session with `host`; with a memory, and where that was asked for, one that is resumed.
    #[inline(never)]
    pub(crate) fn connect(
        &self,
        host: &str,
        alpn: Alpn,
        memory: Option<&SessionMemory>,
    ) -> Result<Box<TlsSession>, NetError> {
        let failed = |reason: String| NetError::new(code::TLS, format!("tls: {reason}"));
        let name = ServerName::try_from(without_zone(host).trim_end_matches('.').to_owned())
            .map_err(|_| failed(format!("invalid server name {host}")))?;
        let mut config = self.config_for(host, alpn).map_err(failed)?;
        if let Some(memory) = memory.filter(|_| self.options.resumption) {
            config = memory.config(config);
        }
        TlsSession::new(config, name).map(Box::new).map_err(|error| to_net_error(&error, host))
    }

    fn config_for(&self, host: &str, alpn: Alpn) -> Result<Arc<ClientConfig>, String> {
        let auth = self
            .auth
            .iter()
            .find(|auth| auth.patterns.is_empty() || auth.patterns.iter().any(|pattern| pattern.matches(host)));
        match auth {
            None => self.plain.of(alpn).get_or_init(|| self.build(None, alpn)).clone(),
            Some(auth) => auth.configs.of(alpn).get_or_init(|| self.build(Some(auth), alpn)).clone(),
        }
    }

    fn build(&self, auth: Option<&Auth>, alpn: Alpn) -> Result<Arc<ClientConfig>, String> {
        let verifier = self.verifier.get_or_init(|| self.build_verifier()).clone()?;
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&self.versions)
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(staple::NotesStaple(verifier)));
        let mut config = match auth {
            None => builder.with_no_client_auth(),
            Some(auth) => builder
                .with_client_auth_cert(auth.chain.clone(), auth.key.clone_key())
                .map_err(|error| error.to_string())?,
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        if alpn == Alpn::Any {
            config.alpn_protocols.insert(0, session::ALPN_HTTP2.to_vec());
        }
        config.resumption = Resumption::disabled();
        if let Some(log) = &self.options.key_log {
            config.key_log = Arc::clone(log) as Arc<dyn rustls::KeyLog>;
        }
        Ok(Arc::new(config))
    }

    fn build_verifier(&self) -> Result<Arc<dyn ServerCertVerifier>, String> {
        if self.options.insecure_skip_verify {
            // Any chain passes; signatures are still checked, as in Go.
            return Ok(Arc::new(LooseVerifier::any(Arc::clone(&self.provider))));
        }
        let provider = Arc::clone(&self.provider);
        match rustls_platform_verifier::Verifier::new_with_extra_roots(self.extra_roots.clone(), provider) {
            Ok(verifier) => Ok(Arc::new(verifier)),
            Err(error) => Err(format!("no root certificates to verify with: {error}")),
        }
    }
}

impl Auth {
    fn new(auth: &ClientAuth) -> Result<Self, TlsOptionsError> {
        let bad = |what: &str, error: String| TlsOptionsError::Auth(format!("{what}: {error}"));
        let chain: Vec<_> = CertificateDer::pem_slice_iter(auth.cert_pem.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|error| bad("bad client certificate", error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsOptionsError::Auth("no client certificate in PEM".to_owned()));
        }
        let key = key::decode(&auth.key_pem, &auth.password).map_err(TlsOptionsError::Auth)?;
        let signer =
            aws_lc_rs::sign::any_supported_type(&key).map_err(|error| bad("bad client key", error.to_string()))?;
        rustls::sign::CertifiedKey::new(chain.clone(), signer)
            .keys_match()
            .map_err(|error| bad("client certificate and key do not match", error.to_string()))?;
        let patterns = auth
            .domains
            .iter()
            .map(|domain| HostPattern::parse(domain).map_err(TlsOptionsError::Auth))
            .collect::<Result<_, _>>()?;
        Ok(Self { patterns, chain, key, configs: Configs::default() })
    }
}

fn versions_between(
    min: Option<TlsVersion>,
    max: Option<TlsVersion>,
) -> Result<Vec<&'static rustls::SupportedProtocolVersion>, TlsOptionsError> {
    let (min, max) = (min.unwrap_or(TlsVersion::Tls12), max.unwrap_or(TlsVersion::Tls13));
    if min > max {
        return Err(TlsOptionsError::EmptyVersionRange);
    }
    if max < TlsVersion::Tls12 {
        return Err(TlsOptionsError::UnsupportedVersion(max.name()));
    }
    let all = [(TlsVersion::Tls12, &rustls::version::TLS12), (TlsVersion::Tls13, &rustls::version::TLS13)];
    Ok(all.into_iter().filter(|(version, _)| (min..=max).contains(version)).map(|(_, version)| version).collect())
}

/// The suites to offer. As in Go, the list is about TLS 1.2: those of TLS 1.3 are always on.
fn usable_suites(names: &[String], has_13: bool) -> Result<Vec<SupportedCipherSuite>, TlsOptionsError> {
    let mut usable: Vec<SupportedCipherSuite> =
        aws_lc_rs::ALL_CIPHER_SUITES.iter().copied().filter(|suite| suite.tls13().is_some()).collect();
    let mut count = 0;
    for name in names {
        let id = parse_cipher_suite(name).ok_or_else(|| TlsOptionsError::UnknownCipherSuite(name.clone()))?;
        if let Some(suite) = aws_lc_rs::ALL_CIPHER_SUITES.iter().find(|suite| u16::from(suite.suite()) == id) {
            count += 1;
            if suite.tls13().is_none() {
                usable.push(*suite);
            }
        }
    }
    if count == 0 && !has_13 {
        return Err(TlsOptionsError::NoUsableCipherSuite(names.join(", ")));
    }
    Ok(usable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(options: TlsOptions, expect: Result<(), TlsOptionsError>) {
        assert_eq!(TlsSettings::new(options).map(|_| ()), expect);
    }

    #[test]
    fn versions() {
        use TlsVersion::{Tls10, Tls11, Tls12, Tls13};
        let range = |min, max| TlsOptions { version_min: min, version_max: max, ..TlsOptions::default() };
        check(range(None, None), Ok(()));
        check(range(Some(Tls10), Some(Tls12)), Ok(()));
        check(range(Some(Tls13), Some(Tls13)), Ok(()));
        check(range(Some(Tls13), Some(Tls12)), Err(TlsOptionsError::EmptyVersionRange));
        check(range(Some(Tls11), Some(Tls11)), Err(TlsOptionsError::UnsupportedVersion("tls1.1")));
    }

    #[test]
    fn cipher_suites() {
        let suites = |names: &[&str], max| TlsOptions {
            cipher_suites: names.iter().map(|&name| name.to_owned()).collect(),
            version_max: max,
            ..TlsOptions::default()
        };
        let tls12 = Some(TlsVersion::Tls12);
        check(suites(&["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"], tls12), Ok(()));
        check(suites(&["TLS_RSA_WITH_AES_128_CBC_SHA"], None), Ok(()));
        check(
            suites(&["TLS_RSA_WITH_AES_128_CBC_SHA"], tls12),
            Err(TlsOptionsError::NoUsableCipherSuite("TLS_RSA_WITH_AES_128_CBC_SHA".into())),
        );
        check(suites(&["NOPE"], None), Err(TlsOptionsError::UnknownCipherSuite("NOPE".into())));
    }

    #[test]
    fn client_auth() {
        let auth = |cert: &str, key: &str| TlsOptions {
            auth: vec![ClientAuth {
                cert_pem: cert.into(),
                key_pem: key.into(),
                password: String::new(),
                domains: vec![],
            }],
            ..TlsOptions::default()
        };
        check(auth("", ""), Err(TlsOptionsError::Auth("no client certificate in PEM".into())));
    }
}
