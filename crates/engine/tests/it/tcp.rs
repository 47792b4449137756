//! `k6/x/tcp` and `k6/x/dns` in both layouts, with servers of the tests' own.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use onrush_testkit::{DnsAnswer, DnsServer};

use crate::harness::case;

/// A server that does the same with every connection; its port.
fn serve(each: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(stream), each) = (stream, each.clone()) else { return };
            std::thread::spawn(move || each(stream));
        }
    });
    port.to_string()
}

fn echo(mut stream: TcpStream) {
    let mut buffer = [0; 65536];
    while let Ok(count) = stream.read(&mut buffer)
        && count > 0
        && stream.write_all(&buffer[..count]).is_ok()
    {}
}

#[test]
fn an_echo_and_its_metrics() {
    case(
        "import { Socket } from 'k6/x/tcp'; import { sleep } from 'k6';
         export const options = { summaryTrendStats: ['count'] };
         export default async function () {
           const socket = new Socket({ tags: { own: 'a' } });
           const seen = [socket.ready_state, socket.connected];
           const closed = new Promise((resolve) => socket.on('close', resolve));
           socket.on('connect', () => seen.push('connect'));
           socket.on('error', (error) => seen.push(error.message));
           let text = '';
           const told = new Promise((resolve) => socket.on('data', (bytes) => {
             text += String.fromCharCode(...bytes);
             if (text.length === 10) resolve(bytes instanceof Uint8Array);
           }));
           const connecting = socket.connect({ port: +__ENV.PORT, host: '127.0.0.1', tags: { more: 1 } });
           seen.push(socket.ready_state);
           await connecting;
           seen.push(socket.ready_state, socket.remote_ip, socket.remote_port === +__ENV.PORT, socket.local_ip, socket.local_port > 0);
           await socket.write('hello');
           await socket.write(new Uint8Array([32, 119]).buffer);
           await socket.write('b3I=', { encoding: 'base64' });
           await socket.write('64', { encoding: 'hex' });
           if (socket.bytes_written !== 10) await socket.write('');
           await socket.write('!'.repeat(10 - socket.bytes_written));
           seen.push(await told, text, socket.bytes_read, socket.bytes_written);
           socket.destroy();
           await closed;
           seen.push(socket.ready_state);
           console.log(seen.join(' '));
         }
         export function handleSummary(data) {
           const count = (name) => (data.metrics[name] ? data.metrics[name].values.count : 0);
           console.log(['tcp_sockets', 'tcp_writes', 'tcp_errors', 'tcp_socket_connecting', 'tcp_socket_resolving', 'tcp_socket_duration'].map(count).join(' '), count('tcp_reads') > 0);
           return {};
         }",
    )
    .env("PORT", &serve(echo))
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        let mut expect =
            vec!["disconnected false opening connect open 127.0.0.1 true 127.0.0.1 true true hello word 10 10 destroyed"; 4];
        expect.push("4 20 0 4 4 4 true");
        assert_eq!(report.said(), expect, "{report:#?}");
    });
}

#[test]
fn timeouts_ends_and_errors() {
    // Says hello, and ends when it is told anything.
    let port = serve(|mut stream| {
        let _ = stream.write_all(b"hello");
        let _ = stream.read(&mut [0; 16]);
    });
    case(
        "import { Socket } from 'k6/x/tcp';
         const early = await new Socket().connect(1).catch((error) => error.message);
         export default async function () {
           console.log(early);
           const seen = [];
           const socket = new Socket();
           socket.on('data', (bytes) => seen.push(bytes.length));
           socket.on('timeout', () => { seen.push('timeout'); socket.write('bye'); });
           socket.setTimeout(30);
           const closed = new Promise((resolve) => socket.on('close', resolve));
           await socket.connect(+__ENV.PORT, '127.0.0.1');
           await closed;
           console.log(seen.join(' '), socket.ready_state);
           const failing = async (call) => { try { await call(); } catch (error) { console.log(error.name, error.method, error.message.replace(/:\\d+/g, ':PORT')); } };
           await failing(() => socket.write('more'));
           await failing(() => socket.connect(+__ENV.PORT));
           const other = new Socket();
           other.on('error', (error) => console.log('event', error.name));
           other.on('close', () => console.log('never'));
           await failing(() => other.connect(1, '127.0.0.1'));
           await failing(() => new Socket().connect(0));
           await failing(() => new Socket().connect('x'));
           await failing(() => new Socket().connect({ port: 1, host: 'a/b' }));
           await failing(() => new Socket().write('x'));
           await failing(() => new Socket().connect({ port: +__ENV.PORT, host: '127.0.0.1', tls: true }));
           try { new Socket().on('nothing', () => {}); } catch (error) { console.log(error.message); }
           try { new Socket().on('data', 1); } catch (error) { console.log(error.message); }
           try { new Socket().setTimeout(-1); } catch (error) { console.log(error.message); }
         }",
    )
    .env("PORT", &port)
    .both(|report| {
        report.assert_clean();
        let expect = [
            "connect can not be used in the init context",
            "5 timeout disconnected",
            "TCPError write the socket is not connected",
            "TCPError connect the socket has been connected before; use a new one",
            "TCPError connect dial tcp 127.0.0.1:PORT: connect: connection refused",
            "event TCPError",
            "TCPError connect invalid port 0: expected a whole number from 1 to 65535",
            "TCPError connect invalid port x: expected a whole number from 1 to 65535",
            "TCPError connect invalid host \"a/b\"",
            "TCPError write the socket is not connected",
            "TCPError connect tls: first record does not look like a TLS handshake",
            "unknown event: nothing",
            "the handler of \"data\" must be a function",
            "setTimeout requires a timeout of 0 or more milliseconds",
        ];
        let mut said = report.said();
        let mut expect = expect.to_vec();
        said.sort_unstable();
        expect.sort_unstable();
        assert_eq!(said, expect, "{report:#?}");
    });
}

/// A server that never reads, one that floods, one that resets: none holds a test, or takes memory without end.
#[test]
fn hostile_peers() {
    let deaf = serve(|stream| {
        std::thread::sleep(Duration::from_secs(4));
        drop(stream);
    });
    case(
        "import { Socket } from 'k6/x/tcp';
         export default async function () {
           const socket = new Socket();
           await socket.connect(+__ENV.PORT, '127.0.0.1');
           const stuck = socket.write(new ArrayBuffer(64 << 20)).catch((error) => error.message);
           setTimeout(() => socket.destroy(), 50);
           console.log(await stuck);
         }",
    )
    .env("PORT", &deaf)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["the socket was closed"]);
    });
    let flood = serve(|mut stream| while stream.write_all(&[b'x'; 65536]).is_ok() {});
    case(
        "import { Socket } from 'k6/x/tcp';
         export default async function () {
           const socket = new Socket();
           const closed = new Promise((resolve) => socket.on('close', resolve));
           socket.on('data', () => { if (socket.bytes_read > 16 << 20) socket.destroy(); });
           await socket.connect(+__ENV.PORT, '127.0.0.1');
           await closed;
           console.log(socket.bytes_read > 16 << 20);
         }",
    )
    .env("PORT", &flood)
    .vus(2, 1)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true", "true"]);
    });
    // Waiting for what never comes ends with the iteration.
    for action in [
        "await socket.connect(+__ENV.PORT, '127.0.0.1');",
        "await socket.connect(+__ENV.PORT, '127.0.0.1'); await socket.write(new ArrayBuffer(64 << 20));",
    ] {
        case(&format!(
            "import {{ Socket }} from 'k6/x/tcp';
             export const options = {{ scenarios: {{ all: {{ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' }} }} }};
             export default async function () {{ const socket = new Socket(); socket.on('data', () => {{}}); {action} }}"
        ))
        .env("PORT", &deaf)
        .both(|report| assert!(report.stop.is_none() && report.iterations() == 0.0, "{report:#?}"));
    }
    let report = case(
        "import { Socket } from 'k6/x/tcp';
         export default async function () {
           const socket = new Socket();
           await socket.connect(+__ENV.PORT, '127.0.0.1');
           for (let i = 0; i < 1000; i++) socket.write(new ArrayBuffer(1 << 20));
         }",
    )
    .env("PORT", &deaf)
    .memory_limit(16 << 20)
    .run();
    assert!(report.lines.iter().any(|line| line.contains("heap reached its limit of 16 MiB")), "{report:#?}");
}

#[test]
fn names_are_resolved_by_a_server_of_the_scripts_choice() {
    let server = DnsServer::start(|question| match question.name.as_str() {
        "two.test" if question.kind == "A" => DnsAnswer::addresses(&["10.0.0.1", "10.0.0.2"]),
        "two.test" => DnsAnswer::addresses(&["fe80::1"]),
        "alias.test" => DnsAnswer::addresses(&["10.0.0.3"]).alias_of("two.test"),
        "long.test" => DnsAnswer::addresses(&["10.0.0.4"]).truncated(),
        "none.test" => DnsAnswer::no_such_name(),
        "broken.test" => DnsAnswer::failure(),
        "refused.test" => DnsAnswer::refused(),
        "garbage.test" => DnsAnswer::garbage(),
        _ => DnsAnswer::addresses(&[]),
    });
    let address = server.addr().to_string();
    case(
        "import dns from 'k6/x/dns';
         export const options = { blockHostnames: ['*.blocked.test'], summaryTrendStats: ['count'] };
         const early = await dns.resolve('a', 'A', '127.0.0.1').catch((error) => error.message);
         export default async function () {
           console.log(early);
           const ask = async (name, kind = 'A', server = __ENV.SERVER) => {
             try { console.log((await dns.resolve(name, kind, server)).join()); } catch (error) { console.log(error.name, error.kind, error.message.split(': ')[0]); }
           };
           await ask('two.test'); await ask('two.test.', 'AAAA'); await ask('alias.test'); await ask('long.test'); await ask('empty.test', 'TXT');
           for (const name of ['none.test', 'broken.test', 'refused.test', 'garbage.test', 'a.blocked.test', 'x'.repeat(300)]) await ask(name);
           await ask(5); await ask('a', 'MX'); await ask('a', 'A', null); await ask('a', 'A', 'nonsense'); await ask('a', 'A', '127.0.0.1:1');
           console.log((await dns.lookup('localhost')).includes('127.0.0.1'), (await dns.lookup('10.1.2.3')).join());
           await dns.lookup({}).catch((error) => console.log(error.message));
         }
         export function handleSummary(data) {
           const value = (name, key) => (data.metrics[name] ? data.metrics[name].values[key] : 0);
           console.log(value('dns_resolutions', 'count'), value('dns_resolution_duration', 'count'), value('dns_resolution_failed', 'passes'), value('dns_lookups', 'count'), value('dns_lookup_failed', 'passes'));
           return {};
         }",
    )
    .env("SERVER", &address)
    .both(|report| {
        report.assert_clean();
        let expect = [
            "resolve can not be used in the init context",
            "10.0.0.1,10.0.0.2",
            "fe80::1",
            "10.0.0.3",
            "10.0.0.4",
            "",
            "NonExistingDomain 3 the domain does not exist",
            "ServerFailure 2 the nameserver could not process the query",
            "Refused 5 the nameserver refuses the query",
            "Error 0 querying the DNS nameserver failed",
            "BlockedHostname 0 hostname (a.blocked.test) is in a blocked pattern (*.blocked.test)",
            "Error 0 querying the DNS nameserver failed",
            "Error 0 query must be a string; got 5 instead",
            "Error 0 resolve operation failed with unsupported record type, MX is an invalid DNS record type",
            "Error 0 nameserver argument must be provided",
            "Error 0 invalid nameserver IP address",
            "Error 0 querying the DNS nameserver failed",
            "true 10.1.2.3",
            "host must be a string; got map[] instead",
            "12 12 7 2 0",
        ];
        assert_eq!(report.said(), expect, "{report:#?}");
    });
}

/// A server that does not answer is waited for no longer than the iteration lasts.
#[test]
fn silent_nameservers_do_not_hold_the_test() {
    let server = DnsServer::start(|_| DnsAnswer::silence());
    case(
        "import dns from 'k6/x/dns';
         export const options = { scenarios: { all: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } };
         export default async function () { await dns.resolve('a.test', 'A', __ENV.SERVER); }",
    )
    .env("SERVER", &server.addr().to_string())
    .both(|report| assert!(report.stop.is_none() && report.iterations() == 0.0, "{report:#?}"));
}
