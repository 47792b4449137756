//! Who may come in, and as what: by what it knows (a token), or by what it is (a certificate).

use std::{fmt, sync::Arc};

use onrush_certificates::{Member, Role};
use rustls::ClientConfig;
use tokio_rustls::TlsAcceptor;

use crate::{Identity, TlsError, Token, tls};

/// Whom a coordinator lets in.
#[derive(Debug, Clone)]
pub struct Access {
    /// `None`: certificates say it.
    tokens: Option<Tokens>,
    identity: Option<Identity>,
}

/// Secrets, by what those who know them may do.
#[derive(Debug, Clone)]
struct Tokens {
    agents: Token,
    users: Option<Token>,
}

impl Access {
    /// Whoever knows a token, in plain text: for addresses of this machine only.
    pub fn plain(agents: Token, users: Option<Token>) -> Self {
        Self { tokens: Some(Tokens { agents, users }), identity: None }
    }

    /// Whoever knows a token, over connections that are encrypted with this certificate.
    pub fn encrypted(agents: Token, users: Option<Token>, identity: Identity) -> Self {
        let with = |token: Token| token.with_fingerprint(identity.fingerprint);
        let tokens = Tokens { agents: with(agents), users: users.map(with) };
        Self { tokens: Some(tokens), identity: Some(identity) }
    }

    /// Whoever has a certificate of the authority that this member believes.
    ///
    /// # Errors
    /// When the member's own certificate cannot be used.
    pub fn members(member: &Member) -> Result<Self, TlsError> {
        Ok(Self { tokens: None, identity: Some(Identity::of_member(member)?) })
    }

    /// What agents must know; `None` where they need a certificate.
    pub fn agent_token(&self) -> Option<&Token> {
        self.tokens.as_ref().map(|tokens| &tokens.agents)
    }

    /// What users must know; `None` where they need a certificate, or there is nothing for them.
    pub fn user_token(&self) -> Option<&Token> {
        self.tokens.as_ref()?.users.as_ref()
    }

    /// Whether connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.identity.is_some()
    }

    /// Certificate and key, where they were made on the spot.
    pub(crate) fn made_identity(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.identity.as_ref()?.made.clone()
    }

    /// What connections are encrypted with.
    pub(crate) fn tls(&self) -> Option<TlsAcceptor> {
        self.identity.as_ref().map(|identity| TlsAcceptor::from(identity.config.clone()))
    }

    /// What somebody may do: with this secret, and with the role in its certificate if it showed one.
    ///
    /// # Errors
    /// Why nothing.
    pub(crate) fn role(&self, secret: &str, certified: Option<Role>) -> Result<Role, &'static str> {
        let Some(tokens) = &self.tokens else {
            return certified.ok_or("its certificate says neither agent nor user: make one with `onrush cluster add`");
        };
        // Both are always compared: how long it takes tells nothing.
        let is_user = tokens.users.as_ref().is_some_and(|token| token.admits(secret));
        match (tokens.agents.admits(secret), is_user) {
            (true, _) => Ok(Role::Agent),
            (false, true) => Ok(Role::User),
            (false, false) => Err("the token is wrong: use the one that this coordinator printed"),
        }
    }
}

/// What somebody who dials shows, and what it believes.
#[derive(Clone)]
pub struct Credential {
    pub(crate) secret: Option<String>,
    pub(crate) tls: Option<ClientTls>,
}

/// How a connection is encrypted.
#[derive(Clone)]
pub(crate) enum ClientTls {
    /// The coordinator is known by its certificate alone.
    Pinned(Arc<ClientConfig>),
    /// It is known by its name in a certificate of the authority.
    Named(Arc<ClientConfig>),
}

impl Credential {
    /// Knows a token.
    pub fn token(token: &Token) -> Self {
        let tls = token.fingerprint.map(|fingerprint| ClientTls::Pinned(tls::pinned(fingerprint)));
        Self { secret: Some(token.secret.clone()), tls }
    }

    /// Has a certificate.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn member(member: &Member) -> Result<Self, TlsError> {
        Ok(Self { secret: None, tls: Some(ClientTls::Named(tls::of_member(member)?)) })
    }
}

/// The secret does not show.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tls = match self.tls {
            None => "plain",
            Some(ClientTls::Pinned(_)) => "pinned",
            Some(ClientTls::Named(_)) => "named",
        };
        f.debug_struct("Credential").field("tls", &tls).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_say_who_may_do_what() {
        let (agents, users) = (Token::random(), Token::random());
        let access = Access::plain(agents.clone(), Some(users.clone()));
        assert_eq!(access.role(&agents.secret, None), Ok(Role::Agent));
        assert_eq!(access.role(&users.secret, None), Ok(Role::User));
        for wrong in ["", "nobody-knows-it"] {
            // A role without the authority that gave it is none.
            assert!(access.role(wrong, Some(Role::User)).is_err());
        }
        assert!(Access::plain(agents, None).role(&users.secret, None).is_err());
    }
}
