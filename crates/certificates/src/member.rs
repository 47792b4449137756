//! What one member of a cluster has: its certificate, its key, and the authority it believes.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustls::{
    CertificateError, Error, RootCertStore,
    client::verify_server_cert_signed_by_trust_anchor,
    crypto::aws_lc_rs as provider,
    server::{ParsedCertificate, WebPkiClientVerifier},
    sign::CertifiedKey,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, UnixTime};

use crate::{
    FileError, Party, Role, day, explain,
    files::{read_certificates, read_key, roots_from},
};

pub(crate) const AUTHORITY: &str = "ca.pem";
pub(crate) const CERTIFICATE: &str = "cert.pem";
pub(crate) const KEY: &str = "key.pem";
/// The same three as Kubernetes mounts them.
const MOUNTED: [&str; 3] = ["ca.crt", "tls.crt", "tls.key"];
/// A certificate that ends sooner is worth a warning.
const SOON: Duration = Duration::from_secs(30 * 24 * 3_600);

/// A member's folder, read.
#[derive(Debug)]
pub struct Member {
    /// Where the certificate is.
    path: PathBuf,
    /// Its certificate, and those between it and the authority.
    pub chain: Vec<CertificateDer<'static>>,
    /// Its key.
    pub key: PrivateKeyDer<'static>,
    /// Whom it believes.
    pub roots: Arc<RootCertStore>,
    /// The key's file can be read by others.
    is_open: Option<PathBuf>,
}

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    /// There is no certificate in it.
    #[error("{0} has no {AUTHORITY}, {CERTIFICATE} and {KEY}: name a folder that `onrush cluster` made")]
    Empty(String),
    /// One of its files cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its certificate is not what is needed.
    #[error("{path}: {why}")]
    Wrong {
        /// Where it is.
        path: String,
        /// What is wrong, and what to do.
        why: String,
    },
}

impl Member {
    /// Reads a folder.
    ///
    /// # Errors
    /// When a file is missing or holds something else.
    pub fn read(dir: &Path) -> Result<Self, MemberError> {
        let has = |names: &[&str; 3]| names.iter().all(|name| dir.join(name).exists());
        let ours = [AUTHORITY, CERTIFICATE, KEY];
        let [authority, certificate, key] = if has(&ours) {
            ours
        } else if has(&MOUNTED) {
            MOUNTED
        } else {
            return Err(MemberError::Empty(dir.display().to_string()));
        };
        let path = dir.join(certificate);
        let key_path = dir.join(key);
        // Mounted secrets have the modes of their mount.
        let is_open = key == KEY && fs::metadata(&key_path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0);
        Ok(Self {
            chain: read_certificates("the certificate", &path)?,
            key: read_key(&key_path)?,
            roots: Arc::new(roots_from(&dir.join(authority))?),
            is_open: is_open.then_some(key_path),
            path,
        })
    }

    /// Checks what would otherwise only show when somebody connects. Returns what should be looked after. `now` is the
    /// time since 1970.
    ///
    /// # Errors
    /// Why it cannot serve in this role.
    pub fn check(&self, role: Role, now: Duration) -> Result<Vec<String>, MemberError> {
        let soon = UnixTime::since_unix_epoch(now + SOON);
        let now = UnixTime::since_unix_epoch(now);
        let wrong = |why: String| MemberError::Wrong { path: self.path.display().to_string(), why };
        let signer = provider::sign::any_supported_type(&self.key)
            .map_err(|error| wrong(format!("the key beside it cannot be used: {error}")))?;
        CertifiedKey::new(self.chain.clone(), signer).keys_match().map_err(|_| {
            wrong("the key beside it belongs to another certificate: copy the whole folder again".to_owned())
        })?;
        let Some((leaf, between)) = self.chain.split_first() else { return Err(wrong("it is empty".to_owned())) };
        let caller = Role::of_caller(leaf);
        self.verify(leaf, between, role, now).map_err(|error| match &error {
            Error::InvalidCertificate(
                CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. },
            ) => wrong(not_of(role, caller.unwrap_or(Role::Coordinator))),
            Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
                wrong(format!(
                    "it was not issued by the authority in the same folder ({AUTHORITY}): copy the whole folder again"
                ))
            }
            error => wrong(explain(error, Party::Own).unwrap_or_else(|| error.to_string())),
        })?;
        match caller {
            Some(caller) if caller != role => return Err(wrong(not_of(role, caller))),
            None if role != Role::Coordinator => {
                return Err(wrong(format!(
                    "it is no certificate of an Onrush {role}: make one with `onrush cluster add {role} NAME`"
                )));
            }
            _ => {}
        }
        let mut warnings = Vec::new();
        if let Err(Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) =
            self.verify(leaf, between, role, soon)
        {
            warnings.push(format!(
                "the certificate {} expires on {}: renew it with `onrush cluster renew`",
                self.path.display(),
                day(not_after)
            ));
        }
        if let Some(path) = &self.is_open {
            let path = path.display();
            warnings.push(format!("the key {path} can be read by other users of this machine: chmod 600 {path}"));
        }
        Ok(warnings)
    }

    fn verify(
        &self,
        leaf: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        role: Role,
        now: UnixTime,
    ) -> Result<(), Error> {
        let provider = Arc::new(provider::default_provider());
        if role == Role::Coordinator {
            let algorithms = provider.signature_verification_algorithms.all;
            let parsed = ParsedCertificate::try_from(leaf)?;
            return verify_server_cert_signed_by_trust_anchor(&parsed, &self.roots, between, now, algorithms);
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(self.roots.clone(), provider)
            .build()
            .map_err(|error| Error::General(error.to_string()))?;
        verifier.verify_client_cert(leaf, between, now).map(drop)
    }
}

fn not_of(role: Role, other: Role) -> String {
    format!("it is for the role {other}, and this is {role}: use the folder of a member that was added as {role}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Authority, AuthorityError};

    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn at(days: u64) -> Duration {
        NOW + Duration::from_secs(days * 24 * 3_600)
    }

    fn authority(dir: &Path) -> Authority {
        let made = Authority::init(dir, NOW).expect("a new one");
        made.add("host", Role::Coordinator, &["localhost".to_owned(), "10.0.0.1".to_owned()], NOW, 365).expect("names");
        made.add("load-1", Role::Agent, &[], NOW, 365).expect("an agent");
        made.add("ann", Role::User, &[], NOW, 365).expect("a user");
        made
    }

    fn check(dir: &Path, name: &str, role: Role, day: u64) -> Result<Vec<String>, String> {
        let member = Member::read(&dir.join(name)).map_err(|error| error.to_string())?;
        member.check(role, at(day)).map_err(|error| error.to_string().replace(&*dir.to_string_lossy(), "DIR"))
    }

    #[test]
    fn members_have_what_their_roles_need() {
        let dir = tempfile::tempdir().expect("a folder");
        let authority = authority(dir.path());
        let mode = |path: &str| fs::metadata(dir.path().join(path)).expect("it is there").permissions().mode() & 0o777;
        assert_eq!([mode("ca/ca-key.pem"), mode("load-1/key.pem"), mode("load-1")], [0o600, 0o600, 0o700]);
        for (name, role) in [("host", Role::Coordinator), ("load-1", Role::Agent), ("ann", Role::User)] {
            assert_eq!(check(dir.path(), name, role, 1), Ok(Vec::new()), "{name}");
        }
        // Each for its own role only.
        for (name, role) in [("host", Role::Agent), ("load-1", Role::Coordinator), ("load-1", Role::User)] {
            let error = check(dir.path(), name, role, 1).expect_err(name);
            assert!(error.contains(&format!("and this is {role}")), "{error}");
        }
        let again = authority.renew("load-1", &[], NOW, 30).expect("it is known");
        assert_eq!(again.role, Role::Agent);
        assert!(check(dir.path(), "load-1", Role::Agent, 1).is_ok_and(|warnings| warnings.len() == 1));
    }

    #[test]
    fn certificates_end() {
        let dir = tempfile::tempdir().expect("a folder");
        authority(dir.path());
        let soon = check(dir.path(), "load-1", Role::Agent, 340).expect("still valid");
        assert!(soon[0].contains("expires on 2028-01-1"), "{soon:?}");
        let error = check(dir.path(), "load-1", Role::Agent, 366).expect_err("over");
        assert!(error.starts_with("DIR/load-1/cert.pem: it expired on 2028-01-1"), "{error}");
        let early = Member::read(&dir.path().join("host")).expect("it is there");
        let error = early.check(Role::Coordinator, Duration::ZERO).expect_err("too early");
        assert!(error.to_string().contains("is not valid before 2027-01-15"), "{error}");
    }

    #[test]
    fn what_does_not_belong_together_is_found() {
        let (dir, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("another"));
        let made = authority(dir.path());
        authority(other.path());
        let copy = |file: &str| fs::copy(other.path().join("load-1").join(file), dir.path().join("load-1").join(file));
        copy("key.pem").expect("it can be copied");
        let error = check(dir.path(), "load-1", Role::Agent, 1).expect_err("another key");
        assert!(error.contains("the key beside it belongs to another certificate"), "{error}");
        copy("cert.pem").expect("it can be copied");
        let error = check(dir.path(), "load-1", Role::Agent, 1).expect_err("another authority");
        assert!(error.contains("it was not issued by the authority in the same folder"), "{error}");
        fs::set_permissions(dir.path().join("ann/key.pem"), fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert!(check(dir.path(), "ann", Role::User, 1).is_ok_and(|warnings| warnings[0].contains("chmod 600")));
        assert!(matches!(Member::read(dir.path()), Err(MemberError::Empty(_))));
        assert!(matches!(Authority::init(dir.path(), NOW), Err(AuthorityError::Exists(_))));
        assert!(matches!(Authority::open(&dir.path().join("ann")), Err(AuthorityError::Missing { .. })));
        for bad in ["", "ca", "a/b", "..", "a b"] {
            let error = made.add(bad, Role::Agent, &[], NOW, 1).expect_err(bad);
            assert!(matches!(error, AuthorityError::Name(_)), "{error}");
        }
        assert!(matches!(made.add("ann", Role::Agent, &[], NOW, 1), Err(AuthorityError::MemberExists(_))));
        assert!(matches!(made.add("two", Role::Coordinator, &[], NOW, 1), Err(AuthorityError::NoHost)));
        let unknown = made.renew("bob", &[], NOW, 1).expect_err("nobody").to_string();
        assert_eq!(unknown, "no member is called \"bob\"; there are ann, host, load-1");
    }
}
