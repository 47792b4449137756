//! What a database is opened with: the driver, the data source name, the options.

use std::rc::Rc;

use onrush_fiber::Nanos;
use onrush_plan::parse_extended_duration;
use onrush_sql::{mysql, postgres};

use crate::{
    embed::{Ctx, Handle, JsResult, Throw},
    modules::go::go_type,
};

/// Where a database is.
#[derive(Clone)]
pub(super) enum Target {
    Mysql(Rc<mysql::Target>),
    Postgres(Rc<postgres::Target>),
    #[cfg(feature = "sqlite")]
    Sqlite(std::sync::Arc<onrush_sql::sqlite::Target>),
}

pub(super) const MYSQL: &str = "mysql";
pub(super) const POSTGRES: &str = "postgres";
pub(super) const SQLITE: &str = "sqlite3";

impl Target {
    pub(super) fn parse(driver: &str, source: &str) -> Result<Self, String> {
        match driver {
            MYSQL => mysql::Target::parse(source).map(Rc::new).map(Self::Mysql),
            POSTGRES => postgres::Target::parse(source).map(Rc::new).map(Self::Postgres),
            #[cfg(feature = "sqlite")]
            SQLITE => onrush_sql::sqlite::Target::parse(source).map(std::sync::Arc::new).map(Self::Sqlite),
            #[cfg(not(feature = "sqlite"))]
            SQLITE => Err("this build of Onrush has no SQLite: build it with the feature `sqlite`".to_owned()),
            other => Err(format!("unsupported database: {other}")),
        }
    }
}

/// How long a connection is kept, and whether at all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    /// `None` is for ever.
    pub(super) idle_time: Option<Nanos>,
    pub(super) lifetime: Option<Nanos>,
    pub(super) keeps_none: bool,
}

impl Options {
    pub(super) fn read(ctx: Ctx, value: &Handle) -> JsResult<Self> {
        let mut options = Self::default();
        if !value.is_set() {
            return Ok(options);
        }
        if !value.is_object() {
            let found = go_type(ctx, value);
            return Err(Throw::error(format!("invalid options type: {found}; expected object")));
        }
        options.idle_time = time(ctx, value, "conn_max_idle_time")?;
        options.lifetime = time(ctx, value, "conn_max_lifetime")?;
        // A VU asks one thing after another: it has one connection, however many it may have.
        for name in ["max_idle_conns", "max_open_conns"] {
            let count = value.get(ctx, name)?;
            if !count.is_set() {
                continue;
            }
            let Some(count) = count.as_number() else {
                let found = go_type(ctx, &count);
                return Err(Throw::error(format!("invalid option {name}: a number is expected, not {found}")));
            };
            options.keeps_none |= name == "max_idle_conns" && count < 0.0;
        }
        Ok(options)
    }
}

fn time(ctx: Ctx, options: &Handle, name: &str) -> JsResult<Option<Nanos>> {
    let value = options.get(ctx, name)?;
    if !value.is_set() {
        return Ok(None);
    }
    let time = duration(ctx, &value).map_err(|throw| match throw {
        Throw::Error(text) => Throw::error(format!("invalid option {name}: {text}")),
        throw => throw,
    })?;
    // Go: none and less is for ever.
    Ok(Some(time).filter(|time| time.0 > 0))
}

/// Milliseconds, or a text with a unit.
pub(super) fn duration(ctx: Ctx, value: &Handle) -> JsResult<Nanos> {
    if let Some(ms) = value.as_number() {
        return Ok(Nanos((ms.max(0.0) * 1e6) as u64));
    }
    if !value.is_string() {
        return Err(Throw::error(format!("unable to use type {} as a duration value", go_type(ctx, value))));
    }
    let text = value.to_text(ctx)?;
    let duration = parse_extended_duration(&text).map_err(|error| Throw::error(error.to_string()))?;
    Ok(Nanos(duration.as_ns()))
}
