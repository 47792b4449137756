//! Where a server is and who logs in, from a data source name as Go's driver reads it.

use crate::source::{decoded, host_and_port, query_pairs};

/// A server, a database and a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name or address of the server.
    pub host: String,
    /// Its port.
    pub port: u16,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: String,
    /// TLS is spoken, or nothing.
    pub wants_tls: bool,
    /// Its certificate is checked.
    pub checks_certificate: bool,
    /// How long a connection may take to come about; 0 is as long as it takes.
    pub connect_timeout_ms: u64,
    pub(crate) parses_time: bool,
    pub(crate) has_multi_statements: bool,
    pub(crate) counts_found_rows: bool,
    /// What is set in the session.
    pub(crate) variables: Vec<(String, String)>,
}

impl Target {
    /// From `user:password@tcp(host:port)/database?parseTime=true`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        // The last slash before the parameters, as a password may have one.
        let (text, query) =
            match text.rsplit_once('/').and_then(|(before, after)| Some((before, after.split_once('?')?))) {
                Some((before, (database, query))) => (format!("{before}/{database}"), query),
                None => (text.to_owned(), ""),
            };
        let split = text.rsplit_once('/');
        let (place, database) = split.ok_or("invalid DSN: missing the slash separating the database name")?;
        let (user, place) = place.rsplit_once('@').unwrap_or(("", place));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let (network, address) = match place.split_once('(') {
            Some((network, address)) => {
                let address = address.strip_suffix(')');
                (network, address.ok_or("invalid DSN: network address not terminated (missing closing brace)")?)
            }
            None => (place, ""),
        };
        if !matches!(network, "" | "tcp") {
            return Err(format!("invalid DSN: the network {network:?} is not supported: use tcp(host:port)"));
        }
        let (host, port) = host_and_port(if address.is_empty() { "127.0.0.1" } else { address }, PORT)
            .ok_or_else(|| format!("invalid DSN: invalid host and port {address:?}"))?;
        let mut target = Self {
            host,
            port,
            user: user.to_owned(),
            password: password.to_owned(),
            database: decoded(database, false),
            wants_tls: false,
            checks_certificate: true,
            connect_timeout_ms: 0,
            parses_time: false,
            has_multi_statements: false,
            counts_found_rows: false,
            variables: Vec::new(),
        };
        for (name, value) in query_pairs(query) {
            target.set(&name, &value)?;
        }
        Ok(target)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let boolean = || match value {
            "1" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "false" | "FALSE" | "False" => Ok(false),
            _ => Err(format!("invalid bool value: {value}")),
        };
        match name {
            "parseTime" => self.parses_time = boolean()?,
            "multiStatements" => self.has_multi_statements = boolean()?,
            "clientFoundRows" => self.counts_found_rows = boolean()?,
            "tls" => {
                (self.wants_tls, self.checks_certificate) = match value {
                    "skip-verify" => (true, false),
                    "preferred" => {
                        return Err("tls=preferred is not supported: use true, skip-verify or false".to_owned());
                    }
                    _ => (boolean().map_err(|_| format!("invalid value / unknown config name: {value}"))?, true),
                };
            }
            "timeout" => {
                let ms = duration_ms(value).ok_or_else(|| format!("time: invalid duration {value:?}"))?;
                self.connect_timeout_ms = ms;
            }
            // A script sees nothing of these.
            "allowAllFiles"
            | "allowCleartextPasswords"
            | "allowFallbackToPlaintext"
            | "allowNativePasswords"
            | "allowOldPasswords"
            | "checkConnLiveness"
            | "charset"
            | "collation"
            | "columnsWithAlias"
            | "connectionAttributes"
            | "compress"
            | "interpolateParams"
            | "loc"
            | "maxAllowedPacket"
            | "readTimeout"
            | "rejectReadOnly"
            | "serverPubKey"
            | "timeTruncate"
            | "writeTimeout" => {}
            _ if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'@')) => {
                self.variables.push((name.to_owned(), value.to_owned()));
            }
            _ => return Err(format!("invalid DSN: {name:?} is not the name of a variable")),
        }
        Ok(())
    }
}

/// A number and a unit of Go's, `5s` or `100ms`.
fn duration_ms(text: &str) -> Option<u64> {
    let at = text.find(|each: char| each.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let factor = match unit {
        "ms" => 1.0,
        "s" => 1e3,
        "m" => 6e4,
        "h" => 3.6e6,
        _ => return None,
    };
    number.parse::<f64>().ok().filter(|number| (0.0..1e12).contains(number)).map(|number| (number * factor) as u64)
}

const PORT: u16 = 3306;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_source_names_are_read() {
        let check = |text: &str| {
            let target = Target::parse(text)?;
            let Target { host, port, user, password, database, wants_tls, checks_certificate, .. } = &target;
            Ok::<_, String>(format!("{user}:{password}@{host}:{port}/{database} {wants_tls} {checks_certificate}"))
        };
        let good = |text: &str, expect: &str| assert_eq!(check(text).as_deref(), Ok(expect), "{text}");
        good("u:p@tcp(h:1)/d", "u:p@h:1/d false true");
        good("u:p@ss/w@tcp([::1])/d?tls=skip-verify", "u:p@ss/w@::1:3306/d true false");
        good("/", ":@127.0.0.1:3306/ false true");
        good("u@/d?tls=true&parseTime=true&timeout=5s", "u:@127.0.0.1:3306/d true true");
        let bad = |text: &str, expect: &str| assert_eq!(check(text), Err(expect.to_owned()), "{text}");
        bad("nonsense", "invalid DSN: missing the slash separating the database name");
        bad("u@tcp(h/d", "invalid DSN: network address not terminated (missing closing brace)");
        bad("u@unix(h)/d", "invalid DSN: the network \"unix\" is not supported: use tcp(host:port)");
        bad("u@tcp(h:x)/d", "invalid DSN: invalid host and port \"h:x\"");
        bad("u@/d?tls=custom", "invalid value / unknown config name: custom");
        bad("u@/d?parseTime=5", "invalid bool value: 5");
        bad("u@/d?a%20b=5", "invalid DSN: \"a b\" is not the name of a variable");
        let target = Target::parse("u@/d?timeout=1.5s&time_zone=%27UTC%27").expect("valid");
        assert_eq!((target.connect_timeout_ms, target.variables.len()), (1_500, 1));
    }
}
