//! `--out postgres` and `--out timescaledb`: what all agents measured together, a row for each series and second.

use onrush_fiber::Clock;
use onrush_net::{ClientOptions, TlsOptions};
use onrush_output::postgres::{Config, Postgres, Target};

use super::{
    super::prepare::Readers,
    Output, Started, Starting, Wish,
    asked::Asked,
    delivered::{self, Arrived},
};
use crate::failure::Failure;

/// An output that is wanted.
struct Wanted {
    config: Config,
    /// Where, without secrets.
    described: String,
}

/// `postgres=postgres://user:password@host:port/database`, and variables.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    asked.naming(wanted(asked).map(|wanted| Wish::Folded(Box::new(wanted))))
}

fn wanted(asked: &Asked<'_>) -> Result<Wanted, Failure> {
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
    Ok(Wanted {
        described: format!("PostgreSQL ({}:{})", target.host, target.port),
        config: Config {
            target,
            network: ClientOptions { tls: TlsOptions::default(), ..ClientOptions::default() },
            push_interval: interval.unwrap_or(Config::PUSH_INTERVAL),
        },
    })
}

impl Output for Wanted {
    fn described(&self) -> String {
        self.described.clone()
    }

    fn readers(&self) -> Readers {
        Readers { series: true, ..Readers::default() }
    }

    fn start(&self, starting: &Starting<'_>) -> Result<Box<dyn Started>, Failure> {
        let (config, registry) = (self.config.clone(), starting.prepared.run.registry.clone());
        let make = move |began, tell| {
            let output = Postgres::new(config, registry, began, Clock::unix_nanos(Clock::now()), tell)?;
            let arrived = Arrived::Steps(output.delivered());
            Ok((output, arrived))
        };
        delivered::start(starting, self.described.clone(), Box::new(make))
    }
}
