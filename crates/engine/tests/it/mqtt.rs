//! `k6/x/mqtt` against a server of its own: a real one where `mosquitto` is installed, and one that answers anything.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::harness::case;

/// An MQTT server of the test's own, which ends with it.
struct Broker {
    process: Child,
    port: u16,
    ws_port: u16,
    _folder: tempfile::TempDir,
}

impl Broker {
    /// Nothing where the program is not installed.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let free = [0, 0].map(|port| TcpListener::bind(("127.0.0.1", port)).expect("a free port"));
        let [port, ws_port] = free.each_ref().map(|free| free.local_addr().expect("it is bound").port());
        drop(free);
        let config = folder.path().join("mosquitto.conf");
        let text = format!(
            "listener {port} 127.0.0.1\nlistener {ws_port} 127.0.0.1\nprotocol websockets\nallow_anonymous true\npersistence false\n"
        );
        std::fs::write(&config, text).expect("a file");
        let program = ["/usr/sbin/mosquitto", "mosquitto"].into_iter().find_map(|program| {
            Command::new(program).arg("-c").arg(&config).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        });
        let Some(process) = program else {
            let _ = writeln!(std::io::stderr(), "skipped: mosquitto is not installed");
            return None;
        };
        let until = Instant::now() + Duration::from_secs(20);
        while [port, ws_port].iter().any(|port| TcpStream::connect(("127.0.0.1", *port)).is_err()) {
            assert!(Instant::now() < until, "the server does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(Self { process, port, ws_port, _folder: folder })
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn messages_of_every_level_come_back() {
    let Some(broker) = Broker::start() else { return };
    case(
        "import { Client, QoS } from 'k6/x/mqtt';
         export default function () {
           const seen = [];
           const topic = `t/${__VU}/${__ITER}`;
           const client = new Client({ client_id: `c${__VU}-${__ITER}`, will: { topic: 'gone', payload: 'x', qos: 1 }, tags: { own: 'a' } });
           client.on('connect', async () => {
             client.subscribe(topic, { qos: QoS.ExactlyOnce });
             client.publish(topic, 'zero');
             client.publish(topic, 'one', { qos: QoS.AtLeastOnce });
             await client.publishAsync(topic, new Uint8Array([116, 119, 111]).buffer, { qos: QoS.ExactlyOnce });
             await client.publishAsync(topic, 'async');
             await client.subscribeAsync([`${topic}/a`, `${topic}/b`]);
             await client.publishAsync(`${topic}/b`, 'last', { retain: false });
           });
           client.on('message', (from, payload) => {
             seen.push(String.fromCharCode(...new Uint8Array(payload)));
             if (seen[seen.length - 1] === 'last') {
               client.unsubscribe(topic);
               client.unsubscribeAsync([`${topic}/a`]).then(() => client.end());
             }
           });
           client.on('error', (error) => console.log(error.name, error.method, error.message));
           client.on('end', () => console.log(seen.sort().join(' '), client.connected, payloads(seen)));
           const payloads = (list) => list.length;
           client.connect(`mqtt://127.0.0.1:${__ENV.PORT}`, { keepalive: 10 });
         }
         export function handleSummary(data) {
           const count = (name) => (data.metrics[name] ? data.metrics[name].values.count : 0);
           console.log(count('mqtt_messages_sent'), count('mqtt_messages_received'), count('mqtt_errors'), count('mqtt_calls'));
           return {};
         }",
    )
    .env("PORT", &broker.port.to_string())
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        let mut expect = vec!["async last one two zero false 5"; 4];
        // A connect, two subscriptions, five messages, two unsubscriptions, an end.
        expect.push("20 20 0 44");
        assert_eq!(report.said(), expect, "{report:#?}");
    });
}

#[test]
fn messages_over_web_sockets() {
    let Some(broker) = Broker::start() else { return };
    case(
        "import { Client } from 'k6/x/mqtt';
         export default function () {
           const [seen, topic] = [[], `w/${__VU}/${__ITER}`];
           const client = new Client();
           client.on('connect', async () => {
             await client.subscribeAsync(topic, { qos: 2 });
             await client.publishAsync(topic, 'x'.repeat(3000), { qos: 2 });
             for (let index = 0; index < 3; index++) client.publish(topic, `${index}`, { qos: 1 });
           });
           client.on('message', (from, payload) => { seen.push(payload.byteLength); if (seen.length === 4) client.end(); });
           client.on('error', (error) => console.log(error.message));
           client.on('end', () => console.log(seen.join(' ')));
           client.connect(`ws://127.0.0.1:${__ENV.PORT}/mqtt`);
         }",
    )
    .env("PORT", &broker.ws_port.to_string())
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["3000 1 1 1"; 4], "{report:#?}");
    });
}

/// Handshakes that are refused, and what is no MQTT in messages of a WebSocket.
#[test]
fn hostile_web_sockets() {
    // What follows the target's handshake is in the path, and the beginning of what the script is told.
    let cases = [
        ("/get", "websocket: bad handshake, the server answers 200 OK"),
        ("/ws/nothing", "websocket: bad handshake, the server answers 400 Bad Request"),
        ("/ws/close", "EOF"),
        ("/ws/drop?how=close", "EOF"),
        ("/ws/raw?data=810568656c6c6f", "websocket: a text where binary messages were expected"),
        ("/ws/raw?data=82024800", "0x48 begins no packet"),
        ("/ws/raw?data=8202d000", "the server does not begin with its answer"),
        ("/ws/raw?data=820420020005", "not authorized"),
        ("/ws/raw?data=ff00", "websocket: "),
        ("/ws/raw?data=82ffffffffffffffff", "websocket: "),
        ("/ws/raw?data=020120000102820102", "websocket: "),
        ("/ws/drop?how=stall", "timeout"),
    ];
    for (path, expect) in cases {
        case(
            "import { Client } from 'k6/x/mqtt';
             export default function () {
               const client = new Client();
               client.on('error', (error) => console.log(error.message));
               client.connect(`ws://${__ENV.TARGET}${__ENV.ADDRESS}`, { connect_timeout: 500 });
             }",
        )
        .env("ADDRESS", path)
        .both(|report| {
            assert!(report.lines.iter().any(|line| line.contains(expect)), "{path}: {report:#?}");
        });
    }
}

#[test]
fn pings_reconnects_and_credentials() {
    let Some(broker) = Broker::start() else { return };
    case(
        "import { Client } from 'k6/x/mqtt';
         export default function () {
           const seen = [];
           const client = new Client({ credentials_provider: () => ({ username: 'u', password: 'p' }) });
           let count = 0;
           client.on('reconnect', () => seen.push('again'));
           client.on('connect', () => {
             seen.push(client.connected);
             if (count++ === 0) client.reconnect(); else setTimeout(() => client.end(), 2500);
           });
           client.on('end', () => console.log(seen.join(' ')));
           client.connect({ servers: ['mqtt://127.0.0.1:1', `mqtt://127.0.0.1:${__ENV.PORT}`], keepalive: 1 });
         }",
    )
    .env("PORT", &broker.port.to_string())
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true again true"]);
    });
}

#[test]
fn wrong_calls_are_told() {
    case(
        "import { Client } from 'k6/x/mqtt';
         const early = (() => { try { new Client().connect('mqtt://a'); } catch (error) { return error.message; } })();
         export default async function () {
           const say = (f) => { try { f(); console.log('fine'); } catch (error) { console.log(error.name, error.method, error.message); } };
           console.log(early);
           const client = new Client();
           say(() => client.publish('a', 'b'));
           say(() => client.publish('a', 5));
           say(() => client.publish('a/#', 'b'));
           say(() => client.publish('a', 'b', { qos: 3 }));
           say(() => client.subscribe(5));
           say(() => client.subscribe([]));
           say(() => client.subscribe('a'));
           say(() => client.connect('http://a'));
           say(() => client.connect('ws:///mqtt'));
           say(() => client.connect({ servers: [] }));
           say(() => client.reconnect());
           say(() => client.on('nothing', () => {}));
           say(() => new Client({ credentials_provider: () => { throw new Error('no'); } }).connect('mqtt://127.0.0.1:1'));
           await client.publishAsync('a', 'b').catch((error) => console.log(error.name, error.method, error.message));
           client.on('error', (error) => console.log('event', error.method, error.message));
           client.publish('a', 'b');
           client.end();
           say(() => client.connect('mqtt://127.0.0.1:1'));
           const other = new Client();
           other.on('error', (error) => console.log('event', error.method, error.message));
           other.connect('mqtt://127.0.0.1:1');
         }",
    )
    .both(|report| {
        report.assert_clean();
        let expect = [
            "using mqtt in the init context is not supported",
            "MQTTError publish not connected",
            "GoError undefined invalid type: int64, expected string or ArrayBuffer",
            "GoError undefined invalid topic \"a/#\"",
            "GoError undefined invalid qos 3: expected 0, 1 or 2",
            "GoError undefined invalid type: int64, expected a topic or an array of topics",
            "GoError undefined a topic is empty",
            "MQTTError subscribe not connected",
            "GoError undefined invalid server URL: unknown scheme \"http\": expected mqtt, mqtts, tcp, ssl, tls, ws or wss",
            "GoError undefined invalid server URL: it has no host",
            "GoError undefined no server to connect to: expected a URL, or servers",
            "MQTTError reconnect not connected before",
            "GoError undefined unknown event: nothing",
            "MQTTError connect credentials provider failed",
            "MQTTError publishAsync not connected",
            "event publish not connected",
            "MQTTError connect the client has ended; create a new one",
            "event connect dial tcp 127.0.0.1:1: connect: connection refused",
        ];
        assert_eq!(report.said(), expect, "{report:#?}");
    });
}

const ACCEPTED: &[u8] = b"\x20\x02\0\0";

/// What a server answers to the first packet, and what the script is told.
const HOSTILE: &[(&[&[u8]], &str)] = &[
    (&[b""], "connect EOF"),
    (&[b"HTTP/1.1 400 Bad Request\r\n\r\n"], "connect 0x48 begins no packet"),
    (&[b"\x20\x02\0\x05"], "connect not authorized"),
    (&[b"\x20\x02\0\x04"], "connect bad user name or password"),
    (&[b"\x20\x02\0\xff"], "connect the server refuses with code 255"),
    (&[b"\xd0\0"], "connect the server does not begin with its answer"),
    (&[b"\x20\x02\0"], "connect EOF"),
    (&[b"\x20\xff\xff\xff\xff\xff"], "connect the length of a packet does not end"),
    (&[ACCEPTED, b"\x30\xff\xff\xff\x7f"], "connection a packet of 268435455 bytes is larger than 64 MiB"),
    (&[ACCEPTED, b"\x36\x03\0\x01t"], "connection a message has a level (QoS) that does not exist"),
    (&[ACCEPTED, b"\x30\x03\0\x01\xff"], "connection a text is not UTF-8"),
    (&[ACCEPTED, b"\x30\x02\0\x09"], "connection a packet is not as long as its parts"),
    (&[ACCEPTED, ACCEPTED], "connection the server sends a packet that is not for clients"),
    (&[ACCEPTED, b"\x90\x03\0\x63\x80\x40\x02\0\x09\x50\x02\0\x07"], "connection EOF"),
    (&[ACCEPTED], "connection EOF"),
];

#[test]
fn hostile_servers_end_the_connection_alone() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    // Answers by the name of the client, its number.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut hello = [0; 256];
            let read = stream.read(&mut hello).unwrap_or_default();
            let name = String::from_utf8_lossy(hello.get(14..read).unwrap_or_default()).into_owned();
            if name == "silent" {
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_secs(20));
                    drop(stream);
                });
                continue;
            }
            if let Some((answers, _)) = name.parse::<usize>().ok().and_then(|number| HOSTILE.get(number)) {
                for answer in *answers {
                    let _ = stream.write_all(answer);
                }
            }
            let _ = stream.shutdown(std::net::Shutdown::Write);
            // The client closes first: else what it has not read would be lost.
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let script = format!(
        "import {{ Client }} from 'k6/x/mqtt';
         export default async function () {{
           for (let i = 0; i < {}; i++) {{
             await new Promise((resolve) => {{
               const client = new Client({{ client_id: `${{i}}` }});
               client.on('error', (error) => {{ console.log(error.method, error.message); resolve(); }});
               client.connect(`mqtt://127.0.0.1:${{__ENV.PORT}}`);
             }});
           }}
         }}",
        HOSTILE.len()
    );
    case(&script).env("PORT", &port.to_string()).both(|report| {
        report.assert_clean();
        let expect: Vec<_> = HOSTILE.iter().map(|(_, expect)| *expect).collect();
        assert_eq!(report.said(), expect);
    });
    // One that never answers does not hold the test, whoever waits.
    case(
        "import { Client } from 'k6/x/mqtt';
         export const options = { scenarios: { all: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } };
         export default function () { new Client({ client_id: 'silent' }).connect(`mqtt://127.0.0.1:${__ENV.PORT}`); }",
    )
    .env("PORT", &port.to_string())
    .both(|report| assert!(report.stop.is_none() && report.iterations() == 0.0, "{report:#?}"));
}

/// A server that takes messages and does not answer: calls that wait for it are cut with their iteration.
#[test]
fn a_server_without_answers_does_not_hold_the_test() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.write_all(ACCEPTED);
            open.push(stream);
        }
    });
    for call in ["client.publish('a', 'b', { qos: 1 })", "client.subscribe('a')", "client.subscribeAsync('a')"] {
        case(&format!(
            "import {{ Client }} from 'k6/x/mqtt';
             export const options = {{ scenarios: {{ all: {{ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' }} }} }};
             export default function () {{
               const client = new Client();
               client.on('connect', () => {call});
               client.connect(`mqtt://127.0.0.1:${{__ENV.PORT}}`);
             }}"
        ))
        .env("PORT", &port.to_string())
        .both(|report| assert!(report.stop.is_none() && report.iterations() == 0.0, "{report:#?}"));
    }
}
