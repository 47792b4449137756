//! `k6/x/redis` against a server of its own: a real one where `redis-server` is installed, and one that answers anything.

mod many;
mod server;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
};

use self::server::{Server, free_port};
use crate::harness::case;

/// Each call and what k6 1.8.1 makes of it, in this order on an empty database.
const CALLS: &[(&str, &str)] = &[
    ("c.set('a', 'x', 0)", "\"OK\""),
    ("c.get('a')", "\"x\""),
    ("c.get('missing')", "!redis: nil"),
    ("c.set('n', 5)", "\"OK\""),
    ("c.set('f', 1.5)", "\"OK\""),
    ("c.set('big', 1e21)", "\"OK\""),
    ("c.get('big')", "\"1000000000000000000000\""),
    ("c.set('b', true)", "\"OK\""),
    ("c.get('b')", "\"1\""),
    (
        "c.set('o', {})",
        "!unsupported type provided for argument at index 1, supported types are string, number, and boolean",
    ),
    ("c.get(null)", "!redis: nil"),
    ("c.set('e', 'x', 5)", "\"OK\""),
    ("c.ttl('e')", "5"),
    ("c.ttl('a')", "-1e-9"),
    ("c.ttl('missing')", "-2e-9"),
    ("c.persist('e')", "true"),
    ("c.persist('e')", "false"),
    ("c.expire('a', 100)", "true"),
    ("c.expire('missing', 1)", "false"),
    ("c.getSet('a', 'y')", "\"x\""),
    ("c.getSet('new', 'y')", "!redis: nil"),
    ("c.getDel('new')", "\"y\""),
    ("c.del('a', 'b')", "2"),
    ("c.del()", "!ERR wrong number of arguments for 'del' command"),
    ("c.exists('n', 'missing', 'n')", "2"),
    ("c.incr('n')", "6"),
    ("c.incr('f')", "!ERR value is not an integer or out of range"),
    ("c.incrBy('n', 10)", "16"),
    ("c.decr('n')", "15"),
    ("c.decrBy('n', 3)", "12"),
    ("c.mget('n', 'missing', 'f')", "[\"12\",null,\"1.5\"]"),
    ("c.lpush('l', 'a', 1, true)", "3"),
    ("c.rpush('l', 'z')", "4"),
    (
        "c.lpush('l', 'a', {})",
        "!unsupported type provided for argument at index 2, supported types are string, number, and boolean",
    ),
    ("c.lrange('l', 0, -1)", "[\"1\",\"1\",\"a\",\"z\"]"),
    ("c.lrange('missing', 0, -1)", "[]"),
    ("c.lindex('l', 99)", "!redis: nil"),
    ("c.lset('l', 0, 'q')", "\"OK\""),
    ("c.lset('l', 99, 'q')", "!ERR index out of range"),
    ("c.lrem('l', 1, 'q')", "1"),
    ("c.llen('l')", "3"),
    ("c.lpop('l')", "\"1\""),
    ("c.rpop('l')", "\"z\""),
    ("c.get('l')", "!WRONGTYPE Operation against a key holding the wrong kind of value"),
    ("c.hset('h', 'f', 'v')", "1"),
    ("c.hset('h', 'f', 'v2')", "0"),
    ("c.hsetnx('h', 'f', 'x')", "false"),
    ("c.hsetnx('h', 'g', 'x')", "true"),
    ("c.hget('h', 'f')", "\"v2\""),
    ("c.hget('h', 'nope')", "!redis: nil"),
    ("c.hgetall('h')", "{\"f\":\"v2\",\"g\":\"x\"}"),
    ("c.hgetall('missing')", "{}"),
    ("c.hkeys('h')", "[\"f\",\"g\"]"),
    ("c.hvals('h')", "[\"v2\",\"x\"]"),
    ("c.hlen('h')", "2"),
    ("c.hincrby('h', 'c', 5)", "5"),
    ("c.hdel('h', 'f', 'g')", "2"),
    ("c.sadd('s', 'a', 'b', 1)", "3"),
    ("c.sismember('s', 'a')", "true"),
    ("c.sismember('s', 'zz')", "false"),
    ("c.smembers('missing')", "[]"),
    ("c.srem('s', 'b', 1)", "2"),
    ("c.srandmember('s')", "\"a\""),
    ("c.spop('s')", "\"a\""),
    ("c.spop('s')", "!redis: nil"),
    ("c.sendCommand('PING')", "\"PONG\""),
    ("c.sendCommand('GET', 'missing')", "!redis: nil"),
    ("c.sendCommand('NOPE', 'x')", "!ERR unknown command 'NOPE', with args beginning with: 'x' "),
    ("c.sendCommand('EVAL', 'return {1,\"a\",{2,3},false,{err=\"boom\"}}', 0)", "[1,\"a\",[2,3],null,\"boom\"]"),
    ("c.sendCommand('FLUSHALL')", "\"OK\""),
    ("c.randomKey()", "!redis: nil"),
];

#[test]
fn every_method_does_what_it_does_in_k6() {
    let Some(server) = Server::start() else { return };
    let calls: String = CALLS.iter().map(|(call, _)| format!("await show(() => {call});\n")).collect();
    let script = format!(
        "import redis from 'k6/x/redis';
         const c = new redis.Client(`redis://127.0.0.1:${{__ENV.REDIS}}`);
         async function show(what) {{ try {{ console.log(JSON.stringify(await what())); }} catch (error) {{ console.log('!' + error); }} }}
         export default async function () {{ {calls} }}"
    );
    case(&script).env("REDIS", &server.port.to_string()).both(|report| {
        report.assert_clean();
        for ((call, expect), said) in CALLS.iter().zip(report.said()) {
            assert_eq!(said, *expect, "{call}");
        }
        assert_eq!(report.said().len(), CALLS.len());
    });
}

#[test]
fn vus_have_clients_of_their_own_and_many_commands_at_once() {
    let Some(server) = Server::start() else { return };
    case(
        "import { Client } from 'k6/x/redis';
         const c = new Client({ socket: { host: '127.0.0.1', port: Number(__ENV.REDIS), poolSize: 3 }, database: 2 });
         export default async function () {
           const before = c.isConnected();
           const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => c.sendCommand('ECHO', `${__VU}.${i}`)));
           console.log(before, c.isConnected(), answers.every((answer, i) => answer === `${__VU}.${i}`));
         }",
    )
    .env("REDIS", &server.port.to_string())
    .vus(4, 2)
    .threads(2)
    .both(|report| {
        report.assert_clean();
        let (first, again) = ("false true true", "true true true");
        assert_eq!(report.said_sorted(), [first, first, first, first, again, again, again, again]);
    });
}

#[test]
fn init_code_refused_connections_and_wrong_options_are_told() {
    let port = free_port();
    case(
        "import redis from 'k6/x/redis';
         const c = new redis.Client(`redis://127.0.0.1:${__ENV.REDIS}?max_retries=-1`);
         const early = await c.get('a').catch(String);
         const wrong = [[], [1], [{}], [{ nope: 1 }], [{ socket: { host: 5 } }], ['http://x'], [[]], ['a', 'b']].map((args) => { try { new redis.Client(...args); } catch (error) { return error.message; } });
         export default async function () { console.log(early); wrong.forEach((text) => console.log(text)); try { await c.get('a'); } catch (error) { console.log(String(error).replace(/:\\d+/, ':PORT')); } }",
    )
    .env("REDIS", &port.to_string())
    .both(|report| {
        report.assert_clean();
        let expect = [
            "connecting to a redis server in the init context is not supported",
            "must specify one argument",
            "invalid options type: int64; expected string or object",
            "invalid options; reason: empty socket options",
            "invalid options; reason: json: unknown field \"nope\"",
            "invalid options; reason: json: cannot unmarshal number into Go struct field socketOptions.socket.host of type string",
            "invalid options; reason: redis: invalid URL scheme: http",
            "invalid options type: []interface {}; expected string or object",
            "must specify one argument",
            "dial tcp 127.0.0.1:PORT: connect: connection refused",
        ];
        assert_eq!(report.said(), expect);
    });
}

/// What a server answers to everything, and what the script is told.
const HOSTILE: &[(&[u8], &str)] = &[
    (b"", "EOF"),
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "redis: can't parse \"HTTP/1.1 400 Bad Request\""),
    (b"\r\n", "redis: can't parse \"\""),
    (b"$5\r\nhel", "EOF"),
    (b"$x\r\n", "redis: invalid length in \"$x\""),
    (b"$-7\r\n", "redis: invalid length in \"$-7\""),
    (b"$999999999999\r\n", "redis: a reply is larger than 128 MiB"),
    (b"$99999999999999999999\r\n", "redis: invalid length in \"$99999999999999999999\""),
    (b"$1\r\nabcdef\r\n", "redis: a text does not end where its length says"),
    (b"*999999999\r\n", "redis: a reply is larger than 128 MiB"),
    (b"*3\r\n:1\r\n", "EOF"),
    (b":12x\r\n", "redis: can't parse \":12x\""),
    (b"?what\r\n", "redis: can't parse \"?what\""),
    (b"-ERR no\r\n", "ERR no"),
    (b"-\r\n", ""),
    (b"+unasked\r\n+more\r\n", "unasked"),
    (b"$-1\r\n", "redis: nil"),
    (b"*-1\r\n", "redis: nil"),
    (b"+OK", "EOF"),
    (b"*", "EOF"),
    (b"$3\r\nabcde", "redis: a text does not end where its length says"),
    (b":9223372036854775808\r\n", "redis: can't parse \":9223372036854775808\""),
    (b"*-2\r\n", "redis: invalid length in \"*-2\""),
    (b"*1\r\n$-1\r\n", "redis: can't parse reply=list of 1 reading string"),
    (b"*1\r\n-ERR inside\r\n", "redis: can't parse reply=list of 1 reading string"),
    (b"*1\r\n*1\r\n*1\r\n:7\r\n", "redis: can't parse reply=list of 1 reading string"),
    (b">1\r\n+pushed\r\n+asked\r\n", "asked"),
    (b"|1\r\n+key\r\n+value\r\n+asked\r\n", "asked"),
    (b"#x\r\n", "redis: can't parse \"#x\""),
    (b",1.5x\r\n", "redis: can't parse \",1.5x\""),
    (b"=7\r\ntxt:abc\r\n", "abc"),
    (b"!5\r\nERR x\r\n", "ERR x"),
    (b"+a\nb\r\n", "a"),
    (b"$0\r\n\r\n", ""),
    (b"\0\0\0\0\r\n", "redis: can't parse \"\\0\\0\\0\\0\""),
    (b"\xff\xfe\xfd\r\n", "redis: can't parse \"\u{fffd}\u{fffd}\u{fffd}\""),
];

/// `docs/reference/hostile-data.md` says of each case what happens here.
#[test]
fn the_page_has_every_hostile_case() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/hostile-data.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let table = page.split("\n## ").find(|part| part.starts_with("Redis\n")).expect("a part on Redis");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert_eq!(rows.len(), HOSTILE.len());
    for (row, (_, expect)) in rows.iter().zip(HOSTILE) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [.., k6, here] = cells.as_slice() else { panic!("{row}") };
        let says = if *here == "the same" { k6 } else { here };
        let text = says.split_once('`').and_then(|(_, rest)| rest.rsplit_once('`')).map_or("", |(text, _)| text);
        let text = if says.starts_with("resolves") {
            serde_json::from_str(text).expect("a text of JSON")
        } else {
            assert!(says.starts_with("rejects") || text.is_empty(), "{row}");
            text.to_owned()
        };
        assert!(text == *expect || says.starts_with("nothing"), "{row}: {expect}");
    }
}

#[test]
fn hostile_servers_fail_the_command_alone() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    // Answers by the number in `GET number`, and closes.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut lines = BufReader::new(stream.try_clone().expect("a handle")).lines();
            let Some(Ok(number)) = lines.nth(4) else { continue };
            let Some((answer, _)) = number.parse::<usize>().ok().and_then(|number| HOSTILE.get(number)) else {
                continue;
            };
            let _ = stream.write_all(answer);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            // The client closes first: else what it has not read would be lost.
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let script = format!(
        "import redis from 'k6/x/redis';
         const c = new redis.Client(`redis://127.0.0.1:${{__ENV.REDIS}}`);
         export default async function () {{ for (let i = 0; i < {}; i++) await c.get(i).then((text) => console.log(text), (error) => console.log(String(error))); }}",
        HOSTILE.len()
    );
    case(&script).env("REDIS", &port.to_string()).both(|report| {
        report.assert_clean();
        let expect: Vec<_> = HOSTILE.iter().map(|(_, expect)| *expect).collect();
        assert_eq!(report.said(), expect);
    });
}

/// A command that waits is cut with its iteration.
#[test]
fn a_silent_server_does_not_hold_the_test() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    case(
        "import redis from 'k6/x/redis';
         export const options = { scenarios: { all: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } };
         const c = new redis.Client(`redis://127.0.0.1:${__ENV.REDIS}?read_timeout=100`);
         export default async function () { await c.get('a'); }",
    )
    .env("REDIS", &port.to_string())
    .both(|report| assert!(report.stop.is_none() && report.iterations() == 0.0, "{report:#?}"));
    drop(listener);
}
