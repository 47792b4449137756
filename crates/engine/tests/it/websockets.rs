//! `k6/ws` and `k6/websockets` in both layouts: what their callbacks see, and what is counted. What k6 does in detail is
//! in `conformance/websocket`.

use std::time::Duration;

use onrush_metrics::builtin;

use crate::harness::case;

#[test]
fn a_legacy_socket_echoes_until_it_is_closed() {
    case(
        "import ws from 'k6/ws';
         export default function () {
           const seen = [];
           const response = ws.connect(`ws://${__ENV.TARGET}/ws/echo`, function (socket) {
             socket.on('open', () => { socket.send('hi'); socket.sendBinary(new Uint8Array([1, 2, 3]).buffer); socket.ping(); });
             socket.on('message', (text) => seen.push(text));
             socket.on('binaryMessage', (bytes) => seen.push(new Uint8Array(bytes).join()));
             socket.on('pong', () => { seen.push('pong'); socket.close(1000); seen.push('closing'); });
             socket.on('close', (code) => seen.push(code));
           });
           console.log(seen.join(' '), response.status, response.url.endsWith('/ws/echo'), response.error);
         }",
    )
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), vec!["hi 1,2,3 pong 1000 closing 101 true "; 4], "{report:#?}");
        assert_eq!(report.count(builtin::WS_SESSIONS), 4.0);
        assert_eq!(report.count(builtin::WS_MSGS_SENT), 8.0);
        assert_eq!(report.count(builtin::WS_MSGS_RECEIVED), 8.0);
    });
}

#[test]
fn sockets_of_the_event_loop_are_independent() {
    case(
        "import { WebSocket } from 'k6/websockets';
         export default function () {
           const seen = [];
           for (let i = 0; i < 5; i++) {
             const socket = new WebSocket(`ws://${__ENV.TARGET}/ws/echo?wait_ms=${(5 - i) * 5}`);
             socket.binaryType = 'arraybuffer';
             socket.onopen = () => socket.send(`${i}`);
             socket.addEventListener('message', (event) => { seen.push(event.data); socket.close(); });
             socket.onclose = (event) => { if (seen.push(event.code) === 10) console.log(seen.sort().join(' ')); };
           }
         }",
    )
    .vus(2, 1)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), vec!["0 1 1000 1000 1000 1000 1000 2 3 4"; 2], "{report:#?}");
        // k6 counts closes as well.
        assert_eq!(report.count(builtin::WS_MSGS_SENT), 20.0);
        assert_eq!(report.count(builtin::WS_MSGS_RECEIVED), 10.0);
    });
}

#[test]
fn a_session_counts_though_its_iteration_throws_before_it_hears_of_it() {
    case(
        "import { WebSocket } from 'k6/websockets'; import { sleep } from 'k6';
         export default function () {
           new WebSocket(`ws://${__ENV.TARGET}/ws/echo`);
           sleep(0.3);
           throw new Error('too early');
         }",
    )
    .vus(2, 2)
    .both(|report| {
        assert_eq!(report.count(builtin::WS_SESSIONS), 4.0, "{report:#?}");
    });
}

#[test]
fn callbacks_may_wait() {
    case(
        "import ws from 'k6/ws'; import http from 'k6/http'; import { sleep } from 'k6'; import { WebSocket } from 'k6/websockets';
         const get = () => http.get(`http://${__ENV.TARGET}/get`).status;
         export default async function () {
           const seen = [];
           ws.connect(`ws://${__ENV.TARGET}/ws/count?count=3&code=1000`, {}, (socket) => {
             socket.on('message', () => { sleep(0.01); seen.push(get()); });
             socket.on('close', (code) => seen.push(code));
           });
           await new Promise((resolve) => {
             const socket = new WebSocket(`ws://${__ENV.TARGET}/ws/count?count=3&code=1000`);
             socket.onmessage = async () => { sleep(0.01); seen.push(get()); seen.push((await http.asyncRequest('GET', `http://${__ENV.TARGET}/get`)).status); };
             socket.onclose = (event) => { seen.push(event.code); resolve(); };
           });
           console.log(seen.filter((x) => x === 200).length, seen.filter((x) => x === 1000).length);
         }",
    )
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        // The last asynchronous requests may end after the connection.
        assert!(report.said().iter().all(|said| said.ends_with(" 2")), "{report:#?}");
        assert_eq!(report.count(builtin::WS_MSGS_RECEIVED), 24.0);
    });
}

#[test]
fn timers_run_beside_a_flood_of_messages() {
    case(
        "import ws from 'k6/ws'; import { WebSocket } from 'k6/websockets';
         export default function () {
           let ticks = 0, messages = 0;
           ws.connect(`ws://${__ENV.TARGET}/ws/count?count=20000&bytes=10`, {}, (socket) => {
             socket.setInterval(() => ticks++, 1);
             socket.on('message', () => { if (++messages === 20000) socket.close(); });
           });
           const socket = new WebSocket(`ws://${__ENV.TARGET}/ws/count?count=20000&bytes=10&code=1000`);
           const timer = setInterval(() => ticks++, 0);
           socket.onmessage = () => messages++;
           socket.onclose = () => { clearInterval(timer); console.log(ticks > 1, messages); };
         }",
    )
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true 40000"], "{report:#?}");
    });
}

#[test]
fn large_messages_go_both_ways() {
    case(
        "import ws from 'k6/ws'; import { WebSocket } from 'k6/websockets';
         const big = 'é'.repeat(3 << 20);
         export default function () {
           for (const compression of ['', 'deflate'])
             ws.connect(`ws://${__ENV.TARGET}/ws/echo?fragment=100000&pings=1`, { compression }, (socket) => {
               socket.on('open', () => socket.send(big));
               socket.on('message', (text) => { console.log(text === big); socket.close(); });
             });
           const socket = new WebSocket(`ws://${__ENV.TARGET}/ws/echo`, null, { compression: 'deflate' });
           socket.onopen = () => { socket.send(big); console.log(socket.bufferedAmount, socket.extensions.length); };
           socket.onmessage = (event) => { console.log(event.data === big, socket.bufferedAmount); socket.close(); };
         }",
    )
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true", "true", "6291456 1", "true 0"], "{report:#?}");
    });
}

#[test]
fn exceptions_end_the_connection_and_the_iteration() {
    case(
        "import ws from 'k6/ws'; import { WebSocket } from 'k6/websockets';
         const at = { setup: (socket) => { throw new Error('in setup'); }, open: (socket) => socket.on('open', () => { throw new Error('in open'); }),
           timer: (socket) => socket.setTimeout(() => { throw new Error('in timer'); }, 1) };
         export default function () {
           for (const [where, f] of Object.entries(at))
             try { ws.connect(`ws://${__ENV.TARGET}/ws/echo`, {}, (socket) => { socket.on('close', (code) => console.log(where, code)); f(socket); }); } catch (e) { console.log(String(e)); }
           const socket = new WebSocket(`ws://${__ENV.TARGET}/ws/count?count=1`);
           socket.onerror = (event) => console.log('error', event.error);
           socket.onclose = (event) => console.log('close', event.code);
           socket.onmessage = () => { throw new Error('in message'); };
         }",
    )
    .both(|report| {
        assert_eq!(
            report.said(),
            [
                "setup 1001", "Error: in setup", "open 1001", "Error: in open", "timer 1001", "Error: in timer",
                "error Error: in message", "close undefined"
            ],
            "{report:#?}"
        );
        assert!(report.level("error").iter().any(|line| line.contains("Error: in message")), "{report:#?}");
    });
}

#[test]
fn an_iteration_that_is_cut_takes_its_connections_along() {
    case(
        "import ws from 'k6/ws'; import { WebSocket } from 'k6/websockets';
         export const options = { scenarios: {
           legacy: { executor: 'constant-vus', exec: 'legacy', vus: 2, duration: '1s', gracefulStop: '0s' },
           events: { executor: 'constant-vus', exec: 'events', vus: 2, duration: '1s', gracefulStop: '0s' },
           dialling: { executor: 'constant-vus', exec: 'dialling', vus: 2, duration: '1s', gracefulStop: '0s' },
         } };
         export function legacy() { ws.connect(`ws://${__ENV.TARGET}/ws/echo`, {}, (socket) => socket.setInterval(() => socket.ping(), 10)); console.log('never'); }
         export function events() { new WebSocket(`ws://${__ENV.TARGET}/ws/echo`).onclose = () => console.log('never'); }
         export function dialling() { new WebSocket(`ws://${__ENV.TARGET}/ws/echo?delay_ms=20000`).onclose = () => console.log('never'); }",
    )
    .both(|report| {
        assert!(report.stop.is_none(), "{report:#?}");
        assert_eq!(report.said(), [""; 0], "{report:#?}");
        assert_eq!(report.iterations(), 0.0);
        assert_eq!(report.count(builtin::WS_SESSIONS), 4.0);
    });
}

#[test]
fn ctrl_c_ends_a_test_that_waits_for_messages() {
    case(
        "import ws from 'k6/ws';
         export const options = { vus: 3, duration: '1m' };
         export default function () { ws.connect(`ws://${__ENV.TARGET}/ws/echo`, {}, () => {}); }",
    )
    .interrupt_after(Duration::from_millis(200))
    .both(|report| assert_eq!(report.iterations(), 0.0, "{report:#?}"));
}

/// A server that sends half a frame and no more holds up nobody: the other VUs of the thread go on, and its own can be ended.
#[test]
fn half_a_frame_is_waited_for() {
    case(
        "import ws from 'k6/ws'; import { WebSocket } from 'k6/websockets'; import { sleep } from 'k6';
         const halves = ['81', '817e01', '890561', '810561', '810161890561'];
         export const options = { scenarios: {
           legacy: { executor: 'per-vu-iterations', vus: 5, exec: 'legacy', maxDuration: '1s', gracefulStop: '0s' },
           events: { executor: 'per-vu-iterations', vus: 5, exec: 'events', maxDuration: '2s', gracefulStop: '0s' },
           others: { executor: 'per-vu-iterations', vus: 1, exec: 'others' } } };
         const url = () => `ws://${__ENV.TARGET}/ws/raw?then=stall&data=${halves[__VU % halves.length]}`;
         export function legacy() {
           ws.connect(url(), {}, () => console.log('legacy'));
           console.log('never');
         }
         export function events() {
           const socket = new WebSocket(url());
           socket.onerror = () => {};
           socket.onopen = () => setTimeout(() => { console.log('events'); socket.close(); }, 200);
         }
         export function others() { for (let i = 0; i < 20; i++) sleep(0.01); console.log('others'); }",
    )
    .both(|report| {
        let said = report.said();
        let count = |text: &str| said.iter().filter(|line| **line == text).count();
        let counts = ["legacy", "events", "others", "never"].map(count);
        assert_eq!(counts, [5, 5, 1, 0], "{report:#?}");
    });
}

#[test]
fn memory_that_sockets_hold_counts() {
    let script = "import ws from 'k6/ws'; import { WebSocket } from 'k6/websockets';
         const big = new ArrayBuffer(6 << 20);
         export default async function () {
           ws.connect(`ws://${__ENV.TARGET}/ws/raw?then=stall`, {}, (socket) => socket.close());
           const socket = new WebSocket(`ws://${__ENV.TARGET}/ws/raw?then=stall&data=`);
           socket.onopen = () => { for (;;) socket.send(big); };
         }";
    case(script).memory_limit(16 << 20).both(|report| {
        assert_eq!(report.said(), [""; 0], "{report:#?}");
        assert!(report.level("error").iter().any(|line| line.contains("memory")), "{report:#?}");
    });
}

#[test]
fn sockets_over_tls() {
    case(
        "import ws from 'k6/ws'; import { WebSocket } from 'k6/websockets';
         export const options = { insecureSkipTLSVerify: true };
         const big = 'x'.repeat(300000);
         export default function () {
           const r = ws.connect(`wss://${__ENV.TLS_TARGET}/ws/echo`, {}, (socket) => {
             socket.on('open', () => { socket.send(big); socket.send(big); });
             let n = 0;
             socket.on('message', (text) => { console.log(text === big); if (++n === 2) socket.close(); });
           });
           const socket = new WebSocket(`wss://${__ENV.TLS_TARGET}/ws/echo`);
           socket.onopen = () => socket.send(big);
           socket.onmessage = (event) => { console.log(event.data === big); socket.close(3000, 'enough'); };
           socket.onclose = (event) => console.log(event.code, event.reason);
         }",
    )
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true", "true", "true", "3000 enough"], "{report:#?}");
    });
}

#[test]
fn blobs_are_bytes() {
    case(
        "import { Blob, WebSocket } from 'k6/websockets';
         export default async function () {
           const blob = new Blob(['añb', new Uint8Array([1, 2]), new DataView(new ArrayBuffer(8), 2, 3), new Blob(['z'])], { type: 'a/b' });
           console.log(blob.size, blob.type, (await blob.arrayBuffer()).byteLength, (await blob.bytes()).length);
           console.log(await blob.slice(0, 4).text(), await blob.slice(-1).text(), blob.slice(5, 2).size, blob.slice(1, 99, 't').type);
           const socket = new WebSocket(`ws://${__ENV.TARGET}/ws/echo`);
           socket.onopen = () => { socket.send(blob); socket.send(new DataView(new ArrayBuffer(8), 2, 3)); };
           let n = 0;
           socket.onmessage = async (event) => { if (++n === 2) socket.close(); console.log(event.data instanceof Blob, event.data.size); };
         }",
    )
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["10 a/b 10 10", "añb z 0 t", "true 10", "true 3"], "{report:#?}");
    });
}
