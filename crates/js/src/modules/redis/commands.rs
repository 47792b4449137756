//! The methods of a client: what they send, and what their promises give.

use onrush_redis::{Command, Reply};

use super::{Client, servers::Question};
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
    Text,
    Integer,
    /// A list of texts.
    Texts,
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
    method("get", "GET", "k", Gives::Text),
    method("getSet", "GETSET", "kv", Gives::Text),
    method("getDel", "GETDEL", "k", Gives::Text),
    method("del", "DEL", "K", Gives::Integer),
    method("exists", "EXISTS", "K", Gives::Integer),
    method("incr", "INCR", "k", Gives::Integer),
    method("incrBy", "INCRBY", "ki", Gives::Integer),
    method("decr", "DECR", "k", Gives::Integer),
    method("decrBy", "DECRBY", "ki", Gives::Integer),
    method("randomKey", "RANDOMKEY", "", Gives::Text),
    method("mget", "MGET", "K", Gives::Any),
    method("expire", "EXPIRE", "ki", Gives::Boolean),
    method("ttl", "TTL", "k", Gives::Seconds),
    method("persist", "PERSIST", "k", Gives::Boolean),
    method("lpush", "LPUSH", "kV", Gives::Integer),
    method("rpush", "RPUSH", "kV", Gives::Integer),
    method("lpop", "LPOP", "k", Gives::Text),
    method("rpop", "RPOP", "k", Gives::Text),
    method("lrange", "LRANGE", "kii", Gives::Texts),
    method("lindex", "LINDEX", "ki", Gives::Text),
    method("lset", "LSET", "kik", Gives::Text),
    method("lrem", "LREM", "kik", Gives::Integer),
    method("llen", "LLEN", "k", Gives::Integer),
    method("hset", "HSET", "kkv", Gives::Integer),
    method("hsetnx", "HSETNX", "kkk", Gives::Boolean),
    method("hget", "HGET", "kk", Gives::Text),
    method("hdel", "HDEL", "kK", Gives::Integer),
    method("hgetall", "HGETALL", "k", Gives::Object),
    method("hkeys", "HKEYS", "k", Gives::Texts),
    method("hvals", "HVALS", "k", Gives::Texts),
    method("hlen", "HLEN", "k", Gives::Integer),
    method("hincrby", "HINCRBY", "kki", Gives::Integer),
    method("sadd", "SADD", "kV", Gives::Integer),
    method("srem", "SREM", "kV", Gives::Integer),
    method("sismember", "SISMEMBER", "kv", Gives::Boolean),
    method("smembers", "SMEMBERS", "k", Gives::Texts),
    method("srandmember", "SRANDMEMBER", "k", Gives::Text),
    method("spop", "SPOP", "k", Gives::Text),
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
    let (name, arguments) = match (method.command, arguments.as_slice()) {
        ("", [name, rest @ ..]) => (name.as_str(), rest),
        (name, all) => (name, all),
    };
    let mut command = Command::new(name);
    arguments.iter().for_each(|argument| command.push(argument.as_bytes()));
    let (key, is_read) = place(name, arguments);
    send(ctx, client, question(client, &command, key, is_read), method.gives)
}

/// The first key among a command's arguments, and whether the command only reads.
fn place<'a>(name: &str, arguments: &'a [String]) -> (Option<&'a str>, bool) {
    let is_one_of = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(name));
    let index = if is_one_of(KEYLESS) {
        None
    } else if is_one_of(&["EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"]) {
        (arguments.get(1).map(String::as_str) != Some("0")).then_some(2)
    } else if is_one_of(&["MEMORY", "OBJECT", "XINFO", "XGROUP", "DEBUG"]) {
        Some(1)
    } else {
        Some(0)
    };
    (index.and_then(|index| arguments.get(index)).map(String::as_str), is_one_of(READING))
}

/// Commands that any server of a cluster can be asked.
const KEYLESS: &[&str] = &[
    "RANDOMKEY",
    "PING",
    "ECHO",
    "INFO",
    "TIME",
    "DBSIZE",
    "FLUSHALL",
    "FLUSHDB",
    "KEYS",
    "SCAN",
    "SCRIPT",
    "FUNCTION",
    "CLUSTER",
    "COMMAND",
    "CONFIG",
    "CLIENT",
    "ROLE",
    "LATENCY",
    "SLOWLOG",
    "WAIT",
    "XREAD",
    "XREADGROUP",
];

/// Commands that the servers that follow another one can be asked.
const READING: &[&str] = &[
    "GET",
    "EXISTS",
    "RANDOMKEY",
    "MGET",
    "TTL",
    "PTTL",
    "TYPE",
    "STRLEN",
    "GETRANGE",
    "LRANGE",
    "LINDEX",
    "LLEN",
    "HGET",
    "HMGET",
    "HGETALL",
    "HKEYS",
    "HVALS",
    "HLEN",
    "HEXISTS",
    "SISMEMBER",
    "SMEMBERS",
    "SRANDMEMBER",
    "SCARD",
    "ZRANGE",
    "ZSCORE",
    "ZCARD",
];

fn question(client: &Client, command: &Command, key: Option<&str>, is_read: bool) -> Question {
    let slot = key.filter(|_| client.servers.are_many()).map(|key| onrush_redis::slot(key.as_bytes()));
    Question { bytes: command.bytes(), slot, is_read }
}

/// `set(key, value, expiration)`: no expiration is none.
fn set(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let client = HostClass::<Client>::expect(this)?;
    let mut command = Command::new("SET");
    let mut key = None;
    for (index, kind) in [(0, b'k'), (1, b'v')] {
        match argument(ctx, args.at(index), index, kind)? {
            Ok(text) => {
                command.push(text.as_bytes());
                key.get_or_insert(text);
            }
            Err(text) => return refused(ctx, &text),
        }
    }
    let seconds = if args.at(2).is_set() { args.at(2).to_i64(ctx)? } else { 0 };
    if seconds > 0 {
        command.push(b"EX");
        command.push(seconds.to_string().as_bytes());
    }
    let question = question(client, &command, key.as_deref(), false);
    send(ctx, client, question, Gives::Any)
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

fn send(ctx: Ctx, client: &Client, question: Question, gives: Gives) -> JsResult {
    if vu().in_init() {
        return refused(ctx, "connecting to a redis server in the init context is not supported");
    }
    client.has_issued.set(true);
    let (promise, resolve, reject) = ctx.promise()?;
    let servers = client.servers.clone();
    let charge = Charge::take(question.bytes.len())?;
    event_loop::start(
        move |vu| servers.ask(vu, &question),
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

/// A reply as what the method gives; else why it is none. A server, or a proxy before it, that answers with something else
/// must not look like success. k6: texts and numbers stand for each other, as far as they can.
fn fitting(gives: Gives, reply: Reply) -> Result<Reply, String> {
    let shown = |reply: &Reply| match reply {
        Reply::Bytes(bytes) => format!("{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(100)])),
        Reply::Integer(number) => number.to_string(),
        Reply::Double(number) => number.to_string(),
        Reply::Boolean(is_true) => is_true.to_string(),
        Reply::List(items) => format!("a list of {}", items.len()),
        Reply::Nil | Reply::Error(_) => "nothing".to_owned(),
    };
    match (gives, reply) {
        (Gives::Boolean, Reply::Nil) => Ok(Reply::Boolean(false)),
        (_, Reply::Nil) => Err("redis: nil".to_owned()),
        (Gives::Any, reply) => Ok(reply),
        (Gives::Boolean, Reply::Integer(number)) => Ok(Reply::Boolean(number == 1)),
        (Gives::Boolean, Reply::Bytes(text)) if text == b"OK" => Ok(Reply::Boolean(true)),
        (Gives::Boolean, Reply::Boolean(is_true)) => Ok(Reply::Boolean(is_true)),
        (Gives::Integer | Gives::Seconds, Reply::Integer(number)) => Ok(Reply::Integer(number)),
        (Gives::Integer | Gives::Seconds, Reply::Bytes(text)) => {
            let number = std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
            let invalid =
                || format!("strconv.ParseInt: parsing {}: invalid syntax", shown(&Reply::Bytes(text.clone())));
            number.map(Reply::Integer).ok_or_else(invalid)
        }
        (Gives::Text, Reply::List(items)) => {
            Err(format!("redis: can't parse reply=list of {} reading string", items.len()))
        }
        (Gives::Text, reply) => Ok(as_text(reply)),
        (Gives::Texts, Reply::List(items)) => Ok(Reply::List(items.into_iter().map(as_text).collect())),
        (Gives::Object, Reply::List(items)) if items.len() % 2 == 0 => Ok(Reply::List(items)),
        (Gives::Object, Reply::List(items)) => {
            Err(format!("redis: got {} elements in the map reply, wanted a multiple of 2", items.len()))
        }
        (Gives::Boolean | Gives::Integer | Gives::Seconds, reply) => {
            Err(format!("redis: can't parse int reply: {}", shown(&reply)))
        }
        (Gives::Texts, reply) => Err(format!("redis: can't parse array reply: {}", shown(&reply))),
        (Gives::Object, reply) => Err(format!("redis: can't parse map reply: {}", shown(&reply))),
    }
}

/// Numbers and booleans as texts; the rest as it is.
fn as_text(reply: Reply) -> Reply {
    match reply {
        Reply::Integer(number) => Reply::Bytes(number.to_string().into_bytes()),
        Reply::Double(number) => Reply::Bytes(number.to_string().into_bytes()),
        Reply::Boolean(is_true) => Reply::Bytes(is_true.to_string().into_bytes()),
        other => other,
    }
}

/// What the promise is resolved with; else the text it is rejected with.
fn settled(ctx: Ctx, result: Result<Reply, String>, gives: Gives) -> JsResult<Result<Val, String>> {
    let reply = match result {
        Ok(Reply::Error(text)) | Err(text) => return Ok(Err(text)),
        Ok(reply) => match fitting(gives, reply) {
            Ok(reply) => reply,
            Err(text) => return Ok(Err(text)),
        },
    };
    let value = match (gives, reply) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_fit_their_command() {
        let bytes = |text: &str| Reply::Bytes(text.into());
        let list = |items: &[Reply]| Reply::List(items.to_vec());
        let check = |gives, reply: Reply, expect: Result<Reply, &str>| {
            assert_eq!(fitting(gives, reply.clone()), expect.map_err(str::to_owned), "{reply:?}");
        };
        check(Gives::Integer, Reply::Integer(3), Ok(Reply::Integer(3)));
        check(Gives::Integer, bytes("3"), Ok(Reply::Integer(3)));
        check(Gives::Integer, bytes("OK"), Err("strconv.ParseInt: parsing \"OK\": invalid syntax"));
        check(Gives::Integer, list(&[]), Err("redis: can't parse int reply: a list of 0"));
        check(Gives::Boolean, bytes("OK"), Ok(Reply::Boolean(true)));
        check(Gives::Boolean, Reply::Nil, Ok(Reply::Boolean(false)));
        check(Gives::Boolean, Reply::Integer(2), Ok(Reply::Boolean(false)));
        check(Gives::Text, Reply::Integer(7), Ok(bytes("7")));
        check(Gives::Text, Reply::Boolean(true), Ok(bytes("true")));
        check(Gives::Text, list(&[bytes("a")]), Err("redis: can't parse reply=list of 1 reading string"));
        check(Gives::Text, Reply::Nil, Err("redis: nil"));
        check(Gives::Texts, list(&[Reply::Integer(1), bytes("b")]), Ok(list(&[bytes("1"), bytes("b")])));
        check(Gives::Texts, bytes("OK"), Err("redis: can't parse array reply: \"OK\""));
        check(
            Gives::Object,
            list(&[bytes("a")]),
            Err("redis: got 1 elements in the map reply, wanted a multiple of 2"),
        );
        check(Gives::Object, bytes("OK"), Err("redis: can't parse map reply: \"OK\""));
        check(Gives::Any, bytes("OK"), Ok(bytes("OK")));
    }
}
