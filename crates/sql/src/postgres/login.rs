//! From a connected stream to a connection that is logged in: TLS, the password, the server's greeting.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::{
    authentication::{
        md5_hash,
        sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256},
    },
    message::{backend::Message, frontend},
};

use super::{Connection, Target, complaint, malformed, unsendable};
use crate::{SqlError, Stream};

impl Connection {
    pub(super) fn log_in(&mut self, stream: &mut impl Stream, target: &Target) -> Result<(), SqlError> {
        if target.wants_tls {
            self.go_secure(stream)?;
        }
        let mut out = BytesMut::new();
        let who = [("user", target.user.as_str()), ("database", &target.database), ("client_encoding", "UTF8")];
        let parameters = target.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        frontend::startup_message(who.into_iter().chain(parameters), &mut out).map_err(unsendable)?;
        stream.write(&out)?;
        let mut scram = None;
        loop {
            stream.pause()?;
            let mut out = BytesMut::new();
            match self.message(stream)? {
                Message::AuthenticationOk | Message::BackendKeyData(_) => {}
                Message::ReadyForQuery(_) => return Ok(()),
                Message::AuthenticationCleartextPassword => {
                    frontend::password_message(target.password.as_bytes(), &mut out).map_err(unsendable)?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(target.user.as_bytes(), target.password.as_bytes(), body.salt());
                    frontend::password_message(hash.as_bytes(), &mut out).map_err(unsendable)?;
                }
                Message::AuthenticationSasl(body) => {
                    let is_known = body.mechanisms().any(|name| Ok(name == SCRAM_SHA_256)).map_err(malformed)?;
                    if !is_known {
                        return Err(SqlError::broken("pq: the server does not offer SCRAM-SHA-256"));
                    }
                    let state = ScramSha256::new(target.password.as_bytes(), ChannelBinding::unsupported());
                    frontend::sasl_initial_response(SCRAM_SHA_256, state.message(), &mut out).map_err(unsendable)?;
                    scram = Some(state);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let mut state: ScramSha256 = scram.take().ok_or_else(out_of_turn)?;
                    let said = body.data().to_vec();
                    // Thousands of hashes, as many as the server says.
                    let (state, made) = stream.aside(move || {
                        let made = state.update(&said);
                        (state, made)
                    })?;
                    made.map_err(malformed)?;
                    frontend::sasl_response(state.message(), &mut out).map_err(unsendable)?;
                    scram = Some(state);
                }
                Message::AuthenticationSaslFinal(body) => {
                    let mut state = scram.take().ok_or_else(out_of_turn)?;
                    state.finish(body.data()).map_err(malformed)?;
                }
                Message::ErrorResponse(body) => return Err(SqlError::Broken(complaint(&body)?)),
                _ => return Err(SqlError::broken("pq: the server asks for a way to log in that is not supported")),
            }
            if !out.is_empty() {
                stream.write(&out)?;
            }
        }
    }

    fn go_secure(&mut self, stream: &mut impl Stream) -> Result<(), SqlError> {
        let mut out = BytesMut::new();
        frontend::ssl_request(&mut out);
        stream.write(&out)?;
        self.inbox.fill(stream, 1)?;
        if self.inbox.take(1) != b"S" {
            return Err(SqlError::broken("pq: SSL is not enabled on the server"));
        }
        // What came along unasked was not protected, and must not be taken for an answer.
        if !self.inbox.is_empty() {
            return Err(SqlError::broken("pq: the server sent unencrypted data before TLS"));
        }
        stream.secure()
    }
}

fn out_of_turn() -> SqlError {
    SqlError::broken("pq: a message of the login came out of turn")
}
