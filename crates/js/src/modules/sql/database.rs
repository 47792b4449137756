//! A database as a script holds it: its methods, and the connection it keeps between calls.

use std::cell::{Cell, RefCell};

use onrush_fiber::{Clock, Nanos};
use onrush_net::Wire;
use onrush_sql::{Outcome, SqlError, Value, Wanted, mysql, postgres};

#[cfg(feature = "sqlite")]
use super::file::File;
use super::{
    session::{Place, Session, closed},
    target::{Options, Target, duration},
    values,
};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::{Vu, context::vu},
};

/// What `open()` gives.
pub(super) struct Database {
    target: Target,
    options: Options,
    kept: RefCell<Option<Kept>>,
    is_closed: Cell<bool>,
}

impl HostObject for Database {
    const NAME: &'static str = "Database";
}

/// A connection between two calls.
struct Kept {
    link: Link,
    made: Nanos,
    used: Nanos,
}

/// A connection of any driver.
enum Link {
    Mysql(mysql::Connection, Wire),
    Postgres(postgres::Connection, Wire),
    #[cfg(feature = "sqlite")]
    Sqlite(File),
}

impl Drop for Link {
    fn drop(&mut self) {
        // A server that is told closes at once and logs nothing; one that cannot be told finds out.
        let _ = match self {
            Self::Mysql(_, wire) => wire.try_write(&mysql::farewell()).map(drop),
            Self::Postgres(_, wire) => wire.try_write(&postgres::farewell()).map(drop),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(_) => Ok(()),
        };
    }
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    values::install_class(ctx)?;
    let prototype = ctx.object()?;
    prototype.method(ctx, "exec", 1, |ctx, this, args| call(ctx, this, args, Wanted::Done, false))?;
    prototype.method(ctx, "execWithTimeout", 2, |ctx, this, args| call(ctx, this, args, Wanted::Done, true))?;
    prototype.method(ctx, "query", 1, |ctx, this, args| call(ctx, this, args, Wanted::Rows, false))?;
    prototype.method(ctx, "queryWithTimeout", 2, |ctx, this, args| call(ctx, this, args, Wanted::Rows, true))?;
    prototype.method(ctx, "close", 0, |_, this, _| {
        let database = HostClass::<Database>::expect(this)?;
        database.is_closed.set(true);
        database.kept.take();
        Ok(Val::undefined())
    })?;
    HostClass::<Database>::set_prototype(ctx, prototype);
    Ok(())
}

fn call(ctx: Ctx, this: &Handle, args: Args<'_>, wanted: Wanted, has_timeout: bool) -> JsResult {
    let database = HostClass::<Database>::expect(this)?;
    let first = usize::from(has_timeout);
    let deadline =
        if has_timeout { Some(Nanos(Clock::now().0.saturating_add(duration(ctx, args.at(0))?.0))) } else { None };
    let query = args.at(first);
    let query = if query.is_set() { query.to_text(ctx)? } else { String::new() };
    let arguments = values::arguments(ctx, args, first + 1)?;
    let outcome = database.run(vu(), &query, arguments, wanted, deadline).map_err(|error| match error {
        SqlError::Cancelled => Throw::Interrupted,
        error => Throw::error(error.to_string()),
    })?;
    match wanted {
        Wanted::Rows => values::rows(ctx, &outcome.rows),
        Wanted::Done => values::done(ctx, &outcome),
    }
}

impl Database {
    pub(super) fn new(target: Target, options: Options) -> Self {
        Self { target, options, kept: RefCell::new(None), is_closed: Cell::new(false) }
    }

    fn run(
        &self,
        vu: &Vu,
        query: &str,
        arguments: Vec<Value>,
        wanted: Wanted,
        deadline: Option<Nanos>,
    ) -> Result<Outcome, SqlError> {
        if self.is_closed.get() {
            return Err(SqlError::Refused("sql: database is closed".to_owned()));
        }
        let (mut link, made) = match self.take_kept() {
            Some(kept) => kept,
            None => (self.connect(vu, deadline)?, Clock::now()),
        };
        let result = link.run(&self.target, query, arguments, wanted, deadline);
        if link.is_usable(result.as_ref().err()) && !self.is_closed.get() && !self.options.keeps_none {
            self.kept.replace(Some(Kept { link, made, used: Clock::now() }));
        }
        result
    }

    /// The connection that was kept, unless its time is over or the server has closed it.
    fn take_kept(&self) -> Option<(Link, Nanos)> {
        let kept = self.kept.take()?;
        let now = Clock::now();
        let is_over =
            |since: Nanos, limit: Option<Nanos>| limit.is_some_and(|limit| now.0.saturating_sub(since.0) > limit.0);
        let is_old = is_over(kept.made, self.options.lifetime) || is_over(kept.used, self.options.idle_time);
        (!is_old && kept.link.is_quiet()).then_some((kept.link, kept.made))
    }

    fn connect(&self, vu: &Vu, deadline: Option<Nanos>) -> Result<Link, SqlError> {
        match &self.target {
            Target::Mysql(target) => {
                let place =
                    Place { host: &target.host, port: target.port, checks_certificate: target.checks_certificate };
                let mut session = Session::connect(vu, &place, within(deadline, target.connect_timeout_ms))?;
                let connection = mysql::Connection::open(&mut session, target)?;
                session.into_wire().map(|wire| Link::Mysql(connection, wire)).ok_or_else(closed)
            }
            Target::Postgres(target) => {
                let place =
                    Place { host: &target.host, port: target.port, checks_certificate: target.checks_certificate };
                let mut session = Session::connect(vu, &place, within(deadline, target.connect_timeout_ms))?;
                let connection = postgres::Connection::open(&mut session, target)?;
                session.into_wire().map(|wire| Link::Postgres(connection, wire)).ok_or_else(closed)
            }
            #[cfg(feature = "sqlite")]
            Target::Sqlite(target) => File::open(target, deadline).map(Link::Sqlite),
        }
    }
}

impl Link {
    /// Whether it can be used again after what became of a statement.
    fn is_usable(&self, error: Option<&SqlError>) -> bool {
        match self {
            Self::Mysql(..) | Self::Postgres(..) => error.is_none_or(SqlError::keeps_connection),
            // A statement that was ended leaves it as it was.
            #[cfg(feature = "sqlite")]
            Self::Sqlite(file) => file.is_open(),
        }
    }

    /// Whether a server has said nothing since: what comes unasked is the end.
    fn is_quiet(&self) -> bool {
        match self {
            Self::Mysql(_, wire) | Self::Postgres(_, wire) => !wire.is_readable(),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(_) => true,
        }
    }

    fn run(
        &mut self,
        target: &Target,
        query: &str,
        arguments: Vec<Value>,
        wanted: Wanted,
        deadline: Option<Nanos>,
    ) -> Result<Outcome, SqlError> {
        #[cfg(not(feature = "sqlite"))]
        let _ = target;
        match self {
            Self::Mysql(connection, wire) => {
                connection.run(&mut Session::over(wire, deadline), query, &arguments, wanted)
            }
            Self::Postgres(connection, wire) => {
                connection.run(&mut Session::over(wire, deadline), query, &arguments, wanted)
            }
            #[cfg(feature = "sqlite")]
            Self::Sqlite(file) => match target {
                Target::Sqlite(target) => file.run(target, query, arguments, wanted, deadline),
                _ => Err(closed()),
            },
        }
    }
}

fn within(deadline: Option<Nanos>, ms: u64) -> Option<Nanos> {
    let own = (ms > 0).then(|| Nanos(Clock::now().0.saturating_add(ms.saturating_mul(1_000_000))));
    match (deadline, own) {
        (Some(deadline), Some(own)) => Some(deadline.min(own)),
        (deadline, own) => deadline.or(own),
    }
}
