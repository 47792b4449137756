//! What scripts say about clients, connections and messages.

use onrush_mqtt::{QoS, Will};
use onrush_net::Url;

use crate::{
    embed::{Ctx, Handle, JsResult, Throw, Val},
    modules::{go::go_type, tag_value},
};

pub(super) type Tags = Vec<(String, String)>;

/// What a client is made of.
#[derive(Default)]
pub(super) struct ClientOptions {
    pub(super) client_id: String,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) credentials_provider: Option<Val>,
    pub(super) will: Option<Will>,
    pub(super) tags: Tags,
}

/// How it connects.
#[derive(Clone)]
pub(super) struct ConnectOptions {
    pub(super) servers: Vec<Server>,
    pub(super) keep_alive_s: u16,
    pub(super) timeout_ms: u64,
    pub(super) clean_session: bool,
    pub(super) tags: Tags,
}

/// Where to.
#[derive(Clone)]
pub(super) struct Server {
    /// As the script gave it, without a password.
    pub(super) shown: String,
    /// With `http` for a bare connection, `https` for TLS.
    pub(super) url: Url,
    pub(super) is_websocket: bool,
}

/// How a message, or a subscription, is sent.
#[derive(Default)]
pub(super) struct SendOptions {
    pub(super) qos: QoS,
    pub(super) retain: bool,
    pub(super) tags: Tags,
}

impl ClientOptions {
    pub(super) fn read(ctx: Ctx, value: &Handle) -> JsResult<Self> {
        let mut options = Self::default();
        if !value.is_object() {
            return Ok(options);
        }
        options.client_id = text(ctx, value, "client_id")?.unwrap_or_default();
        options.username = text(ctx, value, "username")?;
        options.password = text(ctx, value, "password")?;
        let provider = value.get(ctx, "credentials_provider")?;
        if provider.is_set() {
            if !provider.is_function(ctx) {
                return Err(Throw::error("credentials_provider must be a function"));
            }
            options.credentials_provider = Some(provider);
        }
        let will = value.get(ctx, "will")?;
        if will.is_object() {
            let message = will.get(ctx, "payload")?;
            options.will = Some(Will {
                topic: text(ctx, &will, "topic")?.unwrap_or_default(),
                payload: payload(ctx, &message)?,
                qos: qos(ctx, &will)?,
                retain: will.get(ctx, "retain")?.truthy(ctx),
            });
        }
        options.tags = tags(ctx, value)?;
        Ok(options)
    }
}

impl ConnectOptions {
    /// `connect(url or options, options?)`.
    pub(super) fn read(ctx: Ctx, first: &Handle, second: &Handle) -> JsResult<Self> {
        let mut options =
            Self { servers: Vec::new(), keep_alive_s: 60, timeout_ms: 30_000, clean_session: true, tags: Vec::new() };
        if first.is_object() {
            options.apply(ctx, first)?;
        } else {
            options.servers.push(server(&first.to_text(ctx)?)?);
            if second.is_object() {
                options.apply(ctx, second)?;
            }
        }
        if options.servers.is_empty() {
            return Err(Throw::error("no server to connect to: expected a URL, or servers"));
        }
        Ok(options)
    }

    fn apply(&mut self, ctx: Ctx, value: &Handle) -> JsResult<()> {
        let servers = value.get(ctx, "servers")?;
        if servers.is_array() {
            for index in 0..servers.length(ctx)?.min(SERVERS_MAX) {
                self.servers.push(server(&servers.get_index(ctx, index)?.to_text(ctx)?)?);
            }
        }
        if let Some(seconds) = number(ctx, value, "keepalive")? {
            self.keep_alive_s = seconds.clamp(0.0, f64::from(u16::MAX)) as u16;
        }
        if let Some(ms) = number(ctx, value, "connect_timeout")? {
            self.timeout_ms = ms.max(1.0) as u64;
        }
        let clean = value.get(ctx, "clean_session")?;
        if clean.is_set() {
            self.clean_session = clean.truthy(ctx);
        }
        self.tags.extend(tags(ctx, value)?);
        Ok(())
    }
}

impl SendOptions {
    pub(super) fn read(ctx: Ctx, value: &Handle) -> JsResult<Self> {
        if !value.is_object() {
            return Ok(Self::default());
        }
        Ok(Self { qos: qos(ctx, value)?, retain: value.get(ctx, "retain")?.truthy(ctx), tags: tags(ctx, value)? })
    }
}

/// One topic, or several.
pub(super) fn topics(ctx: Ctx, value: &Handle) -> JsResult<Vec<String>> {
    let mut topics = Vec::new();
    if value.is_array() {
        for index in 0..value.length(ctx)?.min(TOPICS_MAX) {
            topics.push(value.get_index(ctx, index)?.to_text(ctx)?);
        }
    } else if value.is_string() {
        topics.push(value.to_text(ctx)?);
    } else {
        return Err(Throw::error(format!(
            "invalid type: {}, expected a topic or an array of topics",
            go_type(ctx, value)
        )));
    }
    if topics.iter().any(String::is_empty) || topics.is_empty() {
        return Err(Throw::error("a topic is empty"));
    }
    Ok(topics)
}

/// The bytes of a message.
pub(super) fn payload(ctx: Ctx, value: &Handle) -> JsResult<Vec<u8>> {
    if let Some(bytes) = value.array_buffer(ctx).or_else(|| value.typed_array(ctx)) {
        return Ok(bytes.to_vec());
    }
    if !value.is_string() {
        let given = go_type(ctx, value);
        return Err(Throw::error(format!("invalid type: {given}, expected string or ArrayBuffer")));
    }
    Ok(value.to_text(ctx)?.into_bytes())
}

fn text(ctx: Ctx, value: &Handle, name: &str) -> JsResult<Option<String>> {
    let given = value.get(ctx, name)?;
    if given.is_set() { given.to_text(ctx).map(Some) } else { Ok(None) }
}

fn number(ctx: Ctx, value: &Handle, name: &str) -> JsResult<Option<f64>> {
    let given = value.get(ctx, name)?;
    if !given.is_set() {
        return Ok(None);
    }
    let number = given.to_number(ctx)?;
    if number.is_nan() { Err(Throw::error(format!("{name} must be a number"))) } else { Ok(Some(number)) }
}

fn qos(ctx: Ctx, value: &Handle) -> JsResult<QoS> {
    let level = number(ctx, value, "qos")?.unwrap_or_default();
    let whole = if level.fract() == 0.0 && (0.0..=2.0).contains(&level) { QoS::of(level as u8) } else { None };
    whole.ok_or_else(|| Throw::error(format!("invalid qos {level}: expected 0, 1 or 2")))
}

fn tags(ctx: Ctx, value: &Handle) -> JsResult<Tags> {
    let mut tags = Vec::new();
    let given = value.get(ctx, "tags")?;
    let outcome = tag_value::for_each(ctx, &given, |name, text| tags.push((name.to_owned(), text.to_owned())))?;
    outcome.map_err(|tag| Throw::error(format!("invalid mqtt tags: {}", tag_value::complaint(&tag))))?;
    Ok(tags)
}

fn server(text: &str) -> JsResult<Server> {
    let invalid = |reason: &str| Throw::error(format!("invalid server URL: {reason}"));
    let url = Url::parse(text).map_err(|error| invalid(&error.message))?;
    let (scheme, port) = match &*url.scheme_text() {
        "mqtt" | "tcp" => ("http", 1883),
        "mqtts" | "ssl" | "tls" => ("https", 8883),
        "ws" => ("http", 80),
        "wss" => ("https", 443),
        other => {
            return Err(invalid(&format!("unknown scheme {other:?}: expected mqtt, mqtts, tcp, ssl, tls, ws or wss")));
        }
    };
    if url.host().is_empty() {
        return Err(invalid("it has no host"));
    }
    let has_port = !url.port_text().is_empty();
    let host = if url.host().contains(':') { format!("[{}]", url.host()) } else { url.host().to_owned() };
    let port = if has_port { url.port().ok_or_else(|| invalid("its port is none"))? } else { port };
    let is_websocket = matches!(&*url.scheme_text(), "ws" | "wss");
    let path = match url.query() {
        _ if !is_websocket => String::new(),
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let root = if path.starts_with('/') { "" } else { "/" };
    let dialled = Url::parse(&format!("{scheme}://{host}:{port}{root}{path}"));
    let dialled = dialled.map_err(|error| invalid(&error.message))?;
    Ok(Server { shown: format!("{}://{host}:{port}{path}", url.scheme_text()), url: dialled, is_websocket })
}

/// Servers that are tried.
const SERVERS_MAX: u32 = 100;
/// Topics of one subscription.
const TOPICS_MAX: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers() {
        let check = |text: &str, expect: &str| {
            let shown = server(text)
                .map_or_else(|_| "refused".to_owned(), |server| format!("{} {}", server.shown, server.url.as_str()));
            assert_eq!(shown, expect);
        };
        check("mqtt://host", "mqtt://host:1883 http://host:1883/");
        check("mqtts://host", "mqtts://host:8883 https://host:8883/");
        check("tcp://u:p@[::1]:5", "tcp://[::1]:5 http://[::1]:5/");
        check("ws://host", "ws://host:80 http://host:80/");
        check("wss://host:5/mqtt?a=b", "wss://host:5/mqtt?a=b https://host:5/mqtt?a=b");
        check("http://host", "refused");
        check("mqtt://", "refused");
        check("host:1883", "refused");
    }
}
