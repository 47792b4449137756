//! `--out influxdb` (InfluxDB 1 and what speaks like it) and `--out xk6-influxdb` (2 and 3): what all agents measured together, a
//! point for each series and second.

use std::{fmt::Write as _, time::Duration};

use onrush_metrics::summary::TrendStat;
use onrush_net::{ClientOptions, ProxyOptions, RequestHeaders, TlsOptions, Url};
use onrush_output::influx::{Config, FieldKinds, Influx, Precision};

use super::{
    asked::{Asked, duration},
    delivered::{self, Arrived},
    output::Wish,
};
use crate::{failure::Failure, flags::parse_bool};

const PREFIX: &str = "K6_INFLUXDB_";
const ADDRESS: &str = "http://localhost:8086";
/// What is told of trends, beside average, sum and number of values.
const STATS: [&str; 6] = ["min", "med", "max", "p(90)", "p(95)", "p(99)"];

/// An output that is wanted.
struct Wanted {
    config: Config,
    /// Where, and which version, without secrets.
    described: String,
}

/// What the options say, whatever the version.
struct Options<'a> {
    asked: &'a Asked<'a>,
    /// The address, without the database.
    base: String,
    /// The last segment of the path.
    database: Option<String>,
    basic: Option<(String, String)>,
    query: Vec<(String, String)>,
}

/// `influxdb=http://user:password@host:8086/database?option=…`.
pub(super) fn read_v1(asked: &Asked<'_>) -> Result<Wish, Failure> {
    asked.naming(v1(asked).map(wish))
}

/// `xk6-influxdb=http://host:8086/bucket`.
pub(super) fn read_v2(asked: &Asked<'_>) -> Result<Wish, Failure> {
    asked.naming(v2(asked).map(wish))
}

fn v1(asked: &Asked<'_>) -> Result<Wanted, Failure> {
    const KNOWN: [&str; 8] = [
        "insecure",
        "payload_size",
        "pushInterval",
        "concurrentWrites",
        "precision",
        "retention",
        "consistency",
        "tagsAsFields",
    ];
    let options = Options::new(asked)?;
    if let Some((key, _)) = options.query.iter().find(|(key, _)| !KNOWN.contains(&key.as_str())) {
        return Err(
            Failure::other(format!("unknown query parameter: {key}")).hint(format!("there are {}", KNOWN.join(", ")))
        );
    }
    let database = options.database.clone().or_else(|| options.text("DB", "db")).unwrap_or_else(|| "k6".to_owned());
    let precision = match options.text("PRECISION", "precision") {
        None => Precision::FINEST,
        Some(name) => unit(&name).ok_or_else(|| wrong("PRECISION", &name, "use one of n, u, ms, s, m and h"))?,
    };
    let mut write = format!("{}/write?db={}", options.base, encoded(&database));
    for (name, value) in [
        ("precision", options.text("PRECISION", "precision")),
        ("rp", options.text("RETENTION", "retention")),
        ("consistency", options.text("CONSISTENCY", "consistency")),
    ] {
        if let Some(value) = value {
            let _ = write!(write, "&{name}={}", encoded(&value));
        }
    }
    // Quoted as InfluxQL quotes names.
    let statement = format!("CREATE DATABASE \"{}\"", database.replace('\\', "\\\\").replace('"', "\\\""));
    let create = url(&format!("{}/query?q={}", options.base, encoded(&statement)))?;
    Ok(Wanted {
        described: format!("InfluxDBv1 ({})", options.base),
        config: options.config(url(&write)?, Some(create), precision, RequestHeaders::default(), FieldKinds::OF_K6)?,
    })
}

fn v2(asked: &Asked<'_>) -> Result<Wanted, Failure> {
    let options = Options::new(asked)?;
    let bucket = options.database.clone().or_else(|| options.text("BUCKET", "bucket"));
    let bucket = bucket.ok_or_else(|| {
        Failure::other("the Bucket option is required")
            .hint(format!("set {PREFIX}BUCKET, or write it behind the address"))
    })?;
    let precision = match options.text("PRECISION", "precision") {
        None => Precision::FINEST,
        Some(text) => {
            let hint = "use one of 1ns, 1us, 1ms and 1s";
            let unit = duration(&text).filter(|unit| name_of(*unit).is_some());
            Precision(unit.ok_or_else(|| wrong("PRECISION", &text, hint))?)
        }
    };
    let organization = options.text("ORGANIZATION", "organization").unwrap_or_default();
    let write = format!(
        "{}/api/v2/write?org={}&bucket={}&precision={}",
        options.base,
        encoded(&organization),
        encoded(&bucket),
        name_of(precision.0).unwrap_or("ns"),
    );
    let mut headers = RequestHeaders::default();
    if let Some(token) = options.text("TOKEN", "token") {
        headers.set("Authorization", &format!("Token {token}"));
    }
    headers.validate().map_err(|error| Failure::other(format!("invalid {PREFIX}TOKEN: {}", error.message)))?;
    Ok(Wanted {
        described: format!("InfluxDBv2 ({})", options.base),
        config: options.config(url(&write)?, None, precision, headers, "vu:int,iter:int,url")?,
    })
}

impl<'a> Options<'a> {
    fn new(asked: &'a Asked<'a>) -> Result<Self, Failure> {
        let text = asked.argument().or_else(|| asked.text(&format!("{PREFIX}ADDR"), "addr"));
        let text = text.unwrap_or_else(|| ADDRESS.to_owned());
        if text.starts_with("udp://") {
            return Err(Failure::other("writing to InfluxDB over UDP is not available")
                .hint("write over HTTP, where it is known what arrived"));
        }
        let address = url(&text)?;
        let path = address.path();
        // k6: what ends in a slash has no database.
        let (prefix, database) = path.rsplit_once('/').unwrap_or(("", ""));
        let pairs = address.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key), decoded(value))
        };
        let of_url = address
            .credentials()
            .map(|(user, password)| [user, password].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).into());
        let setting = |name: &str, key: &str| asked.text(&format!("{PREFIX}{name}"), key);
        let named =
            setting("USERNAME", "username").map(|user| (user, setting("PASSWORD", "password").unwrap_or_default()));
        Ok(Self {
            asked,
            base: format!("{}://{}{prefix}", address.scheme_text(), address.authority()),
            database: Some(decoded(database)).filter(|name| !name.is_empty()),
            basic: of_url.or(named),
            query: pairs.map(pair).collect(),
        })
    }

    /// What the address says, else a variable, else the config file.
    fn text(&self, variable: &str, key: &str) -> Option<String> {
        let own = self.query.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        own.filter(|value| !value.is_empty()).or_else(|| self.asked.text(&format!("{PREFIX}{variable}"), key))
    }

    fn config(
        &self,
        write: Url,
        create: Option<Url>,
        precision: Precision,
        headers: RequestHeaders,
        apart: &str,
    ) -> Result<Config, Failure> {
        let insecure = ["insecure", "insecureSkipTLSVerify"].into_iter().find_map(|key| self.text("INSECURE", key));
        let insecure = match insecure {
            None => false,
            Some(text) => parse_bool(&text)
                .ok_or_else(|| Failure::other(format!("insecure must be true or false, not {text}")))?,
        };
        if let Some(text) = self.text("CONCURRENT_WRITES", "concurrentWrites")
            && text.parse::<i64>().is_ok_and(|writes| writes <= 0)
        {
            return Err(Failure::other("influxdb's ConcurrentWrites must be a positive number"));
        }
        let push_interval = match self.text("PUSH_INTERVAL", "pushInterval") {
            None => Config::PUSH_INTERVAL,
            Some(text) => duration(&text).ok_or_else(|| wrong("PUSH_INTERVAL", &text, "use a duration, such as 5s"))?,
        };
        let apart = self.text("TAGS_AS_FIELDS", "tagsAsFields").unwrap_or_else(|| apart.to_owned());
        let gzip = self.asked.switch("ONRUSH_INFLUXDB_GZIP", "gzip")?.unwrap_or(true);
        let variable = |name: &str| self.asked.flags.env.get(name).cloned();
        let mut proxies = ProxyOptions::from_environment(variable);
        if let Some(proxy) = self.text("PROXY", "proxy").or_else(|| self.text("HTTP_PROXY", "proxy")) {
            // One for all there is.
            let names = ["HTTP_PROXY", "HTTPS_PROXY"];
            proxies = ProxyOptions::from_environment(|name| names.contains(&name).then(|| proxy.clone()));
        }
        Ok(Config {
            write,
            create,
            basic: self.basic.clone(),
            headers,
            network: ClientOptions {
                tls: TlsOptions { insecure_skip_verify: insecure, ..TlsOptions::default() },
                proxies,
                ..ClientOptions::default()
            },
            push_interval,
            precision,
            apart: FieldKinds::parse(&apart).map_err(|error| Failure::other(error.to_string()))?,
            stats: TrendStat::parse_list(&STATS).map_err(|error| Failure::other(error.to_string()))?,
            gzip,
        })
    }
}

fn wish(wanted: Wanted) -> Wish {
    delivered::wish(wanted.config, wanted.described, |config, registry, began, tell| {
        let output = Influx::new(config, registry, began, tell)?;
        let arrived = Arrived::Steps(output.delivered());
        Ok((output, arrived))
    })
}

fn url(text: &str) -> Result<Url, Failure> {
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    let url = if is_url { Url::parse(text).ok() } else { None };
    // A password may be in it.
    url.ok_or_else(|| {
        Failure::other("the address is no URL that begins with http:// or https://")
            .hint(format!("such as {ADDRESS}/database"))
    })
}

fn wrong(name: &str, value: &str, hint: &str) -> Failure {
    Failure::other(format!("invalid {PREFIX}{name} \"{value}\"")).hint(hint.to_owned())
}

/// A unit of times by its name in the protocol of version 1.
fn unit(name: &str) -> Option<Precision> {
    Some(Precision(match name {
        "n" | "ns" => Duration::from_nanos(1),
        "u" | "us" => Duration::from_micros(1),
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "m" => Duration::from_secs(60),
        "h" => Duration::from_secs(3_600),
        _ => return None,
    }))
}

/// The name of a unit in the protocol of version 2.
fn name_of(unit: Duration) -> Option<&'static str> {
    match unit.as_nanos() {
        1 => Some("ns"),
        1_000 => Some("us"),
        1_000_000 => Some("ms"),
        1_000_000_000 => Some("s"),
        _ => None,
    }
}

/// As a part of a query.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || [b'-', b'_', b'.', b'~'].contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A part of a query or a path.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        match (first, pair) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (byte, _) => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::flags::Flags;

    /// The endpoint and what makes the database, or what is wrong.
    fn check(
        read: fn(&Asked<'_>) -> Result<Wanted, Failure>,
        argument: &str,
        env: &[(&str, &str)],
        expect: Result<[&str; 2], &str>,
    ) {
        let variable = |(name, value): &(&str, &str)| (format!("{PREFIX}{name}"), (*value).to_owned());
        let flags = Flags { env: env.iter().map(variable).collect(), ..Flags::default() };
        let collectors = Map::new();
        let asked = Asked::new(&["influxdb"], argument, &flags, &collectors);
        let found = read(&asked).map(|wanted| {
            let create = wanted.config.create.map_or_else(String::new, |url| url.as_str().to_owned());
            [wanted.config.write.as_str().to_owned(), create]
        });
        let found = found.map_err(|failure| failure.message);
        assert_eq!(found, expect.map(|urls| urls.map(str::to_owned)).map_err(str::to_owned), "{argument} {env:?}");
    }

    #[test]
    fn endpoints_of_version_1() {
        let good = |argument: &str, env: &[(&str, &str)], write: &str, create: &str| {
            check(v1, argument, env, Ok([write, create]))
        };
        let create = |database: &str| format!("http://localhost:8086/query?q=CREATE%20DATABASE%20%22{database}%22");
        good("", &[], "http://localhost:8086/write?db=k6", &create("k6"));
        good("", &[("DB", "a b")], "http://localhost:8086/write?db=a%20b", &create("a%20b"));
        good(
            "https://u:p@h:1/pre/my%2Ddb?precision=ms&retention=short&consistency=any",
            &[("DB", "other"), ("PRECISION", "s")],
            "https://h:1/pre/write?db=my-db&precision=ms&rp=short&consistency=any",
            "https://h:1/pre/query?q=CREATE%20DATABASE%20%22my-db%22",
        );
        good(
            "http://h/pre/",
            &[("DB", "x")],
            "http://h/pre/write?db=x",
            "http://h/pre/query?q=CREATE%20DATABASE%20%22x%22",
        );
        let bad = |argument: &str, env: &[(&str, &str)], expect: &str| check(v1, argument, env, Err(expect));
        bad("http://h/db?what=1", &[], "unknown query parameter: what");
        bad("udp://h:8089", &[], "writing to InfluxDB over UDP is not available");
        bad("http://h/db?insecure=yes", &[], "insecure must be true or false, not yes");
        bad("h:8086", &[], "the address is no URL that begins with http:// or https://");
        bad("", &[("PRECISION", "d")], "invalid K6_INFLUXDB_PRECISION \"d\"");
        bad("", &[("CONCURRENT_WRITES", "0")], "influxdb's ConcurrentWrites must be a positive number");
        bad("", &[("PUSH_INTERVAL", "0s")], "invalid K6_INFLUXDB_PUSH_INTERVAL \"0s\"");
        let twice = "a tag name (a) shows up more than once in InfluxDB field type configurations";
        bad("", &[("TAGS_AS_FIELDS", "a,a")], twice);
    }

    #[test]
    fn endpoints_of_version_2() {
        let env = [("ORGANIZATION", "my org"), ("TOKEN", "t"), ("BUCKET", "b"), ("PRECISION", "1ms")];
        check(v2, "", &env, Ok(["http://localhost:8086/api/v2/write?org=my%20org&bucket=b&precision=ms", ""]));
        check(v2, "http://h/c", &env[..3], Ok(["http://h/api/v2/write?org=my%20org&bucket=c&precision=ns", ""]));
        check(v2, "", &[], Err("the Bucket option is required"));
        check(v2, "", &[("BUCKET", "b"), ("PRECISION", "2s")], Err("invalid K6_INFLUXDB_PRECISION \"2s\""));
    }
}
