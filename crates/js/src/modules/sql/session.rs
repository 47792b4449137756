//! A connection to a server, as the protocols see it: a [`Stream`] that suspends the VU.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use onrush_crypto::{
    Hash,
    web::{Algorithm, ImportFormat, KeyData, Material, Parameters, import},
};
use onrush_fiber::{Clock, Nanos};
use onrush_net::{NetError, OwnTls, Url, Wire};
use onrush_sql::{SqlError, Stream};

use super::POOL;
use crate::{
    offload::Waited,
    vu::{
        Vu,
        context::{pause, vu},
    },
};

/// Where a server is.
pub(super) struct Place<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) checks_certificate: bool,
}

/// A connection for the length of a call.
pub(super) struct Session<'a> {
    way: Way<'a>,
    deadline: Option<Nanos>,
    checks_certificate: bool,
}

#[expect(clippy::large_enum_variant, reason = "it lives on the stack for a moment")]
enum Way<'a> {
    /// It is new.
    Own(Wire),
    /// It was kept.
    Lent(&'a Wire),
    /// TLS has failed.
    Gone,
}

/// The run's TLS without checks of certificates, made once a thread.
struct Unchecked(OwnTls);

impl<'a> Session<'a> {
    /// Connects.
    pub(super) fn connect(vu: &Vu, place: &Place<'_>, deadline: Option<Nanos>) -> Result<Self, SqlError> {
        let host = if place.host.contains(':') { format!("[{}]", place.host) } else { place.host.to_owned() };
        let url = Url::parse(&format!("http://{host}:{}/", place.port)).map_err(|error| failed(&error))?;
        let wire = vu.connections.connect_wire(&url, deadline).map_err(|error| failed(&error))?;
        Ok(Self { way: Way::Own(wire), deadline, checks_certificate: place.checks_certificate })
    }

    /// Over a connection that was kept.
    pub(super) fn over(wire: &'a Wire, deadline: Option<Nanos>) -> Self {
        Self { way: Way::Lent(wire), deadline, checks_certificate: true }
    }

    /// The new connection, to keep it.
    pub(super) fn into_wire(self) -> Option<Wire> {
        if let Way::Own(wire) = self.way { Some(wire) } else { None }
    }

    fn wire(&self) -> Result<&Wire, SqlError> {
        match &self.way {
            Way::Own(wire) => Ok(wire),
            Way::Lent(wire) => Ok(wire),
            Way::Gone => Err(closed()),
        }
    }
}

impl Stream for Session<'_> {
    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool, SqlError> {
        self.wire()?.read(out, self.deadline).map_err(|error| failed(&error))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), SqlError> {
        self.wire()?.write_all(bytes, self.deadline).map_err(|error| failed(&error))
    }

    fn secure(&mut self) -> Result<(), SqlError> {
        let Way::Own(wire) = std::mem::replace(&mut self.way, Way::Gone) else { return Err(closed()) };
        let vu = vu();
        let own = if self.checks_certificate {
            None
        } else {
            let made = vu.thread.slots.of_or_try(|| vu.thread.client.unchecked_tls().map(Unchecked));
            Some(&made.map_err(|error| SqlError::Broken(error.to_string()))?.0)
        };
        let secured = vu.connections.secure_wire(wire, own, self.deadline);
        self.way = Way::Own(secured.map_err(|error| failed(&error))?);
        Ok(())
    }

    fn is_secure(&self) -> bool {
        self.wire().is_ok_and(|wire| wire.tls_info().is_some())
    }

    fn pause(&mut self) -> Result<(), SqlError> {
        pause().map_err(|_| SqlError::Cancelled)?;
        if self.deadline.is_some_and(|deadline| deadline <= Clock::now()) { Err(SqlError::Timeout) } else { Ok(()) }
    }

    fn aside<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, SqlError> {
        match POOL.begin(work).wait(self.deadline) {
            Waited::Done(done) => Ok(done),
            Waited::Panicked => Err(SqlError::Broken("internal error in Onrush (please report it): panic".to_owned())),
            Waited::Timeout => Err(SqlError::Timeout),
            Waited::Cancelled => Err(SqlError::Cancelled),
        }
    }

    fn encrypt(&mut self, key_pem: &str, plain: &[u8]) -> Result<Vec<u8>, SqlError> {
        encrypted(key_pem, plain).ok_or_else(|| SqlError::Broken("the server's public key cannot be used".to_owned()))
    }
}

fn encrypted(key_pem: &str, plain: &[u8]) -> Option<Vec<u8>> {
    // The longest key that is in use has 16,384 bits.
    let text: String = key_pem.lines().filter(|line| !line.starts_with("-----")).collect();
    if text.len() > 4 << 10 {
        return None;
    }
    let der = STANDARD.decode(&text).ok()?;
    let parameters = Parameters { hash: Some(Hash::Sha1), ..Parameters::default() };
    let key = import(Algorithm::RsaOaep, KeyData::Bytes(ImportFormat::Spki, &der), &parameters).ok()?;
    let Material::RsaPublic(key) = key.material else { return None };
    key.encrypt(Hash::Sha1, &[], plain).ok()
}

pub(super) fn closed() -> SqlError {
    SqlError::Broken("the connection is closed".to_owned())
}

fn failed(error: &NetError) -> SqlError {
    if *error == NetError::cancelled() {
        SqlError::Cancelled
    } else if *error == NetError::timeout() {
        SqlError::Timeout
    } else {
        SqlError::Broken(error.detail.clone())
    }
}
