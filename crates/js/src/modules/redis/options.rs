//! What a client is made of: a URL or an object.

use crate::{
    embed::{Ctx, Handle, JsResult, Throw},
    modules::go::go_type,
};

/// Where the server is, and how it is asked.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_tls: bool,
    pub(super) username: String,
    pub(super) password: String,
    pub(super) database: u32,
    pub(super) dial_ms: u64,
    pub(super) read_ms: u64,
    pub(super) write_ms: u64,
    pub(super) pool_size: usize,
    /// How often a connection is tried again.
    pub(super) retries: u32,
}

/// go-redis has ten connections for each processor; a VU uses as many only if it has as many commands under way at once.
const POOL_SIZE: usize = 10;
/// And these times.
const DIAL_MS: u64 = 5_000;
const READ_MS: u64 = 3_000;
const RETRIES: u32 = 3;

impl Options {
    fn new() -> Self {
        Self {
            host: "localhost".to_owned(),
            port: 6379,
            is_tls: false,
            username: String::new(),
            password: String::new(),
            database: 0,
            dial_ms: DIAL_MS,
            read_ms: READ_MS,
            write_ms: READ_MS,
            pool_size: POOL_SIZE,
            retries: RETRIES,
        }
    }

    pub(super) fn read(ctx: Ctx, value: &Handle) -> JsResult<Self> {
        let read = if value.is_string() {
            Self::of_url(&value.to_text(ctx)?)
        } else if value.is_object() && !value.is_array() && !value.is_function(ctx) {
            Self::of_object(ctx, value)?
        } else {
            let found = go_type(ctx, value);
            return Err(Throw::error(format!("invalid options type: {found}; expected string or object")));
        };
        read.map_err(|reason| Throw::error(format!("invalid options; reason: {reason}")))
    }

    fn of_url(text: &str) -> Result<Self, String> {
        let mut options = Self::new();
        let (scheme, _) = text.split_once(':').unwrap_or(("", ""));
        options.is_tls = match scheme {
            "redis" => false,
            "rediss" => true,
            "unix" => return Err("Unix sockets are not in this version of Onrush: give a host and a port".to_owned()),
            _ => return Err(format!("redis: invalid URL scheme: {scheme}")),
        };
        let url = url::Url::parse(text).map_err(|error| format!("parse {text:?}: {error}"))?;
        if let Some(host) = url.host_str().filter(|host| !host.is_empty()) {
            options.host = host.to_owned();
        }
        options.port = url.port().unwrap_or(options.port);
        let decoded = |part: &str| percent_decoded(part);
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
        Ok(options)
    }

    fn of_object(ctx: Ctx, object: &Handle) -> JsResult<Result<Self, String>> {
        for (key, what) in [("cluster", "clusters"), ("masterName", "sentinels")] {
            if object.get(ctx, key)?.is_set() {
                let text = format!("{what} are not in this version of Onrush: give the socket of one server");
                return Ok(Err(text));
            }
        }
        let mut options = Self::new();
        let socket = object.get(ctx, "socket")?;
        let fields = match Fields::of(ctx, object, "singleNodeOptions", "", TOP)? {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(error)),
        };
        if !socket.is_object() {
            return Ok(Err("empty socket options".to_owned()));
        }
        let socket = match Fields::of(ctx, &socket, "socketOptions", "socket.", SOCKET)? {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(error)),
        };
        let text = |fields: &Fields, key: &str| fields.text(key).unwrap_or_default();
        (options.username, options.password) = (text(&fields, "username"), text(&fields, "password"));
        options.database = u32::try_from(fields.number("database")).unwrap_or(0);
        options.set_retries(fields.number("maxRetries"));
        if let Some(host) = socket.text("host").filter(|host| !host.is_empty()) {
            options.host = host;
        }
        options.port = u16::try_from(socket.number("port")).ok().filter(|port| *port > 0).unwrap_or(options.port);
        options.is_tls = socket.has_tls;
        let time = |key: &str, default: u64| match u64::try_from(socket.number(key)) {
            Ok(ms) if ms > 0 => ms,
            _ => default,
        };
        options.dial_ms = time("dialTimeout", DIAL_MS);
        options.read_ms = time("readTimeout", READ_MS);
        options.write_ms = time("writeTimeout", READ_MS);
        options.set_pool_size(socket.number("poolSize"));
        Ok(Ok(options))
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

/// What a field of an object has to be.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Number,
    Object,
}

const TOP: &[(&str, Kind)] = &[
    ("socket", Kind::Object),
    ("username", Kind::Text),
    ("password", Kind::Text),
    ("clientName", Kind::Text),
    ("database", Kind::Number),
    ("maxRetries", Kind::Number),
    ("minRetryBackoff", Kind::Number),
    ("maxRetryBackoff", Kind::Number),
];

const SOCKET: &[(&str, Kind)] = &[
    ("host", Kind::Text),
    ("port", Kind::Number),
    ("tls", Kind::Object),
    ("dialTimeout", Kind::Number),
    ("readTimeout", Kind::Number),
    ("writeTimeout", Kind::Number),
    ("poolSize", Kind::Number),
    ("minIdleConns", Kind::Number),
    ("maxConnAge", Kind::Number),
    ("poolTimeout", Kind::Number),
    ("idleTimeout", Kind::Number),
    ("idleCheckFrequency", Kind::Number),
];

/// The fields of an object, checked.
#[derive(Default)]
struct Fields {
    texts: Vec<(&'static str, String)>,
    numbers: Vec<(&'static str, i64)>,
    has_tls: bool,
}

impl Fields {
    fn of(
        ctx: Ctx,
        object: &Handle,
        owner: &str,
        path: &str,
        table: &'static [(&'static str, Kind)],
    ) -> JsResult<Result<Self, String>> {
        let mut fields = Self::default();
        for key in object.keys(ctx)? {
            let name = key.text(ctx)?;
            let Some((known, kind)) = table.iter().find(|(known, _)| *known == name) else {
                return Ok(Err(format!("json: unknown field {name:?}")));
            };
            let value = object.get(ctx, &key)?;
            if !value.is_set() {
                continue;
            }
            match kind {
                Kind::Text if value.is_string() => fields.texts.push((known, value.to_text(ctx)?)),
                Kind::Number if value.is_number() => fields.numbers.push((known, value.to_i64(ctx)?)),
                Kind::Object if value.is_object() => {
                    if *known == "tls" {
                        fields.has_tls = true;
                        for key in ["ca", "cert", "key"] {
                            if value.get(ctx, key)?.is_set() {
                                return Ok(Err(format!(
                                    "socket.tls.{key} is not in this version of Onrush: use the options tlsAuth and insecureSkipTLSVerify, or the system's certificates"
                                )));
                            }
                        }
                    }
                }
                kind => {
                    let found = match go_type(ctx, &value) {
                        "int64" | "float64" => "number",
                        "[]interface {}" => "array",
                        "string" => "string",
                        "bool" => "bool",
                        _ => "object",
                    };
                    let wanted = match kind {
                        Kind::Text => "string",
                        Kind::Number => "int",
                        Kind::Object => "struct",
                    };
                    let text = format!(
                        "json: cannot unmarshal {found} into Go struct field {owner}.{path}{known} of type {wanted}"
                    );
                    return Ok(Err(text));
                }
            }
        }
        Ok(Ok(fields))
    }

    fn text(&self, key: &str) -> Option<String> {
        self.texts.iter().find(|(known, _)| *known == key).map(|(_, text)| text.clone())
    }

    fn number(&self, key: &str) -> i64 {
        self.numbers.iter().find(|(known, _)| *known == key).map_or(0, |(_, number)| *number)
    }
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

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) if *byte == b'%' => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_refused() {
        let options = Options::of_url("rediss://us%40er:p%25w@h:1234/7?read_timeout=250ms&max_retries=-1&pool_size=3");
        let options = options.expect("a good one");
        assert_eq!((options.host.as_str(), options.port, options.is_tls, options.database), ("h", 1234, true, 7));
        assert_eq!((options.username.as_str(), options.password.as_str()), ("us@er", "p%w"));
        assert_eq!((options.read_ms, options.retries, options.pool_size), (250, 0, 3));
        let check = |url: &str, expect: &str| assert_eq!(Options::of_url(url).err().as_deref(), Some(expect), "{url}");
        check("http://x", "redis: invalid URL scheme: http");
        check("", "redis: invalid URL scheme: ");
        check("redis://h?nope=1", "redis: unexpected option: nope");
        check("redis://h/x", "redis: invalid database number: \"x\"");
        check("redis://h?dial_timeout=x", "redis: invalid dial_timeout duration: time: invalid duration \"x\"");
        let text = "redis: invalid pool_size number: strconv.Atoi: parsing \"x\": invalid syntax";
        check("redis://h?pool_size=x", text);
    }
}
