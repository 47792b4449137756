//! Where a server is and who logs in, from a data source name as `lib/pq` reads it.

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
    /// What the server is told of the session.
    pub(crate) parameters: Vec<(String, String)>,
}

impl Target {
    /// From `postgres://user:password@host:port/database?sslmode=disable`, or `host=… port=… user=…`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let pairs = match text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://")) {
            Some(rest) => of_url(rest)?,
            None => of_words(text)?,
        };
        let mut target = Self {
            host: "localhost".to_owned(),
            port: PORT,
            user: String::new(),
            password: String::new(),
            database: String::new(),
            wants_tls: true,
            checks_certificate: false,
            connect_timeout_ms: 0,
            parameters: Vec::new(),
        };
        for (name, value) in pairs {
            target.set(name, value)?;
        }
        if target.user.is_empty() {
            return Err("pq: the data source name has no user".to_owned());
        }
        if target.database.is_empty() {
            target.database.clone_from(&target.user);
        }
        Ok(target)
    }

    fn set(&mut self, name: String, value: String) -> Result<(), String> {
        match name.as_str() {
            "host" if value.starts_with('/') => {
                return Err("pq: Unix sockets are not supported: give a host and a port".to_owned());
            }
            "host" if value.is_empty() => {}
            "host" => self.host = value,
            "port" => self.port = value.parse().map_err(|_| format!("pq: invalid port {value:?}"))?,
            "user" => self.user = value,
            "password" => self.password = value,
            "dbname" | "database" => self.database = value,
            "connect_timeout" => {
                let seconds: u64 = value.parse().map_err(|_| format!("pq: invalid connect_timeout {value:?}"))?;
                self.connect_timeout_ms = seconds.saturating_mul(1_000);
            }
            "sslmode" => {
                (self.wants_tls, self.checks_certificate) = match value.as_str() {
                    "disable" => (false, false),
                    "require" | "" => (true, false),
                    "verify-ca" | "verify-full" => (true, true),
                    _ => {
                        return Err(format!(
                            "pq: unsupported sslmode {value:?}; only \"require\" (default), \"verify-full\", \"verify-ca\", and \"disable\" supported"
                        ));
                    }
                }
            }
            "sslcert" | "sslkey" | "sslrootcert" => {
                return Err(format!("pq: {name} is not supported: use options of the test such as tlsAuth"));
            }
            "sslinline" | "sslsni" | "binary_parameters" | "fallback_application_name" | "krbsrvname" | "krbspn" => {}
            _ => self.parameters.push((name, value)),
        }
        Ok(())
    }
}

fn of_url(rest: &str) -> Result<Vec<(String, String)>, String> {
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let (host, port) = host_and_port(place, PORT).ok_or_else(|| format!("pq: invalid host and port {place:?}"))?;
    let mut pairs = vec![
        ("host".to_owned(), decoded(&host, false)),
        ("port".to_owned(), port.to_string()),
        ("user".to_owned(), decoded(user, false)),
        ("password".to_owned(), decoded(password, false)),
        ("dbname".to_owned(), decoded(database, false)),
    ];
    pairs.extend(query_pairs(query));
    Ok(pairs)
}

/// `name=value` with blanks between; a value in single quotes may have blanks, and a backslash stands before quotes.
fn of_words(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut characters = text.chars().peekable();
    loop {
        while characters.next_if(|each| each.is_whitespace()).is_some() {}
        if characters.peek().is_none() {
            return Ok(pairs);
        }
        let mut name = String::new();
        while let Some(each) = characters.next_if(|each| *each != '=' && !each.is_whitespace()) {
            name.push(each);
        }
        while characters.next_if(|each| each.is_whitespace()).is_some() {}
        if characters.next() != Some('=') {
            return Err(format!("pq: missing \"=\" after {name:?} in connection info string"));
        }
        while characters.next_if(|each| each.is_whitespace()).is_some() {}
        let is_quoted = characters.next_if_eq(&'\'').is_some();
        let mut value = String::new();
        loop {
            match characters.next() {
                Some('\\') => value.extend(characters.next()),
                Some('\'') if is_quoted => break,
                Some(each) if !is_quoted && each.is_whitespace() => break,
                Some(each) => value.push(each),
                None if is_quoted => {
                    return Err("pq: unterminated quoted string literal in connection string".to_owned());
                }
                None => break,
            }
        }
        pairs.push((name, value));
    }
}

const PORT: u16 = 5432;

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
        good("postgres://u:p@h:1/d?sslmode=disable", "u:p@h:1/d false false");
        good("postgresql://u%40x:p%2F@[::1]/d", "u@x:p/@::1:5432/d true false");
        good("postgres://u@h", "u:@h:5432/u true false");
        good("user=u password='a b\\'c' host=h sslmode=verify-full dbname = d", "u:a b'c@h:5432/d true true");
        let bad = |text: &str, expect: &str| assert_eq!(check(text), Err(expect.to_owned()), "{text}");
        bad("", "pq: the data source name has no user");
        bad("nonsense", "pq: missing \"=\" after \"nonsense\" in connection info string");
        bad("user='x", "pq: unterminated quoted string literal in connection string");
        bad("postgres://u@h:x/d", "pq: invalid host and port \"h:x\"");
        bad("user=u host=/var/run", "pq: Unix sockets are not supported: give a host and a port");
        let target = Target::parse("postgres://u@h/d?search_path=a%20b&connect_timeout=3").expect("valid");
        assert_eq!(target.parameters, [("search_path".to_owned(), "a b".to_owned())]);
        assert_eq!(target.connect_timeout_ms, 3_000);
    }
}
