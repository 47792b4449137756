//! Certificates and keys in PEM files.

use std::path::Path;

use rustls::RootCertStore;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

/// A file that cannot be read, or holds something else.
#[derive(Debug, thiserror::Error)]
#[error("{what} {path}: {reason}")]
pub struct FileError {
    /// What it should hold.
    pub what: &'static str,
    /// Where it is.
    pub path: String,
    /// In the words of the system or the parser.
    pub reason: String,
}

impl FileError {
    pub(crate) fn new(what: &'static str, path: &Path, reason: impl ToString) -> Self {
        Self { what, path: path.display().to_string(), reason: reason.to_string() }
    }
}

/// All certificates of a file, of which there is one at least.
///
/// # Errors
/// When the file cannot be read or has none.
pub fn read_certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, FileError> {
    let all = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| FileError::new(what, path, error))?;
    if all.is_empty() { Err(FileError::new(what, path, "there is no certificate in it")) } else { Ok(all) }
}

/// A private key.
///
/// # Errors
/// When the file cannot be read or has none.
pub fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, FileError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| FileError::new("the private key", path, error))
}

/// The authorities of a file.
///
/// # Errors
/// When the file cannot be read, or one of its certificates is none of an authority.
pub fn roots_from(path: &Path) -> Result<RootCertStore, FileError> {
    const WHAT: &str = "the authority's certificate";
    let mut roots = RootCertStore::empty();
    for certificate in read_certificates(WHAT, path)? {
        roots.add(certificate).map_err(|error| FileError::new(WHAT, path, error))?;
    }
    Ok(roots)
}
