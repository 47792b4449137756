//! MySQL and MariaDB, protocol 4.1. Behaviour and texts are those of Go's `go-sql-driver/mysql`.

mod binary;
mod login;
mod packet;
mod target;

use self::packet::{Packets, Reader, malformed};
pub use self::target::Target;
use crate::{
    SqlError, Stream,
    time::ms_of_text,
    value::{COLUMNS_MAX, Done, Outcome, Rows, Value, Wanted},
};

/// A connection that is logged in.
#[derive(Debug, Default)]
pub struct Connection {
    packets: Packets,
    parses_time: bool,
}

/// A column of a result.
struct Column {
    name: String,
    kind: u8,
    is_unsigned: bool,
}

impl Connection {
    /// Logs in.
    ///
    /// # Errors
    /// What the server says, or why it says nothing.
    pub fn open(stream: &mut impl Stream, target: &Target) -> Result<Self, SqlError> {
        let mut connection = Self { packets: Packets::default(), parses_time: target.parses_time };
        login::log_in(&mut connection.packets, stream, target).map_err(SqlError::without_connection)?;
        for (name, value) in &target.variables {
            let set = connection.run(stream, &format!("SET {name}={value}"), &[], Wanted::Done);
            set.map_err(SqlError::without_connection)?;
        }
        Ok(connection)
    }

    /// Runs a statement.
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
        let outcome = if arguments.is_empty() {
            self.packets.command(stream, COM_QUERY, query.as_bytes())?;
            self.results(stream, wanted, false)
        } else {
            self.run_prepared(stream, query, arguments, wanted)
        };
        self.packets.shrink();
        outcome
    }

    fn run_prepared(
        &mut self,
        stream: &mut impl Stream,
        query: &str,
        arguments: &[Value],
        wanted: Wanted,
    ) -> Result<Outcome, SqlError> {
        self.packets.command(stream, COM_STMT_PREPARE, query.as_bytes())?;
        let packet = self.answer(stream)?;
        let mut reader = Reader::new(&packet);
        let (ok, id) = (reader.byte()?, reader.number(4)? as u32);
        let (columns, parameters) = (reader.number(2)?, reader.number(2)?);
        if ok != OK {
            return Err(malformed());
        }
        // What the parameters and columns are called, with an end behind each list; nobody asks.
        for count in [parameters, columns].into_iter().filter(|count| *count > 0) {
            for _ in 0..=count {
                self.packets.next(stream)?;
            }
        }
        let result = if parameters == arguments.len() as u64 {
            self.packets.command(stream, COM_STMT_EXECUTE, &binary::execution(id, arguments))?;
            self.results(stream, wanted, true)
        } else {
            // Go's text, from package database/sql.
            Err(SqlError::Refused(format!("sql: expected {parameters} arguments, got {}", arguments.len())))
        };
        if result.as_ref().err().is_none_or(SqlError::keeps_connection) {
            // The server does not answer this.
            self.packets.command(stream, COM_STMT_CLOSE, &id.to_le_bytes())?;
        }
        result
    }

    /// The first packet of an answer, unless it is an error.
    fn answer(&mut self, stream: &mut impl Stream) -> Result<Vec<u8>, SqlError> {
        let packet = self.packets.next(stream)?;
        match packet.first() {
            Some(&ERROR) => Err(complaint(&packet)),
            Some(_) => Ok(packet),
            None => Err(malformed()),
        }
    }

    /// Reads all results of a statement; the rows of the first that has any are kept.
    fn results(&mut self, stream: &mut impl Stream, wanted: Wanted, is_binary: bool) -> Result<Outcome, SqlError> {
        let mut outcome = Outcome::default();
        let mut has_rows = false;
        loop {
            stream.pause()?;
            let packet = self.answer(stream)?;
            let mut reader = Reader::new(&packet);
            let status = match packet.first() {
                Some(&OK) => {
                    reader.byte()?;
                    let (affected, id) = (reader.length()?, reader.length()?);
                    let affected = i64::try_from(affected).unwrap_or(i64::MAX);
                    outcome.done = Done {
                        last_insert_id: Some(i64::try_from(id).unwrap_or(i64::MAX)),
                        rows_affected: outcome.done.rows_affected.saturating_add(affected),
                    };
                    reader.number(2)?
                }
                Some(&LOCAL_FILE) => {
                    // Files of this machine are nothing for a server to ask for.
                    self.packets.reply(stream, &[])?;
                    self.packets.next(stream)?;
                    return Err(SqlError::Refused("LOAD DATA LOCAL INFILE is not available to scripts".to_owned()));
                }
                _ => {
                    let count = usize::try_from(reader.length()?).unwrap_or(usize::MAX);
                    let columns = self.columns(stream, count)?;
                    let keeps = wanted == Wanted::Rows && !has_rows;
                    has_rows = true;
                    if keeps {
                        outcome.rows = Rows::new(columns.iter().map(|column| column.name.clone()).collect());
                    }
                    self.rows(stream, &columns, keeps.then_some(&mut outcome.rows), is_binary)?
                }
            };
            if status & MORE_RESULTS == 0 {
                // A statement that has only rows inserts nothing.
                outcome.done.last_insert_id.get_or_insert(0);
                return Ok(outcome);
            }
        }
    }

    fn columns(&mut self, stream: &mut impl Stream, count: usize) -> Result<Vec<Column>, SqlError> {
        if count == 0 || count > COLUMNS_MAX {
            return Err(malformed());
        }
        let mut columns = Vec::new();
        for _ in 0..count {
            let packet = self.packets.next(stream)?;
            let mut reader = Reader::new(&packet);
            // Catalog, schema, table, table as it was.
            for _ in 0..4 {
                reader.text()?;
            }
            let name = String::from_utf8_lossy(reader.text()?).into_owned();
            reader.text()?;
            // The length of what follows, the character set, the width.
            reader.bytes(1 + 2 + 4)?;
            let kind = reader.byte()?;
            let flags = reader.number(2)?;
            columns.push(Column { name, kind, is_unsigned: flags & UNSIGNED != 0 });
        }
        if is_end(&self.packets.next(stream)?) { Ok(columns) } else { Err(malformed()) }
    }

    /// Reads rows to their end; returns the status behind them.
    fn rows(
        &mut self,
        stream: &mut impl Stream,
        columns: &[Column],
        mut into: Option<&mut Rows>,
        is_binary: bool,
    ) -> Result<u64, SqlError> {
        loop {
            stream.pause()?;
            let packet = self.answer(stream)?;
            if is_end(&packet) {
                let mut reader = Reader::new(&packet);
                reader.bytes(3)?;
                return reader.number(2);
            }
            let Some(rows) = into.as_deref_mut() else { continue };
            if is_binary {
                binary::row(&packet, columns, self.parses_time, rows)?;
                continue;
            }
            let mut reader = Reader::new(&packet);
            for column in columns {
                let text = reader.optional_text()?;
                rows.push(text.map_or(Value::Null, |text| of_text(column, text, self.parses_time)))?;
            }
        }
    }
}

/// What says good-bye.
pub fn farewell() -> Vec<u8> {
    vec![1, 0, 0, 0, COM_QUIT]
}

/// A column that came as text.
fn of_text(column: &Column, bytes: &[u8], parses_time: bool) -> Value {
    let known = std::str::from_utf8(bytes).ok().and_then(|text| match column.kind {
        kind::TINY | kind::SHORT | kind::INT24 | kind::LONG | kind::LONGLONG | kind::YEAR => {
            text.parse().ok().map(Value::Integer).or_else(|| text.parse().ok().map(Value::Float))
        }
        kind::FLOAT | kind::DOUBLE => text.parse().ok().map(Value::Float),
        kind::DATE | kind::DATETIME | kind::TIMESTAMP if parses_time => ms_of_text(text).map(Value::Time),
        _ => None,
    });
    known.unwrap_or_else(|| Value::Bytes(bytes.to_vec()))
}

fn is_end(packet: &[u8]) -> bool {
    packet.first() == Some(&END) && packet.len() == END_BYTES
}

/// The server's error, as Go's driver words it.
fn complaint(packet: &[u8]) -> SqlError {
    let mut reader = Reader::new(packet);
    let (Ok(_), Ok(number)) = (reader.byte(), reader.number(2)) else { return malformed() };
    let rest = reader.rest();
    let (state, text) = match rest.strip_prefix(b"#").and_then(|rest| rest.split_at_checked(STATE_BYTES)) {
        Some((state, text)) => (format!(" ({})", String::from_utf8_lossy(state)), text),
        None => (String::new(), rest),
    };
    SqlError::Refused(format!("Error {number}{state}: {}", String::from_utf8_lossy(text)))
}

/// Numbers of column types.
mod kind {
    pub(super) const TINY: u8 = 1;
    pub(super) const SHORT: u8 = 2;
    pub(super) const LONG: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const NULL: u8 = 6;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const LONGLONG: u8 = 8;
    pub(super) const INT24: u8 = 9;
    pub(super) const DATE: u8 = 10;
    pub(super) const TIME: u8 = 11;
    pub(super) const DATETIME: u8 = 12;
    pub(super) const YEAR: u8 = 13;
    pub(super) const STRING: u8 = 254;
}

const COM_QUIT: u8 = 1;
const COM_QUERY: u8 = 3;
const COM_STMT_PREPARE: u8 = 22;
const COM_STMT_EXECUTE: u8 = 23;
const COM_STMT_CLOSE: u8 = 25;
const OK: u8 = 0;
const LOCAL_FILE: u8 = 0xFB;
const END: u8 = 0xFE;
const END_BYTES: usize = 5;
const ERROR: u8 = 0xFF;
const STATE_BYTES: usize = 5;
const MORE_RESULTS: u64 = 8;
const UNSIGNED: u64 = 32;
