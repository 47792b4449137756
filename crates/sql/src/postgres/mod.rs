//! PostgreSQL, protocol 3. Messages are those of `postgres-protocol`; behaviour and texts those of Go's `lib/pq`.

mod decode;
mod login;
mod target;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::{
    IsNull,
    message::{
        backend::{ErrorResponseBody, Header, Message, RowDescriptionBody},
        frontend,
    },
};

use self::decode::column;
pub use self::target::Target;
use crate::{
    SqlError, Stream,
    stream::Inbox,
    time::text_of_ms,
    value::{COLUMNS_MAX, Outcome, RESULT_BYTES_MAX, Rows, Value, Wanted, too_large},
};

/// A connection that is logged in.
#[derive(Debug, Default)]
pub struct Connection {
    inbox: Inbox,
}

impl Connection {
    /// Logs in.
    ///
    /// # Errors
    /// What the server says, or why it says nothing.
    pub fn open(stream: &mut impl Stream, target: &Target) -> Result<Self, SqlError> {
        let mut connection = Self::default();
        connection.log_in(stream, target).map_err(SqlError::without_connection)?;
        Ok(connection)
    }

    /// Runs a statement; without arguments it may be several.
    ///
    /// # Errors
    /// What the server says, or why it says nothing.
    pub fn run(
        &mut self,
        stream: &mut impl Stream,
        query: &str,
        arguments: &[Value],
        wanted: Wanted,
    ) -> Result<Outcome, SqlError> {
        let mut out = BytesMut::new();
        if arguments.is_empty() {
            frontend::query(query, &mut out).map_err(unsendable)?;
        } else {
            frontend::parse("", query, None, &mut out).map_err(unsendable)?;
            let write = |value: &Value, out: &mut BytesMut| {
                let text = text_of(value);
                out.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
                Ok(if text.is_some() { IsNull::No } else { IsNull::Yes })
            };
            frontend::bind("", "", [0], arguments, write, [0], &mut out)
                .map_err(|_| SqlError::Refused("pq: the arguments are too many or too long".to_owned()))?;
            frontend::describe(b'P', "", &mut out).map_err(unsendable)?;
            frontend::execute("", 0, &mut out).map_err(unsendable)?;
            frontend::sync(&mut out);
        }
        stream.write(&out)?;
        let outcome = self.results(stream, wanted);
        self.inbox.shrink();
        outcome
    }

    /// Reads to the end of what a statement gives.
    fn results(&mut self, stream: &mut impl Stream, wanted: Wanted) -> Result<Outcome, SqlError> {
        let mut outcome = Outcome::default();
        let mut types = Vec::new();
        let mut refused = None;
        loop {
            stream.pause()?;
            match self.message(stream)? {
                Message::RowDescription(body) => outcome.rows = Rows::new(columns(&body, &mut types)?),
                Message::DataRow(body) if wanted == Wanted::Rows => {
                    let mut ranges = body.ranges();
                    for &kind in &types {
                        let range = ranges.next().map_err(malformed)?;
                        let range = range.ok_or_else(|| SqlError::broken("pq: a row has too few columns"))?;
                        let value = range.map_or(Value::Null, |range| column(kind, &body.buffer()[range]));
                        outcome.rows.push(value)?;
                    }
                }
                Message::CommandComplete(body) => {
                    let tag = body.tag().map_err(malformed)?;
                    outcome.done.rows_affected =
                        tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
                }
                Message::ErrorResponse(body) => refused = Some(SqlError::Refused(complaint(&body)?)),
                Message::CopyInResponse(_) => {
                    let mut out = BytesMut::new();
                    frontend::copy_fail("COPY FROM STDIN is not available to scripts", &mut out).map_err(unsendable)?;
                    // After a query with arguments the server waits for no more; a further answer would be one too many.
                    stream.write(&out)?;
                }
                Message::ReadyForQuery(_) => return refused.map_or(Ok(outcome), Err),
                Message::AuthenticationOk | Message::AuthenticationCleartextPassword | Message::BackendKeyData(_) => {
                    return Err(SqlError::broken("pq: unexpected message of the server"));
                }
                _ => {}
            }
        }
    }

    /// The next message that is an answer.
    fn message(&mut self, stream: &mut impl Stream) -> Result<Message, SqlError> {
        loop {
            let head = self.inbox.fill(stream, HEADER_BYTES)?;
            let header = Header::parse(head).map_err(malformed)?;
            let length = header.map_or(0, |header| header.len().max(0) as usize) + 1;
            if length > RESULT_BYTES_MAX {
                return Err(too_large());
            }
            self.inbox.fill(stream, length)?;
            let mut bytes = BytesMut::from(self.inbox.take(length));
            match Message::parse(&mut bytes).map_err(malformed)? {
                Some(Message::NoticeResponse(_) | Message::NotificationResponse(_) | Message::ParameterStatus(_)) => {
                    stream.pause()?;
                }
                Some(message) => return Ok(message),
                None => return Err(SqlError::broken("pq: a message is cut off")),
            }
        }
    }
}

/// What says good-bye.
pub fn farewell() -> Vec<u8> {
    let mut out = BytesMut::new();
    frontend::terminate(&mut out);
    out.to_vec()
}

fn columns(body: &RowDescriptionBody, types: &mut Vec<u32>) -> Result<Vec<String>, SqlError> {
    let (mut names, mut fields) = (Vec::new(), body.fields());
    types.clear();
    while let Some(field) = fields.next().map_err(malformed)? {
        names.push(field.name().to_owned());
        types.push(field.type_oid());
        if types.len() > COLUMNS_MAX {
            return Err(SqlError::broken("pq: a result has too many columns"));
        }
    }
    Ok(names)
}

/// The server's error, as `lib/pq` words it.
fn complaint(body: &ErrorResponseBody) -> Result<String, SqlError> {
    let mut fields = body.fields();
    let mut message = String::new();
    while let Some(field) = fields.next().map_err(malformed)? {
        if field.type_() == b'M' {
            message = String::from_utf8_lossy(field.value_bytes()).into_owned();
        }
    }
    Ok(format!("pq: {message}"))
}

/// An argument as text, whatever type the server finds it is; `None` is NULL.
fn text_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Boolean(is_true) => is_true.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.is_infinite() => if *number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) => decode::hex(bytes),
        Value::Time(ms) => text_of_ms(*ms, 'T') + "Z",
    })
}

fn malformed(error: std::io::Error) -> SqlError {
    SqlError::Broken(format!("pq: malformed message: {error}"))
}

/// What the protocol has no way to send, such as NUL in a text.
fn unsendable(error: std::io::Error) -> SqlError {
    SqlError::Refused(format!("pq: {error}"))
}

const HEADER_BYTES: usize = 5;
