//! Digest and NTLM: the attempts of one hop.
//!
//! The answers themselves are made by `onrush_net::auth`; here is what k6 does around them.

use bytes::Bytes;
use onrush_fiber::Clock;
use onrush_net::{
    NetError, Response, Url,
    auth::{Credentials, digest, ntlm},
};

use super::arguments::Auth;
use crate::vu::Vu;

/// How far the handshake of a hop has come.
pub(super) struct Handshake {
    scheme: Scheme,
    /// None: nobody to be.
    credentials: Option<Credentials>,
    /// What the next attempt says; `None` is what the script gave.
    authorization: Option<Box<str>>,
}

enum Scheme {
    /// Whether the challenge has been answered.
    Digest { is_answered: bool },
    /// The scheme's name once it has been opened, and whether its challenge has been answered.
    Ntlm { opened: Option<&'static str>, is_answered: bool },
}

/// The `Authorization` header of an attempt.
pub(super) enum Authorization<'a> {
    /// The script's, if it gave one.
    AsGiven,
    /// None, whatever the script gave.
    None,
    Is(&'a str),
}

impl Handshake {
    /// Begins for a hop to `url` whose script gave `header` as `Authorization`. A URL is returned where the hop is to
    /// another than `url`.
    pub(super) fn begin(auth: Auth, url: &Url, header: Option<&str>) -> (Self, Option<Url>) {
        if auth == Auth::Ntlm {
            // k6: the credentials are those of the URL or of a basic header, which is not sent.
            let credentials = match header {
                Some(header) => Credentials::of_basic(header),
                None => Credentials::of_url(url),
            };
            let scheme = Scheme::Ntlm { opened: None, is_answered: false };
            return (Self { scheme, credentials, authorization: None }, None);
        }
        // k6: the first attempt has the credentials as basic authentication; nothing else shows them, the URL does not.
        let authorization = if header.is_none() { url.basic_auth().map(Into::into) } else { None };
        let scheme = Scheme::Digest { is_answered: false };
        let bare = url.userinfo().and_then(|_| Url::parse(&url.referer()).ok());
        (Self { scheme, credentials: Credentials::of_url(url), authorization }, bare)
    }

    pub(super) fn authorization(&self) -> Authorization<'_> {
        match (&self.authorization, &self.scheme) {
            (Some(value), _) => Authorization::Is(value),
            (None, Scheme::Ntlm { .. }) if self.credentials.is_some() => Authorization::None,
            (None, _) => Authorization::AsGiven,
        }
    }

    /// Reads a 401; whether there is another attempt to make.
    pub(super) fn answer(
        &mut self,
        vu: &Vu,
        method: &str,
        url: &Url,
        body: &[Bytes],
        response: &Response,
    ) -> Result<bool, NetError> {
        let challenges = || response.headers.get_all("www-authenticate");
        let value = match &mut self.scheme {
            Scheme::Digest { is_answered: true } | Scheme::Ntlm { is_answered: true, .. } => return Ok(false),
            Scheme::Digest { is_answered } => {
                *is_answered = true;
                let mut target = Vec::new();
                url.write_target(&mut target);
                let nonce = digest::client_nonce([vu.thread.next_seed(), vu.thread.next_seed()]);
                let question = digest::Question {
                    method: if method.is_empty() { "GET" } else { method },
                    target: &String::from_utf8_lossy(&target),
                    body,
                    client_nonce: &nonce,
                };
                // k6: whoever gave no credentials is nobody.
                let nobody = Credentials { user: String::new(), password: String::new() };
                let challenges: Vec<&[u8]> = challenges().collect();
                digest::answer(challenges.iter().copied(), self.credentials.as_ref().unwrap_or(&nobody), &question)
            }
            Scheme::Ntlm { opened, is_answered } => {
                let Some(credentials) = &self.credentials else { return Ok(false) };
                let challenges: Vec<&[u8]> = challenges().collect();
                let challenges = || challenges.iter().copied();
                match *opened {
                    None => {
                        *opened = ntlm::scheme_offered(challenges());
                        let Some(scheme) = *opened else { return Ok(false) };
                        ntlm::negotiate(scheme)
                    }
                    Some(scheme) => {
                        *is_answered = true;
                        let Some(challenge) = ntlm::challenge(challenges(), scheme) else { return Ok(false) };
                        let fresh = ntlm::Fresh {
                            client_challenge: vu.thread.next_seed().to_le_bytes(),
                            now_ms: Clock::unix_ms(Clock::now()) as u64,
                        };
                        ntlm::authenticate(scheme, challenge, credentials, fresh)?
                    }
                }
            }
        };
        self.authorization = Some(value.into());
        Ok(true)
    }
}
