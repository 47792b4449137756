//! `--out postgres` and `--out timescaledb`: what all agents measured together, a row for each series and second.

use onrush_fiber::Clock;
use onrush_net::ClientOptions;
use onrush_output::{
    Told,
    postgres::{Config, Postgres, Target},
};

use super::{
    asked::Asked,
    delivered::{self, Arrived},
    output::Wish,
};
use crate::failure::Failure;

/// `postgres=postgres://user:password@host:port/database`, and variables.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    asked.naming(wish(asked))
}

fn wish(asked: &Asked<'_>) -> Result<Wish, Failure> {
    let text = asked.argument().or_else(|| asked.text("ONRUSH_POSTGRES_URL", "url")).ok_or_else(|| {
        Failure::other("it needs a database")
            .hint("write --out postgres=postgres://user@host/database, or set ONRUSH_POSTGRES_URL")
    })?;
    // A password may be in it.
    let target = Target::parse(&text).map_err(|_| {
        Failure::other("the database is not named in a way that is understood")
            .hint("write postgres://user:password@host:port/database?sslmode=require, with % for signs that mean something there")
    })?;
    let interval = asked.duration("K6_TIMESCALEDB_PUSH_INTERVAL", "pushInterval")?;
    let receiver = format!("PostgreSQL ({}:{})", target.host, target.port);
    let config =
        Config { target, network: ClientOptions::default(), push_interval: interval.unwrap_or(Config::PUSH_INTERVAL) };
    Ok(delivered::wish(config, receiver, |config, registry, began, tell| {
        let tell = move |told| tell(hinted(told));
        let output = Postgres::new(config, registry, began, Clock::unix_nanos(Clock::now()), tell)?;
        let arrived = Arrived::Steps(output.delivered());
        Ok((output, arrived))
    }))
}

/// What helps where a server speaks no TLS.
fn hinted(told: Told) -> Told {
    match told {
        Told::Failed(why) if why.contains("SSL is not enabled on the server") => {
            Told::Failed(format!("{why} (if it is to be used without TLS, end its URL with ?sslmode=disable)"))
        }
        told => told,
    }
}
