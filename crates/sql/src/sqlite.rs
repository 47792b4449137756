//! SQLite, compiled in. Every call may block: whoever calls does so on a thread of its own.
//!
//! Nothing waits for locks here: a file that is in use is [`SqlError::Locked`], and whoever calls tries again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rusqlite::{
    Batch, Error, ErrorCode, OpenFlags, Statement, fallible_iterator::FallibleIterator, limits::Limit, types::ValueRef,
};

use crate::{
    SqlError,
    source::query_pairs,
    time::text_of_ms,
    value::{Done, Outcome, RESULT_BYTES_MAX, Rows, Value, Wanted},
};

/// An open database.
#[derive(Debug)]
pub struct Connection {
    sqlite: rusqlite::Connection,
    is_unwanted: Arc<AtomicBool>,
}

/// Ends what a connection runs, from any thread.
#[derive(Debug, Clone)]
pub struct Interrupter(Arc<AtomicBool>);

impl Interrupter {
    /// The statement that runs fails, and so does the next one if none runs, until [`Connection::resume`].
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a data source name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    path: String,
    pragmas: Vec<String>,
    /// How long to try where the file is in use.
    pub busy_ms: u64,
}

impl Target {
    /// A path, `:memory:` or `file:…`, with parameters such as `?_journal_mode=WAL` behind it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        // SQLite reads the parameters of a `file:` name itself.
        let name = if path.starts_with("file:") { text } else { path };
        let mut target = Self { path: name.to_owned(), pragmas: Vec::new(), busy_ms: BUSY_MS };
        for (name, value) in query_pairs(query) {
            let pragma = match name.as_str() {
                "_busy_timeout" | "_timeout" => {
                    target.busy_ms = value.parse().map_err(|_| format!("invalid {name}: {value:?}"))?;
                    continue;
                }
                "_foreign_keys" | "_fk" => "foreign_keys",
                "_journal_mode" | "_journal" => "journal_mode",
                "_synchronous" | "_sync" => "synchronous",
                "_cache_size" => "cache_size",
                "_auto_vacuum" | "_vacuum" => "auto_vacuum",
                "_case_sensitive_like" | "_cslike" => "case_sensitive_like",
                "_query_only" => "query_only",
                "_recursive_triggers" | "_rt" => "recursive_triggers",
                "_secure_delete" => "secure_delete",
                _ => continue,
            };
            if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
                return Err(format!("invalid {name}: {value:?}"));
            }
            target.pragmas.push(format!("PRAGMA {pragma} = {value};"));
        }
        Ok(target)
    }
}

impl Connection {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(target: &Target) -> Result<Self, SqlError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let is_unwanted = Arc::new(AtomicBool::new(false));
        let open = || {
            let mut connection = rusqlite::Connection::open_with_flags(&target.path, flags)?;
            connection.busy_timeout(Duration::ZERO)?;
            // A text or blob is made whole in memory before anybody could count it.
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, RESULT_BYTES_MAX as i32)?;
            let asked = Arc::clone(&is_unwanted);
            connection.progress_handler(STEPS, Some(move || asked.load(Ordering::Relaxed)))?;
            connection.execute_batch(&target.pragmas.concat())?;
            Ok(connection)
        };
        let opened = open();
        opened.map(|sqlite| Self { sqlite, is_unwanted }).map_err(|error| described(error).without_connection())
    }

    /// What ends its statements.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::clone(&self.is_unwanted))
    }

    /// Forgets that a statement was to end.
    pub fn resume(&self) {
        self.is_unwanted.store(false, Ordering::Relaxed);
    }

    /// Runs one statement or several. Arguments go to their placeholders in turn.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn run(&mut self, query: &str, arguments: &[Value], wanted: Wanted) -> Result<Outcome, SqlError> {
        let mut outcome = Outcome::default();
        let mut left = arguments;
        let mut batch = Batch::new(&self.sqlite, query);
        while let Some(mut statement) = batch.next().map_err(described)? {
            let count = statement.parameter_count();
            let Some((these, rest)) = left.split_at_checked(count) else {
                let text = format!("not enough args to execute query: want {count} got {}", left.len());
                return Err(SqlError::Refused(text));
            };
            left = rest;
            for (index, value) in these.iter().enumerate() {
                bind(&mut statement, index + 1, value).map_err(described)?;
            }
            run_one(&mut statement, wanted, &mut outcome.rows)?;
        }
        let affected = i64::try_from(self.sqlite.changes()).unwrap_or(i64::MAX);
        outcome.done = Done { last_insert_id: Some(self.sqlite.last_insert_rowid()), rows_affected: affected };
        Ok(outcome)
    }
}

fn bind(statement: &mut Statement<'_>, index: usize, value: &Value) -> Result<(), Error> {
    match value {
        Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null),
        Value::Boolean(is_true) => statement.raw_bind_parameter(index, is_true),
        Value::Integer(number) => statement.raw_bind_parameter(index, number),
        Value::Float(number) => statement.raw_bind_parameter(index, number),
        Value::Text(text) => statement.raw_bind_parameter(index, text),
        Value::Bytes(bytes) => statement.raw_bind_parameter(index, bytes),
        Value::Time(ms) => statement.raw_bind_parameter(index, text_of_ms(*ms, ' ') + "+00:00"),
    }
}

/// Runs a statement to its end. The rows of the last that has columns are kept.
fn run_one(statement: &mut Statement<'_>, wanted: Wanted, rows: &mut Rows) -> Result<(), SqlError> {
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let are_booleans: Vec<bool> = statement.columns().map(|column| is_boolean(column.decl_type())).collect();
    let keeps = wanted == Wanted::Rows && !names.is_empty();
    if keeps {
        *rows = Rows::new(names);
    }
    let mut stepping = statement.raw_query();
    while let Some(row) = stepping.next().map_err(described)? {
        for (index, is_boolean) in are_booleans.iter().enumerate().filter(|_| keeps) {
            let value = match row.get_ref(index).map_err(described)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) if *is_boolean => Value::Boolean(number != 0),
                ValueRef::Integer(number) => Value::Integer(number),
                ValueRef::Real(number) => Value::Float(number),
                ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
                ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
            };
            // The connection is as good as before; only this result is dropped.
            rows.push(value).map_err(|error| SqlError::Refused(error.to_string()))?;
        }
    }
    Ok(())
}

fn is_boolean(declared: Option<&str>) -> bool {
    declared.is_some_and(|kind| kind.eq_ignore_ascii_case("boolean"))
}

/// SQLite's own words.
fn described(error: Error) -> SqlError {
    match error {
        Error::SqliteFailure(cause, text) => match cause.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => SqlError::Locked,
            ErrorCode::OperationInterrupted => SqlError::Timeout,
            _ => SqlError::Refused(text.unwrap_or_else(|| cause.to_string())),
        },
        Error::SqlInputError { msg, .. } => SqlError::Refused(msg),
        other => SqlError::Refused(other.to_string()),
    }
}

/// So many of SQLite's steps, some ten microseconds, are between two looks at whether a statement is to end.
const STEPS: i32 = 2_000;

/// How long Go's driver tries by default where a file is in use.
const BUSY_MS: u64 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Connection {
        Connection::open(&Target::parse(":memory:").expect("a name")).expect("memory is there")
    }

    const ENDLESS: &str = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";

    #[test]
    fn values_come_back_as_they_went_in() {
        let mut connection = open();
        let mut run = |query: &str, arguments: &[Value]| connection.run(query, arguments, Wanted::Rows);
        run("CREATE TABLE t (i INTEGER, f REAL, s TEXT, b BLOB, n, yes BOOLEAN, at)", &[]).expect("made");
        let row = [
            Value::Integer(i64::MAX),
            Value::Float(1.5),
            Value::Text("ü\0x".to_owned()),
            Value::Bytes(vec![0, 255]),
            Value::Null,
            Value::Boolean(true),
            Value::Time(1_700_000_000_123.0),
        ];
        let done = run("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", &row).expect("inserted").done;
        assert_eq!(done, Done { last_insert_id: Some(1), rows_affected: 1 });
        let rows = run("SELECT * FROM t", &[]).expect("selected").rows;
        assert_eq!(rows.columns(), ["i", "f", "s", "b", "n", "yes", "at"]);
        let mut expect = row.to_vec();
        expect[6] = Value::Text("2023-11-14 22:13:20.123+00:00".to_owned());
        assert_eq!(rows.iter().collect::<Vec<_>>(), [&expect[..]]);
    }

    #[test]
    fn several_statements_take_their_arguments_in_turn() {
        let mut connection = open();
        let numbers: Vec<Value> = (1..=3).map(Value::Integer).collect();
        let query = "CREATE TABLE t (a); INSERT INTO t VALUES (?); INSERT INTO t VALUES (?), (?); SELECT count(*) AS c FROM t; -- end";
        let outcome = connection.run(query, &numbers, Wanted::Rows).expect("all run");
        assert_eq!(outcome.rows.iter().collect::<Vec<_>>(), [[Value::Integer(3)]]);
        assert_eq!(outcome.done.rows_affected, 2);
    }

    #[test]
    fn errors_are_sqlites_and_leave_the_connection_as_it_was() {
        let mut connection = open();
        let mut check = |query: &str, expect: &str| {
            let error = connection.run(query, &[], Wanted::Rows).expect_err(query);
            assert_eq!((error.to_string().as_str(), error.keeps_connection()), (expect, true), "{query}");
        };
        check("SELECT * FROM nope", "no such table: nope");
        check("SELEC", "near \"SELEC\": syntax error");
        check("SELECT ?", "not enough args to execute query: want 1 got 0");
        check("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), (1)", "UNIQUE constraint failed: t.a");
        check("SELECT zeroblob(70000000)", "string or blob too big");
        let flood = ENDLESS.replace("max(x)", "zeroblob(1000000)");
        check(&flood, "a result is larger than 64 MiB: select fewer rows or columns");
        check("SELECT load_extension('x')", "not authorized");
        assert!(connection.run("SELECT 1", &[], Wanted::Rows).is_ok());
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("no/such/folder.db").display().to_string();
        let error = Connection::open(&Target::parse(&path).expect("a name")).expect_err("it cannot be opened");
        assert!(error.to_string().starts_with("unable to open database file"), "{error}");
    }

    #[test]
    fn a_file_in_use_is_told_at_once_and_a_long_statement_can_be_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db").display().to_string();
        let target = Target::parse(&format!("{path}?_journal_mode=WAL&_busy_timeout=7")).expect("a name");
        assert_eq!(target.busy_ms, 7);
        let mut first = Connection::open(&target).expect("opened");
        let mut second = Connection::open(&target).expect("opened");
        first.run("CREATE TABLE t (a); BEGIN IMMEDIATE", &[], Wanted::Done).expect("begun");
        assert_eq!(second.run("INSERT INTO t VALUES (1)", &[], Wanted::Done), Err(SqlError::Locked));
        let interrupter = second.interrupter();
        let ended = std::thread::scope(|scope| {
            let running = scope.spawn(|| second.run(ENDLESS, &[], Wanted::Rows));
            interrupter.interrupt();
            running.join().expect("no panic")
        });
        assert_eq!(ended, Err(SqlError::Timeout));
        second.resume();
        assert!(second.run("SELECT 1", &[], Wanted::Rows).is_ok());
    }

    #[test]
    fn parameters_of_names_are_checked() {
        for text in ["a.db?_journal_mode=WAL;DROP", "a.db?_fk=", "a.db?_busy_timeout=x"] {
            assert!(Target::parse(text).is_err(), "{text}");
        }
        let target = Target::parse("file:a.db?mode=ro&_fk=1").expect("a name");
        assert_eq!(target.path, "file:a.db?mode=ro&_fk=1");
    }
}
