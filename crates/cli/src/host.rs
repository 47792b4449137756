//! What this machine is called, and addresses with their ports.

/// The host's name.
pub(crate) fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// `HOST`, `HOST:PORT`, `[::1]` and `::1`, with a port where there is none.
pub(crate) fn with_port(host: &str, port: u16) -> String {
    let after_bracket = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    match after_bracket.matches(':').count() {
        1 => host.to_owned(),
        0 => format!("{host}:{port}"),
        _ => format!("[{host}]:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinators_have_a_port() {
        let check = |host: &str, expect: &str| assert_eq!(with_port(host, 6567), expect);
        check("host", "host:6567");
        check("host:1", "host:1");
        check("10.0.0.1", "10.0.0.1:6567");
        check("::1", "[::1]:6567");
        check("[::1]", "[::1]:6567");
        check("[::1]:9", "[::1]:9");
    }
}
