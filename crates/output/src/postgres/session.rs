//! The connection to the server: made when it is needed, and again after a failure.

use std::time::Duration;

use onrush_fiber::{Clock, Nanos};
use onrush_net::{Connections, NetError, Url, Wire};
use onrush_sql::{
    SqlError, Stream, Value, Wanted,
    postgres::{Connection, Target, farewell},
};

/// One that is kept between statements.
pub(super) struct Session<'a> {
    target: &'a Target,
    open: Option<(Wire, Connection)>,
    /// The table has been made, or is somebody else's business.
    has_table: bool,
}

/// How long a statement may take, its connection included.
const DEADLINE: Duration = Duration::from_secs(5);

const CREATE: &str = "CREATE TABLE IF NOT EXISTS onrush_samples (\
    ts timestamptz NOT NULL, run text NOT NULL, row_number integer NOT NULL, seconds double precision, \
    metric text NOT NULL, kind text NOT NULL, tags jsonb NOT NULL, \
    value double precision, count bigint, sum double precision, min double precision, max double precision, \
    avg double precision, med double precision, p90 double precision, p95 double precision, p99 double precision, \
    PRIMARY KEY (ts, run, row_number))";

const INSERT: &str = "INSERT INTO onrush_samples \
    (ts, run, row_number, seconds, metric, kind, tags, value, count, sum, min, max, avg, med, p90, p95, p99) \
    SELECT ts, run, row_number, seconds, metric, kind, tags, value, count, sum, min, max, avg, med, p90, p95, p99 \
    FROM jsonb_to_recordset($1::jsonb) AS sent (\
    ts timestamptz, run text, row_number integer, seconds double precision, metric text, kind text, tags jsonb, \
    value double precision, count bigint, sum double precision, min double precision, max double precision, \
    avg double precision, med double precision, p90 double precision, p95 double precision, p99 double precision) \
    ON CONFLICT DO NOTHING";

impl<'a> Session<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self { target, open: None, has_table: false }
    }

    /// Inserts rows after a while.
    pub(super) fn insert(
        &mut self,
        connections: &mut Connections,
        rows: String,
        after: Duration,
    ) -> Result<(), String> {
        if !after.is_zero() {
            // Nobody cancels this fiber.
            let _ = onrush_fiber::sleep_until(Clock::now() + after);
        }
        let deadline = Some(Clock::now() + DEADLINE);
        let mut way = Way { connections, target: self.target, deadline };
        let (mut stream, mut own) = match self.open.take() {
            Some((wire, own)) => (Open { way, wire: Some(wire) }, own),
            None => {
                let wire = way.connect().map_err(|error| error.to_string())?;
                let mut stream = Open { way, wire: Some(wire) };
                let own = Connection::open(&mut stream, self.target).map_err(|error| error.to_string())?;
                (stream, own)
            }
        };
        if !self.has_table {
            match own.run(&mut stream, CREATE, &[], Wanted::Done) {
                // Without the right to make one there may be one.
                Ok(_) | Err(SqlError::Refused(_)) => self.has_table = true,
                Err(error) => return Err(error.to_string()),
            }
        }
        let result = own.run(&mut stream, INSERT, &[Value::Text(rows)], Wanted::Done);
        if result.as_ref().map_or_else(SqlError::keeps_connection, |_| true) {
            self.open = stream.wire.map(|wire| (wire, own));
        }
        result.map(drop).map_err(|error| error.to_string())
    }

    /// Says good-bye.
    pub(super) fn end(self) {
        if let Some((wire, _)) = self.open {
            // The server will see that nobody is there.
            let _ = wire.write_all(&farewell(), Some(Clock::now() + Duration::from_secs(1)));
        }
    }
}

/// How a server is reached.
struct Way<'a> {
    connections: &'a mut Connections,
    target: &'a Target,
    deadline: Option<Nanos>,
}

impl Way<'_> {
    fn connect(&mut self) -> Result<Wire, SqlError> {
        let host = &self.target.host;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let url = Url::parse(&format!("http://{host}:{}/", self.target.port)).map_err(|error| failed(&error))?;
        self.connections.connect_wire(&url, self.deadline).map_err(|error| failed(&error))
    }
}

/// A connection in use.
struct Open<'a> {
    way: Way<'a>,
    /// None after TLS has failed.
    wire: Option<Wire>,
}

impl Open<'_> {
    fn wire(&self) -> Result<&Wire, SqlError> {
        self.wire.as_ref().ok_or_else(|| SqlError::Broken("the connection is closed".to_owned()))
    }
}

impl Stream for Open<'_> {
    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool, SqlError> {
        self.wire()?.read(out, self.way.deadline).map_err(|error| failed(&error))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), SqlError> {
        self.wire()?.write_all(bytes, self.way.deadline).map_err(|error| failed(&error))
    }

    fn secure(&mut self) -> Result<(), SqlError> {
        let Some(wire) = self.wire.take() else { return self.wire().map(drop) };
        // Whether its certificate is checked is the same for all connections of this thread.
        let secured = self.way.connections.secure_wire(wire, None, self.way.deadline);
        self.wire = Some(secured.map_err(|error| failed(&error))?);
        Ok(())
    }

    fn is_secure(&self) -> bool {
        self.wire().is_ok_and(|wire| wire.tls_info().is_some())
    }

    fn pause(&mut self) -> Result<(), SqlError> {
        if self.way.deadline.is_some_and(|deadline| deadline <= Clock::now()) { Err(SqlError::Timeout) } else { Ok(()) }
    }

    fn aside<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, SqlError> {
        // Nothing else runs on this thread.
        Ok(work())
    }

    fn encrypt(&mut self, _: &str, _: &[u8]) -> Result<Vec<u8>, SqlError> {
        // MySQL's only.
        Err(SqlError::Broken("PostgreSQL has no such key".to_owned()))
    }
}

fn failed(error: &NetError) -> SqlError {
    if *error == NetError::timeout() { SqlError::Timeout } else { SqlError::Broken(error.detail.clone()) }
}
