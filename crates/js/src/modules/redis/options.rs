//! What a client is made of: a URL or an object.

use std::rc::Rc;

use onrush_net::url::unescape;

use super::{
    fields::{CLUSTER, Fields, SENTINEL, SINGLE, SOCKET},
    tls::Tls,
};
use crate::{
    embed::{Ctx, Handle, JsResult, Throw},
    modules::go::go_type,
};

/// Which servers a client speaks to.
#[derive(Debug)]
pub(super) enum Wanted {
    One(Options),
    /// The one that sentinels name.
    Sentinel {
        sentinel: Options,
        master_name: String,
        master: Options,
    },
    Cluster(ClusterOptions),
}

/// Where a cluster is, and how it is asked.
#[derive(Debug)]
pub(super) struct ClusterOptions {
    /// Servers that know the others; one at least.
    pub(super) seeds: Vec<Options>,
    pub(super) redirects_max: u32,
    /// What only reads may go to any server that has the slot.
    pub(super) reads_anywhere: bool,
}

/// Where the server is, and how it is asked.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: Option<Rc<Tls>>,
    pub(super) username: String,
    pub(super) password: String,
    pub(super) database: u32,
    pub(super) dial_ms: u64,
    pub(super) read_ms: u64,
    pub(super) write_ms: u64,
    pub(super) pool_size: usize,
    /// How often a connection is tried again.
    pub(super) retries: u32,
    /// Says `READONLY`, so that a server of a cluster that follows another one answers.
    pub(super) reads_only: bool,
    /// What servers of a cluster have to have in common, in the order in which they are compared.
    pub(super) common: Vec<(&'static str, String)>,
}

/// go-redis has ten connections for each processor; a VU uses as many only if it has as many commands under way at once.
const POOL_SIZE: usize = 10;
/// And these times.
const DIAL_MS: u64 = 5_000;
const READ_MS: u64 = 3_000;
const RETRIES: u32 = 3;
/// How often a command follows its key to another server.
const REDIRECTS_MAX: u32 = 3;

impl Options {
    fn new() -> Self {
        Self {
            host: "localhost".to_owned(),
            port: 6379,
            tls: None,
            username: String::new(),
            password: String::new(),
            database: 0,
            dial_ms: DIAL_MS,
            read_ms: READ_MS,
            write_ms: READ_MS,
            pool_size: POOL_SIZE,
            retries: RETRIES,
            reads_only: false,
            common: Vec::new(),
        }
    }

    /// The same for another server, at `host:port`.
    pub(super) fn at(&self, address: &str) -> Option<Self> {
        let (host, port) = address.rsplit_once(':')?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        // The server that was asked has no other name for itself.
        let host = if host.is_empty() { &self.host } else { host };
        Some(Self { host: host.to_owned(), port: port.parse().ok()?, ..self.clone() })
    }

    pub(super) fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    fn of_url(text: &str) -> Result<Self, String> {
        let mut options = Self::new();
        let (scheme, _) = text.split_once(':').unwrap_or(("", ""));
        options.tls = match scheme {
            "redis" => None,
            "rediss" => Some(Rc::default()),
            "unix" => return Err("Unix sockets are not in this version of Onrush: give a host and a port".to_owned()),
            _ => return Err(format!("redis: invalid URL scheme: {scheme}")),
        };
        let url = url::Url::parse(text).map_err(|error| format!("parse {text:?}: {error}"))?;
        if let Some(host) = url.host_str().filter(|host| !host.is_empty()) {
            options.host = host.to_owned();
        }
        options.port = url.port().unwrap_or(options.port);
        let decoded = |part: &str| String::from_utf8_lossy(&unescape(part.as_bytes())).into_owned();
        options.username = decoded(url.username());
        options.password = decoded(url.password().unwrap_or_default());
        let database = url.path().trim_matches('/');
        if !database.is_empty() {
            options.database = database.parse().map_err(|_| format!("redis: invalid database number: {database:?}"))?;
        }
        for (key, value) in url.query_pairs() {
            let number = || {
                value.parse::<i64>().map_err(|_| {
                    format!("redis: invalid {key} number: strconv.Atoi: parsing {value:?}: invalid syntax")
                })
            };
            let time = |default: u64| {
                let ms = duration_ms(&value)
                    .ok_or_else(|| format!("redis: invalid {key} duration: time: invalid duration {value:?}"))?;
                Ok::<_, String>(if ms == 0 { default } else { ms })
            };
            match &*key {
                "db" => options.database = u32::try_from(number()?).unwrap_or(0),
                "dial_timeout" => options.dial_ms = time(DIAL_MS)?,
                "read_timeout" => options.read_ms = time(READ_MS)?,
                "write_timeout" => options.write_ms = time(READ_MS)?,
                "pool_size" => options.set_pool_size(number()?),
                "max_retries" => options.set_retries(number()?),
                "protocol" | "min_idle_conns" | "max_idle_conns" | "max_active_conns" => {
                    number()?;
                }
                "min_retry_backoff" | "max_retry_backoff" | "pool_timeout" | "conn_max_idle_time"
                | "conn_max_lifetime" => {
                    time(0)?;
                }
                "client_name" | "pool_fifo" => {}
                _ => return Err(format!("redis: unexpected option: {key}")),
            }
        }
        options.compare(&Fields::default(), &Fields::default());
        Ok(options)
    }

    /// What is beside the socket, and the socket.
    fn of_fields(ctx: Ctx, object: &Handle, fields: &Fields) -> JsResult<Result<Self, String>> {
        let mut options = Self::new();
        let socket = object.get(ctx, "socket")?;
        if !socket.is_object() {
            return Ok(Err("empty socket options".to_owned()));
        }
        let tls = socket.get(ctx, "tls")?;
        let socket = match Fields::of(ctx, &socket, "socketOptions", "socket.", &[SOCKET])? {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(error)),
        };
        if tls.is_set() {
            match Tls::read(ctx, &tls)? {
                Ok(tls) => options.tls = Some(Rc::new(tls)),
                Err(error) => return Ok(Err(error)),
            }
        }
        (options.username, options.password) = (fields.text("username"), fields.text("password"));
        options.database = u32::try_from(fields.number("database")).unwrap_or(0);
        options.set_retries(fields.number("maxRetries"));
        let host = socket.text("host");
        if !host.is_empty() {
            options.host = host;
        }
        options.port = u16::try_from(socket.number("port")).ok().filter(|port| *port > 0).unwrap_or(options.port);
        let time = |key: &str, default: u64| match u64::try_from(socket.number(key)) {
            Ok(ms) if ms > 0 => ms,
            _ => default,
        };
        options.dial_ms = time("dialTimeout", DIAL_MS);
        options.read_ms = time("readTimeout", READ_MS);
        options.write_ms = time("writeTimeout", READ_MS);
        options.set_pool_size(socket.number("poolSize"));
        options.compare(fields, &socket);
        Ok(Ok(options))
    }

    /// Notes what servers of a cluster have to have in common. Times of sockets are Go's, in nanoseconds.
    fn compare(&mut self, fields: &Fields, socket: &Fields) {
        let number = |key: &'static str, number: i64| (key, number.to_string());
        let ns = |key: &'static str| number(key, socket.number(key).saturating_mul(1_000_000));
        self.common = vec![
            ("db", self.database.to_string()),
            ("username", self.username.clone()),
            ("password", self.password.clone()),
            number("maxRetries", fields.number("maxRetries")),
            number("minRetryBackoff", fields.number("minRetryBackoff")),
            number("maxRetryBackoff", fields.number("maxRetryBackoff")),
            ns("dialTimeout"),
            ns("readTimeout"),
            ns("writeTimeout"),
            number("poolSize", socket.number("poolSize")),
            number("minIdleConns", socket.number("minIdleConns")),
            ns("maxConnAge"),
            ns("poolTimeout"),
            ns("idleTimeout"),
        ];
    }

    fn check_common(&self, other: &Self) -> Result<(), String> {
        let mut pairs = self.common.iter().zip(&other.common);
        match pairs.find(|((_, ours), (_, theirs))| ours != theirs) {
            None => Ok(()),
            Some((("password", _), _)) => Err("inconsistent password option".to_owned()),
            Some(((name, ours), (_, theirs))) => Err(format!("inconsistent {name} option: {ours} != {theirs}")),
        }
    }

    fn set_pool_size(&mut self, size: i64) {
        self.pool_size = usize::try_from(size).ok().filter(|size| *size > 0).unwrap_or(POOL_SIZE);
    }

    /// go-redis: 0 is the default, anything below none at all.
    fn set_retries(&mut self, retries: i64) {
        self.retries = match retries {
            0 => RETRIES,
            _ => u32::try_from(retries).unwrap_or(0),
        };
    }
}

impl Wanted {
    pub(super) fn read(ctx: Ctx, value: &Handle) -> JsResult<Self> {
        let read = if value.is_string() {
            Options::of_url(&value.to_text(ctx)?).map(Self::One)
        } else if is_object(ctx, value) {
            Self::of_object(ctx, value)?
        } else {
            let found = go_type(ctx, value);
            return Err(Throw::error(format!("invalid options type: {found}; expected string or object")));
        };
        read.map_err(|reason| Throw::error(format!("invalid options; reason: {reason}")))
    }

    fn of_object(ctx: Ctx, object: &Handle) -> JsResult<Result<Self, String>> {
        let cluster = object.get(ctx, "cluster")?;
        if is_object(ctx, &cluster) {
            return ClusterOptions::read(ctx, &cluster).map(|read| read.map(Self::Cluster));
        }
        if !object.get(ctx, "masterName")?.is_set() {
            return Ok(match Fields::of(ctx, object, "singleNodeOptions", "", &[SINGLE])? {
                Ok(fields) => Options::of_fields(ctx, object, &fields)?.map(Self::One),
                Err(error) => Err(error),
            });
        }
        let fields = match Fields::of(ctx, object, "sentinelOptions", "", &[SENTINEL, SINGLE])? {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(error)),
        };
        Ok(Options::of_fields(ctx, object, &fields)?.map(|master| Self::Sentinel {
            sentinel: Options {
                username: fields.text("sentinelUsername"),
                password: fields.text("sentinelPassword"),
                database: 0,
                ..master.clone()
            },
            master_name: fields.text("masterName"),
            master,
        }))
    }
}

impl ClusterOptions {
    fn read(ctx: Ctx, cluster: &Handle) -> JsResult<Result<Self, String>> {
        let nodes = cluster.get(ctx, "nodes")?;
        if !nodes.is_array() {
            return Ok(Err(format!("cluster nodes property must be an array; got {}", go_type(ctx, &nodes))));
        }
        let count = nodes.length(ctx)?;
        if count == 0 {
            return Ok(Err("cluster nodes property cannot be empty".to_owned()));
        }
        let fields = match Fields::of(ctx, cluster, CLUSTER_TYPE, "", &[CLUSTER])? {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(error)),
        };
        let first = nodes.get_index(ctx, 0)?;
        let mut seeds: Vec<Options> = Vec::new();
        for index in 0..count {
            let node = nodes.get_index(ctx, index)?;
            let read = if node.is_string() && first.is_string() {
                Options::of_url(&node.to_text(ctx)?)
            } else if is_object(ctx, &node) && !first.is_string() {
                match Fields::of(ctx, &node, "singleNodeOptions", "", &[SINGLE])? {
                    Ok(fields) => Options::of_fields(ctx, &node, &fields)?,
                    Err(error) => Err(error),
                }
            } else if index > 0 {
                // k6: the first one says what all are.
                let wanted = if first.is_string() { "string" } else { "redis.singleNodeOptions" };
                Err(super::fields::wrong_type(ctx, &node, "clusterNodesStringOptions.nodes", wanted))
            } else {
                let found = go_type(ctx, &node);
                Err(format!("cluster nodes array must contain string or object elements; got {found}"))
            };
            let checked =
                read.and_then(|node| seeds.first().map_or(Ok(()), |seed| seed.check_common(&node)).map(|()| node));
            match checked {
                Ok(node) => seeds.push(node),
                Err(error) => return Ok(Err(error)),
            }
        }
        let redirects = fields.number("maxRedirects");
        let ways = ["readOnly", "routeByLatency", "routeRandomly"];
        Ok(Ok(Self {
            seeds,
            redirects_max: if redirects == 0 { REDIRECTS_MAX } else { u32::try_from(redirects).unwrap_or(0) },
            reads_anywhere: ways.into_iter().any(|way| fields.is_yes(way)),
        }))
    }
}

/// As Go calls it in its errors.
const CLUSTER_TYPE: &str = "clusterNodesStringOptions.commonClusterOptions";

fn is_object(ctx: Ctx, value: &Handle) -> bool {
    value.is_object() && !value.is_array() && !value.is_function(ctx)
}

/// A duration of a URL: seconds, or a number and a unit.
fn duration_ms(text: &str) -> Option<u64> {
    let split = text.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let factor = match unit {
        "" | "s" => 1e3,
        "ms" => 1.0,
        "us" | "µs" => 1e-3,
        "ns" => 1e-6,
        "m" => 6e4,
        "h" => 3.6e6,
        _ => return None,
    };
    Some((number * factor).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_refused() {
        let options = Options::of_url("rediss://us%40er:p%25w@h:1234/7?read_timeout=250ms&max_retries=-1&pool_size=3");
        let options = options.expect("a good one");
        assert_eq!(
            (options.host.as_str(), options.port, options.tls.is_some(), options.database),
            ("h", 1234, true, 7)
        );
        assert_eq!((options.username.as_str(), options.password.as_str()), ("us@er", "p%w"));
        assert_eq!((options.read_ms, options.retries, options.pool_size), (250, 0, 3));
        let check = |url: &str, expect: &str| assert_eq!(Options::of_url(url).err().as_deref(), Some(expect), "{url}");
        assert_eq!(options.at("[::1]:5").map(|other| (other.host, other.port)), Some(("::1".to_owned(), 5)));
        assert_eq!(options.at(":5").map(|other| (other.host, other.port)), Some(("h".to_owned(), 5)));
        assert!(options.at("h:x").is_none() && options.at("h").is_none());
        check("http://x", "redis: invalid URL scheme: http");
        check("", "redis: invalid URL scheme: ");
        check("redis://h?nope=1", "redis: unexpected option: nope");
        check("redis://h/x", "redis: invalid database number: \"x\"");
        check("redis://h?dial_timeout=x", "redis: invalid dial_timeout duration: time: invalid duration \"x\"");
        let text = "redis: invalid pool_size number: strconv.Atoi: parsing \"x\": invalid syntax";
        check("redis://h?pool_size=x", text);
    }
}
