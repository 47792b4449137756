//! The self-made certificate, and the TLS settings around it.

use std::io;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A certificate for loopback names and `names`, made now and kept nowhere:
/// the TLS settings that use it, and its PEM text for clients that want to trust it.
///
/// # Errors
/// `InvalidInput` when a name cannot be in a certificate.
pub(crate) fn certificate(names: &[String]) -> io::Result<(Arc<ServerConfig>, String)> {
    let mut all = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    for name in names {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    let made =
        rcgen::generate_simple_self_signed(all).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // Sessions are resumed with tickets: the server keeps nothing per client.
    config.ticketer = aws_lc_rs::Ticketer::new().map_err(io::Error::other)?;
    Ok((Arc::new(config), made.cert.pem()))
}
