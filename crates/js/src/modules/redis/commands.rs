//! The methods of a client: what they send, and what their promises give.

use onrush_redis::{Command, Reply};

use super::Client;
use crate::{
    embed::{Args, Charge, Ctx, GrowingCharge, Handle, HostClass, JsResult, Throw, Val},
    modules::promise::{plain_reason, settled_later},
    vu::{context, context::vu, event_loop},
};

/// A method that sends one command.
struct Method {
    name: &'static str,
    command: &'static str,
    /// One letter an argument: `k` anything as text, `i` a number, `v` a string, number or boolean; a capital letter
    /// stands for all that are left.
    takes: &'static str,
    gives: Gives,
}

/// What a reply becomes.
#[derive(Clone, Copy)]
enum Gives {
    /// As it is.
    Any,
    Boolean,
    /// Names and values, as an object.
    Object,
    /// Seconds left.
    Seconds,
}

const fn method(name: &'static str, command: &'static str, takes: &'static str, gives: Gives) -> Method {
    Method { name, command, takes, gives }
}

/// `set` and `isConnected` are apart.
const METHODS: &[Method] = &[
    method("get", "GET", "k", Gives::Any),
    method("getSet", "GETSET", "kv", Gives::Any),
    method("getDel", "GETDEL", "k", Gives::Any),
    method("del", "DEL", "K", Gives::Any),
    method("exists", "EXISTS", "K", Gives::Any),
    method("incr", "INCR", "k", Gives::Any),
    method("incrBy", "INCRBY", "ki", Gives::Any),
    method("decr", "DECR", "k", Gives::Any),
    method("decrBy", "DECRBY", "ki", Gives::Any),
    method("randomKey", "RANDOMKEY", "", Gives::Any),
    method("mget", "MGET", "K", Gives::Any),
    method("expire", "EXPIRE", "ki", Gives::Boolean),
    method("ttl", "TTL", "k", Gives::Seconds),
    method("persist", "PERSIST", "k", Gives::Boolean),
    method("lpush", "LPUSH", "kV", Gives::Any),
    method("rpush", "RPUSH", "kV", Gives::Any),
    method("lpop", "LPOP", "k", Gives::Any),
    method("rpop", "RPOP", "k", Gives::Any),
    method("lrange", "LRANGE", "kii", Gives::Any),
    method("lindex", "LINDEX", "ki", Gives::Any),
    method("lset", "LSET", "kik", Gives::Any),
    method("lrem", "LREM", "kik", Gives::Any),
    method("llen", "LLEN", "k", Gives::Any),
    method("hset", "HSET", "kkv", Gives::Any),
    method("hsetnx", "HSETNX", "kkk", Gives::Boolean),
    method("hget", "HGET", "kk", Gives::Any),
    method("hdel", "HDEL", "kK", Gives::Any),
    method("hgetall", "HGETALL", "k", Gives::Object),
    method("hkeys", "HKEYS", "k", Gives::Any),
    method("hvals", "HVALS", "k", Gives::Any),
    method("hlen", "HLEN", "k", Gives::Any),
    method("hincrby", "HINCRBY", "kki", Gives::Any),
    method("sadd", "SADD", "kV", Gives::Any),
    method("srem", "SREM", "kV", Gives::Any),
    method("sismember", "SISMEMBER", "kv", Gives::Boolean),
    method("smembers", "SMEMBERS", "k", Gives::Any),
    method("srandmember", "SRANDMEMBER", "k", Gives::Any),
    method("spop", "SPOP", "k", Gives::Any),
    // The name of the command is its first argument.
    method("sendCommand", "", "kV", Gives::Any),
];

pub(super) fn define(ctx: Ctx, prototype: &Handle) -> JsResult<()> {
    for (number, method) in METHODS.iter().enumerate() {
        let function = ctx.numbered(method.name, method.takes.len() as i32, number as i16, call)?;
        prototype.define_hidden(ctx, method.name, function)?;
    }
    prototype.method(ctx, "set", 3, set)?;
    prototype
        .method(ctx, "isConnected", 0, |_, this, _| Ok(Val::bool(HostClass::<Client>::expect(this)?.has_issued.get())))
}

fn call(ctx: Ctx, this: &Handle, args: Args<'_>, number: usize) -> JsResult {
    let client = HostClass::<Client>::expect(this)?;
    let method = &METHODS[number];
    let (mut arguments, mut bytes, mut charge) = (Vec::new(), 0, GrowingCharge::default());
    for (index, kind) in method.takes.bytes().enumerate() {
        let last = if kind.is_ascii_uppercase() { args.len() } else { index + 1 };
        for index in index..last {
            match argument(ctx, args.at(index), index, kind.to_ascii_lowercase())? {
                Ok(text) => {
                    // They are copied once more into the command.
                    bytes += 2 * text.len();
                    charge.hold(bytes)?;
                    arguments.push(text);
                }
                Err(text) => return refused(ctx, &text),
            }
        }
    }
    let mut arguments = arguments.into_iter();
    let mut command = match method.command {
        "" => Command::new(&arguments.next().unwrap_or_default()),
        name => Command::new(name),
    };
    arguments.for_each(|argument| command.push(argument.as_bytes()));
    send(ctx, client, &command, method.gives)
}

/// `set(key, value, expiration)`: no expiration is none.
fn set(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let client = HostClass::<Client>::expect(this)?;
    let mut command = Command::new("SET");
    for (index, kind) in [(0, b'k'), (1, b'v')] {
        match argument(ctx, args.at(index), index, kind)? {
            Ok(text) => command.push(text.as_bytes()),
            Err(text) => return refused(ctx, &text),
        }
    }
    let seconds = if args.at(2).is_set() { args.at(2).to_i64(ctx)? } else { 0 };
    if seconds > 0 {
        command.push(b"EX");
        command.push(seconds.to_string().as_bytes());
    }
    send(ctx, client, &command, Gives::Any)
}

fn argument(ctx: Ctx, value: &Handle, index: usize, kind: u8) -> JsResult<Result<String, String>> {
    Ok(match kind {
        b'k' if !value.is_set() => Ok(String::new()),
        b'k' => Ok(value.to_text(ctx)?),
        b'i' if !value.is_set() => Ok("0".to_owned()),
        b'i' => Ok(value.to_i64(ctx)?.to_string()),
        _ if value.is_string() => Ok(value.to_text(ctx)?),
        _ if value.is_bool() => Ok(if value.truthy(ctx) { "1" } else { "0" }.to_owned()),
        // As short as it can be, and never with an exponent.
        _ if value.is_number() => Ok(value.as_number().unwrap_or_default().to_string()),
        _ => Err(format!(
            "unsupported type provided for argument at index {index}, supported types are string, number, and boolean"
        )),
    })
}

fn refused(ctx: Ctx, text: &str) -> JsResult {
    let reason = plain_reason(ctx, text)?;
    settled_later(ctx, Err(reason))
}

fn send(ctx: Ctx, client: &Client, command: &Command, gives: Gives) -> JsResult {
    if vu().in_init() {
        return refused(ctx, "connecting to a redis server in the init context is not supported");
    }
    client.has_issued.set(true);
    let (promise, resolve, reject) = ctx.promise()?;
    let (pool, bytes) = (client.pool.clone(), command.bytes());
    let charge = Charge::take(bytes.len())?;
    event_loop::start(
        move |vu| pool.ask(vu, &bytes),
        move |ctx, result| {
            drop(charge);
            let (settle, value) = match result.and_then(|result| settled(ctx, result, gives)) {
                Ok(Ok(value)) => (resolve, value),
                Ok(Err(text)) => (reject, plain_reason(ctx, &text)?),
                Err(Throw::Interrupted) => return Err(Throw::Interrupted),
                Err(throw) => (reject, crate::modules::promise::reason(ctx, throw)),
            };
            ctx.call(&settle, Handle::UNDEFINED, &[&value]).map(drop)
        },
    );
    Ok(promise)
}

/// What the promise is resolved with; else the text it is rejected with.
fn settled(ctx: Ctx, result: Result<Reply, String>, gives: Gives) -> JsResult<Result<Val, String>> {
    let reply = match result {
        Ok(Reply::Error(text)) | Err(text) => return Ok(Err(text)),
        Ok(Reply::Nil) => return Ok(Err("redis: nil".to_owned())),
        Ok(reply) => reply,
    };
    let value = match (gives, reply) {
        (Gives::Boolean, Reply::Integer(number)) => Val::bool(number == 1),
        // k6: what is no number of seconds is taken for one of nanoseconds.
        (Gives::Seconds, Reply::Integer(number)) if number < 0 => Val::number(number as f64 / 1e9),
        (Gives::Object, Reply::List(items)) => {
            let object = ctx.object()?;
            let mut items = items.into_iter();
            while let (Some(key), Some(item)) = (items.next(), items.next()) {
                let key = value_of(ctx, &key)?.to_text(ctx)?;
                object.define(ctx, &key, value_of(ctx, &item)?)?;
                context::pause()?;
            }
            object
        }
        (_, reply) => value_of(ctx, &reply)?,
    };
    Ok(Ok(value))
}

/// A reply as a value of the script. It nests as deep as the decoder allows, which is not deep.
fn value_of(ctx: Ctx, reply: &Reply) -> JsResult {
    match reply {
        Reply::Nil => Ok(Val::null()),
        Reply::Integer(number) => Ok(Val::number(*number as f64)),
        Reply::Double(number) => Ok(Val::number(*number)),
        Reply::Boolean(is_true) => Ok(Val::bool(*is_true)),
        Reply::Bytes(bytes) => Val::text(ctx, bytes),
        Reply::Error(text) => Val::string(ctx, text),
        Reply::List(items) => {
            let array = ctx.array()?;
            for (index, item) in items.iter().enumerate() {
                array.define_index(ctx, index as u32, value_of(ctx, item)?)?;
                context::pause()?;
            }
            Ok(array)
        }
    }
}
