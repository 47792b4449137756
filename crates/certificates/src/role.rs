//! What the holder of a certificate may do: a name in the certificate says it.

use std::fmt;

use rustls::{client::verify_server_name, server::ParsedCertificate};
use rustls_pki_types::{CertificateDer, ServerName};

/// What a member of a cluster is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Is dialled by the others.
    Coordinator,
    /// Runs shares of tests.
    Agent,
    /// Sends tests, follows and steers them.
    User,
}

impl Role {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Coordinator, Self::Agent, Self::User];

    /// The role of this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == text)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coordinator => "coordinator",
            Self::Agent => "agent",
            Self::User => "user",
        }
    }

    /// The DNS name in certificates of those who dial. Nothing resolves it: `.internal` is kept for private use.
    pub(crate) fn mark(self) -> Option<&'static str> {
        match self {
            // Others know it by the names of its machine.
            Self::Coordinator => None,
            Self::Agent => Some("agent.onrush.internal"),
            Self::User => Some("user.onrush.internal"),
        }
    }

    /// The role of somebody who dialled with this certificate, if it is one of a cluster's.
    pub fn of_caller(certificate: &CertificateDer<'_>) -> Option<Self> {
        let parsed = ParsedCertificate::try_from(certificate).ok()?;
        let has = |role: &Self| {
            let name = role.mark().and_then(|mark| ServerName::try_from(mark).ok());
            name.is_some_and(|name| verify_server_name(&parsed, &name).is_ok())
        };
        Self::ALL.into_iter().find(has)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
