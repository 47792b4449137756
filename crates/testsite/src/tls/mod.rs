//! TLS settings: the self-made certificate, and what tests choose around it. The bytes of certificates and staples are
//! in `der`, `subject` and `staple`.

use std::{io, sync::Arc};

use rcgen::{CertifiedKey, KeyPair};
use rustls::{
    RootCertStore, ServerConfig, SupportedProtocolVersion,
    crypto::{CryptoProvider, aws_lc_rs},
    server::{NoServerSessionStorage, WebPkiClientVerifier},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject};

use crate::options::{ClientAuth, TlsSettings};

mod der;
mod staple;
mod subject;

pub(crate) use subject::{Subject, subject};

/// A certificate for loopback names and the settings' names, made now and kept nowhere: the TLS settings that use it,
/// and its PEM text for clients that want to trust it.
///
/// # Errors
/// `InvalidInput` when a name cannot be in a certificate, a version or cipher
/// suite is unknown, or the client authority is none.
pub(crate) fn certificate(settings: &TlsSettings, http2: bool) -> io::Result<(Arc<ServerConfig>, String)> {
    let mut all = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    for name in &settings.names {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(all).map_err(invalid)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let staple = match settings.staple {
        None => Vec::new(),
        Some(status) => staple::staple(cert.der(), &signing_key, status)?,
    };
    let provider = Arc::new(provider(&settings.cipher_suites)?);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions(&settings.versions)?)
        .map_err(invalid)?;
    let builder = match &settings.client_auth {
        None => builder.with_no_client_auth(),
        Some(auth) => {
            let roots = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(auth)?), provider);
            let roots = if auth.required { roots } else { roots.allow_unauthenticated() };
            builder.with_client_cert_verifier(roots.build().map_err(invalid)?)
        }
    };
    let mut config =
        builder.with_single_cert_with_ocsp(vec![cert.der().clone()], key, staple).map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    if http2 {
        config.alpn_protocols.insert(0, b"h2".to_vec());
    }
    if settings.tickets {
        // Sessions are resumed with tickets: the server keeps nothing per client.
        config.ticketer = aws_lc_rs::Ticketer::new().map_err(io::Error::other)?;
    } else {
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    Ok((Arc::new(config), cert.pem()))
}

/// The suites a user named, or all.
fn provider(suites: &[String]) -> io::Result<CryptoProvider> {
    let mut provider = aws_lc_rs::default_provider();
    if suites.is_empty() {
        return Ok(provider);
    }
    let known = |name: &str| provider.cipher_suites.iter().any(|suite| suite_name(suite.suite()) == name);
    if let Some(unknown) = suites.iter().find(|name| !known(name)) {
        let names: Vec<String> = provider.cipher_suites.iter().map(|suite| suite_name(suite.suite())).collect();
        return Err(invalid(format!("unknown cipher suite \"{unknown}\", there are {}", names.join(", "))));
    }
    provider.cipher_suites.retain(|suite| suites.contains(&suite_name(suite.suite())));
    Ok(provider)
}

/// A suite's name in the registry, such as `TLS_AES_128_GCM_SHA256`.
pub(crate) fn suite_name(suite: rustls::CipherSuite) -> String {
    format!("{suite:?}").replacen("TLS13_", "TLS_", 1)
}

fn versions(names: &[String]) -> io::Result<Vec<&'static SupportedProtocolVersion>> {
    if names.is_empty() {
        return Ok(rustls::ALL_VERSIONS.to_vec());
    }
    let version = |name: &String| match name.as_str() {
        "1.2" | "tls1.2" => Ok(&rustls::version::TLS12),
        "1.3" | "tls1.3" => Ok(&rustls::version::TLS13),
        _ => Err(invalid(format!("unknown TLS version \"{name}\", there are 1.2 and 1.3"))),
    };
    names.iter().map(version).collect()
}

fn roots(auth: &ClientAuth) -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(auth.authorities_pem.as_bytes()) {
        roots.add(certificate.map_err(invalid)?).map_err(invalid)?;
    }
    if roots.is_empty() {
        return Err(invalid("there is no certificate in the client authority's PEM"));
    }
    Ok(roots)
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// Signs with the key of a certificate.
fn sign(key: &KeyPair, message: &[u8]) -> io::Result<Vec<u8>> {
    rcgen::SigningKey::sign(key, message).map_err(io::Error::other)
}
