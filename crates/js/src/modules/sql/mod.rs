//! `k6/x/sql` and its drivers: databases whose calls wait, as in k6.
//!
//! `onrush_sql` speaks the protocols; connections are [`onrush_net::Wire`]s (`session`), SQLite runs on threads of its own
//! (`file`). `database` has what a script holds and its one kept connection, `values` what goes in and out.

mod database;
#[cfg(feature = "sqlite")]
mod file;
mod session;
mod target;
mod values;

use std::ffi::CString;

use self::{database::Database, target::Target};
use super::export::export;
use crate::{
    embed::{Args, Ctx, Handle, HostClass, JsResult, Throw},
    offload::Pool,
};

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    database::install_class(ctx)
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "open", 3, open)?;
    Ok(exports)
}

pub(super) fn build_mysql(ctx: Ctx) -> JsResult {
    driver(ctx, target::MYSQL)
}

pub(super) fn build_postgres(ctx: Ctx) -> JsResult {
    driver(ctx, target::POSTGRES)
}

pub(super) fn build_sqlite(ctx: Ctx) -> JsResult {
    driver(ctx, target::SQLITE)
}

/// k6: a driver is a symbol that is described by its name.
fn driver(ctx: Ctx, name: &str) -> JsResult {
    let name = CString::new(name).map_err(|_| Throw::error("a driver's name holds a NUL character"))?;
    ctx.symbol(&name)
}

/// `open(driver, dataSourceName, options)`: nothing is connected before the first statement.
fn open(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    if !args.at(0).is_symbol() {
        return Err(Throw::error("unsupported database: invalid driver parameter type"));
    }
    let description = args.at(0).get(ctx, "description")?;
    let driver = if description.is_string() { description.to_text(ctx)? } else { String::new() };
    let source = if args.at(1).is_set() { args.at(1).to_text(ctx)? } else { String::new() };
    let target = Target::parse(&driver, &source).map_err(Throw::error)?;
    let options = target::Options::read(ctx, args.at(2))?;
    HostClass::create(ctx, Database::new(target, options))
}

/// What blocks: SQLite, and the many hashes of a login.
static POOL: Pool = Pool::new("sql", THREADS);

/// Statements of one file take turns anyway.
const THREADS: usize = 4;
