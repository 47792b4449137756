//! The journal of a run: the test, the places of its agents, and every input of its coordinator, so that another process can go on
//! with the run ([`Hub::resume`](crate::Hub::resume)) or say what is known of it.
//!
//! A file is a magic text and records: length, checksum, kind, content. Each is written with one call of the system before anything
//! that follows from it leaves the process, so a process that is killed leaves whole records and perhaps a torn one at the end,
//! of which nobody has heard. What agents keep when their coordinator is gone ([`Unheard`]) is a file of the same kind.

mod format;
mod reader;
mod unheard;
mod writer;

pub use format::JournalError;
pub use reader::{Entry, JournalReader};
pub use unheard::{Unheard, UnheardError};
pub use writer::JournalWriter;

use serde::{Deserialize, Serialize};

use crate::{Identity, Session, Token};

/// What a coordinator must know to go on with a run, beside the test and the inputs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHead {
    /// The program's version: another one cannot go on.
    pub program: String,
    /// Which start of the machine it was: times are those of its monotonic clock.
    pub boot: String,
    /// What that clock showed at the beginning of the coordinator's.
    pub clock_epoch: u64,
    /// Where agents dial it.
    pub listen: std::net::SocketAddr,
    /// Settings of the run that are no part of the test.
    pub settings: Vec<(String, Vec<String>)>,
    /// What lets agents in, where that is a token.
    pub(crate) secret: Option<String>,
    /// A certificate that was made for the run, and its key.
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
    /// By their numbers.
    pub agents: Vec<JournalAgent>,
    /// Of their shares; empty for equal ones.
    pub weights: Vec<u64>,
}

/// An agent of the run.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalAgent {
    /// What it is called.
    pub name: String,
    session: [u8; 16],
}

impl JournalAgent {
    /// An agent that joined.
    pub fn new(name: String, session: Session) -> Self {
        Self { name, session: session.0 }
    }

    /// What it is known by.
    pub fn session(&self) -> Session {
        Session(self.session)
    }
}

impl JournalHead {
    /// Of a coordinator that listens there and lets in whoever that says. The rest is to be filled in.
    pub fn new(listen: std::net::SocketAddr, access: &crate::Access) -> Self {
        Self {
            program: String::new(),
            boot: String::new(),
            clock_epoch: 0,
            listen,
            settings: Vec::new(),
            secret: access.agent_token().map(|token| token.secret.clone()),
            identity: access.made_identity(),
            agents: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Whom the coordinator of the run let in, where that was said by a token.
    ///
    /// # Errors
    /// When the certificate in it cannot be used.
    pub fn access(&self) -> Result<Option<crate::Access>, crate::TlsError> {
        let Some(secret) = &self.secret else { return Ok(None) };
        let token = Token { secret: secret.clone(), fingerprint: None };
        let Some((certificate, key)) = &self.identity else { return Ok(Some(crate::Access::plain(token, None))) };
        let identity = Identity::of_parts(certificate.clone(), key.clone())?;
        Ok(Some(crate::Access::encrypted(token, None, identity)))
    }
}

/// Secrets do not show.
impl std::fmt::Debug for JournalHead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JournalHead")
            .field("program", &self.program)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}
