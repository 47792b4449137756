//! A certificate authority for one cluster, in a folder: made on the spot for people who have none.
//!
//! `DIR/ca` has the authority and stays where it was made. `DIR/NAME` has what one member needs, and is copied to its
//! machine as a whole.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use serde_json::{Value, json};

use crate::{
    Role,
    member::{AUTHORITY, CERTIFICATE, KEY},
};

/// Issues the certificates of a cluster.
pub struct Authority {
    dir: PathBuf,
    /// Its certificate as PEM.
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

/// What was issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The folder with certificate and key.
    pub dir: PathBuf,
    /// What its holder is.
    pub role: Role,
    /// The names it is for.
    pub names: Vec<String>,
}

/// Why nothing was issued.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// There is one already.
    #[error("{0} has an authority already")]
    Exists(String),
    /// There is none.
    #[error("{path} has no authority: {reason}")]
    Missing {
        /// Where it should be.
        path: String,
        /// In the system's words.
        reason: io::Error,
    },
    /// A file of the authority holds something else.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// Which file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A name that cannot be a folder's.
    #[error("invalid member name \"{0}\": use letters, digits, '-', '_' and '.', 64 at most, and not \"ca\"")]
    Name(String),
    /// Nobody can be known by this.
    #[error("invalid host name or address \"{0}\"")]
    Host(String),
    /// A coordinator without a name.
    #[error("a coordinator's certificate needs the names or addresses it is reached by")]
    NoHost,
    /// The folder is there.
    #[error("{0} exists already")]
    MemberExists(String),
    /// Nobody was given this name.
    #[error("no member is called \"{name}\"; there {is_are} {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// `is` or `are`.
        is_are: &'static str,
        /// Those there are.
        known: String,
    },
    /// The system refuses.
    #[error("failed to write {path}: {reason}")]
    Write {
        /// Which file.
        path: String,
        /// In the system's words.
        reason: io::Error,
    },
    /// The cryptography does.
    #[error("failed to make a certificate: {0}")]
    Make(#[from] rcgen::Error),
}

const CA_KEY: &str = "ca-key.pem";
const MEMBERS: &str = "members.json";
/// The authority's folder.
const CA: &str = "ca";
const CA_DAYS: u32 = 3_650;
const NAME_CHARS_MAX: usize = 64;
/// Clocks of two machines differ.
const BEFORE: Duration = Duration::from_secs(300);
const DAY: Duration = Duration::from_secs(24 * 3_600);

impl Authority {
    /// Makes one. `now` is the time since 1970, here and below.
    ///
    /// # Errors
    /// When there is one already, or the system refuses.
    pub fn init(dir: &Path, now: Duration) -> Result<Self, AuthorityError> {
        let ca = dir.join(CA);
        let key_path = ca.join(CA_KEY);
        if key_path.exists() {
            return Err(AuthorityError::Exists(ca.display().to_string()));
        }
        let key = KeyPair::generate()?;
        let certificate = params(now, CA_DAYS).self_signed(&key)?.pem();
        make_dir(&ca)?;
        write_secret(&key_path, &key.serialize_pem())?;
        write(&ca.join(AUTHORITY), certificate.as_bytes(), 0o644)?;
        Self::open(dir)
    }

    /// Opens the one that was made here.
    ///
    /// # Errors
    /// When there is none, or none that can be used.
    pub fn open(dir: &Path) -> Result<Self, AuthorityError> {
        let read = |name: &str| {
            let path = dir.join(CA).join(name);
            fs::read_to_string(&path)
                .map_err(|reason| AuthorityError::Missing { path: path.display().to_string(), reason })
        };
        let (certificate, key) = (read(AUTHORITY)?, read(CA_KEY)?);
        let key = KeyPair::from_pem(&key).map_err(|error| AuthorityError::Damaged {
            path: dir.join(CA).join(CA_KEY).display().to_string(),
            reason: error.to_string(),
        })?;
        // Of the authority's certificate an issuer needs its name and its rights, and these are always the same.
        let issuer = Issuer::new(params(Duration::ZERO, CA_DAYS), key);
        Ok(Self { dir: dir.to_owned(), certificate, issuer })
    }

    /// Issues a new member's certificate, valid for so many days.
    ///
    /// # Errors
    /// When there is such a member, a name cannot be used, or the system refuses.
    pub fn add(
        &self,
        name: &str,
        role: Role,
        hosts: &[String],
        now: Duration,
        days: u32,
    ) -> Result<Issued, AuthorityError> {
        let is_name = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
        let fits = (1..=NAME_CHARS_MAX).contains(&name.len()) && name.chars().all(is_name);
        if !fits || name == CA || name.starts_with('.') {
            return Err(AuthorityError::Name(name.to_owned()));
        }
        let dir = self.dir.join(name);
        if dir.exists() {
            return Err(AuthorityError::MemberExists(dir.display().to_string()));
        }
        self.issue(name, role, hosts, now, days)
    }

    /// Issues a member's certificate anew, with a new key; with other names if there are any.
    ///
    /// # Errors
    /// When there is no such member, a name cannot be used, or the system refuses.
    pub fn renew(&self, name: &str, hosts: &[String], now: Duration, days: u32) -> Result<Issued, AuthorityError> {
        let members = self.members()?;
        let Some((role, before)) = members.get(name) else {
            let known: Vec<&str> = members.keys().map(String::as_str).collect();
            let is_are = if known.len() == 1 { "is" } else { "are" };
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(AuthorityError::Unknown { name: name.to_owned(), is_are, known });
        };
        self.issue(name, *role, if hosts.is_empty() { before } else { hosts }, now, days)
    }

    fn issue(
        &self,
        name: &str,
        role: Role,
        hosts: &[String],
        now: Duration,
        days: u32,
    ) -> Result<Issued, AuthorityError> {
        let names = match role.mark() {
            Some(mark) => vec![mark.to_owned()],
            None if hosts.is_empty() => return Err(AuthorityError::NoHost),
            None => hosts.to_vec(),
        };
        let mut params = CertificateParams::new(names.clone()).map_err(|_| {
            let wrong = names.iter().find(|name| CertificateParams::new(vec![(*name).clone()]).is_err());
            AuthorityError::Host(wrong.cloned().unwrap_or_default())
        })?;
        let whole = self::params(now, days);
        (params.not_before, params.not_after) = (whole.not_before, whole.not_after);
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![match role {
            Role::Coordinator => ExtendedKeyUsagePurpose::ServerAuth,
            Role::Agent | Role::User => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let dir = self.dir.join(name);
        make_dir(&dir)?;
        write_secret(&dir.join(KEY), &key.serialize_pem())?;
        write(&dir.join(CERTIFICATE), certificate.pem().as_bytes(), 0o644)?;
        write(&dir.join(AUTHORITY), self.certificate.as_bytes(), 0o644)?;
        let mut members = self.members()?;
        members.insert(name.to_owned(), (role, if role.mark().is_some() { Vec::new() } else { names.clone() }));
        self.write_members(&members)?;
        Ok(Issued { dir, role, names })
    }

    /// Who has a certificate: role and names by member.
    fn members(&self) -> Result<BTreeMap<String, (Role, Vec<String>)>, AuthorityError> {
        let path = self.dir.join(CA).join(MEMBERS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(reason) => return Err(AuthorityError::Missing { path: path.display().to_string(), reason }),
        };
        let damaged = || AuthorityError::Damaged {
            path: path.display().to_string(),
            reason: "it does not list the members".to_owned(),
        };
        let Ok(Value::Object(all)) = serde_json::from_str(&text) else { return Err(damaged()) };
        all.into_iter()
            .map(|(name, member)| {
                let role = member["role"].as_str().and_then(Role::parse).ok_or_else(damaged)?;
                let names = member["names"].as_array().into_iter().flatten();
                Ok((name, (role, names.filter_map(Value::as_str).map(str::to_owned).collect())))
            })
            .collect()
    }

    fn write_members(&self, members: &BTreeMap<String, (Role, Vec<String>)>) -> Result<(), AuthorityError> {
        let all: serde_json::Map<String, Value> = members
            .iter()
            .map(|(name, (role, names))| (name.clone(), json!({"role": role.name(), "names": names})))
            .collect();
        let text = format!("{:#}\n", Value::Object(all));
        write(&self.dir.join(CA).join(MEMBERS), text.as_bytes(), 0o644)
    }
}

/// What all certificates have in common, and all that the authority's has.
fn params(now: Duration, days: u32) -> CertificateParams {
    let epoch = date_time_ymd(1970, 1, 1);
    let mut params = CertificateParams::default();
    params.not_before = epoch + now.saturating_sub(BEFORE);
    params.not_after = epoch + now + DAY * days;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "Onrush cluster authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn make_dir(dir: &Path) -> Result<(), AuthorityError> {
    let failed = |reason| AuthorityError::Write { path: dir.display().to_string(), reason };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)
}

fn write_secret(path: &Path, text: &str) -> Result<(), AuthorityError> {
    write(path, text.as_bytes(), 0o600)
}

/// Writes a file as a whole or not at all: who reads it meanwhile reads the one before.
fn write(path: &Path, content: &[u8], mode: u32) -> Result<(), AuthorityError> {
    let failed = |reason| AuthorityError::Write { path: path.display().to_string(), reason };
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = PathBuf::from(fresh);
    // What an interrupted attempt left behind may have another mode.
    let _ = fs::remove_file(&fresh);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&fresh).map_err(failed)?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&fresh, path).map_err(failed)
}
