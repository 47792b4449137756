//! `client.connect()`.

use std::rc::Rc;

use onrush_fiber::{Clock, Nanos};
use onrush_grpc::{Channel, ChannelOptions, Code, ConnectError, Metadata, reflection};
use onrush_net::{ClientAuth, OwnTls, go_quote};

use super::{client::Client, go_value::shown, params, problem::Problem, sample, schemas::LoadKey};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    vu::{Vu, context::vu},
};

/// What a connection was asked to be like.
struct Wanted {
    is_plaintext: bool,
    reflects: bool,
    reflect_metadata: Metadata,
    timeout_ns: u64,
    receive_bytes_max: usize,
    send_bytes_max: usize,
    authority: Option<String>,
    tls: Option<Credentials>,
}

/// The `tls` parameter.
#[derive(Default)]
struct Credentials {
    cert: String,
    key: String,
    password: String,
    cacerts: Vec<String>,
}

/// `client.connect(address, params?)`
pub(super) fn connect(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let (vu, client) = (vu(), Client::expect(this)?);
    if vu.in_init() {
        return Err(Throw::error("connecting to a gRPC server in the init context is not supported"));
    }
    let address = if args.at(0).is_set() { args.at(0).to_text(ctx)? } else { String::new() };
    let wanted = parse(ctx, args.at(1)).map_err(|problem| problem.throw("invalid grpc.connect() parameters: "))?;
    let tls = match &wanted.tls {
        Some(credentials) if !wanted.is_plaintext => Some(credentials.settings(vu)?),
        _ => None,
    };
    // k6: no time is none.
    if wanted.timeout_ns == 0 {
        return Err(Throw::error("context deadline exceeded"));
    }
    let deadline = Nanos(Clock::now().0.saturating_add(wanted.timeout_ns));
    let options = ChannelOptions {
        address,
        is_plaintext: wanted.is_plaintext,
        authority: wanted.authority,
        tls,
        user_agent: vu.thread.config.http.user_agent.clone(),
        receive_bytes_max: wanted.receive_bytes_max,
        send_bytes_max: wanted.send_bytes_max,
        sends_gzip: false,
    };
    let channel = Channel::connect(&vu.connections, options, deadline).map_err(|error| match error {
        ConnectError::Cancelled => Throw::Interrupted,
        ConnectError::Failed(text) => Throw::error(text),
    })?;
    client.set_channel(channel.clone());
    if wanted.reflects {
        reflect(vu, client, &channel, &wanted.reflect_metadata, deadline)?;
    }
    Ok(Val::bool(true))
}

/// Learns what the server says it has.
fn reflect(vu: &Vu, client: &Client, channel: &Rc<Channel>, metadata: &Metadata, deadline: Nanos) -> JsResult<()> {
    let mut start = Clock::now();
    let learnt = reflection::learn(channel, &vu.connections, metadata, Some(deadline), &mut |_, status| {
        let now = Clock::now();
        // k6: the conversation that worked is not over when the connection is made, and has no sample.
        if status.code != Code::OK {
            sample::duration(vu, vu.node.get(), now - start, status.code);
        }
        start = now;
    });
    if onrush_fiber::is_cancelled() {
        return Err(Throw::Interrupted);
    }
    let schema = learnt
        .and_then(|learnt| vu.script().schemas.of_or_try(LoadKey::Learnt(learnt.fingerprint()), || learnt.schema()));
    client.learn(schema.map_err(|error| Throw::error(error.to_string()))?);
    Ok(())
}

fn parse(ctx: Ctx, value: &Handle) -> Result<Wanted, Problem> {
    let mut wanted = Wanted {
        is_plaintext: false,
        reflects: false,
        reflect_metadata: Metadata::default(),
        timeout_ns: TIMEOUT_NS,
        receive_bytes_max: ChannelOptions::RECEIVE_BYTES_MAX,
        send_bytes_max: ChannelOptions::SEND_BYTES_MAX,
        authority: None,
        tls: None,
    };
    if !value.is_object() {
        // k6: the letters of a text are its members.
        return match value.is_string() && !value.to_text(ctx)?.is_empty() {
            true => Err(Problem::Text("unknown connect param: \"0\"".to_owned())),
            false => Ok(wanted),
        };
    }
    for key in value.each_key(ctx)? {
        let item = value.get(ctx, &key)?;
        let key = key.to_js_string(ctx)?;
        let key = key.text();
        match &*key {
            "plaintext" => wanted.is_plaintext = boolean(ctx, &key, &item)?,
            "reflect" => wanted.reflects = boolean(ctx, &key, &item)?,
            "reflectMetadata" => {
                wanted.reflect_metadata = params::metadata(ctx, &item).map_err(|problem| match problem {
                    Problem::Text(text) => Problem::Text(format!("invalid reflectMetadata param: {text}")),
                    other => other,
                })?;
            }
            "timeout" => {
                let ns = params::duration(ctx, &item).map_err(|problem| match problem {
                    Problem::Text(text) => Problem::Text(format!("invalid timeout value: {text}")),
                    other => other,
                })?;
                wanted.timeout_ns = ns.max(0).unsigned_abs();
            }
            "maxReceiveSize" => {
                let bytes = size(ctx, &key, &item)?;
                wanted.receive_bytes_max = if bytes == 0 { ChannelOptions::RECEIVE_BYTES_MAX } else { bytes };
            }
            "maxSendSize" => {
                let bytes = size(ctx, &key, &item)?;
                wanted.send_bytes_max = if bytes == 0 { ChannelOptions::SEND_BYTES_MAX } else { bytes };
            }
            "authority" => {
                if !item.is_string() {
                    return Err(invalid(ctx, &key, &item, "it needs to be a string")?);
                }
                wanted.authority = Some(item.to_text(ctx)?).filter(|authority| !authority.is_empty());
            }
            "tls" => wanted.tls = credentials(ctx, &item)?,
            other => return Err(Problem::Text(format!("unknown connect param: {}", go_quote(other)))),
        }
    }
    Ok(wanted)
}

fn boolean(ctx: Ctx, key: &str, item: &Handle) -> Result<bool, Problem> {
    if item.is_bool() { Ok(item.truthy(ctx)) } else { Err(invalid(ctx, key, item, "it needs to be boolean")?) }
}

fn size(ctx: Ctx, key: &str, item: &Handle) -> Result<usize, Problem> {
    let number = item.as_number().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
    let Some(number) = number else { return Err(invalid(ctx, key, item, "it needs to be an integer")?) };
    if number < 0.0 {
        // k6: the quote is missing.
        return Err(Problem::Text(format!("invalid {key} value: '{number}, it needs to be a positive integer")));
    }
    Ok(number as usize)
}

fn credentials(ctx: Ctx, item: &Handle) -> Result<Option<Credentials>, Problem> {
    if !item.is_object() || item.is_array() || item.is_function(ctx) {
        return Err(invalid(ctx, "tls", item, "expected (optional) keys: cert, key, password, and cacerts")?);
    }
    let mut credentials = Credentials::default();
    let mut is_empty = true;
    for key in item.each_key(ctx)? {
        is_empty = false;
        let value = item.get(ctx, &key)?;
        let key = key.to_js_string(ctx)?;
        let key = key.text();
        let expected = match &*key {
            "cert" | "key" => "it needs to be a PEM formatted string",
            "password" => "it needs to be a string",
            "cacerts" => "it needs to be a string or an array of PEM formatted strings",
            _ => continue,
        };
        let mut texts = Vec::new();
        if value.is_string() {
            texts.push(value.to_text(ctx)?);
        } else if value.is_array() && key == "cacerts" {
            for index in 0..value.length(ctx)? {
                let text = value.get_index(ctx, index)?;
                if !text.is_string() {
                    return Err(invalid(ctx, &format!("tls {key}"), item, expected)?);
                }
                texts.push(text.to_text(ctx)?);
            }
        } else {
            return Err(invalid(ctx, &format!("tls {key}"), item, expected)?);
        }
        match &*key {
            "cert" => credentials.cert = texts.concat(),
            "key" => credentials.key = texts.concat(),
            "password" => credentials.password = texts.concat(),
            _ => credentials.cacerts = texts,
        }
    }
    Ok((!is_empty).then_some(credentials))
}

fn invalid(ctx: Ctx, key: &str, item: &Handle, expected: &str) -> Result<Problem, Throw> {
    Ok(Problem::Text(format!("invalid {key} value: '{}', {expected}", shown(ctx, item)?)))
}

impl Credentials {
    fn settings(&self, vu: &Vu) -> JsResult<OwnTls> {
        for (index, pem) in self.cacerts.iter().enumerate() {
            if !pem.contains("-----BEGIN CERTIFICATE-----") {
                return Err(Throw::error(format!("failed to append ca certificate [{index}] from PEM")));
            }
        }
        // k6: without both there is no client certificate.
        let auth = (!self.cert.is_empty() && !self.key.is_empty()).then(|| ClientAuth {
            cert_pem: self.cert.clone(),
            key_pem: self.key.clone(),
            password: self.password.clone(),
            domains: Vec::new(),
        });
        let roots = self.cacerts.join("\n");
        let settings = vu.thread.client.own_tls(auth, (!roots.is_empty()).then_some(roots.as_str()));
        settings.map_err(|error| Throw::error(format!("failed to append certificate from PEM: tls: {error}")))
    }
}

/// k6's default.
const TIMEOUT_NS: u64 = 60_000_000_000;
