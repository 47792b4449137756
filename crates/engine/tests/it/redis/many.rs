//! More than one server: clusters, sentinels, TLS.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
};

use onrush_testkit::CertificateAuthority;

use super::server::{Server, free_port};
use crate::harness::case;

/// Two servers that share the slots, and one that follows the first.
fn cluster() -> Option<[Server; 3]> {
    let start = || {
        // Not the port above its own by 10,000, which may be none.
        let bus = free_port().to_string();
        Server::start_with(&["--cluster-enabled", "yes", "--cluster-port", &bus], &[]).map(|server| (server, bus))
    };
    let ((first, first_bus), (second, _), (third, _)) = (start()?, start()?, start()?);
    assert_eq!(first.say("CLUSTER ADDSLOTSRANGE 0 8191"), "+OK");
    assert_eq!(second.say("CLUSTER ADDSLOTSRANGE 8192 16383"), "+OK");
    for other in [&second, &third] {
        assert_eq!(other.say(&format!("CLUSTER MEET 127.0.0.1 {} {first_bus}", first.port)), "+OK");
    }
    let id = first.say("CLUSTER MYID");
    for server in [&first, &second, &third] {
        server.wait_for("CLUSTER INFO", "cluster_state:ok");
        server.wait_for("CLUSTER INFO", "cluster_known_nodes:3");
        server.wait_for("CLUSTER NODES", &id);
    }
    assert_eq!(third.say(&format!("CLUSTER REPLICATE {id}")), "+OK");
    third.wait_for("INFO replication", "master_link_status:up");
    for server in [&first, &second] {
        server.wait_for("CLUSTER SLOTS", &third.port.to_string());
    }
    Some([first, second, third])
}

#[test]
fn commands_find_the_server_of_their_key() {
    let Some([first, second, third]) = cluster() else { return };
    // A key that is on its way: the first server has it no more, the second one answers who was sent there.
    let slot = first.say("CLUSTER KEYSLOT {moving}").trim_start_matches(':').to_owned();
    let (from, to) = if slot.parse::<u16>().expect("a number") < 8192 { (&first, &second) } else { (&second, &first) };
    let (from_id, to_id) = (from.say("CLUSTER MYID"), to.say("CLUSTER MYID"));
    assert_eq!(to.say(&format!("CLUSTER SETSLOT {slot} IMPORTING {from_id}")), "+OK");
    assert_eq!(from.say(&format!("CLUSTER SETSLOT {slot} MIGRATING {to_id}")), "+OK");
    case(
        "import redis from 'k6/x/redis';
         const c = new redis.Client({ cluster: { nodes: [`redis://127.0.0.1:${__ENV.SECOND}`, `redis://127.0.0.1:${__ENV.FIRST}`] } });
         const r = new redis.Client({ cluster: { readOnly: true, nodes: [{ socket: { host: '127.0.0.1', port: Number(__ENV.THIRD) } }] } });
         export default async function () {
           const keys = Array.from({ length: 40 }, (_, n) => `key${n}`);
           await Promise.all(keys.map((key) => c.set(key, key)));
           const values = await Promise.all(keys.map((key) => c.get(key)));
           console.log(values.join() === keys.join());
           console.log(await c.sendCommand('MSET', '{tag}a', 1, '{tag}b', 2), JSON.stringify(await c.mget('{tag}a', '{tag}b')));
           console.log(await c.mget('key1', 'key2', 'key3').catch(String));
           console.log(await c.set('{moving}', 'there'), await c.get('{moving}'));
           console.log(await c.sendCommand('EVAL', 'return redis.call(\"GET\", KEYS[1])', 1, 'key7'));
           console.log(typeof (await c.randomKey()));
           let read = 0;
           for (let n = 0; n < 40; n++) if ((await r.get(`key${n}`).catch(() => null)) !== null) read++;
           console.log(read > 0);
         }",
    )
    .env("FIRST", &first.port.to_string())
    .env("SECOND", &second.port.to_string())
    .env("THIRD", &third.port.to_string())
    .both(|report| {
        report.assert_clean();
        let crossed = "CROSSSLOT Keys in request don't hash to the same slot";
        assert_eq!(report.said(), ["true", "OK [\"1\",\"2\"]", crossed, "OK there", "key7", "string", "true"]);
    });
}

/// A server that answers every command with the same, which may name the port of another one.
fn parrot(answer: String) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let answer = answer.replace("SELF", &port.to_string());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(mut stream), answer) = (stream, answer.clone()) else { return };
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().expect("a handle"));
                let mut line = String::new();
                while lines.read_line(&mut line).is_ok_and(|count| count > 0) {
                    // The rest of the command: a length and a text an argument.
                    let arguments: usize = line.trim_start_matches('*').trim().parse().unwrap_or(0);
                    for _ in 0..2 * arguments {
                        line.clear();
                        if lines.read_line(&mut line).is_err() {
                            return;
                        }
                    }
                    line.clear();
                    if stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
                let _ = stream.read_to_end(&mut Vec::new());
            });
        }
    });
    port
}

#[test]
fn servers_that_send_on_for_ever_or_know_no_slots_are_left() {
    // All of them live until the end.
    let Some(servers) = cluster() else { return };
    let first = &servers[0];
    let slots = |port: u16| format!("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:{port}\r\n");
    // All slots are said to be at the first server, which knows better.
    let stale = parrot(slots(first.port));
    let cases = [
        (stale, "value"),
        (parrot("-MOVED 12182 127.0.0.1:SELF\r\n".to_owned()), "MOVED 12182 127.0.0.1:PORT"),
        (parrot(slots(parrot("-MOVED 12182 127.0.0.1:SELF\r\n".to_owned()))), "MOVED 12182 127.0.0.1:PORT"),
        (parrot(slots(parrot("-ASK 12182 127.0.0.1:SELF\r\n".to_owned()))), "ASK 12182 127.0.0.1:PORT"),
        (
            parrot(slots(parrot("-MOVED 12182 nonsense\r\n".to_owned()))),
            "redis: \"nonsense\" is no address of a server",
        ),
        (parrot(slots(parrot("-CLUSTERDOWN The cluster is down\r\n".to_owned()))), "CLUSTERDOWN The cluster is down"),
        (parrot("*0\r\n".to_owned()), "redis: cluster has no nodes"),
        (parrot("*1\r\n*3\r\n:0\r\n:99999\r\n*2\r\n$1\r\nh\r\n:1\r\n".to_owned()), "redis: cluster has no nodes"),
        (parrot("+OK\r\n".to_owned()), "redis: cluster has no nodes"),
        (
            parrot("-ERR This instance has cluster support disabled\r\n".to_owned()),
            "ERR This instance has cluster support disabled",
        ),
        (free_port(), "dial tcp 127.0.0.1:PORT: connect: connection refused"),
    ];
    case(
        "import redis from 'k6/x/redis';
         const one = new redis.Client({ cluster: { nodes: __ENV.FIRST.split(',').map((port) => `redis://127.0.0.1:${port}`) } });
         const all = __ENV.PORTS.split(',').map((port) => new redis.Client({ cluster: { nodes: [`redis://127.0.0.1:${port}`] } }));
         export default async function () {
           await one.set('foo', 'value');
           for (const client of all) console.log(await client.get('foo').catch((error) => String(error).replace(/127.0.0.1:\\d+/, '127.0.0.1:PORT')));
         }",
    )
    .env("FIRST", &first.port.to_string())
    .env("PORTS", &cases.each_ref().map(|(port, _)| port.to_string()).join(","))
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), cases.each_ref().map(|(_, expect)| *expect));
    });
}

#[test]
fn sentinels_name_the_master() {
    let Some(master) = Server::start() else { return };
    let monitor = format!("sentinel monitor main 127.0.0.1 {} 1\n", master.port);
    let Some(sentinel) = Server::start_with(&["sentinel.conf", "--sentinel"], &[("sentinel.conf", &monitor)]) else {
        return;
    };
    case(
        "import redis from 'k6/x/redis';
         const socket = { host: '127.0.0.1', port: Number(__ENV.SENTINEL) };
         const c = new redis.Client({ masterName: 'main', socket });
         const others = [{ masterName: 'other', socket }, { masterName: 'main', socket: { host: '127.0.0.1', port: Number(__ENV.MASTER) } }];
         const clients = others.map((options) => new redis.Client(options));
         export default async function () {
           console.log(await c.set('a', 'b'), await c.get('a'));
           for (const client of clients) console.log(await client.get('a').catch(String));
         }",
    )
    .env("SENTINEL", &sentinel.port.to_string())
    .env("MASTER", &master.port.to_string())
    .both(|report| {
        report.assert_clean();
        // As k6 1.8.1 has it.
        let unreachable = "redis: all sentinels specified in configuration are unreachable";
        let unknown = "ERR unknown command 'sentinel', with args beginning with: 'get-master-addr-by-name' 'main' ";
        assert_eq!(report.said(), ["OK b", &format!("{unreachable}: redis: nil"), &format!("{unreachable}: {unknown}")]);
    });
}

#[test]
fn a_server_with_certificates_of_its_own_is_trusted_and_told_ours() {
    let (authority, stranger) = (CertificateAuthority::new(), CertificateAuthority::new());
    let (server, client) = (authority.identity(&["localhost", "127.0.0.1"]), authority.identity(&["client"]));
    let tls_port = free_port().to_string();
    let flags =
        ["--tls-port", &tls_port, "--tls-cert-file", "cert", "--tls-key-file", "key", "--tls-ca-cert-file", "ca"];
    let files = [("cert", &*server.cert_pem), ("key", &server.key_pem), ("ca", authority.pem())];
    let Some(redis) = Server::start_with(&flags, &files) else { return };
    redis.wait_for("PING", "PONG");
    case(
        "import redis from 'k6/x/redis';
         const socket = (tls) => ({ socket: { host: '127.0.0.1', port: Number(__ENV.PORT), tls } });
         const { CA, STRANGER, CERT, KEY } = __ENV;
         const clients = [{ ca: [CA], cert: CERT, key: KEY }, { ca: [STRANGER, CA], cert: CERT, key: KEY }, { ca: [CA] }, { ca: [STRANGER], cert: CERT, key: KEY }].map((tls) => new redis.Client({ ...socket(tls), maxRetries: -1 }));
         const wrong = [5, { ca: 'x' }, { ca: [5] }, { cert: 5 }, { nope: 1 }, { cert: 'x', key: 'y' }].map((tls) => { try { new redis.Client(socket(tls)); } catch (error) { return error.message; } });
         export default async function () {
           for (const client of clients) console.log(await client.sendCommand('PING').then(String, (error) => /certificate|tls:|EOF|reset|broken/.test(String(error)) ? 'refused' : String(error)));
           wrong.forEach((text) => console.log(text));
         }",
    )
    .env("PORT", &tls_port)
    .env("CA", authority.pem())
    .env("STRANGER", stranger.pem())
    .env("CERT", &client.cert_pem)
    .env("KEY", &client.key_pem)
    .both(|report| {
        report.assert_clean();
        let unmarshal = "invalid options; reason: json: cannot unmarshal";
        let expect = [
            "PONG",
            "PONG",
            "refused",
            "refused",
            &format!("{unmarshal} number into Go struct field socketOptions.socket.tls of type redis.tlsOptions"),
            &format!("{unmarshal} string into Go struct field tlsOptions.socket.tls.ca of type []string"),
            &format!("{unmarshal} number into Go struct field tlsOptions.socket.tls.ca of type string"),
            &format!("{unmarshal} number into Go struct field tlsOptions.socket.tls.cert of type string"),
            "invalid options; reason: json: unknown field \"nope\"",
            "invalid options; reason: tls: failed to find any PEM data in certificate input",
        ];
        assert_eq!(report.said(), expect);
    });
}

#[test]
fn options_of_many_servers_are_told_as_in_k6() {
    let cases = [
        ("{ cluster: {} }", "cluster nodes property must be an array; got <nil>"),
        ("{ cluster: { nodes: 5 } }", "cluster nodes property must be an array; got int64"),
        ("{ cluster: { nodes: [] } }", "cluster nodes property cannot be empty"),
        ("{ cluster: { nodes: [5] } }", "cluster nodes array must contain string or object elements; got int64"),
        ("{ cluster: { nodes: ['http://h'] } }", "redis: invalid URL scheme: http"),
        ("{ cluster: { nodes: [{}] } }", "empty socket options"),
        ("{ cluster: { nope: 1, nodes: ['redis://h'] } }", "json: unknown field \"nope\""),
        (
            "{ cluster: { nodes: ['redis://h'], maxRedirects: 'x' } }",
            "json: cannot unmarshal string into Go struct field clusterNodesStringOptions.commonClusterOptions.maxRedirects of type int",
        ),
        (
            "{ cluster: { nodes: ['redis://h'], readOnly: 'x' } }",
            "json: cannot unmarshal string into Go struct field clusterNodesStringOptions.commonClusterOptions.readOnly of type bool",
        ),
        ("{ cluster: { nodes: ['redis://h/1', 'redis://h/2'] } }", "inconsistent db option: 1 != 2"),
        (
            "{ cluster: { nodes: [N({ username: 'a' }), N({ username: 'b' })] } }",
            "inconsistent username option: a != b",
        ),
        ("{ cluster: { nodes: [N({ password: 'a' }), N({ password: 'b' })] } }", "inconsistent password option"),
        (
            "{ cluster: { nodes: [N({ maxRetries: 1 }), N({ maxRetries: 2 })] } }",
            "inconsistent maxRetries option: 1 != 2",
        ),
        (
            "{ cluster: { nodes: [N({}, { dialTimeout: 1000 }), N({}, { dialTimeout: 2500 })] } }",
            "inconsistent dialTimeout option: 1000000000 != 2500000000",
        ),
        (
            "{ cluster: { nodes: [N({}, { poolSize: 1 }), N({}, { poolSize: 2 })] } }",
            "inconsistent poolSize option: 1 != 2",
        ),
        (
            "{ cluster: { nodes: [N({}, { idleTimeout: 1 }), N({}, { idleTimeout: 2 })] } }",
            "inconsistent idleTimeout option: 1000000 != 2000000",
        ),
        ("{ cluster: 5 }", "json: unknown field \"cluster\""),
        ("{ masterName: 'm' }", "empty socket options"),
        ("{ masterName: 'm', socket: { host: 'h' }, nope: 1 }", "json: unknown field \"nope\""),
        ("{ sentinelUsername: 'x', socket: { host: 'h' } }", "json: unknown field \"sentinelUsername\""),
        (
            "{ masterName: 'm', sentinelUsername: 5, socket: { host: 'h' } }",
            "json: cannot unmarshal number into Go struct field sentinelOptions.sentinelUsername of type string",
        ),
        ("{ cluster: { nodes: [N({ clientName: 'a' }), N({ clientName: 'b' })] } }", "taken"),
        ("{ cluster: { nodes: ['redis://h'] }, socket: 5, nope: 1 }", "taken"),
    ];
    let calls: String = cases.iter().map(|(options, _)| format!("show({options});\n")).collect();
    let script = format!(
        "import redis from 'k6/x/redis';
         const N = (options, socket) => ({{ socket: {{ host: 'h', port: 1, ...socket }}, ...options }});
         function show(options) {{ try {{ new redis.Client(options); console.log('taken'); }} catch (error) {{ console.log(error.message.replace('invalid options; reason: ', '')); }} }}
         export default function () {{ {calls} }}"
    );
    case(&script).both(|report| {
        report.assert_clean();
        for ((options, expect), said) in cases.iter().zip(report.said()) {
            assert_eq!(said, *expect, "{options}");
        }
        assert_eq!(report.said().len(), cases.len());
    });
}
