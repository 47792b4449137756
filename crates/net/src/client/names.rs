//! Names looked up for their own sake, under the rules of the run.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use onrush_fiber::Nanos;

use super::Connections;
use crate::{
    dns::{QueryFailure, RecordKind, query},
    error::NetError,
    url::literal::address_and_zone,
};

impl Connections {
    /// All addresses of a name, from the system's resolver. Nothing is cached. Suspends the fiber.
    ///
    /// # Errors
    /// 1111 for a blocked name, 1101 and 1100 from the resolver, 1050 when the deadline passes.
    pub fn look_up(&self, host: &str, deadline: Option<Nanos>) -> Result<Vec<IpAddr>, NetError> {
        self.shared.rules().check_name(host)?;
        if let Some((ip, _)) = address_and_zone(host) {
            return Ok(vec![ip]);
        }
        if host.strip_suffix('.').unwrap_or(host).eq_ignore_ascii_case("localhost") {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        self.shared.resolver().look_up(host, deadline)
    }

    /// Asks one DNS server about a name; see [`query`]. Suspends the fiber.
    ///
    /// # Errors
    /// As there; [`QueryFailure::Net`] also for what the run blocks.
    pub fn query(
        &self,
        server: SocketAddr,
        name: &str,
        kind: RecordKind,
        deadline: Option<Nanos>,
    ) -> Result<Vec<String>, QueryFailure> {
        let rules = self.shared.rules();
        rules.check_name(name.strip_suffix('.').unwrap_or(name)).map_err(QueryFailure::Net)?;
        rules.check_address(server.ip()).map_err(QueryFailure::Net)?;
        query(server, name, kind, deadline)
    }
}
